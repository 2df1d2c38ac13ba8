"""The error where something other than a program was given."""

import os

from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit


def check_program(program: object, call: str) -> None:
    """Refuses what is no program; the message says how to get one.

    Args:
        program: The argument.
        call: The function that was called, such as ``explain``.

    Raises:
        TypeError: When it is no program.
    """
    if isinstance(program, Program):
        return
    if isinstance(program, ClientKit):
        hint = "a kit has no operations: give the program that it was made of"
    elif isinstance(program, str | os.PathLike):
        hint = f'read it first: {call}(Program.load("{os.fspath(program)!s:.60}"))'
    elif callable(program):
        name = getattr(program, "__name__", "f")
        shown = name if name.isidentifier() else "f"
        hint = f'trace the function first: {call}(trace({shown}, "auto"))'
    else:
        hint = f"give what trace returns: {call}(trace(f, parameters))"
    raise TypeError(f"program: {type(program).__name__} was given where a Program belongs: {hint}")
