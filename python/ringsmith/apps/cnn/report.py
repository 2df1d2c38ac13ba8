"""What the command prints of images, and how well they were classified."""

from rich.table import Table

from ringsmith.apps.cnn.outcome import Predictions, Quality
from ringsmith.apps.tables import against, figures_table, rows_table, some


def images_table(predictions: Predictions) -> Table:
    """Returns a table of some images, spread evenly."""
    headings = ("image", "best score, encrypted", "the same in the clear", "digit", "truth")
    rows = []
    for image in some(len(predictions.digits)):
        guess = int(predictions.encrypted[image].argmax())
        scores = (predictions.encrypted[image, guess], predictions.clear[image, guess])
        truth = against(str(predictions.digits[image]), str(guess))
        rows.append((str(image), *(f"{score:.9f}" for score in scores), str(guess), truth))
    return rows_table("Some held-out images", headings, rows)


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
