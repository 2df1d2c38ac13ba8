"""Key generation, encryption and decryption: right, random where it must be, small errors."""

from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest
import seal
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith._core import secret
from ringsmith.objects import Residues

if TYPE_CHECKING:
    from tests.core.conftest import SealOracle

N = 2048
SCALE = 2.0**30


@pytest.fixture(scope="module")
def context() -> _core.Context:
    """Three data primes and one special prime."""
    first, special = _core.prime_search(40, N, 1)[0], _core.prime_search(41, N, 1)[0]
    return _core.Context(N, [first, *_core.prime_search(30, N, 2), special])


@pytest.fixture(scope="module")
def key(context: _core.Context) -> Residues:
    """A secret key."""
    return secret.generate_secret_key(context)


def centred(context: _core.Context, limb: Residues, prime: int = 0) -> np.ndarray:
    """The signed coefficients of one NTT-form limb."""
    q = context.primes[prime]
    residues = _core.ntt_inverse(limb, q, context.roots[prime]).astype(np.int64)
    return np.where(residues > q // 2, residues - q, residues)


def test_a_secret_key_is_uniformly_ternary_and_one_polynomial(context: _core.Context) -> None:
    counts: Counter[int] = Counter()
    for _ in range(10):
        key = secret.generate_secret_key(context)
        small = centred(context, key[0])
        for prime in range(1, 4):
            assert np.array_equal(centred(context, key[prime], prime), small)
        counts.update(small.tolist())
    assert set(counts) == {-1, 0, 1}
    expected, deviation = 10 * N / 3, (10 * N * 2 / 9) ** 0.5
    for count in counts.values():
        assert abs(count - expected) < 6 * deviation  # fails once in 10^8 runs


def test_the_error_is_the_centred_binomial_of_seal(context: _core.Context, key: Residues) -> None:
    errors = []
    for _ in range(20):
        public = secret.generate_public_key(context, key)
        total = _core.add(
            context,
            public[None, 0, :3],
            multiply_by(context, public[1, :3], key[:3])[None],
        )
        errors.append(-centred(context, total[0, 0]))
    error = np.concatenate(errors)
    assert np.abs(error).max() <= 21
    assert abs(error.mean()) < 6 * (10.5 / error.size) ** 0.5
    assert abs(error.var() / 10.5 - 1) < 6 * (2 / error.size) ** 0.5


def multiply_by(context: _core.Context, a: Residues, b: Residues) -> Residues:
    """The product of two polynomials over data primes."""
    return _core.multiply_plain(context, np.ascontiguousarray(a)[None], np.ascontiguousarray(b))[0]


def test_randomness_differs_from_call_to_call_and_repeats_for_a_test_seed(
    context: _core.Context, key: Residues
) -> None:
    plain = _core.CkksEncoder(context).encode([1.0], SCALE, 3)
    public = secret.generate_public_key(context, key)
    make_switching = secret.generate_key_switch_key
    make_switching_for_test = secret.generate_key_switch_key_for_test
    calls: list[tuple[Callable[..., Residues], Callable[..., Residues], tuple[object, ...]]] = [
        (secret.generate_secret_key, secret.generate_secret_key_for_test, ()),
        (secret.generate_public_key, secret.generate_public_key_for_test, (key,)),
        (make_switching, make_switching_for_test, (key, None)),
        (make_switching, make_switching_for_test, (key, 3)),
        (secret.encrypt_symmetric, secret.encrypt_symmetric_for_test, (key, plain)),
        (_core.encrypt, _core.encrypt_for_test, (public, plain)),
    ]
    for draw, repeat, arguments in calls:
        assert not np.array_equal(draw(context, *arguments), draw(context, *arguments))
        once, again = (repeat(context, *arguments, seed=7) for _ in range(2))
        assert np.array_equal(once, again)
        assert not np.array_equal(once, repeat(context, *arguments, seed=8))


CUTS = {
    "one prime a digit": (_core.prime_search(30, N, 4), {}, 0),
    "two primes a digit": (_core.prime_search(30, N, 6), {"special": 2, "dnum": 2}, 0),
    "words": (_core.prime_search(30, N, 4), {}, 13),
    "residue digits": (_core.prime_search(30, N, 3), {"special": 0, "dnum": 3}, 0),
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("element", [None, 3])
@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_a_truncated_key_from_a_seed_is_rows_of_the_full_key(
    cut: str, element: int | None, limbs: int
) -> None:
    primes, shape, word_bits = CUTS[cut]
    context = _core.Context(N, primes, **shape)
    own = secret.generate_secret_key_for_test(context, 1)

    def made(limbs: int) -> Residues:
        arguments = {"word_bits": word_bits, "key_seed": b"ten bytes.", "limbs": limbs, "seed": 2}
        return secret.generate_key_switch_key_for_test(context, own, element, **arguments)

    full, truncated = made(0), made(limbs)
    base = [*range(limbs), *range(context.max_limbs, len(primes))]
    digits = -(-30 * limbs // 13) if word_bits else -(-limbs // (2 if "two" in cut else 1))
    assert truncated.shape == (digits, 2, len(base), N)
    assert np.array_equal(truncated, full[:digits][:, :, base])
    assert np.array_equal(made(context.max_limbs), full)
    with pytest.raises(_core.ParameterError, match=r"limbs are outside 1 \.\.\. "):
        made(context.max_limbs + 1)


@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_decryption_returns_the_message_at_every_level(
    context: _core.Context, key: Residues, limbs: int, rng: np.random.Generator
) -> None:
    values = rng.uniform(-1, 1, N // 2) + 1j * rng.uniform(-1, 1, N // 2)
    scale = 2.0**24
    plain = _core.CkksEncoder(context).encode(values, scale, limbs)
    public = secret.generate_public_key(context, key)
    for cipher in (
        _core.encrypt(context, public, plain),
        secret.encrypt_symmetric(context, key, plain),
    ):
        assert cipher.shape == (2, limbs, N)
        message = secret.decrypt(context, key, cipher)
        noise = centred(context, _core.sub(context, message[None], plain[None])[0, 0])
        assert np.abs(noise).max() < 2**10
        assert np.abs(_core.CkksEncoder(context).decode(message, scale) - values).max() < 2**-10


def test_keys_made_here_relinearize_rotate_and_conjugate(
    context: _core.Context, key: Residues, rng: np.random.Generator
) -> None:
    values = rng.uniform(-1, 1, N // 2) + 1j * rng.uniform(-1, 1, N // 2)
    cipher = secret.encrypt_symmetric(
        context, key, _core.CkksEncoder(context).encode(values, SCALE, 3)
    )

    relin_key = secret.generate_key_switch_key(context, key, None)
    product = _core.relinearize(context, _core.square(context, cipher), relin_key)
    result = secret.decrypt(context, key, _core.rescale(context, product))
    scale = SCALE * SCALE / context.primes[2]
    assert np.abs(_core.CkksEncoder(context).decode(result, scale) - values**2).max() < 1e-3

    for steps in (1, -1, 100):
        element = _core.galois_element(N, steps)
        galois_key = secret.generate_key_switch_key(context, key, element)
        rotated = _core.apply_galois(context, cipher, element, galois_key)
        result = _core.CkksEncoder(context).decode(secret.decrypt(context, key, rotated), SCALE)
        assert np.abs(result - np.roll(values, -steps)).max() < 1e-3

    element = 2 * N - 1
    galois_key = secret.generate_key_switch_key(context, key, element)
    conjugated = _core.apply_galois(context, cipher, element, galois_key)
    result = _core.CkksEncoder(context).decode(secret.decrypt(context, key, conjugated), SCALE)
    assert np.abs(result - values.conj()).max() < 1e-3


# ---- encoder -----------------------------------------------------------------------------------


def test_slots_are_values_at_the_powers_of_three(context: _core.Context) -> None:
    """Slot i of the polynomial x is zeta^(3^i), zeta = exp(i pi / N)."""
    monomial = np.zeros((1, N), dtype=np.uint64)
    monomial[0, 1] = 2**20
    plain = _core.ntt_forward(monomial, context.primes[0], context.roots[0])
    slots = _core.CkksEncoder(context).decode(plain, 2.0**20)
    exponents = np.array([pow(3, i, 2 * N) for i in range(N // 2)])
    assert np.abs(slots - np.exp(1j * np.pi * exponents / N)).max() < 1e-12


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(0, N // 2),
    scale_bits=st.integers(20, 90),
    magnitude=st.floats(0, 4),
)
def test_decode_returns_what_encode_took(
    context: _core.Context, seed: int, count: int, scale_bits: int, magnitude: float
) -> None:
    rng = np.random.default_rng(seed)
    values = magnitude * (rng.uniform(-1, 1, count) + 1j * rng.uniform(-1, 1, count))
    scale = 2.0**scale_bits
    slots = _core.CkksEncoder(context).decode(
        _core.CkksEncoder(context).encode(values, scale, 3), scale
    )
    rounding, floating = N / scale, 1e-12 * max(magnitude, 1)
    assert np.abs(slots[:count] - values).max(initial=0) < rounding + floating
    assert np.abs(slots[count:]).max(initial=0) < rounding + floating


def test_encoding_a_constant_is_exact(context: _core.Context) -> None:
    plain = _core.CkksEncoder(context).encode(np.full(N // 2, -3.0), 2.0**80, 3)
    for limb in range(3):
        q = context.primes[limb]
        coefficients = _core.ntt_inverse(plain[limb], q, context.roots[limb])
        assert coefficients[0] == -3 * 2**80 % q
        assert not coefficients[1:].any()


def test_what_cannot_be_encoded_is_refused(context: _core.Context) -> None:
    for values, scale, limbs, message in [
        (np.ones(N // 2 + 1), SCALE, 3, "1025 values do not fit the 1024 slots"),
        ([np.inf], SCALE, 3, "not a finite number"),
        ([np.nan], SCALE, 3, "not a finite number"),
        ([1.0], 0.0, 3, "scale 0 must be a positive"),
        ([1.0], np.inf, 3, "scale inf must be a positive"),
        (np.ones(N // 2), 2.0**39, 1, "the 1 data primes have only 40: lower the scale"),
        ([1.0], SCALE, 4, "4 limbs are outside 1 ... 3"),
        ([1.0], SCALE, 0, "0 limbs are outside 1 ... 3"),
    ]:
        with pytest.raises(_core.ParameterError, match=message):
            _core.CkksEncoder(context).encode(values, scale, limbs)
    fits = _core.CkksEncoder(context).encode(np.ones(N // 2), 2.0**38, 1)
    assert np.abs(_core.CkksEncoder(context).decode(fits, 2.0**38) - 1).max() < 1e-9


def test_encoding_differs_from_seals_by_at_most_one_rounding(
    small_oracle: "SealOracle", rng: np.random.Generator
) -> None:
    """SEAL rounds the same numbers, up to the last bit of a cosine."""
    oracle = small_oracle
    values = oracle.values(rng)
    plain = seal.Plaintext()
    oracle.encoder.encode(values.tolist(), SCALE, plain)
    mine = _core.CkksEncoder(oracle.core).encode(values, SCALE, oracle.core.max_limbs)
    difference = _core.sub(oracle.core, mine[None], oracle.words(plain)[None])[0]
    assert np.abs(centred(oracle.core, difference[0])).max() <= 1
    theirs = np.array(oracle.encoder.decode_complex(plain))
    assert (
        np.abs(_core.CkksEncoder(oracle.core).decode(oracle.words(plain), SCALE) - theirs).max()
        < 1e-12
    )


# ---- Sums of digits times precomputed keys, as large as fits their words -------------------------


SUMS_N = 256


def beyond_near_powers(bits: int, count: int) -> list[int]:
    """Large primes of more than 50 bits of no class of primes little below a power of two."""
    gap = 1 << (bits - 30)
    candidates = range((1 << bits) - gap + 1 - 2 * SUMS_N, 0, -2 * SUMS_N)
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
    found = _core.prime_search(bits, SUMS_N, count) if near else beyond_near_powers(bits, count)
    context = _core.Context(SUMS_N, found, 1, 0)
    primes = np.array(context.primes, dtype=np.uint64)
    half = primes // 2
    constants = (primes - 1, half, half + 1)
    polynomials = [np.repeat(words[:digits, None], SUMS_N, axis=1) for words in constants]
    polynomials += [random_residues(SUMS_N, found[:digits]) for _ in range(4)]
    sums = key_sums(context, (0, 1))
    forms = [[-pow(form, -1, q) % q for q in context.primes] for form in (1, 2**32, 2**60)]
    for largest in (*(np.array(words, dtype=np.uint64) for words in forms), half):
        key = np.empty((digits, 2, digits + 1, SUMS_N), dtype=np.uint64)
        key[:, 0] = largest[:, None]
        key[:, 1] = np.where(np.arange(SUMS_N) % 3 == 0, largest[:, None], 0)
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
