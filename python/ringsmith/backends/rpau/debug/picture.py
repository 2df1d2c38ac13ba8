"""A trace as a picture: one lane a unit and RPAU, one bar an instruction."""

from collections.abc import Iterator

from ringsmith.backends.rpau.debug.summary import (
    Step,
    busy_cycles,
    busy_share,
    critical_path,
    shares,
)
from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.backends.timeline.views import Bar, Key, Lane, Picture


def timeline_picture(trace: Trace, title: str = "") -> Picture:
    """The timeline of a trace.

    Args:
        trace: The program in time.
        title: What the program is called; the design, cycles and busy shares are always said.
    """
    design = trace.design
    built = (
        f"N = {design.n:,}, {design.rpaus} RPAUs of {design.cores} butterfly and "
        f"{design.dyadic_cores} dyadic cores"
    )
    busy = ", ".join(f"{unit} {busy_share(trace, unit):.1%}" for unit in ISA.units_of(design))
    return Picture(
        f"{title} on {design.name}" if title else f"A program on {design.name}",
        f"{trace.cycles:,} cycles · {len(trace.events):,} instructions · units busy: {busy} · "
        f"{built}",
        trace.cycles,
        [
            Key(
                share.operation,
                share.critical_cycles / trace.cycles,
                f"{share.critical_cycles:,} cycles on the critical path",
            )
            for share in shares(trace)
        ],
        list(_groups(trace)),
    )


def _groups(trace: Trace) -> Iterator[list[Lane]]:
    """The critical path, and the units of each RPAU."""
    yield [Lane("critical path", [_step_bar(step) for step in _join(critical_path(trace))])]
    for rpau in range(trace.design.rpaus):
        yield [
            Lane(
                f"RPAU {rpau}  {unit}",
                [_event_bar(event, trace) for event in trace.lane(rpau, unit)],
                busy_cycles(trace, rpau, unit) / trace.cycles,
            )
            for unit in ISA.units_of(trace.design)
        ]


def _join(steps: list[Step]) -> list[Step]:
    """Neighbouring steps of one HE operation as one."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        same = last and (last.fetching, last.event.origin) == (step.fetching, step.event.origin)
        if last and same:
            joined[-1] = Step(last.begin, step.end, last.event, last.fetching)
        else:
            joined.append(step)
    return joined


def _event_bar(event: Event, trace: Trace) -> Bar:
    waited = ""
    if event.blocker is not None:
        blocker = trace.events[event.blocker]
        waited = f"\nissued at the end of #{blocker.index} {blocker.text}"
    hover = (
        f"#{event.index}  {event.text}\n{event.origin}\n"
        f"cycles {event.start:,} to {event.end:,} ({event.end - event.start:,}){waited}"
    )
    return Bar(event.start, event.end, event.name, hover, event.operation)


def _step_bar(step: Step) -> Bar:
    what = "waits for instructions" if step.fetching else step.event.origin
    hover = (
        f"critical path: {what}\ncycles {step.begin:,} to {step.end:,} ({step.end - step.begin:,})"
    )
    return Bar(step.begin, step.end, step.operation, hover, step.operation)
