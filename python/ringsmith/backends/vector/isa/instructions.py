"""Instructions of the vector architecture, as its three lists for each cluster have them."""

from dataclasses import dataclass

from ringsmith.backends.vector.isa.instruction_set import ISA
from ringsmith.short_repr import short_repr

FACTOR_STREAMS = ISA.value("factor_streams")
"""Load streams that factors come by."""

X_STREAM = ISA.value("stream_x")
"""The load stream that x comes by, and a transform's source."""

STREAMS = ISA.value("load_streams")
"""Load streams of a cluster."""

BANK_OPERANDS = 2
"""Limbs that a point instruction reads from banks, in addition to x."""

MAX_ENTRIES = ISA.value("max_entries")
"""Limbs of a transform instruction."""


SPILLED = "spill"
"""The kind of limbs that go to memory because their cluster does not hold them."""


@dataclass(frozen=True)
class Slot:
    """A limb's place in the scratchpad: bank, and the limb's number in it."""

    bank: int
    index: int


@dataclass(frozen=True)
class Stream:
    """A load stream's next limb."""

    number: int


@dataclass(frozen=True)
class Constant:
    """A word of the instruction, for all lanes."""

    word: int


@dataclass(frozen=True)
class Same:
    """What x is, at the stage that takes it."""


Source = Slot | Stream | Constant | Same


@dataclass(frozen=True)
class Limb:
    """A limb, or table, in memory.

    Attributes:
        kind: ``input``, ``output``, ``key``, ``table`` or ``spill``.
        name: Of the input, output or key; empty: none.
        index: Which of them: its limb; a key's digit, half and limb, and the element whose inverse
            moves it where there is one; a table's prime and direction; a spilled value's number.
        scaled: Whether its words are residues times the design's factor.
    """

    kind: str
    name: str
    index: tuple[int, ...]
    scaled: bool = False


@dataclass(frozen=True)
class Load:
    """Rows from memory into a stream, or the twiddle memory.

    Attributes:
        limb: What is loaded.
        rows: Its rows.
        stream: Number of the stream; None: the twiddle memory.
        row: First row of the twiddle memory.
        after_store: Cluster, and how many of its stores must have ended before; None: none.
        after_computing: How many instructions of the cluster's ``computing`` must have ended
            before.
    """

    limb: Limb
    rows: int
    stream: int | None
    row: int = 0
    after_store: tuple[int, int] | None = None
    after_computing: int = 0


@dataclass(frozen=True)
class Store:
    """A store stream's next limb to memory.

    Attributes:
        limb: Where it goes.
        rows: Its rows.
        stream: Number of the stream: of the result of a point instruction that it takes.
    """

    limb: Limb
    rows: int
    stream: int


@dataclass(frozen=True)
class Entry:
    """One limb of a transform.

    Attributes:
        prime: Index of its prime.
        table: First row of its table of factors in the twiddle memory.
        source: A slot, or stream ``X_STREAM``.
        target: Where the result goes, and the passes work.
        reduce: Whether words of the source may be up to twice the prime.
    """

    prime: int
    table: int
    source: Slot | Stream
    target: Slot
    reduce: bool


@dataclass(frozen=True)
class Transform:
    """Transforms of several limbs at once, pass by pass."""

    inverse: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Result:
    """One result of a point instruction: x*y/f + z, or x*y/f - z; f is the design's factor.

    Attributes:
        prime: Index of the prime.
        y: The factor of x.
        z: What is added; None: nothing.
        subtract: Whether z is subtracted.
        target: Where it goes in the scratchpad; None: nowhere.
        store: Whether it goes to the result's store stream.
    """

    prime: int
    y: Source
    z: Slot | Constant | Same | None
    subtract: bool
    target: Slot | None
    store: bool = False


@dataclass(frozen=True)
class Point:
    """Pointwise results that share x."""

    x: Slot | Stream
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Automorph:
    """X -> X^element, in NTT form, of a limb modulo a prime."""

    element: int
    prime: int
    source: Slot
    target: Slot


Operation = Transform | Point | Automorph


@dataclass(frozen=True)
class Computing:
    """An instruction of the list ``computing``.

    Attributes:
        operation: What it does.
        gap: Cycles after the instruction before at the earliest.
        tables: How many loads to the twiddle memory must have ended before.
        origin: Number of the HE node that it belongs to; -1: none.
    """

    operation: Operation
    gap: int
    tables: int
    origin: int


@short_repr
@dataclass(frozen=True)
class Program:
    """A cluster's three lists."""

    loads: tuple[Load, ...]
    computing: tuple[Computing, ...]
    stores: tuple[Store, ...]


def sources(operation: Operation) -> list[Slot | Stream]:
    """Limbs that an instruction reads, streams in the order in which it takes them."""
    if isinstance(operation, Transform):
        return [entry.source for entry in operation.entries]
    if isinstance(operation, Automorph):
        return [operation.source]
    parts = [operation.x, *(part for each in operation.results for part in (each.y, each.z))]
    return [part for part in parts if isinstance(part, Slot | Stream)]


def targets(operation: Operation) -> list[Slot]:
    """Limbs that an instruction writes."""
    if isinstance(operation, Transform):
        return [entry.target for entry in operation.entries]
    if isinstance(operation, Automorph):
        return [operation.target]
    return [each.target for each in operation.results if each.target is not None]


def stores(operation: Operation) -> list[int]:
    """Store streams that it hands a limb to."""
    if not isinstance(operation, Point):
        return []
    return [number for number, each in enumerate(operation.results) if each.store]
