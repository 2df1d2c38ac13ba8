"""Primes, roots, BLAKE2 and seed expansion against definitions and other implementations."""

import hashlib
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
import seal
from hypothesis import given, settings
from hypothesis import strategies as st

from ringsmith import _core
from ringsmith.objects import Residues


def test_small_primes_are_those_of_a_sieve() -> None:
    limit = 20_000
    sieve = np.ones(limit, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(limit**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    assert [_core.is_prime(i) for i in range(limit)] == sieve.tolist()


@pytest.mark.parametrize(
    ("value", "prime"),
    [
        (2**61 - 1, True),
        (2**64 - 59, True),  # the largest prime of 64 bits
        (2**64 - 1, False),
        (3215031751, False),  # strong pseudoprime to the bases 2, 3, 5 and 7
        (3825123056546413051, False),  # strong pseudoprime to the nine smallest prime bases
        ((2**31 - 1) ** 2, False),
    ],
)
def test_large_primes_and_pseudoprimes_are_told_apart(value: int, prime: bool) -> None:
    assert _core.is_prime(value) is prime


@pytest.mark.parametrize("n", [2**10, 2**12, 2**13, 2**15])
def test_prime_search_finds_the_primes_of_seal(n: int) -> None:
    for bits in (30, 40, 50, 60):
        theirs = [q.value() for q in seal.CoeffModulus.Create(n, [bits] * 5)]
        assert _core.prime_search(bits, n, 5)[::-1] == theirs


@given(bits=st.integers(20, 61), log_n=st.integers(8, 16))
def test_prime_search_finds_all_ntt_primes_from_the_top(bits: int, log_n: int) -> None:
    n, found = 1 << log_n, []
    try:
        found = _core.prime_search(bits, n, 3)
    except _core.ParameterError as error:
        assert "take more bits or fewer primes" in str(error)  # noqa: PT017 - both ways are right
        return
    candidates = range(((1 << bits) - 1) // (2 * n) * 2 * n + 1, found[-1] - 1, -2 * n)
    assert found == [q for q in candidates if _core.is_prime(q)]
    assert all(q.bit_length() == bits for q in found)


@pytest.mark.parametrize("q", [7681, 12289, 40961])
def test_smallest_root_is_the_smallest_of_all(q: int) -> None:
    n = 256
    roots = [x for x in range(q) if pow(x, n, q) == q - 1]
    assert len(roots) == n
    assert _core.smallest_root(q, n) == roots[0]


def test_smallest_root_refuses_what_is_no_ntt_prime() -> None:
    with pytest.raises(_core.ParameterError, match="is not a prime with q = 1 mod 2N"):
        _core.smallest_root(7681 * 12289, 256)
    with pytest.raises(_core.ParameterError, match="is not a prime with q = 1 mod 2N"):
        _core.smallest_root(7681, 1024)
    with pytest.raises(_core.ParameterError, match="is not a power of two"):
        _core.smallest_root(7681, 300)
    with pytest.raises(_core.ParameterError, match="at most 61 bits"):
        _core.smallest_root(2**64 - 59, 256)


@given(
    scheme=st.integers(1, 3),
    words=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=70),
    plain=st.integers(0, 2**64 - 1),
)
def test_parms_id_is_the_blake2b_of_the_words(scheme: int, words: list[int], plain: int) -> None:
    n, *primes = words
    data = b"".join(word.to_bytes(8, "little") for word in (scheme, n, *primes, plain))
    expected = hashlib.blake2b(data, digest_size=32).digest()
    assert _core.parms_id(scheme, n, primes, plain) == expected


SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]
"""BLAKE2b's message schedule, RFC 7693."""


def blake2b_of_one_block(parameters: bytes, data: bytes) -> bytes:
    """BLAKE2b of at most 128 bytes for any parameter block; hashlib refuses a depth of 0."""
    mask = 2**64 - 1
    initial = [math.isqrt(p << 128) & mask for p in (2, 3, 5, 7, 11, 13, 17, 19)]
    state = [h ^ p for h, p in zip(initial, struct.unpack("<8Q", parameters), strict=True)]
    words = struct.unpack("<16Q", data.ljust(128, b"\0"))
    v = [*state, *initial]
    v[12] ^= len(data)
    v[14] ^= mask
    columns = [(i, 4 + i, 8 + i, 12 + i) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for turn in range(12):
        for step, (a, b, c, d) in enumerate([*columns, *diagonals]):
            for which, (first, second) in enumerate([(32, 24), (16, 63)]):
                word = words[SIGMA[turn % 10][2 * step + which]]
                v[a] = (v[a] + v[b] + word) & mask
                v[d] = rotate_right(v[d] ^ v[a], first)
                v[c] = (v[c] + v[d]) & mask
                v[b] = rotate_right(v[b] ^ v[c], second)
    return struct.pack("<8Q", *(h ^ v[i] ^ v[i + 8] for i, h in enumerate(state)))


def rotate_right(word: int, count: int) -> int:
    """A rotation of 64 bits."""
    return (word >> count | word << (64 - count)) & (2**64 - 1)


def test_the_reference_hash_equals_hashlib(rng: np.random.Generator) -> None:
    data = rng.bytes(100)
    parameters = bytes([64, 0, 1, 1]).ljust(64, b"\0")
    assert blake2b_of_one_block(parameters, data) == hashlib.blake2b(data).digest()


def seal_stream(seed: bytes, blocks: int) -> list[int]:
    """The words of SEAL's generator: 4096 bytes of BLAKE2Xb a block, "BLAKE2X", section 2."""
    stream, length = b"", 4096
    for block in range(blocks):
        counter = block.to_bytes(8, "little")
        root = hashlib.blake2b(counter, key=seed, node_offset=length << 32).digest()
        for offset in range(length // 64):
            leaf = struct.pack("<BBBBIIIBB", 64, 0, 0, 0, 64, offset, length, 0, 64)
            stream += blake2b_of_one_block(leaf.ljust(64, b"\0"), root)
    return np.frombuffer(stream, dtype="<u8").tolist()


def rejecting_prime(n: int) -> int:
    """An NTT prime just above 2^64 / 9: the short range is almost q, a ninth of all words."""
    q = 2**64 // 9 // (2 * n) * 2 * n + 1
    while not _core.is_prime(q):
        q += 2 * n
    return q


def test_seed_expansion_follows_seals_rule_where_words_are_rejected(
    rng: np.random.Generator,
) -> None:
    n, seed = 256, rng.bytes(64)
    primes = [*_core.prime_search(20, n, 1), rejecting_prime(n), *_core.prime_search(61, n, 1)]
    words = seal_stream(seed, 4)
    bulk, extra = words[: 3 * n], iter(words[3 * n :])
    expected, rejected = [], 0
    for index, first in enumerate(bulk):
        q, word = primes[index // n], first
        while word >= 2**64 - 1 - (2**64 - 1) % q - 1:
            word = next(extra)
            rejected += 1
        expected.append(word % q)
    assert rejected > 0
    assert _core.expand_seed(seed, n, primes).reshape(-1).tolist() == expected


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(_core.ParameterError, match="a seed has 64 bytes, this one has 63"):
        _core.expand_seed(bytes(63), 256, _core.prime_search(30, 256, 1))


# ---- The negacyclic NTT against its definition and against schoolbook multiplication -------------


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
