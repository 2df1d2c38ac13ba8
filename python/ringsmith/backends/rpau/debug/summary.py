"""Where a program's cycles go: busy units, the critical path by HE operation, idle gaps."""

from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.timeline import HALT
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import ISA

FETCH = "(fetch)"
"""Stands for an HE operation where the critical path waits for instructions to be fetched."""


@dataclass(frozen=True)
class Step:
    """A section of the critical path: cycles ``begin`` to ``end`` - 1.

    Attributes:
        begin: First cycle.
        end: First cycle of the next section, or the program's cycles.
        event: The instruction that runs, or, where ``fetching``, that is being fetched.
        fetching: Whether the path waits for the controller rather than for a unit.
    """

    begin: int
    end: int
    event: Event
    fetching: bool

    @property
    def operation(self) -> str:
        """Kind of HE operation that these cycles are counted for, or ``FETCH``."""
        return FETCH if self.fetching else self.event.operation


@dataclass(frozen=True)
class Share:
    """What one kind of HE operation takes.

    Attributes:
        operation: Its name, or ``FETCH``.
        count: How often it occurs in the program.
        instructions: Issued for it.
        critical_cycles: On the critical path. Over all shares they add up to the program's cycles.
        unit_cycles: Busy cycles of units, summed over units and RPAUs.
    """

    operation: str
    count: int
    instructions: int
    critical_cycles: int
    unit_cycles: int


@dataclass(frozen=True)
class Gap:
    """Cycles ``begin`` to ``end`` - 1 in which one unit is idle in some RPAUs.

    Attributes:
        begin: First idle cycle.
        end: Cycle in which the unit's next instruction issues, or the program's cycles.
        unit: The unit.
        rpaus: Where it is idle over exactly these cycles.
        before: The unit's next instruction; None at the program's end.
        reason: What the gap's end waited for, in words.
    """

    begin: int
    end: int
    unit: str
    rpaus: tuple[int, ...]
    before: Event | None
    reason: str

    @property
    def cycles(self) -> int:
        """Length."""
        return self.end - self.begin


def busy_cycles(trace: Trace, rpau: int, unit: str) -> int:
    """Cycles in which a unit of an RPAU works."""
    return sum(event.end - event.start for event in trace.lane(rpau, unit))


def busy_share(trace: Trace, unit: str) -> float:
    """Share of the program's cycles in which a unit works, averaged over the RPAUs."""
    rpaus = trace.design.rpaus
    return sum(busy_cycles(trace, rpau, unit) for rpau in range(rpaus)) / rpaus / trace.cycles


def critical_path(trace: Trace) -> list[Step]:
    """The chain of waits that makes the program as long as it is, first step first.

    Walked backwards from ``halt``: an instruction that waited for another's end hands the cycles
    since that one's start to it; one that waited for nothing but its own fetch, which follows the
    previous issue, hands the fetch cycles to ``FETCH``, and the walk goes on at the previous
    instruction. The steps cover every cycle of the program exactly once.
    """
    steps: list[Step] = []
    event = trace.events[-1]
    while True:
        if event.blocker is not None:
            blocker = trace.events[event.blocker]
            steps.append(Step(blocker.start, event.start, blocker, fetching=False))
            event = blocker
            continue
        previous = trace.events[event.index - 1] if event.index else None
        begin = previous.start if previous else 0
        steps.append(Step(begin, event.start, event, fetching=True))
        if previous is None:
            return steps[::-1]
        event = previous


def shares(trace: Trace) -> list[Share]:
    """What each kind of HE operation takes, the longest on the critical path first."""
    critical: dict[str, int] = {}
    for step in critical_path(trace):
        critical[step.operation] = critical.get(step.operation, 0) + step.end - step.begin
    found = []
    for operation in trace.operations():
        events = [e for e in trace.events if e.operation == operation and e.name != HALT]
        found.append(
            Share(
                operation,
                count=len({event.origin for event in events}),
                instructions=len(events),
                critical_cycles=critical.get(operation, 0),
                unit_cycles=sum(
                    (event.end - event.start) * len(event.instruction.rpaus()) for event in events
                ),
            )
        )
    found.sort(key=lambda share: -share.critical_cycles)
    return [*found, Share(FETCH, 0, 0, critical.get(FETCH, 0), 0)]


def gaps(trace: Trace) -> list[Gap]:
    """Every idle gap, the one that wastes the most cycles, summed over its RPAUs, first."""
    together: dict[tuple[int, int, str, int | None], list[int]] = {}
    for rpau in range(trace.design.rpaus):
        for unit in ISA.units_of(trace.design):
            for begin, end, before in _idle(trace, rpau, unit):
                together.setdefault((begin, end, unit, before), []).append(rpau)
    found = []
    for (begin, end, unit, index), rpaus in together.items():
        event = None if index is None else trace.events[index]
        reason = _reason(trace, event) if event else "no work left" if begin else "no work"
        found.append(Gap(begin, end, unit, tuple(rpaus), event, reason))
    return sorted(found, key=lambda gap: (-gap.cycles * len(gap.rpaus), gap.begin, gap.unit))


def _idle(trace: Trace, rpau: int, unit: str) -> Iterator[tuple[int, int, int | None]]:
    """(begin, end, index of the next instruction or None) of one unit's gaps."""
    lane = trace.lane(rpau, unit)
    begins = [0, *(event.end for event in lane)]
    ends = [*((event.start, event.index) for event in lane), (trace.cycles, None)]
    for begin, (end, index) in zip(begins, ends, strict=True):
        if end > begin:
            yield begin, end, index


def _reason(trace: Trace, event: Event) -> str:
    """What an instruction waited for: another's end, or the issue of those before it."""
    first = event
    while first.blocker is None and first.index:
        first = trace.events[first.index - 1]
    if first.blocker is None:
        return "the first instructions are fetched"
    wait = f"waits for {_short(trace.events[first.blocker])}"
    return wait if first is event else f"queues behind {_short(first)}, which {wait}"


def _short(event: Event) -> str:
    return f"#{event.index} {event.name} ({event.origin})"
