"""SEAL files that are damaged, hostile or somebody else's: a clear error each, bounded memory."""

import os
import re
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.shared import seeded, wrapped

from ringsmith import _core, interop
from ringsmith.errors import InteropError
from ringsmith.interop import SealParameters
from ringsmith.objects import Ciphertext, KeySwitchKey, Plaintext, PublicKey, Residues

N = 1024
PARAMETERS = SealParameters(N, tuple(sorted(_core.prime_search(30, N, 3))))
Change = Callable[[bytes], bytes]


def residues(limbs: int, *leading: int) -> Residues:
    """Canonical residues (..., limbs, N) from a fixed seed."""
    rng = np.random.default_rng(1)
    words = [rng.integers(0, q, (*leading, N), dtype=np.uint64) for q in PARAMETERS.primes[:limbs]]
    return np.ascontiguousarray(np.stack(words, axis=-2))


CIPHER = interop.write_ciphertext(Ciphertext(residues(2, 2), 2.0**20), PARAMETERS)
FILES = {
    "parameters": interop.write_parameters(PARAMETERS),
    "plaintext": interop.write_plaintext(Plaintext(residues(2), 2.0**20), PARAMETERS),
    "ciphertext": CIPHER,
    "seeded ciphertext": seeded(CIPHER, bytes(range(64))),
    "public key": interop.write_public_key(PublicKey(residues(3, 2)), PARAMETERS),
    "secret key": interop.write_secret_key(residues(3), PARAMETERS),
    "relinearization keys": interop.write_relin_keys(KeySwitchKey(residues(3, 2, 2)), PARAMETERS),
    "Galois keys": interop.write_galois_keys({3: KeySwitchKey(residues(3, 2, 2))}, PARAMETERS),
}
"""A good file of every kind."""

READERS: dict[str, Callable[[interop.seal_stream.Source], object]] = {
    "parameters": interop.read_parameters,
    "plaintext": lambda data: interop.read_plaintext(data, PARAMETERS),
    "ciphertext": lambda data: interop.read_ciphertext(data, PARAMETERS),
    "seeded ciphertext": lambda data: interop.read_ciphertext(data, PARAMETERS),
    "public key": lambda data: interop.read_public_key(data, PARAMETERS),
    "secret key": lambda data: interop.read_secret_key(data, PARAMETERS),
    "relinearization keys": lambda data: interop.read_relin_keys(data, PARAMETERS),
    "Galois keys": lambda data: interop.read_galois_keys(data, PARAMETERS),
}


def put(position: int, data: bytes) -> Change:
    """Overwrites bytes."""
    return lambda good: good[:position] + data + good[position + len(data) :]


def word(position: int, value: int) -> Change:
    """Overwrites a word."""
    return put(position, struct.pack("<Q", value))


def scale(value: float) -> Change:
    """Overwrites a ciphertext's scale."""
    return put(73, struct.pack("<d", value))


def bomb(method: int) -> bytes:
    """256 MiB of zeros, compressed."""
    zeros = bytes(1 << 28)
    if method == 1:
        return wrapped(zlib.compress(zeros, 1), method)
    return wrapped(zstandard.ZstdCompressor().compress(zeros), method)


@dataclass(frozen=True)
class Case:
    """A malformed file: what was done to a good file of a kind, and what the reader says."""

    damage: str
    kind: str
    change: Change
    message: str


CASES = [
    Case(
        "empty file",
        "ciphertext",
        lambda _: b"",
        "byte 0: nothing there: the file is empty or cut off",
    ),
    Case("another file format", "ciphertext", put(0, b"PK"), "no SEAL header"),
    Case("wrong header size", "ciphertext", put(2, b"\x18"), "no SEAL header"),
    Case("reserved bits set", "ciphertext", put(6, b"\x01"), "no SEAL header"),
    Case("SEAL 3.7", "ciphertext", put(3, b"\x03\x07"), "written by SEAL 3.7; only 4.0 … 4.4"),
    Case("a later SEAL", "ciphertext", put(4, b"\x09"), "written by SEAL 4.9; only 4.0 … 4.4"),
    Case("unknown compression", "ciphertext", put(5, b"\x03"), "compression 3 is not none (0)"),
    Case("size beyond the file", "ciphertext", word(8, 2**64 - 1), "cut off or damaged"),
    Case("size below the header's", "ciphertext", word(8, 15), "less than its own"),
    Case("last byte missing", "ciphertext", lambda good: good[:-1], "cut off or damaged"),
    Case("trailing byte", "ciphertext", lambda good: good + b"\0", "1 bytes too many"),
    Case("oversized", "plaintext", lambda _: wrapped(bytes(1 << 20)), "such an object has at most"),
    Case("not zlib", "ciphertext", put(5, b"\x01"), "damaged zlib stream"),
    Case("not zstd", "ciphertext", put(5, b"\x02"), "damaged zstd stream"),
    Case(
        "zlib cut off",
        "ciphertext",
        lambda good: wrapped(zlib.compress(good[16:])[:-9], 1),
        "the zlib stream is cut off",
    ),
    Case(
        "zstd cut off",
        "ciphertext",
        lambda good: wrapped(zstandard.compress(good[16:])[:-9], 2),
        "the zstd stream is cut off",
    ),
    Case(
        "bytes behind zlib",
        "ciphertext",
        lambda good: wrapped(zlib.compress(good[16:]) + b"more", 1),
        "4 bytes too many behind the zlib stream",
    ),
    Case(
        "bytes behind zstd",
        "ciphertext",
        lambda good: wrapped(zstandard.compress(good[16:]) + b"more", 2),
        "4 bytes too many behind the zstd stream",
    ),
    Case("zlib bomb", "ciphertext", lambda _: bomb(1), "made to exhaust memory"),
    Case("zstd bomb", "ciphertext", lambda _: bomb(2), "made to exhaust memory"),
    Case("bomb of keys", "Galois keys", lambda _: bomb(1), "made to exhaust memory"),
    Case("compressed inside", "ciphertext", put(94, b"\x01"), "(zlib) inside another object"),
    Case("not in NTT form", "ciphertext", put(16, bytes(32)), "not in NTT form, as keys and CKKS"),
    Case("other parameters", "ciphertext", put(16, b"\x01\x02"), "other encryption parameters"),
    Case("NTT flag off", "ciphertext", put(48, b"\0"), "NTT-form flag is 0"),
    Case("one polynomial", "ciphertext", word(49, 1), "size 1 is outside 2 … 16"),
    Case("2^64 - 1 polynomials", "ciphertext", word(49, 2**64 - 1), "is outside 2 … 16"),
    Case("size and data disagree", "ciphertext", word(49, 3), "the number of words is 4096"),
    Case("another N", "ciphertext", word(57, 2048), "N is 2048, but the parameters need 1024"),
    Case("another level", "ciphertext", word(65, 1), "the number of limbs is 1"),
    Case("NaN scale", "ciphertext", scale(float("nan")), "scale nan is not a positive finite"),
    Case("infinite scale", "ciphertext", scale(float("inf")), "scale inf is not a positive finite"),
    Case("negative scale", "ciphertext", scale(-1.0), "scale -1.0 is not a positive finite"),
    Case("zero scale", "ciphertext", scale(0.0), "scale 0.0 is not a positive finite"),
    Case("correction factor 2", "ciphertext", word(81, 2), "the correction factor is 2"),
    Case("2^61 words", "ciphertext", word(105, 2**61), "the number of words is 23058430092136"),
    Case("residue = prime", "ciphertext", word(113, PARAMETERS.primes[0]), "not below its prime"),
    Case("residue 2^64 - 1", "secret key", word(88, 2**64 - 1), "not below its prime"),
    Case("unknown generator", "seeded ciphertext", put(-65, b"\x07"), "random generator 7 is not"),
    Case("coefficient count", "plaintext", word(48, 5), "the number of coefficients is 5"),
    Case("key as data", "ciphertext", lambda _: FILES["public key"], "is at the key level"),
    Case("data as key", "public key", lambda _: FILES["ciphertext"], "number of primes is 2"),
    Case("three-part key", "public key", word(49, 3), "size 3 is not 2, as a key's is"),
    Case("2^40 keys", "Galois keys", word(48, 2**40), "entries; SEAL has at most 1024"),
    Case("2^40 digits", "relinearization keys", word(56, 2**40), "the number of digits is 1099511"),
    Case(
        "keys of other powers",
        "relinearization keys",
        lambda good: wrapped(good[16:48] + struct.pack("<QQ", 2, 0) + good[56:]),
        "keys for the secret's powers 3; expected is 2 alone",
    ),
    Case("BGV parameters", "parameters", put(16, b"\x03"), "scheme 3 is neither BFV (1) nor CKKS"),
    Case("BFV without t", "parameters", put(16, b"\x01"), "the plain modulus is 0, and BFV needs"),
    Case("2^62 primes", "parameters", word(25, 2**62), "primes: SEAL has 1 … 64"),
    Case("N = 1000", "parameters", word(17, 1000), "N = 1000 is not a power of two"),
    Case("composite modulus", "parameters", word(49, 2**30 + 1), "is not a prime of at most 61"),
]
"""Each with a part of its message."""


def test_good_files_are_read() -> None:
    for kind, data in FILES.items():
        assert READERS[kind](data) is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.damage}")
def test_each_malformed_file_has_its_message(case: Case, tmp_path: Path) -> None:
    good = FILES[case.kind]
    damaged = case.change(good)
    assert damaged != good
    with pytest.raises(InteropError, match=re.escape(case.message)):
        READERS[case.kind](damaged)
    path = tmp_path / "damaged.seal"  # as a command reads it
    path.write_bytes(damaged)
    with pytest.raises(InteropError, match=f"{re.escape(case.message)}|such an object has at most"):
        READERS[case.kind](path)


@pytest.mark.parametrize("kind", FILES)
def test_every_truncation_is_refused(kind: str, tmp_path: Path) -> None:
    data = FILES[kind]
    ends = {length for length in (len(data) - 65, len(data) - 8, len(data) - 1) if length > 0}
    for length in sorted({*range(min(len(data), 240)), *ends}):
        with pytest.raises(InteropError):
            READERS[kind](data[:length])
    path = tmp_path / "file.seal"
    path.write_bytes(data[:-1])
    with pytest.raises(InteropError, match=f"{path}: SEAL .* cut off"):
        READERS[kind](path)


@pytest.mark.parametrize("kind", ["ciphertext", "Galois keys"])
@pytest.mark.parametrize("method", [1, 2])
def test_a_bomb_takes_bounded_memory(kind: str, method: int) -> None:
    data = bomb(method)
    tracemalloc.start()
    with pytest.raises(InteropError, match="exhaust memory"):
        READERS[kind](data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 << 20  # of 256 MiB


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InteropError, match="cannot be read: No such file"):
        READERS["ciphertext"](tmp_path / "absent")
    with pytest.raises(InteropError, match="cannot be read: Is a directory"):
        READERS["ciphertext"](tmp_path)
    with pytest.raises(InteropError, match="not a regular file"):
        READERS["ciphertext"](os.devnull)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InteropError, match="not a regular file"):
        READERS["ciphertext"](tmp_path / "pipe")  # at once, though nobody writes to it


def test_a_file_larger_than_its_kind_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.seal"
    with path.open("wb") as file:
        file.write(wrapped(b"")[:8] + struct.pack("<Q", 1 << 40))
        file.truncate(1 << 40)  # sparse: takes no disk
    with pytest.raises(InteropError, match="1099511627776 bytes; such an object has at most"):
        READERS["ciphertext"](path)


def arrays_of(result: object) -> list[Residues]:
    """All residues of whatever a reader returned."""
    if isinstance(result, SealParameters):
        return []
    if isinstance(result, np.ndarray):
        return [result]
    return [key.data for key in result.values()] if isinstance(result, dict) else [result.data]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("method", [0, 1, 2])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_damage_is_refused_or_harmless_but_never_crashes(
    kind: str, method: int, data: st.DataObject
) -> None:
    """Bytes are changed before or after compression, mostly where the structure is."""
    damaged = bytearray(FILES[kind])
    if method and data.draw(st.booleans()):
        damaged = bytearray(wrapped(squeezed(bytes(damaged[16:]), method), method))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, min(len(damaged), 240) - 1))
        damaged[position] = data.draw(st.integers(0, 255))
    if method and damaged[5] == 0:
        damaged = bytearray(wrapped(squeezed(bytes(damaged[16:]), method), method))
    try:
        result = READERS[kind](bytes(damaged))
    except InteropError as error:
        assert str(error)  # noqa: PT017 - refusing is one of two right answers
        return
    primes = np.array(PARAMETERS.primes, dtype=np.uint64)
    for array in arrays_of(result):
        assert (array < primes[: array.shape[-2], np.newaxis]).all()


def squeezed(payload: bytes, method: int) -> bytes:
    """A payload compressed."""
    return zlib.compress(payload, 1) if method == 1 else zstandard.compress(payload, 1)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_a_file_is_read_only_as_far_as_it_makes_sense(
    method: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file with a header of Galois keys, in the limit of their size, and zeros."""
    size, path = 1 << 26, tmp_path / "keys.seal"
    with path.open("wb") as file:
        file.write(struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 4, method, 0, size))
        file.truncate(size)
    read, pread = [], os.pread

    def counted(descriptor: int, count: int, position: int) -> bytes:
        read.append(count)
        return pread(descriptor, count, position)

    monkeypatch.setattr(os, "pread", counted)
    with pytest.raises(InteropError, match=r"keys\.seal"):
        READERS["Galois keys"](path)
    with pytest.raises(InteropError, match=r"keys\.seal"):
        interop.describe(path)
    assert 0 < sum(read) < 1 << 20


def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cipher.seal"
    path.write_bytes(CIPHER)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, count, at: pread(fd, count, at) if at < 90 else b"")
    with pytest.raises(InteropError, match="the file became shorter while it was read"):
        READERS["ciphertext"](path)
