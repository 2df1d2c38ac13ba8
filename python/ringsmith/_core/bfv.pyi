"""BFV's plaintexts and operations; with "behz" and keys cut by primes they are SEAL's, bit for bit.

A plaintext is (N,) coefficients below t. A ciphertext is (size, L, N) in coefficient form. What
needs the secret key is in `ringsmith._core.secret`. ParameterError: a value, shape or level that
does not fit, with a hint.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringsmith._core import BfvContext, OnTheFlyKey, PrecomputedKey

_Residues: TypeAlias = NDArray[np.uint64]
_Key: TypeAlias = _Residues | OnTheFlyKey | PrecomputedKey
_Variant: TypeAlias = Literal["behz", "hps"]

def behz_extension_primes(n: int, primes: Sequence[int], plain_modulus: int) -> list[int]:
    """SEAL's extension primes for given data primes and t: m_sk first, then B, all of 61 bits."""

def encode(bctx: BfvContext, values: NDArray[np.int64] | _Residues) -> _Residues:
    """N slot values, row 0 and then row 1, to a plaintext (N,): SEAL's BatchEncoder.

    Values are uint64 in [0, t), or int64 in [-t/2, t), of which v < 0 stands for v + t.
    ParameterError where t does not batch.
    """

def decode(bctx: BfvContext, plain: _Residues) -> _Residues:
    """The N slot values in [0, t) of a plaintext (N,)."""

def scale_plain(bctx: BfvContext, plain: _Residues, limbs: int) -> _Residues:
    """round(q / t * m) as (limbs, N), coefficient form: what is added to a ciphertext."""

def lift_plain(bctx: BfvContext, plain: _Residues, limbs: int) -> _Residues:
    """The centred plaintext as (limbs, N), coefficient form: what a ciphertext is multiplied by.

    Coefficients m >= (t + 1) / 2 are m - t. A plaintext of one term stays as it is where t is below
    every prime, as in SEAL.
    """

def encrypt(bctx: BfvContext, public_key: _Residues, plain: _Residues) -> _Residues:
    """Public-key encryption of a plaintext (N,): a ciphertext (2, max_limbs, N)."""

def encrypt_for_test(
    bctx: BfvContext, public_key: _Residues, plain: _Residues, seed: int
) -> _Residues:
    """`encrypt` from a fixed seed: never for real messages."""

def add_plain(bctx: BfvContext, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a plus a plaintext (N,)."""

def sub_plain(bctx: BfvContext, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a minus a plaintext (N,)."""

def multiply_plain(bctx: BfvContext, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a times a plaintext (N,)."""

def multiply(bctx: BfvContext, a: _Residues, b: _Residues, variant: _Variant = "behz") -> _Residues:
    """Ciphertext a * b, not relinearized: size(a) + size(b) - 1 polynomials."""

def square(bctx: BfvContext, a: _Residues, variant: _Variant = "behz") -> _Residues:
    """Ciphertext a * a, not relinearized."""

def relinearize(bctx: BfvContext, a: _Residues, key: _Key, word_bits: int = 0) -> _Residues:
    """A ciphertext of three polynomials back to two.

    With `word_bits` the key is one of `secret.generate_word_relin_key`, else one of
    `secret.generate_key_switch_key`.
    """

def mod_switch(bctx: BfvContext, a: _Residues) -> _Residues:
    """Divides by the last data prime and rounds; one limb fewer, the same message."""

def apply_galois(
    bctx: BfvContext, a: _Residues, element: int, key: _Key, word_bits: int = 0
) -> _Residues:
    """Applies X -> X^element to a ciphertext of two polynomials and switches back with `key`.

    3^steps mod 2N (`galois_element`) rotates both rows left by `steps`; 2N - 1 swaps them.
    """

def apply_galois_many(
    bctx: BfvContext,
    a: _Residues,
    elements: Sequence[int],
    keys: Sequence[_Key],
    word_bits: int = 0,
) -> list[_Residues]:
    """`apply_galois` for each element with its key: the same bits, decomposed once for all."""
