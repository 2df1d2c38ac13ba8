"""What the command prints: the picture, the scores, the layers, and how well many were read."""

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ringsmith.apps.mnist.network import DIGITS
from ringsmith.apps.mnist.outcome import Predictions, Quality
from ringsmith.apps.tables import figures_table, rows_table

_SHADES = " ░▒▓█"


def picture(pixels: NDArray[np.uint8]) -> list[str]:
    """Returns an image (28, 28), 0 to 255, as 14 lines of text: two rows of pixels a line."""
    pairs = pixels.reshape(pixels.shape[0] // 2, 2, -1).mean(axis=1)
    levels = np.rint(pairs / 255 * (len(_SHADES) - 1)).astype(int)
    return ["".join(_SHADES[level] for level in row for _ in range(2)) for row in levels]


def scores_table(predictions: Predictions) -> Table:
    """Returns the ten scores of the first image, decrypted and in the clear."""
    encrypted, clear = predictions.encrypted[0], predictions.clear[0]
    best = int(encrypted.argmax())
    rows = [
        (
            f"[bold]{digit}[/bold]" if digit == best else str(digit),
            f"{encrypted[digit]:+.6f}",
            f"{clear[digit]:+.6f}",
        )
        for digit in range(DIGITS)
    ]
    truth = int(predictions.digits[0])
    known = f", and it is a {truth}" if truth >= 0 else ""
    title = f"The encrypted network reads a {best}{known}"
    return rows_table(title, ("digit", "score, decrypted", "the same in the clear"), rows)


def quality_table(quality: Quality) -> Table:
    """Returns accuracies and errors as a table."""
    return figures_table(f"{quality.images} test images", quality_rows(quality))


def quality_rows(quality: Quality) -> list[tuple[str, str]]:
    """Returns accuracies and errors with what they are called."""
    images = quality.images
    return [
        ("right, encrypted", f"{quality.right_encrypted} ({quality.right_encrypted / images:.2%})"),
        ("right, in the clear", f"{quality.right_clear} ({quality.right_clear / images:.2%})"),
        ("same digit as in the clear", f"{quality.same_digit} of {images}"),
        ("largest error of a score", f"{quality.largest_error:.1e}"),
        ("smallest lead of a best score, in the clear", f"{quality.smallest_lead:.1e}"),
    ]
