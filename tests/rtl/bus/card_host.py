"""A host of a card: lists of descriptors, and what its coprocessors compute.

Runs inside the simulator, on an rs_rpau_card of the design in RINGSMITH_CARD.
"""

import itertools
import json
import os
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp
from dma_model import Descriptor
from tests.backends.rpau.late_coprocessor import LateCoprocessor

from bench.measure import KeyedModel
from ringsmith import runtime
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.card.descriptor import Error, Opcode
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.design.register_table import Control, Register
from ringsmith.backends.rpau.device.card_table import (
    CHANNEL_BYTES,
    CHANNELS,
    ChannelControl,
    ChannelRegister,
    ChannelStatus,
)
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.spaces import space_runs
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, SecurityWarning
from ringsmith.progress import Task

SEED = int(os.environ["RINGSMITH_TEST_SEED"])
DESIGN = replace(load_design("heaws6"), **json.loads(os.environ["RINGSMITH_CARD"]))
BUS_PS, DEVICE_PS = 4000, 5000
MEMORY = 1 << 24
ROW_WORDS = host_words(DESIGN)
LAST_ROW = DESIGN.n // ROW_WORDS - 1
PAGE = 4096
ROWS = (AddressSpace.POLY, AddressSpace.KEY)
"""Address spaces whose rows are full of words."""

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SecurityWarning)
    PARAMETERS = BfvParameters.create(
        n=DESIGN.n,
        prime_bits=(30,) * (DESIGN.rpaus - 1),
        plain_bits=17,
        security=None,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
    )


class Script:
    """A device that notes what is asked of it, and reads what it was given."""

    name = "card"
    streams = True

    def __init__(self, design: RpauDesign) -> None:
        self.design = design
        self.forget()

    def forget(self) -> None:
        """Begins a new run."""
        self.tables: list[tuple[AddressSpace, int, int, Words]] = []
        self.operands: list[tuple[int, int, Words]] = []
        self.program: Words | None = None
        self.stream = KeyStream((), ())
        self.places: list[tuple[int, int]] = []
        self.results: dict[tuple[int, int], Words] = {}

    def set_ring(self, log_degree: int) -> None:
        """Only N's own."""
        assert log_degree == self.design.log_n

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Notes a polynomial or a table."""
        if space is AddressSpace.POLY:
            self.operands.append((unit, index, words))
        else:
            self.tables.append((space, unit, index, words))

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """A result."""
        self.places.append((unit, index))
        return self.results.get((unit, index), np.zeros(self.design.n, dtype=np.uint64))

    def load_program(self, words: Words) -> None:
        """Notes it."""
        self.program = words

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Notes the keys."""
        if stream is not None:
            self.stream = stream
        return SegmentReport(0, 0)


@dataclass
class Job:
    """One run of an operation on a coprocessor: what it takes, and where its results go."""

    work: "Work"
    script: Script
    inputs: dict[str, Words]
    keys: dict[str, object]
    at: dict[tuple[int, int], int] = field(default_factory=dict)  # place -> address
    record: int = 0

    def check(self, card: "Card", arrivals: Sequence[int]) -> int:
        """Compares results and cycles with the interpreter's and the model's; the cycles."""
        self.script.results = {
            place: np.frombuffer(card.ram.read(at, 4 * DESIGN.n), dtype="<u4").astype(np.uint64)
            for place, at in self.at.items()
        }
        wanted = self.work.graph.to_core().run(
            self.inputs, {name: core_key(key) for name, key in self.keys.items()}
        )
        # A script that is given results is asked for the same again, by an accelerator that
        # puts them together.
        found = RpauDevice(self.script).execute(self.work.compiled, self.inputs, self.keys)
        for name, residues in wanted.items():
            np.testing.assert_array_equal(found.outputs[name], residues)
        late = LateCoprocessor(ModelCoprocessor(DESIGN), lambda _: tuple(arrivals))
        model = RpauDevice(late).execute(self.work.compiled, self.inputs, self.keys)
        record = [int.from_bytes(card.ram.read(self.record + i, 4), "little") for i in (4, 8, 12)]
        assert record[0] == 0, "the completion record names an error"
        cycles = record[1] | record[2] << 32
        assert model.cycles == cycles, (model.cycles, cycles)
        return cycles


class Work:
    """An operation on one coprocessor, and the runs of it."""

    def __init__(self, operation: str, name: str) -> None:
        self.operation = operation
        self.rng = np.random.default_rng([SEED, *name.encode()])
        self.graph = lower_operation(operation, PARAMETERS, PARAMETERS.limbs, steps=1)
        self.compiled: CompiledGraph = runtime.compile_graph(self.graph, DESIGN)
        self.tables = self.job().script

    def job(self) -> Job:
        """One more run, of operands and keys of its own; its script has all tables."""
        script = Script(DESIGN)
        inputs, keys = random_inputs(self.graph, self.rng), random_keys(self.graph, self.rng)
        RpauDevice(script).execute(self.compiled, inputs, keys)
        return Job(self, script, inputs, keys)

    def model_cycles(self, arrivals: Sequence[int]) -> int:
        """What the model's program takes with keys that arrive then."""
        executable = self.compiled.executable
        assert isinstance(executable, Executable)
        (run,) = executable.runs
        return KeyedModel(executable).run(run, tuple(arrivals)).cycles


class Card:
    """A host's driver of a card, and what it sees of the coprocessors' ports."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {name}")
        clock, reset = dut.bus_clk_i, dut.bus_rst_ni
        self.axil = AxiLiteMaster(
            AxiLiteBus.from_prefix(dut, "s_axil"), clock, reset, reset_active_level=False
        )
        self.ram = AxiRam(
            AxiBus.from_prefix(dut, "m_axi"), clock, reset, reset_active_level=False, size=MEMORY
        )
        for half in (self.axil.write_if, self.axil.read_if, self.ram.write_if, self.ram.read_if):
            half.log.setLevel("WARNING")
        self.next = PAGE
        self.cycle = 0
        self.started = [0] * DESIGN.coprocessors
        self.arrivals: list[list[list[int]]] = [[] for _ in self.started]

    async def begin(self) -> None:
        """Clocks in some phase, and resets that end at different times."""
        dut = self.dut
        dut.bus_rst_ni.value = dut.rst_ni.value = 0
        Clock(dut.bus_clk_i, BUS_PS, "ps").start()
        await Timer(self.random.randrange(1, BUS_PS), "ps")
        Clock(dut.clk_i, DEVICE_PS, "ps").start()
        cocotb.start_soon(self.watch())
        both = [(dut.bus_clk_i, dut.bus_rst_ni), (dut.clk_i, dut.rst_ni)]
        self.random.shuffle(both)
        for clock, reset in both:
            await ClockCycles(clock, 20 + self.random.randint(1, 20))
            reset.value = 1
        await ClockCycles(dut.clk_i, 10)

    def stall(self, most: float) -> None:
        """From now on the memory's channels pause at random."""
        write, read = self.ram.write_if, self.ram.read_if
        channels = (write.aw_channel, write.w_channel, write.b_channel)
        for channel in (*channels, read.ar_channel, read.r_channel):
            share = self.random.random() * most
            channel.set_pause_generator(self.random.random() < share for _ in itertools.count())

    async def watch(self) -> None:
        """Notes the cycles, from each start on, in which a key's last row is at a port."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            start, we = int(dut.start.value), int(dut.host_we.value)
            if not start | we:
                continue
            space, row = int(dut.host_space.value), int(dut.host_row.value)
            for c in range(DESIGN.coprocessors):
                if start >> c & 1:
                    self.started[c] = self.cycle
                    self.arrivals[c].append([])
                here = we >> c & 1 and space >> (4 * c) & 15 == AddressSpace.KEY
                if here and row >> (16 * c) & 0xFFFF == LAST_ROW and self.arrivals[c]:
                    self.arrivals[c][-1].append(self.cycle - self.started[c])

    # ---- registers -------------------------------------------------------------------------------

    async def write(self, address: int, value: int, size: int = 4) -> None:
        """Writes a register."""
        answer = await self.axil.write(address, value.to_bytes(size, "little"))
        assert answer.resp == AxiResp.OKAY, hex(address)

    async def read(self, address: int, size: int = 4) -> int:
        """Reads a register."""
        answer = await self.axil.read(address, size)
        assert answer.resp == AxiResp.OKAY, hex(address)
        return int.from_bytes(answer.data, "little")

    def channel(self, c: int, register: ChannelRegister) -> int:
        """The address of a channel's register."""
        return CHANNELS + CHANNEL_BYTES * c + register

    def own(self, c: int, register: Register) -> int:
        """The address of a coprocessor's register."""
        return PAGE * (c + 1) + register

    async def ready(self, c: int) -> None:
        """Waits until a coprocessor is in no reset, and nothing moves."""
        while await self.read(self.own(c, Register.STATUS)):
            pass

    async def awaits(self, c: int) -> int:
        """Waits until a coprocessor's program waits for a key; register key_arrivals."""
        for _ in range(1000):
            arrivals = await self.read(self.own(c, Register.KEY_ARRIVALS))
            if arrivals >> 16:
                return arrivals
            await ClockCycles(self.dut.bus_clk_i, 100)
        raise AssertionError(f"coprocessor {c} waits for no key")

    async def reset(self, c: int) -> None:
        """Resets one coprocessor."""
        await self.write(self.own(c, Register.CONTROL), Control.RESET)
        await self.ready(c)

    # ---- lists -----------------------------------------------------------------------------------

    def take(self, size: int, align: int = 64) -> int:
        """A place in the host's memory."""
        at = -(-self.next // align) * align
        self.next = at + size
        assert self.next <= MEMORY
        return at

    def descriptor(self, op: Opcode, **fields: int) -> Descriptor:
        """A descriptor with a place of its own."""
        return Descriptor(op, address=self.take(32, 32), **fields)

    def send(
        self, op: Opcode, space: AddressSpace, unit: int, index: int, words: Words
    ) -> Descriptor:
        """A descriptor that sends words; spaces with a word a row have rows of their own."""
        rows = words.astype("<u4").reshape(-1, ROW_WORDS if space in ROWS else 1)
        image = np.zeros((len(rows), ROW_WORDS), dtype="<u4")
        image[:, : rows.shape[1]] = rows
        at = self.take(image.nbytes)
        self.ram.write(at, image.tobytes())
        place = {"space": space, "unit": unit, "index": index}
        return self.descriptor(op, data=at, count=image.size, **place)

    def job(self, job: Job) -> list[Descriptor]:
        """The list of a job: operands, start, keys, results."""
        script, made = job.script, []
        for unit, index, words in script.operands:
            made.append(self.send(Opcode.WRITE, AddressSpace.POLY, unit, index, words))
        keys = script.stream.polys
        made.append(self.descriptor(Opcode.START, index=len(keys)))
        for poly in keys:
            made.append(
                self.send(Opcode.STREAM, AddressSpace.KEY, poly.unit, poly.index, poly.words)
            )
        for unit, index in script.places:
            job.at[unit, index] = at = self.take(4 * DESIGN.n)
            place = {"space": AddressSpace.POLY, "unit": unit, "index": index}
            made.append(self.descriptor(Opcode.READ, data=at, count=DESIGN.n, **place))
        made[-1].keep = made[-1].tell = True
        made[-1].record = job.record = self.take(32, 32)
        return made

    async def go(self, c: int, descriptors: Sequence[Descriptor]) -> None:
        """Links a list, which lies in memory, and starts it."""
        for one, following in itertools.pairwise(descriptors):
            one.next = following.address
        for each in descriptors:
            self.ram.write(each.address, each.to_bytes())
        await self.write(self.channel(c, ChannelRegister.LIST), descriptors[0].address, 8)
        await self.write(self.channel(c, ChannelRegister.CONTROL), ChannelControl.GO)

    async def wait(self, c: int, cycles: int = 400_000) -> tuple[ChannelStatus, int, int]:
        """Until a list has ended: status, error, and descriptors that are complete."""
        for _ in range(cycles // 200):
            status = await self.read(self.channel(c, ChannelRegister.STATUS))
            if not status & ChannelStatus.RUNNING:
                error = await self.read(self.channel(c, ChannelRegister.ERROR))
                completed = await self.read(self.channel(c, ChannelRegister.COMPLETED))
                return ChannelStatus(status), error, completed
            await ClockCycles(self.dut.bus_clk_i, 200)
        raise AssertionError(f"channel {c} does not end")

    async def done(self, c: int, made: Sequence[Descriptor]) -> None:
        """Waits for the end of a list; all of its descriptors must be complete."""
        assert await self.wait(c) == (ChannelStatus(0), 0, len(made))

    async def fails(self, c: int, error: Error, completed: int) -> None:
        """Waits for the end of a list that fails."""
        assert await self.wait(c) == (ChannelStatus.FAILED, error, completed)

    async def load(self, c: int, work: Work) -> None:
        """Writes all tables by a list, conversions and the program by registers."""
        script = work.tables
        await self.write(self.own(c, Register.HOST_SPACE), AddressSpace.CONVERSION)
        for space, unit, index, words in script.tables:
            if space is AddressSpace.CONVERSION:
                await self.write(self.own(c, Register.HOST_UNIT), unit)
                await self.write(self.own(c, Register.HOST_INDEX), index)
                for first, taken in space_runs(DESIGN, space, words):
                    await self.write(self.own(c, Register.HOST_WORD), first)
                    for word in taken:
                        await self.write(self.own(c, Register.HOST_DATA), int(word), 8)
        await self.write(self.own(c, Register.PROGRAM_ADDRESS), 0)
        assert script.program is not None
        for word in script.program:
            await self.write(self.own(c, Register.PROGRAM_DATA), int(word), 8)
        made = [
            self.send(Opcode.WRITE, *table)
            for table in script.tables
            if table[0] != AddressSpace.CONVERSION
        ]
        await self.go(c, made)
        await self.done(c, made)
        assert await self.read(self.own(c, Register.REFUSED)) == 0
