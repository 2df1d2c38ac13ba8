"""The one way from programs up to the schemes, which are made of what is in this package.

Nothing here imports ``ringsmith.schemes``: a name of it is fetched when it is first asked for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

_SCHEMES = "ringsmith.schemes"


def of_schemes(name: str, module: str = "") -> Callable[..., Any]:
    """Returns a function or class of ``ringsmith.schemes``, or of a module in it."""
    home = import_module(f"{_SCHEMES}.{module}" if module else _SCHEMES)
    return cast("Callable[..., Any]", getattr(home, name))
