"""The host's link to one accelerator or several: when polynomials arrive.

A bus of the link's own clock carries bursts both ways at once, to one accelerator at a time
(``Wire`` says to which). What has crossed it passes a crossing of clocks and then an accelerator's
host port, a row a cycle of the accelerator's clock. Times are whole picoseconds, and both clocks
have an edge at time 0: the same polynomials arrive at the same times on every device.

The RTL of a card (docs/reference/dma.md) serves its channels in the same order; tests compare how
soon jobs end. Arrivals are defined at the accelerator, so a trace of either gives the
accelerator the same cycles.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.rpau.design.design import BUS_WIDTHS, RpauDesign
from ringsmith.backends.rpau.design.latency import host_read_cycles, host_words
from ringsmith.errors import ParameterError

_PICOSECONDS = 10**12
_NARROW_WORD_BITS = 32


@dataclass(frozen=True)
class Link:
    """A host's link.

    Attributes:
        bus_bits: Width of the bus, one of ``design.BUS_WIDTHS``.
        bus_hz: Its clock.
        device_hz: The accelerators' clock.
        bytes_per_second: What the host sends, and receives, at most; 0: as the bus goes.
        burst_bytes: Bytes of a burst.
        crossing_cycles: From the bus to an accelerator's host port and back, in its cycles.
    """

    bus_bits: int = 128
    bus_hz: int = 250_000_000
    device_hz: int = 200_000_000
    bytes_per_second: int = 12_000_000_000
    burst_bytes: int = 4096
    crossing_cycles: int = 8

    def __post_init__(self) -> None:
        if self.bus_bits not in BUS_WIDTHS:
            raise ParameterError(
                f"a link with bus_bits = {self.bus_bits}: choose one of "
                f"{', '.join(map(str, BUS_WIDTHS))}"
            )
        for name in ("bus_hz", "device_hz"):
            value = getattr(self, name)
            if value <= 0 or _PICOSECONDS % value:
                raise ParameterError(
                    f"a link with {name} = {value}: its period must be whole picoseconds; "
                    "250,000,000 has 4,000"
                )
        if self.burst_bytes <= 0 or self.burst_bytes % (self.bus_bits // 8):
            raise ParameterError(
                f"a link with burst_bytes = {self.burst_bytes}: bursts are whole words of the bus "
                f"of {self.bus_bits} bits"
            )

    @property
    def period(self) -> int:
        """Picoseconds of an accelerator's cycle."""
        return _PICOSECONDS // self.device_hz

    def burst(self, size: int) -> int:
        """Picoseconds in which a burst of these bytes holds the bus: full periods of it."""
        tick = _PICOSECONDS // self.bus_hz
        ticks = -(-size // (self.bus_bits // 8))
        if self.bytes_per_second:
            ticks = max(ticks, -(-size * _PICOSECONDS // (self.bytes_per_second * tick)))
        return ticks * tick


def polynomial_bytes(design: RpauDesign) -> int:
    """Bytes of a polynomial on the link: a word has four, or eight where it is wider."""
    return design.n * (4 if design.word_bits <= _NARROW_WORD_BITS else 8)


def polynomial_rows(design: RpauDesign) -> int:
    """Rows of the host's port that a polynomial has."""
    return design.n // host_words(design)


@dataclass(frozen=True)
class Burst:
    """What a channel has to send: bytes, from a time on; ``last``: of its turn."""

    time: int
    size: int
    last: bool


class Wire:
    """One direction of a link's bus: who may send next, and when it is free.

    The channel whose turn ended longest ago goes first, as in ``rtl/dma/rs_dma_order.sv``. A turn
    is a job; in the RTL, on the way back to the host, a polynomial. So channels that began together
    end one after the other, so they lose step: some coprocessors wait for the bus while others
    compute. A channel waits for at most one turn of each other one.
    """

    def __init__(self, link: Link, channels: int) -> None:
        self._link = link
        self._order = list(range(channels))  # the first goes first
        self._free = 0
        self._asked: dict[int, Burst] = {}

    def ask(self, channel: int, burst: Burst) -> None:
        """A channel that has asked for nothing yet has a burst."""
        self._asked[channel] = burst

    def withdraw(self, channel: int) -> None:
        """A channel has no more requests; its turn has ended."""
        self._asked.pop(channel, None)
        self._order.remove(channel)
        self._order.append(channel)

    @property
    def begins(self) -> int | None:
        """When the next burst begins; None: there is no request."""
        if not self._asked:
            return None
        return max(self._free, min(burst.time for burst in self._asked.values()))

    def serve(self) -> tuple[int, int]:
        """Carries the next burst: the channel, and when its last word has crossed."""
        begins = self.begins
        assert begins is not None
        waiting = [channel for channel, burst in self._asked.items() if burst.time <= begins]
        chosen = min(waiting, key=self._order.index)
        burst = self._asked.pop(chosen)
        self._free = begins + self._link.burst(burst.size)
        if burst.last:
            self._order.remove(chosen)
            self._order.append(chosen)
        return chosen, self._free


class Port:
    """An accelerator's host port behind a link: when rows that cross stand there."""

    def __init__(self, link: Link, design: RpauDesign) -> None:
        self._link = link
        self._row_bytes = polynomial_bytes(design) // polynomial_rows(design)
        self._busy = 0  # the last cycle in which a row stands there, from time 0 on

    def taken(self, crossed: int, size: int) -> int:
        """The cycle in which the last row of a burst stands there that has crossed at a time."""
        link = self._link
        rows = -(-size // self._row_bytes)
        ready = -(-crossed // link.period) + link.crossing_cycles
        self._busy = max(self._busy + rows, ready)
        return self._busy

    def wait(self, cycle: int) -> None:
        """No row stands there up to a cycle."""
        self._busy = max(self._busy, cycle)

    def read(self, cycle: int, size: int) -> int:
        """The cycle after the last of a number of bytes was read, from a cycle on."""
        self._busy = max(self._busy, cycle) + -(-size // self._row_bytes)
        return self._busy


def bursts(link: Link, size: int) -> Iterable[int]:
    """Bytes of each burst of a transfer."""
    for first in range(0, size, link.burst_bytes):
        yield min(link.burst_bytes, size - first)


def arrivals(link: Link, design: RpauDesign, count: int) -> tuple[int, ...]:
    """Cycles in which polynomials arrive at one accelerator, sent from cycle 0 on.

    Returns:
        For each, the cycle in which its last row stands at the host's port.
    """
    port, found, now = Port(link, design), [], 0
    for _ in range(count):
        cycle = 0
        for size in bursts(link, polynomial_bytes(design)):
            now += link.burst(size)
            cycle = port.taken(now, size)
        found.append(cycle)
    return tuple(found)


# Accelerators that work through jobs behind one link: what each waits for, and how many end

# A job writes its operands, starts a program, streams the program's keys and reads its results, in
# this order, as a list of descriptors does (docs/reference/dma.md). An accelerator takes its next
# operands when its results have been read. Both directions of the link carry a burst of any
# accelerator that has one. ``BURSTS`` of them wait at each accelerator, so that the next one is
# there when it is wanted.


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
