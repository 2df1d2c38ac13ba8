"""Executables with one value changed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any


def changed(thing: Any, path: Sequence[str | int], value: object) -> Any:  # noqa: ANN401
    """A record, mapping or tuple with another value where a path of names and keys leads."""
    if not path:
        return value
    key, *rest = path
    if isinstance(thing, Mapping):
        return {**thing, key: changed(thing.get(key), rest, value)}
    if isinstance(thing, tuple):
        assert isinstance(key, int)
        return (*thing[:key], changed(thing[key], rest, value), *thing[key + 1 :])
    return replace(thing, **{str(key): changed(getattr(thing, str(key)), rest, value)})
