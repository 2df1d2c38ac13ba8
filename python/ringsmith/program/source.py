"""Locations in the user's code, for error messages."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringsmith.errors import ProgramError

_ROOT = Path(__file__).parents[1]
_OURS = (
    *(str(_ROOT / name) for name in ("program", "schemes", "networks", "tracing.py")),
    str(Path(np.__file__).parent),
)
"""What records and plans, and NumPy, which calls it; an application in ``ringsmith.apps`` is a user
like any other."""


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
    """Returns the innermost line outside what records and plans: the user's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)
