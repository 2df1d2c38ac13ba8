"""What client and server agree on, all of it public."""

from collections.abc import Mapping
from dataclasses import dataclass

from ringsmith.apps.gmdh.network import Readings
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds

OUTPUT = "forecast"
"""The encrypted programs' output."""


def input_name(hour: int) -> str:
    """Returns the name of the encrypted programs' input that holds the readings of an hour."""
    return f"hour{hour}"


@dataclass(frozen=True)
class Part:
    """One encrypted program and how to encrypt for it; BFV has one for each plain modulus.

    Attributes:
        parameters: HE parameters.
        scales: Scale to encrypt each input at, by name; 1 in BFV.
        limbs: Limbs to encrypt each input with, by name.
    """

    parameters: CkksParameters | BfvParameters
    scales: Mapping[str, float]
    limbs: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Interface:
    """What a client must know to be served; a server publishes it.

    Attributes:
        parts: The programs; all have the same ring, primes and keys.
        key_needs: Evaluation keys to hand over.
        seeded_keys: Whether to make half of them from seeds, which the server's device expands.
        hours: Readings to encrypt.
        readings: How readings become integers.
        output_bits: Binary places of the forecasts' integers.
    """

    parts: tuple[Part, ...]
    key_needs: KeyNeeds
    seeded_keys: bool
    hours: tuple[int, ...]
    readings: Readings
    output_bits: int

    @property
    def meters(self) -> int:
        """How many meters one run serves: the slots of a ciphertext."""
        return self.parts[0].parameters.slots
