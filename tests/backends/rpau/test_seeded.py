"""Half keys expanded from seeds: what the model refuses, and the RTL against the core."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.debug.random_program import random_program
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.constants import modulus_words, seed_words
from ringsmith.backends.rpau.design.design import MAX_LOG_DEGREE, RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.errors import DeviceError, ParameterError, ProgramError

MAX_CYCLES = 1_000_000
A, DST = 1, 2


@pytest.fixture(scope="session")
def seeded_design(small_design: RpauDesign) -> RpauDesign:
    """N = 2^8, two RPAUs of two modulus banks, one dyadic core, three seeds."""
    return replace(small_design, name="seeded", rpaus=2, modulus_banks=2, prng="trivium", seeds=3)


def contents(design: RpauDesign, rng: np.random.Generator) -> tuple[list[int], list[Words]]:
    """A prime for each RPAU (set 1), and residues of it for A and DST."""
    primes = _core.prime_search(design.word_bits, design.n, design.rpaus)
    return primes, [rng.integers(0, q, (2, design.n), dtype=np.uint64) for q in primes]


def load(
    coprocessor: ModelCoprocessor | RtlCoprocessor,
    primes: list[int],
    polys: list[Words],
    seeds: Mapping[int, bytes],
    modulus_bank: int = 1,
) -> None:
    """Loads a modulus bank, A, DST and the seeds; RPAU i expands limb 7 + i of them."""
    for rpau, (prime, words) in enumerate(zip(primes, polys, strict=True)):
        coprocessor.write(
            AddressSpace.MODULUS, rpau, modulus_bank, modulus_words(prime, coprocessor.design)
        )
        coprocessor.write(AddressSpace.POLY, rpau, A, words[0])
        coprocessor.write(AddressSpace.POLY, rpau, DST, words[1])
        for index, seed in seeds.items():
            coprocessor.write(AddressSpace.SEED, rpau, index, seed_words(seed, 7 + rpau))


def execute(coprocessor: ModelCoprocessor | RtlCoprocessor, text: str) -> int:
    """Runs one instruction and halt: the cycles that the instruction takes."""
    program = assemble(f"{text}\nhalt", coprocessor.design)
    coprocessor.load_program(np.array(program, dtype=np.uint64))
    return coprocessor.run(MAX_CYCLES).cycles - latency.FETCH_CYCLES


@pytest.mark.parametrize("kind", ["model", "rtl"])
def test_products_with_expanded_halves_equal_the_core(
    seeded_design: RpauDesign, rng: np.random.Generator, kind: str
) -> None:
    design = seeded_design
    coprocessor = (
        ModelCoprocessor(design) if kind == "model" else RtlCoprocessor(design, assertions=True)
    )
    primes, polys = contents(design, rng)
    seeds = {0: rng.bytes(10), 2: b"\xff" * 10}
    for name, seed, digit in (
        ("dmul", 0, 0), ("dmac", 2, 127), ("dmac", 0, 3), ("dmul", 2, 1)
    ):  # fmt: skip
        load(coprocessor, primes, polys, seeds)
        cycles = execute(coprocessor, f"{name}_seed p{DST}, p{A}, s{seed}, d{digit} @all q1")
        assert cycles == latency.dyadic_seed_cycles(design)
        for rpau, q in enumerate(primes):
            half = _core.expand_seed_words(seeds[seed], digit, 7 + rpau, q, design.n)
            product = polys[rpau][0].astype(object) * half.astype(object)
            if name == "dmac":
                product += polys[rpau][1].astype(object)
            assert coprocessor.read(AddressSpace.POLY, rpau, DST).tolist() == (product % q).tolist()


SUB_POLYS = [(9, 11, 3), (15, 14, 0), (15, 15, 0), (15, 16, 1)]
"""log2 of N and of a ring's degree, and a sub-polynomial, for the model and the RTL alike."""


@pytest.mark.parametrize(
    ("kind", "log_n", "log_degree", "sub_poly"),
    [
        *(("model", *case) for case in [*SUB_POLYS, (13, 14, 1), (14, 15, 0), (14, 16, 2)]),
        *(("rtl", *case) for case in (SUB_POLYS[0], SUB_POLYS[-1])),
        *(pytest.param("rtl", *case, marks=pytest.mark.full) for case in SUB_POLYS[1:-1]),
    ],
)
def test_a_sub_poly_of_a_half_in_any_ring_equals_the_core(
    rng: np.random.Generator, kind: str, log_n: int, log_degree: int, sub_poly: int
) -> None:
    design = wide_design(log_n)
    coprocessor = open_wide(kind, log_n)
    coprocessor.set_ring(log_degree)
    n = min(1 << log_degree, design.n)
    (prime,) = _core.prime_search(design.word_bits, 1 << design.max_log_n, 1)
    polys = [rng.integers(0, prime, (2, n), dtype=np.uint64)]
    load(coprocessor, [prime], polys, {1: b"\x5a" * 10}, modulus_bank=0)
    cycles = execute(coprocessor, f"dmac_seed p{DST}, p{A}, s1, d3, sub_poly{sub_poly} @0")
    assert cycles == latency.dyadic_seed_cycles(design.in_ring(log_degree))
    block = sub_poly * max(1, design.n >> 14)
    half = _core.expand_seed_words(b"\x5a" * 10, 3, 7, prime, n, block)
    product = polys[0][0].astype(object) * half.astype(object) + polys[0][1].astype(object)
    assert coprocessor.read(AddressSpace.POLY, 0, DST).tolist() == (product % prime).tolist()


def wide_design(log_n: int) -> RpauDesign:
    """Runs rings from N / 2 to 4 N, or to 2^16, with seeds."""
    return RpauDesign(
        name=f"wide{log_n}",
        log_n=log_n,
        word_bits=40,
        rpaus=2,
        cores=2,
        dyadic_cores=4,
        work_polys=4,
        key_polys=1,
        constants=4,
        program_words=16,
        reduction="barrett",
        prng="trivium",
        seeds=2,
        larger_rings=min(2, MAX_LOG_DEGREE - log_n),
        smaller_rings=1,
    )


@cache
def open_wide(kind: str, log_n: int) -> ModelCoprocessor | RtlCoprocessor:
    design = wide_design(log_n)
    return ModelCoprocessor(design) if kind == "model" else RtlCoprocessor(design, assertions=True)


def test_a_sub_poly_that_the_ring_has_not_is_refused(rng: np.random.Generator) -> None:
    coprocessor = open_wide("model", 9)
    coprocessor.set_ring(10)
    (prime,) = _core.prime_search(40, 1 << 11, 1)
    load(
        coprocessor, [prime], [rng.integers(0, prime, (2, 512), dtype=np.uint64)], {1: bytes(10)}, 0
    )
    with pytest.raises(DeviceError, match="sub-polynomial 2 of a polynomial of degree 2"):
        execute(coprocessor, f"dmul_seed p{DST}, p{A}, s1, d0, sub_poly2 @0")


SHAPES: list[dict[str, int | str]] = [
    {"modulus_banks": 2},
    {"cores": 2, "dyadic_cores": 4, "word_bits": 60, "reduction": "sparse", "family": "medha"},
]


@pytest.mark.parametrize(
    "shape",
    [
        SHAPES[0],
        pytest.param(SHAPES[1], marks=pytest.mark.full),
        pytest.param({"word_bits": 48, "reduction": "folded"}, marks=pytest.mark.full),
        pytest.param({"log_n": 11, "cores": 8, "dyadic_cores": 16}, marks=pytest.mark.full),
        pytest.param({"log_n": 10, "word_bits": 30, "dyadic_cores": 2}, marks=pytest.mark.full),
    ],
    ids=str,
)
def test_random_programs_with_seeds_equal_the_model(
    seeded_design: RpauDesign, rng: np.random.Generator, shape: dict[str, int | str]
) -> None:
    design = replace(seeded_design, **shape)  # type: ignore[arg-type]
    coprocessor = RtlCoprocessor(design, assertions=True)
    for seed in rng.integers(0, 2**32, 10):
        program = random_program(design, int(seed), 60)
        model = ModelCoprocessor(design)
        reports = []
        for each in (coprocessor, model):
            for space, rpau, index, words in program.loads():
                each.write(AddressSpace[space], rpau, index, words)
            each.load_program(program.words)
            reports.append(each.run(MAX_CYCLES))
        assert reports[0] == reports[1]
        assert reports[0].cycles == program.cycles
        for rpau, written in enumerate(program.written):
            for poly in written:
                found, expected = (
                    each.read(AddressSpace.POLY, rpau, poly) for each in (coprocessor, model)
                )
                np.testing.assert_array_equal(found, expected)


def test_a_seed_that_was_never_written_is_refused(
    seeded_design: RpauDesign, rng: np.random.Generator
) -> None:
    coprocessor = ModelCoprocessor(seeded_design)
    load(coprocessor, *contents(seeded_design, rng), {0: bytes(10)})
    with pytest.raises(DeviceError, match="RPAU 0: expands seed 1, which was never written"):
        execute(coprocessor, f"dmul_seed p{DST}, p{A}, s1, d0 @all q1")


def test_a_design_without_a_prng_refuses_seeds_by_name(small_design: RpauDesign) -> None:
    with pytest.raises(ProgramError, match=r"dmac_seed: design small expands no seeds \(prng"):
        assemble("dmac_seed p0, p1, s0, d0 @0", small_design)
    with pytest.raises(DeviceError, match="has no address space"):
        ModelCoprocessor(small_design).write(AddressSpace.SEED, 0, 0, seed_words(bytes(10), 0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prng": "chacha"}, "prng = 'chacha'"),
        ({"seeds": 0}, "seeds = 0 with prng = 'trivium'"),
        ({"prng": "none"}, "seeds = 3 with prng = 'none'"),
        ({"seeds": 4097}, "seeds = 4097 is outside 0 … 4096"),
        ({"dyadic_cores": 0}, "dyadic_cores = 0 with prng = 'trivium'"),
        ({"log_n": 12, "cores": 16, "dyadic_cores": 32}, "dyadic_cores = 32 with prng"),
    ],
)
def test_designs_whose_prng_cannot_be_are_refused(
    seeded_design: RpauDesign, changes: dict[str, int | str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(seeded_design, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("seed", "limb"), [(bytes(9), 0), (bytes(10), 1 << 16), (bytes(10), -1)])
def test_entries_that_cannot_be_are_refused(seed: bytes, limb: int) -> None:
    with pytest.raises(ParameterError, match="must have 10, and the limb must be"):
        seed_words(seed, limb)


def test_words_of_a_seed_that_are_too_wide_are_refused(seeded_design: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(seeded_design)
    with pytest.raises(DeviceError, match="have 20 bits there"):
        coprocessor.write(AddressSpace.SEED, 0, 0, np.array([0, 1 << 20, 0, 0, 0], dtype=np.uint64))
    with pytest.raises(DeviceError, match="limb 65536 of seed 0 must be below 65536"):
        coprocessor.write(AddressSpace.SEED, 0, 0, np.array([0, 0, 0, 0, 1 << 16], dtype=np.uint64))
