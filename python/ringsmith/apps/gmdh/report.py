"""What the command prints of forecasts: some meters, and how good they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.gmdh.client import Forecasts
from ringsmith.apps.gmdh.curves import TARGET_HOUR, Curves
from ringsmith.apps.gmdh.outcome import Quality
from ringsmith.apps.gmdh.steps import METERS, Server
from ringsmith.apps.tables import figures_table, rows_table, some

UNIT = "standard deviations of a day's demand"


def meters_table(days: Curves, found: Forecasts) -> Table:
    """Returns a table of some meters, spread evenly over the batch."""
    title = f"Some meters: demand at {TARGET_HOUR}:00, forecast at noon ({UNIT})"
    headings = ("meter", "last reading", "forecast, decrypted", "demand")
    rows = [
        (
            str(meter),
            f"{days.observed[meter, -1]:+.3f}",
            f"{found.demand[meter]:+.6f}",
            f"{days.target[meter]:+.3f}",
        )
        for meter in some(len(days))
    ]
    return rows_table(title, headings, rows)


def quality_table(worth: Quality, forecast_error: float | None) -> Table:
    """Returns errors as a table.

    Args:
        worth: The figures.
        forecast_error: What the precision forecast says that no slot errs by more than; None in
            BFV, which is exact.
    """
    rows = [
        ("network, encrypted", f"{worth.error_encrypted:.4f}"),
        ("network, in the clear", f"{worth.error_clear:.4f}"),
        ("the last reading again", f"{worth.error_last_reading:.4f}"),
        ("the training days' mean", f"{worth.error_mean:.4f}"),
        ("largest difference, encrypted to clear", f"{worth.largest_difference:.1e}"),
    ]
    if forecast_error is not None:
        rows.append(("the same, by the precision forecast at most", f"{forecast_error:.1e}"))
    if worth.exact is not None:
        rows.append(("integers equal to the clear network's", f"{worth.exact} of {worth.meters}"))
    title = f"{worth.meters} held-out days, root mean square of errors ({UNIT})"
    return figures_table(title, rows)


@dataclass(frozen=True)
class Took:
    """Seconds of an accelerator's operations at the assumed clock, the link and the host left out.

    Attributes:
        with_one: All runs one after the other.
        with_all: Each on the coprocessor that is free first, until the last has ended.
    """

    with_one: float
    with_all: float

    @classmethod
    def of(cls, cycles: Sequence[int | None], server: Server) -> "Took | None":
        """Of the runs of a server; None on the cpu device."""
        counted = [each for each in cycles if each is not None]
        if not counted:
            return None
        busy = [0] * server.coprocessors
        for each in counted:
            busy[busy.index(min(busy))] += each
        return cls(seconds_at_assumed_clock(sum(counted)), seconds_at_assumed_clock(max(busy)))


def steps_table(where: str, server: Server, took: Took | None) -> Table:
    """Returns what the accelerator did for all forecasts, and how long that takes."""
    done = ", ".join(f"{count} x {name}" for name, count in Counter(server.ran).items())
    moduli = [of.plain_modulus for of in server.parameters]
    rows = [
        ("runs, one for each plain modulus", str(len(moduli))),
        ("plain moduli", ", ".join(map(str, moduli))),
        ("meters of a run, at most", str(METERS)),
        ("operations of a run", done),
    ]
    if took is not None:
        clock = f"at {ASSUMED_HZ / 1e6:.0f} MHz, without link and host"
        rows.append((f"seconds with one, {clock}", f"{took.with_one:.4f}"))
        if server.coprocessors > 1:
            rows.append((f"with {server.coprocessors} side by side", f"{took.with_all:.4f}"))
    return figures_table(f"All forecasts on {where}", rows)
