"""The public ``trace``: finds limits and costs of the design for which parameters are chosen.

``ringsmith.schemes`` plans for ``ParameterLimits`` and ``Costs`` and knows no design. This module
converts a design's name, file or object to these.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any, TypeVar, cast

from ringsmith import schemes
from ringsmith.params.automatic import AutoRlweParameters

F = TypeVar("F", bound=Callable[..., Any])


def _with_designs(function: F) -> F:
    """Returns the function that also accepts wishes with a design."""

    @wraps(function)
    def resolving(*args: object, **options: object) -> object:
        known = {name: _resolved(value) for name, value in options.items()}
        return function(*map(_resolved, args), **known)

    return cast("F", resolving)


def _resolved(value: object) -> object:
    """Adds the limits of its design to a wish for parameters; returns anything else unchanged."""
    if not isinstance(value, AutoRlweParameters) or value.design is None:
        return value
    from ringsmith.runtime.costs import costs_on
    from ringsmith.runtime.designs import limits_of

    known = replace(value, limits=limits_of(value.design))
    return replace(known, costs=partial(costs_on, known))


trace = _with_designs(schemes.trace)
bfv_parameters_for_depth = _with_designs(schemes.bfv_parameters_for_depth)
