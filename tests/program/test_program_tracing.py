"""Tracing: what the operators mean, and what is asked of a trace as a whole."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program import (
    EncryptedVector,
    Op,
    Program,
    inner_product,
    polynomial,
    trace,
)
from ringsmith.schemes.ckks.noise import largest_coefficient

WEIGHTS = np.array([2.0, -3.0, 0.5])

MEANINGS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (lambda x, y: x + y, lambda x, y, w: x + y),
    (lambda x, y: x - y, lambda x, y, w: x - y),
    (lambda x, y: x * y, lambda x, y, w: x * y),
    (lambda x, y: -x + 0 * y, lambda x, y, w: -x),
    (lambda x, y: x + 1.5 - y, lambda x, y, w: x + 1.5 - y),
    (lambda x, y: 1.5 - x * y, lambda x, y, w: 1.5 - x * y),
    (lambda x, y: 2 + x * np.float64(3) + y, lambda x, y, w: 2 + 3 * x + y),
    (lambda x, y: x * WEIGHTS + y, lambda x, y, w: x * w + y),
    (lambda x, y: WEIGHTS * x + y, lambda x, y, w: x * w + y),
    (lambda x, y: WEIGHTS - x * y, lambda x, y, w: w - x * y),
    (lambda x, y: x - list(WEIGHTS) + y, lambda x, y, w: x - w + y),
    (lambda x, y: x / 4 + y / [2], lambda x, y, w: x / 4 + np.where(np.arange(len(y)), 0, y / 2)),
    (lambda x, y: x**2 + y**3, lambda x, y, w: x**2 + y**3),
    (lambda x, y: x.rotate(3) + y.rotate(-5), lambda x, y, w: np.roll(x, -3) + np.roll(y, 5)),
    (lambda x, y: x.rotate(0) + y.rotate(np.int64(1)), lambda x, y, w: x + np.roll(y, -1)),
    (lambda x, y: (x * 1j + y).conjugate(), lambda x, y, w: y - 1j * x),
    (
        lambda x, y: polynomial(x + y, [1, 0, -2, 0.5]),
        lambda x, y, w: 1 - 2 * (s := x + y) ** 2 + s**3 / 2,
    ),
    (lambda x, y: polynomial(x * y, [0, 1]), lambda x, y, w: x * y),
]


@pytest.mark.parametrize("meaning", MEANINGS)
def test_operators_mean_what_numpy_means(
    meaning: tuple[Callable[..., Any], Callable[..., Any]],
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Callable[..., Any],
) -> None:
    function, reference = meaning
    x, y = rng.uniform(-1, 1, (2, small.slots))
    padded = np.concatenate([WEIGHTS, np.zeros(small.slots - 3)])
    expected = reference(x, y, padded)
    program = trace(function, small, ["x", "y"])
    for clear in (program.evaluate({"x": x, "y": y}), program.simulate({"x": x, "y": y})):
        assert np.allclose(clear["result"], expected, rtol=0, atol=1e-12)
    decrypted = run_encrypted(program, {"x": x, "y": y}).decrypted()["result"]
    assert np.abs(decrypted - expected).max() < 1e-5


@pytest.mark.parametrize("stride", [1, 4, 32])
def test_an_inner_product_sums_each_vector_where_it_says(
    stride: int, small: CkksParameters, rng: np.random.Generator
) -> None:
    length, slots = 16, small.slots
    x, weights = rng.uniform(-1, 1, slots), rng.uniform(-1, 1, length)
    blocks = x.reshape(-1, length, stride)
    sums = np.einsum("bls,l->bs", blocks, weights)  # (blocks, stride)

    program = trace(lambda x: inner_product(x, weights, length, stride=stride), small)
    result = program.simulate({"x": x})["result"].reshape(-1, length, stride)
    assert np.allclose(result[:, 0], sums, rtol=0, atol=1e-12)
    assert np.allclose(program.evaluate({"x": x})["result"][:stride], sums[0], rtol=0, atol=1e-12)
    if stride == slots // length:  # the interleaved layout: everywhere at no cost
        assert np.allclose(result, sums[:, None, :], rtol=0, atol=1e-12)

    program = trace(
        lambda x: inner_product(x, weights, length, stride=stride, everywhere=True), small
    )
    result = program.simulate({"x": x})["result"].reshape(-1, length, stride)
    assert np.allclose(result, sums[:, None, :], rtol=0, atol=1e-12)
    lost = small.levels - program.outputs["result"].level
    assert lost == (1 if stride == slots // length else 2)


def test_an_inner_product_of_two_encrypted_vectors(
    small: CkksParameters, rng: np.random.Generator, run_encrypted: Callable[..., Any]
) -> None:
    x, y = rng.uniform(-1, 1, (2, 8))
    program = trace(lambda x, y: inner_product(x, y, 8), small, {"x": 8, "y": 8})
    result = run_encrypted(program, {"x": x, "y": y}).decrypted()["result"]
    assert abs(result[0] - x @ y) < 1e-5


def test_short_weights_are_padded_and_long_ones_are_taken_as_they_are(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    x = rng.uniform(-1, 1, small.slots)
    short = trace(lambda x: inner_product(x, [1, 2, 3], 4), small).evaluate({"x": x})["result"]
    assert short[8] == pytest.approx(x[8] + 2 * x[9] + 3 * x[10])
    long = trace(lambda x: inner_product(x, np.ones(6), 4), small).evaluate({"x": x})["result"]
    assert long[4] == pytest.approx(x[4] + x[5])


def test_a_polynomial_equals_horners_rule(small: CkksParameters, rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, small.slots)
    for degree in range(1, 12):
        c = rng.uniform(-1, 1, degree + 1)
        program = trace(lambda x, c=c: polynomial(x, c), small, ["x"])
        for clear in (program.evaluate({"x": x}), program.simulate({"x": x})):
            assert np.allclose(clear["result"], np.polyval(c[::-1], x), rtol=0, atol=1e-12)


def test_a_polynomial_in_zeros_and_ones_saves_their_multiplications(small: CkksParameters) -> None:
    program = trace(lambda x: polynomial(x, [0, 0, 1, 0]), small)
    assert [node.op for node in program.nodes].count(Op.SQUARE) == 1
    assert not any(node.plain for node in program.nodes)


def test_outputs_are_named_as_the_function_returns_them(small: CkksParameters) -> None:
    assert list(trace(lambda x: x, small).outputs) == ["result"]
    assert list(trace(lambda x: (x, -x), small).outputs) == ["result0", "result1"]
    named = trace(lambda x: {"low": x, "high": x, "twice": x + x}, small)
    assert list(named.outputs) == ["low", "high", "twice"]


def test_the_largest_coefficient_is_that_of_the_encoding(
    small: CkksParameters, context: _core.Context, rng: np.random.Generator
) -> None:
    values = rng.uniform(-1, 1, small.slots) + 1j * rng.uniform(-1, 1, small.slots)
    for vector in (values, values * (np.arange(small.slots) < 3)):
        largest = largest_coefficient(vector)
        for scale, zero in ((0.49 / largest, True), (0.51 / largest, False)):
            assert _core.CkksEncoder(context).encode(vector, scale, 1).any() != zero


def test_constants_of_any_size_that_fits_are_taken(
    small: CkksParameters, run_encrypted: Callable[..., Any]
) -> None:
    for factor, summand in ((2.0**8, 0.0), (1e-9, 2.0**8), (1.0, [2.0**-30]), (1e-9, 2.0**-40)):
        program = trace(lambda x, f=factor, s=summand: x**8 * f + s, small, ["x"])
        result = run_encrypted(program, {"x": np.ones(4)}).decrypted()["result"][:1]
        assert abs(result[0] - factor - np.ravel(summand)[0]) < 1e-3 * max(1, factor)


@pytest.mark.parametrize("bits", [-1, 2000, 1.5, True])
def test_headroom_that_is_no_number_of_bits_is_refused(bits: object, small: CkksParameters) -> None:
    with pytest.raises(ProgramError, match="headroom_bits = "):
        trace(lambda x: x, small, headroom_bits=bits)  # type: ignore[arg-type]


def test_headroom_is_kept_below_the_modulus(small: CkksParameters) -> None:
    # One limb just below 2^50, a scale of 2^40: 8 bits of message and a sign fit, and no more.
    assert trace(lambda x: x**16, small, headroom_bits=8).outputs["result"].limbs == 1
    with pytest.raises(ProgramError, match=r"with 9 bits of message and a sign needs 90\.0 bits"):
        trace(lambda x: x**16, small, headroom_bits=9)


def test_vectors_of_two_traces_do_not_mix(small: CkksParameters) -> None:
    kept: list[EncryptedVector] = []

    def keep(x: EncryptedVector) -> EncryptedVector:
        kept.append(x)
        return x

    trace(keep, small)
    with pytest.raises(ProgramError, match="the operands belong to two traces"):
        trace(lambda x: x + kept[0], small)
    with pytest.raises(ProgramError, match="does not come from its inputs"):
        trace(lambda x: kept[0], small)


@pytest.fixture
def doubled(small: CkksParameters) -> Program:
    """A program of one input of three numbers."""
    return trace(lambda x: x + x, small, {"x": 3})


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "takes the inputs ['x'] and was given []"),
        ({"x": [1], "y": [2]}, "was given ['x', 'y']"),
        ({"x": [1, 2, 3, 4]}, "input 'x' holds 3 numbers and was given 4"),
        ({"x": ["a"]}, "is not numeric"),
    ],
)
def test_evaluate_refuses_inputs_that_do_not_fit(
    inputs: dict[str, Any], words: str, doubled: Program
) -> None:
    with pytest.raises(ProgramError, match=re.escape(words)):
        doubled.evaluate(inputs)


def test_evaluate_pads_with_zeros(doubled: Program) -> None:
    result = doubled.evaluate({"x": [1, 2]})["result"]
    assert result.dtype == np.float64
    assert result[:3].tolist() == [2, 4, 0]
    assert not result[2:].any()
