"""CKKS results that hide their circuit: the bound of their noise, and what is left of them."""

import math

import numpy as np

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.objects import PublicKey, Residues
from ringsmith.params import CkksParameters, core_context
from ringsmith.params.flooding import largest_in_slots, tail
from ringsmith.schemes.ckks.program import CkksProgram


def noise_lengths(program: CkksProgram, bits: int) -> dict[str, float]:
    """See ``Scheme``; slots after an output's numbers must be zero, for nothing hides them."""
    if program.worst_case is None:
        raise ProgramError(
            f"program {program.name} takes inputs of any size, so that its noise has no bound: "
            "trace it with ranges of its inputs"
        )
    if program.bootstraps:
        raise ProgramError(
            f"program {program.name} bootstraps, and of the noise of that no bound is known: end "
            "the program before, or do not hide it"
        )
    found = {}
    for name, output in program.worst_case.items():
        if output.beyond:
            raise ProgramError(
                f"output {name!r}: the slots after its {program.output_lengths[name]} numbers may "
                f"hold numbers up to {output.beyond:.3g}, which reveal how it was computed: "
                "multiply it by a mask of ones and zeros"
            )
        found[name] = output.spread * program.outputs[name].scale * tail(2.0**-bits)
    return found


def left_after(program: CkksProgram, name: str, deviation: float) -> tuple[int, str]:
    """See ``Scheme``; bits are those after the point."""
    assert program.worst_case is not None, "noise_lengths has asked for it"
    flooded = largest_in_slots(program.parameters.n, deviation) / program.outputs[name].scale
    left = math.floor(-math.log2(program.worst_case[name].error + flooded))
    return left, (
        f"{left} bits after the point, and 1 is needed: take a larger scale, or fewer bits of "
        "statistical_security"
    )


def encryption_of_zero(parameters: CkksParameters, key: PublicKey, limbs: int) -> Residues:
    """See ``Scheme``."""
    zeros = np.zeros((limbs, parameters.n), np.uint64)
    return _core.encrypt(core_context(parameters), key.data, zeros)
