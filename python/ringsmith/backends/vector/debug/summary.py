"""Where a program's cycles go: by HE operation, and by what list ``computing`` waits for."""

from collections import Counter
from dataclasses import dataclass

from ringsmith.backends.vector.debug.trace import COMPUTING, ORDER, START, Trace

WORKING = "rows are issued"
PASSES = "a pass waits for the one before it"
RESULTS = "results of earlier instructions, ports, or the array's turn"
DRAIN = "the last results reach memory"


@dataclass(frozen=True)
class Share:
    """What one kind of HE operation takes.

    Attributes:
        operation: Its name.
        count: How often it occurs in the program.
        instructions: Issued for it, in all lists of all clusters.
        cycles: From the issue of an instruction of list computing to the next one's, in cluster 0.
            Over all shares they add up to the program's cycles.
    """

    operation: str
    count: int
    instructions: int
    cycles: int


def shares(trace: Trace) -> list[Share]:
    """What each kind of HE operation takes, the longest first."""
    everything = [event for events in trace.clusters for event in events]
    instructions = Counter(event.operation for event in everything)
    origins = {event.origin for event in everything}
    cycles: Counter[str] = Counter(dict.fromkeys(instructions, 0))
    before, operation = 0, START
    for event in trace.listed(0, COMPUTING):
        cycles[operation] += event.begin - before
        before, operation = event.begin, event.operation
    cycles[operation] += trace.cycles - before
    counts = Counter(origin.partition(":")[0] for origin in origins if ":" in origin)
    found = [Share(name, counts[name], instructions[name], cycles[name]) for name in cycles]
    return sorted(found, key=lambda share: -share.cycles)


def waits(trace: Trace, cluster: int) -> dict[str, int]:
    """Cycles of a cluster by what list ``computing`` does, or waits for, in them.

    They add up to the program's cycles.
    """
    found: Counter[str] = Counter(dict.fromkeys((WORKING, PASSES, RESULTS, DRAIN), 0))
    program = trace.executable.programs[cluster]
    before, free = 0, 0
    for event in trace.listed(cluster, COMPUTING):
        ready = max(free, before + program.computing[event.index].gap)
        found[RESULTS] += ready - free
        if event.waited != ORDER:
            found[event.waited.partition(",")[0]] += event.begin - ready
        found[WORKING] += event.busy
        found[PASSES] += event.end - event.begin - event.busy
        before, free = event.begin, event.end
    found[DRAIN] += trace.cycles - free
    return dict(found)
