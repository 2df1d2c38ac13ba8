"""Keys to and from an ephemeral sparse secret: its weight, the primes of the keys, errors."""

import numpy as np
import pytest

from ringsmith import _core
from ringsmith._core import secret
from ringsmith.errors import ParameterError
from ringsmith.objects import Residues

N = 1024
WEIGHT = 32
SEEDS = (bytes(range(10)), bytes(range(10, 20)))


@pytest.fixture(scope="module")
def context() -> _core.Context:
    """Four data primes in two digits, and three special primes."""
    wide = _core.prime_search(60, N, 3)
    return _core.Context(
        N, [*wide, *_core.prime_search(50, N, 1), *_core.prime_search(61, N, 3)], 3, 2
    )


@pytest.fixture(scope="module")
def key(context: _core.Context) -> Residues:
    return secret.generate_secret_key(context)


def small_part(
    context: _core.Context, b: Residues, a: Residues, s: Residues, prime: int
) -> Residues:
    """The signed coefficients of b + a * s modulo a prime: what a key adds to an error."""
    q, root = context.primes[prime], context.roots[prime]
    product = (a.astype(object) * s.astype(object) + b.astype(object)) % q
    values = _core.ntt_inverse(product.astype(np.uint64), q, root).astype(object)
    return np.where(values > q // 2, values - q, values)


def test_the_ephemeral_secret_is_sparse_and_a_new_one_each_time(
    context: _core.Context, key: Residues
) -> None:
    """B + a * s is -e plus P times the sparse secret, in the limbs of a digit's primes."""
    special = context.primes[4:]
    seen = []
    for _ in range(4):
        _, back = secret.generate_sparse_keys(context, key, weight=WEIGHT, limbs=1, special=1)
        assert back.shape == (2, 2, 7, N)
        q = context.primes[0]
        found = small_part(context, back[0, 0, 0], back[0, 1, 0], key[0], 0)
        factor = int(np.prod(np.array(special, object))) % q
        factor -= q if factor > q // 2 else 0
        shape = {value: np.abs(found - value * factor) <= 21 for value in (-1, 0, 1)}
        assert np.logical_or.reduce([*shape.values()]).all()
        assert shape[-1].sum() + shape[1].sum() == WEIGHT
        assert 0 < shape[1].sum() < WEIGHT  # fails once in 2^31 runs
        seen.append((*np.flatnonzero(shape[1]), -1, *np.flatnonzero(shape[-1])))
        others = small_part(context, back[0, 0, 5], back[0, 1, 5], key[5], 5)
        assert np.abs(others).max() <= 21  # an error alone
    assert len(set(seen)) == 4


def test_places_of_the_sparse_secret_are_uniform(context: _core.Context, key: Residues) -> None:
    counts = np.zeros(N)
    q = context.primes[0]
    factor = int(np.prod(np.array(context.primes[4:], object))) % q
    runs, weight = 24, 256
    for _ in range(runs):
        _, back = secret.generate_sparse_keys(
            context, key, weight=weight, limbs=1, special=1, raised=2
        )
        found = small_part(context, back[0, 0, 0], back[0, 1, 0], key[0], 0)
        counts += (np.abs(found % q) > 21) & (np.abs(found % q - q) > 21)
    assert factor > 21
    quarters = counts.reshape(4, -1).sum(axis=1)
    expected = runs * weight / 4
    assert np.all(np.abs(quarters - expected) < 7 * (expected * 0.75) ** 0.5)


def test_keys_are_over_the_primes_asked_for(context: _core.Context, key: Residues) -> None:
    to, back = secret.generate_sparse_keys(
        context, key, weight=WEIGHT, limbs=1, special=1, raised=2, key_seeds=SEEDS
    )
    assert to.shape == (1, 2, 2, N)
    assert back.shape == (1, 2, 5, N)
    for data, seed, base in ((to, SEEDS[0], (0, 4)), (back, SEEDS[1], (0, 1, 4, 5, 6))):
        for limb, prime in enumerate(base):
            half = _core.expand_key_half(seed, 0, prime, context.primes[prime], N)
            assert np.array_equal(data[0, 1, limb], half)


def test_a_fixed_seed_makes_the_same_keys(context: _core.Context, key: Residues) -> None:
    make = secret.generate_sparse_keys_for_test
    first, second, other = (
        make(context, key, weight=WEIGHT, limbs=1, special=1, seed=seed) for seed in (1, 1, 2)
    )
    assert all(map(np.array_equal, first, second))
    assert not any(map(np.array_equal, first, other))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"special": 2}, "modulo 182 bits: at most 121 are secure"),
        ({"limbs": 2}, "modulo 181 bits: at most 121 are secure"),
        ({"special": 0}, "over 0 special primes, and there are 3: name 1"),
        ({"special": 4}, "over 4 special primes, and there are 3"),
        ({"limbs": 5}, "limbs"),
        ({"raised": 5}, "limbs"),
        ({"weight": 0}, "weight 0 is outside 1 ... 1024"),
        ({"weight": 1025}, "weight 1025 is outside 1 ... 1024"),
    ],
)
def test_what_is_not_secure_or_not_there_is_refused(
    context: _core.Context, key: Residues, given: dict[str, int], message: str
) -> None:
    arguments = {"weight": WEIGHT, "limbs": 1, "special": 1} | given
    with pytest.raises(ParameterError, match=message):
        secret.generate_sparse_keys(context, key, **arguments)
