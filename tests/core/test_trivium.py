"""Trivium against the eSTREAM test vectors; the expanded key half against its definition."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from tests.core.shared import Shape, context_of

from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.errors import ParameterError
from ringsmith.objects import Residues

# Byte position in the stream -> 64 bytes there.
VECTORS: list[tuple[str, str, dict[int, str]]] = [
    (  # set 1, vector 0
        "80000000000000000000",
        "00000000000000000000",
        {
            0: "38EB86FF730D7A9CAF8DF13A4420540DBB7B651464C87501552041C249F29A64"
            "D2FBF515610921EBE06C8F92CECF7F8098FF20CCCC6A62B97BE8EF7454FC80F9",
            192: "EAF2625D411F61E41F6BAEEDDD5FE202600BD472F6C9CD1E9134A745D900EF6C"
            "023E4486538F09930CFD37157C0EB57C3EF6C954C42E707D52B743AD83CFF297",
        },
    ),
    (  # set 6, vector 0
        "0053A6F94C9FF24598EB",
        "0D74DB42A91077DE45AC",
        {
            0: "F4CD954A717F26A7D6930830C4E7CF0819F80E03F25F342C64ADC66ABA7F8A8E"
            "6EAA49F23632AE3CD41A7BD290A0132F81C6D4043B6E397D7388F3A03B5FE358",
            65536: "011A0D7EC32FA102C66C164CFCB189AED9F6982E8C7370A6A37414781192CEB1"
            "55C534C1C8C9E53FDEADF2D3D0577DAD3A8EB2F6E5265F1E831C86844670BC69",
            131008: "48107374A9CE3AAF78221AE77789247CF6896A249ED75DCE0CF2D30EB9D889A0"
            "C61C9F480E5C07381DED9FAB2AD54333E82C89BA92E6E47FD828F1A66A8656E0",
        },
    ),
]

SEED = bytes(range(1, 11))
BLOCK = 1 << 14
PRIMES = [
    (1 << 60) + (1 << 39) - (1 << 21) + 1,  # just above a power of two, and no prime
    (1 << 60) + (1 << 40) + 1,  # too far above it
    (1 << 53) + (1 << 20) - (1 << 17) + 1,
    (1 << 20) + 7,
    6 << 20,
    2305843009211596801,  # 61 bits, the most there are
    1152921504606830593,  # 60 bits
    562949953216513,  # 50 bits
    1073479681,  # 30 bits
    257,
]


def bits_of(words: np.ndarray) -> list[int]:
    return [int(word) >> i & 1 for word in words for i in range(64)]


def specified_trivium(key: bytes, iv: bytes, count: int) -> list[int]:
    """The specification, bit by bit: s[1] ... s[288]."""
    key_bits = [int.from_bytes(key, "little") >> (80 - i) & 1 for i in range(1, 81)]
    iv_bits = [int.from_bytes(iv, "little") >> (80 - i) & 1 for i in range(1, 81)]
    s = [0, *key_bits, *[0] * 13, *iv_bits, *[0] * 4, *[0] * 108, 1, 1, 1]
    stream = []
    for _ in range(4 * 288 + count):
        t1, t2, t3 = s[66] ^ s[93], s[162] ^ s[177], s[243] ^ s[288]
        stream.append(t1 ^ t2 ^ t3)
        t1 ^= s[91] & s[92] ^ s[171]
        t2 ^= s[175] & s[176] ^ s[264]
        t3 ^= s[286] & s[287] ^ s[69]
        s = [0, t3, *s[1:93], t1, *s[94:177], t2, *s[178:288]]
    return stream[4 * 288 :]


def stream(seed: bytes, digit: int, limb: int, block: int, number: int, count: int) -> list[int]:
    """Words of one of a block's streams."""
    iv = number + (limb << 16) + (digit << 32) + (block << 48)
    words: list[int] = _core.trivium_words(seed, iv.to_bytes(10, "little"), count).tolist()
    return words


def specified_words(
    seed: bytes, digit: int, limb: int, q: int, n: int, block: int = 0
) -> list[int]:
    """The first n words of a block by docs/reference/arithmetic.md, in Python's integers."""
    k = next(k for k in range(62) if q < (1 << k) + (1 << k >> 20))
    streams = [stream(seed, digit, limb, block, i, -(-n // 8)) for i in range(8)]
    return [streams[j % 8][j // 8] % (1 << k) for j in range(n)]


def specified_half(seed: bytes, digit: int, limb: int, q: int, n: int, block: int = 0) -> list[int]:
    """The first n residues of one block by the definition, likewise."""
    words = specified_words(seed, digit, limb, q, n, block)
    mask = (1 << _core.seed_word_bits(q)) - 1
    others = (word & mask for word in stream(seed, digit, limb, block, 8, 8 * n + 64))
    substitutes = (word for word in others if word < q)
    return [word if word < q else next(substitutes) for word in words]


@pytest.mark.parametrize(("key", "iv", "parts"), VECTORS, ids=["set 1", "set 6"])
def test_trivium_gives_the_estream_vectors(key: str, iv: str, parts: dict[int, str]) -> None:
    words = _core.trivium_words(bytes.fromhex(key), bytes.fromhex(iv), (max(parts) + 64) // 8)
    stream = words.astype("<u8").tobytes()
    for position, expected in parts.items():
        assert stream[position : position + 64] == bytes.fromhex(expected), position


def test_trivium_equals_the_specification_bit_by_bit(rng: np.random.Generator) -> None:
    key, iv = rng.bytes(10), rng.bytes(10)
    assert bits_of(_core.trivium_words(key, iv, 32)) == specified_trivium(key, iv, 32 * 64)


@pytest.mark.parametrize("q", PRIMES)
@pytest.mark.parametrize(("digit", "limb"), [(0, 0), (3, 1), (65535, 65535)])
def test_expanded_half_equals_its_definition(q: int, digit: int, limb: int) -> None:
    half = _core.expand_key_half(SEED, digit, limb, q, 250)
    assert half.dtype == np.uint64
    assert half.tolist() == specified_half(SEED, digit, limb, q, 250)
    words = _core.expand_seed_words(SEED, digit, limb, q, 250)
    assert words.tolist() == specified_words(SEED, digit, limb, q, 250)


def test_words_have_the_bits_of_the_nearest_power_of_two_that_serves() -> None:
    for k in (20, 21, 30, 59):
        near = 1 << k >> 20
        for q, bits in (
            ((1 << k) - 1, k),
            ((1 << k) + near - 1, k),
            ((1 << k) + near, k + 1),
            (3 << k - 1, k + 1),
        ):
            if q != 1 << k:
                assert _core.seed_word_bits(q) == bits, q


def test_substitutes_go_on_from_part_to_part_and_begin_anew_with_every_block() -> None:
    q, n = (3 << 20) + 1, 2 * BLOCK
    half = _core.expand_key_half(SEED, 1, 2, q, n)
    assert 0.2 < (_core.expand_seed_words(SEED, 1, 2, q, n) >= q).mean() < 0.3
    for block, residues in enumerate(half.reshape(2, BLOCK)):
        assert residues.tolist() == specified_half(SEED, 1, 2, q, BLOCK, block)


def test_a_larger_ring_continues_the_same_streams() -> None:
    q = 1073479681
    small, large = (_core.expand_key_half(SEED, 1, 2, q, n) for n in (1 << 10, BLOCK))
    assert np.array_equal(large[: len(small)], small)


def test_streams_begin_anew_with_every_block() -> None:
    q, n = 1152921504606830593, 4 * BLOCK
    half = _core.expand_key_half(SEED, 65535, 2, q, n)
    for block, residues in enumerate(half.reshape(4, BLOCK)):
        assert residues[:256].tolist() == specified_half(SEED, 65535, 2, q, 256, block)
        own = _core.expand_key_half(SEED, 65535, 2, q, n - BLOCK * block, block)
        assert np.array_equal(own, half[BLOCK * block :])
    last = _core.expand_key_half(SEED, 65535, 65535, q, 16, 65535)
    assert last.tolist() == specified_half(SEED, 65535, 65535, q, 16, 65535)
    assert len(np.unique(half)) == n


def test_every_digit_limb_block_seed_and_stream_expands_to_something_else() -> None:
    q = 1152921504606830593
    other = bytes([0, *SEED[1:]])
    halves = [
        _core.expand_key_half(seed, digit, limb, q, 64, block)
        for seed in (SEED, other)
        for digit in (0, 1, 256)
        for limb in (0, 1, 256)
        for block in (0, 1, 256)
    ]
    words = np.concatenate(halves)
    assert len(np.unique(words)) == len(words)


def test_expanded_residues_look_uniform() -> None:
    """Every residue of a small modulus about as often as any other: chi-squared."""
    q, n = 257, 1 << 16
    counts = np.bincount(_core.expand_key_half(SEED, 0, 0, q, n).astype(np.int64), minlength=q)
    assert len(counts) == q
    chi_squared = float(((counts - n / q) ** 2 / (n / q)).sum())
    assert abs(chi_squared - (q - 1)) < 6 * (2 * (q - 1)) ** 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SEED[:9], 0, 0, 257, 16), "seed of a key-switching key has 10 bytes, this one has 9"),
        ((SEED, 65536, 0, 257, 16), "digit 65536, limb 0 .* below 65536"),
        ((SEED, 0, 65536, 257, 16), "digit 0, limb 65536 .* below 65536"),
        ((SEED, 0, 0, 257, BLOCK + 16, 65535), "blocks 65535 to 65536 .* has 65536 of 16384"),
        ((SEED, 0, 0, 257, 16, 1 << 63), "blocks 9223372036854775808 to .* has 65536"),
        ((SEED, 0, 0, 1 << 61, 16), "modulus"),
    ],
)
def test_what_cannot_be_expanded_is_refused(
    arguments: tuple[bytes, int, int, int, int, int], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        _core.expand_key_half(*arguments)


# Keys expanded on the fly: b part and seed compute the full key's words in half the memory


FLY_SEED = bytes(range(10, 20))
OTHER = bytes(range(20, 30))
SHAPES = (
    # bits of the primes, special primes, dnum
    ((60, 54, 54, 60), 1, 0),
    ((45,) * 18, 1, 0),
    ((30, 45, 50, 60, 54, 61, 61), 2, 3),
    ((20, 24, 30), 1, 1),
)


def ciphertext(rng: np.random.Generator, context: _core.Context, size: int, limbs: int) -> Residues:
    rows = [rng.integers(0, q, (size, context.n), dtype=np.uint64) for q in context.primes[:limbs]]
    return np.ascontiguousarray(np.stack(rows, axis=1))


def keys(
    rng: np.random.Generator, context: _core.Context, seed: bytes, digits: int = 0
) -> tuple[Residues, _core.OnTheFlyKey]:
    """A key whose half 1 is the seed's, full and seed-compressed."""
    shape = (digits or context.dnum, 2, len(context.primes), context.n)
    full = np.empty(shape, dtype=np.uint64)
    for limb, q in enumerate(context.primes):
        full[:, 0, limb] = rng.integers(0, q, (shape[0], context.n), dtype=np.uint64)
        for digit in range(shape[0]):
            full[digit, 1, limb] = _core.expand_key_half(seed, digit, limb, q, context.n)
    return full, _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), seed)


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_on_the_fly_key_computes_the_words_of_the_full_key(
    rng: np.random.Generator, shape: Shape, threads: int
) -> None:
    context = context_of(256, shape)
    full, on_the_fly = keys(rng, context, FLY_SEED)
    _core.set_threads(threads)
    for limbs in {1, 2, context.max_limbs}:
        a = ciphertext(rng, context, 2, limbs)
        product = ciphertext(rng, context, 3, limbs)
        operations: list[Callable[[Residues | _core.OnTheFlyKey], Residues]] = [
            lambda key, p=product: _core.relinearize(context, p, key),
            lambda key, a=a: _core.apply_galois(context, a, 3, key),
        ]
        if limbs > 1:
            operations.append(lambda key, p=product: _core.relinearize_rescale(context, p, key))
        for operation in operations:
            assert np.array_equal(operation(on_the_fly), operation(full))


@pytest.mark.parametrize("n", [1 << 13, 1 << 14, 1 << 15])
def test_blocks_of_streams_and_parts_of_limbs_join(rng: np.random.Generator, n: int) -> None:
    context = context_of(n, ((50, 45, 60), 1, 0))
    full, on_the_fly = keys(rng, context, FLY_SEED)
    product = ciphertext(rng, context, 3, 2)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(_core.relinearize(context, product, on_the_fly), expected)


def test_hoisted_rotations_take_full_and_on_the_fly_keys_together(
    rng: np.random.Generator,
) -> None:
    context = context_of(1 << 14, SHAPES[0])
    first, second = keys(rng, context, FLY_SEED), keys(rng, context, OTHER)
    a = ciphertext(rng, context, 2, 3)
    a[1, :, 5] = 0  # a digit with a zero is raised again for each rotation
    elements = [3, 9, 2 * context.n - 1]
    expected = _core.apply_galois_many(context, a, elements, [first[0], second[0], first[0]])
    mixed = _core.apply_galois_many(context, a, elements, [first[1], second[0], first[1]])
    on_the_fly = _core.apply_galois_many(context, a, elements, [first[1], second[1], first[1]])
    for ours in (mixed, on_the_fly):
        assert all(np.array_equal(x, y) for x, y in zip(ours, expected, strict=True))
    assert not np.array_equal(expected[0], expected[2])


@pytest.mark.parametrize("word_bits", [30, 70])
def test_keys_in_words_may_be_expanded_on_the_fly(rng: np.random.Generator, word_bits: int) -> None:
    context = _core.Context(256, _core.prime_search(40, 256, 3), 0, 0)
    extension = bfv.behz_extension_primes(256, context.primes, 257)
    scheme = _core.BfvContext(context, 257, extension)
    full, on_the_fly = keys(rng, context, FLY_SEED, context.words(3, word_bits))
    for limbs in (1, 3):
        product = ciphertext(rng, context, 3, limbs)
        expected = bfv.relinearize(scheme, product, full, word_bits)
        assert np.array_equal(bfv.relinearize(scheme, product, on_the_fly, word_bits), expected)
    a = ciphertext(rng, context, 2, 3)
    expected = bfv.apply_galois(scheme, a, 3, full, word_bits)
    assert np.array_equal(bfv.apply_galois(scheme, a, 3, on_the_fly, word_bits), expected)
    many = bfv.apply_galois_many(scheme, a, [3, 9], [on_the_fly, full], word_bits)
    assert np.array_equal(many[0], expected)


def graph_of(context: _core.Context, *, both: bool) -> _core.Graph:
    """Key switching without its division: as one pass, or one half alone, node by node."""
    graph = _core.Graph(context.n, context.primes, context.roots)
    limbs, base = context.max_limbs, list(range(len(context.primes)))
    data = base[:limbs]
    x = graph.add_node("input", [], {"name": "x", "base": data, "form": "coeff"})
    raised = []
    for digit in data:
        up = {"digit": [digit], "base": base, "variant": "rns_digit"}
        raised.append(graph.add_node("ntt", [graph.add_node("mod_up", [x], up)], {}))
    for half in (0, 1) if both else (1,):
        attributes = {"key": "k", "half": half, "digits": data, "base": base}
        product = graph.add_node("ksk_inner_product", raised, attributes)
        graph.add_node("output", [product], {"name": f"y{half}"})
    return graph


@pytest.mark.parametrize("both", [True, False])
def test_graphs_take_on_the_fly_keys(rng: np.random.Generator, both: bool) -> None:
    context = context_of(256, SHAPES[0])
    full, on_the_fly = keys(rng, context, FLY_SEED)
    x = {"x": ciphertext(rng, context, 1, context.max_limbs)[0]}
    graph = graph_of(context, both=both)
    expected, ours = graph.run(x, {"k": full}), graph.run(x, {"k": on_the_fly})
    assert expected.keys() == ours.keys()
    assert all(np.array_equal(ours[name], words) for name, words in expected.items())


def test_another_seed_is_another_key(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    full, _ = keys(rng, context, FLY_SEED)
    wrong = _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), OTHER)
    product = ciphertext(rng, context, 3, 2)
    ours = _core.relinearize(context, product, wrong)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(ours[0], expected[0])  # half 0 is the same
    assert not np.array_equal(ours[1], expected[1])


def test_a_generated_key_may_be_expanded_on_the_fly(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    own = secret.generate_secret_key_for_test(context, 1)
    full = secret.generate_key_switch_key_for_test(context, own, None, key_seed=FLY_SEED, seed=2)
    on_the_fly = _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), FLY_SEED)
    product = ciphertext(rng, context, 3, 3)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(_core.relinearize(context, product, on_the_fly), expected)


def test_an_on_the_fly_key_takes_half_the_bytes_and_ten(rng: np.random.Generator) -> None:
    full, on_the_fly = keys(rng, context_of(256, SHAPES[0]), FLY_SEED)
    assert on_the_fly.nbytes == full.nbytes // 2 + len(FLY_SEED)


def test_what_is_no_on_the_fly_key_is_refused(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    full, _ = keys(rng, context, FLY_SEED)
    half = np.ascontiguousarray(full[:, 0])
    product = ciphertext(rng, context, 3, 2)
    with pytest.raises(ParameterError, match="the seed of a key-switching key has 10 bytes"):
        _core.OnTheFlyKey(half, FLY_SEED[1:])
    for wrong, message in (
        (full, "half 0 of the key-switching key has shape (3, 2, 4, 256); expected are 3 dim"),
        (half[:, :3].copy(), "shape (3, 3, 256); expected is (digits, 4, 256)"),
        (half[:2].copy(), "has 2 digits, but the parameters have dnum = 3"),
        (half + np.uint64(1 << 61), "position 0 of limb 3, which is not below its prime"),
    ):
        with pytest.raises(ParameterError, match=re.escape(message)):
            _core.relinearize(context, product, _core.OnTheFlyKey(wrong, FLY_SEED))
    with pytest.raises(TypeError, match="C-contiguous"):
        _core.relinearize(context, product, _core.OnTheFlyKey(full[:, 0], FLY_SEED))
