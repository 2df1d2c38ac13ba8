"""Layouts by brute force on 16 slots: whatever slots without entries hold, results are right."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import bounded, trace
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op, Slots
from ringsmith.params import ckks_set
from ringsmith.program.arrays import ArrayNode
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ndarray.functions import concatenate, cumsum, stack
from ringsmith.program.ndarray.layout import COPY, GAP, Bit, Layout, bits_for
from ringsmith.program.ndarray.parts import NOTHING, Part
from ringsmith.program.ndarray.placing import Placed, on_the_way, placed, repeating, ways
from ringsmith.program.ndarray.terms import Listed
from ringsmith.program.plain import Space
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine
from ringsmith.program.spans import Span
from ringsmith.program.vector import EncryptedVector

Array = NDArray[Any]
LINE = SourceLine("user.py", 1)
SLOT_BITS = 4
SHAPES = ((), (1,), (3,), (5,), (16,), (20,), (2, 3), (3, 5), (4, 4), (2, 1, 3), (2, 2, 2), (1, 7))


def random_layout(rng: np.random.Generator, shape: tuple[int, ...]) -> Layout:
    """Any layout of a shape: its bits in any order, copies and gaps anywhere between."""
    bits = [Bit(axis, bit) for axis, n in enumerate(shape) for bit in range(bits_for(n))]
    bits = [bits[i] for i in rng.permutation(len(bits))]
    slot = bits[:SLOT_BITS]
    while len(slot) < SLOT_BITS:
        slot.insert(int(rng.integers(0, len(slot) + 1)), COPY if rng.integers(2) else GAP)
    return Layout(shape, (*slot, *bits[SLOT_BITS:]), SLOT_BITS)


class Machine:
    """A trace on 16 slots, and the contents of its inputs."""

    def __init__(self, rng: np.random.Generator, *, exact: bool) -> None:
        self.rng = rng
        row_bits = SLOT_BITS - 1 if exact else SLOT_BITS
        self.trace = Trace(Space(1 << SLOT_BITS, 1 << row_bits, exact))
        self.contents: dict[str, Array] = {}

    def array(self, shape: tuple[int, ...]) -> tuple[EncryptedArray, Array]:
        """A random array in a random layout; other slots hold zeros, a known number or anything."""
        values = self.rng.integers(-4, 5, shape)
        layout = random_layout(self.rng, shape)
        flat = np.concatenate([[0], values.reshape(-1)])
        parts: list[Part] = []
        for row, where in zip(layout.table.reshape(-1, 16), layout.entries, strict=True):
            if not where.any():
                parts.append(NOTHING)
                continue
            kind = self.rng.integers(3)
            others = (np.zeros(16), np.full(16, 7), self.rng.integers(-9, 10, 16))[kind]
            low, high = ((0, 0), (7, 7), (-9, 9))[kind]
            span = Span(np.where(where, -4.0, low), np.where(where, 4.0, high))
            parts.append(self._input(np.where(where, flat[row], others).astype(np.int64), span))
        node = ArrayNode(values.size, lambda: values, shape=shape)
        return EncryptedArray(self.trace, Placed(parts, layout), node), values

    def _input(self, row: Array, span: Span) -> EncryptedVector:
        name = f"x{len(self.contents)}"
        self.contents[name] = row
        index = self.trace.record(TraceNode(Op.INPUT, (), LINE, name=name, span=span))
        return EncryptedVector(self.trace, index)

    def entries(self, x: EncryptedArray) -> Array:
        """The entries that the recorded operations compute, and that all copies equal."""
        values = self._run()
        layout = x.content.layout
        slots = np.stack(
            [
                np.broadcast_to(part if isinstance(part, np.ndarray) else values[part.index], (16,))
                for part in x.content.parts
            ]
        ).reshape(-1)
        copies = slots[layout.addresses.reshape(-1)[:, None] + layout.copies]
        assert (copies == copies[:, :1]).all(), "copies differ"
        for part in x.content.parts:
            if not isinstance(part, np.ndarray):
                span, found = self.trace.span(part.index), values[part.index]
                assert (span.low <= found).all() and (found <= span.high).all()  # noqa: PT018
        return np.asarray(copies[:, 0].reshape(x.shape))

    def _run(self) -> list[Array]:
        space, values = self.trace.space, []
        for node in self.trace.nodes:
            if node.op is Op.INPUT:
                values.append(self.contents[node.name or ""])
                continue
            operands = [values[i] for i in node.operands]
            if node.values is not None:
                operands.append(np.broadcast_to(node.values, (space.slots,)))
            slots = Slots(space.row, node.steps or 0)
            values.append(node.op.record.meaning(operands[0], operands[-1], slots))
        return values


UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": lambda x: -x,
    "plus a number": lambda x: x + 3,
    "times a number": lambda x: x * 2,
    "square": lambda x: x**2,
    "sum": lambda x: x.sum(),
    "sums of the last axis": lambda x: x.sum(axis=-1),
    "sums of the first axis": lambda x: x.sum(axis=0, keepdims=True),
    "transpose": lambda x: x.T,
    "one axis": lambda x: x.reshape(-1),
    "reversed": lambda x: x[::-1],
    "every second": lambda x: x[..., ::2],
    "a new axis": lambda x: x[..., None],
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "from the second": lambda x: x[..., 1:],
    "from the second, repeated": lambda x: x[..., 1:] + x[..., :1],
    "rolled": lambda x: np.roll(x, 1, axis=-1),
    "repeated": lambda x: np.repeat(x, 2, axis=0),
    "plain matrix on the right": lambda x: x @ np.arange(1, 1 + 3 * x.shape[-1]).reshape(-1, 3),
    "two steps": lambda x: (x + 1).sum(axis=0) * 2,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "times": lambda x, y: x * y,
    "matmul": lambda x, y: x @ y,
    "outer": np.outer,
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", UNARY)
def test_operations_of_one_array(rng: np.random.Generator, name: str, exact: bool) -> None:
    for shape in SHAPES:
        machine = Machine(rng, exact=exact)
        x, values = machine.array(shape)
        try:
            expected = UNARY[name](values)
        except (IndexError, ValueError):
            continue
        if not expected.size:
            continue  # an array without entries is refused
        assert np.array_equal(machine.entries(UNARY[name](x)), expected), (shape, x.content.layout)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", BINARY)
def test_operations_of_two_arrays(rng: np.random.Generator, name: str, exact: bool) -> None:
    met = 0
    for first in SHAPES:
        for second in SHAPES:
            if np.prod(first) * np.prod(second) > 100:
                continue
            machine = Machine(rng, exact=exact)
            (x, a), (y, b) = machine.array(first), machine.array(second)
            try:
                expected = BINARY[name](a, b)
            except ValueError:
                continue
            met += 1
            layouts = x.content.layout, y.content.layout
            assert np.array_equal(machine.entries(BINARY[name](x, y)), expected), layouts
    assert met > 5


def test_a_thousand_pairs_of_shapes_broadcast_as_numpy_s(rng: np.random.Generator) -> None:
    for _ in range(1000):
        full = tuple(rng.integers(1, 4, int(rng.integers(0, 5))))
        first, second = (
            tuple(
                int(n) if rng.integers(3) else 1
                for n in full[int(rng.integers(0, len(full) + 1)) :]
            )
            for _ in range(2)
        )
        machine = Machine(rng, exact=False)
        (x, a), (y, b) = machine.array(first), machine.array(second)
        assert np.array_equal(machine.entries(x + y), a + b), (first, second)


def test_joined_arrays_cumulative_sums_and_promises(rng: np.random.Generator) -> None:
    for shape in [(3,), (2, 3), (4, 4)]:
        machine = Machine(rng, exact=False)
        (x, a), (y, b) = machine.array(shape), machine.array(shape)
        assert np.array_equal(
            machine.entries(concatenate([x, y, b], -1)), np.concatenate([a, b, b], -1)
        )
        assert np.array_equal(machine.entries(stack([x, y], 0)), np.stack([a, b]))
        assert np.array_equal(machine.entries(cumsum(x, 0)), np.cumsum(a, 0))
        promised = bounded(x, (-4, 4))
        assert np.array_equal(machine.entries(promised), a)
        for part in promised.content.parts:
            if not isinstance(part, np.ndarray):
                assert machine.trace.span(part.index).magnitude <= 4


@pytest.mark.parametrize("exact", [False, True])
def test_sums_in_parts_are_the_sums(rng: np.random.Generator, exact: bool) -> None:
    folded = 0
    for _ in range(200):
        machine = Machine(rng, exact=exact)
        x, values = machine.array(SHAPES[rng.integers(len(SHAPES))])
        shape = ((2,), (3,), (2, 2), (3, 2), (5,))[rng.integers(5)]
        order = rng.permutation(len(shape)).tolist()
        target = repeating(Layout.dense(shape, SLOT_BITS, order, GAP), [x.content.layout])
        matrix = rng.integers(-2, 3, (int(np.prod(shape)), values.size))
        to, entry = np.nonzero(matrix)
        if not to.size:
            continue
        terms = Listed(to, entry, matrix[to, entry])
        for way in ways([x.content.layout], target, [terms], machine.trace.space):
            content = on_the_way(way, [x.content], machine.trace, LINE)
            folded += way.sums.in_parts
            sums = machine.entries(EncryptedArray(machine.trace, content, x.node))
            assert np.array_equal(sums.reshape(-1), matrix @ values.reshape(-1)), way
    assert folded > 20


def test_rows_that_are_used_one_by_one_lie_in_ciphertexts_of_their_own() -> None:
    program = trace(lambda x: x[0] * x[1] + x[2], "auto", {"x": (3, 100)})
    assert program.packed_inputs["x"].ports == ("x_0", "x_1", "x_2")
    assert not program.key_needs.galois


def test_a_product_with_a_wide_matrix_takes_as_many_plain_products_as_rows(
    rng: np.random.Generator,
) -> None:
    weights = rng.uniform(-1, 1, (4, 256))
    program = trace(lambda x: weights @ x, ckks_set("nano"), {"x": (256,)})
    counts = Counter(node.op for node in program.nodes)
    assert counts[Op.MULTIPLY_PLAIN] <= 4
    assert counts[Op.ROTATE] <= 3 + 6
    x = rng.uniform(-1, 1, 256)
    slots = program.simulate({"x": x})["result"].real
    assert np.allclose(slots[program.packed_outputs["result"].table - 1], weights @ x)


SUMS = ("ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->", "ij,jk->ijk")


@pytest.mark.parametrize("exact", [False, True])
def test_sums_by_names_of_axes_products_and_padding(rng: np.random.Generator, exact: bool) -> None:
    for _ in range(5):
        machine = Machine(rng, exact=exact)
        (x, a), (y, b) = machine.array((2, 3)), machine.array((3, 2))
        for names in SUMS:
            for found in (np.einsum(names, x, y), np.einsum(names, x, b)):
                assert np.array_equal(machine.entries(found), np.einsum(names, a, b)), names
        assert np.array_equal(machine.entries(np.einsum("ij->j", x)), a.sum(axis=0))
        for axis in (0, 1, None):
            expected = np.prod(a, axis=axis, keepdims=True)
            assert np.array_equal(machine.entries(np.prod(x, axis=axis, keepdims=True)), expected)
        around = ((1, 0), (0, 1))
        assert np.array_equal(machine.entries(np.pad(x, around)), np.pad(a, around))
        sevens = np.pad(a, 1, constant_values=7)
        assert np.array_equal(machine.entries(np.pad(x, 1, constant_values=7)), sevens)
    for names in ("ij,jk->iz", "ii,jk->k", "ij->i", "ijk,jk->i", "i.,jk->k"):
        with pytest.raises(ProgramError, match=f"test_ndarray_layouts.py:[0-9]+: einsum '{names}'"):
            np.einsum(names, x, y)
    with pytest.raises(ProgramError, match="pad with mode 'edge'"):
        np.pad(x, 1, mode="edge")


def test_ciphertexts_without_entries_hold_nothing(rng: np.random.Generator) -> None:
    """Three rows in ciphertexts of their own need no fourth, whatever is added to them."""
    machine = Machine(rng, exact=True)
    (x, a), (y, b) = machine.array((3, 1)), machine.array(())
    apart = Layout((3, 1), (GAP,) * SLOT_BITS + (Bit(0, 0), Bit(0, 1)), SLOT_BITS)
    rows = EncryptedArray(
        machine.trace, Placed(placed(x.content, apart, machine.trace, LINE), apart), x.node
    )
    for total in ((rows + y).sum(), ((rows + y) * 2 - y).sum()):
        assert not [
            node
            for node in machine.trace.nodes
            if node.values is not None and not node.values.any()
        ]
        assert total.shape == ()
    assert machine.entries((rows + y).sum()) == (a + b).sum()
    assert isinstance((rows + y).content.parts[3], np.ndarray)
