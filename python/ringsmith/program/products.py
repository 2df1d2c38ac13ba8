"""Products of two encrypted matrices.

Jiang, Kim, Lauter, Song 2018, "Secure outsourced matrix computation and application to neural
networks" (eprint 2018/1041), section 3: a square matrix of size d lies in one ciphertext, row by
row. With sigma(A)[i, j] = A[i, i + j] and tau(B)[i, j] = B[i + j, j], indices modulo d, the product
is the sum over k of sigma(A), its columns rotated by k, times tau(B), its rows rotated by k, entry
by entry. Three levels: one for sigma and tau, one for rotating columns, one for the products.

Arrays multiply m x k by k x n in m * k * n slots and one level, which inputs are packed for. Here
matrices stay in d * d slots, so that a product of products costs 6 * d rotations and not d times as
many ciphertexts.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError
from ringsmith.program import clearing
from ringsmith.program.arrays import Array, ArrayNode
from ringsmith.program.functions import sum_terms
from ringsmith.program.plain import checked_power_of_two, whole_number
from ringsmith.program.recorded import check_encrypted
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector


def matmul(a: EncryptedVector, b: EncryptedVector, size: int) -> EncryptedVector:
    """Returns the product of two encrypted square matrices, in both schemes.

    About 6 * size rotations, ``size`` products of ciphertexts and 3 levels. A matrix of another
    shape is padded with zeros (``pack_matrix``).

    Args:
        a: The left matrix, size*size numbers row by row: entry (i, j) is number i*size + j. Of all
            slots (``EncryptedVector``) the first ones count.
        b: The right one, in the same way.
        size: Rows and columns, a power of two; size*size must not exceed N/2.

    Returns:
        The product, size*size numbers row by row. They stand again in every block of as many slots,
        so that a product of products costs no level more.

    Raises:
        ProgramError: When the size is illegal.
    """
    for each in (a, b):
        check_encrypted(each, "matmul(a, b, size)", caller(), "a @ b")
    source, row, trace = caller(), a.trace.space.row, a.trace
    size = checked_power_of_two("size", size, 1 << ((row.bit_length() - 1) // 2), source)
    area = size * size
    left, right = (_repeated(each, area, row, source) for each in (a, b))
    left, right = _sigma(left, size), _tau(right, size)
    total = left * right
    for k in range(1, size):
        total = total + _turned_columns(left, size, k) * _turned(right, k * size, row)

    def product(first: Array, second: Array) -> Array:
        matrices = (each[:area].reshape(size, size) for each in (first, second))
        return np.asarray(next(matrices) @ next(matrices)).reshape(-1)

    node = ArrayNode(area, product, (a.array, b.array), filled=row)
    return EncryptedVector(trace, total.index, node)


def pack_matrix(matrix: ArrayLike, size: int | None = None) -> NDArray[np.generic]:
    """Returns a matrix as the vector that ``matmul`` takes: padded with zeros, row by row.

    Args:
        matrix: At most ``size`` rows and columns of numbers.
        size: A power of two; None: the least that does.

    Returns:
        size*size numbers.

    Raises:
        ProgramError: When it is no matrix, or larger.
    """
    array = np.asarray(matrix)
    if array.ndim != 2 or not array.size:
        raise ProgramError(f"an array of shape {array.shape} is no matrix: use two dimensions")
    least = 1 << (max(array.shape) - 1).bit_length()
    size = least if size is None else size
    if whole_number(size) is None or size & (size - 1) or size < least:
        raise ProgramError(
            f"size = {size!r:.60} is not a power of two of at least {least}, for {array.shape} "
            "entries"
        )
    padded = np.zeros((size, size), array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    return padded.reshape(-1)


def unpack_matrix(
    vector: ArrayLike, size: int, shape: tuple[int, int] | None = None
) -> NDArray[np.generic]:
    """Returns the matrix that a decrypted result of ``matmul`` holds.

    Args:
        vector: At least size*size numbers.
        size: The size that ``matmul`` was given.
        shape: Rows and columns that count; None: all.

    Raises:
        ProgramError: When there are too few numbers.
    """
    array = np.asarray(vector)
    if array.ndim != 1 or array.size < size * size:
        raise ProgramError(
            f"a vector of shape {array.shape} holds no matrix of size {size}: it has "
            f"{size * size} numbers"
        )
    rows, columns = shape or (size, size)
    return array[: size * size].reshape(size, size)[:rows, :columns]


def _repeated(x: EncryptedVector, area: int, row: int, source: SourceLine) -> EncryptedVector:
    """The first ``area`` slots again and again, so that rotations wrap around them."""
    node = x.array
    if not node.all_slots and node.numbers != area:
        raise source.error(
            f"a matrix of {area} numbers is expected, row by row, and the vector holds "
            f"{node.numbers}: declare inputs of size*size numbers; pack_matrix pads a matrix"
        )
    if not node.all_slots and node.repeats(area, row):
        return x.slots_of()
    start = x.slots_of(clearing.cleared(x.trace, x.index, area, source))
    return start if area == row else sum_terms(start, row // area, -area)


def _turned(x: EncryptedVector, steps: int, row: int) -> EncryptedVector:
    """What repeats, rotated the shorter way."""
    return x.rotate(steps if 2 * steps <= row else steps - row)


def _sigma(x: EncryptedVector, size: int) -> EncryptedVector:
    """Row i rotated to the left by i."""
    rows, columns = np.divmod(np.arange(size * size), size)
    masks = {}
    for k in range(-size + 1, size):
        # Slot (i, j) wants column i + j mod d of its row: k = i where i + j < d, else i - d.
        masks[k] = np.where(rows + columns < size, rows == k, rows - size == k)
    return _masked(x, masks)


def _tau(x: EncryptedVector, size: int) -> EncryptedVector:
    """Column j rotated upwards by j."""
    columns = np.arange(size * size) % size
    return _masked(x, {k * size: columns == k for k in range(size)})


def _turned_columns(x: EncryptedVector, size: int, k: int) -> EncryptedVector:
    """Every row rotated to the left by k."""
    columns = np.arange(size * size) % size
    return _masked(x, {k: columns < size - k, k - size: columns >= size - k})


def _masked(x: EncryptedVector, masks: "dict[int, NDArray[np.bool_]]") -> EncryptedVector:
    """The sum of rotations of what repeats, each where its mask says so."""
    space = x.trace.space
    terms = [
        (x.rotate(steps) if steps else x) * np.tile(mask.astype(np.int64), space.slots // mask.size)
        for steps, mask in masks.items()
        if mask.any()
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
