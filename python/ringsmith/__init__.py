"""Ringsmith: homomorphic-encryption programs, the accelerators that run them, and their runtime.

This package writes, compiles and runs programs. ``ringsmith.client`` makes keys, encrypts and
decrypts. Names are imported on first use, so that the command line starts at once.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringsmith.explore import Exploration, explore_designs
    from ringsmith.params import (
        AutoBfvParameters,
        AutoParameters,
        BfvParameters,
        CkksParameters,
        parameter_set,
    )
    from ringsmith.program import (
        ApproximationWarning,
        ClientKit,
        EncryptedVector,
        InputSpec,
        Interval,
        Program,
        bounded,
        chebyshev,
        compare,
        inner_product,
        matmul,
        matvec,
        maximum,
        minimum,
        pack_matrix,
        polynomial,
        sign,
        sum_rotations,
        sum_slots,
        unpack_matrix,
    )
    from ringsmith.progress import show_progress
    from ringsmith.runtime import Compiled, compile_program, open_device
    from ringsmith.runtime.explain import explain
    from ringsmith.tracing import bfv_parameters_for_depth, trace

__version__ = version("ringsmith")

_ROOMS = {
    "params": (
        "AutoBfvParameters",
        "AutoParameters",
        "BfvParameters",
        "CkksParameters",
        "parameter_set",
    ),
    "program": (
        "ApproximationWarning",
        "Interval",
        "bounded",
        "chebyshev",
        "compare",
        "matmul",
        "maximum",
        "minimum",
        "pack_matrix",
        "sign",
        "unpack_matrix",
        "ClientKit",
        "EncryptedVector",
        "InputSpec",
        "Program",
        "inner_product",
        "matvec",
        "polynomial",
        "sum_rotations",
        "sum_slots",
    ),
    "explore": ("Exploration", "explore_designs"),
    "progress": ("show_progress",),
    "tracing": ("bfv_parameters_for_depth", "trace"),
    "runtime": ("Compiled", "compile_program", "explain", "open_device"),
}
"""Subpackage -> the public names that it provides."""

_PACKAGES = ("client", "explore", "generate", "interop", "objects", "params", "remote", "runtime")
"""Subpackages and modules that are imported on first use, too: ``ringsmith.client.encrypt``."""

__all__ = [
    "ApproximationWarning",
    "AutoBfvParameters",
    "AutoParameters",
    "BfvParameters",
    "CkksParameters",
    "ClientKit",
    "Compiled",
    "EncryptedVector",
    "Exploration",
    "InputSpec",
    "Interval",
    "Program",
    "__version__",
    "bfv_parameters_for_depth",
    "bounded",
    "chebyshev",
    "compare",
    "compile_program",
    "explain",
    "explore_designs",
    "inner_product",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "open_device",
    "pack_matrix",
    "parameter_set",
    "polynomial",
    "show_progress",
    "sign",
    "sum_rotations",
    "sum_slots",
    "trace",
    "unpack_matrix",
]


def __getattr__(name: str) -> object:
    """Imports a public name from its subpackage, or a subpackage, on first use."""
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"ringsmith.{room}"), name)
    if name in _PACKAGES:
        return import_module(f"ringsmith.{name}")
    raise AttributeError(f"module 'ringsmith' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names too, for completion and ``help``, before they are imported."""
    return sorted({*globals(), *__all__, *_PACKAGES})
