"""A device between an accelerator and its device whose keys come when a test says."""

from collections.abc import Callable
from dataclasses import replace

from ringsmith.backends.rpau.device.interface import (
    AddressSpace,
    Coprocessor,
    KeyStream,
    SegmentReport,
    Words,
)
from ringsmith.progress import Task


class LateCoprocessor:
    """A device whose keys come when a test says, whatever the link would do.

    Args:
        device: What runs programs.
        arrivals: When each polynomial arrives, for this number of them; the same in later runs.
    """

    def __init__(
        self, coprocessor: Coprocessor, arrivals: Callable[[int], tuple[int, ...]]
    ) -> None:
        self._device, self._draw = coprocessor, arrivals
        self.name = coprocessor.name
        self.design = coprocessor.design
        self.arrivals: tuple[int, ...] | None = None
        self.reports: list[SegmentReport] = []
        self.streamed = 0

    @property
    def streams(self) -> bool:
        """Whether keys may come while a program runs."""
        return self._device.streams

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring."""
        self._device.set_ring(log_degree)

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes."""
        self._device.write(space, unit, index, words)

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads."""
        return self._device.read(space, unit, index)

    def load_program(self, words: Words) -> None:
        """Loads."""
        self._device.load_program(words)

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs, with the keys late."""
        if stream is not None:
            if self.arrivals is None:
                self.arrivals = self._draw(len(stream.polys))
            stream = replace(stream, arrivals=self.arrivals)
            max_cycles += max(self.arrivals)
            self.streamed += 1
        self.reports.append(self._device.run(max_cycles, task, stream))
        return self.reports[-1]
