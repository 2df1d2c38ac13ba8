"""``ringsmith bench medha``: what the two Medha papers have numbers of."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from rich.console import Console

from bench.measure import (
    CLOCK,
    LONGEST,
    OURS,
    SEAL,
    SYNTHESIZED,
    area_records,
    compiled_for,
    cpu_times,
    one_thread,
)
from bench.papers import figures
from bench.record import COUNTED, Record, machine_state
from bench.run import Run
from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.gmdh import Forecast
from ringsmith.apps.logreg import DEMO, PAPER, PAPER_COUNTS, LogisticRegression
from ringsmith.apps.report import refuse_different_bits
from ringsmith.apps.seal_baseline import SealBaseline, median_seconds, seal_missing, seal_version
from ringsmith.apps.seal_program import on_seal
from ringsmith.apps.session import Session, begin, open_device
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.debug.area import part_of, rpau_areas
from ringsmith.backends.rpau.design.area import megabits, scaled
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, Instruction, Operation, instruction
from ringsmith.backends.rpau.isa.kinds import KINDS, POLY
from ringsmith.hdl.synthesis import Area, area_times, total_area
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set
from ringsmith.platforms import Resources, load_platform, place
from ringsmith.program import CkksProgram, Op
from ringsmith.runtime.host_link import MEDHA_XDMA

PRODUCT, RESCALE = "multiply_relinearize", "rescale"
IN_TURN = "multiply_relinearize_then_rescale"
"""Both one after the other, each with its own division, as in the papers."""

CARD = load_platform("u250")
"""The card of both papers."""

_REPEATS = 3
"""Runs of a whole program on the cpu device; the median counts."""


# ---- instructions ------------------------------------------------------------------------------


def instructions(run: Run) -> Iterator[Record]:
    """Latencies of the papers' instructions: from an instruction's issue to its unit's next one.

    How much longer a program is that has the instruction before its halt. Contents do not matter,
    and none are loaded.
    """
    for case in run["designs"]:
        name, params = case.split(", ")
        design = load_design(name)
        coprocessor: Coprocessor = (
            RtlCoprocessor(design)
            if run["device"] == "rtl"
            else ModelCoprocessor(design, timing_only=True)
        )
        all_rpaus = (1 << design.rpaus) - 1
        halt = encode(instruction("halt", all_rpaus))
        empty = _cycles(coprocessor, halt)
        there = {each.name: each for each in ISA.available(design)}
        text = f"one instruction on all RPAUs, {design.n:,} coefficients"
        run.say(f"{name}: instructions")
        for theirs, ours in run["names"].items():
            if ours in there:
                word = encode(_any(there[ours], all_rpaus, design))
                cycles = _cycles(coprocessor, word, halt) - empty
                yield Record(name, params, theirs, "cycles", cycles, run["device"], text)


def _cycles(coprocessor: Coprocessor, *words: int) -> int:
    coprocessor.load_program(np.array(words, dtype=np.uint64))
    return coprocessor.run(LONGEST).cycles


def _any(operation: Operation, mask: int, design: RpauDesign) -> Instruction:
    """An instruction with legal operands, of polynomials of different banks."""
    firsts = iter(bank[0] for bank in design.banks)
    values = tuple(
        next(firsts) if operand.kind == POLY else int(KINDS[operand.kind].odd)
        for operand in operation.operands
    )
    return Instruction(operation, mask, values)


# ---- derived numbers ---------------------------------------------------------------------------


def derived(run: Run) -> Iterator[Record]:
    """Times at the assumed clock, speedups, and sums, of what was counted and timed."""
    cycles = [
        r
        for r in _once(run.records)
        if r.metric == "cycles" and r.source in COUNTED and r.operation.startswith(_OPERATIONS)
    ]
    cycles = [r for r in cycles if r.operation != IN_TURN]
    software = [r for r in _once(run.records) if r.source == "cpu" and r.operation != IN_TURN]
    software = [r for r in software if r.operation.startswith(_OPERATIONS)]
    sums = _in_turn(cycles)
    yield from sums
    found = list(_times([*cycles, *sums], [*software, *_in_turn(software)]))
    yield from found
    speedups = [r for r in found if r.metric == "speedup" and r.baseline.startswith(SEAL)]
    if own := [r for r in speedups if (r.design, r.params) == ("medha", "medha-set1")]:
        best = max(own, key=lambda each: each.value)
        text = f"{best.operation} over {best.baseline}; {best.conditions}"
        yield replace(best, operation="best_over_software", baseline="", conditions=text)


_OPERATIONS = ("add", PRODUCT, RESCALE, "rotate")


def _once(records: Sequence[Record]) -> list[Record]:
    """Each number once, without the papers'."""
    bare = (replace(r, paper="", paper_value=None, where="") for r in records)
    return list({r.key: r for r in bare}.values())


def _in_turn(found: Sequence[Record]) -> list[Record]:
    """A product and a rescaling one after the other."""
    values = {(r.design, r.params, r.operation, r.metric, r.baseline): r for r in found}
    return [
        replace(
            product,
            operation=IN_TURN,
            value=product.value + rescaling.value,
            source=product.source if product.source == rescaling.source else "model",
            conditions=f"{PRODUCT} and {RESCALE} in turn",
        )
        for (design, params, operation, metric, baseline), product in values.items()
        if operation == PRODUCT
        and (rescaling := values.get((design, params, RESCALE, metric, baseline)))
    ]


def _times(cycles: Sequence[Record], software: Sequence[Record]) -> Iterator[Record]:
    """Microseconds at the assumed clock, and how many times as fast that is as others.

    Of operations that a paper, or this CPU, has a time of.
    """
    known = [figure for paper in ("medha", "medha-2021") for figure in figures(paper)]
    quoted = {
        (f.params, f.operation, f.baseline): f.value for f in known if f.metric == "microseconds"
    }
    rates = {(f.params, f.operation) for f in known if f.metric == "per_second"}
    for each in cycles:
        here = each.params, each.operation
        timed = [r for r in software if (r.params, r.operation) == here]
        if not timed and (*here, "") not in quoted:
            continue
        time = each.value / ASSUMED_HZ * 1e6
        base = replace(each, metric="microseconds", value=time, conditions=CLOCK)
        yield base
        if here in rates:
            yield replace(base, metric="per_second", value=1e6 / time)
        for r in timed:
            text = f"{CLOCK}; over {r.baseline} on this CPU, timed as its own row says"
            speedup = r.value / time
            yield replace(
                base, metric="speedup", value=speedup, baseline=r.baseline, conditions=text
            )
        for (params, operation, baseline), value in quoted.items():
            if (params, operation) == here and baseline not in ("", SEAL):
                text = f"{CLOCK}; over the time that the paper quotes"
                speedup = value / time
                yield replace(
                    base, metric="speedup", value=speedup, baseline=baseline, conditions=text
                )


# ---- software ----------------------------------------------------------------------------------


def software(run: Run) -> Iterator[Record]:
    """Microseconds of SEAL and of our cpu device by operation, at all limbs."""
    if (missing := seal_missing()) is not None:
        run.say(missing)
    for name in run["sets"]:
        run.say(f"{name}: SEAL and the cpu device on this CPU")
        of, operations, repeats = ckks_set(name), run["operations"], run["repeats"]
        if seal_missing() is None:
            seconds = dict(SealBaseline(of, [1]).operation_seconds(of.limbs, 1, repeats))
            seconds[PRODUCT] = seconds["multiply"] + seconds["relinearize"]
            text = (
                f"seal-python {seal_version()}, portable build; one thread; {machine_state()}; "
                f"median of {repeats} calls; product and relinearization in turn"
            )
            for operation in (each for each in operations if each in seconds):
                value = seconds[operation] * 1e6
                what = (REFERENCE, name, operation, "microseconds")
                yield Record(*what, value, "cpu", text, SEAL)
        graphs = {each: lower_operation(each, of, of.limbs) for each in operations}
        yield from cpu_times(of, graphs, repeats)


# ---- applications ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Application:
    """An application made ready to run on a design.

    Attributes:
        operation: What records call it.
        program: Its one program.
        compiled: The same for the design.
        session: Client and server, with encrypted data.
        words: What it is, for the conditions.
    """

    operation: str
    program: CkksProgram
    compiled: runtime.Compiled
    session: Session[Any]
    words: str


def applications(run: Run) -> Iterator[Record]:
    """Whole programs on ``medha``, from encryption to decryption.

    ``transfers`` are limbs that move to or from the host during a program, without its inputs and
    outputs. The time of all transfers, except keys, is that of the paper's link. Raises DeviceError
    when a residue differs from the cpu device's; ToolError when data or a tool is missing.
    """
    design = load_design("medha")
    for name in run["names"]:
        run.say(f"{design.name}: {name} on the {run['device']}")
        application = (
            power_forecast(design)
            if name == "gmdh"
            else logistic_regression(name, design, quick=run.quick)
        )
        found = list(application_records(application, design, run["device"]))
        run.say(f"{design.name}: {name}: {found[0].value:,.0f} cycles")
        yield from found
        times = list(_software(application)) if run["software"] else []
        yield from times
        for time in times or [
            r
            for r in run.records
            if (r.operation, r.source, r.metric) == (name, "cpu", "microseconds")
        ]:
            whole = found[-1]
            text = f"{whole.conditions}; over {time.baseline} on this CPU"
            speedup = time.value / whole.value
            yield replace(
                whole, metric="speedup", value=speedup, baseline=time.baseline, conditions=text
            )


def logistic_regression(operation: str, design: RpauDesign, *, quick: bool = False) -> Application:
    """Trains, compiles and encrypts for the logistic regression.

    Raises ProgramError when the program does not fit the design; ToolError when scikit-learn is
    missing.
    """
    size = PAPER_COUNTS if operation == "logreg_paper_counts" else PAPER
    if quick:
        size = replace(DEMO, parameter_set="medha-set1")
    fused = operation == "logreg_fused_rescale"
    current = begin(
        Stages(Console(quiet=True)), LogisticRegression(size, fused_rescale=fused), design
    )
    words = (
        f"{size.held_out} patients of {size.features} features, degree {size.degree}, "
        f"{size.limbs} limbs"
    )
    return _of(operation, current, words)


def power_forecast(design: RpauDesign) -> Application:
    """Trains, compiles and encrypts for the forecast of power demand, in CKKS.

    Raises ProgramError when the program does not fit the design; ToolError when sktime is missing.
    """
    forecast = Forecast("ckks")
    current = begin(Stages(Console(quiet=True)), forecast, design)
    network, inputs = forecast.network, current.server.program.inputs
    words = (
        f"{len(forecast.days[2])} meters, {len(network.hours)} hours, "
        f"depth {len(network.layers)}, {next(iter(inputs.values())).limbs} limbs"
    )
    return _of("gmdh", current, words)


def _of(operation: str, current: Session[Any], words: str) -> Application:
    """The application of a session."""
    ckks = cast("CkksProgram", current.server.program)  # what was asked for
    return Application(operation, ckks, current.server.compiled[0], current, words)


def application_records(
    application: Application, design: RpauDesign, device: str
) -> Iterator[Record]:
    """Runs an application and counts; its whole time comes last."""
    stages = Stages(Console(quiet=True))
    answer = application.session.answer(stages, open_device(stages, device, design))
    refuse_different_bits(answer.equal_bits)
    [result] = answer.results
    params, name = application.program.parameters.name, application.operation
    executable = compiled_for(application.compiled.compiled_graph.graph, design)
    runs, n = executable.runs, application.program.parameters.n
    assert result.cycles is not None, "an accelerator counts"
    assert result.report.instructions is not None, "an accelerator counts"

    def record(operation: str, metric: str, value: float, source: str, text: str) -> Record:
        return Record(design.name, params, operation, metric, value, source, text)

    text = (
        f"{name}: {application.words}; {len(runs)} program segments, inputs and keys loaded before "
        "each, transfers not timed; every residue equals the cpu device's"
    )
    yield record(name, "cycles", result.cycles, device, text)
    yield record(name, "instructions", result.report.instructions, device, text)
    yield record(name, "transfers", result.report.host_transfers, device, text)
    ops = Counter(node.op for node in application.program.nodes)
    counts = {
        "products": ops[Op.MULTIPLY] + ops[Op.SQUARE],
        "rotations": ops[Op.ROTATE],
        "rescalings": ops[Op.RESCALE] + ops[Op.RELINEARIZE_RESCALE],
    }
    for metric, value in counts.items():
        yield record(name, metric, value, "estimate", "operations of the program")
    ends = (runs[0].loads, runs[-1].stores)
    limbs = (
        sum(len(at) for slots in ends for at in slots.values()) + result.report.spilled_words // n
    )
    link = MEDHA_XDMA.seconds(limbs * n)
    text = f"{limbs} limbs to and from the host, without keys, over {MEDHA_XDMA.name}"
    yield record(f"{name}_communication", "microseconds", link * 1e6, "estimate", text)
    seconds = seconds_at_assumed_clock(result.cycles) + link
    text = f"the cycles {CLOCK}, and {text}"
    yield record(name, "microseconds", seconds * 1e6, "estimate", text)


def _software(application: Application) -> Iterator[Record]:
    """SEAL, where it is installed, and the cpu device: each one's time for the program."""
    params = application.program.parameters.name
    text = "the same program on this CPU, one thread, median CPU time"

    def time(seconds: float, baseline: str) -> Record:
        what = (REFERENCE, params, application.operation, "microseconds")
        return Record(*what, seconds * 1e6, "cpu", text, baseline)

    if seal_missing() is None:
        yield time(on_seal(application.program, application.session.vectors[0])[1], SEAL)
    current, device = application.session, runtime.open_device(REFERENCE)
    keys = current.client.evaluation_keys
    with one_thread():
        call = partial(current.server.run, device, current.inputs, keys)
        yield time(median_seconds(call, _REPEATS), OURS)


# ---- area --------------------------------------------------------------------------------------


_SHARES = ("lut", "ff", "dsp", "bram", "uram", "rams")
_TOTALS = ("rpau", "rpaus", "device", *(f"{share}_of_card" for share in _SHARES))
"""The numbers of every design."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "rpau": (UNIT,),
    "memories": ("rs_rpau_work_memory", "rs_rpau_key_store"),
    "main_unit": ("rs_rpau_main",),
    "dyadic_unit": ("rs_rpau_dyadic",),
    "key_expander": ("rs_rpau_seeded",),
    "modular_multiplier": ("rs_mod_mul",),
}
"""Part, by its name in the papers' records -> our modules."""


def area(run: Run) -> Iterator[Record]:
    """Areas of RPAUs, synthesized or found in the cache, and whether all of a design fit the card.

    Values of the part: ``whole`` and ``scaled``, designs whose RPAU is synthesized, or estimated
    from an RPAU with a quarter of the cores; ``detailed``, those whose RPAU gets numbers by part.
    Raises ToolError if Yosys is not installed or fails.
    """
    for name in (*run["whole"], *run["scaled"]):
        run.say(f"{name}: synthesis of an RPAU")
        design, whole = load_design(name), name in run["whole"]
        params = "medha-set1" if name == "medha" else name
        found = _area(design, params, whole=whole)
        yield from (r for r in found if name in run["detailed"] or r.operation in _TOTALS)


def _area(design: RpauDesign, params: str, *, whole: bool) -> Iterator[Record]:
    source, how = ("synthesis" if whole else "estimate"), SYNTHESIZED
    if not whole:
        how = f"from an RPAU of {part_of(design).cores} cores, in proportion; {how}"
    first = _areas(design, 0, whole=whole)
    by_width = {design.word_bits: first[UNIT]}
    if design.narrow_rpaus:
        last = design.rpaus - 1
        by_width[design.narrow_bits] = _areas(design, last, whole=whole)[UNIT]
    parts = {
        part: total_area([first[module] for module in modules if module in first])
        for part, modules in _PARTS.items()
        if any(module in first for module in modules)
    }
    if design.narrow_rpaus:
        parts[f"rpau_{design.narrow_bits}_bits"] = by_width[design.narrow_bits]
    parts["butterfly"] = area_times(first["rs_butterfly_lanes"], 1 / design.cores)
    units = [by_width[design.bits_of(rpau)] for rpau in range(design.rpaus)]
    parts["rpaus"] = total_area(units)
    for part, found in parts.items():
        yield from area_records(design.name, params, part, found, source, how)
    yield from _of_card(design.name, params, parts["rpaus"], source)
    yield _fit(design, params, units, source)


def _areas(design: RpauDesign, rpau: int, *, whole: bool) -> dict[str, Area]:
    """Area by module of an RPAU."""
    if whole:
        return rpau_areas(design, rpau)
    part = part_of(design)
    return scaled(design, part, rpau_areas(part, rpau), rpau)


def _of_card(name: str, params: str, rpaus: Area, source: str) -> Iterator[Record]:
    """All RPAUs in percent of the papers' card."""
    there = CARD.whole
    bits = megabits(rpaus.brams, rpaus.urams) / megabits(there.brams, there.urams)
    shares = {
        "lut": rpaus.lut_sites / there.luts,
        "ff": rpaus.fabric_flip_flops / there.flip_flops,
        "dsp": rpaus.dsps / there.dsps,
        "bram": rpaus.brams / there.brams,
        "uram": rpaus.urams / there.urams,
        "rams": bits,
    }
    text = f"all RPAUs, without what lies around them, of an {CARD.card}"
    for metric, share in shares.items():
        what = (name, params, f"{metric}_of_card", "percent")
        yield Record(*what, 100 * share, source, text)


def _fit(design: RpauDesign, params: str, units: Sequence[Area], source: str) -> Record:
    """Whether RPAUs fit the papers' card, die by die."""
    placed = place(
        CARD, [Resources(u.lut_sites, u.fabric_flip_flops, u.dsps, u.brams, u.urams) for u in units]
    )
    dies = " + ".join(map(str, placed.units))
    judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
    text = (
        f"{dies} RPAUs on the dies of an {CARD.card} {judged} (at most {CARD.lut_share:.0%} of a "
        f"die's LUTs, {CARD.reserved.luts:,} left in all)"
    )
    return Record(design.name, params, "device", "fits", float(placed.fits), source, text)
