"""What needs a secret key. Only `ringsmith.client` may import this module.

A secret key is a (K, N) array over all K primes, NTT form; its memory is wiped when NumPy frees
it. Randomness comes from the operating system, but in the functions named `..._for_test`, which
repeat themselves for a seed.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringsmith._core import BfvContext, Context

_Residues: TypeAlias = NDArray[np.uint64]

def generate_secret_key(ctx: Context) -> _Residues:
    """A uniformly ternary secret key (K, N) over all primes, NTT form."""

def generate_secret_key_for_test(ctx: Context, seed: int) -> _Residues:
    """`generate_secret_key` from a fixed seed: never for real keys."""

def generate_public_key(ctx: Context, secret_key: _Residues) -> _Residues:
    """The public key (2, K, N) of a secret key."""

def generate_public_key_for_test(ctx: Context, secret_key: _Residues, seed: int) -> _Residues:
    """`generate_public_key` from a fixed seed: never for real keys."""

def generate_key_switch_key(
    ctx: Context,
    secret_key: _Residues,
    element: int | None,
    *,
    word_bits: int = 0,
    key_seed: bytes | None = None,
    limbs: int = 0,
) -> _Residues:
    """A key-switching key (digits, 2, K, N) of a secret key.

    element: the key switches back after X -> X^element. None: it is the relinearization key.
    word_bits: 0: digits of primes; else words of so many bits: digit i encrypts
        2^(word_bits * i) * s^2 over the data primes, and no special prime is needed.
    key_seed: 10 public bytes that half 1 is expanded from, never used before with this secret key.
    limbs: 0: the full key; else a key for ciphertexts of up to so many limbs: their digits, over
        their primes and the special primes. Of a seed, half 1 is the full key's there.
    """

def generate_key_switch_key_for_test(
    ctx: Context,
    secret_key: _Residues,
    element: int | None,
    *,
    word_bits: int = 0,
    key_seed: bytes | None = None,
    limbs: int = 0,
    seed: int,
) -> _Residues:
    """`generate_key_switch_key` from a fixed seed: never for real keys."""

def generate_sparse_keys(
    ctx: Context,
    secret_key: _Residues,
    *,
    weight: int,
    limbs: int,
    special: int,
    raised: int = 0,
    key_seeds: Sequence[bytes] | None = None,
) -> tuple[_Residues, _Residues]:
    """The keys to and from an ephemeral sparse secret, which is forgotten.

    weight: coefficients of the secret that are not zero.
    limbs, special: data and special primes, from the first of each, of the key to the sparse
        secret, (1, 2, limbs + special, N); at most 121 bits.
    raised: limbs of what is switched back by the other key, (digits, 2, raised + all special, N);
        0: all.
    key_seeds: 10 public bytes for each key, that its half 1 is expanded from; never used before
        with this secret key.
    """

def generate_sparse_keys_for_test(
    ctx: Context,
    secret_key: _Residues,
    *,
    weight: int,
    limbs: int,
    special: int,
    raised: int = 0,
    key_seeds: Sequence[bytes] | None = None,
    seed: int,
) -> tuple[_Residues, _Residues]:
    """`generate_sparse_keys` from a fixed seed: never for real keys."""

def encrypt_symmetric(ctx: Context, secret_key: _Residues, plain: _Residues) -> _Residues:
    """Secret-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N)."""

def encrypt_symmetric_for_test(
    ctx: Context, secret_key: _Residues, plain: _Residues, seed: int
) -> _Residues:
    """`encrypt_symmetric` from a fixed seed: never for real messages."""

def decrypt(ctx: Context, secret_key: _Residues, ciphertext: _Residues) -> _Residues:
    """The plaintext (limbs, N), NTT form, of a ciphertext of any size."""

def bfv_encrypt_symmetric(bctx: BfvContext, secret_key: _Residues, plain: _Residues) -> _Residues:
    """Secret-key encryption of a plaintext (N,): a ciphertext (2, max_limbs, N)."""

def bfv_encrypt_symmetric_for_test(
    bctx: BfvContext, secret_key: _Residues, plain: _Residues, seed: int
) -> _Residues:
    """`bfv_encrypt_symmetric` from a fixed seed: never for real messages."""

def bfv_decrypt(bctx: BfvContext, secret_key: _Residues, ciphertext: _Residues) -> _Residues:
    """The plaintext (N,) of a ciphertext of any size and level; wrong after too much noise."""

def bfv_noise_budget(bctx: BfvContext, secret_key: _Residues, ciphertext: _Residues) -> int:
    """SEAL's invariant noise budget: bits that the noise, modulo q, may still grow by."""
