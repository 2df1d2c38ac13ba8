"""A host on a device's register bus, whose channels pause at random: what cocotb's benches share.

The design is in RINGSMITH_BENCH (its capabilities, as JSON); the seed is in RINGSMITH_TEST_SEED.
"""

import json
import os
import random
from collections.abc import Iterator

from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from ringsmith.backends.rpau.design.register_table import Refused, Register

CAPABILITY = json.loads(os.environ["RINGSMITH_BENCH"])
N = 1 << CAPABILITY["log_n"]
MASK = (1 << CAPABILITY["word_bits"]) - 1
SEED = int(os.environ["RINGSMITH_TEST_SEED"])
RESET_CYCLES = 160


class Host:
    """A host on the bus: registers of 32 and 64 bits."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {name}")
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        self.master = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
        for half in (self.master.write_if, self.master.read_if):
            half.log.setLevel("WARNING")

    async def begin(self, stalls: bool = True) -> None:
        """Clock, reset, and from then on pauses on every channel, if ``stalls``."""
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 3)
        self.dut.rst_ni.value = 1
        await ClockCycles(self.dut.clk_i, RESET_CYCLES)
        write, read = self.master.write_if, self.master.read_if
        channels = (write.aw_channel, write.w_channel, write.b_channel)
        for channel in (*channels, read.ar_channel, read.r_channel):
            if stalls:
                channel.set_pause_generator(self.pauses())

    def pauses(self) -> Iterator[bool]:
        """When a channel pauses: never, sometimes or mostly."""
        share = self.random.choice((0.0, 0.3, 0.8))
        while True:
            yield self.random.random() < share

    async def write(self, address: int, value: int, size: int = 4) -> AxiResp:
        """Writes ``size`` bytes and returns the worst response."""
        answer = await self.master.write(address, value.to_bytes(size, "little"))
        return answer.resp

    async def read(self, address: int, size: int = 4) -> int:
        """Reads ``size`` bytes, which must be answered with OKAY."""
        answer = await self.master.read(address, size)
        assert answer.resp == AxiResp.OKAY, f"{address:#x}: {answer.resp}"
        return int.from_bytes(answer.data, "little")

    async def refused(self) -> Refused:
        """What was refused since the last look, which clears it."""
        refused = await self.read(Register.REFUSED)
        await self.write(Register.REFUSED, refused)
        return Refused(refused)

    async def move(self, space: int, unit: int, index: int, word: int = 0) -> None:
        """Sets the place of ``host_data``."""
        for register, value in (
            (Register.HOST_SPACE, space),
            (Register.HOST_UNIT, unit),
            (Register.HOST_INDEX, index),
            (Register.HOST_WORD, word),
        ):
            assert await self.write(register, value) == AxiResp.OKAY

    def words(self, count: int) -> list[int]:
        """Random words that the device can hold, with the least and the greatest."""
        words = [self.random.randint(0, MASK) for _ in range(count)]
        words[:2] = [0, MASK]
        return words
