"""Frozen dataclasses as JSON values and back, by their type annotations alone.

A dataclass becomes an object of its fields. A field that has its default is left out: a file that
was written before the field existed reads as one that has the default. An unknown entry is refused:
a newer Ringsmith wrote it. A field whose type is none of those below cannot be written, and then
nothing is: no field is ever forgotten.

Known are int, float (finite), complex, bool, str, bytes, None, enumerations of texts, tuples,
mappings with keys of texts or integers, unions, dataclasses, and arrays, which are numbered and
kept separate. A field whose metadata has ``IN_MEMORY`` is not part of the file.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError, RingsmithError

Json = Any
"""A JSON value that was checked, or is about to be."""
Hint = Any
"""A type annotation."""

MAX_TEXT = 1 << 16
"""Characters of a text."""
MAX_ENTRIES = 1 << 20
"""Entries of a list or mapping."""
_MAX_INTEGER = 1 << 64
IN_MEMORY = "in memory"
"""Metadata of a field that is not written; it has a default."""

Variants = Mapping[type, Mapping[str, type]]
"""For an abstract dataclass: the concrete ones, by what their objects say as ``kind``."""


class MalformedError(InteropError):
    """A value that a file cannot have; the text begins with the field."""


@dataclasses.dataclass(eq=False)
class Encoder:
    """Makes JSON values of dataclasses.

    Attributes:
        variants: Concrete dataclasses of abstract ones.
        replaced: By type: what is written in place of a value.
        arrays: The arrays that were met; equal ones are there once.
    """

    variants: Variants = dataclasses.field(default_factory=dict)
    replaced: Mapping[type, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    arrays: list[NDArray[Any]] = dataclasses.field(default_factory=list)
    _known: dict[tuple[object, ...], int] = dataclasses.field(default_factory=dict)

    def encode(self, value: object, kind: Hint, where: str = "value") -> Json:
        """Returns a JSON value.

        Args:
            value: The value.
            kind: Its type annotation.
            where: Names the value in errors.

        Raises:
            TypeError: When the value, or its type, is none that files can hold.
        """
        change = self.replaced.get(type(value))
        value = value if change is None else change(value)
        if isinstance(value, np.generic):  # a number that the user had from an array
            value = value.item()
        origin, arguments = _origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return self.encode(value, _alternative(value, arguments, where), where)
        if origin is np.ndarray:
            return self._array(value, where)
        if origin is tuple:
            return self._list(value, arguments, where)
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return self._list(value, (*arguments, ...), where)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(value, arguments, where)
        if _is_record(kind):
            return self._object(value, kind, where)
        if isinstance(kind, type) and issubclass(kind, Enum) and isinstance(value, kind):
            return str(value.value)
        if kind is bytes and isinstance(value, bytes):
            return value.hex()
        if kind is complex and isinstance(value, complex):
            return [value.real, value.imag]
        if kind in (int, float, bool, str, type(None)) and _is(value, kind):
            if isinstance(value, float) and not math.isfinite(value):
                raise TypeError(f"{where} = {value!r} is not finite and is not written")
            return kind(value) if kind in (int, float) else value
        raise TypeError(f"{where}: {type(value).__name__} as {kind} is not written to files")

    def _object(self, value: Json, kind: type, where: str) -> dict[str, Any]:
        variants = self.variants.get(kind, {})
        tags = {concrete: tag for tag, concrete in variants.items()}
        entries: dict[str, Any] = {"kind": tags[type(value)]} if variants else {}
        concrete = type(value) if variants else kind
        if type(value) is not concrete:
            raise TypeError(f"{where}: {type(value).__name__} stands where a {kind.__name__} does")
        for field, hint in fields_of(concrete):
            item = getattr(value, field.name)
            if not _is_default(item, field):
                entries[field.name] = self.encode(item, hint, f"{where}.{field.name}")
        return entries

    def _list(self, value: Json, arguments: tuple[Any, ...], where: str) -> list[Any]:
        kinds = _kinds(arguments, len(value), where)
        return [
            self.encode(item, kind, f"{where}[{i}]")
            for i, (item, kind) in enumerate(zip(value, kinds, strict=True))
        ]

    def _mapping(self, value: Json, arguments: tuple[Any, ...], where: str) -> Json:
        keys, kind = arguments
        pairs = [(key, self.encode(item, kind, f"{where}[{key!r}]")) for key, item in value.items()]
        return dict(pairs) if keys is str else [list(pair) for pair in pairs]

    def _array(self, value: Json, where: str) -> int:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fciu":
            raise TypeError(f"{where}: {type(value).__name__} is no array of numbers")
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._known:
            self._known[key] = len(self.arrays)
            self.arrays.append(value)
        return self._known[key]


@dataclasses.dataclass(frozen=True, eq=False)
class Decoder:
    """Makes dataclasses of JSON values; believes nothing of them.

    Attributes:
        arrays: What numbers of arrays stand for.
        variants: Concrete dataclasses of abstract ones.
    """

    arrays: Sequence[NDArray[Any]] = ()
    variants: Variants = dataclasses.field(default_factory=dict)

    def decode(self, value: object, kind: Hint, where: str = "content") -> Json:
        """Returns a value of the type annotation.

        Raises:
            MalformedError: When the JSON value is none of that type, or a dataclass refuses it;
                names the field.
        """
        origin, arguments = _origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return self._union(value, arguments, where)
        if origin is np.ndarray:
            return self._array(value, where)
        if origin is tuple:
            return self._tuple(value, arguments, where)
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return self._tuple(value, (*arguments, ...), where)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(value, arguments, where)
        if _is_record(kind):
            return self._object(value, kind, where)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _member(value, kind, where)
        if kind is bytes:
            return _bytes(value, where)
        if kind is complex:
            return complex(*self._tuple(value, (float, float), where))
        return _scalar(value, kind, where)

    def _union(self, value: object, arguments: tuple[Any, ...], where: str) -> Json:
        if value is None and type(None) in arguments:
            return None
        *others, last = (kind for kind in arguments if kind is not type(None))
        for kind in others:
            try:
                return self.decode(value, kind, where)
            except MalformedError:
                continue
        return self.decode(value, last, where)

    def _object(self, value: object, kind: type, where: str) -> Json:
        if not isinstance(value, dict):
            raise MalformedError(f"{where} {value!r:.60} is not an object")
        entries = dict(value)
        if kind in self.variants:
            tag = entries.pop("kind", None)
            if not isinstance(tag, str) or tag not in self.variants[kind]:
                known = ", ".join(self.variants[kind])
                raise MalformedError(f"{where}.kind {tag!r:.60} is not one of {known}")
            kind = self.variants[kind][tag]
        found = {}
        for field, hint in fields_of(kind):
            if field.name in entries:
                item = entries.pop(field.name)
                found[field.name] = self.decode(item, hint, f"{where}.{field.name}")
            elif _required(field):
                raise MalformedError(f"{where} lacks {field.name!r}")
        if entries:
            unknown = sorted(entries)[:4]
            raise MalformedError(f"{where} has {unknown!r:.80}, which this Ringsmith does not know")
        try:
            return kind(**found)
        except (RingsmithError, ValueError, TypeError, OverflowError) as error:
            raise MalformedError(f"{where}: {error!s:.300}") from None

    def _tuple(self, value: object, arguments: tuple[Any, ...], where: str) -> tuple[Any, ...]:
        items = _entries(value, where)
        kinds = _kinds(arguments, len(items), where)
        return tuple(
            self.decode(item, kind, f"{where}[{i}]")
            for i, (item, kind) in enumerate(zip(items, kinds, strict=True))
        )

    def _mapping(self, value: object, arguments: tuple[Any, ...], where: str) -> Mapping[Any, Any]:
        keys, kind = arguments
        if keys is str:
            if not isinstance(value, dict) or len(value) > MAX_ENTRIES:
                raise MalformedError(f"{where} is not an object of at most {MAX_ENTRIES} entries")
            pairs: Iterable[Any] = value.items()
        else:
            pairs = [
                self._tuple(pair, (keys, object), f"{where}[{i}]")
                for i, pair in enumerate(_entries(value, where))
            ]
        found = {
            self.decode(key, keys, where): self.decode(item, kind, f"{where}[{key!r:.60}]")
            for key, item in pairs
        }
        if len(found) != len(value):  # type: ignore[arg-type]  # a list or an object by now
            raise MalformedError(f"{where} has one key twice")
        return types.MappingProxyType(found)

    def _array(self, value: object, where: str) -> NDArray[Any]:
        if type(value) is not int or not 0 <= value < len(self.arrays):
            raise MalformedError(f"{where} {value!r:.60} is not the number of an array")
        return self.arrays[value]


def fields_of(kind: type) -> tuple[tuple["dataclasses.Field[Any]", Any], ...]:
    """Returns the fields that make a dataclass, each with its type."""
    return _fields_of(cast("Hashable", kind))


@lru_cache(maxsize=128)
def _fields_of(kind: type) -> tuple[tuple["dataclasses.Field[Any]", Any], ...]:
    hints = typing.get_type_hints(kind)
    written = (f for f in dataclasses.fields(kind) if f.init and not f.metadata.get(IN_MEMORY))
    return tuple((f, hints[f.name]) for f in written)


def _is_record(kind: Hint) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _origin(kind: Hint) -> Hint:
    """What a generic type is made of: tuple of tuple[int, ...]; None of a plain type."""
    return typing.get_origin(kind)


def _required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _is_default(value: object, field: "dataclasses.Field[Any]") -> bool:
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if isinstance(value, np.ndarray) or default is dataclasses.MISSING:
        return False
    return type(value) is type(default) and bool(value == default) and repr(value) == repr(default)


def _is(value: object, kind: type) -> bool:
    """Whether a value is of a plain type; a whole number is a float, too, and no truth value."""
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(value, kind)


def _alternative(value: object, arguments: tuple[Any, ...], where: str) -> Hint:
    """The member of a union that a value is of."""
    for kind in sorted(arguments, key=lambda each: each is float):  # 1 is an int first
        origin = _origin(kind) or kind
        plain = origin if isinstance(origin, type) else object
        if _is(value, plain):
            return kind
    raise TypeError(f"{where}: {type(value).__name__} is none of {arguments}")


def _kinds(arguments: tuple[Any, ...], count: int, where: str) -> Sequence[Any]:
    """The type of each entry of a tuple."""
    if len(arguments) == 2 and arguments[1] is ...:
        return (arguments[0],) * count
    if len(arguments) != count:
        raise MalformedError(f"{where} has {count} entries, and not {len(arguments)}")
    return arguments


def _entries(value: object, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        raise MalformedError(f"{where} is not a list of at most {MAX_ENTRIES} entries")
    return value


def _member(value: object, kind: type[Enum], where: str) -> Enum:
    for member in kind:
        if isinstance(value, str) and value == member.value:
            return member
    raise MalformedError(f"{where} {value!r:.60} is not one that this Ringsmith knows")


def _bytes(value: object, where: str) -> bytes:
    try:
        return bytes.fromhex(_scalar(value, str, where))
    except ValueError:
        raise MalformedError(f"{where} {value!r:.60} is not bytes in hexadecimal digits") from None


def _scalar(value: object, kind: Hint, where: str) -> Json:
    if kind is object:
        return value
    fits = isinstance(kind, type) and _is(value, kind)
    if fits and isinstance(value, str) and len(value) > MAX_TEXT:
        raise MalformedError(
            f"{where} has {len(value)} characters, and at most {MAX_TEXT} are read"
        )
    if fits and isinstance(value, int) and abs(value) >= _MAX_INTEGER:
        raise MalformedError(f"{where} {value!r:.60} has more than 64 bits")
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        name = getattr(kind, "__name__", str(kind))
        raise MalformedError(f"{where} {value!r:.60} is not of type {name}")
    return float(value) if kind is float and isinstance(value, int | float) else value
