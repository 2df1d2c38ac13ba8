"""Keys that come while a program runs: model and RTL, early and late, and one that never comes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.late_coprocessor import LateCoprocessor

from ringsmith import runtime
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.timeline import Timeline, Timing
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import FETCH_CYCLES, arrival_cycles
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import (
    KeyPoly,
    KeyStream,
    SegmentReport,
)
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.backends.rpau.isa.instruction_set import instruction
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters
from ringsmith.progress import Task

SMALL = replace(
    load_design("heaws"), name="heaws-small", log_n=10, rpaus=4, work_uram_polys=0, key_ram="block"
)
"""For three primes and the four of their extension; test_compile_conversions shares its build."""
KEY_POLYS = 12
"""Of a key: two polynomials of three limbs for each of two digits."""
ROWS = SMALL.n // SMALL.lanes


@pytest.fixture(scope="module")
def of() -> BfvParameters:
    return BfvParameters.create(
        n=SMALL.n,
        prime_bits=(30,) * 3,
        plain_bits=17,
        security=None,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
    )


def gaps(rng: np.random.Generator, most: int) -> tuple[int, ...]:
    """When the polynomials of a key come, fewer than ``most`` cycles between two."""
    cycles = ROWS + rng.integers(0, most, KEY_POLYS)
    return tuple(int(cycle) for cycle in cycles.cumsum())


def test_random_programs_equal_the_model_with_keys_that_come_late(
    small_design: RpauDesign, rng: np.random.Generator
) -> None:
    """Contents and cycles; that rows arrive in their cycle is the RTL harness's part."""
    design = replace(small_design, name="small-stream", host_bits=32)
    seeds = [int(seed) for seed in rng.integers(0, 2**32, 20)]
    assert compare(RtlCoprocessor(design, assertions=True), design, seeds, 60).polynomials > 0


@pytest.mark.parametrize("operation", ["multiply_relinearize", "rotate"])
def test_whatever_the_delay_the_results_are_the_interpreters_and_cycles_the_models(
    of: BfvParameters, operation: str, rng: np.random.Generator
) -> None:
    """One trace of arrivals for model and RTL: from keys in time to very late ones."""
    graph = lower_operation(operation, of, of.limbs, steps=1)
    compiled = runtime.compile_graph(graph, SMALL)
    assert isinstance(compiled.executable, Executable)
    core = graph.to_core()
    rtl = RtlCoprocessor(SMALL, assertions=True)
    late = 0
    for most in (1, 400, 2000, 16_000):
        inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
        wanted = core.run(inputs, {name: core_key(key) for name, key in keys.items()})
        arrivals, reports = None, []
        for coprocessor in (ModelCoprocessor(SMALL), rtl):
            drawn = arrivals or gaps(rng, most)
            delayed = LateCoprocessor(coprocessor, lambda _, came=drawn: came)
            found = RpauDevice(delayed).execute(compiled, inputs, keys)
            for name, residues in wanted.items():
                np.testing.assert_array_equal(found.outputs[name], residues)
            assert delayed.streamed == 1
            arrivals = drawn
            reports.append(delayed.reports)
        assert reports[0] == reports[1]
        cycles = reports[0][0].cycles
        assert compiled.executable.cycles <= cycles
        assert arrivals is not None
        assert cycles <= compiled.executable.cycles + max(arrivals) + arrival_cycles(SMALL)
        late += cycles > compiled.executable.cycles
    assert late > 0


def test_keys_that_are_there_are_awaited_for_nothing_and_come_once(
    of: BfvParameters, rng: np.random.Generator
) -> None:
    graph = lower_operation("rotate", of, of.limbs, steps=1)
    compiled = runtime.compile_graph(graph, SMALL)
    coprocessor = LateCoprocessor(ModelCoprocessor(SMALL), lambda _: gaps(rng, 9000))
    device = RpauDevice(coprocessor)
    keys = random_keys(graph, rng)
    first, again = (device.execute(compiled, random_inputs(graph, rng), keys) for _ in range(2))
    assert coprocessor.streamed == 1
    assert (first.report.key_words > 0, again.report.key_words) == (True, 0)
    assert compiled.executable is not None
    assert again.cycles == compiled.executable.cycles < first.cycles


def test_a_program_waits_for_each_key_and_says_when_it_would_go_on() -> None:
    """The model's cycles by hand: an await goes on ``arrival_cycles`` after its last row."""
    timeline = Timeline(Timing.of(SMALL), SMALL, arrivals=[1000, 5000])
    starts = [timeline.issue(instruction("await", arrived=count)) for count in (0, 1, 1, 2)]
    latency = arrival_cycles(SMALL)
    assert starts == [
        FETCH_CYCLES,
        1000 + latency,
        1000 + latency + FETCH_CYCLES,
        5000 + latency,
    ]


# ---- a key that does not come, and other bad input -----------------------------------------------


def product_without_its_last_key(device: RpauDevice, of: BfvParameters) -> None:
    """Runs a rotation with a key polynomial that does not come, then one with all of them."""
    rng = np.random.default_rng(7)
    graph = lower_operation("rotate", of, of.limbs, steps=1)
    compiled = runtime.compile_graph(graph, SMALL)
    inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
    run = device.coprocessor.run

    def without(most: int, task: Task | None, stream: KeyStream | None) -> SegmentReport:
        assert stream is not None
        return run(50_000, task, replace(stream, arrivals=stream.arrivals[:-1]))

    device.coprocessor.run = without  # type: ignore[method-assign]
    name = next(iter(keys))
    last = f"key polynomial {KEY_POLYS} of {KEY_POLYS}.*of {name}, digit 1"
    with pytest.raises(DeviceError, match=last) as caught:
        device.execute(compiled, inputs, keys)
    assert str(KEY_POLYS - 1) in str(caught.value)
    device.coprocessor.run = run  # type: ignore[method-assign]
    found = device.execute(compiled, inputs, keys)
    wanted = graph.to_core().run(inputs, {key: core_key(each) for key, each in keys.items()})
    for output, residues in wanted.items():
        np.testing.assert_array_equal(found.outputs[output], residues)


def test_a_key_that_does_not_come_is_named_and_the_rtl_goes_on(of: BfvParameters) -> None:
    product_without_its_last_key(RpauDevice(RtlCoprocessor(SMALL, assertions=True)), of)


def test_a_key_that_does_not_come_is_named_by_the_model(of: BfvParameters) -> None:
    product_without_its_last_key(RpauDevice(ModelCoprocessor(SMALL)), of)


def test_keys_cross_the_data_path_while_a_program_runs(of: BfvParameters) -> None:
    """By registers and bursts, as the host of a card; one that does not come is named, too."""
    product_without_its_last_key(
        RpauDevice(RegisterCoprocessor(SMALL, SimulatedBus(SMALL, assertions=True))), of
    )


def test_without_a_data_path_keys_are_written_before(
    of: BfvParameters, rng: np.random.Generator
) -> None:
    """The program awaits what is there: the cycles are those of keys that are not late."""
    graph = lower_operation("rotate", of, of.limbs, steps=1)
    compiled = runtime.compile_graph(graph, SMALL)
    coprocessor = RegisterCoprocessor(SMALL, SimulatedBus(SMALL, assertions=True, data_path=False))
    inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
    found = RpauDevice(coprocessor).execute(compiled, inputs, keys)
    wanted = graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()})
    for name, residues in wanted.items():
        np.testing.assert_array_equal(found.outputs[name], residues)
    assert compiled.executable is not None
    assert found.cycles == compiled.executable.cycles


def poly(index: int = 0, word: int = 0) -> KeyPoly:
    return KeyPoly(0, index, np.full(SMALL.n, word, dtype=np.uint64), "a key")


def test_a_key_that_is_read_before_it_is_awaited_is_refused() -> None:
    coprocessor = ModelCoprocessor(SMALL, timing_only=True)
    words = assemble("await n1\nmul_key p0, p1, key1 @0\nhalt", SMALL)
    coprocessor.load_program(np.array(words, dtype=np.uint64))
    stream = KeyStream((poly(0), poly(1)), (ROWS, 2 * ROWS))
    with pytest.raises(DeviceError, match=r"reads key1 of RPAU 0, polynomial 2 .* waited for 1"):
        coprocessor.run(10_000, stream=stream)


@pytest.mark.parametrize(
    ("stream", "what"),
    [
        (KeyStream((poly(),), (ROWS - 1,)), f"so {ROWS} is the earliest"),
        (KeyStream((poly(), poly(1)), (ROWS, ROWS + 1)), "key polynomial 1 arrives in cycle"),
        (KeyStream((poly(SMALL.key_polys),), (ROWS,)), "address space KEY has no index 8"),
        (KeyStream((poly(0, 1 << 30),), (ROWS,)), "words of design heaws-small have 30 bits"),
    ],
)
def test_keys_that_cannot_come_are_refused(stream: KeyStream, what: str) -> None:
    coprocessor = ModelCoprocessor(SMALL)
    coprocessor.load_program(np.array(assemble("await n1\nhalt", SMALL), dtype=np.uint64))
    with pytest.raises(DeviceError, match=what):
        coprocessor.run(10_000, stream=stream)


def test_a_design_without_a_bus_has_no_stream_and_no_await(small_design: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(small_design)
    coprocessor.load_program(np.array(assemble("halt", small_design), dtype=np.uint64))
    with pytest.raises(DeviceError, match="design small has host_bits = 0"):
        coprocessor.run(100, stream=KeyStream((), ()))
    with pytest.raises(ProgramError, match="await: design small has key_stream"):
        assemble("await n1\nhalt", small_design)
    with pytest.raises(ParameterError, match="host_bits = 48 is not one of 0, 32, 64, 128"):
        replace(small_design, host_bits=48)
