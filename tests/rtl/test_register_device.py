"""A device that is driven through its registers: what it does, and what it refuses."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ringsmith import _core, progress, runtime
from ringsmith.backends.rpau.debug.random_program import random_program
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import (
    CAPABILITIES,
    Control,
    Refused,
    Register,
    Status,
)
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.interface import AddressSpace, Words, polynomial_address
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.spaces import space_shape
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, instruction
from ringsmith.errors import DeviceError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.instrument import Instrument

DESIGN = RpauDesign(
    name="small",
    log_n=8,
    word_bits=40,
    rpaus=3,
    cores=2,
    dyadic_cores=1,
    work_polys=8,
    key_polys=5,
    constants=8,
    program_words=128,
    reduction="barrett",
    prng="trivium",
    seeds=2,
)
NARROW = replace(
    DESIGN,
    name="narrow",
    word_bits=60,
    rpaus=2,
    cores=8,
    narrow_rpaus=1,
    narrow_bits=54,
    reduction="folded",
    prng="none",
    seeds=0,
)
"""Rows of 16 words, which cross by parts of 8; the second RPAU has narrow words."""
NTT = 0  # the work polynomial that the long program transforms


@pytest.fixture(scope="module")
def bus() -> Iterator[SimulatedBus]:
    simulated = SimulatedBus(DESIGN, assertions=True)
    yield simulated
    simulated.close()


@pytest.fixture
def coprocessor(bus: SimulatedBus) -> RegisterCoprocessor:
    """A host that has just taken the device over, and has loaded primes, tables, polynomials."""
    host = RegisterCoprocessor(DESIGN, bus)
    load(host)
    return host


def load(host: RegisterCoprocessor) -> None:
    for space, rpau, index, words in random_program(DESIGN, 1, 10).loads():
        host.write(AddressSpace[space], rpau, index, words)


def words_of(rng: np.random.Generator, count: int = DESIGN.n) -> Words:
    return rng.integers(0, 1 << DESIGN.word_bits, count, dtype=np.uint64)


def place(bus: SimulatedBus, space: int, unit: int, index: int, word: int = 0) -> None:
    bus.write(Register.HOST_SPACE, space)
    bus.write(Register.HOST_UNIT, unit)
    bus.write(Register.HOST_INDEX, index)
    bus.write(Register.HOST_WORD, word)


def refused(bus: SimulatedBus) -> Refused:
    """What was refused since the last look."""
    found = Refused(bus.read(Register.REFUSED))
    bus.write(Register.REFUSED, found)
    return found


def long_program(rpaus: int = DESIGN.rpaus) -> Words:
    everyone = (1 << rpaus) - 1
    steps = [instruction("ntt", everyone, dst=NTT, a=NTT) for _ in range(40)]
    return np.array([encode(i) for i in [*steps, instruction("halt", everyone)]], dtype=np.uint64)


@pytest.mark.parametrize("data_path", [True, False])
def test_random_programs_through_the_bus_equal_the_model(
    data_path: bool, rng: np.random.Generator
) -> None:
    coprocessor = RegisterCoprocessor(
        DESIGN, SimulatedBus(DESIGN, assertions=True, data_path=data_path)
    )
    model = ModelCoprocessor(DESIGN)
    for seed in rng.integers(0, 2**32, 10):
        program = random_program(DESIGN, int(seed), DESIGN.program_words - 1)
        reports = []
        for each in (coprocessor, model):
            for space, rpau, index, words in program.loads():
                each.write(AddressSpace[space], rpau, index, words)
            each.load_program(program.words)
            reports.append(each.run(10_000_000))
        assert reports[0] == reports[1]
        for rpau, written in enumerate(program.written):
            for poly in written:
                found = coprocessor.read(AddressSpace.POLY, rpau, poly)
                np.testing.assert_array_equal(found, model.read(AddressSpace.POLY, rpau, poly))


def test_a_graph_runs_through_the_bus_as_on_the_other_devices(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    checked = partial(SimulatedBus, assertions=True)  # the build that these tests have anyway
    monkeypatch.setattr("ringsmith.backends.rpau.backend.SimulatedBus", checked)
    primes = tuple(_core.prime_search(bits, DESIGN.n, 1)[0] for bits in (36, 38, 39))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (2,), {})
    x = graph.input("x", (0, 1, 2))
    graph.output(graph.mod_down(graph.mul(x, graph.automorph(x, 3)), 2), "y")
    compiled = runtime.compile_graph(graph, DESIGN)
    words = {"x": np.stack([rng.integers(0, q, DESIGN.n, dtype=np.uint64) for q in primes])}
    devices = {
        "cpu": runtime.open_device("cpu"),
        "model": runtime.open_device("model", DESIGN),
        "bus": runtime.open_device("rtl", DESIGN, via="axi-lite"),
    }
    found = {n: runtime.run_graph(compiled, m, words, {}) for n, m in devices.items()}
    for name in ("model", "bus"):
        np.testing.assert_array_equal(found[name].outputs["y"], found["cpu"].outputs["y"])
    assert found["bus"].cycles == found["model"].cycles


def test_ways_that_a_device_does_not_have_are_refused() -> None:
    with pytest.raises(DeviceError, match="no way 'pcie' to a device: choose one of ports, axi-li"):
        runtime.open_device("rtl", DESIGN, via="pcie")
    with pytest.raises(DeviceError, match="only device rtl has a bus"):
        runtime.open_device("model", DESIGN, via="axi-lite")


@pytest.mark.parametrize("change", [{"work_polys": 9}, {"log_n": 9, "cores": 1}])
def test_a_device_of_another_design_is_refused_with_the_capabilities(
    bus: SimulatedBus, change: dict[str, int]
) -> None:
    expected = ", ".join(f"{name} = {getattr(DESIGN, name)}" for name in change)
    asked = ", ".join(f"{name} = {value}" for name, value in change.items())
    with pytest.raises(DeviceError, match=f"says {expected} and design small has {asked}"):
        RegisterCoprocessor(replace(DESIGN, **change), bus)


class Counterfeit:
    """A bus on which one register says something else."""

    def __init__(self, bus: SimulatedBus, register: Register, value: int) -> None:
        self._bus, self._register, self._value = bus, register, value
        self.write_words, self.read_words = bus.write_words, bus.read_words
        self.write, self.data = bus.write, bus.data

    def read(self, address: int) -> int:
        """The device's word, but for one register."""
        return self._value if address == self._register else self._bus.read(address)


@pytest.mark.parametrize(
    ("register", "value", "message"),
    [
        (Register.MAGIC, 0, "no Ringsmith device answers .* 0x00000000 and not 0x474e4952"),
        (Register.VERSION, 4 << 16, "version 4 of the register map and this Ringsmith knows"),
        (Register.ARCHITECTURE, 2, "its architecture is number 2 and design small has 1"),
        (Register.CAPABILITY_COUNT, 3, "the device does not report cores, dyadic_cores"),
        (Register.STATUS, 1, "does not come out of its reset"),
    ],
)
def test_what_is_no_such_device_is_refused(
    bus: SimulatedBus, register: Register, value: int, message: str
) -> None:
    with pytest.raises(DeviceError, match=message):
        RegisterCoprocessor(DESIGN, Counterfeit(bus, register, value))  # type: ignore[arg-type]


def test_polynomials_cross_the_data_path_unless_the_device_says_it_has_none(
    bus: SimulatedBus, rng: np.random.Generator
) -> None:
    words = words_of(rng)
    RegisterCoprocessor(DESIGN, bus).write(AddressSpace.POLY, 2, 3, words)
    place(bus, AddressSpace.POLY, 2, 3)
    assert bus.read(Register.HOST_WORD) == 0  # not counted up: no register took the words
    np.testing.assert_array_equal(bus.read_words(Register.HOST_DATA, DESIGN.n), words)
    other = Counterfeit(bus, Register.DATA_PATH, 0)
    coprocessor = RegisterCoprocessor(DESIGN, other)  # type: ignore[arg-type]
    words = words_of(rng)
    coprocessor.write(AddressSpace.POLY, 2, 3, words)
    assert bus.read(Register.HOST_WORD) == DESIGN.n
    found = bus.read_block(polynomial_address(DESIGN.n, AddressSpace.POLY, 2, 3), DESIGN.n)
    np.testing.assert_array_equal(found, words)


def test_the_data_path_refuses_what_is_no_beat_and_no_place(bus: SimulatedBus) -> None:
    with pytest.raises(DeviceError, match=r"4 words at byte 0x0: .* whole beats of 8 words"):
        bus.read_block(0, 4)
    nowhere = polynomial_address(DESIGN.n, AddressSpace.POLY, DESIGN.rpaus, 0)
    with pytest.raises(DeviceError, match=f"a read of 8 words at byte {nowhere:#x} with SLVERR"):
        bus.read_block(nowhere, 8)
    assert refused(bus) == Refused.PLACE


def test_illegal_registers_are_answered_with_an_error(bus: SimulatedBus) -> None:
    behind = CAPABILITIES[-1].address + 4
    with pytest.raises(DeviceError, match=rf"write of register {behind:#05x} with SLVERR"):
        bus.write(behind, 1)
    with pytest.raises(DeviceError, match="read of register 0x010 with SLVERR"):
        bus.read(Register.CONTROL)
    with pytest.raises(DeviceError, match="write of register 0x000 with SLVERR"):
        bus.write(Register.MAGIC, 1)


def test_while_a_program_runs_nothing_can_be_disturbed(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus, rng: np.random.Generator
) -> None:
    kept = words_of(rng)
    coprocessor.write(AddressSpace.POLY, 0, 5, kept)
    coprocessor.load_program(long_program())
    with progress.task("running", unit="cycles") as task:
        before = coprocessor.run(100_000, task)
    assert task.done == before.cycles
    place(bus, AddressSpace.POLY, 0, 5)
    bus.write(Register.PROGRAM_ADDRESS, 0)
    bus.write(Register.CONTROL, Control.START)
    assert bus.read(Register.STATUS) == Status.BUSY
    for action in (
        lambda: bus.write(Register.CONTROL, Control.START),
        lambda: bus.write_words(Register.HOST_DATA, words_of(rng, DESIGN.lanes)),
        lambda: bus.write_words(Register.PROGRAM_DATA, words_of(rng, 1)),
        lambda: bus.read_words(Register.HOST_DATA, 1),
    ):
        assert refused(bus) == Refused(0)
        action()
        assert refused(bus) == Refused.BUSY
    assert bus.read(Register.STATUS) == Status.BUSY
    assert bus.read(Register.HOST_WORD) == bus.read(Register.PROGRAM_ADDRESS) == 0
    while bus.read(Register.STATUS):
        bus.pause(100)
    assert int(bus.read_words(Register.CYCLES, 1)[0]) == before.cycles
    assert coprocessor.run(100_000) == before
    np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, 0, 5), kept)


@pytest.mark.parametrize("space", [AddressSpace.TWIDDLE, AddressSpace.CONVERSION])
def test_a_space_that_the_design_lacks_is_refused(
    coprocessor: RegisterCoprocessor,
    bus: SimulatedBus,
    space: AddressSpace,
    rng: np.random.Generator,
) -> None:
    del coprocessor
    place(bus, space, 0, 0)
    bus.write_words(Register.HOST_DATA, words_of(rng, 1))
    assert refused(bus) == Refused.PLACE


@pytest.mark.parametrize(
    "space", sorted({*AddressSpace} - {AddressSpace.TWIDDLE, AddressSpace.CONVERSION})
)
def test_places_that_do_not_exist_are_refused_and_the_last_ones_are_not(
    coprocessor: RegisterCoprocessor,
    bus: SimulatedBus,
    space: AddressSpace,
    rng: np.random.Generator,
) -> None:
    del coprocessor
    indices, words = space_shape(DESIGN, space)
    row = DESIGN.lanes if space in (AddressSpace.POLY, AddressSpace.KEY) else 1
    kept = words_of(rng, 1)
    place(bus, space, DESIGN.rpaus - 1, indices - 1, words - row)
    bus.write_words(Register.HOST_DATA, np.repeat(kept, row))
    assert refused(bus) == Refused(0)
    assert bus.read(Register.HOST_WORD) == words
    bus.write_words(Register.HOST_DATA, kept)  # one word behind the last
    assert refused(bus) == Refused.PLACE
    for wrong in (
        (space, DESIGN.rpaus, 0, 0),
        (space, 0, indices, 0),
        (len(AddressSpace), 0, 0, 0),
    ):
        place(bus, *wrong)
        bus.write_words(Register.HOST_DATA, kept)
        assert refused(bus) == Refused.PLACE, wrong
        assert bus.read(Register.HOST_WORD) == 0
    place(bus, space, 0, 0)
    bus.read_words(Register.HOST_DATA, 1)
    assert refused(bus) == (Refused(0) if space is AddressSpace.POLY else Refused.PLACE)


def test_a_program_ends_with_its_store(coprocessor: RegisterCoprocessor, bus: SimulatedBus) -> None:
    del coprocessor
    last = DESIGN.program_words - 1
    bus.write(Register.PROGRAM_ADDRESS, last)
    bus.write_words(Register.PROGRAM_DATA, long_program()[-1:])
    assert refused(bus) == Refused(0)
    bus.write_words(Register.PROGRAM_DATA, long_program()[-1:])
    assert refused(bus) == Refused.PLACE
    assert bus.read(Register.PROGRAM_ADDRESS) == last + 1


def test_words_out_of_order_or_too_wide_are_refused_and_change_nothing(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus, rng: np.random.Generator
) -> None:
    kept, other = words_of(rng), words_of(rng)
    coprocessor.write(AddressSpace.POLY, 1, 2, kept)
    place(bus, AddressSpace.POLY, 1, 2, 1)
    bus.write_words(Register.HOST_DATA, other[:1])  # a row begins with its first word
    assert refused(bus) == Refused.ORDER
    place(bus, AddressSpace.POLY, 1, 2)
    bus.write(Register.HOST_DATA + 4, 0)  # no lower half
    assert refused(bus) == Refused.ORDER
    bus.write_words(Register.HOST_DATA, np.array([1 << DESIGN.word_bits], dtype=np.uint64))
    assert refused(bus) == Refused.VALUE
    bus.write_words(Register.HOST_DATA, other[: DESIGN.lanes - 1])
    bus.write(Register.HOST_WORD, DESIGN.lanes - 1)  # moving forgets the row
    bus.write_words(Register.HOST_DATA, other[:1])
    assert refused(bus) == Refused.ORDER
    np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, 1, 2), kept)


def test_words_too_wide_for_a_narrow_rpau_are_refused_by_the_runtime_and_by_the_device(
    rng: np.random.Generator,
) -> None:
    narrow, wide = 1, 0
    limit = 1 << NARROW.narrow_bits
    bus = SimulatedBus(NARROW, assertions=True, instrument=Instrument.BRIEF)
    try:
        coprocessor = RegisterCoprocessor(NARROW, bus)
        kept = rng.integers(0, limit, NARROW.n, dtype=np.uint64)
        coprocessor.write(AddressSpace.POLY, narrow, 2, kept)
        long = np.full(NARROW.n, limit, dtype=np.uint64)
        with pytest.raises(DeviceError, match=rf"RPAU 1, index 2: word 0 is {limit}, .* 54 bits"):
            coprocessor.write(AddressSpace.POLY, narrow, 2, long)
        assert refused(bus) == Refused(0)  # it was not sent

        place(bus, AddressSpace.POLY, narrow, 2)
        bus.write_words(Register.HOST_DATA, long[:1])
        assert refused(bus) == Refused.VALUE
        place(bus, AddressSpace.CONSTANT, narrow, 0)
        bus.write_words(Register.HOST_DATA, long[:1])
        assert refused(bus) == Refused.VALUE
        late = kept.copy()
        late[-1] = limit  # rows before it are written, with what they hold
        address = polynomial_address(NARROW.n, AddressSpace.POLY, narrow, 2)
        with pytest.raises(DeviceError, match="SLVERR"):
            bus.write_block(address, late)
        assert refused(bus) == Refused.VALUE
        np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, narrow, 2), kept)

        bus.write_block(polynomial_address(NARROW.n, AddressSpace.POLY, wide, 2), long)
        assert refused(bus) == Refused(0)
        np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, wide, 2), long)
    finally:
        bus.close()


def test_a_refused_access_becomes_an_error_with_its_reasons(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus, rng: np.random.Generator
) -> None:
    words = words_of(rng)
    bus.write(Register.HOST_DATA + 4, 0)
    bus.write(Register.CONTROL, Control.START | Control.RESET)
    with pytest.raises(DeviceError, match=r"refused writing address space POLY of RPAU 1 \(busy"):
        coprocessor.write(AddressSpace.POLY, 1, 2, words)
    coprocessor.reset()
    coprocessor.write(AddressSpace.POLY, 1, 2, words)
    np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, 1, 2), words)


def test_after_a_program_that_was_refused_none_is_loaded(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus
) -> None:
    coprocessor.load_program(long_program())
    bus.write(Register.CONTROL, Control.START)
    with pytest.raises(DeviceError, match=r"refused loading the program \(busy"):
        coprocessor.load_program(long_program())
    coprocessor.reset()
    with pytest.raises(DeviceError, match="no program is loaded"):
        coprocessor.run(100)


def test_the_next_host_takes_over_a_device_left_in_the_middle(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus, rng: np.random.Generator
) -> None:
    kept = words_of(rng)
    coprocessor.write(AddressSpace.POLY, 2, 7, kept)
    coprocessor.load_program(long_program())
    expected = coprocessor.run(100_000)
    for cycles in rng.integers(0, expected.cycles - 100, 5):
        place(bus, AddressSpace.POLY, 0, 1)
        bus.write_words(Register.HOST_DATA, words_of(rng, 1))  # an incomplete row
        bus.write(Register.HOST_DATA, 1)  # and a word
        bus.write(Register.CONTROL, Control.START)
        bus.pause(int(cycles))
        bus.write(Register.HOST_DATA, 1)
        assert bus.read(Register.REFUSED) == Refused.BUSY
        next_host = RegisterCoprocessor(DESIGN, bus)
        assert bus.read(Register.REFUSED) == 0
        assert not bus.read_words(Register.CYCLES, 1).any()
        np.testing.assert_array_equal(next_host.read(AddressSpace.POLY, 2, 7), kept)
        load(next_host)
        next_host.write(AddressSpace.POLY, 2, 7, kept)
        next_host.load_program(long_program())
        assert next_host.run(100_000) == expected


def test_a_program_longer_than_allowed_is_stopped_and_the_device_goes_on(
    coprocessor: RegisterCoprocessor,
) -> None:
    with pytest.raises(DeviceError, match="no program is loaded"):
        coprocessor.run(100)
    coprocessor.load_program(long_program())
    with pytest.raises(DeviceError, match="not ended after 100 cycles"):
        coprocessor.run(100)
    assert coprocessor.run(100_000).instructions == 41


def test_an_opcode_that_does_not_exist_is_reported(
    coprocessor: RegisterCoprocessor, bus: SimulatedBus
) -> None:
    coprocessor.load_program(long_program())
    field = ISA.fields["opcode"]
    known = {operation.opcode for operation in ISA.operations}
    unknown = next(code for code in range(1 << field.width) if code not in known)
    bus.write(Register.PROGRAM_ADDRESS, 0)
    bus.write_words(Register.PROGRAM_DATA, np.array([unknown << field.lsb], dtype=np.uint64))
    with pytest.raises(DeviceError, match="instruction 0 has an opcode that does not exist"):
        coprocessor.run(1000)
    coprocessor.load_program(long_program())
    assert coprocessor.run(100_000).instructions == 41
