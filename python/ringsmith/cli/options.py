"""Options of several commands, and what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringsmith.files import Target

Force = Annotated[
    bool,
    typer.Option("--force", help="Write over files that exist."),
]


def target(path: Path | None, force: bool) -> "Target | None":
    """Returns the file to write; None where none was asked for."""
    from ringsmith.files import Target

    return None if path is None else Target(path, force)


def named_arrays(option: str, given: list[str] | None) -> "dict[str, NDArray[Any]]":
    """Reads the arrays of options ``NAME=FILE``.

    Raises ParameterError if one is not written so, or a name is there twice; InteropError if a file
    holds no array.
    """
    from ringsmith.errors import ParameterError
    from ringsmith.files.arrays import read_array

    found: dict[str, NDArray[Any]] = {}
    for text in given or ():
        name, equals, file = text.partition("=")
        if not equals or not name or not file:
            raise ParameterError(f"{option} {text!r:.60}: write NAME=FILE.npy")
        if name in found:
            raise ParameterError(f"{option} names {name!r:.40} twice: give one file for it")
        found[name] = read_array(Path(file))
    return found


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """Names the extra of a command in the error of importing its packages.

    Raises ToolError if a package that is not ours is missing.
    """
    from ringsmith.errors import ToolError

    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ringsmith"):
            raise
        raise ToolError(
            f"ringsmith {command} needs the package {error.name}, which is not installed: "
            f"pip install 'ringsmith[{extra}]'"
        ) from None


Share = Annotated[
    int | None,
    typer.Option(
        metavar="QUERIES",
        help="Let others see the results: decryptions under this key that they may see in all.",
    ),
]
StatisticalSecurity = Annotated[
    int | None, typer.Option(help="With --share: bits, 20 to 64; 30, if none.")
]


class Shared(TypedDict):
    """The arguments ``share`` and ``statistical_security`` of a decryption."""

    share: int | None
    statistical_security: int


def shared(share: int | None, statistical_security: int | None) -> Shared:
    """Returns the arguments of a decryption.

    Raises ParameterError when there is a security without ``--share``.
    """
    from ringsmith.errors import ParameterError
    from ringsmith.params.flooding import STATISTICAL_SECURITY

    if share is None and statistical_security is not None:
        raise ParameterError("--statistical-security goes with --share QUERIES: name both")
    chosen = STATISTICAL_SECURITY if statistical_security is None else statistical_security
    return {"share": share, "statistical_security": chosen}
