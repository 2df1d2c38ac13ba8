"""What the command prints of images, and how well they were classified."""

from rich.table import Table

from ringsmith.apps.cnn.outcome import Predictions, Quality
from ringsmith.apps.tables import figures_table

SHOWN = 8


def images_table(predictions: Predictions) -> Table:
    """Returns a table of some images, spread evenly."""
    table = Table(title="Some held-out images", title_justify="left")
    for heading in ("image", "best score, encrypted", "the same in the clear", "digit", "truth"):
        table.add_column(heading, justify="right")
    images = len(predictions.digits)
    for image in range(0, images, max(1, images // SHOWN)):
        guess = int(predictions.encrypted[image].argmax())
        truth = int(predictions.digits[image])
        table.add_row(
            str(image),
            f"{predictions.encrypted[image, guess]:.9f}",
            f"{predictions.clear[image, guess]:.9f}",
            str(guess),
            str(truth) if guess == truth else f"[yellow]{truth}[/yellow]",
        )
    return table


def quality_table(quality: Quality) -> Table:
    """Returns accuracies and errors as a table."""
    rows = (
        ("accuracy, encrypted", f"{quality.accuracy_encrypted:.1%}"),
        ("accuracy, network in the clear", f"{quality.accuracy_clear:.1%}"),
        ("same digit as in the clear", f"{quality.same_digit} of {quality.images}"),
        ("largest error of a score", f"{quality.largest_error:.1e}"),
        ("smallest lead of a best score, in the clear", f"{quality.smallest_lead:.1e}"),
    )
    return figures_table(f"{quality.images} held-out images", rows)
