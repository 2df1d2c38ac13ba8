"""How patients lie in the slots of one ciphertext.

With P patients a ciphertext (slots / BLOCK), slot f*P + p holds feature f of patient p. Rotating
by P, 2P, 4P, … and adding (``inner_product`` with stride P) then sums over features, cyclically
over the whole vector: after log2(BLOCK) rotations every slot f*P + p, for every f, holds patient
p's sum. No slot mixes two patients, which the other order (a patient's features side by side)
would.
"""

import numpy as np

from ringsmith.apps.logreg.records import Reals
from ringsmith.errors import ParameterError

BLOCK = 32
"""Features a patient, padded with zeros to a power of two."""


def patients_per_ciphertext(slots: int) -> int:
    """Returns how many patients one ciphertext holds.

    Raises:
        ParameterError: When the slots do not hold one patient.
    """
    if slots < BLOCK:
        raise ParameterError(
            f"{slots} slots are fewer than the {BLOCK} features of a patient: raise N"
        )
    return slots // BLOCK


def pack(inputs: Reals, slots: int) -> Reals:
    """Returns the slot vector (slots,) of inputs (patients, features); empty places are zero.

    Raises:
        ParameterError: When there are more patients or features than fit.
    """
    patients, features = inputs.shape
    room = patients_per_ciphertext(slots)
    if patients > room or features > BLOCK:
        raise ParameterError(
            f"{patients} patients of {features} features do not fit: one ciphertext of {slots} "
            f"slots holds {room} patients of {BLOCK} features: split the batch"
        )
    block = np.zeros((BLOCK, room))
    block[:features, :patients] = inputs.T
    return block.reshape(-1)


def unpack(values: Reals, patients: int) -> Reals:
    """Returns the result of each patient, (patients,), from a slot vector."""
    return values[:patients]
