"""Designs whose last RPAUs have narrow words: what arrives there is shortened."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.test_slot_order import DESIGN, parameters, primes

from ringsmith import _core, runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import AddressSpace
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.hdl.latencies import MOD_SHORTEN_LATENCY
from ringsmith.lower import lower_operation

SMALL = replace(
    DESIGN,
    rpaus=5,
    narrow_rpaus=3,
    cores=1,
    dyadic_cores=1,
    program_words=512,
    smaller_rings=2,
    hop_cycles=2,
)
"""Two RPAUs of 60-bit words and three of 54; one build serves all tests on the RTL."""

OTHER = replace(
    SMALL,
    word_bits=48,
    narrow_bits=42,
    interconnect="gather",
    hop_cycles=3,
    twiddles="stored",
    prng="trivium",
    seeds=3,
    larger_rings=1,
    link=False,
)


def test_random_programs_on_the_rtl_equal_the_model(rng: np.random.Generator) -> None:
    check_random_programs(SMALL, rng)


@pytest.mark.full
def test_random_programs_on_other_narrow_words_equal_the_model(rng: np.random.Generator) -> None:
    check_random_programs(OTHER, rng)


def check_random_programs(design: RpauDesign, rng: np.random.Generator) -> None:
    seeds = rng.integers(2**28, size=4).tolist()
    coprocessor = RtlCoprocessor(design, assertions=True)
    assert compare(coprocessor, design, seeds, 40).polynomials > 0


def words_at_the_edges(q: int, width: int, wide: int, count: int) -> list[int]:
    """Words of an RPAU that is ``wide``, around those that shorten to 0 and to 2^width."""
    bits, tail = folded.split(q)
    scaled, word = tail << width - bits, 1 << width
    found = []
    for high in range(1, 1 << wide - width):
        low = -high * scaled if scaled < 0 else word - high * scaled
        found += [high * word + low + step for step in range(-2, 3)]
    return (found * count)[:count]


@pytest.mark.parametrize("size", [54, -53], ids=["below a power of two", "above one"])
def test_raw_words_that_arrive_are_the_same_words_on_model_and_rtl(size: int) -> None:
    """A ``send`` brings words to memory that no instruction reduces."""
    step = 2 * SMALL.n
    near = (((1 << abs(size)) + (1 if size < 0 else -1) * step * k + 1) for k in range(1, 9999))
    q = next(each for each in near if _core.is_prime(each) and folded.fits(each, 54))
    sent = np.array(words_at_the_edges(q, 54, 60, SMALL.n), dtype=np.uint64)
    found = []
    for coprocessor in (ModelCoprocessor(SMALL), RtlCoprocessor(SMALL, assertions=True)):
        load(coprocessor, [primes((60,))[0]] * 2 + [q] * 3)
        coprocessor.write(AddressSpace.POLY, 0, 1, sent)
        coprocessor.load_program(assemble("send p2, p1, r0 @0,3\nhalt", SMALL))
        coprocessor.run(10_000)
        found.append(coprocessor.read(AddressSpace.POLY, 3, 2))
    assert np.array_equal(*found)
    assert all((int(a) - int(b)) % q == 0 for a, b in zip(found[0], sent, strict=True))
    assert int(found[0].max()) >> 54 == 0


def test_the_model_shortens_no_word_without_a_modulus() -> None:
    coprocessor = ModelCoprocessor(SMALL)
    coprocessor.write(AddressSpace.POLY, 0, 1, np.full(SMALL.n, 1 << 54, dtype=np.uint64))
    coprocessor.load_program(assemble("send p2, p1, r0 @0,3\nhalt", SMALL))
    with pytest.raises(DeviceError, match="RPAU 3: no modulus was loaded"):
        coprocessor.run(10_000)
    coprocessor.write(AddressSpace.POLY, 0, 1, np.full(SMALL.n, (1 << 54) - 1, dtype=np.uint64))
    coprocessor.run(10_000)
    assert set(coprocessor.read(AddressSpace.POLY, 3, 2).tolist()) == {(1 << 54) - 1}


def load(coprocessor: Coprocessor, listed: list[int]) -> None:
    """Writes the tables of a prime of each RPAU."""
    for rpau, q in enumerate(listed):
        root = _core.smallest_root(q, coprocessor.design.n)
        for space, words in prime_tables(q, root, coprocessor.design, rpau=rpau).loads():
            coprocessor.write(AddressSpace[space], rpau, 0, words)


def test_a_transfer_takes_as_long_as_words_are_shortened_whoever_receives() -> None:
    before = latencies(replace(SMALL, narrow_rpaus=0, narrow_bits=0))
    after = latencies(SMALL)
    longer = {name for name in before if before[name] != after[name]}
    assert longer == {"broadcast", "send"}
    assert all(after[name] - before[name] == MOD_SHORTEN_LATENCY for name in longer)


OPERATIONS = [
    ("multiply_relinearize", (54, 54, 60)),  # the special prime in both wide RPAUs
    ("rescale", (54, 54, 60, 60)),  # by a wide prime
    ("rotate", (60, 50, 45, 54)),
]


@pytest.mark.parametrize(("operation", "sizes"), OPERATIONS)
def test_an_operation_on_the_rtl_has_the_interpreters_bits(
    operation: str, sizes: tuple[int, ...]
) -> None:
    compiled = compiled_for(operation, sizes, SMALL)
    devices = (ModelCoprocessor(SMALL), RtlCoprocessor(SMALL, assertions=True))
    found = [run_checked(compiled, RpauDevice(device)) for device in devices]
    assert found[0] == found[1]
    assert compiled.executable is not None
    assert found[0][1] == compiled.executable.cycles


@pytest.mark.parametrize(
    ("operation", "sizes"),
    [
        *OPERATIONS,
        ("multiply_relinearize", (60, 54, 54, 60)),
        ("rescale", (60, 54, 54, 60)),
        ("relinearize_rescale", (54, 54, 60)),
    ],
)
@pytest.mark.parametrize("link", [True, False])
def test_an_operation_on_the_model_has_the_interpreters_bits(
    operation: str, sizes: tuple[int, ...], link: bool
) -> None:
    design = replace(DESIGN, link=link)
    assert run_checked(compiled_for(operation, sizes, design), RpauDevice(ModelCoprocessor(design)))


def compiled_for(
    operation: str, sizes: tuple[int, ...], design: RpauDesign
) -> runtime.CompiledGraph:
    chosen = parameters(*sizes)
    return runtime.compile_graph(lower_operation(operation, chosen, chosen.limbs), design)


def test_a_word_that_is_too_wide_for_an_rpau_is_refused() -> None:
    words = np.full(SMALL.n, 1 << 54, dtype=np.uint64)
    for coprocessor in (ModelCoprocessor(SMALL), RtlCoprocessor(SMALL, assertions=True)):
        coprocessor.write(AddressSpace.POLY, 1, 0, words)
        with pytest.raises(DeviceError, match=r"RPAU 2, .*and words of .* have 54 bits there"):
            coprocessor.write(AddressSpace.POLY, 2, 0, words)


@cache
def executable() -> Executable:
    chosen = parameters(60, 54, 54, 60)
    return compile_graph(lower_operation("relinearize", chosen, 3), DESIGN)


def test_an_executable_keeps_the_order_of_slots_in_its_file() -> None:
    assert executable().rpaus == (0, 2, 3, 1, 4, 5)
    assert read_executable(executable().to_json()) == executable()


@pytest.mark.parametrize(
    ("rpaus", "message"),
    [
        ([0, 2, 3, 1, 4, 4], "its slots are not the RPAUs of its design, each once"),
        ([0, 2, 3, 1, 4], "its slots are not the RPAUs of its design, each once"),
        ([0, 2, 3, 1, 4, 6], "its slots are not the RPAUs of its design, each once"),
        ([0, 2, 3, 4, 1, 5], "has 60 bits and design narrowed takes primes of 27 to 54 bits"),
        ([], "has 60 bits and design narrowed takes primes of 27 to 54 bits"),
    ],
)
def test_a_file_whose_slots_do_not_hold_their_primes_is_refused(
    rpaus: list[int], message: str
) -> None:
    with pytest.raises(ProgramError, match=message):
        read_executable(replace(executable(), rpaus=tuple(rpaus)).to_json())


def test_files_of_designs_without_narrow_words_say_nothing_of_them() -> None:
    alike: RpauDesign = replace(DESIGN, narrow_rpaus=0, narrow_bits=0)
    made = compile_graph(lower_operation("rescale", parameters(60, 54, 60), 2), alike)
    table = json.loads(made.to_json())["content"]
    assert "rpaus" not in table
    assert not {"narrow_rpaus", "narrow_bits", "hop_cycles"} & table["design"].keys()
    assert read_executable(made.to_json()) == made
