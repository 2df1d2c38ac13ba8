"""The front end: a Python function on encrypted vectors becomes a planned HE graph."""

from ringsmith.program.forecast import Forecast, OutputForecast
from ringsmith.program.functions import inner_product, sum_slots
from ringsmith.program.graph import Program
from ringsmith.program.matrices import matvec
from ringsmith.program.nodes import Node, Op, Plain
from ringsmith.program.plan import InputSpec
from ringsmith.program.polynomials import polynomial
from ringsmith.program.source import SourceLine
from ringsmith.program.trace import trace
from ringsmith.program.vector import EncryptedVector

__all__ = [
    "EncryptedVector",
    "Forecast",
    "InputSpec",
    "Node",
    "Op",
    "OutputForecast",
    "Plain",
    "Program",
    "SourceLine",
    "inner_product",
    "matvec",
    "polynomial",
    "sum_slots",
    "trace",
]
