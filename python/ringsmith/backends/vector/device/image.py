"""What lies in a cluster's memory, row by row: limbs in the layout of their form, and tables."""

from collections.abc import Callable, Iterator

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
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
    for limb in dict.fromkeys(load.limb for own in executable.programs for load in own.loads):
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
