"""The public ``trace``: looks a design up where parameters are to be chosen for one.

``ringsmith.schemes`` plans for ``ParameterLimits`` and knows no design; here a design's name, file
or object becomes its limits.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from ringsmith import schemes
from ringsmith.params.automatic import AutoRlweParameters

F = TypeVar("F", bound=Callable[..., Any])


def _with_designs(function: F) -> F:
    """Returns the function for wishes that name a design."""

    @wraps(function)
    def resolving(*args: object, **options: object) -> object:
        known = {name: _resolved(value) for name, value in options.items()}
        return function(*map(_resolved, args), **known)

    return cast("F", resolving)


def _resolved(value: object) -> object:
    """A wish for parameters with the limits of its design; anything else as it is."""
    if not isinstance(value, AutoRlweParameters) or value.design is None:
        return value
    from ringsmith.runtime.designs import limits_of

    return replace(value, limits=limits_of(value.design))


trace = _with_designs(schemes.trace)
bfv_parameters_for_depth = _with_designs(schemes.bfv_parameters_for_depth)
