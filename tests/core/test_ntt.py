"""The negacyclic NTT against its definition and against schoolbook multiplication."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringsmith import _core
from ringsmith.objects import Residues

DEGREES = [2**k for k in range(8, 17)]
WIDTHS = [20, 32, 42, 60, 61]


def prime_and_root(n: int, bits: int) -> tuple[int, int]:
    """The largest prime of that size, with its smallest root."""
    [q] = _core.prime_search(bits, n, 1)
    return q, _core.smallest_root(q, n)


def schoolbook(a: list[int], b: list[int], q: int) -> list[int]:
    """A * b mod (x^N + 1, q)."""
    n = len(a)
    product = [0] * (2 * n)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] += x * y
    return [(product[i] - product[n + i]) % q for i in range(n)]


@pytest.mark.parametrize("bits", WIDTHS)
def test_output_is_the_value_at_odd_powers_in_bit_reversed_order(
    bits: int, rng: np.random.Generator
) -> None:
    n = 256
    q, root = prime_and_root(n, bits)
    a = rng.integers(0, q, n, dtype=np.uint64)
    out = _core.ntt_forward(a, q, root)
    for i in range(n):
        point = pow(root, 2 * int(f"{i:08b}"[::-1], 2) + 1, q)
        value = 0
        for coefficient in reversed(a.tolist()):
            value = (value * point + coefficient) % q
        assert int(out[i]) == value


@pytest.mark.parametrize("n", DEGREES)
@pytest.mark.parametrize("bits", WIDTHS)
def test_inverse_undoes_forward(
    n: int, bits: int, random_residues: Callable[..., Residues]
) -> None:
    try:
        q, root = prime_and_root(n, bits)
    except _core.ParameterError:
        assert bits == 20  # too few numbers of 20 bits are 1 mod 2N for the largest N
        return
    a = random_residues(n, [q], 2)
    out = _core.ntt_forward(a, q, root)
    assert out.max() < q
    assert np.array_equal(_core.ntt_inverse(out, q, root), a)
    assert np.array_equal(_core.ntt_forward(_core.ntt_inverse(a, q, root), q, root), a)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("value", ["zero", "one", "top"])
def test_edges_transform_exactly(bits: int, value: str) -> None:
    """A constant c has the value c everywhere; c at every coefficient is checked by its inverse."""
    n = 1024
    q, root = prime_and_root(n, bits)
    word = {"zero": 0, "one": 1, "top": q - 1}[value]
    constant = np.zeros(n, dtype=np.uint64)
    constant[0] = word
    everywhere = np.full(n, word, dtype=np.uint64)
    assert np.array_equal(_core.ntt_forward(constant, q, root), everywhere)
    assert np.array_equal(_core.ntt_inverse(everywhere, q, root), constant)
    assert np.array_equal(
        _core.ntt_inverse(_core.ntt_forward(everywhere, q, root), q, root), everywhere
    )


@pytest.mark.parametrize("bits", WIDTHS)
def test_pointwise_product_is_the_ring_product(bits: int, rng: np.random.Generator) -> None:
    n = 256
    q, root = prime_and_root(n, bits)
    a, b = (rng.integers(0, q, n, dtype=np.uint64) for _ in range(2))
    a[:4] = [0, 1, q - 1, q - 1]
    products = [
        x * y % q
        for x, y in zip(
            _core.ntt_forward(a, q, root).tolist(),
            _core.ntt_forward(b, q, root).tolist(),
            strict=True,
        )
    ]
    result = _core.ntt_inverse(np.array(products, dtype=np.uint64), q, root)
    assert result.tolist() == schoolbook(a.tolist(), b.tolist(), q)


@settings(max_examples=30)
@given(st.data())
def test_transform_is_linear(data: st.DataObject) -> None:
    n = 256
    q, root = prime_and_root(n, data.draw(st.sampled_from(WIDTHS)))
    seed = data.draw(st.integers(0, 2**32))
    factor = data.draw(st.integers(0, q - 1))
    a, b = np.random.default_rng(seed).integers(0, q, (2, n), dtype=np.uint64)
    combined = [(x + factor * y) % q for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    x, y = (_core.ntt_forward(v, q, root).tolist() for v in (a, b))
    expected = [(u + factor * v) % q for u, v in zip(x, y, strict=True)]
    assert _core.ntt_forward(np.array(combined, dtype=np.uint64), q, root).tolist() == expected


def test_any_primitive_root_is_accepted_and_no_other(rng: np.random.Generator) -> None:
    n = 256
    q, root = prime_and_root(n, 42)
    other = pow(root, 5, q)
    a = rng.integers(0, q, n, dtype=np.uint64)
    assert np.array_equal(_core.ntt_inverse(_core.ntt_forward(a, q, other), q, other), a)
    for wrong in (0, 1, q - 1, pow(root, 2, q), root + q):
        with pytest.raises(_core.ParameterError, match="is not a primitive 2N-th root"):
            _core.ntt_forward(a, q, wrong)


def test_bad_arrays_are_refused() -> None:
    n = 256
    q, root = prime_and_root(n, 42)
    with pytest.raises(_core.ParameterError, match="at position 7 of limb 0"):
        _core.ntt_forward(np.where(np.arange(n) == 7, q, 0).astype(np.uint64), q, root)
    with pytest.raises(_core.ParameterError, match="is not a power of two between"):
        _core.ntt_forward(np.zeros(300, dtype=np.uint64), q, root)
    with pytest.raises(_core.ParameterError, match="is not a power of two between"):
        _core.ntt_forward(np.zeros(128, dtype=np.uint64), q, root)
    with pytest.raises(TypeError, match="C-contiguous numpy array of uint64"):
        _core.ntt_forward(np.zeros(n, dtype=np.int64), q, root)
    with pytest.raises(TypeError, match="C-contiguous numpy array of uint64"):
        _core.ntt_forward(np.zeros((2 * n,), dtype=np.uint64)[::2], q, root)
