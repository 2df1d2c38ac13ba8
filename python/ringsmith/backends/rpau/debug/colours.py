"""One colour for each kind of HE operation, the same in every picture.

Related operations are related colours: additions blue, multiplications red to orange, what
switches keys purple and green, what changes levels yellow and brown.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.backends.rpau.debug.summary import FETCH

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "add": "#7fc4e8",
        "sub": "#4f9fd0",
        "negate": "#b9d6ea",
        "add_plain": "#9adbd6",
        "sub_plain": "#63b8b2",
        "multiply": "#d1495b",
        "square": "#e9806e",
        "multiply_plain": "#f4a261",
        "relinearize": "#8a6bbe",
        "rotate": "#5aa578",
        "conjugate": "#a3c96f",
        "swap_columns": "#c5dba0",
        "rescale": "#ecc85f",
        "relinearize_rescale": "#c99ad6",
        "mod_switch": "#b08968",
        FETCH: "#9aa0a6",
    }
)
"""By the operation's name."""

_OTHERS = ("#577590", "#b56576", "#6d8f3f", "#9c7c38", "#6d6875", "#3d8f9f")

_DARK, _LIGHT = "#1c2430", "#ffffff"


def colour_table(operations: list[str]) -> dict[str, str]:
    """A colour for each operation of a trace; names that are no HE operation take turns."""
    strange = [operation for operation in operations if operation not in COLOURS]
    turns = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(strange)}
    return {operation: COLOURS.get(operation) or turns[operation] for operation in operations}


def ink(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour like ``#5aa578``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return _DARK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else _LIGHT
