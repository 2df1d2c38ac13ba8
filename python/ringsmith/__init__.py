"""Ringsmith: homomorphic-encryption programs, the accelerators that run them, and their runtime.

This package writes, compiles and runs programs. ``ringsmith.client`` makes keys, encrypts and
decrypts. Names are imported on first use, so that the command line starts at once.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers, which do not run ``__getattr__``
    from ringsmith.explore import Exploration as Exploration
    from ringsmith.explore import explore_designs as explore_designs
    from ringsmith.params import AutoBfvParameters as AutoBfvParameters
    from ringsmith.params import AutoParameters as AutoParameters
    from ringsmith.params import BfvParameters as BfvParameters
    from ringsmith.params import CkksParameters as CkksParameters
    from ringsmith.params import parameter_set as parameter_set
    from ringsmith.program import ApproximationWarning as ApproximationWarning
    from ringsmith.program import ClientKit as ClientKit
    from ringsmith.program import EncryptedArray as EncryptedArray
    from ringsmith.program import EncryptedVector as EncryptedVector
    from ringsmith.program import InputSpec as InputSpec
    from ringsmith.program import Interval as Interval
    from ringsmith.program import Program as Program
    from ringsmith.program import absolute as absolute
    from ringsmith.program import argmax as argmax
    from ringsmith.program import average_pool2d as average_pool2d
    from ringsmith.program import bootstrap as bootstrap
    from ringsmith.program import bounded as bounded
    from ringsmith.program import chebyshev as chebyshev
    from ringsmith.program import compare as compare
    from ringsmith.program import concatenate as concatenate
    from ringsmith.program import conv1d as conv1d
    from ringsmith.program import conv2d as conv2d
    from ringsmith.program import cumsum as cumsum
    from ringsmith.program import dot as dot
    from ringsmith.program import exp as exp
    from ringsmith.program import from_slots as from_slots
    from ringsmith.program import gelu as gelu
    from ringsmith.program import inner as inner
    from ringsmith.program import inner_product as inner_product
    from ringsmith.program import inverse as inverse
    from ringsmith.program import log as log
    from ringsmith.program import matmul as matmul
    from ringsmith.program import matvec as matvec
    from ringsmith.program import maximum as maximum
    from ringsmith.program import minimum as minimum
    from ringsmith.program import outer as outer
    from ringsmith.program import pack_matrix as pack_matrix
    from ringsmith.program import polynomial as polynomial
    from ringsmith.program import relu as relu
    from ringsmith.program import repeat as repeat
    from ringsmith.program import roll as roll
    from ringsmith.program import sigmoid as sigmoid
    from ringsmith.program import sign as sign
    from ringsmith.program import softmax as softmax
    from ringsmith.program import sort as sort
    from ringsmith.program import sqrt as sqrt
    from ringsmith.program import stack as stack
    from ringsmith.program import sum_rotations as sum_rotations
    from ringsmith.program import sum_slots as sum_slots
    from ringsmith.program import tanh as tanh
    from ringsmith.program import unpack_matrix as unpack_matrix
    from ringsmith.program import where as where
    from ringsmith.progress import show_progress as show_progress
    from ringsmith.runtime import Compiled as Compiled
    from ringsmith.runtime import compile_program as compile_program
    from ringsmith.runtime import open_device as open_device
    from ringsmith.runtime.explain import explain as explain
    from ringsmith.tracing import bfv_parameters_for_depth as bfv_parameters_for_depth
    from ringsmith.tracing import trace as trace

__version__ = version("ringsmith")

_MODULES = {
    "explore": ("Exploration", "explore_designs"),
    "params": (
        "AutoBfvParameters",
        "AutoParameters",
        "BfvParameters",
        "CkksParameters",
        "parameter_set",
    ),
    "program": (
        "ApproximationWarning",
        "ClientKit",
        "EncryptedArray",
        "EncryptedVector",
        "InputSpec",
        "Interval",
        "Program",
        "absolute",
        "argmax",
        "average_pool2d",
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
        "unpack_matrix",
        "where",
    ),
    "progress": ("show_progress",),
    "runtime": ("Compiled", "compile_program", "explain", "open_device"),
    "tracing": ("bfv_parameters_for_depth", "trace"),
}
"""Module or package -> the public names that it provides, imported on first use."""

_PACKAGES = ("client", "explore", "generate", "interop", "objects", "params", "remote", "runtime")
"""Subpackages and modules that are imported on first use, too: ``ringsmith.client.encrypt``."""

__all__ = [*sorted(name for names in _MODULES.values() for name in names), "__version__"]


def __getattr__(name: str) -> object:
    """Imports a public name from its subpackage, or a subpackage, on first use."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"ringsmith.{module}"), name)
    if name in _PACKAGES:
        return import_module(f"ringsmith.{name}")
    raise AttributeError(f"module 'ringsmith' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names too, for completion and ``help``, before they are imported."""
    return sorted({*globals(), *__all__, *_PACKAGES})
