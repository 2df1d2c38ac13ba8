"""What the commands print of patients, and how well they were classified."""

from rich.table import Table

from ringsmith.apps.logreg.outcome import Predictions, Quality, classes
from ringsmith.apps.tables import figures_table

DIAGNOSES = ("benign", "malignant")


def patients_table(predictions: Predictions, count: int = 8) -> Table:
    """Returns a table of some patients, spread evenly over the batch."""
    table = Table(title="Some held-out patients", title_justify="left")
    for heading in ("patient", "P(malignant) encrypted", "clear, polynomial", "clear, sigmoid"):
        table.add_column(heading, justify="right")
    table.add_column("class")
    table.add_column("truth")
    patients = len(predictions.malignant)
    for patient in range(0, patients, max(1, patients // count)):
        guess = DIAGNOSES[int(classes(predictions.encrypted)[patient])]
        truth = DIAGNOSES[predictions.malignant[patient]]
        table.add_row(
            str(patient),
            f"{predictions.encrypted[patient]:.6f}",
            f"{predictions.polynomial[patient]:.6f}",
            f"{predictions.clear[patient]:.6f}",
            guess,
            truth if guess == truth else f"[yellow]{truth}[/yellow]",
        )
    return table


def quality_table(quality: Quality) -> Table:
    """Returns accuracies and errors as a table."""
    rows = (
        ("accuracy, encrypted", f"{quality.accuracy_encrypted:.1%}"),
        ("accuracy, clear model with the polynomial", f"{quality.accuracy_polynomial:.1%}"),
        ("accuracy, clear model with the sigmoid", f"{quality.accuracy_clear:.1%}"),
        (
            "same class as the clear polynomial",
            f"{quality.same_class_as_polynomial} of {quality.patients}",
        ),
        ("largest error of a probability to the clear polynomial", _error(quality, "polynomial")),
        ("largest error of a probability to the sigmoid", _error(quality, "sigmoid")),
    )
    return figures_table(f"{quality.patients} held-out patients", rows)


def _error(quality: Quality, to: str) -> str:
    return f"{getattr(quality, f'largest_error_to_{to}'):.2e}"
