"""What every device offers: memory zones, a program store, a command, a completion and counters."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.device.register_table import Zone
from ringsmith.progress import Task

__all__ = ["Device", "RunReport", "Words", "Zone"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class RunReport:
    """What one run of a program took.

    Attributes:
        cycles: Clock cycles from the start command accepted to completion, data resident.
        instructions: Instructions issued, ``halt`` included.
    """

    cycles: int
    instructions: int


class Device(Protocol):
    """A machine that executes programs of one design."""

    @property
    def name(self) -> str:
        """``model`` or ``rtl``."""
        ...

    @property
    def design(self) -> RpauDesign:
        """The design that the device says it was built from."""
        ...

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring that programs run in, of degree 2^log_degree; at first that of N.

        Sizes of zones and latencies are those of the ring. All that belongs to a ring is written
        anew after the choice: polynomials, keys, constants and twiddle tables. A polynomial of a
        ring larger than N lies in pieces of N words.

        Raises:
            DeviceError: If the design does not run the ring.
        """
        ...

    def write(self, zone: Zone, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table.

        ``zones.zone_shape`` says how many there are in a zone, and how many words each has.

        Raises:
            DeviceError: On a wrong zone, unit, index or length, or a word that is too wide.
        """
        ...

    def read(self, zone: Zone, unit: int, index: int) -> Words:
        """Reads one work polynomial (zone POLY only). Raises DeviceError as ``write`` does."""
        ...

    def load_program(self, words: Words) -> None:
        """Loads instruction words.

        Raises:
            DeviceError: When they exceed the program store or end without ``halt``.
        """
        ...

    def run(self, max_cycles: int, task: Task | None = None) -> RunReport:
        """Runs the loaded program to its halt. Ctrl-C stops it within a second.

        A device that was stopped can load and run again; the polynomials under way hold parts of
        results.

        Args:
            max_cycles: How many cycles the program may take.
            task: Advances by the cycles that the program takes.

        Raises:
            DeviceError: When it has not ended after ``max_cycles``.
        """
        ...
