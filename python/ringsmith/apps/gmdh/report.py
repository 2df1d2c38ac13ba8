"""What the command prints of forecasts: some meters, and how good they are."""

from rich.table import Table

from ringsmith.apps.gmdh.client import Forecasts
from ringsmith.apps.gmdh.curves import TARGET_HOUR, Curves
from ringsmith.apps.gmdh.outcome import Quality
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
