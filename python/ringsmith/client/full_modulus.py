"""Detects a decrypted CKKS plaintext that fills its modulus, as after decryption by a wrong key.

Decryption with a wrong key gives coefficients that are uniform modulo q: half of them are above q/4
in magnitude. Numbers that can be encoded have a product with the scale below q/2. Of their N
coefficients at most four are above q/4:
sum |c_i|^2 = (scale^2 / N) * sum |z_j|^2 <= (q/2)^2.
"""

import sys
import warnings

import numpy as np

from ringsmith.objects import Residues
from ringsmith.params import CkksParameters
from ringsmith.params.context import ntt_tables

_SAMPLES = 128
"""Coefficients that are sampled: uniform ones miss the threshold with probability below 2^-27."""
_FULL = 32
"""A plaintext is full if at least this many of the samples are above q/4."""


class DecryptionWarning(UserWarning):
    """A decrypted CKKS plaintext fills its modulus: a wrong key, or numbers that overflowed."""


def warn_if_full(parameters: CkksParameters, data: Residues) -> None:
    """Emits a ``DecryptionWarning`` if a decrypted plaintext fills its modulus.

    Args:
        parameters: The parameter set.
        data: The plaintext, (limbs, N) in NTT form.
    """
    if _is_full(parameters, data):
        warnings.warn(
            f"the decrypted plaintext fills its modulus of {data.shape[0]} limbs, so that it is "
            "no message: the secret key is not that of the ciphertext, or numbers grew beyond "
            "the modulus: decrypt with the right key, or lower the scale or the numbers",
            DecryptionWarning,
            stacklevel=_level_of_caller(),
        )


def _level_of_caller() -> int:
    """Returns the ``stacklevel`` of the first caller outside Ringsmith."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ringsmith."):
        frame, level = frame.f_back, level + 1
    return level


def _is_full(parameters: CkksParameters, data: Residues) -> bool:
    """Returns whether a quarter of the first coefficients c have |c| > q/4, by c/q modulo 1."""
    limbs = data.shape[0]
    fractions = np.zeros(_SAMPLES)
    for table, residues, (prime, inverse) in zip(
        ntt_tables(parameters), data, _inverses(parameters.data_primes[:limbs]), strict=False
    ):
        coefficients = residues.copy()
        table.inverse(coefficients)
        digits = [c * inverse % prime for c in coefficients[:_SAMPLES].tolist()]
        fractions += np.array(digits) / prime
    distance = np.abs(fractions - np.rint(fractions))
    return int(np.count_nonzero(distance > 1 / 4)) > _FULL


def _inverses(primes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Each prime q_i, and (q / q_i)^-1 modulo it."""
    found = []
    for prime in primes:
        others = 1
        for other in primes:
            others = others * other % prime if other != prime else others
        found.append((prime, pow(others, -1, prime)))
    return found
