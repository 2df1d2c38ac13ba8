"""What needs a secret key. Only `ringsmith.client` may import this module.

A secret key is a (K, N) array over all K primes, NTT form; its memory is wiped when NumPy frees
it. Randomness comes from the operating system, but in the functions named `..._for_test`, which
repeat themselves for a seed.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringsmith._core import Context

_Residues: TypeAlias = NDArray[np.uint64]

def generate_secret_key(ctx: Context) -> _Residues:
    """A uniformly ternary secret key (K, N) over all primes, NTT form."""

def generate_secret_key_for_test(ctx: Context, seed: int) -> _Residues:
    """`generate_secret_key` from a fixed seed: never for real keys."""

def generate_public_key(ctx: Context, secret_key: _Residues) -> _Residues:
    """The public key (2, K, N) of a secret key."""

def generate_public_key_for_test(ctx: Context, secret_key: _Residues, seed: int) -> _Residues:
    """`generate_public_key` from a fixed seed: never for real keys."""

def generate_relin_key(ctx: Context, secret_key: _Residues) -> _Residues:
    """The relinearization key (dnum, 2, K, N) of a secret key."""

def generate_relin_key_for_test(ctx: Context, secret_key: _Residues, seed: int) -> _Residues:
    """`generate_relin_key` from a fixed seed: never for real keys."""

def generate_galois_key(ctx: Context, secret_key: _Residues, element: int) -> _Residues:
    """The key (dnum, 2, K, N) that switches back after X -> X^element."""

def generate_galois_key_for_test(
    ctx: Context, secret_key: _Residues, element: int, seed: int
) -> _Residues:
    """`generate_galois_key` from a fixed seed: never for real keys."""

def encrypt_symmetric(ctx: Context, secret_key: _Residues, plain: _Residues) -> _Residues:
    """Secret-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N)."""

def encrypt_symmetric_for_test(
    ctx: Context, secret_key: _Residues, plain: _Residues, seed: int
) -> _Residues:
    """`encrypt_symmetric` from a fixed seed: never for real messages."""

def decrypt(ctx: Context, secret_key: _Residues, ciphertext: _Residues) -> _Residues:
    """The plaintext (limbs, N), NTT form, of a ciphertext of any size."""
