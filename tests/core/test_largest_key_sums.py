"""Sums of digits times precomputed keys, as large as fits their words."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core

N = 256


def beyond_near_powers(bits: int, count: int) -> list[int]:
    """Large primes of more than 50 bits of no class of primes little below a power of two."""
    gap = 1 << (bits - 30)
    candidates = range((1 << bits) - gap + 1 - 2 * N, 0, -2 * N)
    return list(islice(filter(_core.is_prime, candidates), count))


MOST_DIGITS = (
    *((30, count) for count in (1, 7, 8, 9, 16, 17)),
    *((48, count) for count in (31, 32)),
    *((50, count) for count in (7, 8)),
    *((bits, count) for bits in (51, 54, 56) for count in (7, 8, 14, 15)),
    *((bits, count) for bits in (57, 58) for count in (8, 14, 15)),
    *((bits, count) for bits in (59, 60) for count in (7, 8)),
)


@pytest.mark.parametrize(
    ("bits", "digits", "near"),
    [
        *((*most, True) for most in MOST_DIGITS),
        *((*most, False) for most in MOST_DIGITS if most[0] > 50),
    ],
)
def test_the_largest_sums_are_canonical(
    bits: int,
    digits: int,
    near: bool,
    random_residues: RandomResidues,
    key_sums: Callable[..., _core.Graph],
) -> None:
    """As many terms as fit the sums, and one more, of the largest words of every form.

    Centred words are largest next to q / 2. Digits that are not canonical are where words are
    random. A division would take a sum that is not, so the sums themselves are compared, too.
    """
    count = digits + 1
    found = _core.prime_search(bits, N, count) if near else beyond_near_powers(bits, count)
    context = _core.Context(N, found, 1, 0)
    primes = np.array(context.primes, dtype=np.uint64)
    half = primes // 2
    constants = (primes - 1, half, half + 1)
    polynomials = [np.repeat(words[:digits, None], N, axis=1) for words in constants]
    polynomials += [random_residues(N, found[:digits]) for _ in range(4)]
    sums = key_sums(context, (0, 1))
    forms = [[-pow(form, -1, q) % q for q in context.primes] for form in (1, 2**32, 2**60)]
    for largest in (*(np.array(words, dtype=np.uint64) for words in forms), half):
        key = np.empty((digits, 2, digits + 1, N), dtype=np.uint64)
        key[:, 0] = largest[:, None]
        key[:, 1] = np.where(np.arange(N) % 3 == 0, largest[:, None], 0)
        precomputed = [_core.PrecomputedKey(context, key, element) for element in (1, 3)]
        for polynomial in polynomials:
            a = np.stack([polynomial, polynomial])
            expected = _core.apply_galois(context, a, 3, key)
            product = np.stack([polynomial, polynomial, polynomial])
            relinearized = _core.relinearize(context, product, key)
            by_key, by_precomputed = (
                sums.run({"x": polynomial}, {"k": k}) for k in (key, precomputed[0])
            )
            assert all(
                np.array_equal(by_precomputed[name], words) for name, words in by_key.items()
            )
            for one in precomputed:
                assert np.array_equal(_core.apply_galois(context, a, 3, one), expected)
                many = _core.apply_galois_many(context, a, [3, 3], [one, key])
                assert all(np.array_equal(words, expected) for words in many)
                assert np.array_equal(_core.relinearize(context, product, one), relinearized)
