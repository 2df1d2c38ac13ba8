"""A trace as a file for Perfetto (ui.perfetto.dev) or chrome://tracing.

The format is the JSON object form of Chrome's Trace Event Format: complete events (``ph`` X) with
``ts`` and ``dur`` in microseconds, metadata events (M) that name and order processes and threads,
counter events (C). Here a process is an RPAU and a thread is a unit of it; process 1 holds the
critical path. One clock cycle stands as one microsecond.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ringsmith.backends.rpau.debug.summary import critical_path
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import CONTROL, ISA

_PROGRAM = 1
_FIRST_RPAU = 2  # numbers from 1: viewers take process 0 for the kernel's idle task


def perfetto_json(trace: Trace, title: str = "") -> str:
    """The trace as the text of a JSON file.

    Args:
        trace: The program in time.
        title: What the program is called.
    """
    design = trace.design
    return json.dumps(
        {
            "traceEvents": [*_names(trace), *_events(trace)],
            "displayTimeUnit": "ms",
            "otherData": {
                "program": title,
                "design": design.name,
                "cycles": trace.cycles,
                "unit": "1 us is 1 clock cycle",
            },
        }
    )


def _names(trace: Trace) -> Iterator[dict[str, Any]]:
    yield from _name_process(_PROGRAM, f"program on {trace.design.name}")
    yield _metadata(_PROGRAM, 1, "thread_name", {"name": "critical path"})
    for rpau in range(trace.design.rpaus):
        yield from _name_process(_FIRST_RPAU + rpau, f"RPAU {rpau}")
        for unit in ISA.units_of(trace.design):
            thread = _thread(unit)
            yield _metadata(_FIRST_RPAU + rpau, thread, "thread_name", {"name": unit})
            order = {"sort_index": thread}
            yield _metadata(_FIRST_RPAU + rpau, thread, "thread_sort_index", order)


def _thread(unit: str) -> int:
    return 1 + ISA.execution_units.index(unit)


def _name_process(process: int, name: str) -> Iterator[dict[str, Any]]:
    yield _metadata(process, 0, "process_name", {"name": name})
    yield _metadata(process, 0, "process_sort_index", {"sort_index": process})


def _metadata(process: int, thread: int, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": name, "args": args}


def _events(trace: Trace) -> Iterator[dict[str, Any]]:
    for step in critical_path(trace):
        args = {"instruction": step.event.text, "index": step.event.index}
        name = step.operation if step.fetching else step.event.origin
        yield _complete(_PROGRAM, 1, name, step.operation, (step.begin, step.end), args)
    for event in trace.events:
        if event.unit != CONTROL:
            thread = _thread(event.unit)
            for rpau in event.instruction.rpaus():
                yield _complete(
                    _FIRST_RPAU + rpau,
                    thread,
                    event.name,
                    event.operation,
                    (event.start, event.end),
                    _args(event),
                )
    yield from _counters(trace)


def _args(event: Event) -> dict[str, Any]:
    return {
        "instruction": event.text,
        "index": event.index,
        "operation": event.origin,
        "waited for": "fetch" if event.blocker is None else f"#{event.blocker}",
    }


def _complete(
    process: int,
    thread: int,
    name: str,
    category: str,
    cycles: tuple[int, int],
    args: dict[str, Any],
) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": process,
        "tid": thread,
        "ts": cycles[0],
        "dur": cycles[1] - cycles[0],
        "name": name,
        "cat": category,
        "args": args,
    }


def _counters(trace: Trace) -> Iterator[dict[str, Any]]:
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
        yield {
            "ph": "C",
            "pid": _PROGRAM,
            "tid": 0,
            "ts": cycle,
            "name": "busy RPAUs",
            "args": dict(busy),
        }
