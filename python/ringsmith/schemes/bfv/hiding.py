"""BFV results that hide their circuit: the bound of their noise, and what is left of it."""

import numpy as np

from ringsmith import _core
from ringsmith.objects import PublicKey, Residues
from ringsmith.params import BfvParameters, bfv_context
from ringsmith.params.sampling import Draw, uniform_residues
from ringsmith.schemes.bfv import noise
from ringsmith.schemes.bfv.norms import add, drawn
from ringsmith.schemes.bfv.program import BfvProgram


def noise_lengths(program: BfvProgram) -> dict[str, float]:
    """See ``Scheme``; the bounds fail with a probability of about 2^-45 each."""
    return {name: 2.0**error.length for name, error in program.forecast().errors.items()}


def left_after(program: BfvProgram, name: str, deviation: float) -> tuple[int, str]:
    """See ``Scheme``; bits are those of noise budget."""
    parameters, limbs = program.parameters, program.outputs[name].limbs
    fresh = noise.encryption(parameters, parameters.limbs)
    fresh = noise.mod_switch(parameters, fresh, 2, parameters.limbs, limbs)
    found = program.forecast()
    error = add(found.errors[name], fresh, drawn(parameters.n, deviation**2))
    left = noise.budget(parameters, limbs, error)
    return left, (
        f"{left} bits of noise budget, and 1 is needed: take a larger q, as by "
        f"AutoBfvParameters(margin_bits={found.bits + 1 - left})"
    )


def encryption_of_zero(
    parameters: BfvParameters, key: PublicKey, limbs: int, length: int, draw: Draw
) -> Residues:
    """See ``Scheme``; random numbers hide the slots after the first ``length``."""
    context = bfv_context(parameters)
    slots = np.zeros(parameters.n, np.uint64)
    slots[length:] = uniform_residues(parameters.plain_modulus, parameters.n - length, draw)
    data = _core.bfv.encrypt(context, key.data, _core.bfv.encode(context, slots))
    for _ in range(parameters.limbs - limbs):
        data = _core.bfv.mod_switch(context, data)
    return data
