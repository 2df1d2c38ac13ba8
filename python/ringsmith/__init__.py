"""Ringsmith: homomorphic-encryption programs, the accelerators that run them, and their runtime.

The names that a program is written with are here; keys are made in ``ringsmith.client`` and
programs run by ``ringsmith.runtime``. They are imported when first used, so that the command line
starts at once.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringsmith.params import CkksParameters, parameter_set
    from ringsmith.program import EncryptedVector, Program, inner_product, polynomial
    from ringsmith.program.trace import trace

__version__ = version("ringsmith")

__all__ = [
    "CkksParameters",
    "EncryptedVector",
    "Program",
    "__version__",
    "inner_product",
    "parameter_set",
    "polynomial",
    "trace",
]


def __getattr__(name: str) -> object:
    """Import a public name from its room when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'ringsmith' has no attribute {name!r}")
    room = "params" if name in {"CkksParameters", "parameter_set"} else "program"
    return getattr(import_module(f"ringsmith.{room}"), name)
