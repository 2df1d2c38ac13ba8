"""Options that name arrays: ``NAME=FILE.npy``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
