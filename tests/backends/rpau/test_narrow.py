"""RPAUs of narrow words: which RPAU a prime lies in, and what these RPAUs compute."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.seal_world import expected, world_of

from ringsmith import _core, runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable, read_executable
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.design.register_table import AddressSpace
from ringsmith.backends.rpau.design.slot_order import SlotOrder, slot_order, spare_slots
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph.expand import expand
from ringsmith.hdl.packages.arith import mod_shorten_latency
from ringsmith.lower import lower_operation
from ringsmith.params import AutoParameters, CkksParameters, SecurityWarning, parameter_set

DESIGN = RpauDesign(
    name="narrowed",
    log_n=10,
    word_bits=60,
    rpaus=6,
    cores=2,
    dyadic_cores=2,
    work_polys=12,
    key_polys=16,
    constants=32,
    program_words=1024,
    reduction="folded",
    link=True,
    narrow_rpaus=4,
    narrow_bits=54,
)


def primes(sizes: Sequence[int], n: int = DESIGN.n) -> list[int]:
    found = {bits: _core.prime_search(bits, n, sizes.count(bits)) for bits in set(sizes)}
    return [found[bits].pop(0) for bits in sizes]


def order(*sizes: int, design: RpauDesign = DESIGN) -> tuple[int, ...]:
    """The RPAUs of slots for primes of some sizes, the last one special."""
    return slot_order(primes(sizes, design.n), (len(sizes) - 1,), design).rpaus


def test_rpaus_that_are_alike_are_taken_in_order() -> None:
    alike = replace(DESIGN, narrow_rpaus=0, narrow_bits=0)
    assert order(60, 54, 54, 60, design=alike) == tuple(range(6))
    nano = load_design("nano")
    banks = SlotOrder.plain(replace(nano, modulus_banks=2))
    assert [banks.rpau(slot) for slot in range(10)] == [*range(5)] * 2
    assert [banks.bank(slot) for slot in range(10)] == [0] * 5 + [1] * 5
    assert [banks.slot(slot // 5, slot % 5) for slot in range(10)] == [*range(10)]


def test_wide_primes_take_wide_rpaus_and_others_narrow_ones() -> None:
    assert order(60, 54, 54, 60) == (0, 2, 3, 1, 4, 5)
    assert order(54, 60, 54, 54) == (2, 0, 3, 4, 1, 5)  # the special prime is narrow: any is spare
    assert order(54, 54, 54, 60) == (2, 3, 4, 0, 1, 5)  # it is wide: the spare wide one is first


def test_narrow_primes_take_wide_rpaus_when_no_narrow_one_is_left() -> None:
    assert order(54, 54, 54, 54, 54, 60) == (2, 3, 4, 5, 1, 0)
    assert order(54, 54, 54, 54, 54, 54) == (2, 3, 4, 5, 0, 1)


def test_primes_that_only_narrow_words_hold_take_narrow_rpaus() -> None:
    # Words of 60 bits need 2^45 or more, words of 54 bits 2^39.
    design = replace(DESIGN, log_n=8)
    assert order(54, 54, 54, 44, 44, 60, design=design) == (4, 5, 1, 2, 3, 0)
    with pytest.raises(ProgramError, match="of 44 bits needs one of the 4 RPAUs of 54-bit words"):
        order(44, 44, 44, 44, 44, 60, design=design)


def test_more_wide_primes_than_wide_rpaus_are_refused_by_name() -> None:
    sizes = (60, 60, 54, 60)
    with pytest.raises(ProgramError) as refused:
        order(*sizes)
    third = primes(sizes)[3]
    assert str(refused.value) == (
        f"prime {third} of 60 bits needs one of the 2 RPAUs of 60-bit words of design narrowed, "
        "and primes before it have taken them all: choose primes of other sizes, or a design with "
        "another narrow_rpaus than 4"
    )


def test_slots_that_are_left_hold_the_special_prime_where_it_fits() -> None:
    for sizes, found in (((54, 54, 60), [3]), ((60, 54, 60), []), ((60, 54, 54), [3, 4, 5])):
        listed = primes(sizes)
        rpaus = slot_order(listed, (2,), DESIGN)
        assert spare_slots(listed[2], 3, rpaus, DESIGN) == found


def parameters(*sizes: int) -> CkksParameters:
    *data, special = sizes
    with pytest.warns(SecurityWarning):
        return CkksParameters.create(
            n=DESIGN.n, prime_bits=data, special_bits=special, scale_bits=40, security=None
        )


def test_key_switching_shares_a_wide_special_prime_among_wide_rpaus() -> None:
    graph = lower_operation("relinearize", parameters(54, 54, 60), 2)
    own, shared = layouts(expand(graph), DESIGN)
    assert own.order == shared.order == SlotOrder((2, 3, 0, 1, 4, 5))
    assert shared.limbs == (0, 1, 2, 2)
    everywhere = lower_operation("relinearize", parameters(60, 60, 54), 2)
    assert layouts(expand(everywhere), DESIGN)[1].limbs[:4] == (0, 1, 2, 2)
    full = lower_operation("relinearize", parameters(60, 54, 60), 2)
    assert len(layouts(expand(full), DESIGN)) == 1


def test_medhas_parameters_lie_as_its_paper_has_them() -> None:
    medha = replace(
        load_design("medha"), reduction="folded", family="none", narrow_rpaus=6, narrow_bits=54
    )
    for name in ("medha-set1", "medha-set2"):
        chosen = parameter_set(name)
        assert parameter_limits(medha).error(chosen) == ""
        found = slot_order(chosen.primes, (chosen.limbs,), medha)
        wide = [q.bit_length() > 54 for q in chosen.primes]
        assert all(found.rpau(slot) < 4 for slot, each in enumerate(wide) if each)


def test_limits_refuse_more_wide_primes_than_there_are_wide_rpaus() -> None:
    limits = parameter_limits(DESIGN)
    assert limits.error(parameters(60, 54, 54, 60)) == ""
    assert "needs one of the 2 RPAUs of 60-bit" in limits.error(parameters(60, 60, 60))
    assert (limits.min_prime_bits, limits.max_prime_bits) == (39, 60)


def test_a_search_for_parameters_keeps_to_the_wide_rpaus_that_there_are() -> None:
    design = replace(DESIGN, log_n=14, rpaus=8)  # four wide ones
    wish = AutoParameters(design=design.name, limits=parameter_limits(design))
    with pytest.raises(ParameterError, match="needs one of the 4 RPAUs of 60-bit words"):
        wish.candidate(design.n, 3, 55)  # q_0 and the special prime are wide, too
    assert wish.candidate(design.n, 2, 55).limbs == 3
    assert wish.candidate(design.n, 3, 54).limbs == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"narrow_rpaus": 6}, "narrow_rpaus = 6 is outside 0 … 5"),
        ({"narrow_rpaus": 0}, "narrow_bits = 54 is outside 0 … 0"),
        ({"narrow_bits": 55}, "narrow_bits = 55 is outside 44 … 54"),
        ({"narrow_bits": 43}, "narrow_bits = 43 is outside 44 … 54"),
        ({"word_bits": 54}, "narrow_bits = 54 is outside 38 … 53"),
        ({"word_bits": 30}, "word_bits = 30 with narrow_rpaus = 4 leave no width"),
        (
            {"modulus_banks": 2},
            "modulus_banks = 2 with narrow_rpaus = 4: .* choose modulus_banks = 1",
        ),
        ({"reduction": "barrett"}, "reduction = 'barrett' with narrow_rpaus = 4: words that"),
        (
            {"reduction": "sparse", "family": "medha"},
            "reduction = 'sparse' with narrow_rpaus = 4: .* choose reduction = 'folded'",
        ),
    ],
)
def test_narrow_words_are_refused_where_they_cannot_be(
    change: dict[str, int | str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(DESIGN, **change)  # type: ignore[arg-type]


def test_a_design_says_how_wide_the_words_of_each_rpau_are() -> None:
    assert [DESIGN.bits_of(rpau) for rpau in range(6)] == [60, 60, 54, 54, 54, 54]
    assert DESIGN.widths == (60, 54)
    assert DESIGN.all_bits == 336
    assert load_design("nano").widths == (48,)


# ---- Designs whose last RPAUs have narrow words: what arrives there is shortened -----------------


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
    assert all(after[name] - before[name] == mod_shorten_latency() for name in longer)


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


# ---- Microsoft SEAL's bits on a design whose last RPAUs have narrow words, by model and RTL ------


@pytest.mark.parametrize(
    ("operation", "sizes"),
    [
        ("multiply_relinearize", (54, 54, 60)),  # the special prime in both wide RPAUs
        ("multiply_relinearize", (60, 54, 54)),  # a wide digit in narrow RPAUs
        ("rescale", (54, 54, 60, 60)),  # by a wide prime
        ("rotate:1", (60, 54, 60)),
    ],
)
def test_an_operation_has_seals_bits(
    operation: str, sizes: tuple[int, ...], rng: np.random.Generator
) -> None:
    here = world_of(parameters(*sizes), (1,))
    limbs = here.parameters.limbs
    operands, result = expected(here, operation, limbs, rng)
    polynomials = np.concatenate([here.polynomials(operand) for operand in operands])
    program = lower_operation(operation.partition(":")[0], here.parameters, limbs, steps=1)
    inputs = dict(zip(program.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(program, SMALL, seeded=())
    assert compiled.executable is not None
    for coprocessor in (ModelCoprocessor(SMALL), RtlCoprocessor(SMALL, assertions=True)):
        found = runtime.run_graph(compiled, RpauDevice(coprocessor), inputs, here.keys)
        outputs = np.stack(list(found.outputs.values()))
        np.testing.assert_array_equal(outputs, here.polynomials(result), err_msg=coprocessor.name)
        assert found.cycles == compiled.executable.cycles
