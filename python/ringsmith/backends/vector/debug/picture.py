"""A trace as a picture: one lane a part and cluster, one bar an instruction."""

from collections.abc import Iterator, Sequence

from ringsmith.backends.timeline.views import INSIDE, Bar, Key, Lane, Picture
from ringsmith.backends.vector.debug.summary import shares
from ringsmith.backends.vector.debug.trace import PARTS, Event, Trace

_NARROW = 0.5
"""Pixels: narrower bars of one HE operation that touch are drawn as one."""


def timeline_picture(trace: Trace, title: str = "") -> Picture:
    """The timeline of a trace.

    Args:
        trace: The program in time.
        title: What the program is called; the design, cycles and busy shares are always said.
    """
    executable, design = trace.executable, trace.executable.design
    busy = ", ".join(f"{part} {share:.1%}" for part, share in executable.busy.items())
    built = f"N = {executable.graph.n:,}, {design.alus:,} ALUs, {design.clusters} clusters"
    name = f"{title} on {design.name}" if title else f"A program on {design.name}"
    figures = f"{trace.cycles:,} cycles · {trace.instructions:,} instructions · busy: {busy}"
    legend = [
        Key(
            share.operation,
            share.cycles / max(1, trace.cycles),
            f"{share.cycles:,} cycles from issue to issue",
        )
        for share in shares(trace)
    ]
    least = _NARROW * trace.cycles / INSIDE
    groups = [
        [
            Lane(
                f"{cluster}: {part}",
                list(_bars(trace.lane(cluster, part), least)),
                trace.busy(cluster, part),
            )
            for part in PARTS
        ]
        for cluster in range(len(trace.clusters))
    ]
    return Picture(name, f"{figures} · {built}", trace.cycles, legend, groups)


def _bars(events: Sequence[Event], least: float) -> Iterator[Bar]:
    """The bars of a lane; those of fewer cycles than ``least`` are joined."""
    together: list[Event] = []
    for event in events:
        if together and not _joins(together, event, least):
            yield _bar(together)
            together = []
        together.append(event)
    if together:
        yield _bar(together)


def _joins(together: Sequence[Event], event: Event, least: float) -> bool:
    """Whether an event is drawn in one bar with those before it."""
    last = together[-1]
    narrow = max(event.end - event.begin, last.end - last.begin, event.begin - last.end) < least
    return narrow and event.origin == last.origin


def _bar(events: Sequence[Event]) -> Bar:
    first, last = events[0], events[-1]
    cycles = f"cycles {first.begin:,} to {last.end:,} ({last.end - first.begin:,})"
    if len(events) == 1:
        what = f"{first.list_name} #{first.index}  {first.text}"
        hover = f"{what}\n{first.origin}\n{cycles}\nwaited for {first.waited}"
        return Bar(first.begin, first.end, first.name, hover, first.operation)
    what = f"{first.list_name} #{first.index} to #{last.index}, {len(events)} instructions"
    hover = f"{what}\n{first.origin}\n{cycles}"
    return Bar(first.begin, last.end, first.operation, hover, first.operation)
