"""The errors that Ringsmith raises on bad input: each names the value, the limit and a hint."""

import os
from pathlib import Path


class RingsmithError(Exception):
    """Base of every error that Ringsmith raises on purpose."""


class ParameterError(RingsmithError, ValueError):
    """HE parameters or a design point that cannot work."""


class ProgramError(RingsmithError):
    """An encrypted program that cannot be planned, scheduled or run."""


class CompileError(ProgramError):
    """A subroutine graph that a design cannot run.

    Attributes:
        node: Id of the HE operation at which it stops, in its program; None: no single one.
    """

    def __init__(self, message: str, node: int | None = None) -> None:
        super().__init__(message)
        self.node = node


class InteropError(RingsmithError, ValueError):
    """A file from outside that is malformed, or does not fit the parameters at hand."""


class DeviceError(RingsmithError):
    """A device that is missing, does not fit the program, or does not answer."""


class DeviceLostError(DeviceError):
    """A device that is gone or does not answer; its running jobs are lost."""


class ToolError(RingsmithError):
    """An outside tool (Verilator, the compiler) that is missing or failed."""


PATH_HINT = 'give a text such as "score.rsp", or a Path'
"""What to do where something else than a path was given."""


def checked_path(path: object, hint: str = "") -> Path:
    """Returns the argument of a function that takes a file's path.

    Raises:
        TypeError: When it is no path; shows only its type, as the value may be secret.
    """
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)
        if isinstance(text, str):
            return Path(text)
    raise TypeError(
        f"path: {type(path).__name__} was given where the path of a file belongs: "
        f"{hint or PATH_HINT}"
    )


def check_type(what: str, value: object, expected: type, hint: str) -> None:
    """Refuses an argument of the wrong type; shows only the type, as the value may be secret.

    Raises:
        TypeError: When ``value`` is no ``expected``; the message ends with a hint.
    """
    if not isinstance(value, expected):
        raise TypeError(
            f"{what}: {type(value).__name__} was given where {expected.__name__} belongs: {hint}"
        )
