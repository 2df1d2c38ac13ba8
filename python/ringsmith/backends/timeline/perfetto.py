"""Events of a file for Perfetto (ui.perfetto.dev) or chrome://tracing.

The format is the JSON object form of Chrome's Trace Event Format: complete events (``ph`` X) with
``ts`` and ``dur`` in microseconds, metadata events (M) that name and order processes and threads,
counter events (C). One clock cycle stands as one microsecond.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

EventJson = dict[str, Any]


def document(title: str, design: str, cycles: int, events: Iterable[EventJson]) -> str:
    """The text of the file.

    Args:
        title: What the program is called.
        design: The design's name.
        cycles: The program's.
        events: What the functions below make.
    """
    return json.dumps(
        {
            "traceEvents": list(events),
            "displayTimeUnit": "ms",
            "otherData": {
                "program": title,
                "design": design,
                "cycles": cycles,
                "unit": "1 us is 1 clock cycle",
            },
        }
    )


def process(number: int, name: str) -> Iterator[EventJson]:
    """Names a process, and puts it in its place. Viewers take 0 for the kernel's idle task."""
    yield _metadata(number, 0, "process_name", {"name": name})
    yield _metadata(number, 0, "process_sort_index", {"sort_index": number})


def thread(process_number: int, number: int, name: str) -> Iterator[EventJson]:
    """Names a thread of a process, and puts it in its place."""
    yield _metadata(process_number, number, "thread_name", {"name": name})
    yield _metadata(process_number, number, "thread_sort_index", {"sort_index": number})


def complete(
    place: tuple[int, int],
    cycles: tuple[int, int],
    name: str,
    category: str,
    details: Mapping[str, object],
) -> EventJson:
    """Something that took time.

    Args:
        place: Process and thread.
        cycles: The first one, and the one after the last.
        name: What it is called.
        category: The kind of HE operation.
        details: Its properties.
    """
    return {
        "ph": "X",
        "pid": place[0],
        "tid": place[1],
        "ts": cycles[0],
        "dur": cycles[1] - cycles[0],
        "name": name,
        "cat": category,
        "args": dict(details),
    }


def counter(process_number: int, cycle: int, name: str, values: Mapping[str, int]) -> EventJson:
    """Numbers from a cycle on."""
    return {
        "ph": "C",
        "pid": process_number,
        "tid": 0,
        "ts": cycle,
        "name": name,
        "args": dict(values),
    }


def _metadata(process_number: int, number: int, name: str, args: EventJson) -> EventJson:
    return {"ph": "M", "pid": process_number, "tid": number, "ts": 0, "name": name, "args": args}
