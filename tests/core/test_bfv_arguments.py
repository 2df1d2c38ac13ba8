"""What BFV refuses, with which words; plaintexts and slots at the edges of their range."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.objects import Residues

N = 256
T = 7681  # 1 mod 512


@pytest.fixture(scope="module")
def core() -> _core.Context:
    """Three data primes and a special prime."""
    return _core.Context(N, _core.prime_search(40, N, 4))


@pytest.fixture(scope="module")
def context(core: _core.Context) -> _core.BfvContext:
    """With slots, and SEAL's extension primes."""
    return _core.BfvContext(core, T, bfv.behz_extension_primes(N, core.primes[:3], T))


@pytest.fixture
def cipher(core: _core.Context, random_residues: Callable[..., Residues]) -> Residues:
    """A ciphertext of size 2 and 3 limbs."""
    return random_residues(N, core.primes[:3], 2)


@pytest.mark.parametrize(
    ("plain_modulus", "words"),
    [
        (0, "plain modulus 0 is outside 2"),
        (1, "plain modulus 1 is outside 2"),
        (1 << 60, r"is outside 2 ... 2\^60 - 1"),
    ],
)
def test_a_plain_modulus_out_of_range_is_refused(
    core: _core.Context, plain_modulus: int, words: str
) -> None:
    with pytest.raises(_core.ParameterError, match=words):
        _core.BfvContext(core, plain_modulus, [])


def test_a_plain_modulus_that_does_not_fit_the_primes_is_refused(core: _core.Context) -> None:
    with pytest.raises(_core.ParameterError, match="t and q must be coprime"):
        _core.BfvContext(core, core.primes[1] * 3, [])
    with pytest.raises(_core.ParameterError, match="not below the product of the 1 data primes"):
        _core.BfvContext(_core.Context(N, core.primes[:2]), (1 << 40) + 7, [])
    wide = _core.Context(N, [*_core.prime_search(61, N, 1), *core.primes[:1]])
    with pytest.raises(_core.ParameterError, match="has 61 bits: BFV takes at most 60"):
        _core.BfvContext(wide, T, [])
    with pytest.raises(_core.ParameterError, match="occurs twice"):
        _core.BfvContext(core, T, core.primes[:1])
    with pytest.raises(_core.ParameterError, match=r"modulus 17 \(index 4\) is not a prime with"):
        _core.BfvContext(core, T, [17])


def test_a_level_whose_modulus_does_not_exceed_t_is_refused(
    core: _core.Context, cipher: Residues
) -> None:
    context = _core.BfvContext(core, (1 << 50) + 1, [])
    assert context.min_limbs == 2
    with pytest.raises(_core.ParameterError, match="mod_switch needs more than 2 limbs"):
        bfv.mod_switch(context, bfv.mod_switch(context, cipher))
    plain = np.zeros(N, dtype=np.uint64)
    with pytest.raises(_core.ParameterError, match="stay at 2 limbs or more"):
        bfv.scale_plain(context, plain, 1)
    key = secret.generate_secret_key(core)
    with pytest.raises(_core.ParameterError, match="stay at 2 limbs or more"):
        secret.bfv_decrypt(context, key, np.ascontiguousarray(cipher[:, :1]))


def test_products_without_enough_extension_primes_are_refused(
    core: _core.Context, cipher: Residues
) -> None:
    for variant in ("behz", "hps"):
        with pytest.raises(_core.ParameterError, match="more than the 0 extension primes"):
            bfv.multiply(_core.BfvContext(core, T, []), cipher, cipher, variant)
    narrow = _core.BfvContext(core, T, _core.prime_search(30, N, 6))
    with pytest.raises(_core.ParameterError, match="has 30 bits, and BEHZ needs 61"):
        bfv.square(narrow, cipher)
    bfv.square(narrow, cipher, "hps")
    fewer = _core.BfvContext(core, T, _core.prime_search(30, N, 4))
    with pytest.raises(_core.ParameterError, match="more than the 4 extension primes"):
        bfv.square(fewer, cipher, "hps")


def test_extension_bases_are_seals_and_the_fewest(core: _core.Context) -> None:
    seal_primes = bfv.behz_extension_primes(N, core.primes[:3], T)
    found = _core.prime_search(61, N, 5)
    assert seal_primes == [found[0], *found[2:]]  # all but gamma
    context = _core.BfvContext(core, T, seal_primes)
    for limbs in (1, 2, 3):
        assert context.extension_base(limbs) == list(range(4, 5 + limbs))
        bound = 2 * N * T
        for q in core.primes[:limbs]:
            bound *= q
        product, count = 1, 0
        while product < bound:
            product *= seal_primes[count]
            count += 1
        assert context.extension_base(limbs, "hps") == list(range(4, 4 + count))
    assert len(bfv.behz_extension_primes(N, _core.prime_search(60, N, 2), (1 << 59) + 1)) == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c, x, p: bfv.multiply(c, x, x, "ntt"), "variant 'ntt' is unknown: take 'behz'"),
        (lambda c, x, p: bfv.multiply(c, x, x[:, :2].copy()), "3 and 2 limbs: bring both to one"),
        (lambda c, x, p: bfv.add_plain(c, x, p[:-1].copy()), r"has shape \(255\)"),
        (lambda c, x, p: bfv.add_plain(c, x, p + np.uint64(T)), "not below the plain modulus 7681"),
        (lambda c, x, p: bfv.multiply_plain(c, x, p + np.uint64(T)), "which is not below"),
        (lambda c, x, p: bfv.encode(c, p[None]), r"has shape \(1, 256\); expected are 1 dim"),
        (lambda c, x, p: bfv.encode(c, p + np.uint64(T)), "the vector has 7681 at position 0"),
        (lambda c, x, p: bfv.encode(c, np.full(N, T)), r"has 7681, which is outside -3840 ... 768"),
        (lambda c, x, p: bfv.encode(c, np.full(N, -3841)), "has -3841, which is outside"),
        (lambda c, x, p: bfv.scale_plain(c, p, 0), "0 limbs are outside 1 ... 3"),
        (lambda c, x, p: bfv.lift_plain(c, p, 4), "4 limbs are outside 1 ... 3"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    context: _core.BfvContext,
    cipher: Residues,
    call: Callable[[_core.BfvContext, Residues, Residues], Any],
    words: str,
) -> None:
    with pytest.raises(_core.ParameterError, match=words):
        call(context, cipher, np.zeros(N, dtype=np.uint64))


def test_another_type_is_refused(context: _core.BfvContext) -> None:
    for wrong in (np.zeros(N), np.zeros(N, dtype=np.int32), np.zeros(2 * N, dtype=np.int64)[::2]):
        with pytest.raises(TypeError, match="must be a C-contiguous numpy array"):
            bfv.encode(context, wrong)
    with pytest.raises(TypeError):
        bfv.decode(context, np.zeros(N, dtype=np.int64))


def test_slots_at_the_edges_come_back(context: _core.BfvContext) -> None:
    values = np.zeros(N, dtype=np.int64)
    values[:5] = [T - 1, T // 2, -(T // 2), -1, 1]
    decoded = bfv.decode(context, bfv.encode(context, values))
    assert np.array_equal(decoded.astype(np.int64), values % T)


@pytest.mark.parametrize("t", [2, 3, 4, 7681, (1 << 59) + 11])
def test_plaintexts_are_scaled_and_lifted_as_the_integers_say(core: _core.Context, t: int) -> None:
    context = _core.BfvContext(core, t, [])
    message = np.arange(N, dtype=np.uint64) % np.uint64(t)
    message[0] = t - 1
    message[1] = (t + 1) // 2
    for limbs in range(context.min_limbs, 4):
        primes = core.primes[:limbs]
        q = 1
        for prime in primes:
            q *= prime
        scaled = [(q * int(m) + (t + 1) // 2) // t for m in message]
        lifted = [int(m) - t * (int(m) >= (t + 1) // 2) for m in message]
        for function, integers in ((bfv.scale_plain, scaled), (bfv.lift_plain, lifted)):
            expected = np.array([[x % p for x in integers] for p in primes], dtype=np.uint64)
            assert np.array_equal(function(context, message, limbs), expected)
