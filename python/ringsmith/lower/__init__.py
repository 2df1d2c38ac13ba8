"""HE operations to subroutines: the subroutine graph, its file, and the lowering of programs."""

from ringsmith.lower.graph import Origin, SubroutineGraph, SubroutineNode
from ringsmith.lower.graph_file import from_json, to_json
from ringsmith.lower.types import Form, PolyType

__all__ = [
    "Form",
    "Origin",
    "PolyType",
    "SubroutineGraph",
    "SubroutineNode",
    "from_json",
    "to_json",
]
