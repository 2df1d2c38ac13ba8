"""Late imports from ``ringsmith.schemes`` and ``ringsmith.runtime``, which import this package.

No module of this package imports them directly; names are imported on first use. So are functions
of this package that methods of vectors call.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

_SCHEMES = "ringsmith.schemes"
_RUNTIME = "ringsmith.runtime"
_PROGRAM = "ringsmith.program"


def of_schemes(name: str, module: str = "") -> Callable[..., Any]:
    """Returns a function or class of ``ringsmith.schemes``, or of a module in it."""
    return _found(_SCHEMES, name, module)


def of_runtime(name: str, module: str = "") -> Callable[..., Any]:
    """Returns a function or class of ``ringsmith.runtime``, or of a module in it."""
    return _found(_RUNTIME, name, module)


def of_program(name: str, module: str = "") -> Callable[..., Any]:
    """Returns a function of ``ringsmith.program``, or of a module in it."""
    return _found(_PROGRAM, name, module)


def _found(package: str, name: str, module: str) -> Callable[..., Any]:
    found = import_module(f"{package}.{module}" if module else package)
    return cast("Callable[..., Any]", getattr(found, name))
