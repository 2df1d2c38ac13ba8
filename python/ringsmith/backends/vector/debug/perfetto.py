"""A trace as a file for Perfetto: a process is a cluster, and a thread is a part of it.

:mod:`ringsmith.backends.timeline.views` has the format. Counters are the busy share of each part
in percent, over spans of time of equal length.
"""

from collections.abc import Iterator

import numpy as np

from ringsmith.backends.timeline.views import (
    EventJson,
    complete,
    counter,
    document,
    process,
    thread,
)
from ringsmith.backends.vector.debug.trace import PARTS, Trace

_FIRST = 1
_SPANS = 256
"""Of time; busy shares are counted for each."""


def perfetto_json(trace: Trace, title: str = "") -> str:
    """The trace as the text of a JSON file.

    Args:
        trace: The program in time.
        title: What the program is called.
    """
    clusters = range(len(trace.clusters))
    events = [event for cluster in clusters for event in _events(trace, cluster)]
    return document(title, trace.executable.design.name, trace.cycles, events)


def _events(trace: Trace, cluster: int) -> Iterator[EventJson]:
    number = _FIRST + cluster
    yield from process(number, f"cluster {cluster} of {trace.executable.design.name}")
    for index, part in enumerate(PARTS):
        yield from thread(number, 1 + index, part)
        for event in trace.lane(cluster, part):
            details = {
                "instruction": event.text,
                "index": event.index,
                "operation": event.origin,
                "waited for": event.waited,
            }
            place = (number, 1 + index)
            yield complete(place, (event.begin, event.end), event.name, event.operation, details)
    shares = {part: busy_over_time(trace, cluster, part, _SPANS) for part in PARTS}
    for span in range(_SPANS):
        values = {part: round(100 * float(found[span])) for part, found in shares.items()}
        yield counter(number, span * trace.cycles // _SPANS, "busy, percent", values)
    yield counter(number, trace.cycles, "busy, percent", dict.fromkeys(PARTS, 0))


def busy_over_time(trace: Trace, cluster: int, part: str, spans: int) -> np.ndarray:
    """Busy share of a part in each of this many spans of time, 0 to 1."""
    borders = np.arange(spans + 1) * trace.cycles / spans
    # Busy cycles until each border: within an event they are spread evenly.
    points, counts = [0], [0.0]
    for event in trace.lane(cluster, part):
        points += [event.begin, event.end]
        counts += [counts[-1], counts[-1] + event.busy]
    until = np.interp(borders, points, counts)
    found: np.ndarray = np.diff(until) / max(1.0, trace.cycles / spans)
    return found
