"""Accelerators that work through jobs behind one link: what each waits for, and how many end.

A job writes its operands, starts a program, streams the program's keys and reads its results, in
this order, as a list of descriptors does (docs/reference/dma.md). An accelerator takes its next
operands when its results have been read. Both directions of the link carry a burst of any
accelerator that has one. ``BURSTS`` of them wait at each accelerator, so that the next one is there
when it is wanted.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_read_cycles
from ringsmith.backends.rpau.device.link import Burst, Link, Port, Wire, bursts, polynomial_bytes

BURSTS = 2
"""Bursts that the FIFO at an accelerator holds, each way."""


@dataclass(frozen=True)
class Job:
    """What crosses the link for one program, and what the program takes.

    Attributes:
        operands: Polynomials that are written before it starts.
        keys: Key polynomials that come while it runs.
        results: Polynomials that are read when it has ended.
        cycles: Of the program, from the cycles in which its keys arrive, counted from its start.
    """

    operands: int
    keys: int
    results: int
    cycles: Callable[[Sequence[int]], int]


@dataclass
class Done:
    """A job that has ended; cycles are counted from time 0.

    Attributes:
        start: When the program started.
        arrivals: When its keys came, counted from its start.
        cycles: What it took.
        end: When the last word of its results was at the host.
    """

    start: int = 0
    arrivals: list[int] = field(default_factory=list)
    cycles: int = 0
    end: int = 0


class _Channel:
    """One accelerator's list of jobs."""

    def __init__(self, number: int, link: Link, design: RpauDesign, jobs: Sequence[Job]) -> None:
        self.number, self.link, self.left = number, link, deque(jobs)
        self.port = Port(link, design)
        self.drain = host_read_cycles(design)
        self.parts = list(bursts(link, polynomial_bytes(design)))
        self.done: list[Done] = []
        self.begin(0)

    def begin(self, cycle: int) -> None:
        """The next job begins: its operands may cross."""
        self.job = self.left.popleft()
        self.now = Done()
        self.sent = self.received = 0  # bursts that have crossed, each way
        self.taken = [cycle] * BURSTS  # when the latest bursts had left the FIFO
        self.port.wait(cycle)

    @property
    def incoming(self) -> int:
        """Bursts of a job to the accelerator."""
        return (self.job.operands + self.job.keys) * len(self.parts)

    def wants(self) -> Burst | None:
        """The next burst to the accelerator."""
        if self.sent == self.incoming:
            return None
        time = self.taken[-BURSTS] * self.link.period
        return Burst(time, self._size(self.sent), self.sent + 1 == self.incoming)

    def crossed(self, time: int) -> None:
        """A burst has crossed to the accelerator: it is written as soon as it may be."""
        operands = self.job.operands * len(self.parts)
        if self.sent == operands:
            self.port.wait(self.now.start)
        cycle = self.port.taken(time, self._size(self.sent))
        self.taken = [*self.taken[1:], cycle]
        self.sent += 1
        if self.sent == operands:
            self.now.start = cycle + self.drain
        if self.sent > operands and self.sent % len(self.parts) == 0:
            self.now.arrivals.append(cycle - self.now.start)
        if self.sent == self.incoming:
            self.now.cycles = self.job.cycles(self.now.arrivals)
            self.taken = [self.now.start + self.now.cycles] * BURSTS
            self.port.wait(self.taken[-1])

    def offers(self) -> Burst | None:
        """The next burst of results, once they are computed."""
        results = self.job.results * len(self.parts)
        if not self.now.cycles or self.received == results:
            return None
        size = self._size(self.received)
        cycle = self.port.read(self.taken[-BURSTS], size) + self.link.crossing_cycles
        return Burst(cycle * self.link.period, size, self.received + 1 == results)

    def _size(self, burst: int) -> int:
        return self.parts[burst % len(self.parts)]

    def arrived(self, time: int) -> None:
        """A burst of results is at the host; with the last one another job begins."""
        cycle = -(-time // self.link.period)
        self.taken = [*self.taken[1:], cycle]
        self.received += 1
        if self.received == self.job.results * len(self.parts):
            self.now.end = cycle
            self.done.append(self.now)
            if self.left:
                self.begin(cycle)


def share(link: Link, design: RpauDesign, job: Job, jobs: int) -> list[list[Done]]:
    """Lets a design's accelerators work through as many jobs of one kind each.

    Returns:
        For each accelerator its jobs, in their order.
    """
    return share_lists(link, design, [[job] * jobs] * design.coprocessors)


def share_lists(link: Link, design: RpauDesign, lists: Sequence[Sequence[Job]]) -> list[list[Done]]:
    """Lets accelerators of a design work through a list of jobs each.

    Args:
        link: The link that they share.
        design: The design; there are as many accelerators as lists.
        lists: For each its jobs, at least one, each with operands and results.

    Returns:
        For each accelerator its jobs, in their order.
    """
    count = len(lists)
    channels = [_Channel(number, link, design, jobs) for number, jobs in enumerate(lists)]
    to_device, to_host = Wire(link, count), Wire(link, count)

    def ask(wire: Wire, channel: _Channel, burst: Burst | None) -> None:
        if burst is not None:
            wire.ask(channel.number, burst)

    for channel in channels:
        ask(to_device, channel, channel.wants())
    while True:
        begins = [(wire.begins, wire) for wire in (to_device, to_host)]
        ready = [each for each, _ in begins if each is not None]
        if not ready:
            return [channel.done for channel in channels]
        wire = next(wire for each, wire in begins if each == min(ready))
        number, time = wire.serve()
        channel = channels[number]
        if wire is to_device:
            channel.crossed(time)
        else:
            channel.arrived(time)
        if not channel.now.cycles:
            ask(to_device, channel, channel.wants())
        elif channel.sent == channel.incoming:
            ask(to_host, channel, channel.offers())
