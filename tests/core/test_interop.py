"""SEAL's files: read as SEAL wrote them, written so that SEAL reads them, refused when damaged."""

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
import seal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringsmith import _core, interop
from ringsmith.errors import InteropError
from ringsmith.objects import Ciphertext, Plaintext, Residues
from ringsmith.params import CkksParameters

if TYPE_CHECKING:
    from tests.core.conftest import SealOracle


def wrapped(payload: bytes) -> bytes:
    """A SEAL object of version 4.4, uncompressed."""
    return struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 4, 0, 0, 16 + len(payload)) + payload


def seeded(whole: bytes, seed: bytes, kind: int = 1) -> bytes:
    """A SEAL ciphertext of size 2 with its second polynomial taken out and a seed put in."""
    count = struct.unpack_from("<Q", whole, 105)[0] // 2
    first = struct.pack("<Q", count) + whole[113 : 113 + 8 * count]
    return wrapped(whole[16:89] + wrapped(first) + wrapped(bytes([kind]) + seed))


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
    plain = _core.encode(oracle.core, values, 2.0**30, oracle.core.max_limbs)
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
    assert interop.SealParameters.from_ckks(converted) == small_oracle.parameters


# ---- damaged and hostile files -----------------------------------------------------------------

READERS = [
    ("ciphertext", interop.read_ciphertext),
    ("plaintext", interop.read_plaintext),
    ("public_key", interop.read_public_key),
    ("relin_keys", interop.read_relin_keys),
    ("galois_keys", interop.read_galois_keys),
    ("secret_key", interop.read_secret_key),
]


@pytest.fixture(scope="module")
def files(small_oracle: "SealOracle") -> dict[str, bytes]:
    """One file of every kind."""
    rng = np.random.default_rng(1)
    items = {
        "ciphertext": small_oracle.ciphertext(rng),
        "plaintext": small_oracle.plaintext(rng),
        "public_key": small_oracle.public_key,
        "relin_keys": small_oracle.relin_keys,
        "galois_keys": small_oracle.galois_keys,
        "secret_key": small_oracle.keygen.secret_key(),
    }
    data = {name: small_oracle.saved(item) for name, item in items.items()}
    data["ciphertext"] = seeded(data["ciphertext"], bytes(range(64)))
    return data


def heads(data: bytes) -> range:
    """Positions in the first bytes, where the structure is."""
    return range(min(len(data), 240))


@pytest.mark.parametrize(("kind", "read"), READERS)
def test_every_truncation_is_refused(
    files: dict[str, bytes], small_oracle: "SealOracle", kind: str, read: object
) -> None:
    data = files[kind]
    for length in [*heads(data), len(data) - 65, len(data) - 8, len(data) - 1]:
        with pytest.raises(InteropError):
            read(data[:length], small_oracle.parameters)
    with pytest.raises(InteropError, match="too many"):
        read(data + b"\0", small_oracle.parameters)


@pytest.mark.parametrize(("kind", "read"), READERS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_damage_is_refused_or_harmless_but_never_crashes(
    files: dict[str, bytes],
    small_oracle: "SealOracle",
    kind: str,
    read: object,
    data: st.DataObject,
) -> None:
    damaged = bytearray(files[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.sampled_from(heads(damaged)))
        damaged[position] = data.draw(st.integers(0, 255))
    try:
        result = read(bytes(damaged), small_oracle.parameters)
    except InteropError as error:
        assert str(error)  # noqa: PT017 - refusing is one of two right answers
        return
    primes = np.array(small_oracle.primes, dtype=np.uint64)
    for array in arrays_of(result):
        assert (array < primes[: array.shape[-2], np.newaxis]).all()


def arrays_of(result: object) -> list[Residues]:
    """All residues of whatever a reader returned."""
    if isinstance(result, np.ndarray):
        return [result]
    return [key.data for key in result.values()] if isinstance(result, dict) else [result.data]


@pytest.mark.parametrize(
    ("position", "change", "message"),
    [
        (0, b"\x00\x00", "no SEAL header"),
        (2, b"\x18", "no SEAL header"),
        (3, b"\x03\x07", r"written by SEAL 3\.7; only 4\.x is read"),
        (5, b"\x01", r"compressed \(zlib\): save it with compr_mode_type::none"),
        (5, b"\x02", r"compressed \(zstd\)"),
        (8, b"\xff" * 8, "cut off or damaged"),
        (8, b"\x0f" + bytes(7), "less than its own"),
        (16, bytes(32), "not in NTT form"),
        (16, b"\x01", "belongs to other encryption parameters"),
        (48, b"\x00", "NTT-form flag is 0"),
        (49, b"\x01", "size 1 is outside 2"),
        (49, b"\xff" * 8, "size 18446744073709551615 is outside"),
        (49, b"\x03", "the number of words is"),
        (57, b"\x00" * 8, "N is 0"),
        (65, b"\x01", "number of limbs is 1"),
        (73, struct.pack("<d", float("nan")), "scale nan is not a positive"),
        (73, struct.pack("<d", -1.0), "is not a positive"),
        (81, b"\x02", "correction factor is 2"),
        (105, b"\xff" * 8, "cut off or damaged"),
        (105, b"\x00\x00\x00\x00\x00\x00\x00\x20", "cut off or damaged"),
        (113, b"\xff" * 8, "a residue is not below its prime"),
    ],
)
def test_each_wrong_field_has_its_message(
    files: dict[str, bytes], small_oracle: "SealOracle", position: int, change: bytes, message: str
) -> None:
    data = bytearray(files["ciphertext"])
    data[position : position + len(change)] = change
    with pytest.raises(InteropError, match=message):
        interop.read_ciphertext(bytes(data), small_oracle.parameters)


def test_keys_and_data_do_not_stand_in_for_each_other(
    files: dict[str, bytes], small_oracle: "SealOracle"
) -> None:
    with pytest.raises(InteropError, match="at the key level"):
        interop.read_ciphertext(files["public_key"], small_oracle.parameters)
    with pytest.raises(InteropError, match="number of primes is 3"):
        interop.read_public_key(files["ciphertext"], small_oracle.parameters)
    with pytest.raises(InteropError, match="powers"):
        interop.read_relin_keys(files["galois_keys"], small_oracle.parameters)


def test_an_unknown_random_generator_is_refused(
    small_oracle: "SealOracle", rng: np.random.Generator
) -> None:
    data = seeded(small_oracle.saved(small_oracle.ciphertext(rng)), bytes(64), kind=2)
    with pytest.raises(InteropError, match="only BLAKE2Xb"):
        interop.read_ciphertext(data, small_oracle.parameters)


def test_parameters_that_ckks_cannot_use_are_refused(small_oracle: "SealOracle") -> None:
    data = bytearray(interop.write_parameters(small_oracle.parameters))
    with pytest.raises(InteropError, match="scheme 1 is not CKKS"):
        interop.read_parameters(bytes(data[:16] + b"\x01" + data[17:]))
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
