"""What the commands print of patients, and how well they were classified."""

from rich.table import Table

from ringsmith.apps.logreg.outcome import Predictions, Quality, classes
from ringsmith.apps.tables import against, figures_table, rows_table, some

DIAGNOSES = ("benign", "malignant")


def patients_table(predictions: Predictions) -> Table:
    """Returns a table of some patients, spread evenly over the batch."""
    numbers = ("patient", "P(malignant) encrypted", "clear, polynomial", "clear, sigmoid")
    text = ("class", "truth")
    rows = []
    for patient in some(len(predictions.malignant)):
        guess = DIAGNOSES[int(classes(predictions.encrypted)[patient])]
        probabilities = (predictions.encrypted, predictions.polynomial, predictions.clear)
        cells = [f"{each[patient]:.6f}" for each in probabilities]
        truth = against(DIAGNOSES[predictions.malignant[patient]], guess)
        rows.append((str(patient), *cells, guess, truth))
    return rows_table("Some held-out patients", (*numbers, *text), rows, text)


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
