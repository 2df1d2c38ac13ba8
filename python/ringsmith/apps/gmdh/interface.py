"""What households and grid operator agree on, all of it public."""

from collections.abc import Mapping
from dataclasses import dataclass

from ringsmith.apps import interface
from ringsmith.apps.gmdh.network import Readings
from ringsmith.apps.gmdh.packing import packed_slots
from ringsmith.params import BfvParameters, CkksParameters

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
        unit: What readings are divided by, and forecasts are multiplied by; 1 in BFV.
    """

    parameters: CkksParameters | BfvParameters
    scales: Mapping[str, float]
    limbs: Mapping[str, int]
    unit: float


@dataclass(frozen=True, eq=False)
class Interface(interface.Interface):
    """What the households must know to be served.

    Attributes:
        parts: The programs; all have the same ring, primes and keys.
        hours: Readings to encrypt.
        readings: How readings become integers.
        output_bits: Binary places of the forecasts' integers.
    """

    parts: tuple[Part, ...]
    hours: tuple[int, ...]
    readings: Readings
    output_bits: int

    @property
    def meters(self) -> int:
        """How many meters one run serves: the numbers that a message holds."""
        sets = (part.parameters for part in self.parts)
        return min(packed_slots(of) if isinstance(of, BfvParameters) else of.slots for of in sets)
