"""Functions that remember their results, with their signature kept for the type checker."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def cached(function: Callable[P, R]) -> Callable[P, R]:
    """Returns the function with its results remembered by its arguments, which must be hashable.

    ``functools.cache`` takes any arguments in the eyes of a type checker, and so hides wrong calls.
    """
    return cast(Callable[P, R], functools.cache(function))
