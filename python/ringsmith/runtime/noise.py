"""The error of BFV's single operations, followed from operation to operation.

The noise budget of a ciphertext does not tell whether its noise has wrapped around the modulus.
Its history does: the same bounds as those of a program's forecast, from fresh encryptions on.
"""

import warnings
from collections.abc import Mapping
from typing import cast

import numpy as np

from ringsmith.backends.handles import Handle
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Noise, Op
from ringsmith.objects import Ciphertext, History, PlainPolynomial
from ringsmith.params import BfvParameters, RlweParameters
from ringsmith.schemes.base import Operand
from ringsmith.schemes.bfv import noise
from ringsmith.schemes.bfv.norms import Norms, add

USED = History(fresh=False)
"""A result whose error is not known."""


class NoiseWarning(UserWarning):
    """A program runs on inputs whose noise its forecast does not count."""


def output_history(inputs: Mapping[str, Ciphertext | Handle]) -> History | None:
    """Returns what is known of a program's outputs, and warns of inputs that are not fresh.

    Args:
        inputs: The program's inputs by name.
    """
    used = [name for name, each in inputs.items() if each.history and not each.history.fresh]
    if used:
        warnings.warn(
            f"input {used[0]!r} is a result and no fresh encryption, from which the program's "
            "forecast of noise counts: its outputs may be wrong, and their noise budgets need not "
            "show it; trace one program for both steps",
            NoiseWarning,
            stacklevel=3,
        )
    return USED if any(each.history for each in inputs.values()) else None


def result_history(
    parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand, limbs: int, rotations: int
) -> History | None:
    """Returns what is known of a result of ciphertexts of known history.

    Args:
        parameters: The parameter set.
        op: The operation.
        a: Its first operand.
        b: Its second operand, if any.
        limbs: Limbs of the result.
        rotations: Rotations that it is composed of.

    Raises:
        ProgramError: When the noise may reach the modulus, so that the result may be wrong.
    """
    if not parameters.exact:
        return None
    exact = cast("BfvParameters", parameters)
    known = [_error(exact, each) for each in (a, b) if isinstance(each, Ciphertext)]
    errors = [each for each in known if each is not None]
    if len(errors) < len(known):
        return USED
    error = _result(exact, op, errors, b, (a.size, a.limbs, limbs), rotations)
    left = noise.budget(exact, limbs, error)
    if left < 1:
        raise ProgramError(
            f"{op}: by the forecast {1 - left} bits of noise budget are missing, the result may be "
            "wrong, and its measured noise budget need not show it: take a larger q or a smaller "
            "t, or compute less; Evaluator(…, check_noise=False) computes it nevertheless"
        )
    return History(fresh=False, error=(error.largest, error.length, error.slots))


def _error(parameters: BfvParameters, ciphertext: Ciphertext) -> Norms | None:
    history = ciphertext.history
    if history is None:
        return None
    if history.fresh:
        return noise.encryption(parameters, ciphertext.limbs)
    return None if history.error is None else Norms(*history.error)


def _result(
    parameters: BfvParameters,
    op: Op,
    errors: list[Norms],
    b: Operand,
    shape: tuple[int, int, int],
    rotations: int,
) -> Norms:
    """Returns the error of a result; ``shape`` is size and limbs before, and limbs after."""
    size, before, limbs = shape
    first, last = errors[0], errors[-1]
    match op.record.noise:
        case Noise.SUM if isinstance(b, PlainPolynomial):
            return noise.add_plain(parameters, first, constant=not b.data[1:].any())
        case Noise.SUM:
            return add(first, last)
        case Noise.PRODUCT if isinstance(b, PlainPolynomial):
            t = parameters.plain_modulus
            residues = b.data.astype(np.int64)
            centred = np.where(residues > t // 2, residues - t, residues)
            return noise.multiply_plain(parameters, first, centred)
        case Noise.PRODUCT:
            return noise.product(parameters, limbs, first, last)
        case Noise.KEY:
            switching = noise.key_switching(parameters, limbs)
            return add(first, *[switching] * max(1, rotations))
        case Noise.SWITCH:
            return noise.mod_switch(parameters, first, size, before, limbs)
        case _:
            return first
