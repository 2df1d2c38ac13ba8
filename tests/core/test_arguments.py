"""What the evaluator refuses, with which words; and arrays at the edges of their range."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import _core, errors
from ringsmith._core import bfv, secret
from ringsmith.objects import Residues

N = 256


@pytest.fixture(scope="module")
def context() -> _core.Context:
    """Two data primes and a special prime, one of them of 61 bits."""
    return _core.Context(N, [*_core.prime_search(61, N, 1), *_core.prime_search(42, N, 2)])


@pytest.fixture
def cipher(context: _core.Context, random_residues: Callable[..., Residues]) -> Residues:
    """A ciphertext of size 2 and 2 limbs."""
    return random_residues(N, context.primes[:2], 2)


@pytest.fixture
def key(context: _core.Context, random_residues: Callable[..., Residues]) -> Residues:
    """A key-switching key of 2 digits."""
    return random_residues(N, context.primes, 2, 2)


def test_wrong_types_and_orders_are_refused(context: _core.Context, cipher: Residues) -> None:
    for wrong in (
        cipher.astype(np.int64),
        cipher.astype(np.float64),
        cipher.astype(">u8"),
        np.asfortranarray(cipher),
        np.repeat(cipher, 2, axis=2)[:, :, ::2],
    ):
        with pytest.raises(TypeError):
            _core.negate(context, wrong)
    with pytest.raises(TypeError):
        _core.negate(context, cipher.tolist())


def unaligned(array: NDArray[Any]) -> NDArray[Any]:
    """An equal array that begins one byte behind a multiple of 8."""
    data = bytearray(1) + array.tobytes()
    return np.frombuffer(data, array.dtype, offset=1).reshape(array.shape)


def test_unaligned_words_are_refused(
    context: _core.Context, cipher: Residues, key: Residues
) -> None:
    odd = unaligned(cipher)
    graph = _core.Graph(N, context.primes, context.roots)
    base = [0, 1]
    graph.add_node("input", [], {"name": "a", "base": base, "form": "ntt"})
    graph.add_node("output", [0], {"name": "b"})
    calls: tuple[Callable[[], object], ...] = (
        lambda: _core.negate(context, odd),
        lambda: _core.add(context, cipher, odd),
        lambda: _core.relinearize(context, np.concatenate((cipher, cipher[:1])), unaligned(key)),
        lambda: _core.ntt_forward(unaligned(cipher[0, :1]), context.primes[0], context.roots[0]),
        lambda: graph.run({"a": odd[0]}, {}),
        lambda: graph.run({}, {}, lambda _: odd[0]),
    )
    for call in calls:
        with pytest.raises(TypeError, match="does not begin at a multiple of 8"):
            call()


def test_unaligned_numbers_are_encoded_as_aligned_ones(context: _core.Context) -> None:
    encoder = _core.CkksEncoder(context)
    numbers = np.linspace(-1, 1, 16) + 0j
    found = encoder.encode(unaligned(numbers), 2.0**20, 1)
    np.testing.assert_array_equal(found, encoder.encode(numbers, 2.0**20, 1))


def test_wrong_shapes_are_refused(context: _core.Context, cipher: Residues) -> None:
    for wrong, message in [
        (cipher[0], r"has shape \(2, 256\); expected are 3 dimensions, the last of N = 256"),
        (cipher[:, :, :-1].copy(), "the last of N = 256"),
        (cipher[:0], "at least one polynomial"),
        (cipher[:, :0].copy(), "0 limbs are outside 1 ... 2"),
        (np.zeros((2, 3, N), dtype=np.uint64), "3 limbs are outside 1 ... 2"),
    ]:
        with pytest.raises(_core.ParameterError, match=message):
            _core.negate(context, wrong)


def test_residues_beyond_their_prime_are_refused(
    context: _core.Context, cipher: Residues, key: Residues
) -> None:
    q = context.primes[1]
    cipher[1, 1, 77] = q - 1
    _core.negate(context, cipher)
    cipher[1, 1, 77] = q
    with pytest.raises(_core.ParameterError, match=f"has {q} at position 77 of limb 1"):
        _core.negate(context, cipher)
    three = np.zeros((3, 2, N), dtype=np.uint64)
    key[1, 1, 2, 5] = context.primes[2]
    with pytest.raises(_core.ParameterError, match="at position 5 of limb 2"):
        _core.relinearize(context, three, key)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, x, k: _core.add(c, x, _core.mod_switch(c, x)), "2 and 1 limbs: bring both"),
        (lambda c, x, k: _core.multiply(c, _core.mod_switch(c, x), x), "1 and 2 limbs"),
        (lambda c, x, k: _core.add_plain(c, x, x[0, :1]), "has 256 words; 2 limbs"),
        (lambda c, x, k: _core.multiply_plain(c, x, x[0, 0]), "the plaintext has shape"),
        (lambda c, x, k: _core.relinearize(c, x, k), "this one has 2: relinearize after"),
        (lambda c, x, k: _core.apply_galois(c, x[:1], 3, k), "has 1: relinearize it first"),
        (lambda c, x, k: _core.apply_galois(c, x, 4, k), "Galois element 4 is not an odd"),
        (lambda c, x, k: _core.apply_galois(c, x, 513, k), "below 2N = 512"),
        (
            lambda c, x, k: _core.apply_galois(c, x, 3, k[:1]),
            "has 1 digits, but the parameters have dnum = 2",
        ),
        (
            lambda c, x, k: _core.apply_galois(c, x, 3, k[:, :, :2].copy()),
            r"expected is \(digits, 2, 3, 256\)",
        ),
        (lambda c, x, k: _core.rescale(c, _core.mod_switch(c, x)), "needs two limbs or more"),
        (lambda c, x, k: _core.mod_switch(c, _core.mod_switch(c, x)), "needs two limbs or more"),
        (lambda c, x, k: _core.encrypt(c, k[0, :, :2].copy(), x[0]), "the public key has"),
        (lambda c, x, k: _core.CkksEncoder(c).decode(k[0, 0], 1.0), "3 limbs are outside 1 ... 2"),
        (lambda c, x, k: secret.decrypt(c, k[0, 0, :2], x), "the secret key has 512 words"),
        (lambda c, x, k: secret.generate_key_switch_key(c, k[0, 0], 2), "Galois element 2"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(
    context: _core.Context,
    cipher: Residues,
    key: Residues,
    call: Callable[[_core.Context, Residues, Residues], Any],
    message: str,
) -> None:
    with pytest.raises(_core.ParameterError, match=message):
        call(context, cipher, key)


@pytest.mark.parametrize("steps", [0, 128, -128, 1000])
def test_a_rotation_beyond_the_slots_is_refused(steps: int) -> None:
    with pytest.raises(_core.ParameterError, match=f"cannot rotate by {steps} steps"):
        _core.galois_element(N, steps)


def test_galois_elements_are_powers_of_three() -> None:
    for steps in (*range(1, 128), *range(-127, 0)):
        assert _core.galois_element(N, steps) == pow(3, steps % 128, 2 * N)


def test_parameters_that_give_no_context_are_refused(context: _core.Context) -> None:
    primes = context.primes
    for n, given, message in [
        (N, primes[:1], "1 special primes of 1 primes"),
        (N, [], "at least one prime"),
        (N, [*primes, primes[0]], "occurs twice"),
        (N, [primes[0], 2**31 - 1], r"modulus 2147483647 \(index 1\) is not a prime"),
        (128, primes, "ring degree 128 is not a power of two between 256 and 65536"),
        (2**17, primes, "ring degree 131072"),
        (300, primes, "ring degree 300"),
    ]:
        with pytest.raises(_core.ParameterError, match=message):
            _core.Context(n, given)


def test_arithmetic_at_the_edges_is_that_of_the_integers(context: _core.Context) -> None:
    """All pairs of 0, 1, (q - 1) / 2, (q + 1) / 2 and q - 1, in the first and second limb."""
    words = [[0, 1, (q - 1) // 2, (q + 1) // 2, q - 1] for q in context.primes[:2]]
    a, b = np.zeros((1, 2, N), dtype=np.uint64), np.zeros((1, 2, N), dtype=np.uint64)
    for limb, edge in enumerate(words):
        a[0, limb, :25] = np.repeat(np.array(edge, dtype=np.uint64), 5)
        b[0, limb, :25] = np.tile(np.array(edge, dtype=np.uint64), 5)
    for operation, meaning in [
        (_core.add, lambda x, y: x + y),
        (_core.sub, lambda x, y: x - y),
        (_core.multiply, lambda x, y: x * y),
    ]:
        result = operation(context, a, b)
        for limb in range(2):
            q = context.primes[limb]
            pairs = zip(a[0, limb].tolist(), b[0, limb].tolist(), strict=True)
            assert result[0, limb].tolist() == [meaning(x, y) % q for x, y in pairs]


def test_operands_are_left_as_they_were(
    context: _core.Context, cipher: Residues, key: Residues
) -> None:
    before, key_before = cipher.copy(), key.copy()
    cipher.flags.writeable = False
    product = _core.multiply(context, cipher, cipher)
    _core.relinearize(context, product, key)
    _core.rescale(context, _core.apply_galois(context, cipher, 3, key))
    assert np.array_equal(cipher, before)
    assert np.array_equal(key, key_before)


def test_the_cores_errors_are_the_packages() -> None:
    with pytest.raises(errors.ParameterError, match="is not a power of two"):
        _core.Context(1000, [17, 97])
    primes = _core.prime_search(30, 256, 2)
    graph = _core.Graph(256, primes, [_core.smallest_root(q, 256) for q in primes])
    with pytest.raises(errors.ProgramError, match="is an unknown operation"):
        graph.add_node("divide", [], {})


# ---- What BFV refuses, with which words; plaintexts and slots at the edges of their range --------


T = 7681  # 1 mod 512


@pytest.fixture(scope="module")
def core() -> _core.Context:
    """Three data primes and a special prime."""
    return _core.Context(N, _core.prime_search(40, N, 4))


@pytest.fixture(scope="module")
def bfv_context(core: _core.Context) -> _core.BfvContext:
    """With slots, and SEAL's extension primes."""
    return _core.BfvContext(core, T, bfv.behz_extension_primes(N, core.primes[:3], T))


@pytest.fixture
def bfv_cipher(core: _core.Context, random_residues: Callable[..., Residues]) -> Residues:
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
    core: _core.Context, bfv_cipher: Residues
) -> None:
    bfv_context = _core.BfvContext(core, (1 << 50) + 1, [])
    assert bfv_context.min_limbs == 2
    with pytest.raises(_core.ParameterError, match="mod_switch needs more than 2 limbs"):
        bfv.mod_switch(bfv_context, bfv.mod_switch(bfv_context, bfv_cipher))
    plain = np.zeros(N, dtype=np.uint64)
    with pytest.raises(_core.ParameterError, match="stay at 2 limbs or more"):
        bfv.scale_plain(bfv_context, plain, 1)
    key = secret.generate_secret_key(core)
    with pytest.raises(_core.ParameterError, match="stay at 2 limbs or more"):
        secret.bfv_decrypt(bfv_context, key, np.ascontiguousarray(bfv_cipher[:, :1]))


def test_products_without_enough_extension_primes_are_refused(
    core: _core.Context, bfv_cipher: Residues
) -> None:
    for variant in ("behz", "hps"):
        with pytest.raises(_core.ParameterError, match="more than the 0 extension primes"):
            bfv.multiply(_core.BfvContext(core, T, []), bfv_cipher, bfv_cipher, variant)
    narrow = _core.BfvContext(core, T, _core.prime_search(30, N, 6))
    with pytest.raises(_core.ParameterError, match="has 30 bits, and BEHZ needs 61"):
        bfv.square(narrow, bfv_cipher)
    bfv.square(narrow, bfv_cipher, "hps")
    fewer = _core.BfvContext(core, T, _core.prime_search(30, N, 4))
    with pytest.raises(_core.ParameterError, match="more than the 4 extension primes"):
        bfv.square(fewer, bfv_cipher, "hps")


def test_extension_bases_are_seals_and_the_fewest(core: _core.Context) -> None:
    seal_primes = bfv.behz_extension_primes(N, core.primes[:3], T)
    found = _core.prime_search(61, N, 5)
    assert seal_primes == [found[0], *found[2:]]  # all but gamma
    bfv_context = _core.BfvContext(core, T, seal_primes)
    for limbs in (1, 2, 3):
        assert bfv_context.extension_base(limbs) == list(range(4, 5 + limbs))
        bound = 2 * N * T
        for q in core.primes[:limbs]:
            bound *= q
        product, count = 1, 0
        while product < bound:
            product *= seal_primes[count]
            count += 1
        assert bfv_context.extension_base(limbs, "hps") == list(range(4, 4 + count))
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
    bfv_context: _core.BfvContext,
    bfv_cipher: Residues,
    call: Callable[[_core.BfvContext, Residues, Residues], Any],
    words: str,
) -> None:
    with pytest.raises(_core.ParameterError, match=words):
        call(bfv_context, bfv_cipher, np.zeros(N, dtype=np.uint64))


def test_another_type_is_refused(bfv_context: _core.BfvContext) -> None:
    for wrong in (np.zeros(N), np.zeros(N, dtype=np.int32), np.zeros(2 * N, dtype=np.int64)[::2]):
        with pytest.raises(TypeError, match="must be a C-contiguous numpy array"):
            bfv.encode(bfv_context, wrong)
    with pytest.raises(TypeError):
        bfv.decode(bfv_context, np.zeros(N, dtype=np.int64))


def test_slots_at_the_edges_come_back(bfv_context: _core.BfvContext) -> None:
    values = np.zeros(N, dtype=np.int64)
    values[:5] = [T - 1, T // 2, -(T // 2), -1, 1]
    decoded = bfv.decode(bfv_context, bfv.encode(bfv_context, values))
    assert np.array_equal(decoded.astype(np.int64), values % T)


@pytest.mark.parametrize("t", [2, 3, 4, 7681, (1 << 59) + 11])
def test_plaintexts_are_scaled_and_lifted_as_the_integers_say(core: _core.Context, t: int) -> None:
    bfv_context = _core.BfvContext(core, t, [])
    message = np.arange(N, dtype=np.uint64) % np.uint64(t)
    message[0] = t - 1
    message[1] = (t + 1) // 2
    for limbs in range(bfv_context.min_limbs, 4):
        primes = core.primes[:limbs]
        q = 1
        for prime in primes:
            q *= prime
        scaled = [(q * int(m) + (t + 1) // 2) // t for m in message]
        lifted = [int(m) - t * (int(m) >= (t + 1) // 2) for m in message]
        for function, integers in ((bfv.scale_plain, scaled), (bfv.lift_plain, lifted)):
            expected = np.array([[x % p for x in integers] for p in primes], dtype=np.uint64)
            assert np.array_equal(function(bfv_context, message, limbs), expected)
