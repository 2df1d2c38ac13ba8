"""The link's model: bursts, arrivals, several accelerators in turn; the same traces on the RTL."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.late_coprocessor import LateCoprocessor

from ringsmith import runtime
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import host_read_cycles
from ringsmith.backends.rpau.device.device import Coprocessors, RpauDevice
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.link import (
    BURSTS,
    Burst,
    Done,
    Job,
    Link,
    Port,
    Wire,
    arrivals,
    share,
    share_lists,
)
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters

HEAWS6 = load_design("heaws6")
SMALL = replace(HEAWS6, name="heaws6-small", log_n=10, work_uram_polys=0, key_ram="block")
POLY = 4096 * 4
"""Bytes of a polynomial of heaws."""


def test_heaws6_is_heaws_six_times() -> None:
    one = replace(HEAWS6, name="heaws", coprocessors=1)
    assert one == load_design("heaws")


def test_a_burst_takes_whole_periods_of_the_bus() -> None:
    assert Link(128).burst(4096) == 256 * 4000
    assert Link(32).burst(4096) == 1024 * 4000
    assert Link(64).burst(12) == 2 * 4000
    # At 16 GB/s a burst takes 64 periods; the host sends 12 GB/s: 341.3 ns are 86 periods.
    assert Link(512).burst(4096) == 86 * 4000
    assert Link(512, bytes_per_second=0).burst(4096) == 64 * 4000


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"bus_bits": 48}, "bus_bits = 48: choose one of 32, 64, 128, 256, 512"),
        ({"bus_hz": 300_000_000}, "bus_hz = 300000000: its period must be whole picoseconds"),
        ({"device_hz": 0}, "device_hz = 0"),
        ({"burst_bytes": 24}, "burst_bytes = 24: bursts are whole words"),
    ],
)
def test_links_that_cannot_be_are_refused(values: dict[str, int], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        Link(**values)


def test_polynomials_arrive_as_the_slower_of_bus_and_port_goes() -> None:
    """By hand: at 32 bits the bus, 1,024 words in 4.096 us a burst; from 128 on the port's rows."""
    design = load_design("heaws")
    slow = arrivals(Link(32), design, 3)
    burst = 1024 * 4  # ns, 819.2 cycles
    assert slow == tuple(-(-burst * 4 * count // 5) + 8 for count in (1, 2, 3))
    assert arrivals(Link(128), design, 3) == (1024, 2048, 3072)


def test_the_channel_whose_turn_ended_longest_ago_goes_first() -> None:
    wire = Wire(Link(128), 3)
    for channel in (0, 1, 2):
        wire.ask(channel, Burst(0, 4096, last=False))
    assert wire.serve() == (0, 1_024_000)
    assert wire.serve() == (1, 2_048_000)  # channel 0 has asked for nothing more
    wire.ask(0, Burst(2_000_000, 4096, last=True))
    assert wire.serve() == (0, 3_072_000)
    wire.ask(0, Burst(0, 4096, last=True))
    wire.ask(1, Burst(0, 4096, last=True))
    assert [wire.serve()[0] for _ in range(3)] == [1, 2, 0]  # its turn had ended
    for channel in (0, 1, 2):
        wire.ask(channel, Burst(0, 4096, last=False))
    assert [wire.serve()[0] for _ in range(3)] == [2, 1, 0]
    assert wire.begins is None


def test_nobody_waits_for_ever_and_the_bus_carries_one_at_a_time(rng: np.random.Generator) -> None:
    link = Link(64)
    wire = Wire(link, 4)
    left = [40, 40, 40, 40]
    for channel in range(4):
        wire.ask(channel, Burst(int(rng.integers(10**6)), 4096, last=False))
    before, served = 0, []
    while wire.begins is not None:
        channel, end = wire.serve()
        assert end >= before + link.burst(4096)
        before = end
        served.append(channel)
        left[channel] -= 1
        if left[channel]:
            last = left[channel] % 10 == 1
            wire.ask(channel, Burst(end + int(rng.integers(10**6)), 4096, last))
    assert left == [0, 0, 0, 0]
    waits = [np.diff(np.flatnonzero(np.array(served) == channel)).max() for channel in range(4)]
    assert max(waits) <= 1 + 3 * 10  # a turn of each other one


def test_one_coprocessor_takes_what_the_parts_take_one_after_the_other() -> None:
    """Operands by the port's rows, the program, results by the port's rows, and the crossings."""
    design = replace(HEAWS6, coprocessors=1)
    link, cycles = Link(512, bytes_per_second=0), 50_000
    job = Job(operands=24, keys=24, results=12, cycles=lambda _: cycles)
    ((first, second),) = share(link, design, job, 2)
    rows = POLY // 16
    crossing = link.crossing_cycles
    start = 24 * rows + host_read_cycles(design)
    assert first.start <= start + crossing + -(-link.burst(4096) // link.period)
    assert len(first.arrivals) == 24
    assert first.arrivals[0] == rows  # the FIFO has the first rows when the program starts
    burst = -(-link.burst(4096) // link.period)
    end = first.start + cycles + 12 * rows + crossing + burst
    assert abs(first.end - end) <= BURSTS
    assert second.end - first.end == pytest.approx(first.end, abs=2 * burst + crossing)


def test_lists_of_different_jobs_end_in_their_order_and_alike_ones_as_before() -> None:
    link, short = Link(128), Job(12, 0, 6, lambda _: 10_000)
    long = Job(24, 24, 12, lambda came: came[-1] + 100_000)
    alike = share_lists(link, HEAWS6, [[long, long]] * HEAWS6.coprocessors)
    assert alike == share(link, HEAWS6, long, 2)
    done = share_lists(link, HEAWS6, [[short, long], [long], [short]])
    assert [[job.cycles == 10_000 for job in jobs] for jobs in done] == [
        [True, False],
        [False],
        [True],
    ]
    assert [len(job.arrivals) for jobs in done for job in jobs] == [0, 24, 24, 0]


@pytest.mark.parametrize("bits", [32, 64, 128, 512])
def test_six_coprocessors_share_what_the_bus_carries(bits: int) -> None:
    link = Link(bits)
    job = Job(24, 24, 12, lambda came: max(250_000, came[-1] + 100_000))
    done = share(link, HEAWS6, job, 6)
    assert [len(jobs) for jobs in done] == [6] * 6
    last = max(job.end for jobs in done for job in jobs)
    assert last * link.period >= 36 * 48 * 4 * link.burst(4096)
    for jobs in done:
        for before, each in zip([Done(), *jobs], jobs, strict=False):
            assert before.end <= each.start < each.end
            gaps = np.diff([0, *each.arrivals])
            assert gaps.min() >= POLY // 16
    ends = [jobs[-1].end for jobs in done]
    assert max(ends) - min(ends) < 0.5 * max(ends)  # none is left behind


# ---- on the RTL ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of() -> BfvParameters:
    return BfvParameters.create(
        n=SMALL.n,
        prime_bits=(30,) * 6,
        plain_bits=17,
        security=None,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
    )


def test_coprocessors_take_the_models_cycles_with_the_links_traces(
    of: BfvParameters, rng: np.random.Generator
) -> None:
    """Keys late by the link's model, which six share: the RTL takes the same cycles."""
    graph = lower_operation("rotate", of, of.limbs, steps=1)
    compiled = runtime.compile_graph(graph, SMALL)
    assert isinstance(compiled.executable, Executable)
    (run,) = compiled.executable.runs
    inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
    wanted = graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()})

    def cycles(coprocessor: Coprocessor, came: Sequence[int]) -> int:
        late = LateCoprocessor(coprocessor, lambda _: tuple(came))
        found = RpauDevice(late).execute(compiled, inputs, keys)
        for name, words in wanted.items():
            np.testing.assert_array_equal(found.outputs[name], words)
        assert found.cycles is not None
        return found.cycles

    model, rtl = ModelCoprocessor(SMALL), RtlCoprocessor(SMALL)
    count = sum(load.mask.bit_count() for load in run.keys)
    job = Job(12, count, 12, lambda came: cycles(model, came))
    done = share(Link(32), SMALL, job, 2)
    for jobs in done:
        for each in jobs:
            assert cycles(rtl, each.arrivals) == each.cycles
    taken = {each.cycles for jobs in done for each in jobs}
    assert min(taken) >= run.cycles
    assert max(taken) > run.cycles
    assert len(taken) > 1


@pytest.mark.parametrize("kind", ["model", "rtl"])
def test_coprocessors_run_their_own_programs_in_parallel(
    of: BfvParameters, kind: str, rng: np.random.Generator
) -> None:
    design = replace(SMALL, coprocessors=3)
    device = runtime.open_device(kind, design)
    assert isinstance(device, Coprocessors)
    graphs = [
        lower_operation(operation, of, of.limbs, steps=1)
        for operation in ("add", "rotate", "multiply_relinearize", "rotate", "add")
    ]
    jobs, wanted = [], []
    for graph in graphs:
        inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
        jobs.append(device.submit(runtime.compile_graph(graph, design), inputs, keys))
        whole = {name: core_key(key) for name, key in keys.items()}
        wanted.append(graph.to_core().run(inputs, whole))
    for job, residues in zip(jobs, wanted, strict=True):
        found = job.wait(300)
        for name, words in residues.items():
            np.testing.assert_array_equal(found.outputs[name], words)


def test_coprocessors_refuse_a_graph_of_another_design(of: BfvParameters) -> None:
    graph = lower_operation("add", of, of.limbs)
    other = replace(SMALL, name="another", coprocessors=1)
    with pytest.raises(DeviceError, match="another"):
        runtime.open_device("model", SMALL).submit(
            runtime.compile_graph(graph, other), random_inputs(graph, np.random.default_rng(1)), {}
        )


@pytest.mark.parametrize("count", [0, 9])
def test_a_number_of_coprocessors_that_cannot_be_is_refused(count: int) -> None:
    with pytest.raises(ParameterError, match=f"coprocessors = {count}"):
        replace(HEAWS6, coprocessors=count)


def test_rows_wait_for_the_port(small_design: RpauDesign) -> None:
    port = Port(Link(128), replace(small_design, host_bits=128))
    assert port.taken(0, 32) == 8
    port.wait(100)
    assert port.taken(0, 32) == 101  # a row of four words of eight bytes
    assert port.read(0, 64) == 103
