"""One colour for each kind of HE operation, the same in every picture."""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.graph.operations import Op

NO_OPERATION = "#9aa0a6"
"""Of what is no HE operation: its name is in parentheses."""

COLOURS: Mapping[str, str] = MappingProxyType(
    {str(op): op.record.colour for op in Op if not op.record.port}
)
"""By the operation's name."""

_OTHERS = ("#577590", "#b56576", "#6d8f3f", "#9c7c38", "#6d6875", "#3d8f9f")

_DARK, _LIGHT = "#1c2430", "#ffffff"


def colour_table(operations: list[str]) -> dict[str, str]:
    """A colour for each operation of a trace; names that are no HE operation take turns."""
    none = {name: NO_OPERATION for name in operations if name.startswith("(")}
    known = {**COLOURS, **none}
    strange = [operation for operation in operations if operation not in known]
    turns = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(strange)}
    return {operation: known.get(operation) or turns[operation] for operation in operations}


def ink(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour like ``#5aa578``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return _DARK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else _LIGHT
