"""What the operations of a set are measured on: random residues and keys, the same for all."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith import _core
from ringsmith.bench.cpu.sets import HOISTED_COUNT, BenchSet
from ringsmith.objects import Residues
from ringsmith.params import BfvParameters, CkksParameters, SecurityWarning

ROTATION = 1
"""Steps of the rotation that is measured."""

MOST_KEY_BYTES = 4 << 30
"""Together, keys of several rotations; where they are more, one key stands for all."""


@dataclass(frozen=True)
class Operands:
    """Two ciphertexts of the highest level, and precomputed keys; times do not depend on data.

    Attributes:
        item: The set.
        parameters: The set's, as a program takes them.
        context: The same, as C++ functions take them.
        a: A ciphertext of two polynomials.
        b: Another.
        plain: A CKKS plaintext.
        relin: The relinearization key.
        elements: The Galois elements of the rotations: the first is that of ``ROTATION`` steps.
        galois: Their keys.
    """

    item: BenchSet
    parameters: CkksParameters | BfvParameters
    context: _core.Context
    a: Residues
    b: Residues
    plain: Residues
    relin: _core.PreparedKey
    elements: Sequence[int]
    galois: Sequence[_core.PreparedKey]

    @classmethod
    def of(cls, item: BenchSet, rotations: int = 1) -> "Operands":
        """Draws operands of a set.

        Keys are precomputed, as baselines also load theirs into their own forms. If several keys
        would take too much memory, one key is used for all operations, without an automorphism.

        Args:
            item: The set.
            rotations: How many, each with a key of its own where these fit.
        """
        rng = np.random.default_rng(0)
        context = _core.Context(item.n, item.primes, item.special, item.dnum)
        relin = _core.PreparedKey(context, key_words(rng, context))
        a, b = (ciphertext(rng, item) for _ in range(2))
        elements = [_core.galois_element(item.n, ROTATION + step) for step in range(rotations)]
        keys = [relin] * rotations
        if relin.nbytes * HOISTED_COUNT <= MOST_KEY_BYTES:
            keys = [_core.PreparedKey(context, key_words(rng, context), e) for e in elements]
        else:
            elements = elements[:1] * rotations
        plain = np.ascontiguousarray(b[0])
        return cls(item, parameters_of(item), context, a, b, plain, relin, elements, keys)


def parameters_of(item: BenchSet) -> CkksParameters | BfvParameters:
    """The parameters of a set, regardless of security: nothing is encrypted here."""
    count = len(item.data_bits)
    data, special = item.primes[:count], item.primes[count:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        if item.plain_modulus:
            return BfvParameters.from_primes(
                n=item.n,
                data_primes=data,
                special_prime=special,
                plain_modulus=item.plain_modulus,
                security=None,
                name=item.name,
                dnum=item.dnum,
            )
        return CkksParameters.from_primes(
            n=item.n,
            data_primes=data,
            special_prime=special,
            scale=2.0**20,
            security=None,
            name=item.name,
            dnum=item.dnum,
        )


def key_words(rng: np.random.Generator, context: _core.Context) -> Residues:
    """The words of a random key."""
    key = np.empty((context.dnum, 2, len(context.primes), context.n), dtype=np.uint64)
    for index, q in enumerate(context.primes):
        key[:, :, index] = rng.integers(0, q, (context.dnum, 2, context.n), dtype=np.uint64)
    return key


def ciphertext(rng: np.random.Generator, item: BenchSet) -> Residues:
    """A random ciphertext of two polynomials."""
    primes = item.primes[: len(item.data_bits)]
    limbs = [rng.integers(0, q, (2, item.n), dtype=np.uint64) for q in primes]
    return np.ascontiguousarray(np.stack(limbs, axis=1))
