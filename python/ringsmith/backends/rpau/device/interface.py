"""What every device offers: memory zones, a program store, a command, a completion and counters."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.progress import Task

Words = NDArray[np.uint64]


class Zone(IntEnum):
    """A memory that the host reaches. Sizes are words a unit (RPAU)."""

    POLY = 0
    """Work polynomials: index selects the polynomial, N words in logical order, in rings below N as
    many as the ring's degree."""
    KEY = 1
    """Key store: index selects the polynomial, as many words in logical order; written only."""
    CONSTANT = 2
    """Constant file: index selects the prime set, ``constants`` words; written only."""
    MODULUS = 3
    """Index selects the prime set: the four words q, mu, k and the index of q in the design's
    family; written only."""
    TWIDDLE_LO = 4
    """Index selects the prime set: the lower table of
    :func:`ringsmith.backends.rpau.constants.twiddle_tables`; written only."""
    TWIDDLE_HI = 5
    """Index selects the prime set: the upper table of the same; written only."""
    TWIDDLE = 6
    """Whole twiddle factors: index selects the prime set; written only. Where factors are
    generated, those of a transform's first steps,
    :func:`ringsmith.backends.rpau.constants.first_twiddles`; where they are stored, and the two
    zones above are not there, the N words psi^brev(j)."""
    SEED = 7
    """Seed store: index selects the entry, the five words of
    :func:`ringsmith.backends.rpau.constants.seed_words`; written only."""


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
