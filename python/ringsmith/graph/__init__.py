"""The subroutine graph: what everything that knows HE hands to everything that knows devices."""

from ringsmith.graph.file import from_json, to_json
from ringsmith.graph.subroutines import Origin, SubroutineGraph, SubroutineNode
from ringsmith.graph.types import Form, PolyType

__all__ = [
    "Form",
    "Origin",
    "PolyType",
    "SubroutineGraph",
    "SubroutineNode",
    "from_json",
    "to_json",
]
