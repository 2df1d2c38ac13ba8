"""The scheduler of the RPAU architecture (C++ in ``scheduler/``)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class Machine:
    """The numbers of a design that scheduling depends on; tables are by opcode."""

    def __init__(
        self,
        *,
        rpaus: int,
        banks: Sequence[int],
        key_polys: int,
        seeds: int,
        program_words: int,
        fetch_cycles: int,
        latencies: Sequence[int],
        equivalents: Sequence[int],
    ) -> None: ...

class Timeline:
    """The issue rule. Units are bits, in the order of ``isa.yaml``."""

    def __init__(self, machine: Machine, arrivals: Sequence[int] = ()) -> None: ...
    def start_of(self, opcode: int, mask: int, values: Sequence[int], waits: int, /) -> int: ...
    def conflicts(self, opcode: int, mask: int, values: Sequence[int], waits: int, /) -> int: ...
    def ring_conflict(
        self, opcode: int, mask: int, values: Sequence[int], waits: int, /
    ) -> bool: ...
    def exposed(
        self, opcode: int, mask: int, values: Sequence[int], waits: int, /
    ) -> list[int]: ...
    def exposed_sender(
        self, opcode: int, mask: int, values: Sequence[int], waits: int, /
    ) -> tuple[int, int] | None: ...
    def issue(self, opcode: int, mask: int, values: Sequence[int], waits: int, /) -> int: ...
    def cycles(self) -> int | None: ...

class Run:
    """One run of the device; pairs are (virtual polynomial, mask) where not said otherwise."""

    @property
    def begin(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def peak(self) -> int: ...
    @property
    def issued(self) -> list[tuple[int, int, int, int, int]]:
        """(opcode, mask, units waited for, instruction or -1 for ``halt``, start) in issue order.

        A ``nop`` bears the number of the instruction that it goes before.
        """

    @property
    def slots(self) -> list[tuple[int, int]]:
        """(virtual polynomial, work polynomial)."""

    @property
    def keys(self) -> list[tuple[int, int]]:
        """(key polynomial of the selection, index in the key store)."""

    @property
    def seeds(self) -> list[tuple[int, int]]:
        """(seed of the selection, index in the seed store)."""

    @property
    def loads(self) -> list[tuple[int, int]]: ...
    @property
    def stores(self) -> list[tuple[int, int]]: ...

class Cutter:
    """A program that is cut into runs and scheduled, run after run."""

    def __init__(
        self,
        machine: Machine,
        rows: NDArray[np.int32],
        placement: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[int],
        /,
    ) -> None:
        """Checks a program.

        Args:
            machine: The accelerator.
            rows: One an instruction: opcode, mask, six operand values with zeros at the end.
            placement: For each virtual polynomial, the mask of RPAUs that hold it.
            inputs: For each, the mask of those where the host hands it in.
            outputs: For each, the mask of those where the host reads it at the end.

        Raises:
            ValueError: If these contradict each other.
        """

    def done(self) -> bool: ...
    def whole(self) -> bool: ...
    def next(self) -> int | None:
        """Schedules the next run; its instructions, or None if none fits."""

    def shortage(self) -> tuple[int, int, int]:
        """Key polynomials, seeds and work polynomials that the shortest next run needs."""

    def runs(self) -> list[Run]: ...
