"""The cocotb part of test_dma.py: lists of descriptors against a model, on an rs_dma_bench."""

import itertools
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiRam
from dma_model import (
    BEAT,
    KEY,
    MASK,
    MEMORY,
    POLY,
    ROW,
    SEED,
    SHAPE,
    WORD,
    Coprocessors,
    Descriptor,
    Driver,
    Heap,
    HostMemory,
    Pace,
    Place,
    lay,
    run_program,
    to_bytes,
)

from ringsmith.backends.rpau.card.descriptor import Error, Opcode

STREAM_ROWS = 4
RUNS = int(os.environ.get("RINGSMITH_BENCH_RUNS", "10"))
"""Of the campaign."""
PACES = (
    Pace(),
    Pace(0.3, (0, 30), 0.2),
    Pace(0.6, (20, 200), 0.5),
    Pace(0.0, (100, 120), 0.0),
)


@dataclass
class List:
    """A list of descriptors, what the device's programs do, and what is then in both memories."""

    descriptors: list[Descriptor] = field(default_factory=list)
    plan: list[list[int]] = field(default_factory=list)
    device: dict[Place, dict[int, int]] = field(default_factory=dict)
    host: list[tuple[int, bytes]] = field(default_factory=list)  # after every descriptor, in order
    behind: list[Descriptor] = field(default_factory=list)  # what is not worked on


def row_of(words: Sequence[int]) -> int:
    return sum(word << (SHAPE.width * i) for i, word in enumerate(words))


def words_of(row: int) -> list[int]:
    return [row >> (SHAPE.width * i) & MASK for i in range(SHAPE.words)]


class Bench:
    """Everything around the DMA."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {SHAPE.turn} {name}")
        self.memory = HostMemory(dut, name)
        self.devices = Coprocessors(dut, name)
        self.devices.stream_rows = STREAM_ROWS
        self.driver = Driver(dut)
        self.heaps = [Heap(c, self.random) for c in range(SHAPE.channels)]

    async def begin(self, own_memory: bool = True) -> None:
        """Clocks, in some phase, and resets that end at different times."""
        dut = self.dut
        dut.bus_rst_ni.value = dut.rst_ni.value = 0
        dut.control_i.value = 0
        Clock(dut.bus_clk_i, SHAPE.bus_ps, "ps").start()
        Clock(dut.clk_i, SHAPE.clk_ps, "ps").start()
        if own_memory:
            cocotb.start_soon(self.memory.run())
        cocotb.start_soon(self.devices.run())
        cocotb.start_soon(self.driver.watch())
        both = [(dut.bus_clk_i, dut.bus_rst_ni), (dut.clk_i, dut.rst_ni)]
        self.random.shuffle(both)
        slower = max(SHAPE.bus_ps, SHAPE.clk_ps)
        await ClockCycles(dut.clk_i, 16 * slower // SHAPE.clk_ps + 1)
        await ClockCycles(dut.bus_clk_i, 16 * slower // SHAPE.bus_ps + 1)
        for clock, reset in both:
            await ClockCycles(clock, self.random.randint(1, 20))
            reset.value = 1

    def words(self, count: int) -> list[int]:
        """Random words, among them the least and the largest."""
        bits = SHAPE.width
        return [self.random.choice((0, MASK, self.random.getrandbits(bits))) for _ in range(count)]

    def add(self, channel: int, made: List, op: int, **fields: int) -> Descriptor:
        """One more descriptor of a list, at some place in memory."""
        heap = self.heaps[channel]
        one = Descriptor(op, address=heap.take(32, 32), **fields)
        one.tell, one.keep = self.random.random() < 0.5, self.random.random() < 0.5
        if one.keep:
            one.record = heap.take(32, 32)
        made.descriptors.append(one)
        return one

    def write(self, channel: int, made: List, rows: int, op: int = Opcode.WRITE) -> Descriptor:
        """A descriptor that sends words, with the words."""
        at = self.heaps[channel].take(rows * ROW, 64)
        words = self.words(rows * SHAPE.words)
        self.memory.put(at, to_bytes(words))
        space = KEY if op == Opcode.STREAM else POLY
        unit, index = self.random.randrange(3), self.random.randrange(4)
        where = {"space": space, "unit": unit, "index": index}
        one = self.add(channel, made, op, data=at, count=len(words), **where)
        place = made.device.setdefault((space, unit, index), {})
        for row in range(rows):
            place[row] = row_of(words[row * SHAPE.words :][: SHAPE.words])
        return one

    def read(self, channel: int, made: List, rows: int) -> Descriptor:
        """A descriptor that fetches words."""
        at = self.heaps[channel].take(rows * ROW + 64, 64)
        unit, index = self.random.randrange(3), self.random.randrange(4)
        where = {"space": POLY, "unit": unit, "index": index}
        one = self.add(channel, made, Opcode.READ, data=at, count=rows * SHAPE.words, **where)
        place = made.device.get((POLY, unit, index), {})
        words = [word for row in range(rows) for word in words_of(place.get(row, 0))]
        made.host.append((at, to_bytes(words)))
        return one

    def program(self, channel: int, made: List, streams: int) -> None:
        """A start, and the polynomials of keys that its program waits for."""
        ring = self.random.randrange(32)
        self.add(channel, made, Opcode.START, count=ring, index=streams)
        opens = sorted(self.random.randrange(1, 200) for _ in range(streams))
        made.plan.append([self.random.randrange(1, 300), *opens])
        # Streams write the key store, on which the program does nothing in this model.
        run_program(made.device, ring, self.devices.all[channel].programs + len(made.plan) - 1)
        for _ in range(streams):
            self.write(channel, made, STREAM_ROWS, Opcode.STREAM)

    def make(self, channel: int, length: int, longest: int) -> List:
        """A random list; it goes on from what the device holds."""
        device = self.devices.all[channel]
        made = List(device={place: dict(rows) for place, rows in device.memory.items()})
        while len(made.descriptors) < length:
            rows = self.random.choice((1, 2, 3, self.random.randint(1, longest)))
            match self.random.randrange(5):
                case 0 | 1:
                    self.write(channel, made, rows)
                case 2 | 3:
                    self.read(channel, made, rows)
                case _:
                    self.program(channel, made, self.random.choice((0, 0, 1, 3)))
        return made

    async def start(self, channel: int, made: List) -> None:
        """Places a list in memory and starts it."""
        self.devices.all[channel].plan.extend(made.plan)
        self.driver.reported[channel] = 0
        await self.driver.go(channel, lay(self.memory, made.descriptors))

    async def finish(self, channel: int, made: List, cycles: int = 60_000) -> None:
        """Waits for the end of a list, and compares everything."""
        status = await self.driver.wait(channel, cycles)
        assert not status.failed, status
        assert status.completed == len(made.descriptors)
        await ClockCycles(self.dut.bus_clk_i, 2)
        self.compare(channel, made, len(made.descriptors))
        await self.ended(channel)
        assert self.devices.all[channel].memory == made.device

    async def ended(self, channel: int) -> None:
        """Waits for the end of a program."""
        for _ in range(2000):
            if not self.devices.all[channel].program:
                return
            await RisingEdge(self.dut.clk_i)
        raise AssertionError("a program does not end")

    async def writes(self, beats: int) -> None:
        """Waits until a number of cycles with a beat at the bus's write channel have passed."""
        for _ in range(20_000):
            await RisingEdge(self.dut.bus_clk_i)
            beats -= int(self.dut.m_axi_wvalid.value)
            if beats <= 0:
                return
        raise AssertionError("nothing is written")

    def compare(self, channel: int, made: List, completed: int) -> None:
        """What the first descriptors of a list have left in the host's memory."""
        reads = iter(made.host)
        for number, one in enumerate(made.descriptors[:completed], 1):
            if one.op == Opcode.READ:
                at, data = next(reads)
                assert self.memory.get(at, len(data)) == data, f"wrong words of descriptor {number}"
                rest = self.memory.get(at + len(data), 64)
                assert rest == bytes(64), "bytes behind the last row were written"
            if one.keep:
                self.record(one, number, Error.NONE)
        reported = sum(one.tell for one in made.descriptors[:completed])
        assert self.driver.reported[channel] in (reported, reported + 1)

    def record(self, one: Descriptor, number: int, error: Error) -> int:
        """Checks a completion record; the cycles in it."""
        record = self.memory.get(one.record, 32)
        words = [int.from_bytes(record[i : i + 4], "little") for i in range(0, 32, 4)]
        assert words[:2] == [number, error]
        assert words[4] | words[5] << 32 == one.address
        assert words[6:] == [0, 0]
        return words[2] | words[3] << 32


@cocotb.test()
async def lists_do_what_they_say_for_all_channels_at_once(dut: HierarchyObject) -> None:
    bench = Bench(dut, "lists")
    await bench.begin()
    for pace in PACES if SHAPE.turn else PACES[1:3]:
        bench.memory.pace = pace
        bench.devices.gaps = pace.gaps
        lists = [bench.make(c, 8, 300 // SHAPE.channels) for c in range(SHAPE.channels)]
        for c, made in enumerate(lists):
            await bench.start(c, made)
        for c, made in enumerate(lists):
            await bench.finish(c, made)
        assert bench.memory.open() == 0
        for heap in bench.heaps:  # a new heap below what was used
            heap.next = heap.next // 4096 * 4096 + 4096


@cocotb.test()
async def lists_do_the_same_on_the_memory_of_cocotbext_axi(dut: HierarchyObject) -> None:
    bench = Bench(dut, "ram")
    await bench.begin(own_memory=False)
    bus = AxiBus.from_prefix(dut, "m_axi")
    ram = AxiRam(bus, dut.bus_clk_i, dut.bus_rst_ni, reset_active_level=False, size=MEMORY)
    for half in (ram.write_if, ram.read_if):
        half.log.setLevel("WARNING")
    write, read = ram.write_if, ram.read_if
    channels = (write.aw_channel, write.w_channel, write.b_channel)
    for channel in (*channels, read.ar_channel, read.r_channel):
        channel.set_pause_generator(bench.random.random() < 0.3 for _ in itertools.count())
    made = bench.make(0, 8, 100)
    lay(bench.memory, made.descriptors)
    ram.write(0, bytes(bench.memory.data))
    await bench.start(0, made)
    status = await bench.driver.wait(0)
    bench.memory.put(0, ram.read(0, MEMORY))
    assert (status.failed, status.completed) == (False, len(made.descriptors))
    bench.compare(0, made, len(made.descriptors))


@cocotb.test()
async def the_next_operands_wait_while_a_program_runs(dut: HierarchyObject) -> None:
    bench = Bench(dut, "ahead")
    await bench.begin()
    made = List()
    rows = 16
    bench.write(0, made, rows)
    bench.program(0, made, 0)
    bench.write(0, made, rows)
    last = bench.write(0, made, rows)
    last.tell = last.keep = False
    made.plan[0][0] = 2000
    await bench.start(0, made)
    await ClockCycles(dut.clk_i, 1500)
    device = bench.devices.all[0]
    assert device.program
    descriptors = max(32 // BEAT, 1) * len(made.descriptors)
    assert bench.memory.read_beats[0] == 3 * -(-rows * ROW // BEAT) + descriptors
    assert device.rows == rows
    begin = bench.devices.cycle + device.program.left
    await bench.driver.wait(0)
    assert device.rows == 3 * rows
    assert bench.devices.cycle - begin < 2 * rows + 60
    assert device.memory == made.device


@cocotb.test()
async def a_descriptor_that_fails_stops_its_channel_and_no_other(dut: HierarchyObject) -> None:
    bench = Bench(dut, "errors")
    await bench.begin()
    bench.memory.pace = Pace(0.2, (0, 20), 0.2)
    failures = list(FAILURES)
    bench.random.shuffle(failures)
    for kind in failures if SHAPE.turn else failures[:6]:
        await one_fails(bench, kind)


async def one_fails(bench: Bench, kind: str) -> None:
    """A list of channel 0 with a descriptor that fails, lists of the others, and one after it."""
    for heap in bench.heaps:
        heap.next = 4096 + heap.end - MEMORY // SHAPE.channels
    bench.memory.put(0, bytes(MEMORY))
    others = [bench.make(c, 4, 40) for c in range(1, SHAPE.channels)]
    made = List(device={p: dict(rows) for p, rows in bench.devices.all[0].memory.items()})
    for _ in range(bench.random.randrange(3)):
        bench.write(0, made, 3)
        bench.read(0, made, 3)
    error, bad = FAILURES[kind](bench, made)
    good = len(made.descriptors) - 1
    made.descriptors += made.behind
    if bench.random.random() < 0.7 and kind != "next":
        bench.read(0, made, 2)
        bench.write(0, made, 2)
    await bench.start(0, made)
    for c, other in enumerate(others, 1):
        await bench.start(c, other)
    status = await bench.driver.wait(0)
    assert (status.failed, status.error) == (True, error), (kind, status)
    assert status.completed == good, (kind, status)
    assert status.address == bad.address, (kind, status)
    bench.compare(0, made, good)
    if bad.keep and error in RECORDED:
        bench.record(bad, good + 1, error)
    for c, other in enumerate(others, 1):
        await bench.finish(c, other)
    bench.memory.bad_reads.clear()
    bench.memory.bad_writes.clear()
    bench.devices.all[0].plan.clear()
    await bench.ended(0)
    bench.devices.all[0].key_rows = 0
    again = bench.make(0, 3, 20)
    await bench.start(0, again)
    await bench.finish(0, again)


def _bad_read(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.write(0, made, 40)
    at = bad.data + bench.random.randrange(40 * ROW)
    bench.memory.bad_reads.add(range(at, at + 1))
    return Error.READ, bad


def _bad_write(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.read(0, made, 40)
    bench.memory.bad_writes.add(range(bad.data, bad.data + 40 * ROW))
    return Error.WRITE, bad


def _bad_record(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.write(0, made, 2)
    if not bad.keep:
        bad.keep, bad.record = True, bench.heaps[0].take(32, 32)
    start = bad.record // BEAT * BEAT
    bench.memory.bad_writes.add(range(start, start + 1))
    return Error.RECORD, bad


def _bad_fetch(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.write(0, made, 2)
    bench.memory.bad_reads.add(range(bad.address + 8, bad.address + 9))
    return Error.FETCH, bad


def _wide(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.write(0, made, 5)
    word = bad.data + WORD * bench.random.randrange(5 * SHAPE.words)
    value = MASK + 1 + bench.random.randrange(MASK)
    bench.memory.put(word, value.to_bytes(WORD, "little"))
    return Error.VALUE, bad


def _unopened(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bench.program(0, made, 1)
    return Error.UNOPENED, bench.write(0, made, STREAM_ROWS, Opcode.STREAM)


def _refused(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    kind = bench.random.choice((bench.write, bench.read))
    bad = kind(0, made, 5)
    bad.unit = 255
    return Error.PLACE, bad


def _no_such_ring(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    return Error.PLACE, bench.add(0, made, Opcode.START, count=3, unit=255)


Failure = Callable[[Bench, List], tuple[Error, Descriptor]]
"""Adds a descriptor that fails to a list; the error, and the descriptor."""


def _bad_two(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    """The next descriptor is refused before this one's words have come."""
    wrong = _bad_read(bench, made)
    made.behind.append(bench.add(0, made, 0))
    made.descriptors.pop()
    return wrong


def _malformed(error: Error, **fields: int) -> Failure:
    def make(bench: Bench, made: List) -> tuple[Error, Descriptor]:
        bad = bench.write(0, made, 2)
        made.descriptors[-1] = changed = replace(bad, **fields)
        if "data" in fields:
            changed.data = bad.data + fields["data"]
        if "record" in fields:
            changed.keep = True
        return error, changed

    return make


def _bad_next(bench: Bench, made: List) -> tuple[Error, Descriptor]:
    bad = bench.write(0, made, 2)
    bad.next = bench.heaps[0].take(32, 32) + 8
    return Error.ALIGN, bad


RECORDED = (Error.READ, Error.WRITE, Error.VALUE, Error.UNOPENED, Error.PLACE)
"""Errors that a completion record names."""

FAILURES: dict[str, Failure] = {
    "read": _bad_read,
    "two": _bad_two,
    "write": _bad_write,
    "record": _bad_record,
    "fetch": _bad_fetch,
    "wide": _wide,
    "unopened": _unopened,
    "refused": _refused,
    "no such ring": _no_such_ring,
    "next": _bad_next,
    "no opcode": _malformed(Error.FORMAT, op=0),
    "unknown opcode": _malformed(Error.FORMAT, op=7),
    "flags": _malformed(Error.FORMAT, flags=5),
    "no words": _malformed(Error.FORMAT, count=0),
    "long ring": _malformed(Error.FORMAT, op=Opcode.START, count=32),
    "rows": _malformed(Error.FORMAT, count=SHAPE.words * 65537),
    "data": _malformed(Error.ALIGN, data=32),
    "record place": _malformed(Error.ALIGN, record=8),
}
if SHAPE.words > 1:
    FAILURES["parts of rows"] = _malformed(Error.FORMAT, count=SHAPE.words + 1)


@cocotb.test()
async def a_list_that_begins_nowhere_is_refused(dut: HierarchyObject) -> None:
    bench = Bench(dut, "nowhere")
    await bench.begin()
    await bench.driver.go(0, 4096 + 16)
    status = await bench.driver.wait(0)
    assert (status.failed, status.error, status.address) == (True, Error.ALIGN, 4096 + 16)


@cocotb.test()
async def a_stop_at_any_time_leaves_a_quiet_bus_and_a_channel_that_works(
    dut: HierarchyObject,
) -> None:
    bench = Bench(dut, "stop")
    await bench.begin()
    for _ in range(40 if SHAPE.turn else 8):
        await one_is_stopped(bench)


async def one_is_stopped(bench: Bench) -> None:
    """A list of channel 0 that is stopped at any time, and one after it."""
    bench.memory.pace = bench.random.choice(PACES)
    for heap in bench.heaps:
        heap.next = 4096 + heap.end - MEMORY // SHAPE.channels
    made = bench.make(0, 6, 100)
    await bench.start(0, made)
    await ClockCycles(
        bench.dut.bus_clk_i, bench.random.choice((1, 10, bench.random.randint(1, 900)))
    )
    await bench.driver.stop(0)
    status = await bench.driver.wait(0)
    assert not status.failed, status
    assert bench.memory.open() == 0
    assert not bench.dut.m_axi_arvalid.value
    assert not bench.dut.m_axi_awvalid.value
    assert not bench.dut.m_axi_wvalid.value
    rows = bench.devices.all[0].rows
    await ClockCycles(bench.dut.clk_i, 30)
    assert bench.devices.all[0].rows == rows, "the device is touched after the stop"
    # The driver resets the device, or waits for its program, before it uses the channel again.
    device = bench.devices.all[0]
    device.plan.clear()
    if device.program:
        device.program = None
        device.programs += 1
    device.reads.clear()
    device.key_rows = 0
    bench.memory.put(0, bytes(MEMORY))
    again = bench.make(0, 3, 20)
    await bench.start(0, again)
    await bench.finish(0, again)


@cocotb.test()
async def a_device_that_is_reset_stops_its_channels(dut: HierarchyObject) -> None:
    bench = Bench(dut, "reset")
    await bench.begin()
    for turn in range(12 if SHAPE.turn else 3):
        await devices_are_reset(bench, turn % 3 == 0)


async def devices_are_reset(bench: Bench, in_burst: bool) -> None:
    """Lists of all channels, a reset of their devices, and lists after it.

    Args:
        bench: The bench.
        in_burst: The reset is in a burst of words to the memory.
    """
    bench.memory.pace = bench.random.choice(PACES)
    for heap in bench.heaps:
        heap.next = 4096 + heap.end - MEMORY // SHAPE.channels
    if not in_burst:
        lists = [bench.make(c, 6, 100) for c in range(SHAPE.channels)]
    else:
        bench.memory.pace = Pace(0.8)
        lists = [List() for _ in range(SHAPE.channels)]
        for c, made in enumerate(lists):
            bench.read(c, made, 512)
    for c, made in enumerate(lists):
        await bench.start(c, made)
    if not in_burst:
        await ClockCycles(bench.dut.clk_i, bench.random.randint(1, 400))
    else:  # in a burst of words to the memory
        await bench.writes(bench.random.randint(1, 60))
    running = [bench.driver.status(c).running for c in range(SHAPE.channels)]
    bench.dut.rst_ni.value = 0
    slower = max(SHAPE.bus_ps, SHAPE.clk_ps)
    await ClockCycles(bench.dut.clk_i, 16 * slower // SHAPE.clk_ps + 1)
    bench.dut.rst_ni.value = 1
    for c in range(SHAPE.channels):
        status = await bench.driver.wait(c)
        if running[c]:
            assert status.error in (Error.DEVICE, Error.NONE), status
        bench.devices.all[c].plan.clear()
    assert bench.memory.open() == 0
    bench.memory.put(0, bytes(MEMORY))
    again = [bench.make(c, 3, 20) for c in range(SHAPE.channels)]
    for c, made in enumerate(again):
        await bench.start(c, made)
    for c, made in enumerate(again):
        await bench.finish(c, made)


async def all_are_late(bench: Bench) -> None:
    """Lists of all channels, with a memory and devices that are late."""
    for heap in bench.heaps:
        heap.next = 4096 + heap.end - MEMORY // SHAPE.channels
    bench.memory.pace = bench.random.choice(PACES)
    bench.devices.gaps = bench.memory.pace.gaps
    bench.memory.put(0, bytes(MEMORY))
    lists = [bench.make(c, 4, 60) for c in range(SHAPE.channels)]
    for c, made in enumerate(lists):
        await bench.start(c, made)
    for c, made in enumerate(lists):
        await bench.finish(c, made)


@cocotb.test()
async def whatever_disturbs_a_list_the_next_one_is_right(dut: HierarchyObject) -> None:
    bench = Bench(dut, "campaign")
    await bench.begin()
    seen: Counter[str] = Counter()
    for _ in range(RUNS):
        bench.devices.gaps = 0.0
        bench.memory.pace = bench.random.choice(PACES)
        kind = bench.random.choice(("late", "stopped", "reset", *["failed"] * 3))
        if kind == "failed":
            kind = bench.random.choice(list(FAILURES))
            await one_fails(bench, kind)
        elif kind == "late":
            await all_are_late(bench)
        elif kind == "stopped":
            await one_is_stopped(bench)
        else:
            await devices_are_reset(bench, bench.random.random() < 0.3)
        seen[kind] += 1
    dut._log.info("RUNS %d: %s", RUNS, dict(seen))


@cocotb.test()
async def a_slow_bus_holds_the_device_back(dut: HierarchyObject) -> None:
    bench = Bench(dut, "slow")
    await bench.begin()
    rows = min(6 * 2**SHAPE.log_depth * max(BEAT // ROW, 1), 2000 if SHAPE.turn else 500)
    bench.memory.pace = Pace(0.85, (0, 100), 0.85)
    made = List()
    for _ in range(2):
        bench.write(0, made, rows)
        bench.read(0, made, rows)
    await bench.start(0, made)
    await bench.finish(0, made, 20_000 + 40 * rows * ROW // BEAT)


@cocotb.test()
async def polynomials_cross_at_the_rate_of_the_slower_clock(dut: HierarchyObject) -> None:
    bench = Bench(dut, "rate")
    await bench.begin()
    bench.devices.all[0].latency = 10
    size = 16384
    rows, beats = size // ROW, size // BEAT
    # From a memory that answers late, too, as far as the FIFO's depth hides that.
    for op, latency in ((Opcode.WRITE, 0), (Opcode.READ, 0), (Opcode.WRITE, 60), (Opcode.READ, 60)):
        bench.memory.pace = Pace(latency=(latency, latency))
        bench.heaps[0].next = 4096
        bench.memory.put(0, bytes(MEMORY))
        made = List(device={p: dict(r) for p, r in bench.devices.all[0].memory.items()})
        for _ in range(3):
            bench.heaps[0].next = -(-bench.heaps[0].next // 4096) * 4096
            one = bench.write(0, made, rows) if op == Opcode.WRITE else bench.read(0, made, rows)
            one.keep = one.tell = False
        await bench.start(0, made)
        seen = [bench.memory.cycle]
        while bench.driver.status(0).running and len(seen) < 4:
            await RisingEdge(dut.bus_clk_i)
            if bench.driver.status(0).completed == len(seen):
                seen.append(bench.memory.cycle)
            assert bench.memory.cycle - seen[0] < 60_000
        await bench.finish(0, made)
        first, apart = seen[1] - seen[0], seen[3] - seen[2]
        ideal = max(beats, rows * SHAPE.clk_ps / SHAPE.bus_ps)
        dut._log.info(
            "RATE %s %d bits, rows %d x %d, %d:%d ps, answers after %d: %d cycles of the bus, "
            "the first %d; %d beats, %d rows, bursts of %d bytes",
            *(op.name, SHAPE.bits, SHAPE.words, SHAPE.width, SHAPE.bus_ps, SHAPE.clk_ps, latency),
            *(apart, first, beats, rows, bench.memory.longest),
        )
        if SHAPE.log_depth >= 7 or latency == 0:
            assert apart <= 1.02 * ideal + 40, (apart, ideal)
