"""How clients pack input arrays: the cheapest of some ways for the whole program.

The first recording packs an input with its last axis in the low bits; one of many ciphertexts, of
records mostly, with its first axis. Operations that move an input's entries note the layout that
would have spared the move, and these are tried, one input after the other; as are the other order
of axes, and a ciphertext for each entry of the first axis.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.ndarray.layout import Bit, Layout, bits_for
from ringsmith.program.ndarray.linear import LEVEL, PLAIN_PRODUCT
from ringsmith.program.ndarray.placing import Origin
from ringsmith.program.nodes import Note
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine

_MOST_NODES, _MOST_TRIES = 1 << 14, 24
"""Operations above which one packing is all that is tried, and packings that are tried."""
_MOST_ROWS = 64
"""Entries of the first axis up to which each is tried in a ciphertext of its own."""
_PRODUCT, _INPUT = 3.0, 0.5
"""What a product of two ciphertexts and an input ciphertext cost, in rotations."""


class Recorded(Protocol):
    """What is chosen among: a recording."""

    @property
    def trace(self) -> Trace:
        """Its operations."""

    @property
    def used(self) -> tuple[int, ...]:
        """Those that count."""

    @property
    def depth(self) -> int:
        """The most multiplications that follow one another."""

    @property
    def source(self) -> SourceLine:
        """The user's line."""


R = TypeVar("R", bound=Recorded)


def best(record: Callable[[Mapping[str, Layout]], tuple[R, dict[str, Origin]]]) -> R:
    """Returns the recording of the cheapest packing of the inputs.

    Args:
        record: Records with layouts of inputs, by name; without one an input is packed as usual.
    """
    found, origins = record({})
    chosen: dict[str, Layout] = {}
    cost = _cost(found)
    tries = 0
    for name in origins:
        if len(found.trace.nodes) > _MOST_NODES:
            break
        second = None
        for layout in _others(origins[name]):
            tries += 1
            if tries > _MOST_TRIES:
                break
            try:
                other, wishes = record({**chosen, name: layout})
            except ProgramError:  # too many ciphertexts, perhaps
                continue
            now = _cost(other)
            if now < cost:
                second, cost, found = cost, now, other
                origins |= {each: wishes[each] for each in origins if each not in chosen}
                chosen[name] = layout
        if second is not None:
            axes = dict.fromkeys(bit.axis for bit in chosen[name].bits if bit.axis >= 0)
            text = (
                f"input {name!r} is packed for its use, axes {', '.join(map(str, axes))} from the "
                f"low bits: the program costs {cost:.0f} rotations, and otherwise {second:.0f}"
            )
            found.trace.notes[Note(found.source, text)] = None
    return found


def usual(shape: tuple[int, ...], slot_bits: int) -> Layout:
    """Returns the layout that an input is first tried with."""
    found = Layout.dense(shape, slot_bits)
    return found if found.ciphertexts == 1 else Layout.dense(shape, slot_bits, range(len(shape)))


def _others(origin: Origin) -> list[Layout]:
    """Other layouts of an input: those wished for, both orders of axes, and rows apart."""
    shape, slot_bits = origin.layout.shape, origin.layout.slot_bits
    orders = [Layout.dense(shape, slot_bits, order) for order in ((), range(len(shape)))]
    if len(shape) > 1 and 1 < shape[0] <= _MOST_ROWS:
        one = Layout.dense((1, *shape[1:]), slot_bits)
        if one.ciphertexts == 1:
            row = [Bit(0, bit) for bit in range(bits_for(shape[0]))]
            orders.insert(0, Layout(shape, (*one.bits, *row), slot_bits))
    distinct = dict.fromkeys([*origin.wishes[:4], *orders])
    return [layout for layout in distinct if layout != origin.layout][:6]


def _cost(found: Recorded) -> float:
    """About what a recording costs, in rotations; a level counts as some."""
    total = LEVEL * found.depth
    for index in found.used:
        match found.trace.nodes[index].op:
            case Op.ROTATE | Op.CONJUGATE | Op.SWAP_COLUMNS:
                total += 1
            case Op.MULTIPLY_PLAIN:
                total += PLAIN_PRODUCT
            case Op.MULTIPLY:
                total += _PRODUCT
            case Op.INPUT:
                total += _INPUT
            case _:
                pass
    return total
