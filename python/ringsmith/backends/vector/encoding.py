"""Instructions, passes and primes as a cluster takes them: ``rtl/vector/rs_vector_pkg.sv``.

A field is a value and its bits; the first one lies highest, as in a packed structure.
"""

from collections.abc import Iterable

from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.instructions import (
    MAX_ENTRIES,
    STREAMS,
    Automorph,
    Computing,
    Constant,
    Entry,
    Operation,
    Point,
    Result,
    Slot,
    Source,
    Stream,
    Transform,
)
from ringsmith.backends.vector.layout import Pass, Shape, forward_passes, inverse_passes
from ringsmith.backends.vector.timing import sources

Field = tuple[int, int]

MAX_PASSES = 8
"""Of a direction; those of inverse transforms come behind them in the passes' memory."""

_BANK, _INDEX, _PRIME, _WORD, _COUNT, _ELEMENT, _RADIX, _TURN = 3, 16, 8, 64, 32, 17, 4, 5
_LAST = 3
_FROM_BANK, _FROM_STREAM, _FROM_WORD, _FROM_X = range(4)
_STRAIGHT, _REVERSE, _BACK = range(3)
_POINTS = 2

_NO_SLOT = ((0, _BANK), (0, _INDEX))


def packed(fields: Iterable[Field]) -> int:
    """Fields as one number.

    Raises:
        OverflowError: If a value does not fit its field.
    """
    number = 0
    for value, bits in fields:
        if not 0 <= value < 1 << bits:
            raise OverflowError(f"{value} is no field of {bits} bits")
        number = number << bits | value
    return number


def width(fields: Iterable[Field]) -> int:
    """Bits of some fields."""
    return sum(bits for _, bits in fields)


def _slot(slot: Slot) -> tuple[Field, ...]:
    return (slot.bank, _BANK), (slot.index, _INDEX)


def _source(source: Source | None) -> tuple[Field, ...]:
    if isinstance(source, Slot):
        return (_FROM_BANK, 2), *_slot(source)
    if isinstance(source, Stream):
        return (_FROM_STREAM, 2), (source.number, _BANK), (0, _INDEX)
    word = source is None or isinstance(source, Constant)
    return (_FROM_WORD if word else _FROM_X, 2), *_NO_SLOT


def _word(source: Source | None) -> Field:
    return source.word if isinstance(source, Constant) else 0, _WORD


def _entry(entry: Entry) -> tuple[Field, ...]:
    places = (*_source(entry.source), *_slot(entry.target))
    return (entry.prime, _PRIME), (entry.table, _INDEX), *places


def _result(result: Result) -> tuple[Field, ...]:
    target = _NO_SLOT if result.target is None else _slot(result.target)
    return (
        (result.prime, _PRIME),
        (int(result.subtract), 1),
        *_source(result.y),
        _word(result.y),
        *_source(result.z),
        _word(result.z),
        (int(result.target is not None), 1),
        *target,
        (int(result.store), 1),
    )


_NO_ENTRY = _entry(Entry(0, 0, Slot(0, 0), Slot(0, 0), False))
_NO_RESULT = _result(Result(0, Constant(0), None, False, None))


def _operation(operation: Operation, design: VectorDesign, primes: tuple[int, ...]) -> list[Field]:
    entries: tuple[Entry, ...] = ()
    point = Point(Slot(0, 0), ())
    element, inverse = 1, False
    if isinstance(operation, Transform):
        entries, inverse = operation.entries, operation.inverse
    elif isinstance(operation, Automorph):
        one = Constant(design.factor(primes[operation.prime]))
        copy = Result(operation.prime, one, None, False, operation.target)
        point, element = Point(operation.source, (copy,)), operation.element
    else:
        point = operation
    fields = [(int(not entries), 1), (int(inverse), 1), (max(0, len(entries) - 1), _LAST)]
    for number in range(MAX_ENTRIES)[::-1]:
        fields += _entry(entries[number]) if number < len(entries) else _NO_ENTRY
    fields += [(element, _ELEMENT), *_source(point.x)]
    for number in range(_POINTS)[::-1]:
        given = number < len(point.results)
        fields += _result(point.results[number]) if given else _NO_RESULT
    return fields


def instruction(own: Computing, design: VectorDesign, primes: tuple[int, ...]) -> list[Field]:
    """An instruction of list ``computing``: structure ``instruction_t``."""
    taken = [0] * STREAMS
    for source in sources(own.operation):
        if isinstance(source, Stream):
            taken[source.number] += 1
    fields = [(own.gap, _COUNT), (own.tables, _COUNT), *((count, 4) for count in taken[::-1])]
    return fields + _operation(own.operation, design, primes)


def _pass(each: Pass, inverse: bool) -> list[Field]:
    arrange = (_BACK if each.rotate else _REVERSE) if inverse else _STRAIGHT
    permute = [(int(each.rotate and not inverse), 1), (each.exchange, _RADIX), (arrange, 2)]
    rows = [(each.turn, _TURN), (each.table, _INDEX), (each.shift, _TURN)]
    return [(each.stages, _RADIX), *permute, *rows]


def passes(shape: Shape) -> dict[int, list[Field]]:
    """The memory of passes in a ring: structures ``pass_t`` by address."""
    both = [(0, forward_passes(shape), False), (MAX_PASSES, inverse_passes(shape), True)]
    return {
        first + number: _pass(each, inverse)
        for first, found, inverse in both
        for number, each in enumerate(found)
    }


def modulus(design: VectorDesign, q: int) -> tuple[int, int, int]:
    """What the memory of primes has of one: q, and mu and shift of Barrett's reduction.

    Of a power of two the shift is its logarithm and mu is 0: the upper part is the quotient.
    """
    bits = (q - 1).bit_length()
    return q, (1 << (design.word_bits + bits)) // q - (1 << design.word_bits), bits
