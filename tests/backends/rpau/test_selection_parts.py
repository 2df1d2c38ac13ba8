"""The parts of instruction selection, each alone: placement, emission, transfer, sums, division."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.interpreted import random_inputs, run_both

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.rpau.compiler.base_conversions import Division
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.fusion import Fusion, InitialValue
from ringsmith.backends.rpau.compiler.key_sums import KeySums
from ringsmith.backends.rpau.compiler.limb_layout import Layout, layouts
from ringsmith.backends.rpau.compiler.select import check_supported
from ringsmith.backends.rpau.compiler.selection import Placement, SelectionContext
from ringsmith.backends.rpau.compiler.transfer import Transfer
from ringsmith.backends.rpau.compiler.virtual import VirtualMemory
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.errors import CompileError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.graph.subroutines import Cut
from ringsmith.params import KeyShape

PRIMES = 4
"""Three data primes and, last, a special prime; each is larger than the one before it."""
DATA, SPECIAL = (0, 1, 2), 3


@pytest.fixture
def design(small_design: RpauDesign) -> RpauDesign:
    """Two RPAUs of two modulus banks: limb 0 and 2 share an RPAU, and so do 1 and 3."""
    return replace(small_design, rpaus=2, modulus_banks=2, larger_rings=1, constants=64)


def program(degree: int = 1 << 8) -> SubroutineGraph:
    """A graph without nodes."""
    primes = tuple(_core.prime_search(bits, degree, 1)[0] for bits in range(30, 30 + PRIMES))
    roots = tuple(_core.smallest_root(q, degree) for q in primes)
    return SubroutineGraph(degree, primes, roots, (SPECIAL,), {"relin": KeyShape(3)})


ORDER = SlotOrder((0, 1))
LAYOUT = Layout(ORDER, tuple(range(PRIMES)))


def context(graph: SubroutineGraph, design: RpauDesign) -> SelectionContext:
    """The graph's inputs placed, nothing emitted."""
    made = SelectionContext.of(expand(graph), design, LAYOUT, per_rpau=False)
    for node in graph.nodes:
        if node.op == "input":
            made.placement.put(node.id, made.memory.fresh(node.type.base))
    return made


def emitted(emitter: Emitter) -> list[tuple[str, int]]:
    """Opcodes with the masks of their RPAUs."""
    return [
        (each.instruction.operation.name, each.instruction.mask) for each in emitter.instructions
    ]


def test_a_limb_is_written_over_only_when_no_later_node_reads_it() -> None:
    graph = program()
    a, b = graph.input("a", DATA), graph.input("b", DATA)
    product = graph.mul(a, b)
    total = graph.add(product, a)
    graph.output(total, "y")
    again = graph.add(total, b)
    graph.output(again, "z")
    memory = VirtualMemory(ORDER, 1)
    placement = Placement(expand(graph), LAYOUT, memory)
    for value in (a, b):
        placement.put(value, memory.fresh(DATA))
    expected = {product: None, total: product, again: b}  # total is an output, and stays
    for node in graph.nodes:
        if node.op in ("mul", "add"):
            target = placement.target(node)
            over = expected[node.id]
            known = [placement.location[value] for value in placement.location]
            assert target == placement.location[over] if over is not None else target not in known
            placement.put(node.id, target)
        if node.op == "output":
            placement.keep(node.operands[0], node.type.base)
        placement.done(node)


def test_each_limb_of_a_value_dies_with_the_last_node_that_reads_this_limb() -> None:
    graph = program()
    coefficients = graph.intt(graph.input("a", DATA))
    raised = [graph.mod_up(coefficients, digit, (*DATA, SPECIAL)) for digit in DATA]
    memory = VirtualMemory(ORDER, 1)
    placement = Placement(expand(graph), LAYOUT, memory)
    placement.put(coefficients, memory.fresh(DATA))
    for digit, value in zip(DATA, raised, strict=True):
        node = graph.nodes[value]
        assert placement.dies(coefficients, digit, node)
        over = placement.over(coefficients, [digit], node)
        assert over == {digit: placement.location[coefficients][digit]}
        (later,) = placement.over(coefficients, [(digit + 1) % 3], node).values()
        assert (later == placement.location[coefficients][(digit + 1) % 3]) == (digit == 2)
        placement.done(node)


def test_a_value_that_shares_its_limbs_with_another_is_not_written_over() -> None:
    graph = program()
    a = graph.input("a", DATA)
    fewer = graph.drop_limbs(a, DATA[:2])
    negated = graph.neg(fewer)
    graph.output(graph.add(a, a), "y")
    memory = VirtualMemory(ORDER, 1)
    placement = Placement(expand(graph), LAYOUT, memory)
    placement.put(a, memory.fresh(DATA))
    placement.put(fewer, {limb: placement.location[a][limb] for limb in DATA[:2]})
    placement.done(graph.nodes[fewer])
    assert not placement.dies(fewer, 0, graph.nodes[negated])


@pytest.mark.parametrize(("per_rpau", "masks"), [(False, [0b11, 0b1]), (True, [0b1, 0b10, 0b1])])
def test_one_instruction_serves_the_rpaus_of_a_modulus_bank(
    design: RpauDesign, per_rpau: bool, masks: list[int]
) -> None:
    memory = VirtualMemory(ORDER, 1)
    emitter = Emitter(program(), design, LAYOUT, memory, per_rpau=per_rpau)
    a = memory.fresh(DATA)
    emitter.emit(DATA, "add", dst=a, a=a, b=a)
    assert emitted(emitter) == [("add", mask) for mask in masks]
    separate = {0: memory.reserve(0b1), 1: memory.reserve(0b10)}
    emitter.emit((0, 1), "mul", dst=separate, a=separate, b=separate)
    assert emitted(emitter)[-2:] == [("mul", 0b1), ("mul", 0b10)]


def test_constants_that_agree_where_both_have_values_are_one(design: RpauDesign) -> None:
    emitter = Emitter(program(), design, LAYOUT, VirtualMemory(ORDER, 1), per_rpau=False)
    first = emitter.constant({0: 5, 1: 6})
    assert emitter.constant({2: 7}) == first
    assert emitter.constant({2: 8}) != first
    assert emitter.constants[first] == {0: 5, 1: 6, 2: 7}


def test_in_a_larger_ring_each_sub_polynomial_gets_its_instruction(design: RpauDesign) -> None:
    graph = program(1 << 9)
    memory = VirtualMemory(ORDER, design.sub_polys(9))
    emitter = Emitter(graph, design, LAYOUT, memory, per_rpau=False)
    a = memory.fresh((0, 1))
    assert memory.masks == [0b11] * 2
    emitter.transform((0, 1), "ntt", a, a)
    emitter.transform((0, 1), "intt", a, a)
    names = [name for name, _ in emitted(emitter)]
    assert names == ["split", "ntt", "ntt", "intt", "intt", "join"]


def test_a_transfer_goes_to_one_modulus_bank_at_a_time(design: RpauDesign) -> None:
    unlinked = replace(design, link=False)
    memory = VirtualMemory(ORDER, 1)
    emitter = Emitter(program(), unlinked, LAYOUT, memory, per_rpau=False)
    transfer = Transfer(program(), unlinked, LAYOUT, emitter)
    poly = memory.reserve(0b1)
    arrived = transfer.send(0, poly, (1, 2, 3), emitter.ones(), emitter.zeros())
    assert emitted(emitter) == [("broadcast", 0b11), ("broadcast", 0b11), ("reduce", 0b1)]
    assert arrived.keys() == {1, 2, 3}
    assert poly not in arrived.values()


@pytest.mark.parametrize(("source", "reduced"), [(0, False), (2, True)])
def test_words_of_a_smaller_prime_that_a_link_unit_brings_need_no_reduction(
    design: RpauDesign, source: int, reduced: bool
) -> None:
    memory = VirtualMemory(ORDER, 1)
    emitter = Emitter(program(), design, LAYOUT, memory, per_rpau=False)
    transfer = Transfer(program(), design, LAYOUT, emitter)
    poly = memory.reserve(0b1)
    transfer.send(source, poly, (1,), emitter.ones(), emitter.zeros())
    assert emitted(emitter) == [("send", 0b11), *[("reduce", 0b10)] * reduced]


@pytest.mark.parametrize("initial", [False, True])
@pytest.mark.parametrize("eager", [False, True])
def test_first_products_initialise_an_accumulator_that_is_not_pre_initialised(
    design: RpauDesign, initial: bool, eager: bool
) -> None:
    graph = program()
    c = graph.input("c", DATA)
    digits = [graph.input(f"d{index}", (*DATA, SPECIAL)) for index in DATA]
    total = graph.nodes[graph.ksk_inner_product(digits, "relin", 0, DATA)]
    fusion = Fusion(
        frozenset(),
        {total.id: InitialValue(c, DATA, (SPECIAL,))} if initial else {},
        {digit: [(total, index)] for index, digit in enumerate(digits)} if eager else {},
    )
    selected = context(graph, design)
    sums = KeySums(selected, fusion, seeded=())
    for digit in digits:
        sums.served(graph.nodes[digit])
        assert len(selected.emitter.instructions) == 0 or eager
    sums.total(total)
    names = [name for name, _ in emitted(selected.emitter)]
    # Bank 0 has two limbs, bank 1 two; the special prime's accumulator is never pre-initialised.
    first = (
        ["affine", "affine", "dmul_key", "dmac_key", "dmac_key"] if initial else ["dmul_key"] * 2
    )
    assert names == [*first, *["dmac_key"] * 4]
    assert {key.digit for key in sums.keys} == set(DATA)


def test_a_division_sends_the_last_limb_and_subtracts_what_arrives(design: RpauDesign) -> None:
    graph = program()
    x = graph.input("x", (*DATA, SPECIAL))
    node = graph.nodes[graph.mod_down(x, SPECIAL)]
    selected = context(graph, design)
    before = dict(selected.placement.location[x])
    quotient = Division(selected).quotient(node)
    names = [name for name, _ in emitted(selected.emitter)]
    assert names[0] == "intt"
    assert names.count("ntt") == 2  # a bank each
    assert names[-2:] == ["scale_sub"] * 2
    assert quotient.keys() == set(DATA)
    assert selected.placement.location[x] == before


def test_a_division_with_a_summand_keeps_the_summand_that_is_read_later(
    design: RpauDesign,
) -> None:
    graph = program()
    x, c = graph.input("x", (*DATA, SPECIAL)), graph.input("c", DATA)
    node = graph.nodes[graph.mod_down(x, SPECIAL)]
    graph.output(graph.add(c, node.id), "y")
    graph.output(graph.add(c, c), "z")
    selected = context(graph, design)
    Division(selected).quotient(node, c)
    written = {
        each.instruction.values[0]
        for each in selected.emitter.instructions
        if each.instruction.operation.name in ("scale_add", "sub", "affine", "ntt")
    }
    assert written.isdisjoint(selected.placement.location[c].values())
    assert [name for name, _ in emitted(selected.emitter)][-2:] == ["sub"] * 2


def test_a_node_without_a_rule_is_refused_by_name() -> None:
    graph = program()
    a = graph.input("a", DATA, "coeff")
    graph.output(graph.decompose(a, 0, 8, DATA), "y")
    with pytest.raises(CompileError, match="architecture rpau has no decompose"):
        check_supported(graph)


# ---- Rotations that share a value's digits, and numbers: the interpreter's bits on the model -----


DESIGN = replace(
    load_design("nano"), name="shares", log_n=8, rpaus=6, work_polys=24, key_polys=48, constants=128
)
ROTATED, LAST = (0, 1, 2, 3), 4
ELEMENTS = (1, 3, 5, 511)


def empty(keys: dict[str, int], log_degree: int = 8) -> SubroutineGraph:
    n = 1 << log_degree
    primes = tuple(q for bits in range(42, 47) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    return SubroutineGraph(
        n,
        primes,
        roots,
        (LAST,),
        {name: KeyShape(digits) for name, digits in keys.items()},
    )


def rotations(*, shared: bool = True, log_degree: int = 8) -> SubroutineGraph:
    """Rotations of one value, each times a weight, added up."""
    graph = empty({f"galois:{element}": len(ROTATED) for element in ELEMENTS}, log_degree)
    c0, c1 = (graph.input(name, ROTATED) for name in ("c0", "c1"))
    cut = Cut((1,) * len(ROTATED), "fast_base_conv", (*ROTATED, LAST))
    digits = graph.digits(c1, cut) if shared else None
    total = None
    for element in ELEMENTS:
        key = f"galois:{element}"
        if digits is None:
            pair = graph.key_switch(c1, key, cut, (LAST,), element, [c0])
        else:
            pair = graph.mod_down(graph.key_product(digits, key, element, [c0]), LAST)
        weighted = graph.mul(pair, graph.input(f"w{element}", ROTATED))
        total = weighted if total is None else graph.add(total, weighted)
    for half, value in enumerate(graph.halves(total or 0)):
        graph.output(value, f"y{half}")
    return graph


def names(executable: Executable) -> Counter[str]:
    """How often each operation occurs, counted in RPAUs."""
    found: Counter[str] = Counter()
    for word in executable.words:
        instruction = decode(word)
        found[instruction.operation.name] += instruction.mask.bit_count()
    return found


@pytest.mark.parametrize(
    "shape",
    [
        {"rpaus": 5},
        {"rpaus": 8},
        {"rpaus": 7, "link": True},
        {"rpaus": 2, "modulus_banks": 3},
        {"rpaus": 6, "work_polys": 12, "key_polys": 8},
        {"rpaus": 6, "prng": "trivium", "seeds": 4},
        {"rpaus": 6, "dyadic_cores": 0},
    ],
    ids=str,
)
def test_rotations_that_share_digits_have_the_interpreters_bits(shape: dict[str, int]) -> None:
    run_both(rotations(), replace(DESIGN, **shape), np.random.default_rng(1))


def test_rotations_share_digits_in_a_larger_ring() -> None:
    design = replace(DESIGN, larger_rings=1, work_polys=48)
    run_both(rotations(log_degree=9), design, np.random.default_rng(2), seeded=())


def test_shared_digits_are_transformed_once_and_permuted_for_each_rotation() -> None:
    design = replace(DESIGN, rpaus=5)
    shared, apart = (compile_graph(rotations(shared=each), design) for each in (True, False))
    digits, divisions = 4 * len(ROTATED), 2 * len(ROTATED) * len(ELEMENTS)
    assert names(shared)["ntt"] == digits + divisions
    assert names(apart)["ntt"] == len(ELEMENTS) * digits + divisions
    moved = len(ELEMENTS) - 1  # one is by the identity
    assert names(shared)["automorph"] == moved * (len(ROTATED) * 5 + len(ROTATED))
    assert shared.cycles < apart.cycles


def test_the_special_prime_of_shared_digits_lies_on_several_rpaus() -> None:
    expanded = expand(rotations())
    _, shared = layouts(expanded, replace(DESIGN, rpaus=8))
    (digits,) = expanded.switches
    assert digits.moved
    places = [shared.slots(digit, (LAST,)) for digit in digits.transformed]
    assert len({slot for (slot,) in places}) > 1
    for product in digits.products:
        assert [shared.slots(digit, (LAST,)) for digit in product.digits] == places


def test_products_with_moved_digits_are_added_up_at_once_and_begin_with_what_is_added() -> None:
    expanded = expand(rotations())
    (digits,) = expanded.switches
    fusion = Fusion.of(expanded, preinitialised=False, eager=True)
    for product in digits.products:
        assert all(digit in fusion.eager for digit in product.digits)
        assert fusion.initial[product.sums[0]].primes == (LAST,)


def test_numbers_multiply_and_add_words_in_one_step_where_that_is_possible() -> None:
    graph, random = empty({}), np.random.default_rng(3)
    a, b = (graph.input(name, ROTATED) for name in "ab")
    q = np.array([graph.primes[i] for i in ROTATED], dtype=object)[:, None]
    k, c = (
        [int(x) % int(p) for x, p in zip(random.integers(1 << 62, size=4), q[:, 0], strict=True)]
        for _ in range(2)
    )
    scaled = graph.mul_scalar(a, k)
    graph.output(graph.add_scalar(scaled, c), "both")
    graph.output(graph.add(graph.mul_scalar(b, k), a), "sum")
    kept = graph.mul_scalar(b, k)
    graph.output(kept, "product")
    graph.output(graph.add_scalar(kept, c), "later")
    executable, inputs = compile_graph(graph, DESIGN), random_inputs(graph, random)
    x, y = (inputs[name].astype(object) for name in "ab")
    factor, addend = (np.array(each, dtype=object)[:, None] for each in (k, c))
    found = RpauDevice(ModelCoprocessor(DESIGN)).execute(
        CompiledGraph(graph, executable), inputs, {}
    )
    for name, expected in (
        ("both", x * factor + addend),
        ("sum", y * factor + x),
        ("product", y * factor),
        ("later", y * factor + addend),
    ):
        np.testing.assert_array_equal(found.outputs[name], (expected % q).astype(np.uint64), name)
    assert names(executable)["affine"] == 3 * len(ROTATED)  # the others are one step
    assert names(executable)["scale_add"] == len(ROTATED)
