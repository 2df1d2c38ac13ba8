"""What benches of the DMA share: a host's memory behind AXI4, and devices behind host ports.

Runs inside the simulator, on an rs_dma_bench of the shape in RINGSMITH_BENCH.
"""

import itertools
import json
import os
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge


class Shape(NamedTuple):
    """Parameters of a bench: its hardware, and periods of its clocks in picoseconds."""

    channels: int
    bits: int  # of the bus
    words: int  # of a row
    width: int
    log_depth: int
    bus_ps: int
    clk_ps: int
    turn: int
    start_cycles: int = 1


SHAPE = Shape(*json.loads(os.environ["RINGSMITH_BENCH"]))
SEED = int(os.environ["RINGSMITH_TEST_SEED"])
BEAT = SHAPE.bits // 8
WORD = 4 if SHAPE.width <= 32 else 8
ROW = SHAPE.words * WORD
MASK = (1 << SHAPE.width) - 1
ROW_BITS = SHAPE.words * SHAPE.width
MEMORY = 1 << 20
POLY, KEY = 0, 1


@dataclass
class Descriptor:
    """A descriptor; where its words lie in host memory, and how many they are."""

    op: int
    data: int = 0
    count: int = 0
    space: int = POLY
    unit: int = 0
    index: int = 0
    tell: bool = False
    keep: bool = False
    record: int = 0
    address: int = 0  # its own
    next: int = 0
    flags: int = 0

    def to_bytes(self) -> bytes:
        """The descriptor as it lies in host memory."""
        what = self.op | self.space << 4 | self.unit << 8 | self.index << 16
        size = self.count | (self.tell | self.keep << 1 | self.flags << 2) << 24
        fields = (self.data, 8), (what, 4), (size, 4), (self.next, 8), (self.record, 8)
        return b"".join(value.to_bytes(length, "little") for value, length in fields)


def to_bytes(words: Sequence[int]) -> bytes:
    """Words as they lie in host memory."""
    return b"".join(word.to_bytes(WORD, "little") for word in words)


@dataclass
class Burst:
    """A burst on its way."""

    channel: int
    addr: int
    beats: int
    ready: int  # not answered before this cycle
    beat: int = 0


@dataclass
class Pace:
    """How a bus, or a device, keeps others waiting."""

    stalls: float = 0.0  # share of cycles in which a channel is not ready
    latency: tuple[int, int] = (0, 0)  # cycles to an answer
    gaps: float = 0.0  # share of cycles in which an answer pauses


class HostMemory:
    """A memory that answers bursts of different IDs in any order, beat by beat.

    It checks what AXI4 demands of a master: bursts within 4 KiB, of whole beats, and that nothing
    changes or goes while it waits.
    """

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {SHAPE.turn} {name} memory")
        self.data = bytearray(MEMORY)
        self.pace = Pace()
        self.bad_reads: set[range] = set()
        self.bad_writes: set[range] = set()
        self.cycle = 0
        self.reads: list[deque[Burst]] = [deque() for _ in range(SHAPE.channels)]
        self.answers: list[deque[tuple[int, int]]] = [deque() for _ in range(SHAPE.channels)]
        self.addresses: deque[Burst] = deque()
        self.beats: deque[tuple[int, int, int]] = deque()
        self.read_beats = [0] * SHAPE.channels
        self.longest = 0

    def put(self, at: int, data: bytes) -> None:
        """Places bytes in the memory."""
        self.data[at : at + len(data)] = data

    def get(self, at: int, size: int) -> bytes:
        """Bytes of the memory."""
        return bytes(self.data[at : at + size])

    def open(self) -> int:
        """Bursts in progress."""
        waiting = sum(map(len, self.reads)) + sum(map(len, self.answers))
        return waiting + len(self.addresses)

    def _yes(self, share: float) -> bool:
        return share == 0 or self.random.random() >= share

    def _burst(self, channel: str) -> Burst:
        def value(name: str) -> int:
            return int(getattr(self.dut, f"m_axi_{channel}{name}").value)

        burst = Burst(value("id"), value("addr"), value("len") + 1, 0)
        burst.ready = self.cycle + self.random.randint(*self.pace.latency)
        assert 1 << value("size") == BEAT
        assert value("burst") == 1
        assert burst.addr % BEAT == 0
        last = burst.addr + burst.beats * BEAT - 1
        assert burst.addr >> 12 == last >> 12, f"a burst at {burst.addr:#x} of {burst.beats}"
        assert last < MEMORY, hex(burst.addr)
        self.longest = max(self.longest, burst.beats * BEAT)
        return burst

    def _payload(self, channel: str) -> tuple[int, ...]:
        names = ("data", "strb", "last") if channel == "w" else ("id", "addr", "len")
        return tuple(int(getattr(self.dut, f"m_axi_{channel}{name}").value) for name in names)

    async def run(self) -> None:
        """Answers, for ever."""
        dut = self.dut
        ready = dict.fromkeys(("ar", "aw", "w"), 0)
        held: dict[str, tuple[int, ...] | None] = dict.fromkeys(ready)
        answering = b_valid = False
        for name in ("arready", "awready", "wready", "rvalid", "bvalid"):
            getattr(dut, f"m_axi_{name}").value = 0
        while True:
            await RisingEdge(dut.bus_clk_i)
            self.cycle += 1
            if dut.bus_rst_ni.value == 0:
                continue
            for channel in ready:
                valid = getattr(dut, f"m_axi_{channel}valid").value == 1
                if held[channel] is not None:
                    assert valid, f"{channel} goes before it is taken"
                    assert held[channel] == self._payload(channel), f"{channel} changes"
                held[channel] = None
                if valid and ready[channel]:
                    self._take(channel)
                elif valid:
                    held[channel] = self._payload(channel)
                will = int(self._yes(self.pace.stalls))
                if will != ready[channel]:
                    getattr(dut, f"m_axi_{channel}ready").value = will
                    ready[channel] = will
            self._write()
            assert dut.m_axi_rready.value == 1
            assert dut.m_axi_bready.value == 1
            answering = self._read(answering)
            b_valid = self._answer(b_valid)

    def _take(self, channel: str) -> None:
        if channel == "w":
            data, strobes, last = self._payload("w")
            self.beats.append((data, strobes, last))
        else:
            burst = self._burst(channel)
            (self.addresses if channel == "aw" else self.reads[burst.channel]).append(burst)

    def _write(self) -> None:
        """Stores what has come, in the order of addresses."""
        while self.addresses and self.beats:
            burst = self.addresses[0]
            data, strobes, last = self.beats.popleft()
            at = burst.addr + burst.beat * BEAT
            for i, byte in enumerate(data.to_bytes(BEAT, "little")):
                if strobes >> i & 1:
                    self.data[at + i] = byte
            burst.beat += 1
            assert last == (burst.beat == burst.beats)
            if last:
                self.addresses.popleft()
                wrong = any(burst.addr in bad for bad in self.bad_writes)
                ready = self.cycle + self.random.randint(*self.pace.latency)
                self.answers[burst.channel].append((ready, 2 if wrong else 0))

    def _read(self, answering: bool) -> bool:
        """The next beat, of any channel."""
        dut = self.dut
        able = [q[0] for q in self.reads if q and q[0].ready <= self.cycle]
        if not able or not self._yes(self.pace.gaps):
            if answering:
                dut.m_axi_rvalid.value = 0
            return False
        burst = self.random.choice(able)
        at = burst.addr + burst.beat * BEAT
        burst.beat += 1
        self.read_beats[burst.channel] += 1
        wrong = any(at <= bad.stop - 1 and bad.start < at + BEAT for bad in self.bad_reads)
        dut.m_axi_rvalid.value = 1
        dut.m_axi_rid.value = burst.channel
        dut.m_axi_rdata.value = int.from_bytes(self.data[at : at + BEAT], "little")
        dut.m_axi_rresp.value = self.random.choice((2, 3)) if wrong else 0
        dut.m_axi_rlast.value = int(burst.beat == burst.beats)
        if burst.beat == burst.beats:
            self.reads[burst.channel].popleft()
        return True

    def _answer(self, valid: bool) -> bool:
        dut = self.dut
        able = [c for c, q in enumerate(self.answers) if q and q[0][0] <= self.cycle]
        if not able or not self._yes(self.pace.gaps):
            if valid:
                dut.m_axi_bvalid.value = 0
            return False
        channel = self.random.choice(able)
        dut.m_axi_bvalid.value = 1
        dut.m_axi_bid.value = channel
        dut.m_axi_bresp.value = self.answers[channel].popleft()[1]
        return True


Place = tuple[int, int, int]  # address space, unit, index


def run_program(memory: dict[Place, dict[int, int]], ring: int, number: int) -> None:
    """What a program of these devices does: changes every row of the work polynomials."""
    pattern = (0x9E3779B97F4A7C15 * (number + 1) ^ ring) % (1 << ROW_BITS)
    for (space, _, _), rows in memory.items():
        if space == POLY:
            for row in rows:
                rows[row] ^= pattern


@dataclass
class Program:
    """A running program."""

    ring: int
    hidden: int  # cycles until busy shows it
    left: int  # cycles
    opens: list[int]  # cycles to the opening of each place
    streamed: int = 0


@dataclass
class Coprocessor:
    """An accelerator's host port and program, and what it checks of who uses them."""

    latency: int
    random: random.Random
    memory: dict[Place, dict[int, int]] = field(default_factory=dict)
    plan: deque[list[int]] = field(default_factory=deque)  # of each program: cycles, and openings
    program: Program | None = None
    programs: int = 0
    opened: int = 0
    cycles: int = 0
    elapsed: int = 0
    reads: deque[tuple[int, int]] = field(default_factory=deque)  # when answered, and the row
    held: Place | None = None
    quiet: int = 0  # cycles to the end of the last access
    moving: int = 0  # the channel said so in the cycle before
    key_rows: int = 0
    rows: int = 0  # that have crossed


class Coprocessors:
    """All devices of a bench."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.cycle = 0
        self.gaps = 0.0
        self.stream_rows = 1  # of a polynomial of the key store
        self.all = [
            Coprocessor(chance.randint(2, 12), chance)
            for chance in (
                random.Random(f"{SEED} {SHAPE.turn} {name} {c}") for c in range(SHAPE.channels)
            )
        ]

    def _field(self, name: str, channel: int, bits: int) -> int:
        return int(getattr(self.dut, name).value) >> (channel * bits) & ((1 << bits) - 1)

    def _place(self, c: int) -> Place:
        names = (("space", 4), ("unit", 8), ("index", 16))
        space, unit, index = (self._field(f"host_{name}_o", c, bits) for name, bits in names)
        return space, unit, index

    async def run(self) -> None:
        """Answers, for ever."""
        dut = self.dut
        names = ("host_rvalid_i", "host_rdata_i", "host_busy_i", "busy_i", "opened_i", "cycles_i")
        driven = dict.fromkeys(names, 0)
        for name in names:
            getattr(dut, name).value = 0
        while True:
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            we, re, start = (int(s.value) for s in (dut.host_we_o, dut.host_re_o, dut.start_o))
            moving = int(dut.moving_o.value)
            will = dict.fromkeys(names, 0)
            for c, device in enumerate(self.all):
                if dut.rst_ni.value == 0:
                    self._reset(device)
                else:
                    assert device.moving | moving >> c & 1 or not (we | re) >> c & 1
                    self._access(c, device, we >> c & 1, re >> c & 1)
                    self._run(c, device, start >> c & 1)
                device.moving = moving >> c & 1
                due = device.reads and device.reads[0][0] <= self.cycle
                if due and device.random.random() >= self.gaps:
                    will["host_rvalid_i"] |= 1 << c
                    will["host_rdata_i"] |= device.reads.popleft()[1] << (c * ROW_BITS)
                if device.quiet:
                    device.quiet -= 1
                    will["host_busy_i"] |= 1 << c
                shown = device.program is not None and device.program.hidden == 0
                will["busy_i"] |= int(shown) << c
                will["opened_i"] |= device.opened << (16 * c)
                will["cycles_i"] |= device.cycles << (64 * c)
            for name, value in will.items():
                if value != driven[name]:
                    getattr(dut, name).value = value
            driven = will

    @staticmethod
    def _reset(device: Coprocessor) -> None:
        device.program = None
        device.reads.clear()
        device.held = None
        device.opened = device.key_rows = device.quiet = 0

    def _access(self, c: int, device: Coprocessor, we: int, re: int) -> None:
        if not device.reads:
            device.held = None
        if not (we or re):
            if device.held is not None:
                assert device.held == self._place(c), "the place of a read changes"
            return
        assert not (we and re)
        device.rows += 1
        place, row = self._place(c), self._field("host_row_o", c, 16)
        device.quiet = device.latency
        if we:
            assert device.held is None, "a write among reads"
            if device.program:
                assert place[0] == KEY, "a write while a program runs"
                assert device.opened > device.program.streamed, "a write before its place is open"
                device.key_rows += 1
                if device.key_rows == self.stream_rows:
                    device.key_rows = 0
                    device.program.streamed += 1
            device.memory.setdefault(place, {})[row] = self._field("host_wdata_o", c, ROW_BITS)
        else:
            assert not device.program, "a read while a program runs"
            assert device.held in (None, place)
            device.held = place
            data = device.memory.get(place, {}).get(row, 0)
            device.reads.append((self.cycle + device.latency, data))

    def _run(self, c: int, device: Coprocessor, start: int) -> None:
        if start:
            assert device.program is None
            assert device.quiet == 0
            cycles, *opens = device.plan.popleft() if device.plan else [20]
            assert self._field("streams_o", c, 16) == len(opens)
            ring, hidden = self._field("ring_o", c, 5), SHAPE.start_cycles - 1
            device.program = Program(ring, hidden, cycles, opens)
        program = device.program
        if program is None:
            return
        if start or program.hidden:
            program.hidden -= not start
            if program.hidden == 0:
                device.opened = device.elapsed = device.cycles = 0
            return
        device.elapsed += 1
        device.opened = sum(cycle <= device.elapsed for cycle in program.opens)
        program.left -= 1
        if program.left <= 0 and program.streamed == len(program.opens):
            run_program(device.memory, program.ring, device.programs)
            device.programs += 1
            device.cycles = device.elapsed
            device.program = None


class Status(NamedTuple):
    """A channel's status."""

    running: bool
    reported: bool
    failed: bool
    error: int
    address: int
    completed: int


class Driver:
    """What a host's driver does: builds lists, starts and stops channels."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.control = [0] * SHAPE.channels
        self.reported = [0] * SHAPE.channels

    def _drive(self) -> None:
        self.dut.control_i.value = sum(value << (66 * c) for c, value in enumerate(self.control))

    def status(self, channel: int) -> Status:
        """A channel's status."""
        bits = int(self.dut.status_o.value) >> (103 * channel)
        return Status(
            *(bool(bits >> i & 1) for i in (102, 101, 100)),
            bits >> 96 & 15,
            bits >> 32 & ((1 << 64) - 1),
            bits & ((1 << 32) - 1),
        )

    async def go(self, channel: int, address: int) -> None:
        """Starts a list."""
        await RisingEdge(self.dut.bus_clk_i)
        self.control[channel] = 1 << 65 | address
        self._drive()
        await RisingEdge(self.dut.bus_clk_i)
        self.control[channel] = 0
        self._drive()
        await RisingEdge(self.dut.bus_clk_i)

    async def stop(self, channel: int) -> None:
        """Ends a list."""
        await RisingEdge(self.dut.bus_clk_i)
        self.control[channel] = 1 << 64
        self._drive()
        await RisingEdge(self.dut.bus_clk_i)
        self.control[channel] = 0
        self._drive()

    async def watch(self) -> None:
        """Counts what channels report, forever."""
        while True:
            await RisingEdge(self.dut.bus_clk_i)
            bits = int(self.dut.status_o.value)
            for c in range(SHAPE.channels):
                self.reported[c] += bits >> (103 * c + 101) & 1

    async def wait(self, channel: int, cycles: int = 60_000) -> Status:
        """Until a list has ended; the status."""
        for _ in range(cycles):
            await RisingEdge(self.dut.bus_clk_i)
            status = self.status(channel)
            if not status.running:
                return status
        raise AssertionError(f"channel {channel} does not end: {self.status(channel)}")


def lay(memory: HostMemory, descriptors: Sequence[Descriptor]) -> int:
    """Links descriptors, which have addresses, and places them in memory; the first address."""
    for one, following in itertools.pairwise(descriptors):
        one.next = following.address
    for each in descriptors:
        memory.put(each.address, each.to_bytes())
    return descriptors[0].address


class Heap:
    """Free places in host memory, of one channel."""

    def __init__(self, channel: int, chance: random.Random) -> None:
        size = MEMORY // SHAPE.channels
        self.next, self.end = channel * size + 4096, (channel + 1) * size
        self.random = chance

    def take(self, size: int, align: int) -> int:
        """A place, often just before a border of 4 KiB, or across one."""
        at = self.next + align * self.random.randrange(4)
        if self.random.random() < 0.3:
            border = (at + size + 4095) // 4096 * 4096
            at = max(at, border - align * self.random.randrange(1, 5))
        at = (at + align - 1) // align * align
        self.next = at + size
        assert self.next <= self.end, "the list is too long for the host's memory"
        return at
