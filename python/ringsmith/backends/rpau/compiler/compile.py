"""Compiles a subroutine graph to an executable of a design."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from ringsmith import _core
from ringsmith.backends.rpau.compiler.executable import Executable, KeyLoad, Run, SeedLoad
from ringsmith.backends.rpau.compiler.key_stream import awaiting, in_order_of_use
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import Segment, cut, fits_at_once
from ringsmith.backends.rpau.compiler.select import check_supported, select
from ringsmith.backends.rpau.compiler.selection import Selection
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import prime_error
from ringsmith.backends.rpau.design.conversions import conversion_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.backends.rpau.isa.assembler import check, encode
from ringsmith.errors import ProgramError
from ringsmith.graph.expand import Expanded, expand
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.interop.seeded_keys import seeds_are_direct
from ringsmith.progress import Task, task


def compile_graph(
    graph: SubroutineGraph, design: RpauDesign, seeded: Collection[str] | None = None
) -> Executable:
    """Selects, schedules and encodes a subroutine graph for a design.

    Args:
        graph: The graph.
        design: The accelerator.
        seeded: Names of the keys that will have a seed; None: every key. A design with a PRNG
            expands the a part of these (``RpauDesign.expands``), if there are direct seeds for them
            (``seeds_are_direct``). Other keys, and all keys of other designs, are loaded in full.

    Raises:
        ProgramError: If the ring, the primes, the constants or a few instructions that belong
            together do not fit the design; the message says what is needed and what there is.
    """
    check_supported(graph, design)
    _check_fit(graph, design)
    expanded = expand(graph)
    selections = list(_selections(expanded, design, _seeded(graph, design, seeded)))
    plans, errors = _plans(graph, design, selections)
    for plan in sorted(plans, key=lambda plan: (plan.draft.host_transfers, plan.draft.cycles)):
        try:
            return plan.executable()
        except ProgramError as error:
            errors.append(error)
    raise errors[0]


@dataclass(frozen=True)
class _Plan:
    """One way to run a program on a design, scheduled.

    Attributes:
        selection: Its instructions on virtual polynomials.
        segments: Its program segments.
        draft: The executable without its instruction words; it gives the cost.
    """

    selection: Selection
    segments: Sequence[Segment]
    draft: Executable

    def executable(self) -> Executable:
        """The executable with its instruction words.

        Raises:
            ProgramError: If the design does not have an instruction.
        """
        design = self.draft.design
        runs = zip(self.draft.runs, self.segments, strict=True)
        filled = tuple(_filled(run, each, self.selection, design) for run, each in runs)
        return replace(self.draft, runs=filled)


def _plans(
    graph: SubroutineGraph, design: RpauDesign, selections: Sequence[Selection]
) -> tuple[list[_Plan], list[ProgramError]]:
    """Schedules several selections of a program, in parallel, and returns those that fit.

    The others' errors come with them.
    """
    total = sum(len(selection.instructions) for selection in selections)

    def plan(selection: Selection) -> _Plan | ProgramError:
        try:
            return _planned(graph, design, selection, progress)
        except ProgramError as error:
            return error

    with (
        task(f"scheduling for {design.name}", total, "instructions") as progress,
        ThreadPoolExecutor(max_workers=_core.threads()) as pool,
    ):
        found = list(pool.map(plan, selections))
    plans = [each for each in found if isinstance(each, _Plan)]
    return plans, [each for each in found if isinstance(each, ProgramError)]


def _selections(
    expanded: Expanded, design: RpauDesign, seeded: Collection[str]
) -> Iterator[Selection]:
    """The ways to select instructions that are worth scheduling.

    Pre-initialised accumulators help if transfers run in parallel to the transforms. A program with
    keys that does not fit at once is also selected in the order that needs the least memory.
    """
    keys = expanded.graph.keys
    issues = (False, True) if keys else (False,)
    for layout, per_rpau in product(layouts(expanded, design), issues):
        chosen = partial(select, expanded, design, layout, per_rpau=per_rpau, seeded=seeded)
        selection = chosen()
        yield selection
        if keys and not fits_at_once(selection, design):
            yield chosen(preinitialised=True, eager=True)
        elif keys and design.link:
            yield chosen(preinitialised=True)


def _seeded(
    graph: SubroutineGraph, design: RpauDesign, seeded: Collection[str] | None
) -> frozenset[str]:
    """Names of the graph's keys whose a part the design expands."""
    if not design.expands(graph.n.bit_length() - 1):
        return frozenset()
    primes = graph.primes[: graph.key_primes]
    direct = {
        name for name, shape in graph.keys.items() if seeds_are_direct(primes, graph.n, shape)
    }
    return frozenset(direct if seeded is None else direct & set(seeded))


def _planned(
    graph: SubroutineGraph, design: RpauDesign, selection: Selection, progress: Task
) -> _Plan:
    _check_capacity("constants", "constants", len(selection.constants), design.constants, design)
    needed = len(selection.conversions)
    _check_capacity("conversions", "conversions", needed, design.conversions, design)
    segments = cut(selection, design, progress.advance)
    draft = Executable(
        design=design,
        log_degree=selection.log_degree,
        primes=tuple(graph.primes),
        roots=tuple(graph.roots),
        limbs=selection.limbs,
        constants=_constant_files(selection),
        inputs=selection.inputs,
        outputs=selection.outputs,
        runs=tuple(_drafts(segments, selection)),
        conversions=tuple(
            tuple(conversion_words(design, each).tolist()) for each in selection.conversions
        ),
        rpaus=() if selection.order == SlotOrder.plain(design) else selection.order.rpaus,
    )
    return _Plan(selection, segments, draft)


def _drafts(segments: Sequence[Segment], selection: Selection) -> Iterator[Run]:
    """The program segments without their instructions."""
    polynomials = {index: (key, mask) for key, (index, mask) in selection.keys.items()}
    seeds = {index: (seed, mask) for seed, (index, mask) in selection.seeds.items()}
    for segment in segments:
        yield Run(
            words=(),
            starts=(),
            origins=(),
            cycles=segment.cycles,
            peak_polys=segment.peak,
            keys=tuple(
                KeyLoad(
                    key.key, key.digit, key.half, key.modulus_bank, key.sub_polynomial, place, mask
                )
                for index, place in segment.keys.items()
                for key, mask in [polynomials[index]]
            ),
            seeds=tuple(
                SeedLoad(seed.key, seed.modulus_bank, place, mask)
                for index, place in segment.seeds.items()
                for seed, mask in [seeds[index]]
            ),
            loads=_by_rpau(segment.loads, segment.polys),
            stores=_by_rpau(segment.stores, segment.polys),
        )


def _filled(run: Run, segment: Segment, selection: Selection, design: RpauDesign) -> Run:
    """A program segment with its instructions, checked against the design."""
    program = list(segment.program(selection))
    if design.key_stream:
        run = replace(run, keys=in_order_of_use(run.keys, program))
        program = list(awaiting(program, run.keys, design, selection.log_degree))
    for step in program:
        check(step.instruction, design)
    return replace(
        run,
        cycles=program[-1].start,
        words=tuple(encode(step.instruction) for step in program),
        starts=tuple(step.start for step in program),
        origins=tuple(step.origin for step in program),
    )


def _by_rpau(masks: Mapping[int, int], polys: Mapping[int, int]) -> dict[int, dict[int, int]]:
    """Work polynomial by RPAU of each virtual polynomial."""
    return {poly: dict.fromkeys(bits_of(mask), polys[poly]) for poly, mask in masks.items()}


def _check_fit(graph: SubroutineGraph, design: RpauDesign) -> None:
    log_degree = graph.n.bit_length() - 1
    if not design.min_log_n <= log_degree <= design.max_log_n:
        rings = f"N = {design.n}"
        if design.min_log_n < design.max_log_n:
            rings = f"N = {1 << design.min_log_n} to {1 << design.max_log_n}"
        raise ProgramError(
            f"the program works in a ring of degree N = {graph.n} and design {design.name} is "
            f"built for {rings}: choose parameters or a design of the same N"
        )
    if len(graph.primes) > design.limbs:
        raise ProgramError(
            f"the parameters have {len(graph.primes)} primes and design {design.name} has "
            f"{design.limbs} modulus banks ({design.rpaus} RPAUs with "
            f"{design.modulus_banks} each): use "
            "fewer primes or a design with more RPAUs or modulus banks"
        )
    for prime in graph.primes:
        if problem := prime_error(prime, design, log_degree):
            raise ProgramError(problem)


def _check_capacity(
    what: str, parameter: str, needed: int, available: int, design: RpauDesign
) -> None:
    if needed > available:
        raise ProgramError(
            f"the program needs {needed} {what} and design {design.name} has {parameter} = "
            f"{available}: "
            "use a larger design or split the program"
        )


def _constant_files(selection: Selection) -> tuple[tuple[int, ...], ...]:
    """Constant file of each slot; an index that it does not use holds 0."""
    return tuple(
        tuple(entry.get(slot, 0) for entry in selection.constants)
        for slot in range(len(selection.limbs))
    )
