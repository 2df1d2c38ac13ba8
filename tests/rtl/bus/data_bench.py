"""The cocotb part of test_dma.py: polynomials over AXI4 under random stalls.

Runs inside the simulator, on an rs_rpau_axil. Every channel of both buses pauses at random.
"""

import json
import os

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, Combine, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp
from register_host import CAPABILITY, MASK, Host, N

from ringsmith.backends.rpau.design.register_table import Control, Refused, Register, Status
from ringsmith.backends.rpau.device.interface import (
    BEAT_BYTES,
    BEAT_WORDS,
    AddressSpace,
    polynomial_address,
)

PROGRAM = json.loads(os.environ["RINGSMITH_BENCH_PROGRAM"])  # takes longer than a burst
LANES = 2 * CAPABILITY["cores"]
CLOCK_NS = 10
LATENCY = int(os.environ["RINGSMITH_BENCH_LATENCY"])  # of a row of the host port
BURST_BEATS = 4096 // BEAT_BYTES


def address(space: AddressSpace, unit: int, index: int, word: int = 0) -> int:
    return polynomial_address(N, space, unit, index) + 8 * word


def to_bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(8, "little") for word in words)


class DataHost(Host):
    """A host with both buses."""

    def attach(self, stalls: bool = True) -> None:
        """Connects a master to the data path, which drives the bus from then on."""
        bus = AxiBus.from_prefix(self.dut, "s_axi")
        self.data = AxiMaster(bus, self.dut.clk_i, self.dut.rst_ni, reset_active_level=False)
        write, read = self.data.write_if, self.data.read_if
        for half in (write, read):
            half.log.setLevel("WARNING")
        channels = (write.aw_channel, write.w_channel, write.b_channel)
        for channel in (*channels, read.ar_channel, read.r_channel):
            if stalls:
                channel.set_pause_generator(self.pauses())

    async def put(self, at: int, words: list[int]) -> AxiResp:
        """Writes words through the data path; the response."""
        return (await self.data.write(at, to_bytes(words))).resp

    async def get(self, at: int, count: int = N) -> list[int]:
        """Reads words through the data path, which must be answered with OKAY."""
        answer = await self.data.read(at, 8 * count)
        assert answer.resp == AxiResp.OKAY, answer.resp
        return [int.from_bytes(answer.data[i : i + 8], "little") for i in range(0, 8 * count, 8)]

    async def load(self, program: list[int]) -> None:
        """Writes a program into its store."""
        await self.write(Register.PROGRAM_ADDRESS, 0)
        for word in program:
            await self.write(Register.PROGRAM_DATA, word, 8)


def silence(dut: HierarchyObject) -> None:
    """A data bus without any request."""
    for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
        getattr(dut, f"s_axi_{name}").value = 0


async def ask(dut: HierarchyObject, channel: str, at: int, beats: int) -> None:
    """An address on channel aw or ar, by hand, until it is taken."""
    values = {"id": 5, "addr": at, "len": beats - 1, "size": 6, "burst": 1, "valid": 1}
    for name, value in values.items():
        getattr(dut, f"s_axi_{channel}{name}").value = value
    await taken(dut, f"{channel}ready")
    getattr(dut, f"s_axi_{channel}valid").value = 0


async def give(dut: HierarchyObject, last: bool) -> None:
    """A beat of zeros, by hand, until it is taken."""
    values = {"data": 0, "strb": (1 << BEAT_BYTES) - 1, "last": int(last), "valid": 1}
    for name, value in values.items():
        getattr(dut, f"s_axi_w{name}").value = value
    await taken(dut, "wready")
    dut.s_axi_wvalid.value = 0


async def taken(dut: HierarchyObject, ready: str) -> None:
    """Waits for the clock edge at which a signal of the data bus is high."""
    for _ in range(1000):
        await RisingEdge(dut.clk_i)
        if getattr(dut, f"s_axi_{ready}").value == 1:
            return
    raise AssertionError(f"{ready} stays low")


@cocotb.test()
async def polynomials_cross_whole_under_any_stalls(dut: HierarchyObject) -> None:
    host = DataHost(dut, "cross")
    await host.begin()
    host.attach()
    assert await host.read(Register.DATA_PATH) == 8 * BEAT_BYTES
    places = [(unit, poly) for unit in range(CAPABILITY["rpaus"]) for poly in (0, 1, 3)]
    written = {place: host.words(N) for place in places}
    for (unit, poly), words in written.items():
        assert await host.put(address(AddressSpace.POLY, unit, poly), words) == AxiResp.OKAY
    for (unit, poly), words in written.items():
        assert await host.get(address(AddressSpace.POLY, unit, poly)) == words
    for (unit, poly), words in written.items():  # by the register, the same words lie there
        start = host.random.randrange(N - 8)
        await host.move(AddressSpace.POLY, unit, poly, start)
        assert [await host.read(Register.HOST_DATA, 8) for _ in range(8)] == words[start:][:8]
    assert await host.refused() == Refused(0)


@cocotb.test()
async def what_a_register_wrote_the_data_path_reads_from_any_beat_on(dut: HierarchyObject) -> None:
    host = DataHost(dut, "beats")
    await host.begin()
    host.attach()
    words = host.words(4 * LANES)
    await host.move(AddressSpace.POLY, 1, 2)
    for word in words:
        await host.write(Register.HOST_DATA, word, 8)
    for _ in range(10):
        first = host.random.randrange(0, len(words), BEAT_WORDS)
        count = host.random.randrange(BEAT_WORDS, len(words) - first + 1, BEAT_WORDS)
        found = await host.get(address(AddressSpace.POLY, 1, 2, first), count)
        assert found == words[first : first + count]


@cocotb.test()
async def bursts_and_register_accesses_at_once_do_not_disturb_each_other(
    dut: HierarchyObject,
) -> None:
    host = DataHost(dut, "both")
    await host.begin()
    host.attach()
    first, second, third = host.words(N), host.words(N), host.words(N)
    await host.put(address(AddressSpace.POLY, 0, 1), first)
    await host.move(AddressSpace.POLY, 1, 1)

    async def write_second() -> None:
        assert await host.put(address(AddressSpace.POLY, 0, 2), second) == AxiResp.OKAY

    async def read_first() -> None:
        assert await host.get(address(AddressSpace.POLY, 0, 1)) == first

    async def write_third() -> None:
        for word in third[: 2 * LANES]:
            await host.write(Register.HOST_DATA, word, 8)

    tasks = (write_second(), read_first(), write_third())
    await Combine(*(cocotb.start_soon(task) for task in tasks))
    assert await host.get(address(AddressSpace.POLY, 0, 2)) == second
    # A burst takes the row that the register began, and says so: no row of two sources is stored.
    refused = await host.refused()
    assert refused in (Refused(0), Refused.BUSY, Refused.BUSY | Refused.ORDER, Refused.ORDER)
    if refused == Refused(0):
        assert await host.get(address(AddressSpace.POLY, 1, 1), 2 * LANES) == third[: 2 * LANES]


@cocotb.test()
async def a_burst_to_no_such_place_or_of_another_shape_has_no_effect(dut: HierarchyObject) -> None:
    host = DataHost(dut, "refused")
    await host.begin()
    host.attach()
    kept, other = host.words(N), host.words(N)
    await host.put(address(AddressSpace.POLY, 0, 0), kept)
    row = other[: max(LANES, BEAT_WORDS)]
    nowhere = [
        address(AddressSpace.POLY, 0, CAPABILITY["work_polys"]),
        address(AddressSpace.KEY, 0, CAPABILITY["key_polys"]),
        address(AddressSpace.POLY, CAPABILITY["rpaus"], 0),
        2 * address(AddressSpace.KEY, 0, 0),
        1 << 39,
    ]
    for at in nowhere:
        assert await host.put(at, row) == AxiResp.SLVERR, hex(at)
        assert await host.refused() == Refused.PLACE
        assert (await host.data.read(at, BEAT_BYTES)).resp == AxiResp.SLVERR
        assert await host.refused() == Refused.PLACE
    assert await host.put(address(AddressSpace.KEY, 0, 0), row) == AxiResp.OKAY
    answer = await host.data.read(address(AddressSpace.KEY, 0, 0), BEAT_BYTES)
    assert answer.resp == AxiResp.SLVERR
    assert not any(answer.data)
    assert await host.refused() == Refused.PLACE
    at = address(AddressSpace.POLY, 0, 0)
    for size, burst in ((3, AxiBurstType.INCR), (6, AxiBurstType.FIXED), (6, AxiBurstType.WRAP)):
        written = await host.data.write(at, to_bytes(row), size=size, burst=burst)
        assert written.resp == AxiResp.SLVERR, (size, burst)
        assert await host.refused() == Refused.ORDER
    if LANES > BEAT_WORDS:
        for half in (at, at + BEAT_BYTES):  # the first beat of a row alone, and the second
            assert await host.put(half, other[:BEAT_WORDS]) == AxiResp.SLVERR
            assert await host.refused() == Refused.ORDER
    for wrong in (at + 8, at + 60):  # beats without all of their bytes
        assert await host.put(wrong, row[: len(row) - 8]) == AxiResp.SLVERR
        assert await host.refused() & (Refused.VALUE | Refused.ORDER)
    wide = [*row[:-1], MASK + 1]
    assert await host.put(at, wide) == AxiResp.SLVERR
    assert await host.refused() == Refused.VALUE
    assert await host.get(at) == kept


@cocotb.test()
async def while_a_program_runs_bursts_are_refused_and_do_not_disturb_it(
    dut: HierarchyObject,
) -> None:
    host = DataHost(dut, "busy")
    await host.begin()
    host.attach(stalls=False)
    kept = host.words(N)
    at = address(AddressSpace.POLY, 1, 3)
    assert await host.put(at, kept) == AxiResp.OKAY
    await host.load(PROGRAM)
    cycles = []
    for disturbed in (False, True):
        await host.write(Register.CONTROL, Control.START)
        if disturbed:
            assert await host.put(at, host.words(N)) == AxiResp.SLVERR
            assert (await host.data.read(at, BEAT_BYTES)).resp == AxiResp.SLVERR
            assert await host.read(Register.STATUS) == Status.BUSY  # it ran all the time
            assert await host.refused() == Refused.BUSY
        while await host.read(Register.STATUS):
            pass
        cycles.append(await host.read(Register.CYCLES, 8))
    assert cycles[0] == cycles[1]
    assert await host.get(at) == kept


@cocotb.test()
async def a_start_right_behind_a_burst_waits_for_its_words(dut: HierarchyObject) -> None:
    """The accelerator asserts that no program starts before they are in its memories."""
    host = DataHost(dut, "behind")
    await host.begin(stalls=False)
    host.attach(stalls=False)
    await host.load(PROGRAM)
    last = CAPABILITY["rpaus"] - 1
    for _ in range(3):
        words = host.words(N)
        assert await host.put(address(AddressSpace.POLY, last, 3), words) == AxiResp.OKAY
        await host.write(Register.CONTROL, Control.START)
        assert await host.read(Register.STATUS) == Status.BUSY
        while await host.read(Register.STATUS):
            pass
        assert await host.read(Register.INSTRUCTIONS, 8) == len(PROGRAM)
        assert await host.get(address(AddressSpace.POLY, last, 3)) == words
    assert await host.refused() == Refused(0)


async def take(dut: HierarchyObject, beats: int, last: bool) -> list[tuple[int, int]]:
    """Takes beats, by hand: the response of each, and what it holds; ``last``: the last is so."""
    found: list[tuple[int, int]] = []
    dut.s_axi_rready.value = 1
    for _ in range(1000):
        await RisingEdge(dut.clk_i)
        if dut.s_axi_rvalid.value == 1:
            found.append((int(dut.s_axi_rresp.value), int(dut.s_axi_rdata.value)))
            assert dut.s_axi_rlast.value == (last and len(found) == beats)
            if len(found) == beats:
                dut.s_axi_rready.value = 0
                return found
    raise AssertionError(f"{len(found)} of {beats} beats come")


@cocotb.test()
async def a_reset_of_the_device_in_a_burst_ends_it_with_errors(dut: HierarchyObject) -> None:
    host = DataHost(dut, "reset")
    await host.begin()
    silence(dut)
    beats = N // BEAT_WORDS
    at = address(AddressSpace.POLY, 0, 0)
    for channel in ("aw", "ar"):
        for crossed in (0, 1, 5, host.random.randrange(2, beats), beats - 1):
            await ask(dut, channel, at, beats)
            if channel == "aw":
                for _ in range(crossed):
                    await give(dut, last=False)
            elif crossed:
                assert all(resp == AxiResp.OKAY for resp, _ in await take(dut, crossed, last=False))
            await ClockCycles(dut.clk_i, 8 + host.random.randrange(40))
            # The host leaves the burst as it is. The device says so, until it is reset.
            assert await host.read(Register.STATUS) == Status.MOVING
            await host.write(Register.CONTROL, Control.START)
            assert await host.refused() == Refused.BUSY
            await host.read(Register.HOST_DATA, 8)
            assert await host.refused() == Refused.BUSY
            await host.write(Register.CONTROL, Control.RESET)
            while await host.read(Register.STATUS):
                pass
            # The bus still has to see the end of the burst.
            if channel == "aw":
                for beat in range(crossed, beats):
                    assert dut.s_axi_bvalid.value == 0
                    await give(dut, last=beat == beats - 1)
                dut.s_axi_bready.value = 1
                await taken(dut, "bvalid")
                assert dut.s_axi_bresp.value == AxiResp.SLVERR
                dut.s_axi_bready.value = 0
            else:
                rest = await take(dut, beats - crossed, last=True)
                assert rest[0][0] in (AxiResp.OKAY, AxiResp.SLVERR)  # it may have been offered
                assert rest[1:] == [(AxiResp.SLVERR, 0)] * (len(rest) - 1)
            await ClockCycles(dut.clk_i, 3)
            assert dut.s_axi_rvalid.value == 0
            assert dut.s_axi_bvalid.value == 0
    host.attach()
    words = host.words(N)
    assert await host.put(at, words) == AxiResp.OKAY
    assert await host.get(at) == words
    assert await host.refused() == Refused(0)


@cocotb.test()
async def resets_of_the_device_at_any_time_leave_a_bus_that_works(dut: HierarchyObject) -> None:
    """With stalls on every channel: each burst is answered, and the words of the next are right."""
    host = DataHost(dut, "resets")
    await host.begin()
    host.attach()
    words = host.words(N)
    at = address(AddressSpace.POLY, 1, 2)
    for _ in range(12):

        async def move() -> None:
            if host.random.random() < 0.5:
                await host.put(at, words)
            else:
                await host.data.read(at, 8 * N)

        task = cocotb.start_soon(move())
        await ClockCycles(dut.clk_i, host.random.randrange(1, 60))
        await host.write(Register.CONTROL, Control.RESET)
        await task
        while await host.read(Register.STATUS):
            pass
        # A burst that comes while the device is in reset is refused, and the device says so.
        assert await host.refused() in (Refused(0), Refused.BUSY)
        assert await host.put(at, words) == AxiResp.OKAY
        assert await host.get(at) == words
        assert await host.refused() == Refused(0)


@cocotb.test()
async def a_burst_that_ends_at_another_beat_than_it_said_is_refused(dut: HierarchyObject) -> None:
    host = DataHost(dut, "last")
    await host.begin()
    silence(dut)
    dut.s_axi_bready.value = 1
    chunk = max(LANES // BEAT_WORDS, 1)
    for marks in ([True] + [False] * (2 * chunk - 1), [False] * (2 * chunk)):
        await ask(dut, "aw", address(AddressSpace.POLY, 0, 0), 2 * chunk)
        for last in marks:
            await give(dut, last)
        await taken(dut, "bvalid")
        assert dut.s_axi_bresp.value == AxiResp.SLVERR
        assert dut.s_axi_bid.value == 5
        assert await host.refused() == Refused.ORDER


@cocotb.test()
async def without_stalls_polynomials_cross_at_the_stated_rate(dut: HierarchyObject) -> None:
    host = DataHost(dut, "rate")
    await host.begin()
    host.attach(stalls=False)
    words = host.words(N)
    beats, rows = N // BEAT_WORDS, N // min(LANES, BEAT_WORDS)
    at = address(AddressSpace.POLY, 0, 0)
    begin = get_sim_time("ns")
    assert await host.put(at, words) == AxiResp.OKAY
    middle = get_sim_time("ns")
    assert await host.get(at) == words
    write, read = (middle - begin) / CLOCK_NS, (get_sim_time("ns") - middle) / CLOCK_NS
    overhead = 16  # of a burst, this master's own cycles included
    bursts = -(-beats // BURST_BEATS)
    dut._log.info("polynomial of %d bytes: %d cycles written, %d read", 8 * N, write, read)
    assert write <= max(beats, rows) + bursts * overhead
    assert read <= max(beats, rows) + bursts * (overhead + LATENCY)
