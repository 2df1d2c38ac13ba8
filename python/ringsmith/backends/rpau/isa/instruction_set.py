"""The RPAU instruction set, read from ``isa.yaml`` and checked.

``isa.yaml`` alone defines opcodes, fields, units and meanings. This module turns it
into frozen records; the assembler, the generators, the timeline and the random-program generator
are written against the records and name no instruction themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from itertools import combinations
from types import MappingProxyType
from typing import Any

import yaml

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import INSTRUCTION_CYCLES
from ringsmith.backends.rpau.isa.kinds import (
    CONVERSION,
    GALOIS_ELEMENT,
    KINDS,
    RPAU,
    SEED,
    SUB_POLY,
)
from ringsmith.caching import cached
from ringsmith.errors import ProgramError
from ringsmith.hdl.generated import IsaError, check_keys

CONTROL = "control"
"""The unit of instructions that the program controller carries out itself."""


_REQUIRED = {"name", "opcode", "unit", "operands", "latency", "doc"}
_MAY = {"distinct", "needs", "computes", "equivalent", "everyone"}
TIMES = ("b", "b_key", "seed", "k1")
ADDENDS = ("dst", "b", "k2")
"""Operands that a pointwise instruction may multiply by, and add."""
_OPTIONAL = {"access", "where", "words", "default", "reads_back"}  # of an operand


DYADIC = "dyadic"
"""The unit of the dyadic cores, which a design may lack."""

LINK = "link"
"""The unit that sends without arithmetic, which a design may lack."""

COEFFICIENT = "coefficient"
"""The unit that takes polynomials word by word, which a design may lack."""


def has_unit(design: RpauDesign, unit: str) -> bool:
    """Whether the RPAUs of a design have a unit."""
    has = {
        DYADIC: design.dyadic_cores > 0,
        LINK: design.link,
        COEFFICIENT: design.converters > 0,
    }
    return has.get(unit, True)


SOURCES = "sources"
"""Where an operand is accessed that RPAUs ``first`` to ``last`` convert."""

WHERE = ("all", "source", "others", SOURCES)
"""In which RPAUs of the mask an operand is accessed: see ``isa.yaml``."""


@dataclass(frozen=True)
class Field:
    """Bits ``lsb`` to ``lsb + width - 1`` of an instruction word."""

    name: str
    lsb: int
    width: int
    kind: str | None
    doc: str

    @property
    def bits(self) -> int:
        """Word with a one in every bit of the field."""
        return ((1 << self.width) - 1) << self.lsb

    def extract(self, word: int) -> int:
        """The field's value in ``word``."""
        return (word & self.bits) >> self.lsb


@dataclass(frozen=True)
class Operand:
    """One operand of an operation: its field, how it is accessed, and in which RPAUs.

    ``any_words``: the polynomial may hold words of any prime, not only the modulus bank's residues,
    before the operation where it is read, and after it where it is written.
    ``default``: the value where it is left out, or None. ``reads_back``: it is read once written.
    """

    field: Field
    access: str
    where: str
    any_words: bool = False
    default: int | None = None
    reads_back: bool = False

    @property
    def name(self) -> str:
        """Name of the field."""
        return self.field.name

    @property
    def kind(self) -> str:
        """Key of :data:`KINDS`."""
        assert self.field.kind is not None
        return self.field.kind

    @property
    def reads(self) -> bool:
        """Whether the polynomial's old contents matter."""
        return "r" in self.access

    @property
    def writes(self) -> bool:
        """Whether the polynomial is overwritten."""
        return "w" in self.access


@dataclass(frozen=True)
class Formula:
    """What a pointwise instruction computes: dst = a * ``times`` + ``addend``.

    Attributes:
        times: The operand that a is multiplied by; empty: by none.
        addend: The operand that is added, or ``dst``; empty: none.
        minus: Whether it is subtracted.
    """

    times: str = ""
    addend: str = ""
    minus: bool = False


@dataclass(frozen=True)
class Operation:
    """One kind of instruction.

    Attributes:
        name: Its name in assembly text.
        opcode: Its number.
        unit: What carries it out.
        operands: In the order of the text.
        distinct: Operands that must name different polynomials.
        latency: A function of ``cost``.
        doc: What it does, in words.
        needs: The design's parameter that must not be 0 for it.
        formula: What it computes, if that is pointwise.
        equivalent: The equivalent operation on the other unit (main or dyadic); empty: none.
        everyone: Whether its mask names every RPAU of the device.
    """

    name: str
    opcode: int
    unit: str
    operands: tuple[Operand, ...]
    distinct: tuple[str, ...]
    latency: str
    doc: str
    needs: str = ""
    formula: Formula | None = None
    equivalent: str = ""
    everyone: bool = False

    def operand(self, name: str) -> Operand | None:
        """The operand of that name, or None."""
        return next((operand for operand in self.operands if operand.name == name), None)

    @cached_property
    def source(self) -> Operand | None:
        """The operand that names the sending RPAU, or None."""
        return next((operand for operand in self.operands if operand.kind == RPAU), None)

    @property
    def computes(self) -> bool:
        """Whether it computes modulo a modulus bank's prime, and so names one."""
        return self.unit not in (CONTROL, LINK) and not self.converts

    @cached_property
    def converts(self) -> bool:
        """Whether it converts residues, modulo primes that were loaded with the conversion."""
        return any(operand.kind == CONVERSION for operand in self.operands)

    @property
    def takes_whole(self) -> bool:
        """Whether it needs polynomials of one sub-polynomial: it permutes words, and names none."""
        kinds = {operand.kind for operand in self.operands}
        return GALOIS_ELEMENT in kinds and SUB_POLY not in kinds

    @property
    def awaits(self) -> bool:
        """Whether it waits for keys that come while the program runs."""
        return self.needs == "key_stream"

    @property
    def seeded(self) -> bool:
        """Whether it expands a seed, for which a design needs a PRNG."""
        return any(operand.kind == SEED for operand in self.operands)


@dataclass(frozen=True)
class Isa:
    """The whole instruction set. Built by :func:`parse_isa`, which checks it."""

    name: str
    version: int
    word_bits: int
    fields: Mapping[str, Field]
    units: Mapping[str, str]
    operations: tuple[Operation, ...]

    @cached_property
    def execution_units(self) -> tuple[str, ...]:
        """The units that an RPAU may have: all but the program controller."""
        return tuple(unit for unit in self.units if unit != CONTROL)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Parameters of a design that some operations need, in the decoder's order."""
        return tuple(dict.fromkeys(each.needs for each in self.operations if each.needs))

    def units_of(self, design: RpauDesign) -> tuple[str, ...]:
        """The units inside an RPAU of a design."""
        return tuple(unit for unit in self.execution_units if has_unit(design, unit))

    def available(self, design: RpauDesign) -> tuple[Operation, ...]:
        """The operations that a design has: those of the units and of all else that it has."""
        return tuple(
            each
            for each in self.operations
            if has_unit(design, each.unit) and (not each.needs or getattr(design, each.needs))
        )

    def operation(self, name: str) -> Operation:
        """The operation of that name.

        Raises:
            ProgramError: If no operation has it.
        """
        if name not in self._by_name:
            raise ProgramError(
                f"there is no instruction {name!r}: choose one of {', '.join(self._by_name)}"
            )
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, Operation]:
        return {each.name: each for each in self.operations}


@dataclass(frozen=True)
class Instruction:
    """One instruction: an operation, the RPAUs that take part, its operands and wait bits.

    Attributes:
        operation: What is done.
        mask: One bit an RPAU.
        values: Operand values, in the order of ``operation.operands``.
        waits: Units that must be idle in every RPAU of the mask, besides the instruction's own.
        prime: The modulus bank that every RPAU of the mask computes with; 0 where none computes.
    """

    operation: Operation
    mask: int
    values: tuple[int, ...]
    waits: frozenset[str] = frozenset()
    prime: int = 0

    def __getitem__(self, name: str) -> int:
        """Value of the operand of that name."""
        for operand, value in zip(self.operation.operands, self.values, strict=True):
            if operand.name == name:
                return value
        raise KeyError(f"{self.operation.name} has no operand {name}")

    def rpaus(self) -> tuple[int, ...]:
        """Indices of the RPAUs in the mask, ascending."""
        return _rpaus(self.mask)

    def accesses(self, rpau: int) -> tuple[tuple[Operand, int], ...]:
        """The (operand, work or key polynomial) pairs that it touches in one RPAU of its mask."""
        return tuple(
            (operand, value)
            for operand, value in zip(self.operation.operands, self.values, strict=True)
            if operand.access and self._takes_part(operand, rpau)
        )

    def waiting_for(self, unit: str) -> "Instruction":
        """The same instruction with the wait bit of ``unit`` set."""
        return replace(self, waits=self.waits | {unit})

    def _takes_part(self, operand: Operand, rpau: int) -> bool:
        if operand.where == SOURCES:
            return self["first"] <= rpau <= self["last"]
        source = self.operation.source
        if operand.where == "all" or source is None:
            return True
        return (self[source.name] == rpau) == (operand.where == "source")


@cached
def _rpaus(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def instruction(
    name: str, mask: int = 0, *, prime: int = 0, waits: Iterable[str] = (), **operands: int
) -> Instruction:
    """Builds an instruction: ``instruction("mul", 0b11, dst=3, a=1, b=2, waits=["dyadic"])``.

    Ranges are checked against a design by :func:`ringsmith.backends.rpau.isa.assembler.check`.

    Raises:
        ProgramError: If there is no such instruction, or the operands or units are not its own.
    """
    operation = ISA.operation(name)
    expected = [operand.name for operand in operation.operands]
    operands = {o.name: o.default for o in operation.operands if o.default is not None} | operands
    if set(expected) != operands.keys():
        raise ProgramError(
            f"{name} takes the operands ({', '.join(expected)}), not ({', '.join(operands)})"
        )
    unknown = sorted(set(waits) - set(ISA.execution_units))
    if unknown:
        raise ProgramError(
            f"{name}: cannot wait for {', '.join(unknown)}: the units are "
            f"{', '.join(ISA.execution_units)}"
        )
    values = tuple(operands[n] for n in expected)
    return Instruction(operation, mask, values, frozenset(waits), prime)


def parse_isa(text: str) -> Isa:
    """Reads and checks an instruction-set file.

    Raises:
        IsaError: If keys are missing or unknown, fields overlap, names or opcodes repeat, or a
            unit, kind, access or operand is not known.
    """
    table: dict[str, Any] = yaml.safe_load(text)
    for name, entry in table["fields"].items():
        check_keys(f"field {name}", entry, {"lsb", "width", "doc"}, {"kind"})
    for entry in table["instructions"]:
        check_keys(f"instruction {entry.get('name')}", entry, _REQUIRED, _MAY)
        for item in entry["operands"]:
            check_keys(f"operand of {entry['name']}", item, {"name"}, _OPTIONAL)
    fields = {
        name: Field(name, entry["lsb"], entry["width"], entry.get("kind"), entry["doc"])
        for name, entry in table["fields"].items()
    }
    operations = tuple(_operation(entry, fields) for entry in table["instructions"])
    isa = Isa(
        name=table["name"],
        version=table["version"],
        word_bits=table["word_bits"],
        fields=MappingProxyType(fields),
        units=MappingProxyType(dict(table["units"])),
        operations=operations,
    )
    _check_fields(isa)
    _check_operations(isa)
    return isa


def _operation(entry: dict[str, Any], fields: Mapping[str, Field]) -> Operation:
    name = entry["name"]
    operands = []
    for item in entry["operands"]:
        if item["name"] not in fields:
            raise IsaError(f"{name}: operand {item['name']!r} is not a field")
        if (words := item.get("words", "residues")) not in ("any", "residues"):
            raise IsaError(f"{name}: operand {item['name']} has words {words!r}: any or residues")
        access, back = item.get("access", ""), item.get("reads_back", False)
        field, default, where = fields[item["name"]], item.get("default"), item.get("where", "all")
        operands.append(Operand(field, access, where, words == "any", default, back))
    return Operation(
        name=name,
        opcode=entry["opcode"],
        unit=entry["unit"],
        operands=tuple(operands),
        distinct=tuple(entry.get("distinct", ())),
        latency=entry["latency"],
        doc=" ".join(entry["doc"].split()),
        needs=entry.get("needs", ""),
        formula=_formula(name, entry["computes"]) if "computes" in entry else None,
        equivalent=entry.get("equivalent", ""),
        everyone=entry.get("everyone", False),
    )


def _formula(name: str, entry: dict[str, str]) -> Formula:
    check_keys(f"computes of {name}", entry, set(), {"times", "plus", "minus"})
    if len(entry.keys() & {"plus", "minus"}) > 1 or not entry:
        raise IsaError(f"{name}: computes has plus or minus, and at least something")
    addend = entry.get("minus", entry.get("plus", ""))
    return Formula(entry.get("times", ""), addend, "minus" in entry)


def common_fields(isa: Isa) -> tuple[Field, ...]:
    """The fields that every instruction has: opcode, wait bits, modulus bank, mask."""
    names = ["opcode", *(f"wait_{unit}" for unit in isa.execution_units), "prime", "mask"]
    missing = [name for name in names if name not in isa.fields]
    if missing:
        raise IsaError(f"fields that every instruction needs are missing: {', '.join(missing)}")
    return tuple(isa.fields[name] for name in names)


def _check_fields(isa: Isa) -> None:
    if CONTROL not in isa.units:
        raise IsaError(f"the unit {CONTROL!r} is missing")
    common = common_fields(isa)
    for field in isa.fields.values():
        if field.width < 1 or field.lsb < 0 or field.lsb + field.width > isa.word_bits:
            raise IsaError(f"field {field.name} does not lie inside the {isa.word_bits}-bit word")
        if field in common:
            if field.kind is not None:
                raise IsaError(f"field {field.name} is no operand and has no kind")
        elif field.kind not in KINDS:
            raise IsaError(
                f"field {field.name}: unknown kind {field.kind!r}; known are {', '.join(KINDS)}"
            )
    for operation in isa.operations:
        used = (*common, *(operand.field for operand in operation.operands))
        for one, other in combinations(used, 2):
            if one.bits & other.bits:
                raise IsaError(f"{operation.name}: fields {one.name} and {other.name} overlap")


def _check_operations(isa: Isa) -> None:
    for attribute in ("name", "opcode"):
        seen: set[object] = set()
        for operation in isa.operations:
            value = getattr(operation, attribute)
            if value in seen:
                raise IsaError(f"{operation.name}: {attribute} {value!r} is used twice")
            seen.add(value)
    for operation in isa.operations:
        if not 0 <= operation.opcode < 1 << isa.fields["opcode"].width:
            raise IsaError(f"{operation.name}: opcode {operation.opcode} does not fit its field")
        if operation.unit not in isa.units:
            raise IsaError(f"{operation.name}: unknown unit {operation.unit!r}")
        _check_operands(operation)
        _check_formula(operation)
        _check_equivalent(isa, operation)


def _check_formula(operation: Operation) -> None:
    formula = operation.formula
    if formula is None:
        return
    for what, operand, allowed in (
        ("times", formula.times, TIMES),
        ("plus or minus", formula.addend, ADDENDS),
    ):
        if operand and (operand not in allowed or operation.operand(operand) is None):
            raise IsaError(
                f"{operation.name}: computes {what} {operand!r}, which is no operand of its or "
                f"none of {', '.join(allowed)}"
            )
    dst = operation.operand("dst")
    if dst is None or (formula.addend == "dst") != dst.reads or operation.operand("a") is None:
        raise IsaError(f"{operation.name}: computes from a to dst, which it reads if it adds to it")


def _check_equivalent(isa: Isa, operation: Operation) -> None:
    if not operation.equivalent:
        return
    equivalent = next((each for each in isa.operations if each.name == operation.equivalent), None)
    if (
        equivalent is None
        or equivalent.unit == operation.unit
        or equivalent.formula != operation.formula
    ):
        raise IsaError(
            f"{operation.name}: its equivalent {operation.equivalent!r} is no instruction "
            "of another unit that "
            "computes the same"
        )


def _check_operands(operation: Operation) -> None:
    for operand in operation.operands:
        if operand.access not in KINDS[operand.kind].access:
            raise IsaError(
                f"{operation.name}: operand {operand.name} of kind {operand.kind} has access "
                f"{operand.access!r}; allowed are {KINDS[operand.kind].access}"
            )
        if operand.where not in WHERE:
            raise IsaError(f"{operation.name}: operand {operand.name}: unknown where")
        if operand.where == SOURCES and not (
            operation.operand("first") and operation.operand("last")
        ):
            raise IsaError(
                f"{operation.name}: operand {operand.name} is for sources, but no operands first "
                "and last name them"
            )
        if operand.where in ("source", "others") and operation.source is None:
            raise IsaError(
                f"{operation.name}: operand {operand.name} is for {operand.where}, but no "
                "operand names the source"
            )
    if any(o.default is not None for o in operation.operands[:-1]):
        raise IsaError(f"{operation.name}: an operand with a default is not the last one")
    for name in operation.distinct:
        if operation.operand(name) is None:
            raise IsaError(f"{operation.name}: distinct names {name!r}, which is no operand")


_FILE = resources.files("ringsmith.backends.rpau.isa") / "isa.yaml"
ISA: Isa = parse_isa(_FILE.read_text(encoding="utf-8"))
"""The instruction set of ``isa.yaml``."""


def latencies(design: RpauDesign, log_degree: int | None = None) -> dict[str, int]:
    """Cycles of every instruction that a design has, by its name.

    Args:
        design: The design point.
        log_degree: log2 of the degree of the ring that a program runs in; None for N's own.

    Raises:
        ParameterError: If the design does not run the ring.
    """
    ring = design.in_ring(log_degree)
    return {each.name: INSTRUCTION_CYCLES[each.latency](ring) for each in ISA.available(design)}


def equivalent_of(operation: Operation, design: RpauDesign) -> Operation | None:
    """What does the same on the other of main and dyadic unit; None if nothing does there."""
    return next((each for each in ISA.available(design) if each.name == operation.equivalent), None)
