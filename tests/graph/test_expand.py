"""Key switching in primitives: the same words, and a record that names the right nodes."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.another_package.slow_oracle.integers import Interpreter
from tests.graph.random_graphs import (
    KEY_PRIMES,
    empty,
    every_op,
    graphs,
    random_inputs,
    random_keys,
)

from ringsmith.errors import ProgramError
from ringsmith.graph import Form, Origin
from ringsmith.graph.expand import Digits, Expanded, KeyProduct, expand
from ringsmith.graph.operations import Drops, Key, Op, Scale, Slots, operations
from ringsmith.graph.subroutines import Cut, SubroutineGraph
from ringsmith.graph.types import Kind
from ringsmith.params import CkksParameters, KeyShape, RlweParameters, parameter_set
from ringsmith.schemes.registry import SCHEMES, scheme_of

CUT = Cut((2, 1), "fast_base_conv", (0, 1, 2, 4, 5))
KEY_OPS = {"digits", "key_product", "key_switch", "half"}


def check_equal(
    graph: SubroutineGraph, *, integers: bool = False, keep_products: bool = False
) -> None:
    """Asserts that the core has the words of the expanded graph, and perhaps the integers, too."""
    random = np.random.default_rng(len(graph.nodes))
    inputs, keys = random_inputs(graph, random), random_keys(graph, random)
    expanded = expand(graph, keep_products=keep_products).graph
    found, wanted = (each.to_core().run(inputs, keys) for each in (graph, expanded))
    assert list(found) == list(wanted) == list(graph.outputs) == list(expanded.outputs)
    independent = Interpreter(graph, inputs, keys).run() if integers else {}
    for name, words in found.items():
        assert np.array_equal(words, wanted[name]), name
        assert name not in independent or words.tolist() == independent[name], name
        assert graph.outputs[name] == expanded.outputs[name]


def test_a_graph_of_every_op_has_the_words_of_its_expansion_and_of_the_integers() -> None:
    check_equal(every_op(), integers=True)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_random_graphs_have_the_words_of_their_expansions(graph: SubroutineGraph) -> None:
    check_equal(graph)


@settings(max_examples=12, deadline=None)
@given(graph=graphs())
def test_random_graphs_have_the_words_of_the_integers(graph: SubroutineGraph) -> None:
    check_equal(graph, integers=True)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_an_expanded_graph_has_polynomials_only_and_is_its_own_expansion(
    graph: SubroutineGraph,
) -> None:
    expanded = expand(graph)
    check_record(graph, expanded)
    assert {node.type.kind for node in expanded.graph.nodes} == {Kind.POLYNOMIAL}
    assert not KEY_OPS & {node.op for node in expanded.graph.nodes}
    again = expand(expanded.graph)
    assert again.graph.nodes == expanded.graph.nodes
    assert again.switches == ()
    assert list(again.sources) == [node.id for node in expanded.graph.nodes]


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_key_products_are_kept_with_their_halves_and_nothing_else_of_a_pair(
    graph: SubroutineGraph,
) -> None:
    check_equal(graph, keep_products=True)
    expanded = expand(graph, keep_products=True)
    assert expanded.switches == ()
    nodes = expanded.graph.nodes
    counts = Counter(node.op for node in graph.nodes)
    kept = Counter(node.op for node in nodes)
    assert kept["digits"] == counts["digits"] + counts["key_switch"]
    assert kept["key_product"] == counts["key_product"] + counts["key_switch"]
    assert kept["key_switch"] == kept["ksk_inner_product"] == 0
    for node, source in zip(nodes, expanded.sources, strict=True):
        kinds = {"digits": Kind.DIGITS, "key_product": Kind.PAIR}
        assert node.type.kind is kinds.get(node.op, Kind.POLYNOMIAL)
        if node.op == "key_product":
            halves = nodes[node.id + 1 : node.id + 3]
            assert [(each.op, each.operands) for each in halves] == [("half", (node.id,))] * 2
            assert [each.attrs["half"] for each in halves] == [0, 1]
            old = graph.nodes[source]
            assert node.attrs["key"] == old.attrs["key"]
            moved = old.op == "key_product"  # a key switch moves what it cuts
            assert node.attrs["element"] == (old.attrs["element"] if moved else 1)
    again = expand(expanded.graph)
    assert again.graph.nodes == expand(graph).graph.nodes


# ---- the record --------------------------------------------------------------------------------


def check_record(graph: SubroutineGraph, expanded: Expanded) -> None:
    """Asserts that every node that key switching was written as is named where it belongs."""
    cuts = [node for node in graph.nodes if node.op in ("digits", "key_switch")]
    assert len(expanded.switches) == len(cuts)
    nodes = expanded.graph.nodes
    assert list(expanded.sources) == sorted(expanded.sources)
    for new, source in zip(nodes, expanded.sources, strict=True):
        old = graph.nodes[source]
        assert old.op in (new.op, "digits", "key_product", "key_switch", "add_scalar")
    for node, record in zip(cuts, expanded.switches, strict=True):
        op = "decompose" if node.attrs["variant"] == "words" else "mod_up"
        raised = [nodes[i] for i in record.raised]
        assert [each.op for each in raised] == [op] * len(node.attrs["sizes"])
        ((cut,),) = {each.operands for each in raised}
        in_ntt = graph.type_of(node.operands[0]).form is Form.NTT
        assert (record.source is not None) == in_ntt
        assert not in_ntt or (nodes[cut].op, nodes[cut].operands) == ("intt", (record.source,))
        assert [nodes[i].op for i in record.transformed] == ["ntt"] * len(raised)
        assert [nodes[i].operands for i in record.transformed] == [(i,) for i in record.raised]
        keyed = [
            each
            for each in graph.nodes
            if each.op in ("key_product", "key_switch") and node.id in (each.id, each.operands[0])
        ]
        assert len(record.products) == len(keyed)
        for each, product in zip(keyed, record.products, strict=True):
            check_product(expanded.graph, record, product, each.attrs["key"])
    sums = [i for cut in expanded.switches for product in cut.products for i in product.sums]
    assert sorted(sums) == [node.id for node in nodes if node.op == "ksk_inner_product"]


def check_product(graph: SubroutineGraph, cut: Digits, product: KeyProduct, key: str) -> None:
    """Asserts that the record of a product says what its nodes are."""
    nodes = graph.nodes
    if product.digits != cut.transformed:
        assert cut.moved
        assert [nodes[i].op for i in product.digits] == ["automorph"] * len(cut.transformed)
        assert [nodes[i].operands for i in product.digits] == [(i,) for i in cut.transformed]
    for half, (total, each) in enumerate(zip(product.totals, product.sums, strict=True)):
        attrs = nodes[each].attrs
        assert (attrs["key"], attrs["half"]) == (key, half)
        assert attrs["digits"] == [*range(len(cut.transformed))]
        assert nodes[each].operands == product.digits
        initial, behind = product.initial[half], product.added[half]
        if initial is not None and behind is None:
            assert nodes[total].op == "add"
            total, multiple = nodes[total].operands
            scaled = nodes[multiple].op == "mod_up" and nodes[multiple].operands == (initial,)
            assert scaled or multiple == initial
        if nodes[total].op == "intt":
            (total,) = nodes[total].operands
        assert total == each
        if behind is not None:
            added, result = nodes[behind].operands
            assert (nodes[behind].op, added) == ("add", initial)
            divided = nodes[result].op == "mod_down" and nodes[result].operands[0]
            assert product.totals[half] in (result, divided)
    readers = [each for total in product.totals for each in nodes if total in each.operands]
    divided = {each.op for each in readers} == {"mod_down"}
    assert product.divisions == (tuple(each.id for each in readers) if divided else ())


def test_the_record_of_shared_digits_names_their_products() -> None:
    graph = empty()
    a, b = (graph.input(name, (0, 1, 2)) for name in "ab")
    digits = graph.digits(a, CUT)
    pairs = [
        graph.key_product(digits, "relin"),
        graph.key_product(digits, "galois:3", 3, [b]),
    ]
    for number, pair in enumerate(pairs):
        for half, value in enumerate(graph.halves(graph.mod_down(pair, (4, 5)))):
            graph.output(value, f"{number}.{half}")
    expanded = expand(graph)
    operations = {node.id: node.op for node in expanded.graph.nodes}
    assert list(operations.values())[2:] == [
        *("intt", "mod_up", "ntt", "mod_up", "ntt"),  # 2 … 6: the digits
        *("ksk_inner_product", "ksk_inner_product"),  # 7, 8
        *("automorph", "automorph", "automorph"),  # 9 … 11: of b, then of the digits
        *("ksk_inner_product", "ksk_inner_product", "mod_up", "add"),  # 12 … 15
        *("mod_down", "mod_down", "output", "output"),  # 16 … 19
        *("mod_down", "mod_down", "output", "output"),
    ]
    assert expanded.switches == (
        Digits(
            0,
            (3, 5),
            (4, 6),
            True,
            (
                KeyProduct((4, 6), (7, 8), (7, 8), divisions=(16, 17)),
                KeyProduct((10, 11), (12, 13), (15, 13), (9, None), divisions=(20, 21)),
            ),
        ),
    )


def test_the_record_of_a_key_switch_names_its_divisions_and_sums_behind_them() -> None:
    graph = empty()
    a, b = (graph.input(name, (0, 1, 2), Form.COEFF) for name in "ab")
    switched = graph.key_switch(a, "relin", CUT, (4, 5), 3, [b])
    fused = graph.key_switch(a, "galois:3", CUT, (2, 4, 5), 1, [b, a])
    for name, pair in {"switched": switched, "fused": fused}.items():
        for half, value in enumerate(graph.halves(pair)):
            graph.output(value, f"{name}.{half}")
    first, second = (each.products for each in expand(graph).switches)
    # 2, 3: b and a, moved; 4 … 7: digits; 8 … 13: sums, each transformed and divided; 14: plus b
    assert first == (KeyProduct((5, 7), (8, 9), (10, 12), (2, None), (14, None), (11, 13)),)
    (product,) = second
    assert product.initial == (1, 0)
    assert product.added == (None, None)
    check_record(graph, expand(graph))


# ---- what stays --------------------------------------------------------------------------------


def test_a_graph_without_pairs_and_key_switching_is_its_own_expansion(
    small: CkksParameters,
) -> None:
    graph = SubroutineGraph.for_parameters(small, {"relin": KeyShape(2)})
    graph.at_origin(Origin(4, "multiply"))
    x = graph.input("x", (0, 1))
    raised = [graph.ntt(graph.mod_up(graph.intt(x), digit, (0, 1, 5))) for digit in (0, 1)]
    graph.output(graph.mod_down(graph.ksk_inner_product(raised, "relin", 1, (0, 1)), 5), "y")
    graph.output(graph.mul_scalar(graph.add_scalar(x, (1, 2)), (3, 4)), "z")
    expanded = expand(graph)
    assert expanded.graph.nodes == graph.nodes
    assert expanded.switches == ()
    for field in ("n", "primes", "roots", "special", "extension", "keys", "max_nodes"):
        assert getattr(expanded.graph, field) == getattr(graph, field)


def test_every_node_has_the_origin_of_the_node_that_it_was_written_for() -> None:
    graph = empty()
    graph.at_origin(Origin(1, "input"))
    x = graph.input("x", KEY_PRIMES)
    graph.at_origin(Origin(2, "rotate"))
    pair = graph.key_switch(x, "relin", Cut((6,), "centred_digit", tuple(KEY_PRIMES)), (5,), 3)
    graph.at_origin(Origin(3, "output"))
    graph.output(graph.half(pair, 0), "y")
    first, *others, last = expand(graph).graph.nodes
    assert (first.origin, last.origin) == (Origin(1, "input"), Origin(3, "output"))
    assert {node.origin for node in others} == {Origin(2, "rotate")}


def test_a_graph_that_has_too_many_nodes_when_it_is_expanded_is_refused() -> None:
    graph = every_op()
    graph.max_nodes = len(graph.nodes)
    with pytest.raises(ProgramError, match=f"the graph has {len(graph.nodes)} nodes, its limit"):
        expand(graph)


# ---- The table of HE operations, ``ringsmith.graph.operations``, and those who read it -----------


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "subroutine-graph.md"
SETS = ("nano", "heaws")


def page_row(op: Op) -> str:
    """The line of the page that tells an operation."""
    record = op.record
    takes = "–" if not record.encrypted else " or ".join(map(str, record.takes))
    operands = f"{record.encrypted}" + (" + plain" if record.plain else "")
    makes = "as the largest" if record.makes is None else str(record.makes)
    drops = {
        Drops.NONE: "–",
        Drops.LAST: "1",
        Drops.ANY: "as many as asked",
        Drops.RAISED: "none: it has more",
    }[record.drops]
    key = "–" if record.key is None else record.key.value
    names = ", ".join(sorted(name.upper() for name in record.schemes))
    cells = (operands, takes, makes, drops, record.scale.value, record.noise.value, key, names)
    return f"| `{op}` | {' | '.join(cells)} |"


def test_the_page_tells_every_operation_as_the_table_does() -> None:
    lines = PAGE.read_text().splitlines()
    assert [row for row in map(page_row, Op) if row not in lines] == []
    printed = re.findall(r"^\| `(\w+)` \| [012](?: \+ plain)? \|", PAGE.read_text(), re.M)
    assert printed == [str(op) for op in Op]


@pytest.mark.parametrize("op", Op)
def test_a_record_is_whole(op: Op) -> None:
    record = op.record
    assert record.words
    assert record.schemes <= {scheme.name for scheme in SCHEMES}
    assert record.encrypted in (0, 1, 2)
    if not record.port:
        assert re.fullmatch(r"#[0-9a-f]{6}", record.colour)
    assert (record.scale is Scale.OWN) == (record.encrypted == 0)
    assert Op(str(op)) is op


def test_colours_differ() -> None:
    colours = [op.record.colour for op in Op if not op.record.port]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("name", [scheme.name for scheme in SCHEMES])
def test_every_operation_of_a_scheme_can_be_written(name: str) -> None:
    parameters = next(p for p in map(parameter_set, SETS) if p.scheme == name)
    for op in operations(name):
        result = _written(op, parameters)
        size = op.record.makes or op.record.takes[0]
        assert len(result) == size, op


def _written(op: Op, parameters: RlweParameters) -> tuple[int, ...]:
    record, limbs = op.record, parameters.limbs
    element = parameters.conjugation_element
    keys = dict.fromkeys(("relin", f"galois:{element}"), parameters.key_shape(limbs))
    used = {None: set(), Key.RELINEARIZATION: {"relin"}, Key.GALOIS: {f"galois:{element}"}}
    needed = {key: digits for key, digits in keys.items() if key in used[record.key]}
    graph = SubroutineGraph.for_parameters(parameters, needed, products=True)
    writer = scheme_of(parameters).writer(graph, parameters)
    operands = [writer.input(n, record.takes[0], limbs) for n in "xy"[: record.encrypted]]
    plain = writer.input("p", 1, limbs)[0] if record.plain else None
    return writer.write(op, operands, plain=plain, limbs=limbs - 1, element=element)


def test_meanings_in_the_clear() -> None:
    a, b = np.array([1.0, 2, 3, 4]), np.array([5.0, 6, 7, 8])
    slots = Slots(row=2, steps=1)
    expected = {
        Op.ADD: a + b,
        Op.SUB: a - b,
        Op.MULTIPLY: a * b,
        Op.NEGATE: -a,
        Op.ROTATE: [2, 1, 4, 3],
        Op.SWAP_COLUMNS: [3, 4, 1, 2],
        Op.CONJUGATE: a,
        Op.RELINEARIZE: a,
        Op.RESCALE: a,
        Op.MOD_SWITCH: a,
    }
    for op, values in expected.items():
        assert np.array_equal(op.record.meaning(a, b, slots), values), op
    assert np.array_equal(Op.SQUARE.record.meaning(a, a, slots), a * a)
    assert np.array_equal(Op.CONJUGATE.record.meaning(1j * a, b, slots), -1j * a)
