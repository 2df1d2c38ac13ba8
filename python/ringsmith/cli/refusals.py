"""How the file commands refuse: one line on the error stream, exit status 2, no traceback."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from ringsmith.errors import RingsmithError

P = ParamSpec("P")
R = TypeVar("R")

EXIT_REFUSED = 2


def refuses_in_one_line(command: Callable[P, R]) -> Callable[P, R]:
    """Makes a command end with one line and status 2 where it raises an error of ours."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return command(*args, **kwargs)
            except (RingsmithError, OSError, MemoryError) as error:
                text = str(error) or type(error).__name__
                _say(text)
                raise typer.Exit(EXIT_REFUSED) from None

    return wrapped


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    print(f"ringsmith: {' '.join(text.split())}", file=sys.stderr)
