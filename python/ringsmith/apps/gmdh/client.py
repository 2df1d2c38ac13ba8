"""The households: they hold the readings and the secret key, encrypt and decrypt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps import client
from ringsmith.apps.gmdh.curves import Reals
from ringsmith.apps.gmdh.interface import Interface, Part, input_name
from ringsmith.apps.gmdh.network import Integers, real
from ringsmith.apps.gmdh.packing import pack, unpack
from ringsmith.apps.gmdh.residues import combined
from ringsmith.apps.interface import Inputs
from ringsmith.client import (
    SecretKey,
    decode_coefficients,
    decrypt,
    decrypt_vector,
    encode_coefficients,
    encrypt,
    encrypt_vector,
    noise_budget,
)
from ringsmith.errors import ParameterError
from ringsmith.objects import Ciphertext, PlainPolynomial
from ringsmith.params import BfvParameters, CkksParameters


@dataclass(frozen=True, eq=False)
class Forecasts:
    """What was decrypted, for each meter.

    Attributes:
        demand: The forecasts.
        exact: Their integers, in BFV; None in CKKS.
        budgets: Noise budget that was left in each part's result; none in CKKS.
    """

    demand: Reals
    exact: Integers | None = None
    budgets: tuple[int, ...] = ()


class Client(client.Client[Interface]):
    """Households with keys of their own."""

    def __init__(self, interface: Interface) -> None:
        """Makes keys for a server's interface; they serve all its parts."""
        super().__init__(interface, any_plain_modulus=len(interface.parts) > 1)

    def encrypt(self, readings: Reals) -> list[Inputs]:
        """Encrypts readings (meters, hours): for each part, a ciphertext for each used hour.

        Raises:
            ParameterError: When the meters do not fit one ciphertext, or hours are missing.
        """
        interface = self._interface
        hours = len(interface.readings.limits)
        if readings.ndim != 2 or readings.shape[1] != hours:
            raise ParameterError(
                f"readings have the shape {readings.shape}: give (meters, {hours}), those of hours "
                f"0 … {hours - 1}"
            )
        if not 1 <= len(readings) <= interface.meters:
            raise ParameterError(
                f"{len(readings)} meters: one run serves 1 … {interface.meters}: make batches"
            )
        integers = interface.readings.integers(readings)
        return [
            {
                input_name(hour): self._encrypt(part, input_name(hour), integers[:, hour])
                for hour in interface.hours
            }
            for part in interface.parts
        ]

    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Forecasts:
        """Returns the forecasts of the meters from the results of all parts."""
        key, slots, moduli, budgets = self._secret_key, [], [], []
        for part, result in zip(self._interface.parts, outputs, strict=True):
            parameters = part.parameters
            if isinstance(parameters, CkksParameters):
                found = decrypt_vector(parameters, key, result).real[:count]
                return Forecasts(found * part.unit)
            slots.append(_decrypted(parameters, key, result)[:count])
            moduli.append(parameters.plain_modulus)
            budgets.append(noise_budget(parameters, key, result))
        exact = combined(slots, moduli)
        return Forecasts(real(exact, self._interface.output_bits), exact, tuple(budgets))

    def _encrypt(self, part: Part, name: str, integers: NDArray[np.int64]) -> Ciphertext:
        """Encrypts the readings of one hour: as integers in BFV, as what they stand for in CKKS."""
        parameters = part.parameters
        if isinstance(parameters, BfvParameters):
            if parameters.batching:
                return encrypt_vector(parameters, self.public_key, integers)
            message = encode_coefficients(parameters, pack(parameters, integers))
            return encrypt(parameters, self.public_key, message)
        values = self._interface.readings.real(integers) / part.unit
        scale, limbs = part.scales[name], part.limbs[name]
        return encrypt_vector(parameters, self.public_key, values, scale=scale, limbs=limbs)


def _decrypted(
    parameters: BfvParameters, key: SecretKey, ciphertext: Ciphertext
) -> NDArray[np.int64]:
    """The numbers modulo t, of a t that batches or of a packed message."""
    if parameters.batching:
        return decrypt_vector(parameters, key, ciphertext)
    message = decrypt(parameters, key, ciphertext)
    assert isinstance(message, PlainPolynomial), "of BFV"
    return unpack(parameters, decode_coefficients(parameters, message))
