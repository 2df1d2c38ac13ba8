"""What lies in a cluster's memory, row by row: limbs in their form's layout, tables, and lists.

A cluster's three lists lie there in slots of 256 bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import Place
from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.word_layout import (
    Layout,
    Shape,
    coefficient_layout,
    forward_passes,
    ntt_layout,
    placed,
    table,
    table_rows,
)
from ringsmith.backends.vector.device.residues import Words, multiplied
from ringsmith.backends.vector.isa.encoding import instruction, load, store
from ringsmith.backends.vector.isa.instructions import SPILLED, Limb
from ringsmith.graph.types import Form


def host_rows(
    executable: VectorExecutable, fetch: Callable[[Limb], Words]
) -> Iterator[tuple[Limb, Words]]:
    """The rows that a host puts into memory: inputs, keys and tables, one after the other.

    Args:
        executable: The program.
        fetch: Returns N words of an input or a key.
    """
    for limb in dict.fromkeys(each.limb for own in executable.programs for each in own.loads):
        if limb.kind == "table":
            yield limb, _table(executable, *limb.index)
        elif limb.kind != SPILLED:
            yield limb, placed(executable.shape, limb_layout(executable, limb), fetch(limb))


def limb_layout(executable: VectorExecutable, limb: Limb) -> Layout:
    """The layout of an input's, an output's or a key's words."""
    graph = executable.graph
    kinds = graph.inputs if limb.kind == "input" else graph.outputs
    form = Form.NTT if limb.kind == "key" else kinds[limb.name].form
    return (ntt_layout if form is Form.NTT else coefficient_layout)(executable.shape)


def powers(log_n: int, q: int, root: int) -> Words:
    """SEAL's table of factors: root^brv(i) mod q."""
    found = np.ones(1, dtype=np.uint64)
    for bit in range(log_n)[::-1]:
        # Bit `bit` of the exponent is bit log_n - 1 - bit of the index.
        step = pow(root, 1 << bit, q)
        found = np.concatenate([found, multiplied(found, step, q)])
    return found


def factor_rows(shape: Shape, q: int, root: int, factor: int) -> Words:
    """A prime's table for the twiddle memory, times a factor; where a pass leaves a stage out, -1.

    Args:
        shape: The array, and the ring.
        q: The prime.
        root: The primitive 2N-th root whose powers the factors are.
        factor: What the design's multiplier divides by, modulo q.
    """
    rows = multiplied(table(shape, powers(shape.log_n, q, root)), factor, q)
    node = np.arange(rows.shape[1]) % (1 << shape.log_radix)
    for each in forward_passes(shape):
        for position in range(shape.log_radix):
            if not each.stages >> position & 1:
                nodes = 1 << (shape.log_radix - 1 - position)
                last = each.table + (1 << (shape.row_bits - each.shift))
                rows[each.table : last, (nodes <= node) & (node < 2 * nodes)] = q - factor
    assert len(rows) == table_rows(shape)
    return rows


def _table(executable: VectorExecutable, prime: int, inverse: int) -> Words:
    graph = executable.graph
    q, root = graph.primes[prime], graph.roots[prime]
    root = pow(root, -1, q) if inverse else root
    return factor_rows(executable.shape, q, root, executable.design.factor(q))


BEAT_WORDS = package.LIST_BITS // 64
"""Words of 64 bits of a beat."""

SLOT_WORDS = package.SLOT_BYTES // 8
"""Words of 64 bits of a slot of a list."""


@dataclass(frozen=True)
class Lists:
    """Lists of a cluster, one behind the other.

    Attributes:
        beats: What lies in memory, a row of 8 words of 64 bits for each beat.
        addresses: The byte at which each list begins: loads, computing, stores.
        counts: Items of each.
    """

    beats: Words
    addresses: tuple[int, ...]
    counts: tuple[int, ...]


def lists(executable: VectorExecutable, cluster: int, places: Mapping[Limb, Place]) -> Lists:
    """The lists of a cluster's program."""
    own, design = executable.programs[cluster], executable.design
    factors = [design.factor(q) for q in executable.moduli]
    parts = [
        _slots([load(each, places[each.limb].address) for each in own.loads], 2),
        _slots([instruction(each, factors) for each in own.computing], SLOT_WORDS),
        _slots([store(each, places[each.limb].address) for each in own.stores], 1),
    ]
    ends = np.cumsum([len(part) for part in parts])
    return Lists(
        np.concatenate(parts).reshape(-1, BEAT_WORDS),
        tuple(int(end - len(part)) * 8 for end, part in zip(ends, parts, strict=True)),
        (len(own.loads), len(own.computing), len(own.stores)),
    )


def _slots(items: Sequence[int], words: int) -> Words:
    """Items of this many words each, in whole slots."""
    content = b"".join(item.to_bytes(8 * words, "little") for item in items)
    flat = np.frombuffer(content, dtype="<u8").astype(np.uint64)
    return np.pad(flat, (0, -len(flat) % SLOT_WORDS))
