"""Tracing: what the operators mean, and errors that name the user's line."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program import (
    EncryptedVector,
    InputSpec,
    Op,
    Program,
    inner_product,
    polynomial,
    trace,
)

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
    clear = program.evaluate({"x": x, "y": y})["result"]
    assert np.allclose(clear, expected, rtol=0, atol=1e-12)
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
    result = program.evaluate({"x": x})["result"].reshape(-1, length, stride)
    assert np.allclose(result[:, 0], sums, rtol=0, atol=1e-12)
    if stride == slots // length:  # the interleaved layout: everywhere at no cost
        assert np.allclose(result, sums[:, None, :], rtol=0, atol=1e-12)

    program = trace(
        lambda x: inner_product(x, weights, length, stride=stride, everywhere=True), small
    )
    result = program.evaluate({"x": x})["result"].reshape(-1, length, stride)
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
        result = program.evaluate({"x": x})["result"]
        assert np.allclose(result, np.polyval(c[::-1], x), rtol=0, atol=1e-12)


def test_a_polynomial_in_zeros_and_ones_saves_their_multiplications(small: CkksParameters) -> None:
    program = trace(lambda x: polynomial(x, [0, 0, 1, 0]), small)
    assert [node.op for node in program.nodes].count(Op.SQUARE) == 1
    assert not any(node.plain for node in program.nodes)


def test_outputs_are_named_as_the_function_returns_them(small: CkksParameters) -> None:
    assert list(trace(lambda x: x, small).outputs) == ["result"]
    assert list(trace(lambda x: (x, -x), small).outputs) == ["result0", "result1"]
    named = trace(lambda x: {"low": x, "high": x, "twice": x + x}, small)
    assert list(named.outputs) == ["low", "high", "twice"]


# ---- errors: each function's faulty line carries the mark "# here" ---------------------------


def compares(x: EncryptedVector) -> EncryptedVector:
    return x if x > 0 else -x  # here


def equals(x: EncryptedVector) -> EncryptedVector:
    return x if x == 0 else -x  # here


def branches(x: EncryptedVector) -> EncryptedVector:
    y = x + 1
    if y:  # here
        return x
    return y


def too_deep(x: EncryptedVector) -> EncryptedVector:
    y = x**16
    return y * 3.5  # here


def rotates_too_far(x: EncryptedVector) -> EncryptedVector:
    return x.rotate(512)  # here


def rotates_by_half(x: EncryptedVector) -> EncryptedVector:
    return x.rotate(0.5)  # type: ignore[arg-type]  # here


def too_long(x: EncryptedVector) -> EncryptedVector:
    return x * np.ones(513)  # here


def matrix(x: EncryptedVector) -> EncryptedVector:
    return x + np.ones((2, 2))  # here


def empty(x: EncryptedVector) -> EncryptedVector:
    return np.array([]) + x  # here


def ragged(x: EncryptedVector) -> EncryptedVector:
    return x * [[1], [2, 3]]  # here


def text(x: EncryptedVector) -> EncryptedVector:
    return x * "2"  # here


def nothing(x: EncryptedVector) -> EncryptedVector:
    return x + None  # here


def infinite(x: EncryptedVector) -> EncryptedVector:
    return x - [1, np.inf]  # here


def zero_power(x: EncryptedVector) -> EncryptedVector:
    return x**0  # here


def broken_power(x: EncryptedVector) -> EncryptedVector:
    return x**0.5  # here


def divides_by_zero(x: EncryptedVector) -> EncryptedVector:
    return x / [1, 0]  # here


def divides_by_cipher(x: EncryptedVector) -> EncryptedVector:
    return x / x  # here


def odd_length(x: EncryptedVector) -> EncryptedVector:
    return inner_product(x, [1] * 30, 30)  # here


def long_stride(x: EncryptedVector) -> EncryptedVector:
    return inner_product(x, [1], 64, stride=16)  # here


def constant_polynomial(x: EncryptedVector) -> EncryptedVector:
    return polynomial(x, [1, 0, 0])  # here


def huge_constant(x: EncryptedVector) -> EncryptedVector:
    y = x**8
    return y + 1e30  # here


def overflowing(x: EncryptedVector) -> EncryptedVector:
    return x * 1  # here


def lost_digits(x: EncryptedVector) -> EncryptedVector:
    return x * 0.1  # here


def huge_factor(x: EncryptedVector) -> EncryptedVector:
    y = x**4
    return y * 1e24  # here


def huge_factors(x: EncryptedVector) -> EncryptedVector:
    y = x * 1e4 * 1e4
    y = y * x
    return y * x  # here


def vanishing_factor(x: EncryptedVector) -> EncryptedVector:
    return x * 1e-20  # here


def vanishing_summand(x: EncryptedVector) -> EncryptedVector:
    return x + 1e-20  # here


def vanishing_vector(x: EncryptedVector) -> EncryptedVector:
    return x + np.array([2.0**-37])  # here


ERRORS: list[tuple[Callable[..., Any], InputSpec, str]] = [
    (compares, InputSpec(), "cannot be compared: approximate the comparison by a polynomial"),
    (equals, InputSpec(), "cannot be compared"),
    (branches, InputSpec(), "asks for the truth of an encrypted value"),
    (
        too_deep,
        InputSpec(),
        "out of levels: the program needs at least 5 levels (6 data primes) and parameters "
        "'test-1024' have 4 (5 data primes): add data primes",
    ),
    (rotates_too_far, InputSpec(), "rotation by 512 slots, and there are 512: use -511 … 511"),
    (rotates_by_half, InputSpec(), "rotation by 0.5: use a whole number"),
    (too_long, InputSpec(), "a vector of 513 numbers exceeds the 512 slots"),
    (matrix, InputSpec(), "an array of shape (2, 2) is no vector"),
    (empty, InputSpec(), "an array of shape (0,) is no vector"),
    (ragged, InputSpec(), "is not numeric"),
    (text, InputSpec(), "'2' (str) is not numeric"),
    (nothing, InputSpec(), "None (NoneType) is not numeric"),
    (infinite, InputSpec(), "holds NaN or infinity"),
    (zero_power, InputSpec(), "to the power 0: use a whole number from 1"),
    (broken_power, InputSpec(), "to the power 0.5"),
    (divides_by_zero, InputSpec(), "a divisor is 0"),
    (divides_by_cipher, InputSpec(), "an encrypted vector cannot divide"),
    (odd_length, InputSpec(), "length = 30 is not a power of two in 1 … 512: pad to 32"),
    (long_stride, InputSpec(), "stride = 16 is not a power of two in 1 … 8"),
    (constant_polynomial, InputSpec(), "the polynomial is constant"),
    (huge_constant, InputSpec(), "largest number 1e+30 at scale 2^40.0 needs 140.7 bits"),
    (overflowing, InputSpec(limbs=2, scale=2.0**88), "with 3 bits of message and a sign needs 92"),
    (
        huge_factor,
        InputSpec(),
        "multiply_plain: the plain operand's largest number 1e+24 can make a message of magnitude "
        "1 one of 2^79.7, which at scale 2^80.0 with a sign needs 160.7 bits; the modulus of 3 "
        "limbs has 130.0, room for magnitudes up to 2^49.0: scale the numbers down",
    ),
    (huge_factors, InputSpec(), "the constants before it can make a message of magnitude 1 one"),
    (vanishing_factor, InputSpec(), "largest number 1e-20 at scale 2^40.0 is encoded as zero"),
    (vanishing_summand, InputSpec(), "largest number 1e-20 at scale 2^40.0 is encoded as zero"),
    (vanishing_vector, InputSpec(), "largest number 7.28e-12 at scale 2^40.0 is encoded as zero"),
    (lost_digits, InputSpec(scale=2.0**75), "would be encoded at 2^5.0, below 2^10"),
]


def test_constants_of_any_size_that_fits_are_taken(
    small: CkksParameters, run_encrypted: Callable[..., Any]
) -> None:
    for factor, summand in ((2.0**8, 0.0), (1e-9, 2.0**8), (1.0, [2.0**-30]), (0.0, 2.0**-40)):
        program = trace(lambda x, f=factor, s=summand: x**8 * f + s, small, ["x"])
        result = run_encrypted(program, {"x": np.ones(4)}).decrypted()["result"][:1]
        assert abs(result[0] - factor - np.ravel(summand)[0]) < 1e-3 * max(1, factor)


@pytest.mark.parametrize(("function", "spec", "words"), ERRORS)
def test_an_error_names_the_users_line(
    function: Callable[..., Any], spec: InputSpec, words: str, small: CkksParameters
) -> None:
    lines, first = inspect.getsourcelines(function)
    (offset,) = (i for i, line in enumerate(lines) if "# here" in line)
    with pytest.raises(ProgramError) as refusal:
        trace(function, small, {"x": spec})
    assert words in str(refusal.value)
    assert str(refusal.value).startswith(f"{__file__}:{first + offset}: ") or (
        function is overflowing  # its input is refused, at the line that traces
    )


CALLS: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda x, y: x, ["x", "y"], "input 'y' is used by no output"),
    (lambda x: 3, ["x"], "output 'result' of <lambda> is 3, which does not come from its inputs"),
    (lambda x: None, ["x"], "output 'result' of <lambda> is None"),
    (lambda x: {}, ["x"], "<lambda> returns nothing"),
    (lambda x: {"a b": x}, ["x"], "output 'a b' is not a name"),
    (lambda x: {1: x}, ["x"], "output 1 is not a name"),
    (lambda x: x, ["z"], "<lambda> cannot be called with the inputs ['z']"),
    (lambda x: x, {}, "the program has no inputs"),
    (lambda x: x, {"x": 513}, "length = 513 is not a whole number in 1 … 512"),
    (lambda x: x, {"x": InputSpec(limbs=6)}, "limbs = 6 is not a whole number in 1 … 5"),
    (lambda x: x, {"x": InputSpec(scale=0.0)}, "scale = 0.0 must exceed 1"),
    (lambda **v: v["a b"], {"a b": None}, "input 'a b' is not a name"),
]


@pytest.mark.parametrize(("function", "inputs", "words"), CALLS)
def test_a_call_that_makes_no_program_is_refused(
    function: Callable[..., Any], inputs: object, words: str, small: CkksParameters
) -> None:
    with pytest.raises(ProgramError, match=re.escape(words)) as refusal:
        trace(function, small, inputs)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(f"{__file__}:")


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
