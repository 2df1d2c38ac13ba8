"""Random programs on the RTL and on the model: equal contents and equal cycles."""

from dataclasses import replace

import numpy as np
import pytest

from ringsmith import progress
from ringsmith.backends.rpau.debug.random_program import RandomProgram, random_program
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.interface import AddressSpace, SegmentReport
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, instruction

PROGRAMS = 50
LENGTH = 2 * len(ISA.operations)
MAX_CYCLES = 10_000_000


def run(coprocessor: ModelCoprocessor | RtlCoprocessor, program: RandomProgram) -> SegmentReport:
    for space, rpau, index, words in program.loads():
        coprocessor.write(AddressSpace[space], rpau, index, words)
    coprocessor.load_program(program.words)
    return coprocessor.run(MAX_CYCLES)


def check_equal(rtl: RtlCoprocessor, design: RpauDesign, seed: int) -> None:
    program = random_program(design, seed, LENGTH)
    model = ModelCoprocessor(design)
    report = run(rtl, program)
    assert report == run(model, program)
    assert report.cycles == program.cycles
    for rpau, written in enumerate(program.written):
        for poly in written:
            found = rtl.read(AddressSpace.POLY, rpau, poly)
            np.testing.assert_array_equal(found, model.read(AddressSpace.POLY, rpau, poly))


def test_fifty_random_programs_equal_the_model_with_assertions_on(
    small_design: RpauDesign, rng: np.random.Generator
) -> None:
    coprocessor = RtlCoprocessor(small_design, assertions=True)
    for seed in rng.integers(0, 2**32, PROGRAMS):
        check_equal(coprocessor, small_design, int(seed))


@pytest.mark.parametrize("name", ["nano", "pico"])
def test_random_programs_on_a_named_design_equal_the_model(
    name: str, rng: np.random.Generator
) -> None:
    design = load_design(name)
    coprocessor = RtlCoprocessor(design)
    for seed in rng.integers(0, 2**32, 3):
        check_equal(coprocessor, design, int(seed))


@pytest.mark.full
def test_fifty_random_programs_on_nano_equal_the_model(rng: np.random.Generator) -> None:
    design = load_design("nano")
    coprocessor = RtlCoprocessor(design)
    for seed in rng.integers(0, 2**32, PROGRAMS):
        check_equal(coprocessor, design, int(seed))


@pytest.mark.full
@pytest.mark.parametrize(
    "shape",
    [
        {"log_n": 8, "cores": 1, "dyadic_cores": 1, "rpaus": 2, "word_bits": 30},
        {"log_n": 10, "cores": 8, "dyadic_cores": 4, "rpaus": 3, "word_bits": 60},
        {"log_n": 12, "cores": 2, "dyadic_cores": 2, "rpaus": 4, "word_bits": 54},
        {"log_n": 11, "cores": 16, "dyadic_cores": 2, "rpaus": 2, "word_bits": 43},
    ],
    ids=lambda shape: "-".join(str(value) for value in shape.values()),
)
def test_designs_of_other_shapes_equal_the_model(
    small_design: RpauDesign, shape: dict[str, int], rng: np.random.Generator
) -> None:
    design = replace(small_design, name="other", **shape)
    coprocessor = RtlCoprocessor(design, assertions=True)
    for seed in rng.integers(0, 2**32, 5):
        check_equal(coprocessor, design, int(seed))


@pytest.mark.parametrize("name", ["ntt", "intt"])
def test_ntt_cycles_on_nano_are_exact_and_within_three_percent_of_the_ideal(name: str) -> None:
    design = load_design("nano")
    coprocessor = RtlCoprocessor(design)
    everyone = (1 << design.rpaus) - 1
    program = [instruction(name, everyone, dst=0, a=0), instruction("halt", everyone)]
    coprocessor.load_program(np.array([encode(i) for i in program], dtype=np.uint64))
    with progress.task("transforming", unit="cycles") as task:
        taken = coprocessor.run(MAX_CYCLES, task).cycles
    assert task.done == taken
    cycles = taken - latency.FETCH_CYCLES
    assert cycles == latency.ntt_cycles(design)
    assert cycles <= 1.03 * (design.n // 2 * design.log_n) / design.cores
