"""Seeded damage: of bytes, of the words of a text, and of what a container of ours holds."""

import hashlib
import re
import struct
from collections.abc import Sequence

import numpy as np
import zstandard

HEADER = struct.Struct("<8sIIQQ32s")
"""Of ``files.container``: magic, version, 0, bytes of the body, compressed, and its digest."""

ODD = (
    *("", "0", "-1", "1", "2.5", "1e400", "9" * 20, "18446744073709551615", "true", "null", "nan"),
    *('"', '""', "[]", "{}", "[[[[", '{"":0},' * 9, "'", "\\u0000", "é", "1979-05-27"),
)
_WORDS = re.compile(rb"[\w.#%!@-]+|\W", re.S)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes with one to three changes, mostly where the structure is: at the front."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        most = len(changed) if rng.integers(2) else min(len(changed), 256)
        at = int(rng.integers(most + 1))
        match rng.integers(5):
            case 0:
                changed[at : at + 1] = rng.bytes(1)
            case 1:
                del changed[at : at + int(rng.integers(1, 64))]
            case 2:
                changed[at:at] = rng.bytes(int(rng.integers(1, 16)))
            case 3:  # a count of any size
                size = int(rng.choice([1, 2, 4, 8]))
                number = int(rng.choice([0, 1, 2**7, 2**16, 2**31, 2**62])) % (1 << 8 * size)
                changed[at : at + size] = number.to_bytes(size, "little")
            case _:
                start, count = int(rng.integers(most + 1)), int(rng.integers(1, 64))
                changed[at:at] = changed[start : start + count]
    return bytes(changed)


def reworded(text: bytes, rng: np.random.Generator) -> bytes:
    """A text some of whose words are dropped, repeated, exchanged or replaced by odd ones."""
    words = _WORDS.findall(text)
    if not words:
        return text
    for _ in range(rng.integers(1, 4)):
        at, other = rng.integers(len(words), size=2)
        odd = ODD[rng.integers(len(ODD))].encode()
        words[at] = (b"", odd, words[other], words[at] * 2, words[other] * 50)[rng.integers(5)]
    return b"".join(words)


def container(text: bytes, rest: bytes = b"") -> bytes:
    """A container with a right digest, of a JSON text and what stands behind it."""
    return contained(struct.pack("<Q", len(text)) + text + rest)


def contained(body: bytes) -> bytes:
    """A container of a body, with its digest."""
    packed = zstandard.compress(body)
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return HEADER.pack(b"\x89RSMITH\n", 1, 0, len(body), len(packed), digest) + packed


def body_of(data: bytes) -> bytes:
    """The body of a container."""
    return zstandard.ZstdDecompressor().decompressobj().decompress(data[HEADER.size :])


def recontained(data: bytes, rng: np.random.Generator) -> bytes:
    """A container whose text or arrays are damaged, and its digest right again."""
    body = body_of(data)
    (length,) = struct.unpack_from("<Q", body)
    text, rest = body[8 : 8 + length], body[8 + length :]
    if rng.integers(4):
        return container(reworded(text, rng), rest)
    return container(text, damaged(rest, rng))


def mixed(seeds: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """A damaged seed: as bytes, as text, or as a container where it is one."""
    data = seeds[rng.integers(len(seeds))]
    if data.startswith(b"\x89RSMITH\n") and rng.integers(4):
        return recontained(data, rng)
    return reworded(data, rng) if rng.integers(2) else damaged(data, rng)
