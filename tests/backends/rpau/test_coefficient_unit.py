"""The coefficient unit: conversions of all RPAUs' residues, and permuted coefficients.

Model and RTL are held to the formulas of ``ringsmith.hdl.base_conversion``, and to each other's
cycles.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.conversions import addresses, conversion_words, placed, segments
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace, Coprocessor, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import check, encode, parse_instruction
from ringsmith.backends.rpau.isa.instruction_set import Instruction, instruction, latencies
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.hdl import base_conversion
from ringsmith.hdl.base_conversion import Conversion
from ringsmith.hdl.instrument import Instrument
from ringsmith.runtime import open_device

SMALL = RpauDesign(
    name="converting",
    log_n=8,
    word_bits=30,
    rpaus=4,
    cores=2,
    dyadic_cores=0,
    work_polys=8,
    key_polys=1,
    constants=4,
    program_words=32,
    reduction="barrett",
    modulus_banks=2,
    twiddles="stored",
    converters=1,
    conversions=4,
)
DESIGNS = {
    "one": SMALL,
    "two": replace(SMALL, converters=2, work_uram_polys=1, dyadic_cores=1),
    "far": replace(SMALL, rpaus=5, cores=1, converters=2, hop_cycles=3, link=True),
    "wide": replace(SMALL, word_bits=54, rpaus=2, converters=4, hop_cycles=2),
    "widest": replace(SMALL, word_bits=54, rpaus=2, cores=4, converters=8, hop_cycles=2),
    "narrow": replace(
        SMALL,
        log_n=9,
        cores=1,
        smaller_rings=1,
        word_bits=60,
        narrow_rpaus=2,
        narrow_bits=50,
        reduction="folded",
        modulus_banks=1,
    ),
}


def primes_of(design: RpauDesign) -> list[list[int]]:
    """Two primes for each RPAU, as wide as its words: of its modulus banks, if it has as many."""
    needed = 2 * design.rpaus
    found = {bits: _core.prime_search(bits, design.n, needed) for bits in design.widths}
    return [
        [found[design.bits_of(rpau)][each * design.rpaus + rpau] for rpau in range(design.rpaus)]
        for each in range(2)
    ]


def conversions_of(design: RpauDesign, primes: Sequence[Sequence[int]]) -> list[Conversion]:
    """Lift to the last set from all but the last RPAU, scale's first step there, digits' way up."""
    rpaus, (first, last) = design.rpaus, primes
    some, everyone = range(rpaus - 1), range(rpaus)
    return [
        placed(base_conversion.lift(first[:-1], last), some, everyone, rpaus),
        placed(base_conversion.divide(first[:-1], last, 65537), some, everyone, rpaus),
        placed(
            base_conversion.fast_base_conversion(first[1:], last), everyone[1:], everyone, rpaus
        ),
        placed(base_conversion.lift(last, first[:1]), everyone, [0], rpaus),
    ]


def program_of(design: RpauDesign) -> list[Instruction]:
    """Each conversion once, in parallel with a permutation where that may be."""
    everyone, end = (1 << design.rpaus) - 1, design.rpaus - 1
    return [
        instruction("convert", everyone, dst=4, a=0, first=0, last=end - 1, conversion=0),
        instruction("convert_own", everyone, dst=5, a=0, b=1, first=0, last=end - 1, conversion=1),
        instruction("convert", everyone, dst=6, a=0, first=1, last=end, conversion=2),
        instruction("convert", everyone, dst=1, a=1, first=0, last=end, conversion=3),
        instruction("permute", 0b11, dst=7, a=2, element=3),
        instruction("permute", 0b10, prime=0, dst=3, a=2, element=2 * design.n - 1),
        instruction("halt"),
    ]


def expected(
    design: RpauDesign,
    conversions: Sequence[Conversion],
    start: Sequence[Sequence[Words]],
    q: Sequence[int],
) -> list[dict[int, Words]]:
    """By RPAU, what the program leaves behind, in Python's integers."""
    rpaus = design.rpaus
    a, b, c = ([each[i].tolist() for each in start] for i in range(3))
    found: list[dict[int, Words]] = [{} for _ in range(rpaus)]

    def put(poly: int, columns: Sequence[Sequence[int]]) -> None:
        for rpau in range(rpaus):
            found[rpau][poly] = np.array([words[rpau] for words in columns], dtype=np.uint64)

    def taken(words: Sequence[Sequence[int]], first: int, last: int) -> list[list[int]]:
        zeros = [0] * design.n
        rows = [w if first <= i <= last else zeros for i, w in enumerate(words)]
        return [list(column) for column in zip(*rows, strict=True)]

    lift, divide, fast, back = conversions
    put(4, [lift.apply(x) for x in taken(a, 0, rpaus - 2)])
    own = zip(*b, strict=True)
    put(5, [divide.apply(x[:-1], y) for x, y in zip(taken(a, 0, rpaus - 2), own, strict=True)])
    put(6, [fast.apply(x) for x in taken(a, 1, rpaus - 1)])
    put(1, [back.apply(x) for x in taken(b, 0, rpaus - 1)])
    for rpau, poly, element in ((0, 7, 3), (1, 7, 3), (1, 3, 2 * design.n - 1)):
        numbers = [i * element % (2 * design.n) for i in range(design.n)]
        words = c[rpau]
        permuted = [words[i] if i < design.n else -words[i - design.n] % q[rpau] for i in numbers]
        found[rpau][poly] = np.array(permuted, dtype=np.uint64)
    return found


def load(
    coprocessor: Coprocessor,
    design: RpauDesign,
    polys: Sequence[Sequence[Words]],
    conversions: Sequence[Conversion],
) -> None:
    """Moduli, twiddles, conversions, polynomials and the program."""
    primes = primes_of(design)
    for number, of_set in enumerate(primes[: design.modulus_banks]):
        for rpau, prime in enumerate(of_set):
            root = _core.smallest_root(prime, design.n)
            for space, words in prime_tables(prime, root, design, design.log_n, rpau).loads():
                coprocessor.write(AddressSpace[space], rpau, number, words)
    for index, conversion in enumerate(conversions):
        coprocessor.write(AddressSpace.CONVERSION, 0, index, conversion_words(design, conversion))
    for rpau, own in enumerate(polys):
        for index, words in enumerate(own):
            coprocessor.write(AddressSpace.POLY, rpau, index, words)
    words = [encode(each) for each in program_of(design)]
    coprocessor.load_program(np.array(words, dtype=np.uint64))


def drawn(design: RpauDesign, rng: np.random.Generator) -> list[list[Words]]:
    """By RPAU, polynomials 0 and 2 in set 0 and 1 in the last one."""
    primes = primes_of(design)
    return [
        [rng.integers(0, primes[number][rpau], design.n, dtype=np.uint64) for number in (0, -1, 0)]
        for rpau in range(design.rpaus)
    ]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full) if name == "widest" else name for name in DESIGNS],
)
def test_model_and_rtl_convert_as_the_formulas_do(name: str, rng: np.random.Generator) -> None:
    design = DESIGNS[name]
    polys = drawn(design, rng)
    primes = primes_of(design)
    wanted = expected(design, conversions_of(design, primes), polys, primes[0])
    latency = latencies(design)
    cycles = {}
    for coprocessor in (
        ModelCoprocessor(design),
        RtlCoprocessor(design, assertions=True, instrument=Instrument.BRIEF),
    ):
        load(coprocessor, design, polys, conversions_of(design, primes))
        cycles[coprocessor.name] = coprocessor.run(10**6).cycles
        for rpau, results in enumerate(wanted):
            for index, words in results.items():
                np.testing.assert_array_equal(
                    coprocessor.read(AddressSpace.POLY, rpau, index),
                    words,
                    f"{coprocessor.name} {rpau} {index}",
                )
    assert cycles["rtl"] == cycles["model"]
    assert cycles["model"] >= 4 * latency["convert"] + 2 * latency["permute"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("convert p4, p0, i0, i3, t0 @0-2", "leaves out RPAUs of design converting"),
        ("convert p4, p0, i2, i1, t0 @all", "inputs are RPAUs 2 … 1"),
        ("convert p4, p0, i0, i4, t0 @all", "last = 4 is not in 0 … 3"),
        ("convert p4, p0, i0, i3, t4 @all", "conversion = 4 is not in 0 … 3"),
        ("convert_own p4, p0, p1, i0, i3, t1 @all", "at most 2 in design converting"),
        ("permute p4, p4, g3 @0", "dst and a are one polynomial"),
    ],
)
def test_what_the_unit_cannot_do_is_refused(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        check(parse_instruction(text, SMALL), SMALL)


def test_a_design_without_converters_has_no_coefficient_unit() -> None:
    design = replace(SMALL, converters=0, conversions=0)
    with pytest.raises(ProgramError, match="take a design with converters"):
        check(parse_instruction("convert p4, p0, i0, i3, t0 @all", SMALL), design)
    with pytest.raises(DeviceError, match="has no address space"):
        ModelCoprocessor(design).write(AddressSpace.CONVERSION, 0, 0, np.zeros(1, dtype=np.uint64))
    with pytest.raises(ParameterError, match="needs at least one conversion"):
        replace(SMALL, conversions=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("convert p4, p0, i0, i3, t3 @all", "conversion 3 was never written"),
        ("convert p4, p0, i0, i2, t1 @all", "use convert_own"),
        ("convert_own p4, p0, p1, i0, i2, t0 @all", "use convert"),
        ("convert p4, p7, i0, i2, t0 @all", "p7 was never written"),
    ],
)
def test_the_model_refuses_what_was_not_loaded(
    text: str, message: str, rng: np.random.Generator
) -> None:
    coprocessor, primes = ModelCoprocessor(SMALL), primes_of(SMALL)
    load(coprocessor, SMALL, drawn(SMALL, rng), conversions_of(SMALL, primes)[:3])
    program = [encode(parse_instruction(line, SMALL)) for line in (text, "halt")]
    coprocessor.load_program(np.array(program, dtype=np.uint64))
    with pytest.raises(DeviceError, match=message):
        coprocessor.run(10**6)


def test_conversions_belong_to_the_device_and_not_to_an_rpau() -> None:
    words = np.zeros(len(addresses(SMALL)), dtype=np.uint64)
    with pytest.raises(DeviceError, match="the device has one for all of them: write RPAU 0"):
        ModelCoprocessor(SMALL).write(AddressSpace.CONVERSION, 1, 0, words)
    assert sum(count for _, count in segments(SMALL)) == words.size


def test_conversions_are_loaded_over_the_registers(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    design, polys = SMALL, drawn(SMALL, rng)
    primes = primes_of(design)
    wanted = expected(design, conversions_of(design, primes), polys, primes[0])
    monkeypatch.setattr(
        "ringsmith.backends.rpau.backend.SimulatedBus",
        partial(SimulatedBus, instrument=Instrument.BRIEF),
    )
    device = open_device("rtl", design, via="axi-lite")
    assert isinstance(device, RpauDevice)
    load(device.coprocessor, design, polys, conversions_of(design, primes))
    device.coprocessor.run(10**6)
    for rpau, results in enumerate(wanted):
        for index, words in results.items():
            np.testing.assert_array_equal(
                device.coprocessor.read(AddressSpace.POLY, rpau, index), words
            )
