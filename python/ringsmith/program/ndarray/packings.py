"""How clients pack input arrays: the cheapest of some ways for the whole program.

The first recording packs an input with its last axis in the low bits; one of many ciphertexts, of
records mostly, with its first axis. Operations that move an input's entries note the layout that
would have spared the move, and these are tried, one input after the other; as are the other order
of axes, and a ciphertext for each entry of the first axis. With each of them an input that it meets
is tried in the layout that it wishes then.
"""

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.ndarray.layout import Bit, Layout, bits_for
from ringsmith.program.ndarray.linear import LEVEL, PLAIN_PRODUCT
from ringsmith.program.ndarray.placing import Origin
from ringsmith.program.nodes import Note
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine

_MOST_NODES, _MOST_TRIES = 1 << 14, 24
"""Operations above which few packings are tried, and packings that are tried."""
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
_Record = Callable[[Mapping[str, Layout]], tuple[R, dict[str, Origin]]]


def best(record: _Record[R]) -> R:
    """Returns the recording of the cheapest packing of the inputs.

    Args:
        record: Records with layouts of inputs, by name; without one an input is packed as usual.
    """
    found, origins = record({})
    search = _Search(record, found)
    for name in origins:
        if len(search.found.trace.nodes) > _MOST_NODES:
            break
        for layout in _others(origins[name]):
            wishes = search.tried({**search.chosen, name: layout})
            if wishes is not None:
                origins |= {each: wishes[each] for each in origins if each not in search.chosen}
    for name, cost in search.second.items():
        axes = dict.fromkeys(bit.axis for bit in search.chosen[name].bits if bit.axis >= 0)
        text = (
            f"input {name!r} is packed for its use, axes {', '.join(map(str, axes))} from the "
            f"low bits: the program costs {search.cost:.0f} rotations, and otherwise {cost:.0f}"
        )
        search.found.trace.notes[Note(search.found.source, text)] = None
    return search.found


class _Search(Generic[R]):
    """The cheapest recording until now.

    Attributes:
        found: The recording.
        cost: What it costs.
        chosen: Layouts of the inputs that are not packed as usual.
        second: For each of them the cost before it was chosen.
    """

    def __init__(self, record: "_Record[R]", found: R) -> None:
        self._record, self._tries = record, 0
        self.found, self.cost = found, _cost(found)
        self.chosen: Mapping[str, Layout] = {}
        self.second: dict[str, float] = {}

    def tried(
        self, layouts: Mapping[str, Layout], *, alone: bool = True
    ) -> Mapping[str, Origin] | None:
        """Records with layouts, and takes them if this is the cheapest recording.

        Args:
            layouts: The layouts.
            alone: Whether they change one input, so that others may follow it: an input that meets
                it may be cheaper with a layout that it wishes then.

        Returns:
            The inputs of the recording that was taken; None: none is cheaper.
        """
        if self._tries >= _MOST_TRIES:
            return None
        self._tries += 1
        try:
            other, wishes = self._record(layouts)
        except ProgramError:  # too many ciphertexts, perhaps
            return None
        cost = _cost(other)
        taken: Mapping[str, Origin] | None = None
        if cost < self.cost:
            changed = [each for each in layouts if layouts[each] != self.chosen.get(each)]
            self.second |= dict.fromkeys(changed, self.cost)
            self.found, self.cost, self.chosen, taken = other, cost, layouts, wishes
        if alone and len(other.trace.nodes) <= _MOST_NODES:
            for name, origin in wishes.items():
                if origin.wishes and origin.wishes[0] != origin.layout:
                    both = {**layouts, name: origin.wishes[0]}
                    taken = self.tried(both, alone=False) or taken
        return taken


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
    distinct = dict.fromkeys([*origin.wishes[:5], *orders])
    return [layout for layout in distinct if layout != origin.layout]


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
