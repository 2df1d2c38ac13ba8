"""How clients pack input arrays: the cheapest of some ways for the whole program.

The first recording packs an input with its last axis in the low bits; one of many ciphertexts, of
records mostly, with its first axis. Operations that move an input's entries note the layout that
would have spared the move, and these are tried, one input after the other; as are the other order
of axes, and a ciphertext for each entry of the first axis. With each of them an input that it meets
is tried in the layout that it wishes then. Costs are those of the device that parameters are chosen
for, or else of the ``cpu`` device.
"""

import math
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program.ndarray.layout import Bit, Layout, bits_for
from ringsmith.program.ndarray.placing import Origin
from ringsmith.program.nodes import Note
from ringsmith.program.recorder import Trace
from ringsmith.program.source import SourceLine

_MOST_NODES, _MOST_TRIES = 1 << 13, 24
"""Operations above which few packings are tried, and packings that are tried."""
_MOST_ROWS = 64
"""Entries of the first axis up to which each is tried in a ciphertext of its own."""


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


def best(record: _Record[R], matters: Callable[[R], bool]) -> R:
    """Returns the recording of the cheapest packing of the inputs.

    Args:
        record: Records with layouts of inputs, by name; without one an input is packed as usual.
        matters: Tells whether another packing may be of use; no other is tried otherwise.
    """
    found, origins = record({})
    if not matters(found):
        return found
    search = _Search(record, found, origins)
    for name in origins:
        if len(search.found.trace.nodes) > _MOST_NODES:
            break
        for layout in _others(origins[name]):
            wishes = search.tried({**search.chosen, name: layout})
            if wishes is not None:
                origins |= {each: wishes[each] for each in origins if each not in search.chosen}
    for name in origins:
        search.note(name)
    return search.found


class _Search(Generic[R]):
    """The cheapest recording until now.

    Attributes:
        found: The recording.
        cost: What it costs.
        chosen: Layouts of the inputs that are not packed as usual.
        origins: The inputs as they are packed usually.
    """

    def __init__(self, record: "_Record[R]", found: R, origins: Mapping[str, Origin]) -> None:
        self._record = record
        self.found, self.cost = found, _cost(found)
        self.chosen: Mapping[str, Layout] = {}
        self._usual = {name: origin.layout for name, origin in origins.items()}
        self._tried: list[tuple[float, Mapping[str, Layout]]] = [(self.cost, {})]

    def note(self, name: str) -> None:
        """Notes how an input is packed, and the second best way, if several were tried."""
        usual_one = self._usual[name]
        chosen = self.chosen.get(name, usual_one)
        tried = ((cost, layouts.get(name, usual_one)) for cost, layouts in self._tried)
        others = [each for each in tried if each[1] != chosen and each[0] < math.inf]
        if others:
            second, other = min(others, key=lambda each: each[0])
            how = "as usual" if chosen == usual_one else "for its use"
            text = (
                f"input {name!r} is packed {how}, from the low bits {chosen.words}: the program "
                f"costs {self.cost:.0f} rotations on {self.found.trace.space.costs.device}, and "
                f"with {other.words} {second:.0f}"
            )
            self.found.trace.notes[Note(self.found.source, text)] = None

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
        if len(self._tried) > _MOST_TRIES or any(layouts == other for _, other in self._tried):
            return None
        try:
            other, wishes = self._record(layouts)
        except ProgramError:  # too many ciphertexts, perhaps
            self._tried.append((math.inf, layouts))
            return None
        cost = _cost(other)
        self._tried.append((cost, layouts))
        taken: Mapping[str, Origin] | None = None
        if cost < self.cost:
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
    """About what a recording costs; a level counts as some rotations."""
    space = found.trace.space
    costs = space.costs
    total = costs.level * found.depth
    rotated: set[int] = set()
    steps: set[int | None] = set()
    for index in found.used:
        node = found.trace.nodes[index]
        match node.op:
            case Op.ROTATE | Op.CONJUGATE | Op.SWAP_COLUMNS:
                again = node.operands[0] in rotated
                total += space.rotation_cost if again else costs.rotation
                rotated.update(node.operands)
                steps.add(node.steps)
            case Op.MULTIPLY_PLAIN:
                total += costs.plain_product
            case Op.MULTIPLY:
                total += costs.product
            case Op.INPUT:
                total += costs.ciphertext
            case _:
                pass
    return total + costs.key * len(steps)
