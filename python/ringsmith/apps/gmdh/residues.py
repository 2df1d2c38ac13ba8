"""An integer too large for one plain modulus, as residues modulo several: the Chinese remainder.

A forecast's integer has some 140 bits, and a plain modulus at most 60: the program runs once for
each of several primes t_i, on the same keys, and the results together give the integer, which lies
between -T/2 and T/2, T the product of the t_i (Bos et al. 2017, section 3.3, take large integers
apart in the same way).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.apps.gmdh.network import Integers
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters


def plain_bits(largest: int, count: int) -> int:
    """Returns how wide each of ``count`` plain moduli is, that integers up to ``largest`` fit."""
    return -(-(2 * largest + 1).bit_length() // count)


def with_moduli(parameters: BfvParameters, largest: int, count: int) -> list[BfvParameters]:
    """Returns the same parameters with ``count`` plain moduli that integers up to ``largest`` fit.

    The first has the given set's own; the others are the next smaller primes that batch.

    Raises:
        ParameterError: When the product of so many is too small.
    """
    first = parameters.plain_modulus
    found = _core.prime_search(first.bit_length(), parameters.n, count + len(parameters.primes) + 1)
    others = [t for t in found if t < first and t not in parameters.primes]
    moduli = [first, *others[: count - 1]]
    if len(moduli) < count or math.prod(moduli) <= 2 * largest:
        raise ParameterError(
            f"{len(moduli)} plain moduli of {first.bit_length()} bits do not hold integers of "
            f"{largest.bit_length()} bits and a sign: take wider ones, or more"
        )
    return [replace(parameters, plain_modulus=t, extension_primes=()) for t in moduli]


def combined(residues: Sequence[NDArray[np.int64]], moduli: Sequence[int]) -> Integers:
    """Returns the integers in -T/2 … T/2 that have these residues.

    Args:
        residues: For each modulus an array of residues, any representatives.
        moduli: Distinct primes; T is their product.
    """
    product = math.prod(moduli)
    total = np.zeros(residues[0].shape, dtype=object)
    for values, t in zip(residues, moduli, strict=True):
        others = product // t
        total = total + values.astype(object) % t * pow(others, -1, t) * others
    total = total % product
    return np.where(total > product // 2, total - product, total)
