"""Whether an object fits parameters: what is checked before it is written and after it is read."""

import math
from collections.abc import Sequence

import numpy as np

from ringsmith.errors import InteropError
from ringsmith.interop.seal_read import MAX_SIZE
from ringsmith.interop.seeded_keys import shorten_key
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeysByField,
    KeySwitchKey,
    OnTheFlyKey,
    OnTheFlyKeys,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    Residues,
    check_parameters_id,
    keys_by_name,
)
from ringsmith.params import RlweParameters

Object = (
    Ciphertext
    | Plaintext
    | PlainPolynomial
    | PublicKey
    | KeySwitchKey
    | EvaluationKeys
    | OnTheFlyKeys
)
"""The public objects that files hold."""


def check_object(what: str, thing: Object, parameters: RlweParameters) -> None:
    """Refuses an object that is not of the parameters.

    Raises:
        InteropError: When identity, scheme, shape, scale, a Galois element, a residue or a seed
            does not fit; begins with ``what``.
    """
    whose, hint = f"parameters {parameters.name!r}", "name the parameters that it was made with"
    identity = parameters.parameters_id
    check_parameters_id(what, thing.parameters_id, whose, identity, hint, InteropError)
    if isinstance(thing, EvaluationKeys | OnTheFlyKeys):
        for element in thing.galois:
            if not 1 < element < 2 * parameters.n or element % 2 == 0:
                raise InteropError(
                    f"{what}: Galois element {element} is not odd in 3 … {2 * parameters.n - 1}"
                )
        keys: KeysByField[KeySwitchKey | OnTheFlyKey] = thing
        for key in keys_by_name(keys).values():
            _check_key(what, key, parameters)
    elif isinstance(thing, KeySwitchKey | OnTheFlyKey):
        _check_key(what, thing, parameters)
    elif isinstance(thing, PublicKey):
        shape = (2, len(parameters.primes), parameters.n)
        check_residues(what, thing.data, shape, parameters.primes)
    elif isinstance(thing, PlainPolynomial):
        _check_polynomial(what, thing, parameters)
    else:
        _check_message(what, thing, parameters)


def check_residues(
    what: str, data: Residues, shape: tuple[int, ...], primes: Sequence[int]
) -> None:
    """Refuses residues of another shape or type, or that are not below the primes of their limbs.

    The last axis but one counts the limbs.
    """
    if data.dtype != np.uint64 or data.shape != shape:
        raise InteropError(
            f"{what} has shape {data.shape} and type {data.dtype}, and the parameters make {shape} "
            "of uint64: name the parameters that it was made with"
        )
    if (data >= np.array(primes, np.uint64)[:, np.newaxis]).any():
        raise InteropError(f"{what}: a residue is not below its prime: the data is damaged")


def _check_key(what: str, key: KeySwitchKey | OnTheFlyKey, parameters: RlweParameters) -> None:
    if not parameters.has_key_shape(key.shape):
        raise InteropError(
            f"{what} has a key of {key.digits} digits and the primes {list(key.base)}, and the "
            f"parameters have {parameters.key_digits} digits and {len(parameters.primes)} primes: "
            "name the parameters that it was made with"
        )
    primes = [parameters.primes[i] for i in key.base]
    digits, limbs = key.digits, (len(primes), parameters.n)
    if isinstance(key, OnTheFlyKey):
        check_residues(what, key.half, (digits, *limbs), primes)
        return
    check_residues(what, key.data, (digits, 2, *limbs), primes)
    if key.seed is not None:
        shorten_key(key, parameters.primes)  # refuses a seed that is not this key's


def _check_polynomial(what: str, plain: PlainPolynomial, parameters: RlweParameters) -> None:
    if not parameters.exact:
        raise InteropError(f"{what}: a plaintext of BFV, and the parameters are CKKS's")
    t, data = parameters.message_modulus, plain.data
    if data.dtype != np.uint64 or data.shape != (parameters.n,) or (data >= np.uint64(t)).any():
        raise InteropError(
            f"{what} is not N = {parameters.n} coefficients below t = {t}: name the parameters "
            "that it was made with"
        )


def _check_message(what: str, thing: Ciphertext | Plaintext, parameters: RlweParameters) -> None:
    """Of a ciphertext or of a CKKS plaintext: limbs of some level, sizes, and scale."""
    if parameters.exact and isinstance(thing, Plaintext):
        raise InteropError(f"{what}: a plaintext of CKKS, and the parameters are BFV's")
    leading, limbs = thing.data.shape[:-2], thing.data.shape[-2] if thing.data.ndim > 1 else 0
    sizes = [()] if isinstance(thing, Plaintext) else [(size,) for size in range(2, MAX_SIZE + 1)]
    if leading not in sizes or not 1 <= limbs <= parameters.limbs:
        raise InteropError(
            f"{what} has shape {thing.data.shape}: a ciphertext is (2 … {MAX_SIZE}, limbs, N), a "
            f"plaintext (limbs, N), with 1 … {parameters.limbs} limbs"
        )
    shape = (*leading, limbs, parameters.n)
    check_residues(what, thing.data, shape, parameters.data_primes[:limbs])
    own = thing.scale == 1 if parameters.exact else thing.scale > 0
    if not (math.isfinite(thing.scale) and own):
        raise InteropError(
            f"{what}: scale {thing.scale!r} is not one of {parameters.scheme.upper()}: damaged"
        )
