"""Primes, roots, BLAKE2 and seed expansion against definitions and other implementations."""

import hashlib
import math
import struct

import numpy as np
import pytest
import seal
from hypothesis import given
from hypothesis import strategies as st

from ringsmith import _core


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
