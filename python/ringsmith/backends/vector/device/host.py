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
from ringsmith.backends.vector.design.word_layout import Pass, Shape, forward_passes, inverse_passes
from ringsmith.backends.vector.device.image import Lists
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.instruction_set import ARRANGE, ISA, PASS

MAX_PASSES = ISA.value("max_passes")
"""Of a direction; those of inverse transforms come behind them in the passes' memory."""

LISTS = ("loads", "computing", "stores")
"""A cluster's lists, as registers number them."""

Write = tuple[int, int]
"""Address of a register, and what is written there."""

_HALF_BITS = 32


def halves(address: int, value: int) -> list[Write]:
    """Writes of a register of 64 bits, the lower half first."""
    return [(address, value & (1 << _HALF_BITS) - 1), (address + 4, value >> _HALF_BITS)]


def _pass(each: Pass, inverse: bool) -> int:
    arrange = "arrange_straight"
    if inverse:
        arrange = "arrange_back" if each.rotate else "arrange_reverse"
    return PASS.pack(
        {
            "stages": each.stages,
            "permute": {
                "rotate": int(each.rotate and not inverse),
                "exchange": each.exchange,
                "arrange": ARRANGE.number(arrange),
            },
            "turn": each.turn,
            "table_row": each.table,
            "shift": each.shift,
        }
    )


def _passes(shape: Shape) -> dict[int, int]:
    """The memory of passes in a ring: bits of structure ``pass`` by address."""
    both = [(0, forward_passes(shape), False), (MAX_PASSES, inverse_passes(shape), True)]
    return {
        first + number: _pass(each, inverse)
        for first, found, inverse in both
        for number, each in enumerate(found)
    }


def _modulus(design: VectorDesign, q: int) -> tuple[int, int, int]:
    """What the memory of primes has of one: q, and mu and shift of Barrett's reduction.

    Of a power of two the shift is its logarithm and mu is 0: the upper part is the quotient.
    """
    bits = (q - 1).bit_length()
    return q, (1 << (design.word_bits + bits)) // q - (1 << design.word_bits), bits


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
        q, mu, shift = _modulus(executable.design, q)
        values += halves(VectorRegister.PRIME_Q, q)
        values += halves(VectorRegister.PRIME_MU, mu)
        values.append((VectorRegister.PRIME, number | shift << 8))
    for number, bits in _passes(shape).items():
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
