"""Trivium against the eSTREAM test vectors; the expanded key half against its definition."""

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.errors import ParameterError

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
