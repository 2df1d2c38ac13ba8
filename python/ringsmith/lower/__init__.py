"""HE operations to subroutines: the subroutine graph, its file, and the lowering of programs."""

from ringsmith.lower.graph import Origin, SubroutineGraph, SubroutineNode
from ringsmith.lower.graph_file import from_json, to_json
from ringsmith.lower.lowering import CiphertextPort, Lowered, lower, lower_operation
from ringsmith.lower.operations import RELIN_KEY, galois_key_name
from ringsmith.lower.types import Form, PolyType

__all__ = [
    "RELIN_KEY",
    "CiphertextPort",
    "Form",
    "Lowered",
    "Origin",
    "PolyType",
    "SubroutineGraph",
    "SubroutineNode",
    "from_json",
    "galois_key_name",
    "lower",
    "lower_operation",
    "to_json",
]
