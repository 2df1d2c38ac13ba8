"""How patients lie in the slots of one ciphertext.

A ciphertext has ``block`` slots for features, for each of P = slots // block patients: slot
f*P + p holds feature f of patient p. Sums of ``block`` rotations by 0, P, 2P, … (``sum_rotations``)
then hold patient p's sum in slot p. The other slots hold sums of other rows, which no one reads. No
slot mixes two patients, which the other order (a patient's features side by side) would.
"""

import numpy as np

from ringsmith.apps.logreg.records import Reals
from ringsmith.errors import ParameterError


def patients_per_ciphertext(slots: int, block: int) -> int:
    """Returns how many patients one ciphertext holds.

    Raises:
        ParameterError: When the slots do not hold one patient.
    """
    if slots < block:
        raise ParameterError(
            f"{slots} slots are fewer than the {block} features of a patient: raise N"
        )
    return slots // block


def pack(inputs: Reals, slots: int, block: int) -> Reals:
    """Returns the slot vector (slots,) of inputs (patients, features); empty places are zero.

    Raises:
        ParameterError: When there are more patients or features than fit.
    """
    patients, features = inputs.shape
    room = patients_per_ciphertext(slots, block)
    if patients > room or features > block:
        raise ParameterError(
            f"{patients} patients of {features} features do not fit: one ciphertext of {slots} "
            f"slots holds {room} patients of {block} features: split the batch"
        )
    packed = np.zeros(slots)
    packed[: block * room].reshape(block, room)[:features, :patients] = inputs.T
    return packed


def pack_weights(weights: Reals, slots: int, block: int) -> Reals:
    """Returns the slot vector (slots,) with every feature's weight, (features,), at all patients.

    Raises:
        ParameterError: When there are more features than fit.
    """
    return pack(np.tile(weights, (patients_per_ciphertext(slots, block), 1)), slots, block)


def unpack(values: Reals, patients: int) -> Reals:
    """Returns the result of each patient, (patients,), from a slot vector."""
    return values[:patients]
