"""Rings of other degrees than N on one device: what the model computes, against the core.

A polynomial of a larger ring lies in sub-polynomials of N words. Sub-polynomial j holds the
coefficients j*N … (j+1)*N
- 1, and its transform is that of the core, cut into sub-polynomials of N words.
"""

from dataclasses import replace

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.debug.random_program import RandomProgram, random_program
from ringsmith.backends.rpau.design.constants import (
    Words,
    prime_tables,
    source_sub_poly,
    sub_poly_stages,
)
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import (
    check,
    encode,
    format_instruction,
    parse_instruction,
)
from ringsmith.backends.rpau.isa.instruction_set import Instruction, instruction
from ringsmith.errors import DeviceError, ParameterError, ProgramError

RPAU = 1
SCRATCH = 4
"""Polynomials that hold results; the sub-polynomials of the source come first."""


def rings_of(design: RpauDesign) -> range:
    return range(design.min_log_n, design.max_log_n + 1)


def prepared(design: RpauDesign, coprocessor: Coprocessor, log_degree: int) -> tuple[int, int]:
    """Sets the ring and loads a prime with its tables; returns the prime and its root."""
    coprocessor.set_ring(log_degree)
    (prime,) = _core.prime_search(design.word_bits, 1 << log_degree, 1)
    root = _core.smallest_root(prime, 1 << log_degree)
    for space, words in prime_tables(prime, root, design, log_degree).loads():
        coprocessor.write(AddressSpace[space], RPAU, 0, words)
    constants = np.zeros(design.constants, dtype=np.uint64)
    for index, (split, join) in enumerate(factors_of(prime, root, design, log_degree)):
        constants[2 * index : 2 * index + 2] = split, join
    coprocessor.write(AddressSpace.CONSTANT, RPAU, 0, constants)
    return prime, root


def factors_of(prime: int, root: int, design: RpauDesign, log_degree: int) -> list[tuple[int, int]]:
    stages = sub_poly_stages(prime, root, design, log_degree)
    return list(dict.fromkeys((pair.split, pair.join) for stage in stages for pair in stage))


def run(coprocessor: Coprocessor, program: list[Instruction]) -> int:
    words = [encode(each) for each in [*program, instruction("halt")]]
    coprocessor.load_program(np.array(words, dtype=np.uint64))
    return coprocessor.run(10**7).cycles


def write(coprocessor: Coprocessor, words: Words, sub_polys: int, first: int = 0) -> None:
    for sub_poly, part in enumerate(np.split(words, sub_polys)):
        coprocessor.write(AddressSpace.POLY, RPAU, first + sub_poly, part)


def read(coprocessor: Coprocessor, sub_polys: int, first: int = 0) -> Words:
    return np.concatenate(
        [coprocessor.read(AddressSpace.POLY, RPAU, first + i) for i in range(sub_polys)]
    )


def transform(design: RpauDesign, prime: int, root: int, log_degree: int) -> list[Instruction]:
    """The forward transform of sub-polynomials 0 …, out of place behind the stages between them."""
    known = factors_of(prime, root, design, log_degree)
    program = []
    for stage in sub_poly_stages(prime, root, design, log_degree):
        for pair in stage:
            k1 = 2 * known.index((pair.split, pair.join))
            program.append(instruction("split", 1 << RPAU, dst=pair.first, b=pair.second, k1=k1))
    for sub_poly in range(design.sub_polys(log_degree)):
        program.append(
            instruction("ntt", 1 << RPAU, dst=SCRATCH + sub_poly, a=sub_poly, sub_poly=sub_poly)
        )
    return program


def back(design: RpauDesign, prime: int, root: int, log_degree: int) -> list[Instruction]:
    """The inverse transform, in place."""
    known = factors_of(prime, root, design, log_degree)
    program = []
    for sub_poly in range(design.sub_polys(log_degree)):
        where = SCRATCH + sub_poly
        program.append(instruction("intt", 1 << RPAU, dst=where, a=where, sub_poly=sub_poly))
    for stage in reversed(sub_poly_stages(prime, root, design, log_degree)):
        for pair in stage:
            k1 = 2 * known.index((pair.split, pair.join)) + 1
            dst, b = SCRATCH + pair.first, SCRATCH + pair.second
            program.append(instruction("join", 1 << RPAU, dst=dst, b=b, k1=k1))
    return program


def check_transforms(
    design: RpauDesign, coprocessor: Coprocessor, log_degree: int, rng: np.random.Generator
) -> None:
    prime, root = prepared(design, coprocessor, log_degree)
    sub_polys = design.sub_polys(log_degree)
    words = rng.integers(0, prime, 1 << log_degree, dtype=np.uint64)
    words[:3] = [0, 1, prime - 1]
    write(coprocessor, words, sub_polys)
    run(coprocessor, transform(design, prime, root, log_degree))
    expected = _core.ntt_forward(words, prime, root)
    np.testing.assert_array_equal(read(coprocessor, sub_polys, SCRATCH), expected)
    if sub_polys == 1:
        np.testing.assert_array_equal(read(coprocessor, sub_polys), words)  # a stays as it was
    run(coprocessor, back(design, prime, root, log_degree))
    np.testing.assert_array_equal(read(coprocessor, sub_polys, SCRATCH), words)


def check_automorph(
    design: RpauDesign,
    coprocessor: Coprocessor,
    log_degree: int,
    element: int,
    rng: np.random.Generator,
) -> None:
    prime, root = prepared(design, coprocessor, log_degree)
    degree, sub_polys = 1 << log_degree, design.sub_polys(log_degree)
    coefficients = rng.integers(0, prime, degree, dtype=np.uint64)
    exponents = np.arange(degree) * element % (2 * degree)
    moved = np.zeros(degree, dtype=np.uint64)
    moved[exponents % degree] = np.where(
        exponents < degree, coefficients, (prime - coefficients) % np.uint64(prime)
    )
    write(coprocessor, _core.ntt_forward(coefficients, prime, root), sub_polys)
    program = []
    for sub_poly in range(sub_polys):
        source = source_sub_poly(design, log_degree, element, sub_poly)
        operands = {
            "dst": SCRATCH + sub_poly,
            "a": source,
            "element": element,
            "sub_poly": sub_poly,
        }
        program.append(instruction("automorph", 1 << RPAU, **operands))
    run(coprocessor, program)
    expected = _core.ntt_forward(moved, prime, root)
    np.testing.assert_array_equal(read(coprocessor, sub_polys, SCRATCH), expected)


ELEMENTS = (3, 5, 7, 9, -1, -3)


@pytest.fixture(scope="module")
def many(small_design: RpauDesign) -> RpauDesign:
    """Rings of degree 2^8 to 2^12 around N = 2^10."""
    return replace(
        small_design, name="many", log_n=10, larger_rings=2, smaller_rings=2, work_polys=9
    )


@pytest.mark.parametrize("twiddles", ["generated", "stored"])
def test_transforms_of_every_ring_are_the_cores(
    many: RpauDesign, twiddles: str, rng: np.random.Generator
) -> None:
    design = replace(many, twiddles=twiddles)
    coprocessor = ModelCoprocessor(design)
    for log_degree in rings_of(design):
        check_transforms(design, coprocessor, log_degree, rng)


def test_a_device_of_n_16384_transforms_in_rings_of_4096_to_65536(
    many: RpauDesign, rng: np.random.Generator
) -> None:
    design = replace(many, log_n=14, cores=16, word_bits=54)
    coprocessor = ModelCoprocessor(design)
    for log_degree in rings_of(design):
        check_transforms(design, coprocessor, log_degree, rng)


def test_automorphisms_of_every_ring_are_those_of_coefficients(
    many: RpauDesign, rng: np.random.Generator
) -> None:
    coprocessor = ModelCoprocessor(many)
    for log_degree in rings_of(many):
        for element in ELEMENTS:
            check_automorph(many, coprocessor, log_degree, element % (2 << log_degree), rng)


def test_random_programs_in_every_ring_take_the_cycles_of_the_timeline(
    many: RpauDesign, rng: np.random.Generator
) -> None:
    coprocessor = ModelCoprocessor(many)
    for log_degree in rings_of(many):
        program = random_program(many, int(rng.integers(2**32)), 60, log_degree=log_degree)
        assert load_and_run(coprocessor, program, log_degree) == program.cycles


@pytest.mark.parametrize(
    ("log_degree", "text", "message"),
    [
        (
            10,
            "ntt p0, p0, sub_poly1",
            "sub-polynomial 1 of a polynomial of degree 2^10",
        ),
        (
            11,
            "ntt p0, p0, sub_poly2",
            "sub-polynomial 2 of a polynomial of degree 2^11",
        ),
        (9, "split p0, p1, c0", "degree 2^9 do not lie in sub-polynomials"),
        (10, "automorph p0, p1, g2049", "element 2049 must be below 2N = 2048"),
    ],
)
def test_the_model_refuses_what_the_ring_does_not_have(
    many: RpauDesign, log_degree: int, text: str, message: str
) -> None:
    coprocessor = ModelCoprocessor(many)
    prepared(many, coprocessor, log_degree)
    words = np.zeros(min(1 << log_degree, many.n), dtype=np.uint64)
    for poly in range(2):
        coprocessor.write(AddressSpace.POLY, RPAU, poly, words)
    with pytest.raises(DeviceError, match=message.replace("^", r"\^")):
        run(coprocessor, [parse_instruction(f"{text} @{RPAU}", many)])


def test_what_was_written_for_another_ring_counts_as_never_written(many: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(many)
    prepared(many, coprocessor, 10)
    coprocessor.write(AddressSpace.POLY, RPAU, 0, np.zeros(many.n, dtype=np.uint64))
    coprocessor.set_ring(10)  # the same: nothing changes
    run(coprocessor, [instruction("add", 1 << RPAU, dst=1, a=0, b=0)])
    coprocessor.set_ring(11)
    with pytest.raises(DeviceError, match="p0, which was never written"):
        run(coprocessor, [instruction("add", 1 << RPAU, dst=1, a=0, b=0)])
    coprocessor.write(AddressSpace.POLY, RPAU, 0, np.zeros(many.n, dtype=np.uint64))
    with pytest.raises(DeviceError, match="twiddle table was never loaded"):
        run(coprocessor, [instruction("ntt", 1 << RPAU, dst=1, a=0)])


def test_a_ring_outside_the_design_is_refused(many: RpauDesign, small_design: RpauDesign) -> None:
    for log_degree in (7, 13):
        with pytest.raises(DeviceError, match=f"degree 2.8 to 2.12, not 2.{log_degree}"):
            ModelCoprocessor(many).set_ring(log_degree)
    with pytest.raises(DeviceError, match="sub_poly = 1 is not in 0 … 0"):
        ModelCoprocessor(small_design).load_program(
            np.array([encode(instruction("ntt", 1, dst=0, a=0, sub_poly=1))], dtype=np.uint64)
        )
    with pytest.raises(ProgramError, match="larger_rings = 0"):
        check(instruction("split", 1, dst=0, b=1, k1=0), small_design)
    with pytest.raises(ParameterError, match="larger_rings = 3 is outside 0 … 2"):
        replace(many, larger_rings=3)
    with pytest.raises(ParameterError, match="smaller_rings = 3 is outside 0 … 2"):
        replace(many, smaller_rings=3)


def test_sub_poly_0_may_be_left_out_of_a_line(many: RpauDesign) -> None:
    for text in (
        "ntt p1, p0  @0",
        "ntt p1, p0, sub_poly3  @0",
        "automorph p1, p0, g3, sub_poly1  @0",
    ):
        assert format_instruction(parse_instruction(text, many)) == text
    assert parse_instruction("ntt p1, p0, sub_poly0 @0", many)["sub_poly"] == 0


@pytest.mark.parametrize("twiddles", ["generated", pytest.param("stored", marks=pytest.mark.full)])
def test_the_rtl_equals_the_model_in_every_ring(
    many: RpauDesign, twiddles: str, rng: np.random.Generator
) -> None:
    design = replace(many, log_n=9, smaller_rings=1, rpaus=2, program_words=128, twiddles=twiddles)
    coprocessor, model = RtlCoprocessor(design, assertions=True), ModelCoprocessor(design)
    for log_degree in rings_of(design):
        check_transforms(design, coprocessor, log_degree, rng)
        for element in ELEMENTS:
            check_automorph(design, coprocessor, log_degree, element % (2 << log_degree), rng)
        for seed in rng.integers(2**32, size=4):
            program = random_program(design, int(seed), 100, log_degree=log_degree)
            reports = [load_and_run(each, program, log_degree) for each in (coprocessor, model)]
            assert reports == [program.cycles] * 2
            for rpau, written in enumerate(program.written):
                for poly in written:
                    found = coprocessor.read(AddressSpace.POLY, rpau, poly)
                    np.testing.assert_array_equal(found, model.read(AddressSpace.POLY, rpau, poly))


def load_and_run(coprocessor: Coprocessor, program: RandomProgram, log_degree: int) -> int:
    coprocessor.set_ring(log_degree)
    for space, rpau, index, words in program.loads():
        coprocessor.write(AddressSpace[space], rpau, index, words)
    coprocessor.load_program(program.words)
    return coprocessor.run(10**7).cycles
