"""Seed-compressed key-switching keys: the b part and a ten-byte seed of the a part.

A seed is *direct* for a key if every word that it expands to is below its prime, so that no
substitutes are needed: hardware expands direct seeds alone (``docs/reference/arithmetic.md``).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ringsmith._core import expand_key_half, expand_seed_words, seed_word_bits
from ringsmith.errors import InteropError
from ringsmith.objects import (
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKey,
    OnTheFlyKeys,
    Residues,
    keys_by_field,
    keys_by_name,
)
from ringsmith.params import KeyShape

MIN_DIRECT_CHANCE = 2.0**-8
"""The smallest chance of a direct seed at which such seeds are drawn."""


def direct_chance(primes: Sequence[int], n: int, digits: int) -> float:
    """The chance that a random seed is direct for a key.

    Args:
        primes: The primes of the key's limbs.
        n: Ring degree.
        digits: Number of digits.
    """
    words = ((prime, 1 << seed_word_bits(prime)) for prime in primes)
    logarithm = sum(math.log1p((q - power) / power) for q, power in words if q < power)
    return math.exp(digits * n * logarithm)


def seeds_are_direct(primes: Sequence[int], n: int, shape: KeyShape) -> bool:
    """Whether keys of a shape have direct seeds: other ones serve where these are too rare.

    Args:
        primes: All K primes of full keys.
        n: Ring degree.
        shape: The keys' digits and primes.
    """
    own = [primes[i] for i in shape.base]
    return direct_chance(own, n, shape.digits) >= MIN_DIRECT_CHANCE


def is_direct(seed: bytes, limb: int, prime: int, n: int, digits: int) -> bool:
    """Whether all words that a seed expands to in one limb are below its prime.

    Args:
        seed: The seed.
        limb: Which prime of full keys the limb is of.
        prime: That prime.
        n: Ring degree.
        digits: Number of digits.
    """
    return all(
        (expand_seed_words(seed, digit, limb, prime, n) < prime).all() for digit in range(digits)
    )


def draw_seed(draw: Callable[[], bytes], primes: Sequence[int], n: int, shape: KeyShape) -> bytes:
    """Returns a seed for a key: a direct one, unless these are too rare.

    Args:
        draw: Draws seeds, other ones each time.
        primes: All K primes of full keys.
        n: Ring degree.
        shape: The key's digits and primes.
    """
    seed = draw()
    if seeds_are_direct(primes, n, shape):
        while not all(is_direct(seed, i, primes[i], n, shape.digits) for i in shape.base):
            seed = draw()
    return seed


def foreign_digit(key: KeySwitchKey, seed: bytes, limb: int, prime: int) -> int | None:
    """The first digit of a key whose a part is not what a seed expands to; None if all are.

    Args:
        key: The key.
        seed: The seed.
        limb: Which prime of full keys the limb to check is of; the key has it.
        prime: That prime.
    """
    for digit in range(key.digits):
        residues = key.limb(digit, 1, limb)
        if not np.array_equal(residues, expand_key_half(seed, digit, limb, prime, residues.size)):
            return digit
    return None


def shorten_key(key: KeySwitchKey, primes: Sequence[int]) -> tuple[Residues, bytes]:
    """Returns the b part of a key with a seed, (digits, limbs, N), and the seed.

    Args:
        key: The key.
        primes: All K primes of full keys, special primes last.

    Raises:
        InteropError: If the key carries no seed, or its a part is not what the seed expands to.
    """
    if key.seed is None:
        raise InteropError(
            "this key carries no seed: make keys with generate_keys(..., seeded=True), or keep it "
            "whole; the seeds in Microsoft SEAL's files are of another generator, BLAKE2Xb"
        )
    seed = key.seed
    own = key.base[-1] < len(primes)
    if not own or any(foreign_digit(key, seed, i, primes[i]) is not None for i in key.base):
        raise InteropError(
            "half 1 of this key is not what its seed expands to with these primes: keep it whole"
        )
    return np.ascontiguousarray(key.data[:, 0]), key.seed


def on_the_fly_keys(keys: EvaluationKeys, primes: Sequence[int]) -> OnTheFlyKeys:
    """Returns keys that the ``cpu`` device expands on the fly; delete the full keys afterwards.

    Args:
        keys: Keys with seeds.
        primes: All K primes of full keys, special primes last: ``parameters.primes``.

    Raises:
        InteropError: If a key carries no seed, or its a part is not what the seed expands to.
    """
    short = {name: _on_the_fly(key, primes) for name, key in keys_by_name(keys).items()}
    return OnTheFlyKeys(**keys_by_field(short))


def _on_the_fly(key: KeySwitchKey, primes: Sequence[int]) -> OnTheFlyKey:
    half, seed = shorten_key(key, primes)
    return OnTheFlyKey(half, seed, key.base, parameters_id=key.parameters_id, key_tag=key.key_tag)


def expand_keys(keys: OnTheFlyKeys, primes: Sequence[int]) -> EvaluationKeys:
    """Returns the keys with both parts.

    Args:
        keys: The keys expanded on the fly.
        primes: All K primes of full keys, special primes last.

    Raises:
        InteropError: If a b part has another shape.
    """

    def whole(key: OnTheFlyKey) -> KeySwitchKey:
        expanded = expand_key(key.half, key.seed, primes, key.base)
        return replace(expanded, parameters_id=key.parameters_id, key_tag=key.key_tag)

    expanded = {name: whole(key) for name, key in keys_by_name(keys).items()}
    return EvaluationKeys(**keys_by_field(expanded))


def expand_key(
    half: Residues, seed: bytes, primes: Sequence[int], base: Sequence[int] = ()
) -> KeySwitchKey:
    """Returns the key of a b part, (digits, limbs, N), and its seed; see ``expand_keys``.

    Args:
        half: The b part.
        seed: The seed.
        primes: All K primes of full keys, special primes last.
        base: Which of them the limbs are of; empty: all.

    Raises:
        InteropError: If the b part has another shape.
        ParameterError: If the seed has another length.
    """
    base = tuple(base) or tuple(range(len(primes)))
    if half.ndim != 3 or half.shape[1] != len(base) or base[-1] >= len(primes):
        raise InteropError(
            f"half 0 of a key has shape {half.shape}; expected is (digits, {len(base)}, N): one "
            f"limb for each of the primes {list(base)} of {len(primes)}"
        )
    digits, limbs, n = half.shape
    data = np.empty((digits, 2, limbs, n), dtype=np.uint64)
    data[:, 0] = half
    for digit in range(digits):
        for limb, index in enumerate(base):
            data[digit, 1, limb] = expand_key_half(seed, digit, index, primes[index], n)
    return KeySwitchKey(data, seed, base)
