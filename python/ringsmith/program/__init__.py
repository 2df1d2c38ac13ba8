"""The front end: a Python function on encrypted vectors becomes a planned HE graph."""

from ringsmith.program.bfv.depth import bfv_parameters_for_depth
from ringsmith.program.bfv.forecast import NoiseForecast
from ringsmith.program.bfv.program import BfvProgram
from ringsmith.program.ckks.forecast import Forecast, OutputForecast
from ringsmith.program.ckks.program import CkksProgram
from ringsmith.program.functions import inner_product, sum_rotations, sum_slots
from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit, Port
from ringsmith.program.matrices import matvec
from ringsmith.program.nodes import Node, Op, Plain, operations
from ringsmith.program.planner import InputSpec
from ringsmith.program.polynomials import polynomial
from ringsmith.program.source import SourceLine
from ringsmith.program.trace import trace
from ringsmith.program.vector import EncryptedVector

__all__ = [
    "BfvProgram",
    "CkksProgram",
    "ClientKit",
    "EncryptedVector",
    "Forecast",
    "InputSpec",
    "Node",
    "NoiseForecast",
    "Op",
    "OutputForecast",
    "Plain",
    "Port",
    "Program",
    "SourceLine",
    "bfv_parameters_for_depth",
    "inner_product",
    "matvec",
    "operations",
    "polynomial",
    "sum_rotations",
    "sum_slots",
    "trace",
]
