"""How every command refuses: a message on the error stream, exit status 2, no traceback."""

import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from ringsmith.errors import RingsmithError, ToolError
from ringsmith.progress import show_progress

EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130
"""What a shell says of a command that SIGINT ended."""


class RefusingGroup(TyperGroup):
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
            except (RingsmithError, OSError, MemoryError) as error:
                _say(str(error) or type(error).__name__)
        raise typer.Exit(EXIT_REFUSED)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    print(f"ringsmith: {' '.join(text.split())}", file=sys.stderr)
