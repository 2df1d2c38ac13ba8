"""The instruction set of the vector architecture, read from ``isa.yaml`` and checked.

``isa.yaml`` is the only place where structures, fields, widths and limits stand. This module turns
it into frozen records, which pack values into bits and unpack bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from ringsmith.errors import ProgramError
from ringsmith.hdl.generated import IsaError, check_keys

Value = int | Mapping[str, "Value"] | Sequence["Value"]
"""What a field holds: a number, a structure's fields by name, or an array's elements."""

_FIELD = {"name", "doc"}
_MAY = {"width", "index_of", "enum", "structure", "count"}


@dataclass(frozen=True)
class Number:
    """A limit or a width with a name."""

    name: str
    value: int
    doc: str


@dataclass(frozen=True)
class Enum:
    """An enumeration: its values count from 0.

    Attributes:
        name: Its name.
        width: Its bits.
        doc: What it distinguishes.
        values: Name -> meaning, in order.
    """

    name: str
    width: int
    doc: str
    values: Mapping[str, str]

    def number(self, value: str) -> int:
        """The number of a value."""
        return list(self.values).index(value)


@dataclass(frozen=True)
class Field:
    """A field of a structure.

    Attributes:
        name: Its name.
        doc: What it holds.
        element: Bits of it; of an element where it is an array.
        kind: A structure, an enumeration, or None: a number.
        count: Elements of the array; 0: it is not an array.
        spelled: Its width, or the number it is an index of, as the file has it.
        index: Whether ``spelled`` is what it is an index of.
        array: Its count, as the file has it.
    """

    name: str
    doc: str
    element: int
    kind: "Structure | Enum | None"
    count: int
    spelled: str
    index: bool
    array: str

    @property
    def width(self) -> int:
        """All of its bits."""
        return self.element * max(1, self.count)


@dataclass(frozen=True)
class Structure:
    """A packed structure: its first field lies highest.

    Attributes:
        name: Its name.
        doc: What it is.
        fields: Its fields.
        listed: The list of instructions in which it stands; empty: none.
    """

    name: str
    doc: str
    fields: tuple[Field, ...]
    listed: str

    @cached_property
    def width(self) -> int:
        """Its bits."""
        return sum(field.width for field in self.fields)

    def field(self, name: str) -> Field:
        """The field of that name."""
        return next(field for field in self.fields if field.name == name)

    def positions(self) -> Iterator[tuple[Field, int]]:
        """Fields with their lowest bits."""
        low = self.width
        for field in self.fields:
            low -= field.width
            yield field, low

    def pack(self, values: Mapping[str, Value]) -> int:
        """The bits of a structure's values; a field without a value is 0.

        Raises:
            ProgramError: If a value does not fit its field; names both.
        """
        if unknown := values.keys() - {field.name for field in self.fields}:
            raise AssertionError(f"{self.name} has no fields {', '.join(sorted(unknown))}")
        number = 0
        for field in self.fields:
            packed = self._field(field, values[field.name]) if field.name in values else 0
            number = number << field.width | packed
        return number

    def unpack(self, number: int) -> dict[str, Any]:
        """The values of a structure's bits, as ``pack`` takes them."""
        found = {}
        for field, low in self.positions():
            elements = [
                _unpack(field, number >> (low + i * field.element))
                for i in range(max(1, field.count))
            ]
            found[field.name] = elements if field.count else elements[0]
        return found

    def _field(self, field: Field, value: Value) -> int:
        if not field.count:
            return self._element(field, value)
        assert isinstance(value, Sequence)
        if len(value) > field.count:
            raise ProgramError(
                f"{self.name}.{field.name} has {len(value)} elements, and there are at most "
                f"{field.count}: take fewer in one instruction"
            )
        number = 0
        for each in value[::-1]:
            number = number << field.element | self._element(field, each)
        return number

    def _element(self, field: Field, value: Value) -> int:
        if isinstance(field.kind, Structure):
            assert isinstance(value, Mapping)
            return field.kind.pack(value)
        assert isinstance(value, int)
        if not 0 <= value < 1 << field.element:
            raise ProgramError(
                f"{self.name}.{field.name} = {value} is outside 0 … {(1 << field.element) - 1}, "
                f"what its {field.element} bits hold: choose a smaller program or other parameters"
            )
        return value


def _unpack(field: Field, number: int) -> Value:
    number &= (1 << field.element) - 1
    return field.kind.unpack(number) if isinstance(field.kind, Structure) else number


@dataclass(frozen=True)
class Isa:
    """The whole instruction set. Built by :func:`parse_isa`, which checks it."""

    name: str
    version: int
    word_bits: int
    numbers: Mapping[str, Number]
    enums: Mapping[str, Enum]
    structures: Mapping[str, Structure]

    def value(self, name: str) -> int:
        """The value of a number."""
        return self.numbers[name].value

    @property
    def listed(self) -> tuple[Structure, ...]:
        """Structures that stand in lists."""
        return tuple(each for each in self.structures.values() if each.listed)

    def words(self, structure: Structure) -> int:
        """Words that a structure takes in a list."""
        return -(-structure.width // self.word_bits)

    def split(self, structure: Structure, number: int) -> list[int]:
        """A structure's bits as words, the lowest first."""
        mask = (1 << self.word_bits) - 1
        return [number >> self.word_bits * i & mask for i in range(self.words(structure))]

    def join(self, words: Sequence[int]) -> int:
        """The bits of some words, the lowest first."""
        return sum(int(word) << self.word_bits * i for i, word in enumerate(words))


def parse_isa(text: str) -> Isa:
    """Reads and checks an instruction-set file.

    Raises:
        IsaError: If keys are missing or unknown, a name repeats or is not known, or an enumeration
            does not fit its width.
    """
    table: dict[str, Any] = yaml.safe_load(text)
    check_keys(
        "the file", table, {"name", "version", "word_bits", "numbers", "enums", "structures"}
    )
    numbers = {}
    for name, entry in table["numbers"].items():
        check_keys(f"number {name}", entry, {"value", "doc"})
        numbers[name] = Number(name, entry["value"], entry["doc"])
    enums: dict[str, Enum] = {}
    for entry in table["enums"]:
        check_keys(f"enum {entry.get('name')}", entry, {"name", "width", "doc", "values"})
        _check_new(entry["name"], enums)
        enums[entry["name"]] = _enum(entry)
    structures: dict[str, Structure] = {}
    for entry in table["structures"]:
        check_keys(f"structure {entry.get('name')}", entry, {"name", "doc", "fields"}, {"list"})
        _check_new(entry["name"], {**enums, **structures})
        fields = [
            _field(entry["name"], each, numbers, enums, structures) for each in entry["fields"]
        ]
        names: dict[str, Field] = {}
        for field in fields:
            _check_new(f"{entry['name']}.{field.name}", names)
            names[f"{entry['name']}.{field.name}"] = field
        structures[entry["name"]] = Structure(
            entry["name"], entry["doc"], tuple(fields), entry.get("list", "")
        )
    return Isa(
        name=table["name"],
        version=table["version"],
        word_bits=table["word_bits"],
        numbers=MappingProxyType(numbers),
        enums=MappingProxyType(enums),
        structures=MappingProxyType(structures),
    )


def _enum(entry: Mapping[str, Any]) -> Enum:
    values = {each["name"]: each["doc"] for each in entry["values"]}
    if len(values) < len(entry["values"]) or len(values) > 1 << entry["width"]:
        raise IsaError(
            f"enum {entry['name']}: {len(entry['values'])} values do not fit its {entry['width']} "
            "bits, or a name repeats"
        )
    return Enum(entry["name"], entry["width"], entry["doc"], MappingProxyType(values))


def _field(
    owner: str,
    entry: Mapping[str, Any],
    numbers: Mapping[str, Number],
    enums: Mapping[str, Enum],
    structures: Mapping[str, Structure],
) -> Field:
    what = f"field {owner}.{entry.get('name')}"
    check_keys(what, entry, _FIELD, _MAY)
    [*kinds] = entry.keys() & {"width", "index_of", "enum", "structure"}
    if len(kinds) != 1:
        raise IsaError(f"{what}: it takes one of width, index_of, enum and structure")
    [kind] = kinds
    named = entry[kind]
    of: Structure | Enum | None = None
    if kind in ("enum", "structure"):
        known: Mapping[str, Structure | Enum] = enums if kind == "enum" else structures
        if named not in known:
            raise IsaError(f"{what}: there is no {kind} {named!r} before it")
        of = known[named]
        bits = of.width
    else:
        bits = _number(what, named, numbers)
        if kind == "index_of":
            bits = (bits - 1).bit_length()
    array = entry.get("count", 0)
    count = _number(what, array, numbers)
    return Field(
        entry["name"], entry["doc"], bits, of, count, str(named), kind == "index_of", str(array)
    )


def _number(what: str, named: int | str, numbers: Mapping[str, Number]) -> int:
    if isinstance(named, int):
        return named
    if named not in numbers:
        raise IsaError(f"{what}: there is no number {named!r}")
    return numbers[named].value


def _check_new(name: str, names: Mapping[str, object]) -> None:
    if name in names:
        raise IsaError(f"{name!r} is defined twice")


_FILE = resources.files("ringsmith.backends.vector.isa") / "isa.yaml"
ISA: Isa = parse_isa(_FILE.read_text(encoding="utf-8"))
"""The instruction set of ``isa.yaml``."""

ORIGIN, ARRANGE = ISA.enums["origin"], ISA.enums["arrange"]
SLOT, SOURCE, ENTRY = (ISA.structures[name] for name in ("slot", "source", "entry"))
RESULT, OPERATION, PASS = (ISA.structures[name] for name in ("result", "operation", "pass"))
INSTRUCTION, LOAD, STORE = (ISA.structures[name] for name in ("instruction", "load", "store"))
