"""What a host writes into an accelerator before it starts a program."""

from collections.abc import Sequence

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    ClusterRegister,
    VectorRegister,
)
from ringsmith.backends.vector.device.lists import Lists
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.encoding import modulus, passes

LISTS = ("loads", "computing", "stores")
"""A cluster's lists, as registers number them."""

Write = tuple[int, int]
"""Address of a register, and what is written there."""

_HALF_BITS = 32


def halves(address: int, value: int) -> list[Write]:
    """Writes of a register of 64 bits, the lower half first."""
    return [(address, value & (1 << _HALF_BITS) - 1), (address + 4, value >> _HALF_BITS)]


def settings(executable: VectorExecutable, watchdog: int) -> list[Write]:
    """Writes of what all clusters take of a program: its ring, its primes and its passes.

    Args:
        executable: The program.
        watchdog: Cycles after which memory counts as silent.
    """
    shape = executable.shape
    values: list[Write] = [
        (VectorRegister.WATCHDOG, watchdog),
        (VectorRegister.RING, shape.row_bits | shape.passes << 5),
    ]
    for number, q in enumerate(executable.moduli):
        q, mu, shift = modulus(executable.design, q)
        values += halves(VectorRegister.PRIME_Q, q)
        values += halves(VectorRegister.PRIME_MU, mu)
        values.append((VectorRegister.PRIME, number | shift << 8))
    for number, bits in passes(shape).items():
        values += halves(VectorRegister.PASS_BITS, bits)
        values.append((VectorRegister.PASS, number))
    return values


def list_writes(cluster: int, own: Lists) -> list[Write]:
    """Writes that say where a cluster's lists lie, and how long they are."""
    first = CLUSTERS + cluster * CLUSTER_BYTES
    values: list[Write] = []
    for name, address, count in zip(LISTS, own.addresses, own.counts, strict=True):
        values.append((first + ClusterRegister[name.upper()], count))
        values += halves(first + ClusterRegister[f"{name.upper()}_AT"], address)
    return values


def stored(design: VectorDesign, rows: Sequence[int] | Words) -> Words:
    """Rows of words as memory has them, 64 bits at a time."""
    words = np.asarray(rows, dtype=np.uint64)
    if design.word_bytes == 8:
        return words
    return words[:, 0::2] | words[:, 1::2] << np.uint64(_HALF_BITS)


def fetched(design: VectorDesign, rows: Words) -> Words:
    """Rows of words, from what memory has of them."""
    if design.word_bytes == 8:
        return rows
    parts = np.stack([rows & np.uint64((1 << _HALF_BITS) - 1), rows >> np.uint64(_HALF_BITS)], -1)
    return parts.reshape(len(rows), -1)
