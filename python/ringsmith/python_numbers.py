"""NumPy's numbers as Python's, where a value is checked, stored, compared and written to files."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def python_number(value: Any) -> Any:  # noqa: ANN401 - whatever was given
    """Returns a value in which NumPy's scalars and arrays are Python's numbers and lists.

    Lists and tuples are gone through; everything else is returned as it is.
    """
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    if type(value) in (list, tuple):
        return type(value)(map(python_number, value))
    return value


def with_python_numbers(function: F) -> F:
    """Returns a function whose arguments may be NumPy's numbers."""

    @wraps(function)
    def called(*args: object, **options: object) -> object:
        known = {name: python_number(value) for name, value in options.items()}
        return function(*map(python_number, args), **known)

    return cast("F", called)


def make_python_numbers(record: object) -> None:
    """Replaces NumPy's numbers in the fields of a dataclass, frozen or not; for its checks."""
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        found = python_number(value)
        if found is not value:
            object.__setattr__(record, field.name, tuple(found) if _is_array(value) else found)


def _is_array(value: object) -> bool:
    return bool(getattr(value, "shape", ()))
