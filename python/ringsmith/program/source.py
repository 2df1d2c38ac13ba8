"""Where in the user's code something was written, so that every error can say so."""

import sys
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import ProgramError

_OURS = (str(Path(__file__).parent), str(Path(__file__).parents[1] / "tracing.py"))
"""This package, and the public ``trace`` that calls it."""


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's code.

    Attributes:
        file: Path of the file, as Python names it.
        line: Line number, from 1.
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def error(self, message: str) -> ProgramError:
        """Returns (does not raise) an error that begins with this line."""
        return ProgramError(f"{self}: {message}")


def caller() -> SourceLine:
    """Returns the innermost line outside this package and its public entry: the user's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)
