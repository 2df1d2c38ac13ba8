"""SEAL's files: read as SEAL wrote them, written so that SEAL reads them, refused when damaged."""

import hashlib
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
import seal
import zstandard
from tests.core.shared import seeded, wrapped

from ringsmith import _core, interop
from ringsmith.errors import InteropError
from ringsmith.interop import Compression
from ringsmith.interop.seal_read import expand_shake256
from ringsmith.interop.seal_write import CIPHERTEXT_START, ciphertext_start
from ringsmith.objects import Ciphertext, Plaintext
from ringsmith.params import CkksParameters

if TYPE_CHECKING:
    from tests.core.conftest import SealOracle


def test_words_lie_where_seal_puts_them(oracle: "SealOracle", rng: np.random.Generator) -> None:
    cipher = oracle.ciphertext(rng, drops=1)
    data = oracle.saved(cipher)
    read = interop.read_ciphertext(data, oracle.parameters)
    size, n, limbs, scale = struct.unpack_from("<QQQd", data, 49)
    assert read.data.shape == (size, limbs, n)
    assert read.data.reshape(-1).tolist() == np.frombuffer(data, "<u8", offset=113).tolist()
    assert read.scale == scale == cipher.scale()
    plain = oracle.plaintext(rng)
    data = oracle.saved(plain)
    mine = interop.read_plaintext(data, oracle.parameters)
    assert mine.data.reshape(-1).tolist() == np.frombuffer(data, "<u8", offset=88).tolist()
    assert mine.scale == plain.scale()
    public = interop.read_public_key(oracle.saved(oracle.public_key), oracle.parameters)
    assert public.data.shape == (2, len(oracle.primes), oracle.n)


def test_parameters_are_read_and_written_as_seal_does(oracle: "SealOracle") -> None:
    data = oracle.saved(oracle.seal_parameters)
    assert interop.read_parameters(data) == oracle.parameters
    assert interop.write_parameters(oracle.parameters) == data
    context = oracle.context.first_context_data()
    assert oracle.parameters.parms_id(oracle.core.max_limbs) == struct.pack(
        "<4Q", *context.parms_id()
    )


def test_written_objects_are_seals_own_bytes(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    for item, read, write in [
        (oracle.ciphertext(rng, 1), interop.read_ciphertext, interop.write_ciphertext),
        (oracle.plaintext(rng, 1), interop.read_plaintext, interop.write_plaintext),
    ]:
        data = oracle.saved(item)
        assert write(read(data, oracle.parameters), oracle.parameters) == data


def test_seal_decrypts_what_was_computed_here(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    values = oracle.values(rng)
    plain = _core.CkksEncoder(oracle.core).encode(values, 2.0**30, oracle.core.max_limbs)
    public = interop.read_public_key(oracle.saved(oracle.public_key), oracle.parameters)
    words = _core.encrypt(oracle.core, public.data, plain)
    data = interop.write_ciphertext(Ciphertext(words, 2.0**30), oracle.parameters)
    cipher = oracle.load(seal.Ciphertext(), data)
    decoded = oracle.encoder.decode(oracle.decryptor.decrypt(cipher))
    assert np.abs(np.array(decoded) - values).max() < 2.0**-10


def test_seeded_ciphertexts_expand_as_in_seal(
    oracle: "SealOracle", rng: np.random.Generator
) -> None:
    for drops in oracle.drops:
        data = seeded(oracle.saved(oracle.ciphertext(rng, drops)), rng.bytes(64))
        expected = oracle.words(oracle.load(seal.Ciphertext(), data))
        assert np.array_equal(interop.read_ciphertext(data, oracle.parameters).data, expected)


def seeded_keys(whole: bytes, n: int, primes: int, rng: np.random.Generator) -> bytes:
    """SEAL's KSwitchKeys with every key seeded."""
    entries = struct.unpack_from("<Q", whole, 48)[0]
    payload, position = whole[16:56], 56
    key_size = 113 + 2 * primes * n * 8
    for _ in range(entries):
        count = struct.unpack_from("<Q", whole, position)[0]
        payload += struct.pack("<Q", count)
        position += 8
        for _ in range(count):
            payload += seeded(whole[position : position + key_size], rng.bytes(64))
            position += key_size
    return wrapped(payload)


def test_seeded_keys_expand_as_in_seal(
    small_oracle: "SealOracle", rng: np.random.Generator
) -> None:
    oracle = small_oracle
    shape = (oracle.n, len(oracle.primes), rng)
    data = seeded_keys(oracle.saved(oracle.relin_keys), *shape)
    expanded = oracle.saved(oracle.load(seal.RelinKeys(), data))
    mine = interop.read_relin_keys(data, oracle.parameters)
    assert np.array_equal(mine.data, interop.read_relin_keys(expanded, oracle.parameters).data)
    data = seeded_keys(oracle.saved(oracle.galois_keys), *shape)
    expanded = oracle.saved(oracle.load(seal.GaloisKeys(), data))
    keys = interop.read_galois_keys(data, oracle.parameters)
    assert sorted(keys) == sorted(oracle.galois_key)
    for element, key in interop.read_galois_keys(expanded, oracle.parameters).items():
        assert np.array_equal(keys[element].data, key.data)


def test_galois_keys_are_found_by_their_element(oracle: "SealOracle") -> None:
    elements = {_core.galois_element(oracle.n, steps) for steps in (1, -3, 64, -500)}
    assert set(oracle.galois_key) == elements | {2 * oracle.n - 1}
    digits = len(oracle.primes) - 1
    for key in oracle.galois_key.values():
        assert key.data.shape == (digits, 2, digits + 1, oracle.n)


def test_files_are_read_by_path(small_oracle: "SealOracle", rng: np.random.Generator) -> None:
    cipher = small_oracle.ciphertext(rng)
    data = small_oracle.saved(cipher)
    path = small_oracle._folder / "by_path.seal"
    path.write_bytes(data)
    for source in (path, str(path), bytearray(data), memoryview(data)):
        read = interop.read_ciphertext(source, small_oracle.parameters)
        assert np.array_equal(read.data, small_oracle.words(cipher))


def test_parameters_convert_to_ckks_parameters_and_back(small_oracle: "SealOracle") -> None:
    with pytest.warns(UserWarning, match="below 128-bit"):
        converted = small_oracle.parameters.to_ckks(2.0**30)
    assert isinstance(converted, CkksParameters)
    assert converted.primes == tuple(small_oracle.primes)
    assert interop.SealParameters.from_parameters(converted) == small_oracle.parameters


def test_written_keys_are_seals_own_bytes(oracle: "SealOracle") -> None:
    keys = oracle.galois_key
    shape = oracle.parameters
    public = interop.read_public_key(oracle.saved(oracle.public_key), shape)
    relin = interop.read_relin_keys(oracle.saved(oracle.relin_keys), shape)
    secret = interop.read_secret_key(oracle.saved(oracle.keygen.secret_key()), shape)
    assert interop.write_public_key(public, shape) == oracle.saved(oracle.public_key)
    assert interop.write_relin_keys(relin, shape) == oracle.saved(oracle.relin_keys)
    assert interop.write_galois_keys(keys, shape) == oracle.saved(oracle.galois_keys)
    assert interop.write_secret_key(secret, shape) == oracle.saved(oracle.keygen.secret_key())


@pytest.mark.parametrize("minor", range(5))
def test_every_header_names_the_version_written_for(small_oracle: "SealOracle", minor: int) -> None:
    shape = small_oracle.parameters
    for data in (
        interop.write_parameters(shape, version=(4, minor)),
        interop.write_galois_keys(small_oracle.galois_key, shape, version=(4, minor)),
    ):
        headers = [
            (data[i + 3], data[i + 4])
            for i in range(len(data) - 16)
            if data[i : i + 3] == b"\x5e\xa1\x10"
            and data[i + 5 : i + 8] == bytes(3)
            and 16 < int.from_bytes(data[i + 8 : i + 16], "little") <= len(data) - i
        ]
        assert len(headers) > 4
        assert set(headers) == {(4, minor)}


@pytest.mark.parametrize("minor", range(5))
@pytest.mark.parametrize("tag", [None, bytes(range(16))])
def test_a_written_ciphertext_is_changed_to_another_version(
    small_oracle: "SealOracle", rng: np.random.Generator, minor: int, tag: bytes | None
) -> None:
    shape = small_oracle.parameters
    ciphertext = interop.read_ciphertext(small_oracle.saved(small_oracle.ciphertext(rng)), shape)
    old, new = (
        interop.with_key_tag(interop.write_ciphertext(ciphertext, shape, version=version), tag)
        for version in ((4, 4), (4, minor))
    )
    assert ciphertext_start(old[:CIPHERTEXT_START], (4, minor)) + old[CIPHERTEXT_START:] == new
    assert interop.read_ciphertext(new, shape).data.tolist() == ciphertext.data.tolist()


def test_what_is_no_start_of_a_written_ciphertext_is_not_changed(
    small_oracle: "SealOracle", rng: np.random.Generator
) -> None:
    shape = small_oracle.parameters
    ciphertext = interop.read_ciphertext(small_oracle.saved(small_oracle.ciphertext(rng)), shape)
    data = interop.write_ciphertext(ciphertext, shape)
    packed = interop.write_ciphertext(ciphertext, shape, compression=Compression.ZSTD)
    for start, words in (
        (data[: CIPHERTEXT_START - 1], "16 bytes expected, 15 left"),
        (packed[:CIPHERTEXT_START], "compressed, and its version was to be changed"),
        (bytes(CIPHERTEXT_START), "no SEAL header"),
        (b"", "nothing there"),
        (interop.write_parameters(shape)[:CIPHERTEXT_START], "SEAL header|written by"),
    ):
        with pytest.raises(InteropError, match=words):
            ciphertext_start(start, (4, 1))
    with pytest.raises(InteropError, match=r"SEAL version 4\.5 is not known"):
        ciphertext_start(data[:CIPHERTEXT_START], (4, 5))


@pytest.mark.parametrize("version", [(3, 7), (4, 5), (4, -1), (5, 0)])
def test_an_unknown_version_is_not_written(
    small_oracle: "SealOracle", version: tuple[int, int]
) -> None:
    with pytest.raises(InteropError, match=r"not known here: write for 4\.0 … 4\.4"):
        interop.write_parameters(small_oracle.parameters, version=version)


@pytest.mark.parametrize("method", [Compression.ZLIB, Compression.ZSTD])
def test_compressed_objects_are_read_as_uncompressed_ones(
    oracle: "SealOracle", rng: np.random.Generator, method: Compression
) -> None:
    """The streams come from zlib and zstandard themselves, at other levels than we write."""
    squeeze = {
        Compression.ZLIB: lambda data: zlib.compress(data, 9),
        Compression.ZSTD: lambda data: zstandard.ZstdCompressor(
            level=10, write_content_size=False
        ).compress(data),
    }[method]
    for item, read in [
        (oracle.ciphertext(rng, 1), interop.read_ciphertext),
        (oracle.plaintext(rng), interop.read_plaintext),
        (oracle.public_key, interop.read_public_key),
        (oracle.keygen.secret_key(), interop.read_secret_key),
        (oracle.relin_keys, interop.read_relin_keys),
    ]:
        data = oracle.saved(item)
        body = squeeze(data[16:])
        header = struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 4, method, 0, 16 + len(body))
        found, expected = read(header + body, oracle.parameters), read(data, oracle.parameters)
        assert np.array_equal(getattr(found, "data", found), getattr(expected, "data", expected))


@pytest.mark.parametrize("method", Compression)
def test_what_is_written_compressed_is_read_back(
    small_oracle: "SealOracle", method: Compression
) -> None:
    shape, keys = small_oracle.parameters, small_oracle.galois_key
    data = interop.write_parameters(shape, compression=method)
    assert data[5] == method
    assert interop.read_parameters(data) == shape
    data = interop.write_galois_keys(keys, shape, compression=method)
    found = interop.read_galois_keys(data, shape)
    assert found.keys() == keys.keys()
    assert all(np.array_equal(found[element].data, keys[element].data) for element in keys)


def test_shake256_seeds_expand_as_in_seal(oracle: "SealOracle", rng: np.random.Generator) -> None:
    for drops in oracle.drops:
        data = seeded(oracle.saved(oracle.ciphertext(rng, drops)), rng.bytes(64), kind=2)
        expected = oracle.words(oracle.load(seal.Ciphertext(), data))
        assert np.array_equal(interop.read_ciphertext(data, oracle.parameters).data, expected)


def test_shake256_rejects_words_that_would_favour_small_residues() -> None:
    """A prime near 2^63 makes a word in two be drawn again; the plain definition says which."""
    seed, n, q = bytes(range(64)), 64, (1 << 63) + 29
    stream = b"".join(
        hashlib.shake_256(seed + struct.pack("<Q", block)).digest(4096) for block in range(2)
    )
    words = list(struct.unpack(f"<{len(stream) // 8}Q", stream))
    limit = (2**64 - 1) - (2**64 - 1) % q - 1
    spare = iter(words[n:])
    expected = []
    for word in words[:n]:
        while word >= limit:
            word = next(spare)
        expected.append(word % q)
    assert any(word >= limit for word in words[:n])
    assert expand_shake256(seed, n, [q]).tolist() == [expected]


@pytest.mark.parametrize("known", [True, False])
def test_a_file_is_told_from_its_bytes(
    small_oracle: "SealOracle", rng: np.random.Generator, known: bool
) -> None:
    oracle, shape = small_oracle, small_oracle.parameters
    cipher = oracle.saved(oracle.ciphertext(rng, 1))
    for data, kind, blind in [
        (oracle.saved(oracle.seal_parameters), "encryption parameters", None),
        (cipher, "ciphertext", "ciphertext, or public key"),
        (seeded(cipher, bytes(64)), "ciphertext", "ciphertext, or public key"),
        (oracle.saved(oracle.plaintext(rng)), "plaintext", "plaintext, or secret key"),
        (oracle.saved(oracle.public_key), "public key", "ciphertext, or public key"),
        (oracle.saved(oracle.keygen.secret_key()), "secret key", "plaintext, or secret key"),
        (oracle.saved(oracle.relin_keys), "relinearization keys", None),
        (oracle.saved(oracle.galois_keys), "Galois keys", None),
    ]:
        found = interop.describe(data, shape if known else None)
        assert found.kind == (kind if known else blind or kind)
        assert found.header.version == (4, 4)
    assert interop.describe(cipher, shape).fields["level"] == "2 of 3 limbs"
    assert interop.describe(cipher).fields["scale"] == "1073741824"
    with pytest.raises(InteropError, match="neither parameters nor plaintext"):
        interop.describe(wrapped(bytes(100)))


def test_parameters_that_ckks_cannot_use_are_refused(small_oracle: "SealOracle") -> None:
    data = bytearray(interop.write_parameters(small_oracle.parameters))
    with pytest.raises(InteropError, match="scheme 3 is neither BFV"):
        interop.read_parameters(bytes(data[:16] + b"\x03" + data[17:]))
    with pytest.raises(InteropError, match="primes: SEAL has"):
        interop.read_parameters(bytes(data[:25] + b"\xff" * 8 + data[33:]))
    for n, primes, message in [
        (3000, small_oracle.primes, "is not a power of two"),
        (2048, [], "0 primes"),
        (2048, small_oracle.primes[:1] * 2, "occurs twice"),
        (2048, [2**31 - 1], "is not a prime of at most 61 bits that is 1 mod 2N = 4096"),
    ]:
        with pytest.raises(InteropError, match=message):
            interop.SealParameters(n, tuple(primes))
    with pytest.raises(InteropError, match="one prime allows no key switching"):
        interop.SealParameters(2048, tuple(small_oracle.primes[:1])).to_ckks(2.0**30)


@pytest.mark.parametrize(("special", "dnum"), [((51, 52), 0), ((51,), 2)])
def test_parameters_that_seal_has_not_are_refused(special: tuple[int, ...], dnum: int) -> None:
    with pytest.warns(UserWarning, match="below 128"):
        parameters = CkksParameters.create(
            n=2048,
            prime_bits=(50, 40, 40, 40),
            special_bits=special,
            scale_bits=40,
            dnum=dnum,
            security=None,
        )
    with pytest.raises(
        InteropError, match="SEAL has exactly 1 special prime and one prime a digit"
    ):
        interop.SealParameters.from_parameters(parameters)


def test_objects_that_do_not_fit_are_not_written(small_oracle: "SealOracle") -> None:
    parameters, limbs = small_oracle.parameters, small_oracle.core.max_limbs
    good = np.zeros((2, limbs, small_oracle.n), dtype=np.uint64)
    for data, scale, message in [
        (good.astype(np.int64), 1.0, "type int64"),
        (good[:, :, :-1], 1.0, "the last of N"),
        (good[:1], 1.0, "size 1"),
        (np.repeat(good, 2, axis=1), 1.0, "limbs are outside"),
        (good, 0.0, "scale 0.0 is not"),
        (np.full_like(good, 2**63), 1.0, "a residue is not below its prime"),
    ]:
        with pytest.raises(InteropError, match=message):
            interop.write_ciphertext(Ciphertext(data, scale), parameters)
    with pytest.raises(InteropError, match="expected are 2 dimensions"):
        interop.write_plaintext(Plaintext(good, 1.0), parameters)
