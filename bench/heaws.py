"""``ringsmith bench heaws``: what the HEAWS paper has numbers of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from rich.console import Console

from bench.measure import (
    CLOCK,
    SEAL,
    SYNTHESIZED,
    KeyedModel,
    SealExact,
    area_records,
    compiled_for,
    counted,
    cpu_times,
    one_thread,
)
from bench.papers import figures
from bench.record import COUNTED, Record, machine_state
from bench.run import Run
from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.apps.gmdh import Forecasts
from ringsmith.apps.gmdh.steps import StepServer, begin_steps
from ringsmith.apps.seal_baseline import seal_missing, seal_version
from ringsmith.apps.session import Session
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.debug.area import card_areas, device_areas
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.rtl import CARD_TOP
from ringsmith.backends.rpau.device.link import Done, Job, Link, arrivals, share, share_lists
from ringsmith.caching import cached
from ringsmith.errors import DeviceError, ToolError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.synthesis import Area, area_times, total_area
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters
from ringsmith.params.sets import BFV_SETS
from ringsmith.platforms import Resources, load_platform, place

DESIGN, PARAMS, SEVERAL = "heaws", "heaws", "heaws6"
"""One coprocessor, its parameter set, and the paper's accelerator of six."""

PRODUCT = "multiply_relinearize"
FORECAST, DEVICE, HOST = "forecast", "forecast_device", "forecast_host"
LARGER, SEALS = "2^13, 360 bits", "set D"
CARD = load_platform("f1")
"""The paper's card."""


# ---- parameters --------------------------------------------------------------------------------


@cached
def parameters() -> BfvParameters:
    """Returns the paper's parameter set."""
    return BFV_SETS["heaws"]()


@cached
def larger_parameters() -> BfvParameters:
    """Returns table 4's second row: twelve primes of q, thirteen of the extension, N = 2^13."""
    return BfvParameters.create(
        n=1 << 13,
        prime_bits=(30,) * 12,
        plain_modulus=2,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
        error_deviation=102.0,
        security=None,
        name=LARGER,
    )


def larger_design() -> RpauDesign:
    """Returns a coprocessor for them: an RPAU for each prime of the extension, more converters."""
    return replace(load_design(DESIGN), name="heaws-13", log_n=13, rpaus=13, converters=4)


@cached
def seals_parameters() -> BfvParameters:
    """Returns a set that SEAL takes: six primes of 30 bits and a special one, t = 65537."""
    return BfvParameters.create(
        n=1 << 12,
        prime_bits=(30,) * 6,
        special_bits=30,
        plain_modulus=65537,
        security=None,
        name=SEALS,
    )


def graph_of(operation: str, of: BfvParameters) -> SubroutineGraph:
    """Returns the graph of an operation at all limbs."""
    return lower_operation(operation, of, of.limbs, steps=1)


# ---- cycles ------------------------------------------------------------------------------------


def choices(run: Run) -> Iterator[Record]:
    """Cycles of a product where one choice of the design is made differently, and their share."""
    of = parameters()
    base, _ = counted(graph_of(PRODUCT, of), load_design(DESIGN), "model", PRODUCT, of)
    for name, change in run["changes"].items():
        design = replace(load_design(DESIGN), name=f"{DESIGN}: {name}", **change)
        row, _ = counted(graph_of(PRODUCT, of), design, "model", name, of)
        run.say(f"{row.design}: {row.value:,.0f} cycles")
        yield row
        yield replace(row, metric="percent", value=100 * base.value / row.value)


def larger(run: Run) -> Iterator[Record]:
    """The product at table 4's second row."""
    of, design = larger_parameters(), larger_design()
    rows = counted(graph_of(PRODUCT, of), design, run["device"], PRODUCT, of)
    run.say(f"{design.name}: {rows[0].value:,.0f} cycles")
    yield rows[0]


def derived(run: Run) -> Iterator[Record]:
    """Times at the assumed clock, speedups, and what operands and results take on the link."""
    numbers = {r.key: r for r in run.records}.values()
    software = {
        (r.params, r.operation): r
        for r in numbers
        if r.source == "cpu" and r.metric == "microseconds" and r.baseline != SEAL
    }
    for each in numbers:
        if each.metric != "cycles" or each.source not in COUNTED or ": " in each.design:
            continue
        seconds = each.value / ASSUMED_HZ
        bare = replace(each, paper="", paper_value=None, where="", conditions=CLOCK)
        yield replace(bare, metric="milliseconds", value=seconds * 1e3)
        if each.params == PARAMS:
            yield replace(bare, metric="per_second", value=1 / seconds)
        if (time := software.get((each.params, each.operation))) is not None:
            text = f"{CLOCK}; over {time.baseline} on this CPU, timed as its own row says"
            speedup = time.value / (seconds * 1e6)
            yield replace(
                bare, metric="speedup", value=speedup, baseline=time.baseline, conditions=text
            )
        if each.operation == PRODUCT:
            yield from _with_transfers(each, seconds)


def _with_transfers(product: Record, seconds: float) -> Iterator[Record]:
    """Two ciphertexts to a coprocessor and one back, and the product with them, one by one."""
    small = product.params == PARAMS
    of, design = (
        (parameters(), load_design(DESIGN)) if small else (larger_parameters(), larger_design())
    )
    link = Link(design.host_bits)
    ways = (arrivals(link, design, count * of.limbs)[-1] for count in (4, 2))
    moved = sum(ways) / ASSUMED_HZ
    text = f"4 polynomials of {of.limbs} limbs in and 2 out; {link_text(link)}"
    what = (design.name, of.name)
    yield Record(*what, "communication", "milliseconds", moved * 1e3, "model", text)
    both = (moved + seconds) * 1e3
    yield Record(*what, "product_and_communication", "milliseconds", both, "model", text)


# ---- several coprocessors ----------------------------------------------------------------------


def job_of(executable: Executable, *, resident: bool = False) -> Job:
    """Returns what crosses the link for an executable of one segment, and what it takes."""
    (segment,) = executable.runs
    model = KeyedModel(executable)
    return Job(
        operands=sum(map(len, segment.loads.values())),
        keys=0 if resident else model.key_polynomials(segment),
        results=sum(map(len, segment.stores.values())),
        cycles=lambda came: model.run(segment, tuple(came)).cycles,
    )


def _product_job(design: RpauDesign) -> Job:
    return job_of(compiled_for(graph_of(PRODUCT, parameters()), design))


def _throughput(done: list[list[Done]]) -> tuple[float, float]:
    """Jobs a second of all coprocessors, from time 0 on, and the mean seconds of one of them."""
    last = max(jobs[-1].end for jobs in done)
    seconds = [
        (job.end - before) / ASSUMED_HZ
        for jobs in done
        for before, job in zip((0, *(each.end for each in jobs)), jobs, strict=False)
    ]
    return sum(map(len, done)) * ASSUMED_HZ / last, sum(seconds) / len(seconds)


def several_rate() -> tuple[int, float]:
    """Returns the number of coprocessors, and the products a second of all behind their link."""
    design = load_design(SEVERAL)
    done = share(Link(design.host_bits), design, _product_job(design), 50)
    return design.coprocessors, _throughput(done)[0]


def _papers_link(operation: str, polynomials: int) -> Link:
    """The paper's link, if the transfer of this name is of this number of polynomials."""
    known = {
        (f.operation, f.metric): f.value for f in figures("heaws") if not (f.baseline or f.design)
    }
    size = polynomials * known["polynomial", "bytes"]
    return Link(512, bytes_per_second=round(size / known[operation, "milliseconds"] * 1e3))


def coprocessors(run: Run) -> Iterator[Record]:
    """Products a second of six coprocessors behind several links, and transfers to one of them."""
    one, design = load_design(DESIGN), load_design(SEVERAL)
    link = Link(one.host_bits)
    text = f"6 limbs of {one.n:,} words of 32 bits"
    yield Record(DESIGN, PARAMS, "polynomial", "bytes", 6 * one.n * 4, "estimate", text)
    for count, operation in ((1, "polynomial_transfer"), (2, "ciphertext_transfer")):
        value = arrivals(link, one, 6 * count)[-1] / ASSUMED_HZ * 1e3
        what = (DESIGN, PARAMS, operation, "milliseconds")
        yield Record(*what, value, "model", link_text(link))
    job, jobs = _product_job(design), run["jobs"]
    links: Mapping[str, Link] = {
        "": Link(design.host_bits),
        **{name: Link(bits) for name, bits in run["links"].items()},
        "papers_link_by_polynomial": _papers_link("polynomial_transfer", 1),
        "papers_link_by_ciphertext": _papers_link("ciphertext_transfer", 2),
    }
    for name, each in links.items():
        rate, seconds = _throughput(share(each, design, job, jobs))
        text = f"{design.coprocessors} coprocessors, {jobs} products each; {link_text(each)}"
        label = f"{design.name}: {name}" if name else design.name
        row = Record(label, PARAMS, name or PRODUCT, "per_second", rate, "model", text)
        run.say(f"{label}: {rate:,.0f} products per second")
        yield row
        if not name:
            yield replace(row, metric="milliseconds", value=seconds * 1e3)


def link_text(link: Link) -> str:
    """Returns what must be known of a link."""
    return (
        f"a bus of {link.bus_bits} bits at {link.bus_hz / 1e6:.0f} MHz, at most "
        f"{link.bytes_per_second / 1e9:.3g} GB/s each way; devices {CLOCK}"
    )


# ---- the forecast ------------------------------------------------------------------------------


def forecast(run: Run) -> Iterator[Record]:
    """The smart-grid forecast of all held-out days on one coprocessor and on six.

    Each product and each relinearization is a job of its own, whose operands and results cross the
    link. What the host does in between, sums and products with numbers, is timed on this CPU.
    Nothing where data are missing. Raises DeviceError if a decrypted integer is not the clear
    network's.
    """
    try:
        current = begin_steps(Stages(Console(quiet=True)), DESIGN)
    except ToolError as error:
        run.say(f"the forecast is left out: {error}")
        return
    repeats, server = run["repeats"], current.server
    assert isinstance(server, StepServer), "of begin_steps"
    with one_thread():
        times = [_host_seconds(current, server) for _ in range(max(1, repeats))]
    runs = [
        [{name: _steps_job(compiled.executable) for name, compiled in graphs.items()}[step]
         for step in server.ran]
        for graphs in server.graphs
    ]  # fmt: skip
    design, count = load_design(DESIGN), load_design(SEVERAL).coprocessors
    link = Link(design.host_bits)
    spread = [[job for each in runs[k::count] for job in each] for k in range(count)]
    whole = [job for each in runs for job in each]
    last = {
        name: max(done[-1].end for done in share_lists(link, design, lists)) / ASSUMED_HZ
        for name, lists in (("one", [whole]), ("spread", spread), ("each", [whole] * count))
    }
    host = run.value(operation=HOST, metric="seconds")
    if repeats:
        host = median(times)
        text = f"one thread; {machine_state()}; median of {repeats} forecasts of all meters"
        yield Record(REFERENCE, PARAMS, HOST, "seconds", host, "cpu", text)
    text = f"496 meters, all exact, six digits, {len(runs)} plain moduli; {link_text(link)}"
    for operation, added, source in ((DEVICE, 0.0, "model"), (FORECAST, host, "estimate")):
        if added is not None:
            one = Record(DESIGN, PARAMS, operation, "seconds", last["one"] + added, source, text)
            yield one
            yield replace(one, design=SEVERAL, value=last["spread"] + added)
            rate = count / (last["each"] + added)
            yield replace(one, design=SEVERAL, metric="per_second", value=rate)


def _host_seconds(current: Session[Forecasts], server: StepServer) -> float:
    """Forecasts on the cpu device: the host's seconds."""
    answer = current.answer(Stages(Console(quiet=True)), runtime.open_device(REFERENCE))
    worth = answer.outcome.quality
    if worth["exact"] != worth["meters"]:
        raise DeviceError(f"{worth['exact']} of {worth['meters']} forecasts are exact")
    return server.host_seconds


def _steps_job(executable: object) -> Job:
    """A step whose segments follow one another, and what crosses for all of them.

    Keys of a segment are sent when it starts, since the key store holds those of the one before.
    """
    assert isinstance(executable, Executable), "compiled for a design"
    model, segments = KeyedModel(executable), executable.runs

    def cycles(came: Sequence[int]) -> int:
        total, first, shift = 0, 0, 0
        for each in segments:
            behind = first + model.key_polynomials(each)
            total += model.run(each, tuple(cycle - shift for cycle in came[first:behind])).cycles
            shift = came[behind - 1] if behind > first else shift
            first = behind
        return total

    return Job(
        operands=sum(len(limbs) for each in segments for limbs in each.loads.values()),
        keys=sum(map(model.key_polynomials, segments)),
        results=sum(len(limbs) for each in segments for limbs in each.stores.values()),
        cycles=cycles,
    )


# ---- software ----------------------------------------------------------------------------------


def software(run: Run) -> Iterator[Record]:
    """Microseconds of our cpu device on the paper's set and on SEAL's, and of SEAL on its own."""
    operations, repeats = run["operations"], run["repeats"]
    for of in (parameters(), seals_parameters()):
        yield from cpu_times(of, {name: graph_of(name, of) for name in operations}, repeats)
    if (missing := seal_missing()) is not None:
        run.say(missing)
        return
    seconds = dict(SealExact(seals_parameters(), [1]).operation_seconds(1, repeats))
    seconds[PRODUCT] = seconds["multiply"] + seconds["relinearize"]
    text = (
        f"seal-python {seal_version()}, portable build; one thread; {machine_state()}; median of "
        f"{repeats} calls; product and relinearization in turn"
    )
    for name in operations:
        value = seconds[name] * 1e6
        yield Record(REFERENCE, SEALS, name, "microseconds", value, "cpu", text, SEAL)


# ---- area --------------------------------------------------------------------------------------


_PARTS = {
    "coprocessor": "rs_rpau_top",
    "rpau": "rs_rpau",
    "lift": "rs_base_convert",
    "butterfly_lanes": "rs_butterfly_lanes",
}
"""Part, by its name in the paper's records -> our module."""


def area(run: Run) -> Iterator[Record]:
    """Every part's numbers, synthesized, and whether six coprocessors fit the card.

    Raises ToolError if Yosys is not installed or fails.
    """
    run.say(f"{DESIGN}: synthesis of the coprocessor")
    design, several = load_design(DESIGN), load_design(SEVERAL)
    areas, count = device_areas(design), several.coprocessors
    text = SYNTHESIZED
    for part, module in _PARTS.items():
        yield from area_records(DESIGN, PARAMS, part, areas[module], "synthesis", text)
    lane = area_times(areas[_PARTS["butterfly_lanes"]], design.rpaus / design.cores)
    more = f"a butterfly core in each of {design.rpaus} RPAUs; {text}"
    yield from area_records(DESIGN, PARAMS, "rpau_cores", lane, "synthesis", more)
    joins, one = card_areas(several)[CARD_TOP], areas[_PARTS["coprocessor"]]
    whole = total_area([area_times(one, count), joins])
    more = f"{count} times the coprocessor, and the DMA and registers before them; {text}"
    yield from area_records(SEVERAL, PARAMS, "six_coprocessors", whole, "synthesis", more)
    yield _fit(one, joins, count)


def _fit(one: Area, joins: Area, count: int) -> Record:
    """Whether these coprocessors fit, each with its share of what joins them."""
    unit = Resources(
        one.lut_sites + -(-joins.lut_sites // count),
        one.fabric_flip_flops + -(-joins.fabric_flip_flops // count),
        one.dsps,
        one.brams + joins.brams / count,
        one.urams,
    )
    placed = place(CARD, [unit] * count)
    dies = " + ".join(map(str, placed.units))
    judged = "fit" if placed.fits else f"do not fit, since {'; '.join(placed.excess)}"
    text = (
        f"{dies} coprocessors on the dies of {CARD.card}, without the shell's partition, {judged} "
        f"(at most {CARD.lut_share:.0%} of a die's LUTs); each with its share of DMA and registers"
    )
    return Record(DESIGN, PARAMS, "accelerator", "fits", float(placed.fits), "synthesis", text)
