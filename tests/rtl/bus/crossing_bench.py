"""The cocotb part of test_vector_memory.py: bursts through a crossing of two clocks."""

import json
import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject, LogicArrayObject, LogicObject
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout
from cocotb.utils import get_sim_time

CLUSTER_PS, MEMORY_PS, PORT_BITS = json.loads(os.environ["RINGSMITH_BENCH"])
SEED = int(os.environ["RINGSMITH_TEST_SEED"])
BYTES = PORT_BITS // 8
BEATS = 1 << 12
"""That memory has."""

LONGEST = 16
"""Beats of a burst."""

REFRESH_PS, REFRESHED_PS, MISS_PS = 260_000, 3_900_000, 138_000
"""Of HBM2: how long a refresh takes and from one to the next; from an address to its first beat."""

LATENCY = 112
"""Cycles of the cluster from an address to its first beat, as platforms/u280.toml has it."""


class Bench:
    """A cluster and a memory, and a crossing between them."""

    def __init__(self, dut: HierarchyObject, name: str, share: float) -> None:
        self.dut, self.share = dut, share
        self.random = random.Random(f"{SEED} {CLUSTER_PS} {MEMORY_PS} {name}")
        self.memory = [self.random.getrandbits(PORT_BITS) for _ in range(BEATS)]
        self.bad: set[int] = set()  # beats whose reading fails
        self.refreshed = False  # whether memory hands out nothing while it is refreshed
        self.addresses: deque[tuple[int, int]] = deque()  # of bursts that memory shall read
        self.targets: deque[tuple[int, int]] = deque()  # ... and that it shall write
        self.answers: deque[int] = deque()  # to bursts that were written

    def flip(self) -> bool:
        """Whether a partner is ready in a cycle."""
        return self.random.random() < self.share

    async def begin(self) -> None:
        """Clocks in some phase, and a reset."""
        dut = self.dut
        for name in ("ar", "aw", "w", "mem_r", "mem_b"):
            getattr(dut, f"{name}_valid_i").value = 0
        for name in ("r", "b", "mem_ar", "mem_aw", "mem_w"):
            getattr(dut, f"{name}_ready_i").value = 0
        dut.rst_ni.value = dut.mem_rst_ni.value = 0
        Clock(dut.clk_i, CLUSTER_PS, "ps").start()
        await Timer(self.random.randrange(1, 10_000), "ps")
        Clock(dut.mem_clk_i, MEMORY_PS, "ps").start()
        await ClockCycles(dut.clk_i, 6)
        await ClockCycles(dut.mem_clk_i, 6)
        dut.rst_ni.value = 1
        await RisingEdge(dut.mem_clk_i)
        dut.mem_rst_ni.value = 1
        cocotb.start_soon(self.take_addresses("ar", self.addresses))
        cocotb.start_soon(self.take_addresses("aw", self.targets))
        cocotb.start_soon(self.hand_out())
        cocotb.start_soon(self.take_in())
        cocotb.start_soon(self.answer())

    async def offer(
        self, clock: LogicObject, valid: LogicObject, ready: LogicObject, **signals: int
    ) -> None:
        """Holds a word out until it is taken, perhaps after a pause."""
        while not self.flip():
            await RisingEdge(clock)
        valid.value = 1
        for name, value in signals.items():
            getattr(self.dut, name).value = value
        await RisingEdge(clock)
        while ready.value != 1:
            await RisingEdge(clock)
        valid.value = 0

    async def took(self, clock: LogicObject, valid: LogicObject, ready: LogicObject) -> None:
        """Waits until a word is taken, with pauses; its signals stand when this returns."""
        while True:
            taken = self.flip()
            ready.value = int(taken)
            await RisingEdge(clock)
            if taken and valid.value == 1:
                return

    # ---- memory ----------------------------------------------------------------------------------

    async def take_addresses(self, name: str, into: deque[tuple[int, int]]) -> None:
        """Takes addresses of bursts, for ever."""
        dut = self.dut
        valid, ready = getattr(dut, f"mem_{name}_valid_o"), getattr(dut, f"mem_{name}_ready_i")
        address: LogicArrayObject = getattr(dut, f"mem_{name}_addr_o")
        length: LogicArrayObject = getattr(dut, f"mem_{name}_len_o")
        while True:
            await self.took(dut.mem_clk_i, valid, ready)
            burst = (int(address.value) // BYTES, int(length.value) + 1)
            if self.refreshed:
                cocotb.start_soon(self.later(into, burst))
            else:
                into.append(burst)

    async def later(self, into: deque[tuple[int, int]], burst: tuple[int, int]) -> None:
        """A burst that memory begins with after its latency."""
        await Timer(MISS_PS, "ps")
        into.append(burst)

    async def hand_out(self) -> None:
        """Reads what was asked for, for ever."""
        dut = self.dut
        while True:
            while not self.addresses:
                await RisingEdge(dut.mem_clk_i)
            first, count = self.addresses.popleft()
            for number in range(first, first + count):
                while self.refreshed and get_sim_time("ps") % REFRESHED_PS < REFRESH_PS:
                    await RisingEdge(dut.mem_clk_i)
                await self.offer(
                    dut.mem_clk_i,
                    dut.mem_r_valid_i,
                    dut.mem_r_ready_o,
                    mem_r_data_i=self.memory[number],
                    mem_r_last_i=int(number == first + count - 1),
                    mem_r_resp_i=2 * (number in self.bad),
                )

    async def take_in(self) -> None:
        """Writes bursts, for ever."""
        dut = self.dut
        while True:
            while not self.targets:
                await RisingEdge(dut.mem_clk_i)
            first, count = self.targets.popleft()
            for number in range(first, first + count):
                await self.took(dut.mem_clk_i, dut.mem_w_valid_o, dut.mem_w_ready_i)
                assert int(dut.mem_w_last_o.value) == int(number == first + count - 1)
                self.memory[number] = int(dut.mem_w_data_o.value)
            dut.mem_w_ready_i.value = 0
            self.answers.append(2 * (first in self.bad))

    async def answer(self) -> None:
        """Answers bursts that were written, for ever."""
        dut = self.dut
        while True:
            while not self.answers:
                await RisingEdge(dut.mem_clk_i)
            await self.offer(
                dut.mem_clk_i,
                dut.mem_b_valid_i,
                dut.mem_b_ready_o,
                mem_b_resp_i=self.answers.popleft(),
            )

    # ---- cluster ---------------------------------------------------------------------------------

    def bursts(self, count: int) -> list[tuple[int, int]]:
        """First beats and lengths."""
        lengths = [self.random.randint(1, LONGEST) for _ in range(count)]
        return [(self.random.randrange(BEATS - LONGEST), length) for length in lengths]

    async def ask(self, name: str, bursts: list[tuple[int, int]]) -> None:
        """Hands addresses over, as ``ar`` or ``aw``."""
        dut = self.dut
        valid, ready = getattr(dut, f"{name}_valid_i"), getattr(dut, f"{name}_ready_o")
        for first, count in bursts:
            signals = {f"{name}_addr_i": first * BYTES, f"{name}_len_i": count - 1}
            await self.offer(dut.clk_i, valid, ready, **signals)

    async def read(self, bursts: list[tuple[int, int]]) -> None:
        """Reads, and compares with what memory holds."""
        dut = self.dut
        cocotb.start_soon(self.ask("ar", bursts))
        for first, count in bursts:
            for number in range(first, first + count):
                await self.took(dut.clk_i, dut.r_valid_o, dut.r_ready_i)
                assert int(dut.r_data_o.value) == self.memory[number]
                assert int(dut.r_last_o.value) == int(number == first + count - 1)
                assert int(dut.r_resp_o.value) == 2 * (number in self.bad)
        dut.r_ready_i.value = 0

    async def write(self, bursts: list[tuple[int, int]]) -> None:
        """Writes random words, and looks at memory when all are answered."""
        dut = self.dut
        cocotb.start_soon(self.ask("aw", bursts))
        cocotb.start_soon(self.hand_over(bursts, expected := {}))
        for first, _ in bursts:
            await self.took(dut.clk_i, dut.b_valid_o, dut.b_ready_i)
            assert int(dut.b_resp_o.value) == 2 * (first in self.bad)
        dut.b_ready_i.value = 0
        assert {number: self.memory[number] for number in expected} == expected

    async def hand_over(self, bursts: list[tuple[int, int]], expected: dict[int, int]) -> None:
        """Hands random words over, and notes them."""
        dut = self.dut
        for first, count in bursts:
            for number in range(first, first + count):
                expected[number] = word = self.random.getrandbits(PORT_BITS)
                await self.offer(
                    dut.clk_i,
                    dut.w_valid_i,
                    dut.w_ready_o,
                    w_data_i=word,
                    w_last_i=int(number == first + count - 1),
                )


@cocotb.test()
async def words_and_errors_arrive_through_any_pauses(dut: HierarchyObject) -> None:
    bench = Bench(dut, "words", 1.0)
    await bench.begin()
    for bench.share in (1.0, 0.5, 0.2):
        bench.bad = {bench.random.randrange(BEATS) for _ in range(BEATS // 8)}
        await with_timeout(bench.write(bench.bursts(12)), 100, "us")
        await with_timeout(bench.read(bench.bursts(12)), 100, "us")


@cocotb.test()
async def without_pauses_the_slower_port_moves_a_beat_a_cycle(dut: HierarchyObject) -> None:
    bench = Bench(dut, "rate", 1.0)
    await bench.begin()
    for move in (bench.read, bench.write):
        bursts = [(LONGEST * number, LONGEST) for number in range(20)]
        begin = get_sim_time("ps")
        await move(bursts)
        beats = (get_sim_time("ps") - begin) / max(CLUSTER_PS, MEMORY_PS)
        assert beats < LONGEST * len(bursts) + 30


@cocotb.test()
async def a_refresh_of_a_faster_memory_does_not_reach_the_cluster(dut: HierarchyObject) -> None:
    """A burst is asked for when the one before it begins, and a beat is taken in every cycle."""
    if CLUSTER_PS * 13.3 < MEMORY_PS * 14.4 * LONGEST / (LONGEST - 1):
        return  # it is not faster
    bench = Bench(dut, "refresh", 1.0)
    await bench.begin()
    bench.refreshed = True
    await Timer(bench.random.randrange(REFRESHED_PS), "ps")
    await RisingEdge(dut.clk_i)
    bursts = [(LONGEST * number, LONGEST) for number in range(BEATS // LONGEST)]

    async def ask() -> None:
        for burst in bursts:
            cocotb.start_soon(bench.ask("ar", [burst]))
            await ClockCycles(dut.clk_i, LONGEST)

    cocotb.start_soon(ask())
    await ClockCycles(dut.clk_i, LATENCY)
    dut.r_ready_i.value = 1
    for number in range(BEATS):
        await RisingEdge(dut.clk_i)
        assert dut.r_valid_o.value == 1, f"beat {number} is late"
        assert int(dut.r_data_o.value) == bench.memory[number]
