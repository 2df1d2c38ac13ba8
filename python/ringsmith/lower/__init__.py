"""HE operations to subroutines: the lowering of programs and of single operations."""

from ringsmith.lower.lowering import (
    CiphertextPort,
    ConstantsOnDemand,
    Lowered,
    graph_of_steps,
    lower,
    lower_operation,
)
from ringsmith.params.keys import RELIN_KEY, galois_key_name

__all__ = [
    "RELIN_KEY",
    "CiphertextPort",
    "ConstantsOnDemand",
    "Lowered",
    "galois_key_name",
    "graph_of_steps",
    "lower",
    "lower_operation",
]
