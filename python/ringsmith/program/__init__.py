"""The front end: a Python function on encrypted vectors becomes a planned HE graph.

Names that depend on a scheme, such as ``trace``, are defined in ``ringsmith.schemes`` and can also
be imported from here. They are imported on first use, because the schemes import this package.
"""

from typing import TYPE_CHECKING

from ringsmith.graph.operations import Op, operations
from ringsmith.program.approximations import (
    absolute,
    exp,
    gelu,
    inverse,
    log,
    relu,
    sigmoid,
    sqrt,
    tanh,
)
from ringsmith.program.bootstrapping import bootstrap
from ringsmith.program.comparisons import compare, maximum, minimum, sign
from ringsmith.program.functions import inner_product, sum_rotations, sum_slots
from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit
from ringsmith.program.late import of_schemes
from ringsmith.program.matrices import matvec
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ndarray.axes import argmax, softmax, sort
from ringsmith.program.ndarray.functions import (
    average_pool2d,
    concatenate,
    conv1d,
    conv2d,
    cumsum,
    dot,
    from_slots,
    inner,
    outer,
    roll,
    stack,
    where,
)
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.packing import Port
from ringsmith.program.planner import InputSpec
from ringsmith.program.polynomials import ApproximationWarning, chebyshev, polynomial
from ringsmith.program.products import matmul, pack_matrix, unpack_matrix
from ringsmith.program.ranges import Interval, bounded
from ringsmith.program.repetition import repeat
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector

if TYPE_CHECKING:
    from ringsmith.schemes.bfv.depth import bfv_parameters_for_depth
    from ringsmith.schemes.bfv.forecast import NoiseForecast
    from ringsmith.schemes.bfv.program import BfvProgram
    from ringsmith.schemes.ckks.forecast import Forecast, OutputForecast
    from ringsmith.schemes.ckks.program import CkksProgram
    from ringsmith.schemes.trace import trace

_OF_SCHEMES = frozenset(
    {
        "BfvProgram",
        "CkksProgram",
        "Forecast",
        "NoiseForecast",
        "OutputForecast",
        "bfv_parameters_for_depth",
        "trace",
    }
)

__all__ = [
    "ApproximationWarning",
    "BfvProgram",
    "CkksProgram",
    "ClientKit",
    "EncryptedArray",
    "EncryptedVector",
    "Forecast",
    "InputSpec",
    "Interval",
    "Node",
    "NoiseForecast",
    "Op",
    "OutputForecast",
    "Plain",
    "Port",
    "Program",
    "SourceLine",
    "absolute",
    "argmax",
    "average_pool2d",
    "bfv_parameters_for_depth",
    "bootstrap",
    "bounded",
    "chebyshev",
    "compare",
    "concatenate",
    "conv1d",
    "conv2d",
    "cumsum",
    "dot",
    "exp",
    "from_slots",
    "gelu",
    "inner",
    "inner_product",
    "inverse",
    "log",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "operations",
    "outer",
    "pack_matrix",
    "polynomial",
    "relu",
    "repeat",
    "roll",
    "sigmoid",
    "sign",
    "softmax",
    "sort",
    "sqrt",
    "stack",
    "sum_rotations",
    "sum_slots",
    "tanh",
    "trace",
    "unpack_matrix",
    "where",
]


def __getattr__(name: str) -> object:
    """Imports a scheme-dependent name on first use."""
    if name in _OF_SCHEMES:
        return of_schemes(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the scheme-dependent names too, before they are imported."""
    return sorted({*globals(), *__all__})
