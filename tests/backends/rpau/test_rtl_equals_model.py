"""Random programs on the RTL and on the model: equal contents and equal cycles."""

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import pytest

from ringsmith import progress
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.debug.random_program import RandomProgram, random_program
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.design import (
    MAX_NARROW_BITS,
    MAX_PRNG_LANES,
    RpauDesign,
    load_design,
)
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


# Random programs on random designs: the RTL and the model agree, whatever the parameters are


DESIGNS = 12
RANDOM_PROGRAMS = 17  # on each; 204 in all

_Value = TypeVar("_Value")

DYADIC = {"none": 0.0, "one": 0.0, "half": 0.5, "all": 2.0}  # lanes as a multiple of the cores
PRIMES = (
    ("barrett", "none", 0),
    ("barrett", "none", 0),
    ("folded", "none", 60),
    ("sparse", "medha", 60),
    ("sparse", "medha", 54),
    ("sparse", "word48", 48),
)


def column(rng: np.random.Generator, values: Sequence[_Value]) -> list[_Value]:
    """A value for each design: every one of ``values`` as often as any other, in random order."""
    repeated = [values[i % len(values)] for i in range(DESIGNS)]
    return [repeated[i] for i in rng.permutation(DESIGNS)]


def random_designs() -> list[RpauDesign]:
    """The designs of this run, which follow from the tests' seed."""
    rng = np.random.default_rng(int(os.environ["RINGSMITH_TEST_SEED"]))
    cores = column(rng, (1, 2, 4, 8))
    dyadic = [
        int(kind == "one") or int(DYADIC[kind] * own)
        for kind, own in zip(column(rng, list(DYADIC)), cores, strict=True)
    ]
    expanding = [i for i, lanes in enumerate(dyadic) if 1 <= lanes <= MAX_PRNG_LANES]
    seeds = [0] * DESIGNS
    for i in rng.permutation(expanding)[::2]:
        seeds[i] = int(rng.integers(1, 8, endpoint=True))
    log_ns = column(rng, (8, 8, 9, 10))
    primes = column(rng, PRIMES)
    work_polys = rng.integers(6, 12, DESIGNS, endpoint=True).tolist()
    ultra = [int(rng.integers(0, polys - 2)) for polys in work_polys]
    widths = [bits or int(rng.integers(30, 60, endpoint=True)) for _, _, bits in primes]
    rpaus, modulus_banks = column(rng, (2, 3, 4)), column(rng, (1, 2, 3, 4, 5, 8))
    narrow_rpaus, narrow_bits = [0] * DESIGNS, [0] * DESIGNS
    for i in [i for i, (reduction, _, _) in enumerate(primes) if reduction == "folded"][::2]:
        modulus_banks[i] = 1
        narrow_rpaus[i] = int(rng.integers(1, rpaus[i]))
        narrow_bits[i] = int(rng.integers(44, MAX_NARROW_BITS, endpoint=True))
    smaller = [0] * DESIGNS
    for i in [i for i, n in enumerate(log_ns) if n > 8][::2]:
        smaller[i] = 1
    targets, key_rams = ["xilinx"] * DESIGNS, column(rng, ("block", "ultra"))
    banks = [
        int(rng.choice([0, *range(3, polys - own + 1)]))
        for polys, own in zip(work_polys, ultra, strict=True)
    ]
    for i in [i for i, (reduction, _, _) in enumerate(primes) if reduction == "barrett"][:2]:
        targets[i], key_rams[i] = "ecp5", "block"  # which has no UltraRAM, and tiles of 18 bits
        ultra[i], banks[i], widths[i] = 0, 0, int(rng.integers(30, 36, endpoint=True))
    converters = [
        min(count, 2 * own) for count, own in zip(column(rng, (0, 1, 2, 4)), cores, strict=True)
    ]
    twiddles = column(rng, ("generated", "stored"))
    columns: dict[str, Sequence[object]] = {
        "name": [f"random{i}" for i in range(DESIGNS)],
        "log_n": log_ns,
        "word_bits": widths,
        "rpaus": rpaus,
        "cores": cores,
        "dyadic_cores": dyadic,
        "work_polys": work_polys,
        "key_polys": rng.integers(2, 12, DESIGNS, endpoint=True).tolist(),
        "constants": rng.integers(4, 20, DESIGNS, endpoint=True).tolist(),
        "program_words": [128] * DESIGNS,
        "reduction": [reduction for reduction, _, _ in primes],
        "modulus_banks": modulus_banks,
        "interconnect": column(rng, ("ring", "gather")),
        "twiddles": twiddles,
        "work_uram_polys": ultra,
        "work_block_banks": banks,
        "key_ram": key_rams,
        "family": [family for _, family, _ in primes],
        "prng": ["trivium" if count else "none" for count in seeds],
        "seeds": seeds,
        "link": column(rng, (False, True)),
        "larger_rings": column(rng, (0, 1, 2)),
        "smaller_rings": smaller,
        "narrow_rpaus": narrow_rpaus,
        "narrow_bits": narrow_bits,
        "target": targets,
        "hop_cycles": column(rng, (1, 1, 2, 3)),
        "converters": converters,
        "conversions": [int(rng.integers(1, 6)) if count else 0 for count in converters],
        "core_multipliers": [
            multipliers if each == "stored" else 2
            for each, multipliers in zip(twiddles, column(rng, (1, 2)), strict=True)
        ],
    }
    columns["host_bits"] = column(rng, (0, 128))
    columns["coprocessors"] = column(rng, (1, 2))
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [RpauDesign(**row) for row in rows]


def test_the_random_designs_vary_every_parameter() -> None:
    designs = random_designs()
    assert len(designs) >= 12
    assert len(designs) * RANDOM_PROGRAMS >= 200
    for field in fields(RpauDesign):
        values = {getattr(design, field.name) for design in designs}
        assert len(values) > 1 or field.name in ("program_words", "platform"), field.name
    assert any(design.dyadic_cores == 0 for design in designs)
    assert any(design.dyadic_cores == 2 * design.cores for design in designs)
    assert sum(design.prng == "trivium" for design in designs) >= 3


@pytest.mark.full
@pytest.mark.parametrize("index", range(DESIGNS))
def test_random_programs_on_a_random_design_equal_the_model(
    index: int, rng: np.random.Generator
) -> None:
    design = random_designs()[index]
    print(design)
    coprocessor = RtlCoprocessor(design)
    seeds = [int(seed) for seed in rng.integers(0, 2**32, RANDOM_PROGRAMS)]
    found = compare(coprocessor, design, seeds, LENGTH)
    assert found.programs == RANDOM_PROGRAMS
    assert found.polynomials > 0


CORNERS: dict[str, dict[str, Any]] = {
    # Every set of another size, rows of words a cycle on both units, one cycle a hop.
    "several-primes": {
        "modulus_banks": 3,
        "work_polys": 12,
        "key_polys": 9,
        "dyadic_cores": 4,
        "interconnect": "gather",
        "twiddles": "stored",
        "work_uram_polys": 10,
    },
    # Banks of four polynomials, the last of one.
    "banks": {
        "log_n": 11,
        "cores": 1,
        "work_polys": 12,
        "work_uram_polys": 9,
        "dyadic_cores": 1,
        "link": True,
    },
    # Banks of four polynomials, of one, and of three and two in block RAM.
    "block-banks": {
        "log_n": 11,
        "cores": 1,
        "work_polys": 13,
        "work_uram_polys": 5,
        "work_block_banks": 3,
        "dyadic_cores": 1,
        "link": True,
    },
    # One multiplier a core: rows take two cycles pointwise, in a broadcast and in
    # sub-polynomials, too. Keys come while programs run.
    "one-multiplier": {
        "twiddles": "stored",
        "core_multipliers": 1,
        "cores": 1,
        "dyadic_cores": 0,
        "larger_rings": 1,
        "smaller_rings": 1,
        "log_n": 9,
        "link": True,
        "hop_cycles": 2,
        "converters": 2,
        "conversions": 2,
        "host_bits": 64,
    },
    "sparse-without-dyadic": {
        "modulus_banks": 2,
        "cores": 1,
        "dyadic_cores": 0,
        "reduction": "sparse",
        "family": "word48",
        "word_bits": 48,
        "key_ram": "block",
    },
}


@pytest.mark.parametrize(
    "corner",
    # Banks of four polynomials, and of one, are among those of "block-banks", too.
    [pytest.param(name, marks=pytest.mark.full) if name == "banks" else name for name in CORNERS],
)
def test_random_programs_on_a_corner_design_equal_the_model(
    small_design: RpauDesign, corner: str, rng: np.random.Generator
) -> None:
    design = replace(small_design, name=corner, **CORNERS[corner])
    coprocessor = RtlCoprocessor(design, assertions=True)
    compare(coprocessor, design, [int(seed) for seed in rng.integers(0, 2**32, 8)], LENGTH)


@pytest.mark.full
@pytest.mark.parametrize("cores", [1, 32])
def test_the_smallest_and_the_widest_row_equal_the_model(
    small_design: RpauDesign, cores: int, rng: np.random.Generator
) -> None:
    """A row of one butterfly, and a polynomial of four rows."""
    design = replace(
        small_design,
        name=f"row{cores}",
        cores=cores,
        rpaus=2,
        dyadic_cores=2 * cores,
        twiddles="stored",
        modulus_banks=2,
    )
    coprocessor = RtlCoprocessor(design, assertions=cores == 1)
    compare(coprocessor, design, [int(seed) for seed in rng.integers(0, 2**32, 5)], LENGTH)
