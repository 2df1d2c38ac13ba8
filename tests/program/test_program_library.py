"""The helper library: sums, matrices, polynomials; many vectors, loops; all against NumPy."""

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters, SecurityWarning
from ringsmith.program import (
    EncryptedVector,
    Op,
    Program,
    inner_product,
    matvec,
    polynomial,
    sum_rotations,
    sum_slots,
    trace,
)

Runner = Callable[..., Any]


@pytest.fixture(scope="module")
def deep() -> CkksParameters:
    """N = 2^10, seven levels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return CkksParameters.create(
            n=1024, prime_bits=(50, *(40,) * 7), special_bits=55, scale_bits=40, security=None
        )


def decrypted(
    program: Program, run_encrypted: Runner, inputs: dict[str, np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    """Returns all slots of ``result``, run on the reference interpreter."""
    values: np.ndarray[Any, Any] = run_encrypted(program, inputs).decrypted()["result"]
    assert np.abs(values - program.simulate(inputs)["result"]).max() < 1e-5
    meant = program.evaluate(inputs)["result"]
    assert meant.shape == (program.output_lengths["result"],)
    assert np.abs(values[: meant.size] - meant).max() < 1e-5
    return values


def rotations(program: Program) -> int:
    """Returns how many rotations a program makes."""
    return Counter(node.op for node in program.nodes)[Op.ROTATE]


def products(program: Program) -> int:
    """Returns how many products of ciphertexts a program makes."""
    counts = Counter(node.op for node in program.nodes)
    return counts[Op.MULTIPLY] + counts[Op.SQUARE]


def test_the_sum_of_all_slots_stands_in_every_slot(
    small: CkksParameters, rng: np.random.Generator, run_encrypted: Runner
) -> None:
    program = trace(lambda x: sum_slots(x), small)
    x = rng.uniform(-1, 1, small.slots)
    assert np.abs(decrypted(program, run_encrypted, {"x": x}) - x.sum()).max() < 1e-4
    assert rotations(program) == math.log2(small.slots)
    assert program.outputs["result"].level == small.levels


@pytest.mark.parametrize(("length", "stride"), [(4, 1), (8, 16), (512, 1), (1, 4)])
def test_sums_of_blocks_stand_where_the_layout_says(
    length: int, stride: int, small: CkksParameters, rng: np.random.Generator, run_encrypted: Runner
) -> None:
    x = rng.uniform(-1, 1, small.slots)
    sums = x.reshape(-1, length, stride).sum(axis=1, keepdims=True)
    program = trace(lambda x: sum_slots(x, length, stride=stride), small)
    first = decrypted(program, run_encrypted, {"x": x}).reshape(-1, length, stride)[:, :1]
    assert np.abs(first - sums).max() < 1e-4
    program = trace(lambda x: sum_slots(x, length, stride=stride, everywhere=True), small)
    every = decrypted(program, run_encrypted, {"x": x}).reshape(-1, length, stride)
    assert np.abs(every - sums).max() < 1e-4


@pytest.mark.parametrize(
    ("count", "step", "expected"),
    [(1, 3, 0), (2, -5, 1), (3, 100, 2), (7, -2, 4), (18, 28, 5), (32, 16, 5), (33, 1, 6)],
)
def test_any_number_of_rotated_terms_is_added_by_few_rotations(
    count: int,
    step: int,
    expected: int,
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Runner,
) -> None:
    program = trace(lambda x: sum_rotations(x, count, step), small)
    x = rng.uniform(-1, 1, small.slots)
    total = np.sum([np.roll(x, -step * j) for j in range(count)], axis=0)
    assert np.abs(decrypted(program, run_encrypted, {"x": x}) - total).max() < 1e-4
    assert rotations(program) == expected


@pytest.mark.parametrize(
    "shape", [(4, 4), (3, 5), (7, 100), (100, 7), (1, 8), (8, 1), (512, 8), (5, 512), (300, 257)]
)
def test_a_matrix_times_a_vector_equals_numpys(
    shape: tuple[int, int], small: CkksParameters, rng: np.random.Generator, run_encrypted: Runner
) -> None:
    weights, x = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape[1])
    program = trace(lambda x: matvec(weights, x), small, {"x": shape[1]})
    assert program.outputs["result"].level == small.levels - 1
    for clear in (program.evaluate({"x": x}), program.simulate({"x": x})):
        assert np.abs(clear["result"][: shape[0]] - weights @ x).max() < 1e-10
    if max(shape) > 100:
        return  # hundreds of keys: the small ones show that ciphertexts do the same
    found = decrypted(program, run_encrypted, {"x": x})
    assert np.abs(found[: shape[0]] - weights @ x).max() < 1e-5


@pytest.mark.parametrize(
    ("shape", "stride"), [((4, 4), 8), ((3, 16), 2), ((12, 5), 16), ((6, 64), 8), ((64, 50), 8)]
)
def test_a_matrix_times_interleaved_vectors_equals_numpys(
    shape: tuple[int, int],
    stride: int,
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Runner,
) -> None:
    """The last two shapes fill all entries: there the product of few rows comes back repeated."""
    weights, x = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, (shape[1], stride))
    inputs = {"x": x.ravel()}
    program = trace(lambda x: matvec(weights, x, stride=stride), small, {"x": x.size})
    found = decrypted(program, run_encrypted, inputs).reshape(-1, stride)
    assert np.abs(found[: shape[0]] - weights @ x).max() < 1e-5
    if shape == (6, 64):
        expected = np.pad(weights @ x, ((0, 2), (0, 0)))
        assert np.abs(found - np.tile(expected, (8, 1))).max() < 1e-5


def test_complex_and_sparse_matrices_skip_their_zero_diagonals(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    weights = np.diag(rng.uniform(1, 2, 16)) + 1j * np.diag(rng.uniform(1, 2, 12), 4)
    x = rng.uniform(-1, 1, 16)
    program = trace(lambda x: matvec(weights, x), small, {"x": 16})
    for clear in (program.evaluate({"x": x}), program.simulate({"x": x})):
        assert np.allclose(clear["result"][:16], weights @ x)
    counts = Counter(node.op for node in program.nodes)
    assert (counts[Op.MULTIPLY_PLAIN], counts[Op.ROTATE]) == (2, 2)


def test_slots_beyond_the_rows_of_a_square_product_are_zero(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    weights = rng.uniform(-1, 1, (16, 16))
    program = trace(lambda x: matvec(weights, x), small, {"x": 16})
    assert not program.simulate({"x": rng.uniform(-1, 1, 16)})["result"][16:].any()
    twice = trace(lambda x: matvec(weights, matvec(weights, x)), small, {"x": 16})
    x = rng.uniform(-1, 1, 16)
    for clear in (twice.evaluate({"x": x}), twice.simulate({"x": x})):
        assert np.allclose(clear["result"][:16], weights @ weights @ x)


@pytest.mark.parametrize(("bits", "most"), [("seal", 2.0), ("shared", 2.2)])
def test_baby_and_giant_steps_take_about_two_square_roots_of_rotations(
    small: CkksParameters,
    rng: np.random.Generator,
    bits: Literal["seal", "shared"],
    most: float,
) -> None:
    for size in (16, 64, 256, 512):
        weights = rng.uniform(-1, 1, (size, size))
        program = trace(lambda x, w=weights: matvec(w, x), small, {"x": size}, rotations=bits)
        repeat = 1 if size < small.slots else 0
        assert rotations(program) - repeat <= most * math.sqrt(size)
        assert len(program.key_needs.galois) <= most * math.sqrt(size) + 1


PRODUCTS = {2: 1, 3: 2, 4: 2, 5: 3, 7: 5, 8: 4, 15: 8, 16: 7, 31: 13, 32: 11, 63: 18, 100: 22}
"""Most products of ciphertexts by degree, at the least depth."""


@pytest.mark.parametrize("degree", PRODUCTS)
def test_a_polynomial_of_high_degree_takes_few_products_and_the_least_depth(
    degree: int, deep: CkksParameters, rng: np.random.Generator
) -> None:
    c = rng.uniform(-1, 1, degree + 1) / degree
    program = trace(lambda x: polynomial(x, c), deep)
    x = rng.uniform(-1, 1, deep.slots)
    expected = np.polynomial.polynomial.polyval(x, c)
    for clear in (program.evaluate({"x": x}), program.simulate({"x": x})):
        assert np.abs(clear["result"] - expected).max() < 1e-12
    assert deep.levels - program.outputs["result"].level == math.ceil(math.log2(degree + 1))
    assert products(program) <= PRODUCTS[degree]


def test_encrypted_polynomials_of_high_degree_equal_horners_rule(
    deep: CkksParameters, rng: np.random.Generator, run_encrypted: Runner
) -> None:
    x = rng.uniform(-1, 1, deep.slots)
    for degree in (9, 16, 27, 63):
        c = rng.uniform(-1, 1, degree + 1) / math.sqrt(degree)
        found = decrypted(trace(lambda x, c=c: polynomial(x, c), deep), run_encrypted, {"x": x})
        assert np.abs(found - np.polynomial.polynomial.polyval(x, c)).max() < 1e-5


def test_odd_and_sparse_polynomials_skip_what_they_do_not_need(
    deep: CkksParameters, rng: np.random.Generator
) -> None:
    odd = np.where(np.arange(16) % 2, rng.uniform(0.1, 1, 16), 0)
    x = rng.uniform(-1, 1, deep.slots)
    program = trace(lambda x: polynomial(x, odd), deep)
    expected = np.polynomial.polynomial.polyval(x, odd)
    for clear in (program.evaluate({"x": x}), program.simulate({"x": x})):
        assert np.allclose(clear["result"], expected)
    assert products(program) <= 8
    lone = trace(lambda x: polynomial(x, [0.5, *[0] * 63, 1]), deep)
    assert (products(lone), lone.outputs["result"].level) == (6, deep.levels - 6)


def test_many_vectors_and_loops_make_one_program(
    small: CkksParameters, rng: np.random.Generator, run_encrypted: Runner
) -> None:
    weights = rng.uniform(-1, 1, (4, 32))

    def network(**vectors: EncryptedVector) -> EncryptedVector:
        total = None
        for row, vector in zip(weights, vectors.values(), strict=True):
            term = inner_product(vector, row, 32)
            total = term if total is None else total + term
        assert total is not None
        for _ in range(2):  # unrolled: two squarings
            total = total * total
        return total

    names = [f"v{i}" for i in range(4)]
    program = trace(network, small, dict.fromkeys(names, 32))
    counts = Counter(node.op for node in program.nodes)
    assert (counts[Op.INPUT], counts[Op.SQUARE]) == (4, 2)
    # Small enough that the fourth power keeps the promise of headroom_bits: within ±2^3.
    inputs = {name: rng.uniform(-0.1, 0.1, 32) for name in names}
    expected = sum(row @ inputs[name] for row, name in zip(weights, names, strict=True)) ** 4
    assert abs(decrypted(program, run_encrypted, inputs)[0] - expected) < 1e-3


NUMPYS: list[Callable[..., Any]] = [
    lambda x, y, w: x.sum(),
    lambda x, y, w: np.sum(x),
    lambda x, y, w: x.mean(),
    lambda x, y, w: np.mean(x + 1),
    lambda x, y, w: x.var(),
    lambda x, y, w: np.var(x - y),
    lambda x, y, w: x.dot(y),
    lambda x, y, w: np.dot(x, w[0]),
    lambda x, y, w: w[1] @ x,
    lambda x, y, w: x @ y,
    lambda x, y, w: w @ (x + y),
    lambda x, y, w: x @ w.T,
    lambda x, y, w: np.dot(w, x),
    lambda x, y, w: x * len(x),
    lambda x, y, w: x * x.sum() - y,
]


@pytest.mark.parametrize("function", NUMPYS)
def test_numpys_sums_and_products_are_taken(
    function: Callable[..., Any],
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Runner,
) -> None:
    numbers = int(rng.integers(2, 20))
    x, y = rng.uniform(-1, 1, (2, numbers))
    weights = rng.uniform(-1, 1, (3, numbers))
    program = trace(
        lambda x, y: function(x, y, weights) + 0 * y.sum(), small, {"x": numbers, "y": numbers}
    )
    expected = np.atleast_1d(function(x, y, weights))
    found = decrypted(program, run_encrypted, {"x": x, "y": y})
    assert program.output_lengths["result"] == expected.size
    assert np.abs(found[: expected.size] - expected).max() < 1e-5


def zero_matrix(x: EncryptedVector) -> EncryptedVector:
    return matvec(np.zeros((2, 2)), x)  # here


def wide_matrix(x: EncryptedVector) -> EncryptedVector:
    return matvec(np.ones((2, 1000)), x)  # here


def wide_interleaved_matrix(x: EncryptedVector) -> EncryptedVector:
    return matvec(np.ones((2, 100)), x, stride=8)  # here


def odd_stride(x: EncryptedVector) -> EncryptedVector:
    return matvec(np.ones((2, 2)), x, stride=6)  # here


def no_matrix(x: EncryptedVector) -> EncryptedVector:
    return matvec([1, 2], x)  # here


def wrong_matrix(x: EncryptedVector) -> EncryptedVector:
    return matvec([["a"]], x)  # here


def no_terms(x: EncryptedVector) -> EncryptedVector:
    return sum_rotations(x, 0)  # here


def wide_step(x: EncryptedVector) -> EncryptedVector:
    return sum_rotations(x, 18, 31)  # here


def odd_sum(x: EncryptedVector) -> EncryptedVector:
    return sum_slots(x, 3)  # here


def wide_stride(x: EncryptedVector) -> EncryptedVector:
    return sum_slots(x, stride=1024)  # here


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (zero_matrix, "the matrix is zero"),
        (wide_matrix, "a matrix of 2 x 1000 exceeds the 512 slots"),
        (wide_interleaved_matrix, "exceeds the 64 entries that a ciphertext has at a stride of 8"),
        (odd_stride, "stride = 6 is not a power of two in 1 … 512: pad to 8"),
        (no_matrix, r"an array of shape (2,) is no matrix"),
        (wrong_matrix, "is not numeric"),
        (no_terms, "count = 0 is not a whole number in 1 … 512"),
        (wide_step, "step = 31 is not a whole number in -30 … 30"),
        (odd_sum, "length = 3 is not a power of two in 1 … 512: pad to 4"),
        (wide_stride, "stride = 1024 is not a power of two in 1 … 512"),
    ],
)
def test_errors_of_the_library_name_the_users_line(
    function: Callable[..., Any], message: str, small: CkksParameters
) -> None:
    lines, start = inspect.getsourcelines(function)
    line = start + next(i for i, text in enumerate(lines) if text.rstrip().endswith("# here"))
    with pytest.raises(ProgramError) as caught:
        trace(function, small)
    assert str(caught.value).startswith(f"{__file__}:{line}: ")
    assert message in str(caught.value)
