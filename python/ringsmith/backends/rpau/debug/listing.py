"""A trace as text: one line an instruction, with cycles, unit, RPAUs and HE operation."""

from collections.abc import Iterator

from ringsmith.backends.rpau.debug.trace import Event, Trace
from ringsmith.backends.rpau.isa.instruction_set import CONTROL

_HEADINGS = ("#", "cycle", "end", "unit", "HE operation", "waited for", "instruction")


def listing(trace: Trace) -> Iterator[str]:
    """The lines of the listing, headings first, without line ends.

    ``end`` is the first cycle in which the unit is idle again; ``waited for`` names the instruction
    whose end let this one issue, and is ``fetch`` where only the controller's pace did.
    """
    rows = [_HEADINGS, *(_row(event) for event in trace.events)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        numbers = [text.rjust(width) for text, width in zip(row[:3], widths[:3], strict=True)]
        words = [text.ljust(width) for text, width in zip(row[3:], widths[3:], strict=True)]
        yield "  ".join([*numbers, *words]).rstrip()


def _row(event: Event) -> tuple[str, ...]:
    return (
        str(event.index),
        str(event.start),
        "" if event.unit == CONTROL else str(event.end),
        event.unit,
        event.origin,
        "fetch" if event.blocker is None else f"#{event.blocker}",
        event.text,
    )
