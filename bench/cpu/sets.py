"""The parameter sets that are measured, and random operands and keys of each."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ringsmith import _core
from ringsmith.objects import Residues
from ringsmith.params import BfvParameters, CkksParameters, SecurityWarning


@dataclass(frozen=True)
class BenchSet:
    """One ring and its primes.

    Attributes:
        name: How records and options call it.
        n: Ring degree.
        data_bits: Bits of the data primes.
        special_bits: Bits of the special primes.
        dnum: Digits of a key; 0: one data prime a digit.
        plain_modulus: t of BFV; 0: CKKS.
        text: What it is, for people.
    """

    name: str
    n: int
    data_bits: tuple[int, ...]
    special_bits: tuple[int, ...]
    dnum: int
    plain_modulus: int
    text: str

    @property
    def special(self) -> int:
        """Number of special primes."""
        return len(self.special_bits)

    @property
    def primes(self) -> list[int]:
        """Data primes, then special primes: the largest of each width, all distinct."""
        bits = self.data_bits + self.special_bits
        found = {b: _core.prime_search(b, self.n, bits.count(b)) for b in set(bits)}
        return [found[b].pop(0) for b in bits]


SETS = MappingProxyType(
    {
        item.name: item
        for item in (
            BenchSet("A", 1 << 14, (60, *(54,) * 6), (60,), 0, 0, "Medha Set-1"),
            BenchSet("B", 1 << 15, (60, *(54,) * 8), (60,), 0, 0, "Medha Set-2"),
            BenchSet("A50", 1 << 14, (50,) * 7, (50,), 0, 0, "A with 50-bit primes"),
            BenchSet("D", 1 << 12, (30,) * 6, (30,), 0, 65537, "HEAWS, BFV, key switching as SEAL"),
            BenchSet("E", 1 << 16, (32,) * 24, (32,) * 8, 3, 0, "Framework Set-2"),
            BenchSet("F", 1 << 16, (45,) * 44, (45,), 0, 0, "Framework Set-1 of 45-bit primes"),
            BenchSet("quick", 1 << 12, (36, 30), (37,), 0, 0, "the smallest, of --quick"),
        )
    }
)
"""By name."""

EXPANDED = "multiply_relinearize_expanded"
"""The operation by a key expanded on the fly, compared with the precomputed key."""

WORDS = "multiply_relinearize_words"
"""The operation by a full key, compared with the precomputed key."""

PRODUCT = "multiply_relinearize_then_rescale"
"""The operation that a program plans for a product of CKKS."""

HOISTED = "rotate_8_hoisted"
"""Several rotations of one ciphertext, compared with as many single ones."""

HOISTED_COUNT = 8
"""How many times."""

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
    relin: _core.PrecomputedKey
    elements: Sequence[int]
    galois: Sequence[_core.PrecomputedKey]

    @classmethod
    def of(cls, item: BenchSet, rotations: int = 1) -> "Operands":
        """Draws operands of a set.

        Keys are precomputed, as baselines also load theirs into their own forms. If several keys
        would take too much memory, one key is used for all operations, without an automorphism.
        """
        rng = np.random.default_rng(0)
        context = _core.Context(item.n, item.primes, item.special, item.dnum)
        relin = _core.PrecomputedKey(context, key_words(rng, context))
        a, b = (ciphertext(rng, item) for _ in range(2))
        elements = [_core.galois_element(item.n, ROTATION + step) for step in range(rotations)]
        keys = [relin] * rotations
        if relin.nbytes * HOISTED_COUNT <= MOST_KEY_BYTES:
            keys = [_core.PrecomputedKey(context, key_words(rng, context), e) for e in elements]
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
