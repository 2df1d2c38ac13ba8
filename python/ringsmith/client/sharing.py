"""CKKS decryptions that others may see: flooded with noise, and rounded to what survives."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.client.checks import check_parameters
from ringsmith.errors import ParameterError
from ringsmith.objects import Plaintext
from ringsmith.params import RlweParameters
from ringsmith.params.flooding import (
    STATISTICAL_SECURITY,
    Flooding,
    surviving_bits,
)
from ringsmith.params.sampling import Draw, add_noise, gaussian_integers, system_random


@dataclass(frozen=True)
class Sharing:
    """How a decryption is shared.

    Attributes:
        flooding: For how many decryptions, and how well.
        noise_bound: Bound of the noise, as ``decrypt`` takes it.
    """

    flooding: Flooding
    noise_bound: float | None


def flooded(
    parameters: RlweParameters,
    plaintext: Plaintext,
    flooding: Flooding,
    noise_bound: float,
    draw: Draw = system_random,
) -> Plaintext:
    """Returns a decrypted plaintext plus Gaussian integers that hide its noise.

    Li, Micciancio, Schultz, Sorrell 2022, eprint 2022/816, section 4 (``params.flooding``).

    Args:
        parameters: The parameter set.
        plaintext: What decryption returned.
        flooding: For how many decryptions, and how well.
        noise_bound: Bound of the noise in every slot, in units of the numbers.
        draw: Source of random bytes; another one is for tests only.
    """
    deviation = flooding.deviation(noise_bound * plaintext.scale)
    noise = gaussian_integers(parameters.n, deviation, draw)
    data = add_noise(parameters, plaintext.data, noise, ntt=True)
    return Plaintext(data, plaintext.scale, parameters_id=plaintext.parameters_id)


def rounded(slots: NDArray[np.complex128], bits: int) -> NDArray[np.complex128]:
    """Returns numbers rounded to multiples of 2^-bits; real and imaginary parts separately."""
    step = 2.0**bits
    return np.asarray(np.rint(slots * step) / step + 0.0)


def shared_bits(
    parameters: RlweParameters,
    scale: float,
    share: int,
    noise_bound: float,
    *,
    statistical_security: int = STATISTICAL_SECURITY,
) -> int:
    """Returns the bits after the point that ``decrypt_vector(…, share=…)`` leaves in every slot.

    A number is a multiple of 2^-bits, and off by at most that much, but with the probability 2^-20.
    It depends on these arguments only.

    Args:
        parameters: CKKS parameters.
        scale: Of the ciphertext.
        share: Decryptions under this key that may be shared in all, from 1.
        noise_bound: Bound of the noise in every slot, in units of the numbers.
        statistical_security: Bits of statistical security, 20 to 64.

    Raises:
        ParameterError: When an argument is out of range, or fewer than one bit is left.
    """
    check_parameters(parameters)
    flooding = Flooding(share, statistical_security)
    if not 1 <= noise_bound * scale < float("inf"):
        raise ParameterError(
            f"noise_bound = {noise_bound!r} is {noise_bound * scale:.3g} units of the scale, and a "
            "ciphertext has noise of many: give a bound of the error of every number, such as "
            "ClientKit.noise_bounds(share)[name]"
        )
    return surviving_bits(flooding.bits(parameters.n, noise_bound), flooding)
