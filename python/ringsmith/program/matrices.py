"""Plain matrices times encrypted vectors, by diagonals."""

from collections.abc import Callable, Iterable

import numpy as np

from ringsmith.program.plain import PlainValues
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector


def matvec(weights: object, x: EncryptedVector) -> EncryptedVector:
    """Returns the product of a plain matrix and an encrypted vector, through one level.

    Diagonals (Halevi and Shoup 2014, eprint 2014/106, section 4.3) in baby and giant steps (Halevi
    and Shoup 2018, eprint 2018/244, section 3): with d diagonals that are not zero, d plain
    products and about 2 sqrt(d) rotations. A matrix of fewer rows than columns is folded, as in
    GAZELLE (Juvekar, Vaikuntanathan, Chandrakasan 2018, section 4): as many diagonals as rows, and
    then log2(columns / rows) rotations. Rows and columns are padded with zeros to powers of two.

    Args:
        weights: Matrix of shape (rows, columns); neither may exceed N/2; not all zero.
        x: The vector in slots 0 … columns - 1. The other slots must hold zeros, as those of a fresh
            input of that length do: multiply by ones of that length where something was added. In
            BFV each of the two rows may hold such a vector.

    Returns:
        The product in slots 0 … rows - 1. The other slots hold zeros if rows, padded, are at least
        as many as columns, and else partial sums.

    Raises:
        ProgramError: When the matrix is none, is zero or too large.
    """
    space, source = x.trace.space, caller()
    slots = space.row
    a = _padded(space.matrix(weights, source), slots, source)
    rows, columns = a.shape
    length, count = max(a.shape), min(a.shape)
    entries = np.arange(length)
    diagonals = {}
    for k in range(count):
        diagonal = a[entries % rows, (entries + k) % columns]
        if diagonal.any():
            diagonals[k] = np.concatenate([diagonal, np.zeros(slots - length, a.dtype)])
    total = _diagonal_sum(_repeated(x, columns, length + count), diagonals)
    for k in range((length // rows).bit_length() - 1):
        total = total + total.rotate(rows << k)
    return total


def _padded(a: PlainValues, slots: int, source: SourceLine) -> PlainValues:
    """Returns the matrix with zeros up to powers of two."""
    if max(a.shape) > slots:
        raise source.error(
            f"a matrix of {a.shape[0]} x {a.shape[1]} exceeds the {slots} slots of a ciphertext: "
            "split it, or raise N"
        )
    if not a.any():
        raise source.error(
            "the matrix is zero, and the product does not depend on the encrypted vector: leave it "
            "out"
        )
    padded = np.zeros([1 << (size - 1).bit_length() for size in a.shape], a.dtype)
    padded[: a.shape[0], : a.shape[1]] = a
    return padded


def _repeated(x: EncryptedVector, period: int, length: int) -> EncryptedVector:
    """Returns x repeated with its period over at least ``length`` slots, or over all."""
    filled = period
    while filled < min(length, x.trace.space.row):
        x = x + x.rotate(-filled)
        filled *= 2
    return x


def _diagonal_sum(x: EncryptedVector, diagonals: dict[int, PlainValues]) -> EncryptedVector:
    """Returns the sum over k of diagonal k times x rotated by k, in baby and giant steps.

    With k = g + b, where g is a multiple of the number of baby steps, diagonal k times x rotated by
    k is the rotation by g of (diagonal k rotated back by g) times (x rotated by b): the inner
    rotations are shared by all g, the outer ones by all b.
    """
    baby = min(range(1, max(diagonals) + 2), key=lambda size: _rotations(diagonals, size))

    def shifted(k: int, start: int) -> PlainValues:
        return x.trace.space.in_every_row(np.roll(diagonals[k], start))

    def giant_step(start: int) -> EncryptedVector:
        steps = [k for k in diagonals if k - k % baby == start]
        inner = _sum(steps, lambda k: x.rotate(k - start) * shifted(k, start))
        return inner.rotate(start)

    return _sum(sorted({k - k % baby for k in diagonals}), giant_step)


def _rotations(diagonals: Iterable[int], baby: int) -> int:
    inner = {k % baby for k in diagonals} - {0}
    outer = {k // baby for k in diagonals} - {0}
    return len(inner) + len(outer)


def _sum(indices: Iterable[int], term: Callable[[int], EncryptedVector]) -> EncryptedVector:
    first, *rest = indices
    total = term(first)
    for index in rest:
        total = total + term(index)
    return total
