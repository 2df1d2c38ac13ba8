"""Output on terminals, with plain characters in place of those that one cannot show, and errors.

An error is a message on the error stream and exit status 2, without a traceback.
"""

import codecs
import resource
import sys
import unicodedata
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperGroup

from ringsmith.errors import RingsmithError, ToolError
from ringsmith.progress import show_progress

_PLAIN = {
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "x",
    "·": "*",
    "±": "+/-",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "°": " deg",
    "µ": "u",
    "μ": "u",
    "✓": "+",
    "✗": "!",
    "•": "*",
    "ψ": "psi",
    "ζ": "zeta",
    "∏": "product",
    "Σ": "sum",
    "∘": "o",
    "░": ".",
    "▒": "+",
    "▓": "#",
}


def use_plain_characters() -> None:
    """Makes both output streams replace what their encoding cannot hold.

    A terminal in the C locale, or a pipe with ``PYTHONIOENCODING=latin-1``, then gets ``...`` for
    an ellipsis, and ``?`` for a character that has no plain form.
    """
    codecs.register_error("plain", _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="plain")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    name = unicodedata.name(character, "")
    if "BOX DRAWINGS" in name:
        across = any(word in name for word in ("HORIZONTAL", "LEFT", "RIGHT"))
        upright = any(word in name for word in ("VERTICAL", "UP", "DOWN"))
        return "+" if across and upright else "-" if across else "|"
    if name.endswith("BLOCK"):
        return "#"
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or "?"


EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130
"""What a shell says of a command that SIGINT ended."""

_NO_MEMORY = ("failed to map segment", "annot allocate memory", "MemoryError")
"""What the dynamic linker says when a library does not fit into memory."""


class CommandGroup(TyperGroup):
    """Commands that end with one line and status 2 where they raise an error of ours.

    A tool's own output, which some errors carry, keeps its lines.
    """

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature has no better type
        """Runs the subcommand and shows its progress; warnings are one line each, too."""
        with warnings.catch_warnings(), show_progress():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                raise  # who reads has seen enough: typer ends quietly
            except KeyboardInterrupt:
                _say("stopped by Ctrl-C")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            except ToolError as error:
                print(f"ringsmith: {error}", file=sys.stderr)
            except (MemoryError, ImportError) as error:
                _say(_memory(error))
            except (RingsmithError, OSError) as error:
                _say(str(error) or type(error).__name__)
        raise typer.Exit(EXIT_REFUSED)


def run(app: Callable[[], object]) -> None:
    """Runs the command line; names memory where it does not suffice for its own libraries."""
    try:
        app()
    except (MemoryError, ImportError) as error:
        _say(_memory(error))
        sys.exit(EXIT_REFUSED)


def _memory(error: MemoryError | ImportError) -> str:
    """What is said where memory did not suffice, with the process's limit if it has one.

    Raises ImportError the error, where it has another cause.
    """
    what = f": {error}" if str(error) else ""
    if isinstance(error, ImportError):
        if not any(sign in str(error) for sign in _NO_MEMORY):
            raise error
        what = ": a library could not be loaded"
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    text = f"not enough memory{what}"
    if limit == resource.RLIM_INFINITY:
        return f"{text}: use smaller parameters or a machine with more"
    return f"{text}: this process may use {limit >> 20} MiB (ulimit -v): raise that limit"


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    print(f"ringsmith: {' '.join(text.split())}", file=sys.stderr)
