"""From a subroutine graph to an executable of a design."""

from collections.abc import Iterable, Mapping

from ringsmith.arch.rpau.assembler import check, encode
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.executable import Executable, KeyLoad
from ringsmith.arch.rpau.schedule import Problem, schedule
from ringsmith.arch.rpau.select import Location, Selection, select
from ringsmith.errors import ProgramError
from ringsmith.lower.graph import SubroutineGraph


def compile_graph(graph: SubroutineGraph, design: RpauDesign) -> Executable:
    """Selects, schedules and encodes a subroutine graph for a design.

    Raises:
        ProgramError: If the ring, the primes, the keys, the constants, the polynomials or the
            instructions do not fit the design; the message says what is needed and what there is.
    """
    _check_fit(graph, design)
    selection = select(graph)
    _check_capacity(
        "key-store polynomials", "key_polys", len(selection.keys), design.key_polys, design
    )
    _check_capacity("constants", "constants", len(selection.constants), design.constants, design)
    problem = Problem(
        instructions=selection.instructions,
        placement=selection.placement,
        resident=_masks(selection.inputs.values()),
        kept=_masks(selection.outputs.values()),
        design=design,
    )
    plan = schedule(problem)
    _check_capacity("instructions", "program_words", len(plan.placed), design.program_words, design)
    for step in plan.placed:
        check(step.instruction, design)
    return Executable(
        design=design,
        primes=tuple(graph.primes),
        roots=tuple(graph.roots),
        words=tuple(encode(step.instruction) for step in plan.placed),
        starts=tuple(step.start for step in plan.placed),
        origins=tuple(step.origin for step in plan.placed),
        cycles=plan.cycles,
        peak_polys=plan.peak,
        constants=_constant_files(selection, len(graph.primes)),
        inputs=_homes(selection.inputs, plan.slots),
        outputs=_homes(selection.outputs, plan.slots),
        keys=tuple(
            KeyLoad(k.key, k.digit, k.half, index, mask)
            for k, (index, mask) in selection.keys.items()
        ),
    )


def _check_fit(graph: SubroutineGraph, design: RpauDesign) -> None:
    if graph.n != design.n:
        raise ProgramError(
            f"the program works in a ring of degree N = {graph.n} and design {design.name} is "
            f"built for N = {design.n}: "
            "choose parameters or a design of the same N"
        )
    if len(graph.primes) > design.rpaus:
        raise ProgramError(
            f"the parameters have {len(graph.primes)} primes and design {design.name} has "
            f"{design.rpaus} RPAUs, "
            "one prime each: use fewer primes or a design with more RPAUs"
        )
    for prime in graph.primes:
        if prime.bit_length() > design.word_bits:
            raise ProgramError(
                f"prime {prime} has {prime.bit_length()} bits and design {design.name} has words "
                f"of {design.word_bits}: "
                "use smaller primes or a design with wider words"
            )


def _check_capacity(
    what: str, parameter: str, needed: int, available: int, design: RpauDesign
) -> None:
    if needed > available:
        raise ProgramError(
            f"the program needs {needed} {what} and design {design.name} has {parameter} = "
            f"{available}: "
            "use a larger design or split the program"
        )


def _masks(locations: Iterable[Location]) -> dict[int, int]:
    """The virtual polynomials of some locations, each with the mask of RPAUs."""
    masks: dict[int, int] = {}
    for location in locations:
        for rpau, poly in location.items():
            masks[poly] = masks.get(poly, 0) | 1 << rpau
    return masks


def _constant_files(selection: Selection, rpaus: int) -> tuple[tuple[int, ...], ...]:
    """Constant file of each RPAU; an index that an RPAU does not use holds 0."""
    return tuple(
        tuple(entry.get(rpau, 0) for entry in selection.constants) for rpau in range(rpaus)
    )


def _homes(
    locations: Mapping[str, Location], slots: Mapping[int, int]
) -> dict[str, dict[int, int]]:
    return {
        name: {rpau: slots[poly] for rpau, poly in where.items()}
        for name, where in locations.items()
    }
