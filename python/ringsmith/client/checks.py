"""Checks of arguments that all functions of the client use."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import (
    Ciphertext,
    OfParameters,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    check_parameters_id,
)
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters


def check_parameters(parameters: object) -> None:
    """Raises a TypeError if the argument is no parameter set."""
    hint = "give parameter_set(name), CkksParameters.create(...) or BfvParameters.create(...)"
    check_type("parameters", parameters, RlweParameters, hint)


def checked_bfv(parameters: object, what: str) -> BfvParameters:
    """Returns the parameters if they are BFV's.

    Raises:
        ParameterError: When they are CKKS's; ``what`` names the feature that only BFV has.
        TypeError: When they are no parameters.
    """
    check_parameters(parameters)
    if not isinstance(parameters, BfvParameters):
        raise ParameterError(f"{what} is BFV's, and the parameters are CKKS's: take BfvParameters")
    return parameters


def checked_ckks(parameters: object, what: str) -> CkksParameters:
    """As ``checked_bfv``, for CKKS."""
    check_parameters(parameters)
    if not isinstance(parameters, CkksParameters):
        raise ParameterError(f"{what} is CKKS's, and the parameters are BFV's: take CkksParameters")
    return parameters


def check_shape(parameters: RlweParameters, what: str, shape: tuple[int, ...]) -> None:
    """Refuses residues whose shape (limbs, N) fits no data level of the parameters."""
    if len(shape) != 2 or not 1 <= shape[0] <= parameters.limbs or shape[1] != parameters.n:
        raise ParameterError(
            f"{what} limbs have the shape {shape}: parameters {parameters.name!r} make "
            f"(1 … {parameters.limbs}, {parameters.n})"
        )


def check_belongs(parameters: RlweParameters, what: str, thing: OfParameters) -> None:
    """Refuses an object of other parameters, if its identity is known; ``what`` names it."""
    hints = {
        PublicKey: "give the second key of generate_keys for these parameters",
        Ciphertext: "name the parameters that it was encrypted with",
        Plaintext: "encode the numbers with these parameters",
        PlainPolynomial: "encode the numbers with these parameters",
    }
    whose = f"parameters {parameters.name!r}"
    expected = parameters.parameters_id
    check_parameters_id(what, thing.parameters_id, whose, expected, hints[type(thing)])


def refuse_masked(values: ArrayLike) -> None:
    """Refuses a masked array, because its masked numbers would be encrypted."""
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(
            "a masked array hides numbers, which would be encrypted: give values.filled(0), or "
            "values.compressed()"
        )


def first_not_finite(array: NDArray[np.generic]) -> str:
    """Names the first NaN or infinity of an array, with its position; empty if all are finite."""
    if array.dtype.kind not in "fc":
        return ""
    wrong = np.argwhere(~np.isfinite(array))
    if not wrong.size:
        return ""
    where = tuple(int(i) for i in wrong[0])
    return f"number {', '.join(map(str, where))} is {array[where]}, counted from 0"


def check_public_key(parameters: RlweParameters, key: PublicKey) -> None:
    """Refuses a public key of other parameters."""
    check_type("public key", key, PublicKey, "give the second key of generate_keys")
    check_belongs(parameters, "the public key", key)
    expected = (2, len(parameters.primes), parameters.n)
    if key.data.shape != expected:
        raise ParameterError(
            f"the public key has the shape {key.data.shape}: parameters {parameters.name!r} make "
            f"{expected}"
        )
