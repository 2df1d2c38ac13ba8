"""The cocotb part of test_vector_bus.py: a vector accelerator whose buses misbehave at random.

Runs inside the simulator, on an rs_vector_bus_bench; rs_axi_checker checks its ports, and what
this bench drives at them.
"""

import json
import os
import random
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    Control,
    Refused,
    Status,
    VectorRegister,
)

WORLD = json.loads(Path(os.environ["RINGSMITH_BENCH"]).read_text())
RUNS = int(os.environ["RINGSMITH_BENCH_RUNS"])
SEED = int(os.environ["RINGSMITH_BENCH_SEED"])
OF_CLUSTER = WORLD["cluster_registers"]
LIST_BITS = 512
ADDR_BITS = 40
OKAY, SLVERR, DECERR = 0, 2, 3
RESPONSE, SILENCE, MALFORMED = 1, 2, 3
LISTS = ("loads", "computing", "stores")
LIST_SPAN = 1 << 20
"""Bytes between the lists of two clusters."""


@dataclass
class Pace:
    """How memory keeps the accelerator waiting."""

    stalls: float = 0.0  # share of cycles in which a channel is not ready
    late: bool = False  # ready is raised only after valid
    latency: tuple[int, int] = (0, 2)  # cycles to an answer
    gaps: float = 0.0  # share of cycles in which an answer pauses


PACES = (
    Pace(),
    Pace(0.3, late=False, latency=(0, 60), gaps=0.2),
    Pace(0.5, late=True, latency=(20, 250), gaps=0.5),
    Pace(0.8, late=True, latency=(0, 20), gaps=0.8),
    Pace(0.0, late=True, latency=(100, 300), gaps=0.0),
)


@dataclass
class Burst:
    """A burst that is read, or whose answer waits."""

    at: int = 0  # the next beat
    left: int = 0
    due: int = 0  # not answered before this cycle


@dataclass
class Port:
    """A port's state."""

    reads: deque[Burst] = field(default_factory=deque)
    writes: deque[Burst] = field(default_factory=deque)
    beats: deque[int] = field(default_factory=deque)
    answers: deque[Burst] = field(default_factory=deque)
    answered: int = 0  # beats and answers since the start
    showing_r: bool = False
    showing_b: bool = False
    resp: int = OKAY


class PortGroup:
    """Ports of one kind: for rows, or for lists."""

    def __init__(self, memory: "Memory", prefix: str, count: int, bits: int) -> None:
        self.memory, self.dut, self.count, self.bits = memory, memory.dut, count, bits
        self.prefix, self.writes = prefix, prefix == "m_axi"
        self.ports = [Port() for _ in range(count)]
        self.content: dict[int, int] = {}
        self.first = 0 if self.writes else memory.rows  # number of its first port
        self.driven: dict[str, int] = {}
        names = "arvalid araddr arlen arready rvalid rlast rresp rdata rready"
        if self.writes:
            names += " awvalid awaddr awlen awready wvalid wdata wready bvalid bresp bready"
        self.signals = {name: getattr(self.dut, f"{prefix}_{name}") for name in names.split()}
        self.fill = random.Random(SEED).getrandbits(bits)  # where nothing lies

    def get(self, name: str) -> int:
        """A signal of all ports."""
        return int(self.signals[name].value)

    def put(self, name: str, value: int) -> None:
        """Drives a signal of all ports."""
        if self.driven.get(name) != value:
            self.signals[name].value = value
            self.driven[name] = value

    def forget(self) -> None:
        """Everything in progress is gone, and nothing is driven."""
        self.ports = [Port() for _ in range(self.count)]
        for name in ("arready", "rvalid", "awready", "wready", "bvalid"):
            if name in self.signals:
                self.put(name, 0)

    def open(self) -> int:
        """Bursts in progress."""
        return sum(len(p.reads) + len(p.writes) + len(p.answers) + len(p.beats) for p in self.ports)

    def address(self, vector: int, port: int) -> int:
        """The number of the beat that a port asks for."""
        return (vector >> (port * ADDR_BITS) & ((1 << ADDR_BITS) - 1)) // (self.bits // 8)

    def due(self) -> int:
        """The first cycle in which what comes now is answered."""
        return self.memory.cycle + self.memory.random.randint(*self.memory.pace.latency)

    def step(self) -> None:
        """One cycle: what was taken in the last one, and what is driven in the next."""
        self._take_reads()
        if self.writes:
            self._take_writes()
        self._answer_reads()
        if self.writes:
            self._answer_writes()

    def _ready(self, valid: int, name: str) -> None:
        """Drives a ready signal for the next cycle; ``valid`` is what waits after this one."""
        memory, ready = self.memory, 0
        for p in range(self.count):
            if not memory.silent(self.first + p) and memory.yes(memory.pace.stalls):
                ready |= 1 << p
        self.put(name, ready & valid if memory.pace.late else ready)

    def _take_reads(self) -> None:
        valid = self.get("arvalid")
        taken = valid & self.driven["arready"]
        if taken:
            addresses, lengths = self.get("araddr"), self.get("arlen")
            for p in range(self.count):
                if taken >> p & 1:
                    beats = (lengths >> (8 * p) & 255) + 1
                    burst = Burst(self.address(addresses, p), beats, self.due())
                    self.ports[p].reads.append(burst)
        self._ready(valid & ~taken, "arready")

    def _take_writes(self) -> None:
        valid = self.get("awvalid")
        taken = valid & self.driven["awready"]
        if taken:
            addresses, lengths = self.get("awaddr"), self.get("awlen")
            for p in range(self.count):
                if taken >> p & 1:
                    beats = (lengths >> (8 * p) & 255) + 1
                    self.ports[p].writes.append(Burst(self.address(addresses, p), beats))
        self._ready(valid & ~taken, "awready")
        valid = self.get("wvalid")
        taken = valid & self.driven["wready"]
        if taken:
            data = self.get("wdata")
            for p in range(self.count):
                if taken >> p & 1:
                    self.ports[p].beats.append(data >> (self.bits * p) & ((1 << self.bits) - 1))
        self._ready(valid & ~taken, "wready")
        for port in self.ports:
            while port.writes and port.beats:
                burst = port.writes[0]
                self.content[burst.at] = port.beats.popleft()
                burst.at += 1
                burst.left -= 1
                if burst.left == 0:
                    port.writes.popleft()
                    port.answers.append(Burst(due=self.due()))

    def _answer_reads(self) -> None:
        taken = self.driven["rvalid"] & self.get("rready") if self.driven["rvalid"] else 0
        valid = last = resp = data = 0
        for p, port in enumerate(self.ports):
            if taken >> p & 1:
                port.showing_r = False
                burst = port.reads[0]
                burst.at += 1
                burst.left -= 1
                if burst.left == 0:
                    port.reads.popleft()
            self._show(p, port, port.reads, "showing_r")
            if port.showing_r:
                burst = port.reads[0]
                valid |= 1 << p
                last |= int(burst.left == 1) << p
                resp |= port.resp << (2 * p)
                data |= self.content.get(burst.at, self.fill) << (self.bits * p)
        if valid:
            self.put("rdata", data)
            self.put("rlast", last)
            self.put("rresp", resp)
        self.put("rvalid", valid)

    def _answer_writes(self) -> None:
        taken = self.driven["bvalid"] & self.get("bready") if self.driven["bvalid"] else 0
        valid = resp = 0
        for p, port in enumerate(self.ports):
            if taken >> p & 1:
                port.showing_b = False
                port.answers.popleft()
            self._show(p, port, port.answers, "showing_b")
            valid |= int(port.showing_b) << p
            if port.showing_b:
                resp |= port.resp << (2 * p)
        if valid:
            self.put("bresp", resp)
        self.put("bvalid", valid)

    def _show(self, p: int, port: Port, waiting: deque[Burst], showing: str) -> None:
        """Whether the oldest burst's next answer is offered from now on; it stays then."""
        memory = self.memory
        if getattr(port, showing) or not waiting or waiting[0].due > memory.cycle:
            return
        if memory.silent(self.first + p) or not memory.yes(memory.pace.gaps):
            return
        setattr(port, showing, True)
        # One response for both channels of a port, decided when nothing else stands there.
        if not (port.showing_r and port.showing_b):
            port.resp = memory.response(self.first + p, port.answered)
        port.answered += 1


class Memory:
    """All ports: AXI4 slaves that are late, fail, or do not answer."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.random = dut, random.Random(f"{SEED} memory")
        self.rows = WORLD["clusters"] * WORLD["ports"]
        self.cycle = 0
        self.pace = Pace()
        self.bad: tuple[int, int, int] | None = None  # port, from which answer on, response
        self.failed = False  # it has answered with an error
        self.quiet: tuple[int, int, int] | None = None  # port, from cycle, to cycle
        self.groups = [
            PortGroup(self, "m_axi", self.rows, WORLD["port_bits"]),
            PortGroup(self, "m_list", WORLD["clusters"], LIST_BITS),
        ]
        self.reset = True

    def yes(self, share: float) -> bool:
        """False in this share of calls."""
        return share == 0 or self.random.random() >= share

    def silent(self, port: int) -> bool:
        """Whether a port says nothing in this cycle."""
        return (
            self.quiet is not None
            and port == self.quiet[0]
            and self.quiet[1] <= self.cycle < self.quiet[2]
        )

    def response(self, port: int, answered: int) -> int:
        """What the next answer of a port says."""
        if self.bad is None or port != self.bad[0] or answered < self.bad[1]:
            return OKAY
        self.failed = True
        return self.bad[2]

    def begin(self, pace: Pace) -> None:
        """Well-behaved memory from now on, but for its pace."""
        self.pace, self.bad, self.quiet, self.failed = pace, None, None, False
        for group in self.groups:
            for port in group.ports:
                port.answered = 0

    def open(self) -> int:
        """Bursts in progress."""
        return sum(group.open() for group in self.groups)

    async def run(self) -> None:
        """Answers, for ever."""
        for group in self.groups:
            group.forget()
        edge = RisingEdge(self.dut.clk_i)
        while True:
            await edge
            self.cycle += 1
            if self.reset:
                for group in self.groups:
                    group.forget()
            else:
                for group in self.groups:
                    group.step()


class Host:
    """The host, its memory and the device."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.random = dut, random.Random(f"{SEED} host")
        self.memory = Memory(dut)
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        self.master = AxiLiteMaster(bus, dut.clk_i)
        for half in (self.master.write_if, self.master.read_if):
            half.log.setLevel("WARNING")
        self.expected = {int(at): int(value, 16) for at, value in WORLD["expected"].items()}
        self.seen: Counter[str] = Counter()

    async def begin(self) -> None:
        """Reset, clock, memory, settings."""
        self.dut.clk_i.value = Immediate(0)  # random until now
        self.dut.rst_ni.value = Immediate(0)
        await Timer(10, "ns")
        Clock(self.dut.clk_i, 10, "ns").start()
        cocotb.start_soon(self.memory.run())
        await self.hard_reset()
        await self.write_settings()
        self.fill_memory()

    async def hard_reset(self) -> None:
        """The reset of the accelerator and of memory's ports."""
        self.dut.rst_ni.value = 0
        self.memory.reset = True
        await ClockCycles(self.dut.clk_i, self.random.choice((2, 3, 20)))
        self.dut.rst_ni.value = 1
        await ClockCycles(self.dut.clk_i, 1)
        self.memory.reset = False
        await self.wait(Status.RESETTING, 0)

    def fill_memory(self) -> None:
        """Inputs, tables and lists; outputs are wrong."""
        rows, listed = self.memory.groups
        rows.content = {int(at): int(value, 16) for at, value in WORLD["memory"].items()}
        listed.content = {}
        for cluster, beats in enumerate(WORLD["lists"]):
            for at, beat in enumerate(beats):
                listed.content[self.list_at(cluster, at)] = int(beat, 16)

    def list_at(self, cluster: int, beat: int) -> int:
        """A beat of a cluster's lists, among those of all."""
        return cluster * (LIST_SPAN // (LIST_BITS // 8)) + beat

    async def write(self, address: int, value: int) -> None:
        """Writes a register."""
        answer = await self.master.write(address, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, hex(address)

    async def read(self, address: int) -> int:
        """Reads a register."""
        answer = await self.master.read(address, 4)
        assert answer.resp == AxiResp.OKAY, hex(address)
        return int.from_bytes(answer.data, "little")

    async def write_settings(self) -> None:
        """Ring, primes, passes, watchdog."""
        for address, value in WORLD["settings"]:
            await self.write(address, value)
        await self.write_lists()

    async def write_lists(self) -> None:
        """What a program takes with its start."""
        for address, value in WORLD["settings"][:2]:
            await self.write(address, value)
        for address, value in WORLD["list_writes"]:
            cluster, offset = divmod(address - CLUSTERS, CLUSTER_BYTES)
            at = offset in (OF_CLUSTER[f"{name.upper()}_AT"] for name in LISTS)
            await self.write(address, value + (LIST_SPAN * cluster if at else 0))

    async def wait(self, mask: Status, value: int, most: int = 60_000) -> Status:
        """Waits until bits of the status have a value."""
        begun = self.memory.cycle
        while True:
            status = Status(await self.read(VectorRegister.STATUS))
            if status & mask == value:
                return status
            assert self.memory.cycle - begun < most, f"{status!r} after {most} cycles"

    async def reset(self) -> None:
        """A reset by register: nothing is in progress after it."""
        await self.write(VectorRegister.CONTROL, Control.RESET)
        await self.wait(Status.RESETTING, 0)
        assert self.memory.open() == 0
        assert await self.read(VectorRegister.STATUS) == 0

    async def finish(self, most: int = 60_000) -> Status:
        """Waits until the program has ended or failed."""
        begun = self.memory.cycle
        while True:
            status = Status(await self.read(VectorRegister.STATUS))
            if not status & Status.RUNNING:
                return status
            assert self.memory.cycle - begun < most, f"{status!r} after {most} cycles"
            await ClockCycles(self.dut.clk_i, 20)

    def spoil(self) -> None:
        """Outputs are wrong from now on."""
        content = self.memory.groups[0].content
        for at in self.expected:
            content[at] = ~self.expected[at] & ((1 << WORLD["port_bits"]) - 1)

    def right(self) -> bool:
        """Whether outputs are right."""
        content = self.memory.groups[0].content
        return all(content[at] == value for at, value in self.expected.items())

    async def clean(self) -> None:
        """A program that nothing disturbs."""
        self.memory.begin(self.random.choice(PACES[:2]))
        self.spoil()
        await self.write(VectorRegister.CONTROL, Control.START)
        assert await self.finish() == Status.DONE
        assert self.right(), "the next program's results are wrong"
        assert await self.read(VectorRegister.REFUSED) == 0

    async def faults(self) -> list[tuple[int, int]]:
        """Register ``fault`` of each cluster that has one, and ``fault_item``."""
        found = []
        for cluster in range(WORLD["clusters"]):
            first = CLUSTERS + cluster * CLUSTER_BYTES
            if fault := await self.read(first + OF_CLUSTER["FAULT"]):
                item = await self.read(first + OF_CLUSTER["FAULT_ITEM"])
                found.append((fault | cluster << 16, item))
        return found

    # ---- kinds of runs ---------------------------------------------------------------------------

    async def late(self) -> None:
        """Memory is late, and that is all: contents are right."""
        assert await self.finish() == Status.DONE
        assert self.right()

    async def error(self) -> None:
        """A port answers with errors from some answer on."""
        ports = self.memory.rows + WORLD["clusters"]
        answer = self.random.choice((0, self.random.randrange(40), self.random.randrange(200)))
        self.memory.bad = (self.random.randrange(ports), answer, self.random.choice((2, 3)))
        status = await self.finish()
        if status == Status.DONE:
            assert not self.memory.failed
            assert self.right()
            return
        assert status == Status.FAILED
        assert self.memory.failed
        faults = await self.faults()
        assert [fault & 3 for fault, _ in faults] == [RESPONSE]
        port = self.memory.bad[0]
        fault = faults[0][0]
        if port < self.memory.rows:
            assert divmod(port, WORLD["ports"]) == (fault >> 16, fault >> 5 & 0xFF)
            assert not fault >> 4 & 1
        else:
            assert (port - self.memory.rows, 1) == (fault >> 16, fault >> 4 & 1)

    async def silence(self) -> None:
        """A port says nothing for longer than the watchdog waits, then goes on."""
        ports = self.memory.rows + WORLD["clusters"]
        begin = self.memory.cycle + self.random.randrange(WORLD["cycles"])
        length = self.random.choice((50, WORLD["watchdog"] + 200, 4 * WORLD["watchdog"]))
        self.memory.quiet = (self.random.randrange(ports), begin, begin + length)
        status = await self.finish()
        if status == Status.DONE:
            assert self.right()
            return
        assert status == Status.FAILED
        assert {fault & 3 for fault, _ in await self.faults()} == {SILENCE}

    async def stray(self) -> None:
        """Registers are written while the program runs: contents are right."""
        settings = range(VectorRegister.RING, VectorRegister.PASS_BITS + 8, 4)
        offsets = [at for name, at in OF_CLUSTER.items() if not name.startswith("FAULT")]
        at_once = self.random.choice((VectorRegister.PRIME, VectorRegister.PASS))
        for at, value in ((at_once, 0), (VectorRegister.CONTROL, Control.START)):
            await self.write(at, value)  # at the begin of a program, which takes longer
            assert await self.read(VectorRegister.REFUSED) == Refused.BUSY
            await self.write(VectorRegister.REFUSED, Refused.BUSY)
        while Status(await self.read(VectorRegister.STATUS)) & Status.RUNNING:
            cluster = CLUSTERS + self.random.randrange(WORLD["clusters"]) * CLUSTER_BYTES
            at = self.random.choice((*settings, *(cluster + offset for offset in offsets)))
            value = self.random.getrandbits(32).to_bytes(4, "little")
            await self.master.write(at, value)  # an address without a register is refused
            await ClockCycles(self.dut.clk_i, self.random.randrange(30))
        assert await self.finish() == Status.DONE
        assert self.right()
        await self.write(VectorRegister.REFUSED, Refused.BUSY)
        await self.write_settings()

    async def stop(self) -> None:
        """A reset by register in the middle."""
        await ClockCycles(self.dut.clk_i, self.random.randrange(1, 2 * WORLD["cycles"]))
        if self.random.random() < 0.3:
            self.memory.bad = (self.random.randrange(self.memory.rows), 0, SLVERR)
        await self.reset()

    async def off(self) -> None:
        """A reset of everything in the middle, which also clears the settings' registers."""
        await ClockCycles(self.dut.clk_i, self.random.randrange(1, WORLD["cycles"]))
        await self.hard_reset()
        await self.write_lists()

    async def malformed(self) -> None:
        """An item of a list is malformed: nothing is asked of memory for it."""
        status = await self.finish()
        assert status == Status.FAILED
        cluster, name, number, _, wrong = self.bad_item
        faults = await self.faults()
        want = MALFORMED | LISTS.index(name) << 2 | wrong << 13 | cluster << 16
        assert (want, number) in faults, (self.bad_item, faults)

    async def refused_start(self) -> None:
        """A start with wrong registers has no effect."""
        lists = [
            (CLUSTERS + OF_CLUSTER["LOADS_AT"], 64),
            (CLUSTERS + OF_CLUSTER["STORES_AT"] + 4, 1 << 20),
            (CLUSTERS + OF_CLUSTER["COMPUTING"], 1 << 31),
            (CLUSTERS + OF_CLUSTER["LOADS"], 0xFFFFFFFF),
            (VectorRegister.RING, 2 | 3 << 5),
            (VectorRegister.RING, 31 | 3 << 5),
            (VectorRegister.RING, 4),
        ]
        number = self.random.randrange(len(lists))
        await self.write(*lists[number])
        await self.write(VectorRegister.CONTROL, Control.START)
        assert not await self.read(VectorRegister.STATUS) & ~Status.DONE
        found = await self.read(VectorRegister.REFUSED)
        assert found == (Refused.PLACE if number < 2 else Refused.VALUE)
        assert self.memory.open() == 0
        await self.write(VectorRegister.REFUSED, found)
        await self.write_lists()

    def break_list(self) -> None:
        """Puts a malformed item into a list."""
        self.bad_item = self.random.choice(WORLD["malformed"])
        cluster, name, number, item, _ = self.bad_item
        bits = 128 if name == "loads" else 64
        bit = WORLD["list_addresses"][cluster][LISTS.index(name)] * 8 + number * bits
        at, shift = self.list_at(cluster, bit // LIST_BITS), bit % LIST_BITS
        content = self.memory.groups[1].content
        mask = ((1 << bits) - 1) << shift
        content[at] = content[at] & ~mask | int(item, 16) << shift

    async def disturbed(self, number: int) -> None:
        """A run that something disturbs, and one that nothing does."""
        kinds = (
            *(self.late, self.error, self.error, self.silence, self.stray),
            *(self.stop, self.stop, self.off, self.malformed, self.malformed),
        )
        if number % 12 == 11:
            self.seen["refused_start"] += 1
            await self.refused_start()
        else:
            kind = self.random.choice(kinds)
            self.dut._log.info("run %d: %s", number, kind.__name__)
            self.memory.begin(self.random.choice(PACES))
            self.spoil()
            if kind == self.malformed:
                self.break_list()
            await self.write(VectorRegister.CONTROL, Control.START)
            await kind()
            status = Status(await self.read(VectorRegister.STATUS))
            self.seen[f"{kind.__name__}: {'failed' if status & Status.FAILED else 'went on'}"] += 1
            if status & Status.FAILED:
                await self.write(VectorRegister.CONTROL, Control.START)
                assert await self.read(VectorRegister.REFUSED) == Refused.BUSY
                await self.reset()
            if kind == self.malformed:
                self.fill_memory()
        await self.clean()


@cocotb.test()
async def whatever_disturbs_a_program_the_next_one_is_right(dut: HierarchyObject) -> None:
    host = Host(dut)
    await host.begin()
    await host.clean()
    for number in range(RUNS):
        try:
            await host.disturbed(number)
        except AssertionError:
            dut._log.error("run %d of seed %d: %s", number, SEED, dict(host.seen))
            raise
    dut._log.info("RUNS %d of seed %d: %s", RUNS, SEED, dict(host.seen))
