"""Constants of a program as polynomials over the primes at which they meet a ciphertext."""

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    RlweParameters,
    bfv_context,
    ckks_encoder,
)
from ringsmith.program import Op, Plain

Residues = NDArray[np.uint64]


def encoded(parameters: RlweParameters, plain: Plain, limbs: int, op: Op) -> Residues:
    """Returns a plain operand as (limbs, N), in the form of the scheme's ciphertexts.

    CKKS: encoded at its scale, the same for all operations. BFV: batched, and then scaled by q/t
    for what is added and lifted from modulo t for what is multiplied; SEAL's bits, all of them.

    Args:
        parameters: The parameter set.
        plain: The operand.
        limbs: Limbs of the ciphertext.
        op: What it is an operand of.
    """
    if isinstance(parameters, CkksParameters):
        vector = plain.vector(parameters.slots)
        return ckks_encoder(parameters).encode(vector, plain.scale, limbs)
    if isinstance(parameters, BfvParameters):
        context = bfv_context(parameters)
        slots = np.array(plain.vector(parameters.slots), np.int64)
        polynomial = _core.bfv.encode(context, slots)
        prepare = _core.bfv.lift_plain if op is Op.MULTIPLY_PLAIN else _core.bfv.scale_plain
        return prepare(context, polynomial, limbs)
    raise ProgramError(f"no constants are known of scheme {parameters.scheme!r}")
