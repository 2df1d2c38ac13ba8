"""Short representations of large objects, for notebooks, debuggers and messages."""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

LIMIT = 400
"""Characters of a representation, at most."""
_LEAST = 28
"""Characters that each field may take, its name included."""
_ENTRIES = 4
"""Entries of a collection that are shown, at most."""
_BYTES = 4
"""Bytes of an identity or a seed that are shown."""


def short_repr(kind: type[T]) -> type[T]:
    """Gives a dataclass a representation of at most ``LIMIT`` characters.

    Fields that have their default are left out. Arrays are shown by type and shape, bytes by their
    first digits, long collections by their first entries and their length. The decorator stands
    above ``@dataclass``, and on each subclass too.
    """
    kind.__repr__ = _represented  # type: ignore[method-assign]
    return kind


def _represented(self: Any) -> str:  # noqa: ANN401 - any dataclass
    shown = [each.name for each in fields(self) if each.repr and not _is_default(self, each)]
    return represented(type(self), {name: getattr(self, name) for name in shown})


def represented(kind: type, values: Mapping[str, object]) -> str:
    """Returns the representation of an object of a class that holds these values."""
    title = kind.__qualname__
    width = max(_LEAST, (LIMIT - len(title) - 2) // max(1, len(values)) - 2)
    parts = [f"{name}={_text(value)}" for name, value in values.items()]
    if len(title) + sum(map(len, parts)) + 2 * len(parts) > LIMIT:
        parts = [_clipped(part, width) for part in parts]
    return _clipped(f"{title}({', '.join(parts)})", LIMIT)


def _is_default(owner: object, field: Field[Any]) -> bool:
    """Whether a field has its default, or an empty collection in place of it."""
    value = getattr(owner, field.name)
    if field.default is not MISSING:
        known = type(value) is type(field.default) and not isinstance(value, np.ndarray)
        return value is field.default or (known and bool(value == field.default))
    made = field.default_factory is not MISSING
    return made and isinstance(value, Collection) and not len(value)


def _text(value: object) -> str:
    """A field in few characters."""
    if isinstance(value, Mapping):
        return f"{{{_listed(_pairs(value), len(value))}}}"
    if isinstance(value, tuple | list | Set):
        return f"({_listed(map(_entry, value), len(value))})"
    return _entry(value)


def _pairs(value: Mapping[Any, Any]) -> Iterable[str]:
    """The entries of a mapping; of one that computes its values, the keys."""
    if isinstance(value, dict | MappingProxyType):
        return (f"{key!r}: {_entry(each)}" for key, each in value.items())
    return map(repr, value)


def _entry(value: object) -> str:
    """A value inside a field or a collection: nothing large is written out for it."""
    if isinstance(value, Enum):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        name = getattr(value, "name", None)
        return f"{type(value).__qualname__}({f'name={name!r}, ' if name else ''}…)"
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} array of shape {value.shape}>"
    if isinstance(value, bytes):
        return value[:_BYTES].hex() + "…" * (len(value) > _BYTES)
    if isinstance(value, Mapping | tuple | list | Set):
        return f"<{type(value).__name__} of {len(value)}>"
    return _clipped(repr(value), LIMIT // 4)


def _listed(entries: Iterable[str], length: int) -> str:
    """The first entries, and how many there are where some are left out."""
    shown = ", ".join(islice(entries, _ENTRIES))
    return f"{shown}, … {length} in all" if length > _ENTRIES else shown


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
