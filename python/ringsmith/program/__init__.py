"""The front end: a Python function on encrypted vectors becomes a planned HE graph."""

from ringsmith.program.bfv.depth import bfv_parameters_for_depth
from ringsmith.program.bfv.forecast import NoiseForecast
from ringsmith.program.bfv.program import BfvProgram
from ringsmith.program.ckks.forecast import Forecast, OutputForecast
from ringsmith.program.ckks.program import CkksProgram
from ringsmith.program.comparisons import compare, maximum, minimum, sign
from ringsmith.program.functions import inner_product, sum_rotations, sum_slots
from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit, Port
from ringsmith.program.matrices import matvec
from ringsmith.program.nodes import Node, Op, Plain, operations
from ringsmith.program.planner import InputSpec
from ringsmith.program.polynomials import ApproximationWarning, chebyshev, polynomial
from ringsmith.program.products import matmul, pack_matrix, unpack_matrix
from ringsmith.program.ranges import Interval, bounded
from ringsmith.program.source import SourceLine
from ringsmith.program.trace import trace
from ringsmith.program.vector import EncryptedVector

__all__ = [
    "ApproximationWarning",
    "BfvProgram",
    "CkksProgram",
    "ClientKit",
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
    "bfv_parameters_for_depth",
    "bounded",
    "chebyshev",
    "compare",
    "inner_product",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "operations",
    "pack_matrix",
    "polynomial",
    "sign",
    "sum_rotations",
    "sum_slots",
    "trace",
    "unpack_matrix",
]
