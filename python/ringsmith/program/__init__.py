"""The front end: a Python function on encrypted vectors becomes a planned HE graph."""

from ringsmith.program.functions import inner_product, polynomial
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Op, Plain
from ringsmith.program.plan import InputSpec
from ringsmith.program.source import SourceLine
from ringsmith.program.trace import trace
from ringsmith.program.vector import EncryptedVector

__all__ = [
    "EncryptedVector",
    "InputSpec",
    "Node",
    "Op",
    "Plain",
    "Program",
    "SourceLine",
    "inner_product",
    "polynomial",
    "trace",
]
