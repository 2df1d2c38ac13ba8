"""Options of the files that a command writes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ringsmith.files import Target

Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Write over files that exist, but never over a key or a file that is read."
    ),
]


def target(path: Path | None, force: bool) -> "Target | None":
    """Returns the file to write; None where none was asked for."""
    from ringsmith.files import Target

    return None if path is None else Target(path, force)
