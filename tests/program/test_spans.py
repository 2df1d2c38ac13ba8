"""Ranges of slots: every rule against all that can happen, on few slots."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith.graph.operations import Op, Slots
from ringsmith.program.nodes import Bound
from ringsmith.program.plain import Space
from ringsmith.program.recorder import MAX_SPAN_BYTES, Trace, TraceNode
from ringsmith.program.source import SourceLine
from ringsmith.program.spans import Span, of_input, result_span

LINE = SourceLine("here.py", 1)
SLOTS = Slots(8, 3)


def some_span(rng: np.random.Generator, *, complex_numbers: bool) -> Span:
    """Ranges of sixteen slots: of one number, around zero, or anywhere."""

    def ends() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high = np.sort(rng.uniform(-2, 2, (2, 16)), axis=0)
        known = rng.integers(3, size=16) == 0
        zero = rng.integers(4, size=16) == 0
        return np.where(zero, 0, low), np.where(zero, 0, np.where(known, low, high))

    (low, high), (below, above) = ends(), ends()
    return Span(low + 1j * below, high + 1j * above) if complex_numbers else Span(low, high)


def drawn(span: Span, rng: np.random.Generator) -> NDArray[np.complex128]:
    """Numbers within ranges, often at their ends."""
    real = span.low.real + rng.choice([0, 1, rng.random()], 16) * (span.high - span.low).real
    imag = np.imag(span.low) + rng.choice([0, 1, rng.random()], 16) * np.imag(span.high - span.low)
    return np.asarray(real + 1j * imag)


def inside(numbers: NDArray[np.complex128], span: Span) -> bool:
    low, high = (np.broadcast_to(end, (16,)) for end in (span.low, span.high))
    slack = 1e-12
    return bool(
        (numbers.real >= low.real - slack).all()
        and (numbers.real <= high.real + slack).all()
        and (numbers.imag >= np.imag(low) - slack).all()
        and (numbers.imag <= np.imag(high) + slack).all()
        and (np.abs(numbers) <= span.magnitudes + slack).all()
    )


@pytest.mark.parametrize("complex_numbers", [False, True])
@pytest.mark.parametrize(
    "op",
    [Op.ADD, Op.SUB, Op.MULTIPLY, Op.SQUARE, Op.NEGATE, Op.ROTATE, Op.CONJUGATE, Op.SWAP_COLUMNS],
)
def test_results_lie_in_the_range_that_operands_make(
    op: Op, complex_numbers: bool, rng: np.random.Generator
) -> None:
    for same in (False, True):
        for _ in range(50):
            a = some_span(rng, complex_numbers=complex_numbers)
            b = a if same else some_span(rng, complex_numbers=complex_numbers)
            found = result_span(op, [a, b], None, SLOTS, same=same and op.record.encrypted == 2)
            for _ in range(20):
                x = drawn(a, rng)
                y = x if same or op is Op.SQUARE else drawn(b, rng)
                result = x * x if op is Op.SQUARE else op.record.meaning(x, y, SLOTS)
                assert inside(result, found)


@pytest.mark.parametrize("op", [Op.ADD_PLAIN, Op.SUB_PLAIN, Op.MULTIPLY_PLAIN])
def test_plain_operands_make_ranges_too(op: Op, rng: np.random.Generator) -> None:
    for complex_numbers, scalar in itertools.product([False, True], repeat=2):
        for _ in range(20):
            a = some_span(rng, complex_numbers=complex_numbers)
            values = np.asarray(rng.uniform(-1, 1, () if scalar else 16))
            found = result_span(op, [a], values, SLOTS, same=False)
            for _ in range(20):
                x = drawn(a, rng)
                assert inside(op.record.meaning(x, np.broadcast_to(values, 16), SLOTS), found)


def test_slots_that_do_not_depend_on_inputs_are_known_exactly() -> None:
    trace = Trace(Space(16, 16, exact=False))
    x = trace.record(
        TraceNode(
            Op.INPUT, (), LINE, name="x", span=of_input(np.arange(trace.space.slots) < 4, -1, 1)
        )
    )
    y = trace.plain(Op.ADD_PLAIN, x, np.asarray(0.1), LINE)
    z = trace.pair(Op.MULTIPLY, y, y, LINE)
    assert list(trace.span(z).known) == [False] * 4 + [True] * 12
    assert np.all(trace.span(z).low[4:] == 0.1 * 0.1)
    rotated = trace.span(trace.rotate(z, 2, LINE))
    assert list(rotated.known) == [False] * 2 + [True] * 12 + [False] * 2
    mask = (np.arange(16) < 2).astype(float)
    assert not trace.span(trace.plain(Op.MULTIPLY_PLAIN, z, mask, LINE)).high[2:].any()


def test_a_promise_narrows_a_range_and_later_ones() -> None:
    trace = Trace(Space(16, 16, exact=False))
    x = trace.record(
        TraceNode(
            Op.INPUT, (), LINE, name="x", span=of_input(np.arange(trace.space.slots) < 16, -8, 8)
        )
    )
    y = trace.pair(Op.MULTIPLY, x, x, LINE)
    assert trace.span(y).magnitude == 64
    trace.annotate(y, bound=Bound(0, 2, LINE))
    assert trace.span(y).magnitude == 2
    assert trace.span(trace.pair(Op.ADD, y, y, LINE)).magnitude == 4


def test_long_programs_keep_few_ranges() -> None:
    """More operations than fit in memory, asked for from the end and again from the start."""
    trace = Trace(Space(1 << 15, 1 << 15, exact=False))
    x = trace.record(
        TraceNode(
            Op.INPUT, (), LINE, name="x", span=of_input(np.arange(trace.space.slots) < 5, -1, 1)
        )
    )
    chain = [x]
    for _ in range(MAX_SPAN_BYTES // (1 << 19) + 100):
        chain.append(trace.plain(Op.ADD_PLAIN, chain[-1], np.asarray(1.0), LINE))
    for index in (-1, 1, -1):
        expected = len(chain) - 1 if index == -1 else 1
        assert trace.span(chain[index]).low[5] == expected
        assert trace.span(chain[index]).magnitude == expected + 1
