"""Frozen dataclasses as columns and back, by their type annotations alone.

What is written is a column: all values of one type. A column of objects is an object of columns,
one for each field, so that a program's nodes are twenty lists. A field that has its default in all
objects is left out: a file that was written before the field existed reads as one that has the
default. An unknown field is refused: a newer Ringsmith wrote it. A field of another type than those
below cannot be written, and then nothing is: no field is ever forgotten.

===================  ============================================================================
type                 column
===================  ============================================================================
int, bool, float     list of numbers, or the number of an array of them; truth values are 0 and 1
complex              as float, twice as many: real and imaginary parts
str, Enum, bytes     list of texts; or ``{"texts", "index"}``: different texts, and which of them
tuple, Sequence      ``{"counts", "items"}``: how many items, and one column of all
tuple of fixed size  list of columns
Mapping              ``{"counts", "keys", "items"}``
union                ``{"kinds", …}``: type of each value by name, and a column of each type
array                numbers of arrays, which are kept separate
===================  ============================================================================

A field whose metadata has ``IN_MEMORY`` is not part of the file.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import chain, islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError, RingsmithError
from ringsmith.files.budget import MOST, Budget

Json = Any
"""A JSON value that was checked, or is about to be."""
Hint = Any
"""A type annotation."""

MAX_TEXT = 1 << 16
"""Characters of a text."""
IN_MEMORY = "in memory"
"""Metadata of a field that is not written; it has a default."""
_SCALARS = (int, float, bool, complex, str, bytes)
_SHORT = 8
"""Values of a column that stay in the JSON text; longer columns are arrays."""
_LEAST_INTEGER, _MOST_INTEGER = -(1 << 63), (1 << 64) - 1
_SMALL, _VALUE, _LIST, _OBJECT, _FIELD = 16, 40, 72, 96, 16
"""Bytes of memory of a number below 256, of another one, and of a list, an object or mapping, and a
field, beyond what they hold."""

Variants = Mapping[type, Mapping[str, type]]
"""For an abstract dataclass: the concrete ones, by what columns call their kinds."""


class MalformedError(InteropError):
    """A value that a file cannot have; the text begins with the field."""


@dataclasses.dataclass(eq=False)
class Encoder:
    """Makes columns of dataclasses.

    Attributes:
        variants: Concrete dataclasses of abstract ones.
        replaced: By type: what is written in place of a value.
        arrays: The arrays that were made or met; equal ones are there once. None: all numbers stay
            in the JSON text, which then holds no arrays.
    """

    variants: Variants = dataclasses.field(default_factory=dict)
    replaced: Mapping[type, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    arrays: list[NDArray[Any]] | None = None
    _known: dict[tuple[object, ...], int] = dataclasses.field(default_factory=dict)

    def encode(self, value: object, kind: Hint, where: str = "value") -> Json:
        """Returns the column of one value.

        Args:
            value: The value.
            kind: Its type annotation.
            where: Names the value in errors.

        Raises:
            TypeError: When the value, or its type, is one that files cannot hold.
        """
        return self._column([value], kind, where)

    def _column(self, values: Sequence[Any], kind: Hint, where: str) -> Json:
        values = [self._written(value) for value in values]
        origin, arguments = _origin(kind), typing.get_args(kind)
        choices = _choices(kind, self.variants)
        if choices:
            return self._union(values, choices, where)
        if origin is np.ndarray:
            return self._numbers([self._array(value, where) for value in values], int, where)
        if origin is tuple and arguments[1:] != (...,):
            return [
                self._column([value[i] for value in values], each, f"{where}[{i}]")
                for i, each in enumerate(arguments)
            ]
        if origin is tuple or _is_a(origin, Sequence):
            found = {"items": self._column([*chain(*values)], arguments[0], where)}
        elif _is_a(origin, Mapping):
            items = [*chain(*(value.values() for value in values))]
            found = {"keys": self._column([*chain(*values)], arguments[0], where)}
            found["items"] = self._column(items, arguments[1], where)
        elif _is_record(kind):
            return self._object(values, kind, where)
        else:
            return self._scalars(values, kind, where)
        return {"counts": self._numbers([*map(len, values)], int, where), **found}

    def _written(self, value: object) -> object:
        change = self.replaced.get(type(value))
        value = value if change is None else change(value)
        return value.item() if isinstance(value, np.generic) else value  # a user's, of an array

    def _union(self, values: Sequence[Any], choices: Mapping[str, Hint], where: str) -> Json:
        names = [_chosen(value, choices, where) for value in values]
        found = {"kinds": self._texts(names)}
        for name, kind in choices.items():
            if kind is not types.NoneType and name in names:
                own = [value for value, each in zip(values, names, strict=True) if each == name]
                found[name] = self._column(own, kind, where)
        return found

    def _object(self, values: Sequence[Any], kind: type, where: str) -> Json:
        for value in values:
            if type(value) is not kind:
                raise TypeError(
                    f"{where}: {type(value).__name__} stands where {kind.__name__} does"
                )
        found = {}
        for field, hint in fields_of(kind):
            items = [getattr(value, field.name) for value in values]
            if not all(_is_default(item, field) for item in items):
                found[field.name] = self._column(items, hint, f"{where}.{field.name}")
        return found

    def _scalars(self, values: Sequence[Any], kind: Hint, where: str) -> Json:
        known = kind in _SCALARS or _is_a(kind, Enum)
        for value in values:
            if not known or not _is(value, kind):
                raise TypeError(
                    f"{where}: {type(value).__name__} as {kind} is not written to files"
                )
        if kind is complex:
            values = [*chain(*((value.real, value.imag) for value in values))]
            kind = float
        if kind in (int, float, bool):
            return self._numbers(values, kind, where)
        if kind is bytes:
            return self._texts([value.hex() for value in values])
        return self._texts([value.value if isinstance(value, Enum) else value for value in values])

    def _texts(self, values: list[str]) -> Json:
        if self.arrays is None or len(values) <= _SHORT:
            return values
        index: dict[str, int] = {}
        numbers = [index.setdefault(value, len(index)) for value in values]
        return {"texts": [*index], "index": self._numbers(numbers, int, "texts")}

    def _numbers(self, values: Sequence[Any], kind: type, where: str) -> Json:
        if not all(_is_number(value, kind) for value in values):
            raise TypeError(f"{where} has a number that is not finite, or of more than 64 bits")
        if self.arrays is None or len(values) <= _SHORT:
            return [int(value) if kind is bool else kind(value) for value in values]
        if kind is float:
            return self._kept(np.array(values, np.float64))
        return self._kept(np.array(values, _code(min(values), max(values))))

    def _array(self, value: Json, where: str) -> int:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fciu":
            raise TypeError(f"{where}: {type(value).__name__} is no array of numbers")
        return self._kept(value)

    def _kept(self, array: NDArray[Any]) -> int:
        if self.arrays is None:
            raise TypeError("an array is not written to a JSON text")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = len(self.arrays)
            self.arrays.append(array)
        return self._known[key]


@dataclasses.dataclass(frozen=True, eq=False)
class Decoder:
    """Makes dataclasses of columns; believes nothing of them.

    Attributes:
        arrays: What numbers of arrays stand for.
        variants: Concrete dataclasses of abstract ones.
        budget: Memory that what is made may take.
    """

    arrays: Sequence[NDArray[Any]] = ()
    variants: Variants = dataclasses.field(default_factory=dict)
    budget: Budget = dataclasses.field(default_factory=lambda: Budget(MOST))

    def decode(self, column: object, kind: Hint, where: str = "content") -> Json:
        """Returns the one value of a column, of the type annotation.

        Raises:
            InteropError: When it is no column of one value of that type, a dataclass refuses it, or
                it takes too much memory; names the field.
        """
        return self._column(column, kind, 1, where)[0]

    def _column(self, found: Json, kind: Hint, count: int, where: str) -> list[Any]:
        origin, arguments = _origin(kind), typing.get_args(kind)
        choices = _choices(kind, self.variants)
        if choices:
            return self._union(found, choices, count, where)
        if origin is np.ndarray:
            return [self._array(i, where) for i in self._numbers(found, int, count, where)]
        if origin is tuple and arguments[1:] != (...,):
            if not isinstance(found, list) or len(found) != len(arguments):
                raise MalformedError(f"{where} is not {len(arguments)} columns")
            pairs = zip(found, arguments, strict=True)
            columns = [self._column(each, own, count, where) for each, own in pairs]
            self.budget.spend(_LIST * count, where)
            return [*zip(*columns, strict=True)]
        if origin is tuple or _is_a(origin, Sequence):
            return self._sequences(found, arguments[0], count, where)
        if _is_a(origin, Mapping):
            return self._mappings(found, arguments, count, where)
        if _is_record(kind):
            return self._objects(found, kind, count, where)
        return self._scalars(found, kind, count, where)

    def _union(self, found: Json, choices: Mapping[str, Hint], count: int, where: str) -> list[Any]:
        entries = _entries(found, {"kinds"}, {"kinds", *choices}, where)
        names = self._texts(entries["kinds"], count, f"{where}.kinds")
        values = {name: iter(()) for name in choices}
        for name in {*names}:
            if name not in choices:
                raise MalformedError(f"{where}.kinds {name!r:.60} is not one of {[*choices]}")
            if choices[name] is not types.NoneType:
                column = _entries(found, {name}, found.keys(), where)[name]
                number = names.count(name)
                own = self._column(column, choices[name], number, f"{where}.{name}")
                values[name] = iter(own)
        return [next(values[name], None) for name in names]

    def _sequences(self, found: Json, kind: Hint, count: int, where: str) -> list[Any]:
        entries = _entries(found, {"counts", "items"}, (), where)
        counts = self._counts(entries["counts"], count, where)
        items = iter(self._column(entries["items"], kind, sum(counts), where))
        self.budget.spend(_LIST * count + 8 * sum(counts), where)
        return [tuple(islice(items, each)) for each in counts]

    def _mappings(
        self, found: Json, arguments: tuple[Any, ...], count: int, where: str
    ) -> list[Any]:
        entries = _entries(found, {"counts", "keys", "items"}, (), where)
        counts = self._counts(entries["counts"], count, where)
        self.budget.spend(3 * _OBJECT * count + 2 * _OBJECT * sum(counts), where)
        keys = iter(self._column(entries["keys"], arguments[0], sum(counts), f"{where}.keys"))
        items = iter(self._column(entries["items"], arguments[1], sum(counts), where))
        made = [
            types.MappingProxyType(dict(zip(islice(keys, each), islice(items, each), strict=True)))
            for each in counts
        ]
        if [*map(len, made)] != counts:
            raise MalformedError(f"{where} has one key twice")
        return made

    def _objects(self, found: Json, kind: type, count: int, where: str) -> list[Any]:
        known = {field.name: (field, hint) for field, hint in fields_of(kind)}
        needed = {name for name, (field, _) in known.items() if count and _required(field)}
        entries = _entries(found, needed, known.keys(), where)
        columns = {
            name: self._column(column, known[name][1], count, f"{where}.{name}")
            for name, column in entries.items()
        }
        self.budget.spend((_OBJECT + _FIELD * len(known)) * count, where)
        made = []
        for number in range(count):
            try:
                made.append(kind(**{name: column[number] for name, column in columns.items()}))
            except (RingsmithError, ValueError, TypeError, OverflowError) as error:
                at = f"{where}[{number}]" if count > 1 else where
                raise MalformedError(f"{at}: {error!s:.300}") from None
        return made

    def _scalars(self, found: Json, kind: Hint, count: int, where: str) -> list[Any]:
        if kind is complex:
            parts = self._numbers(found, float, 2 * count, where)
            return [*map(complex, parts[::2], parts[1::2])]
        if kind in (int, float, bool):
            return self._numbers(found, kind, count, where)
        texts = self._texts(found, count, where)
        if kind is str:
            return texts
        make = bytes.fromhex if kind is bytes else {each.value: each for each in kind}.__getitem__
        try:
            made = {text: make(text) for text in {*texts}}
        except (ValueError, KeyError) as error:
            raise MalformedError(f"{where}: {error!s:.80} is not of {kind.__name__}") from None
        return [made[text] for text in texts]

    def _counts(self, found: Json, count: int, where: str) -> list[int]:
        counts = self._numbers(found, int, count, f"{where}.counts")
        if any(each < 0 for each in counts):
            raise MalformedError(f"{where}.counts has a number below 0")
        return counts

    def _texts(self, found: Json, count: int, where: str) -> list[str]:
        texts: list[str] = found
        if isinstance(found, dict):
            entries = _entries(found, {"texts", "index"}, (), where)
            texts = entries["texts"]
        if not isinstance(texts, list) or not all(type(each) is str for each in texts):
            raise MalformedError(f"{where} {texts!r:.60} is not a list of texts")
        if any(len(each) > MAX_TEXT for each in texts):
            raise MalformedError(f"{where} has a text of more than {MAX_TEXT} characters")
        if texts is not found:
            index = self._numbers(entries["index"], int, count, f"{where}.index")
            if any(not 0 <= each < len(texts) for each in index):
                raise MalformedError(f"{where}.index has the number of no text")
            texts = [texts[each] for each in index]
        if len(texts) != count:
            raise MalformedError(f"{where} has {len(texts)} texts, and not {count}")
        return texts

    def _numbers(self, found: Json, kind: type, count: int, where: str) -> list[Any]:
        array = None if isinstance(found, list) else self._array(found, where)
        size = len(found) if array is None else array.size
        if array is not None and (array.ndim != 1 or (array.dtype.kind == "f") != (kind is float)):
            raise MalformedError(f"{where} is an array of another type or shape")
        if size != count:
            raise MalformedError(f"{where} has {size} numbers, and not {count}")
        small = array is not None and array.dtype == np.uint8
        self.budget.spend((_SMALL if small else _VALUE) * count, where)
        values: list[Any] = found if array is None else array.tolist()
        for value in values:
            if not _is_number(value, kind):
                raise MalformedError(f"{where} {value!r:.60} is not of type {kind.__name__}")
        return values if kind is int else [kind(value) for value in values]

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


def _choices(kind: Hint, variants: Variants) -> Mapping[str, Hint]:
    """The types that a value may have, by their names in columns; empty: there is only one."""
    if _origin(kind) in (typing.Union, types.UnionType):
        return {getattr(each, "__name__", "array"): each for each in typing.get_args(kind)}
    return variants.get(kind, {}) if isinstance(kind, type) else {}


def _chosen(value: object, choices: Mapping[str, Hint], where: str) -> str:
    """The name of a value's type."""
    for name, kind in sorted(
        choices.items(), key=lambda each: each[1] is float
    ):  # 1 is an int first
        if _is(value, _origin(kind) or kind):
            return name
    raise TypeError(f"{where}: {type(value).__name__} is not one of {[*choices]}")


def _entries(
    found: Json, needed: set[str], known: typing.Iterable[str], where: str
) -> dict[str, Any]:
    """An object with all needed entries, and no unknown ones."""
    if not isinstance(found, dict):
        raise MalformedError(f"{where} {found!r:.60} is not an object")
    if missing := sorted(needed - found.keys()):
        raise MalformedError(f"{where} lacks {missing[0]!r}")
    if unknown := sorted(found.keys() - {*known} - needed):
        raise MalformedError(f"{where} has {unknown!r:.80}, which this Ringsmith does not know")
    return found


def _origin(kind: Hint) -> Hint:
    """What a generic type is made of: tuple of tuple[int, ...]; None of a plain type."""
    return typing.get_origin(kind)


def _is_record(kind: Hint) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _is_a(origin: Hint, kind: Any) -> bool:  # noqa: ANN401 - an abstract class
    return isinstance(origin, type) and issubclass(origin, kind)


def _required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _is_default(value: object, field: "dataclasses.Field[Any]") -> bool:
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if isinstance(value, np.ndarray) or default is dataclasses.MISSING:
        return False
    return type(value) is type(default) and bool(value == default) and repr(value) == repr(default)


def _is(value: object, kind: Hint) -> bool:
    """Whether a value is of a plain type; a whole number is a float, too, and no truth value."""
    if not isinstance(kind, type) or (isinstance(value, bool) and kind is not bool):
        return False
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


def _is_number(value: object, kind: type) -> bool:
    """Whether a value of a column is a number that a type holds."""
    if kind is bool:
        return value in (0, 1)
    if kind is float and isinstance(value, float):
        return math.isfinite(value)
    return type(value) is int and _LEAST_INTEGER <= value <= _MOST_INTEGER


def _code(low: int, high: int) -> str:
    """The smallest type of an array that holds integers."""
    if low >= 0 and high < 1 << 8:
        return "|u1"
    return "<i8" if high < 1 << 63 else "<u8"
