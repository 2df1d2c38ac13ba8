"""A trace as a file for Perfetto: a process is an RPAU, and a thread is a unit of it.

Process 1 holds the critical path. :mod:`ringsmith.backends.timeline.views` has the format.
"""

from collections import Counter
from collections.abc import Iterator

from ringsmith.backends.rpau.debug.summary import critical_path
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import CONTROL, ISA
from ringsmith.backends.timeline.views import (
    EventJson,
    complete,
    counter,
    document,
    process,
    thread,
)

_PROGRAM = 1
_FIRST_RPAU = 2


def perfetto_json(trace: Trace, title: str = "") -> str:
    """The trace as the text of a JSON file.

    Args:
        trace: The program in time.
        title: What the program is called.
    """
    events = [*_names(trace), *_events(trace), *_counters(trace)]
    return document(title, trace.design.name, trace.cycles, events)


def _names(trace: Trace) -> Iterator[EventJson]:
    yield from process(_PROGRAM, f"program on {trace.design.name}")
    yield from thread(_PROGRAM, 1, "critical path")
    for rpau in range(trace.design.rpaus):
        yield from process(_FIRST_RPAU + rpau, f"RPAU {rpau}")
        for unit in ISA.units_of(trace.design):
            yield from thread(_FIRST_RPAU + rpau, _thread(unit), unit)


def _thread(unit: str) -> int:
    return 1 + ISA.execution_units.index(unit)


def _events(trace: Trace) -> Iterator[EventJson]:
    for step in critical_path(trace):
        arguments = {"instruction": step.event.text, "index": step.event.index}
        name = step.operation if step.fetching else step.event.origin
        yield complete((_PROGRAM, 1), (step.begin, step.end), name, step.operation, arguments)
    for event in trace.events:
        if event.unit != CONTROL:
            for rpau in event.instruction.rpaus():
                track = (_FIRST_RPAU + rpau, _thread(event.unit))
                cycles = (event.start, event.end)
                yield complete(track, cycles, event.name, event.operation, _arguments(event))


def _arguments(event: Event) -> dict[str, object]:
    return {
        "instruction": event.text,
        "index": event.index,
        "operation": event.origin,
        "waited for": "fetch" if event.blocker is None else f"#{event.blocker}",
    }


def _counters(trace: Trace) -> Iterator[EventJson]:
    """How many RPAUs have each unit busy, whenever that changes."""
    changes: dict[int, Counter[str]] = {0: Counter()}
    for event in trace.events:
        if event.unit != CONTROL:
            count = len(event.instruction.rpaus())
            changes.setdefault(event.start, Counter())[event.unit] += count
            changes.setdefault(event.end, Counter())[event.unit] -= count
    busy = dict.fromkeys(ISA.units_of(trace.design), 0)
    for cycle in sorted(changes):
        for unit, change in changes[cycle].items():
            busy[unit] += change
        yield counter(_PROGRAM, cycle, "busy RPAUs", busy)
