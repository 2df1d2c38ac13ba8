"""What several tests of the core make: contexts, and SEAL's objects as bytes."""

import struct
from collections.abc import Callable

from ringsmith import _core
from ringsmith.objects import Residues

RandomResidues = Callable[..., Residues]
Shape = tuple[tuple[int, ...], int, int]
"""Bits of the primes, special primes, dnum."""


def context_of(n: int, shape: Shape) -> _core.Context:
    widths, special, dnum = shape
    found = {bits: _core.prime_search(bits, n, widths.count(bits)) for bits in set(widths)}
    return _core.Context(n, [found[bits].pop(0) for bits in widths], special, dnum)


def wrapped(payload: bytes, method: int = 0) -> bytes:
    """A SEAL object of version 4.4."""
    return struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 4, method, 0, 16 + len(payload)) + payload


def seeded(cipher: bytes, seed: bytes, kind: int = 1) -> bytes:
    """A SEAL ciphertext of size 2 with a seed in place of its second polynomial."""
    count = struct.unpack_from("<Q", cipher, 105)[0] // 2
    first = struct.pack("<Q", count) + cipher[113 : 113 + 8 * count]
    return wrapped(cipher[16:89] + wrapped(first) + wrapped(bytes([kind]) + seed))
