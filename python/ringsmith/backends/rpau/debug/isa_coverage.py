"""Which situations of the instruction set some programs bring about.

The points to cover follow from the records of ``isa.yaml``, so that an instruction added there adds
its points here: every instruction with every set of wait bits, number of RPAUs and place of its
source; operands that are the same polynomial and ones that are not; every reason to issue; and
every pair of instructions that can be in flight together, in one RPAU on two units or in different
RPAUs on one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from ringsmith.backends.rpau.compiler.timeline import HALT
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import (
    CONTROL,
    ISA,
    Instruction,
    Operation,
)
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, POLY

MASKS = ("one", "some", "all")
SOURCES = ("first", "between", "last")
REASONS = ("fetch", "its unit", "a wait bit")


@dataclass(frozen=True, order=True)
class Situation:
    """One point to cover.

    Attributes:
        kind: What is varied, such as ``waits``.
        name: The instruction's name.
        detail: The variant, such as ``main, dyadic``.
    """

    kind: str
    name: str
    detail: str


def every_situation() -> frozenset[Situation]:
    """All points of the instruction set."""
    return frozenset(point for operation in ISA.operations for point in _of_operation(operation))


def situations(trace: Trace) -> Counter[Situation]:
    """How often a program brings about each point."""
    found: Counter[Situation] = Counter()
    running: list[Event] = []
    for event in trace.events:
        found.update(_of_instruction(event.instruction, trace.design.rpaus))
        found[_reason(event, trace)] += 1
        running = [other for other in running if other.end > event.start]
        found.update(_together(event, running))
        running.append(event)
    return found


def _of_operation(operation: Operation) -> Iterator[Situation]:
    name = operation.name
    if name == HALT:  # takes no operand, mask or wait bit into account
        for reason in ("fetch", "any unit"):
            yield Situation("issues after", name, reason)
        return
    for count in range(len(ISA.execution_units) + 1):
        for waits in combinations(ISA.execution_units, count):
            yield Situation("waits for", name, ", ".join(waits) or "nothing")
    for size in MASKS[-1:] if operation.everyone else MASKS:
        yield Situation("RPAUs", name, size)
    if operation.source:
        for place in SOURCES:
            yield Situation("source", name, place)
    for one, other in _free_pairs(operation):
        yield Situation("operands", name, f"{one} = {other}")
        yield Situation("operands", name, f"{one} ≠ {other}")
    for reason in (*REASONS, "a key") if operation.awaits else REASONS:
        if reason != "its unit" or operation.unit != CONTROL:
            yield Situation("issues after", name, reason)
    if operation.unit != CONTROL:
        for earlier in ISA.operations:
            if earlier.unit != CONTROL and not _exclude_each_other(operation, earlier):
                yield Situation("issues while", name, f"{earlier.name} runs")


def _exclude_each_other(one: Operation, other: Operation) -> bool:
    """Whether the hazard rule keeps the two from being in flight together as counted here."""
    both_read_keys = all(any(o.kind == KEY_POLY for o in each.operands) for each in (one, other))
    in_other_rings = any(
        a.takes_whole and b.needs == "larger_rings" for a, b in ((one, other), (other, one))
    )
    both_take_all = one.unit == other.unit and (one.everyone or other.everyone)
    return (
        bool(one.source and other.source)
        or (both_read_keys and one.unit != other.unit)
        or both_take_all
        or in_other_rings
    )


def _free_pairs(operation: Operation) -> list[tuple[str, str]]:
    """Work-polynomial operands of one RPAU that may be the same polynomial or not."""
    names = [o.name for o in operation.operands if o.kind == POLY and o.where == "all"]
    distinct = set(combinations(operation.distinct, 2))
    return [pair for pair in combinations(names, 2) if pair not in distinct]


def _of_instruction(instruction: Instruction, rpaus: int) -> Iterator[Situation]:
    operation, taking = instruction.operation, instruction.rpaus()
    if operation.name == HALT:
        return
    waits = ", ".join(unit for unit in ISA.execution_units if unit in instruction.waits)
    yield Situation("waits for", operation.name, waits or "nothing")
    if taking:
        size = "all" if len(taking) == rpaus else "one" if len(taking) == 1 else "some"
        yield Situation("RPAUs", operation.name, size)
    if operation.source and len(taking) > 1:
        source = instruction[operation.source.name]
        ends = {taking[0]: "first", taking[-1]: "last"}
        yield Situation("source", operation.name, ends.get(source, "between"))
    for one, other in _free_pairs(operation):
        sign = "=" if instruction[one] == instruction[other] else "≠"
        yield Situation("operands", operation.name, f"{one} {sign} {other}")


def _reason(event: Event, trace: Trace) -> Situation:
    if event.keys:
        reason = "a key"
    elif event.blocker is None:
        reason = "fetch"
    elif event.name == HALT:
        reason = "any unit"
    elif trace.events[event.blocker].unit == event.unit:
        reason = "its unit"
    else:
        reason = "a wait bit"
    return Situation("issues after", event.name, reason)


def _together(event: Event, running: Iterable[Event]) -> Iterator[Situation]:
    """Instructions in flight that this one joins.

    Of the same unit they are in other RPAUs; of another they count in a common RPAU only, where the
    two share memory ports.
    """
    if event.unit == CONTROL:
        return
    for other in running:
        common = event.instruction.mask & other.instruction.mask
        if other.unit != CONTROL and (other.unit == event.unit or common):
            yield Situation("issues while", event.name, f"{other.name} runs")


def by_kind(covered: Iterable[Situation]) -> dict[str, tuple[int, int]]:
    """Kind of situation -> (covered, all)."""
    seen, table = frozenset(covered), every_situation()
    kinds = dict.fromkeys(point.kind for point in sorted(table))
    return {
        kind: (
            sum(point.kind == kind for point in table & seen),
            sum(point.kind == kind for point in table),
        )
        for kind in kinds
    }
