"""The cocotb part of test_dma.py: words through an rs_async_fifo of two clocks."""

import json
import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, Timer

WRITE_PS, READ_PS, WIDTH, LOG_DEPTH = json.loads(os.environ["RINGSMITH_BENCH"])
SEED = int(os.environ["RINGSMITH_TEST_SEED"])
FITS = 2**LOG_DEPTH + 1


class Bench:
    """Writer and reader of the FIFO, and what should be in the FIFO."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {WRITE_PS} {READ_PS} {name}")
        self.inside: deque[int] = deque()
        self.write_share, self.read_share = 1.0, 1.0
        self.came = 0
        self.quiet = False  # a port is in reset, or may see that the other is

    async def begin(self) -> None:
        """Clocks in some phase, and a first reset."""
        dut = self.dut
        dut.wrst_ni.value = dut.rrst_ni.value = 0
        dut.wvalid_i.value = dut.rready_i.value = dut.wdata_i.value = 0
        Clock(dut.wclk_i, WRITE_PS, "ps").start()
        await Timer(self.random.randrange(1, 10_000), "ps")
        Clock(dut.rclk_i, READ_PS, "ps").start()
        await self.overlap()
        dut.wrst_ni.value = 1
        await RisingEdge(dut.rclk_i)
        dut.rrst_ni.value = 1
        cocotb.start_soon(self.write())
        cocotb.start_soon(self.read())

    async def overlap(self) -> None:
        """Four cycles of each clock, and so that both have had their edges."""
        await ClockCycles(self.dut.wclk_i, 5)
        await ClockCycles(self.dut.rclk_i, 5)
        await RisingEdge(self.dut.wclk_i)

    async def write(self) -> None:
        """Offers words, for ever; one that is offered stays."""
        dut, valid, word = self.dut, False, 0
        while True:
            await RisingEdge(dut.wclk_i)
            if dut.wrst_ni.value == 0:
                assert dut.wready_o.value == 0
            if valid and dut.wready_o.value == 1:
                self.inside.append(word)
                valid = False
            if not self.quiet:
                assert int(dut.wcount_o.value) in (*range(FITS), 2 ** (LOG_DEPTH + 1) - 1)
            if not valid and self.random.random() < self.write_share:
                valid, word = True, self.random.getrandbits(WIDTH)
                dut.wdata_i.value = word
            dut.wvalid_i.value = int(valid)

    async def read(self) -> None:
        """Takes words, for ever."""
        dut, ready = self.dut, 0
        while True:
            await RisingEdge(dut.rclk_i)
            valid = dut.rvalid_o.value == 1
            count = int(dut.rcount_o.value)
            if not self.quiet:
                assert count <= len(self.inside)
                assert valid <= (count > 0)
            if valid:
                assert self.inside, "a word that was not written"
                assert int(dut.rdata_o.value) == self.inside[0]
                if ready:
                    self.inside.popleft()
                    self.came += 1
            ready = int(self.random.random() < self.read_share)
            dut.rready_i.value = ready

    async def reset(self) -> None:
        """A reset of both ports in the middle, which begin and end at random times."""
        dut = self.dut
        resets = [(dut.wclk_i, dut.wrst_ni), (dut.rclk_i, dut.rrst_ni)]
        self.random.shuffle(resets)
        self.quiet = True
        for clock, reset in resets:
            await ClockCycles(clock, self.random.randint(1, 6))
            reset.value = 0
        await self.overlap()
        self.inside.clear()
        self.random.shuffle(resets)
        for clock, reset in resets:
            await ClockCycles(clock, self.random.randint(1, 6))
            reset.value = 1
        self.quiet = False


@cocotb.test()
async def words_keep_their_order_through_any_pauses_and_resets(dut: HierarchyObject) -> None:
    bench = Bench(dut, "words")
    await bench.begin()
    total = 0
    for turn in range(12):
        bench.write_share, bench.read_share = (bench.random.choice((0.1, 0.5, 1.0)) for _ in "wr")
        bench.came = 0
        await ClockCycles(dut.wclk_i, 300)
        await ClockCycles(dut.rclk_i, 300)
        assert bench.came > 10
        total += bench.came
        if turn % 2:
            await bench.reset()
    bench.write_share, bench.read_share = 0.0, 1.0
    await ClockCycles(dut.wclk_i, 20)
    await ClockCycles(dut.rclk_i, 3 * FITS + 20)
    assert not bench.inside
    assert total > 500


@cocotb.test()
async def it_holds_as_many_words_as_it_says_and_loses_none_of_them(dut: HierarchyObject) -> None:
    bench = Bench(dut, "full")
    await bench.begin()
    bench.read_share = 0.0
    await ClockCycles(dut.rclk_i, 30)
    await ClockCycles(dut.wclk_i, 3 * FITS + 30)
    assert len(bench.inside) == FITS
    assert dut.wready_o.value == 0
    bench.write_share, bench.read_share = 0.0, 1.0
    await ClockCycles(dut.wclk_i, 2)
    await ClockCycles(dut.rclk_i, FITS + 10)
    assert bench.came >= FITS


@cocotb.test()
async def where_nobody_pauses_the_slower_clock_moves_a_word_a_cycle(dut: HierarchyObject) -> None:
    bench = Bench(dut, "rate")
    await bench.begin()
    await ClockCycles(dut.wclk_i, 50)
    await ClockCycles(dut.rclk_i, 50)
    slower = dut.wclk_i if WRITE_PS > READ_PS else dut.rclk_i
    before = bench.came
    await ClockCycles(slower, 200)
    if LOG_DEPTH >= 4:  # the pointers' way there and back
        assert bench.came - before in range(198, 203)
