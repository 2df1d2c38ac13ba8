"""Late imports from ``ringsmith.schemes``, which itself imports this package.

No module of this package imports ``ringsmith.schemes`` directly; names are imported on first use.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

_SCHEMES = "ringsmith.schemes"


def of_schemes(name: str, module: str = "") -> Callable[..., Any]:
    """Returns a function or class of ``ringsmith.schemes``, or of a module in it."""
    home = import_module(f"{_SCHEMES}.{module}" if module else _SCHEMES)
    return cast("Callable[..., Any]", getattr(home, name))
