"""The parts of instruction selection, each alone: placement, emission, transfer, sums, division."""

from dataclasses import replace

import pytest

from ringsmith import _core
from ringsmith.backends.rpau.compiler.context import SelectionContext
from ringsmith.backends.rpau.compiler.division import Division
from ringsmith.backends.rpau.compiler.emission import Emitter
from ringsmith.backends.rpau.compiler.fusion import Fusion, InitialValue
from ringsmith.backends.rpau.compiler.key_sums import KeySums
from ringsmith.backends.rpau.compiler.limb_layout import Layout
from ringsmith.backends.rpau.compiler.placement import Placement
from ringsmith.backends.rpau.compiler.select import check_supported
from ringsmith.backends.rpau.compiler.transfer import Transfer
from ringsmith.backends.rpau.compiler.virtual import VirtualMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.errors import CompileError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
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
