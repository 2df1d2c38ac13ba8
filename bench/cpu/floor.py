"""The roofline bound of an operation's time: its butterflies or bytes at the machine's peak."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.cpu.sets import EXPANDED, HOISTED, HOISTED_COUNT, PRODUCT, WORDS, BenchSet
from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.caching import cached

WORD = 8
"""Bytes of a residue."""


@dataclass(frozen=True)
class Work:
    """What an operation cannot do without.

    Attributes:
        n: Ring degree.
        transforms: Transforms of one limb, by the bits of its prime.
        size: Bytes of operands, keys and results.
    """

    n: int
    transforms: tuple[tuple[int, float], ...]
    size: int


def floor_seconds(work: Work) -> float:
    """Returns the larger of two times: for the butterflies' multiplications, and for the bytes.

    The multiplications follow each other without a pause; the bytes are read. Both rates are
    measured here, the latter on an array of about that size: what fits a cache is read from it.
    """
    butterflies = work.n // 2 * (work.n.bit_length() - 1)
    multiplications = sum(
        count * butterflies * _multiplications(bits) for bits, count in work.transforms
    )
    return max(
        multiplications / _core.multiplication_lanes() * _multiplication_seconds(),
        work.size / _bandwidth(max(20, work.size.bit_length())),
    )


def _multiplications(bits: int) -> int:
    """Multiplications in a butterfly's product with a constant.

    Of words, by Shoup: a high and two low ones. Of doubles, four: the quotient's, the product's two
    parts and the multiple of the prime. Of 32-bit halves nine: a high product takes three, if its
    lowest part is left out, and a low one three. Or six, modulo a prime little below a power of
    two, as those of all sets are: four for the product and two to reduce it. With AVX2 words of 32
    bits are multiplied by Shoup, low products in twice as many lanes: as much time as two.
    """
    kernel = _core.kernel_name()
    if kernel == "avx2" and bits <= 31:
        return 2
    if kernel == "scalar" or (kernel == "avx512ifma" and bits <= 50):
        return 3
    if bits <= 50:
        return 4
    return 6 if kernel == "avx2" else 9


@cached
def _multiplication_seconds() -> float:
    return min(_core.multiplication_seconds() for _ in range(20))


@cached
def _bandwidth(bits: int) -> float:
    """Bytes a second out of an array of 2^(bits - 1) bytes, at most 1 GiB."""
    words = np.ones((1 << min(bits - 1, 30)) // WORD, dtype=np.uint64)
    _core.read_seconds(words, in_turn=False)
    times = (_core.read_seconds(words, in_turn) for in_turn in (False, True) for _ in range(5))
    return words.nbytes / min(times)


@cached
def _precomputed_bytes(bits: int) -> int:
    """Bytes of a residue in a precomputed key, modulo a prime of these bits."""
    n = 4096
    context = _core.Context(n, _core.prime_search(bits, n, 2))
    key = np.zeros((1, 2, 2, n), dtype=np.uint64)
    return _core.PrecomputedKey(context, key).nbytes // key.size  # what is between limbs is less


def transform_work(n: int, bits: int) -> Work:
    """One transform of one limb in place."""
    return Work(n, ((bits, 1),), WORD * n)


def operation_work(item: BenchSet, operation: str) -> Work:
    """What one operation of a set needs at the highest level; names are those of ``ours``."""
    limbs = len(item.data_bits)
    polynomial = WORD * item.n * limbs
    digits = item.dnum or limbs
    bits = (*item.data_bits, *item.special_bits)
    key = item.n * 2 * digits * sum(map(_precomputed_bytes, bits))
    words = WORD * item.n * 2 * digits * len(bits)
    sizes = {
        "multiply_relinearize": key + 6 * polynomial,
        WORDS: words + 6 * polynomial,
        EXPANDED: words // 2 + 6 * polynomial,
        "rotate": key + 4 * polynomial,
        HOISTED: HOISTED_COUNT * key + (2 + 2 * HOISTED_COUNT) * polynomial,
        PRODUCT: key + 6 * polynomial - 2 * WORD * item.n,
        "rescale": 4 * polynomial - 2 * WORD * item.n,
        "multiply": 7 * polynomial,
        "multiply_plain": 5 * polynomial,
        "add": 6 * polynomial,
    }
    return Work(item.n, tuple(_transforms(item, operation, digits)), sizes[operation])


def _transforms(item: BenchSet, operation: str, digits: int) -> Iterator[tuple[int, float]]:
    """Transforms by bits."""
    ntt_form = not item.plain_modulus
    if operation in ("rescale", PRODUCT):
        yield from ((bits, 2) for bits in item.data_bits)
    products = ("multiply_relinearize", WORDS, EXPANDED, PRODUCT)
    if operation not in (*products, "rotate", HOISTED):
        return
    switches = HOISTED_COUNT if operation == HOISTED else 1
    # In NTT form a limb is taken back once and has no transform in its own digit; ModDown takes one
    # transform a half of every limb, whichever the form.
    yield from ((bits, digits + 2 * switches) for bits in item.data_bits)
    yield from ((bits, digits + 2 * switches) for bits in item.special_bits)
    if operation in products and not ntt_form:
        extension = bfv.behz_extension_primes(
            item.n, item.primes[: len(item.data_bits)], item.plain_modulus
        )
        yield from ((bits, 7) for bits in item.data_bits)  # four polynomials there, three back
        yield from ((q.bit_length(), 7) for q in extension)
