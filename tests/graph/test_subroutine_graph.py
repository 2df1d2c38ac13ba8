"""The subroutine graph: node rules, the file and back, files from strangers."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.graph.random_graphs import every_op

from ringsmith.errors import InteropError, ProgramError
from ringsmith.graph import Form, Origin, SubroutineGraph, from_json, to_json
from ringsmith.graph.expand import expand
from ringsmith.graph.types import OPS
from ringsmith.params import BfvParameters, CkksParameters, KeyShape
from ringsmith.schemes.registry import scheme_of

Document = dict[str, Any]


@pytest.fixture(scope="module")
def graph(small: CkksParameters) -> SubroutineGraph:
    """Every primitive of CKKS at least once: nodes 0 … 17."""
    graph = SubroutineGraph.for_parameters(small, {"relin": KeyShape(2), "galois:9": KeyShape(5)})
    x, y = graph.input("x.0", (0, 1)), graph.input("x.1", (0, 1))
    total = graph.sub(graph.add(x, y), graph.neg(graph.mul(x, y)))
    graph.at_origin(Origin(3, "relinearize"))
    coefficients = graph.intt(graph.automorph(total, 9))
    digits = [graph.ntt(graph.mod_up(coefficients, digit, (0, 1, 5))) for digit in (0, 1)]
    keys = ("relin", "galois:9")
    sums = [graph.ksk_inner_product(digits, keys[half], half, (0, 1)) for half in (0, 1)]
    graph.output(graph.mod_down(sums[0], 5), "y.0")
    graph.output(graph.drop_limbs(sums[1], (0,)), "y.1")
    return graph


def document_of(graph: SubroutineGraph) -> Document:
    """The first line of a graph's file, and the others as its nodes."""
    head, *nodes = map(json.loads, to_json(graph).splitlines())
    return {**head, "nodes": nodes}


def text_of(document: Document) -> str:
    """The file of a document; nodes that are no list are one line."""
    nodes = document.pop("nodes")
    nodes = nodes if isinstance(nodes, list) else [nodes]
    return "\n".join(map(json.dumps, [document, *nodes]))


def test_the_file_and_back_is_the_same_graph(graph: SubroutineGraph) -> None:
    again = from_json(to_json(graph))
    assert again.nodes == graph.nodes
    assert (again.n, again.primes, again.roots) == (graph.n, graph.primes, graph.roots)
    assert (again.special, dict(again.keys)) == (graph.special, dict(graph.keys))
    assert to_json(again) == to_json(graph)
    assert {node.op for node in again.nodes} == {
        *("input", "output", "add", "sub", "neg", "mul", "automorph", "ntt", "intt", "mod_up"),
        *("ksk_inner_product", "mod_down", "drop_limbs"),
    }


def test_the_file_of_every_op_and_back_is_the_same_graph() -> None:
    graph = every_op()
    assert {node.op for node in graph.nodes} == set(OPS)
    for each in (graph, expand(graph).graph):
        again = from_json(to_json(each))
        assert again.nodes == each.nodes
        assert to_json(again) == to_json(each)


def test_the_file_is_what_the_architecture_page_shows(graph: SubroutineGraph) -> None:
    document = document_of(graph)
    assert list(document) == [
        *("format", "version", "n", "primes", "roots", "special", "extension", "keys", "nodes")
    ]
    assert document["format"] == "ringsmith-subroutine-graph"
    assert document["keys"] == {
        "relin": {"digits": 2, "base": [0, 1, 2, 3, 4, 5]},
        "galois:9": {"digits": 5, "base": [0, 1, 2, 3, 4, 5]},
    }
    assert document["nodes"][0] == {
        "id": 0,
        "op": "input",
        "operands": [],
        "attrs": {"name": "x.0", "base": [0, 1], "form": "ntt"},
    }


def test_the_interpreter_agrees_on_every_type(graph: SubroutineGraph) -> None:
    for each in (graph, every_op()):
        core = each.to_core()
        assert len(core) == len(each.nodes)
        for node in each.nodes:
            assert core.node_type(node.id) == (list(node.type.base), str(node.type.form))
            assert core.node_kind(node.id) == (str(node.type.kind), node.type.count)


def test_inputs_and_outputs_are_named_with_their_types(graph: SubroutineGraph) -> None:
    assert {name: kind.base for name, kind in graph.inputs.items()} == {
        "x.0": (0, 1),
        "x.1": (0, 1),
    }
    assert {name: kind.base for name, kind in graph.outputs.items()} == {"y.0": (0, 1), "y.1": (0,)}
    assert graph.nodes[0].origin is None
    assert graph.nodes[-1].origin == Origin(3, "relinearize")


ILLEGAL: list[tuple[Callable[[SubroutineGraph, int, int], object], str]] = [
    (lambda g, x, c: g.add(x, 99), "operand 99 is not the id of an earlier node"),
    (lambda g, x, c: g.add(x, -1), "operand -1 is not the id"),
    (lambda g, x, c: g.add(x, c), "operands differ: ntt over base [0, 1], and coeff over"),
    (lambda g, x, c: g.mul(c, c), "mul takes ntt form and its operand is coeff over base [0, 1]"),
    (lambda g, x, c: g.ntt(x), "ntt takes coeff form"),
    (lambda g, x, c: g.intt(c), "intt takes ntt form"),
    (lambda g, x, c: g.automorph(x, 4), "element 4 is even"),
    (lambda g, x, c: g.automorph(x, 2049), "element 2049 is not a whole number in 1 … 2047"),
    (lambda g, x, c: g.mod_up(x, 0, (0, 5)), "mod_up takes coeff form"),
    (lambda g, x, c: g.mod_up(c, 2, (2, 5)), "digit [2] is not one prime of the operand"),
    (lambda g, x, c: g.mod_up(c, 0, (1, 5)), "digit [0] is not in the base [1, 5]"),
    (lambda g, x, c: g.mod_up(c, 0, (0, 6)), "base: prime 6 is not a whole number in 0 … 5"),
    (lambda g, x, c: g.mod_up(c, 0, (5, 0)), "base [5, 0] is not ascending"),
    (lambda g, x, c: g.mod_up(c, 0, (0, 0)), "base [0, 0] is not ascending"),
    (lambda g, x, c: g.mod_up(c, 0, ()), "base [] is not a list of 1 to 6 primes"),
    (lambda g, x, c: g.ksk_inner_product([x], "galois:3", 0, [0]), "key 'galois:3' is not among"),
    (lambda g, x, c: g.ksk_inner_product([x], "relin", 2, [0]), "half 2 is not one of 0, 1"),
    (lambda g, x, c: g.ksk_inner_product([x], "relin", 0, [0, 1]), "2 digits are named for 1"),
    (
        lambda g, x, c: g.ksk_inner_product([x], "relin", 0, [2]),
        "3 digits are beyond the 2 digits of 'relin'",
    ),
    (lambda g, x, c: g.ksk_inner_product([c], "relin", 0, [0]), "works in ntt over base [0, 1]"),
    (lambda g, x, c: g.mod_down(x, 2), "drop [2] must be one prime of the operand"),
    (lambda g, x, c: g.mod_down(g.drop_limbs(x, [0]), 0), "and leave another"),
    (lambda g, x, c: g.drop_limbs(x, (0, 1)), "must keep fewer primes"),
    (lambda g, x, c: g.drop_limbs(x, (2,)), "must keep fewer primes of the operand"),
    (lambda g, x, c: g.input("x", (0,)), "the graph already has an input 'x'"),
    (lambda g, x, c: g.input("", (0,)), "input name '' is no name"),
    (lambda g, x, c: g.input("a b", (0,)), "input name 'a b' is no name"),
    (lambda g, x, c: g.neg(g.output(x, "y")), "is an output: use what it hands out"),
    (lambda g, x, c: g.add_node("square", [x]), "op 'square' is unknown: there are input"),
    (lambda g, x, c: g.add_node("add", [x]), "add has 1 operands and takes 2"),
    (lambda g, x, c: g.add_node("ksk_inner_product", []), "has 0 operands and takes 1 to 128"),
    (lambda g, x, c: g.add_node("neg", [x], {"by": 1}), "neg has the attributes ['by'] and takes"),
    (lambda g, x, c: g.add_node("mod_down", [x], {"drop": [1]}), "['drop', 'variant']"),
    (
        lambda g, x, c: g.add_node("mod_down", [x], {"drop": [1], "variant": "floor"}),
        "mod_down variant 'floor' is not one of rounded",
    ),
    (lambda g, x, c: g.type_of(77), "node 77 is not a whole number in 0 … 1"),
    (lambda g, x, c: g.to_core(), "the graph has no output node"),
    (lambda g, x, c: to_json(g), "the graph has no output node"),
    (lambda g, x, c: (g.output(x, "y"), g.to_core()), "key 'relin' is used by no node"),
]


@pytest.mark.parametrize(("build", "words"), ILLEGAL)
def test_an_illegal_node_is_refused_in_words(
    build: Callable[[SubroutineGraph, int, int], object], words: str, small: CkksParameters
) -> None:
    graph = SubroutineGraph.for_parameters(small, {"relin": KeyShape(2)})
    x = graph.input("x", (0, 1))
    c = graph.input("c", (0, 1), Form.COEFF)
    with pytest.raises(ProgramError, match=re.escape(words)):
        build(graph, x, c)


def test_a_refused_node_leaves_the_graph_as_it_was(small: CkksParameters) -> None:
    graph = SubroutineGraph.for_parameters(small)
    x = graph.input("x", (0, 1))
    with pytest.raises(ProgramError):
        graph.add_node("input", [], {"name": "y", "base": [9], "form": "ntt"})
    y = graph.input("y", (0, 1))
    graph.output(graph.add(x, y), "z")
    assert len(graph.nodes) == 4


HOSTILE: list[tuple[Callable[[Document], object], str]] = [
    (lambda d: d.update(format="png"), "format is 'png'"),
    (lambda d: d.update(version=2), "version is 2, and this Ringsmith reads 1"),
    (lambda d: d.update(version=True), "version is True"),
    (lambda d: d.pop("keys"), "the first line lacks ['keys']"),
    (lambda d: d.update(extra=1), "has unknown ['extra']"),
    (lambda d: d.update(n=1 << 31), "n 2147483648 is not a whole number in 256 … 65536"),
    (lambda d: d.update(n=1000), "n 1000 is not a power of two"),
    (lambda d: d.update(n="1024"), "n '1024' is not a whole number"),
    (lambda d: d["primes"].__setitem__(0, 1 << 63), "is not a whole number in 3 … 2305843009213"),
    (lambda d: d["primes"].__setitem__(0, 2048 * 3 + 1), "6145 is not a prime that is 1 mod 2N"),
    (lambda d: d["primes"].__setitem__(0, 40961), "is not a whole number in 1 … 40960"),
    (lambda d: d["primes"].__setitem__(0, d["primes"][1]), "a prime stands twice"),
    (lambda d: d["primes"].append(5), "6 roots are given for 7 primes"),
    (lambda d: d.update(primes=[1] * 129), "primes is not a list of at most 128 entries"),
    (lambda d: d["roots"].__setitem__(2, 1), "1 is not a primitive 2048-th root of unity"),
    (lambda d: d["roots"].__setitem__(2, 0), "root 0 is not a whole number"),
    (lambda d: d.update(special=[0]), "special primes [0] must be the last"),
    (lambda d: d.update(special=list(range(6))), "with a data prime before them"),
    (lambda d: d.update(keys=[]), "keys is not an object"),
    (lambda d: d["keys"].update(relin=3), "key 'relin' is not an object"),
    (
        lambda d: d["keys"].update(relin={"digits": 0, "base": [0, 5]}),
        "digits of key 'relin' 0 is not a whole",
    ),
    (lambda d: d["keys"]["relin"].pop("base"), "key 'relin' lacks ['base']"),
    (lambda d: d["keys"]["relin"].update(base=[]), "base of key 'relin' names no prime"),
    (lambda d: d["keys"]["relin"].update(base=[0, 2, 1]), "base of key relin [0, 2, 1] is not asc"),
    (lambda d: d["keys"]["relin"].update(base=[0, 6]), "base of key relin: prime 6 is not a whole"),
    (
        lambda d: d["keys"]["relin"].update(base=[0, 2, 3, 4, 5]),
        "key 'relin' has the primes [0, 2, 3, 4, 5] and is used at [0, 1, 5]: give it a base",
    ),
    (lambda d: d["keys"].update({"a b": {"digits": 1, "base": [0]}}), "key 'a b' is no name"),
    (lambda d: d["keys"].pop("relin"), "key 'relin' is not among the graph's keys"),
    (
        lambda d: d["keys"].update({"galois:3": {"digits": 1, "base": [0]}}),
        "'galois:3' is used by no node",
    ),
    (lambda d: d.update(nodes=[]), "the graph has no output node"),
    (lambda d: d["nodes"].append(7), "node 18 is not an object"),
    (lambda d: d["nodes"].pop(3), "node 3 calls itself 4"),
    (lambda d: d["nodes"][2].update(operands=[0, 2]), "node 2 (add): operand 2 is not the id of"),
    (lambda d: d["nodes"][2].update(operands=[0, -1]), "operand -1 is not the id"),
    (lambda d: d["nodes"][2].update(operands=[0, True]), "operand True is not the id"),
    (lambda d: d["nodes"][2].update(operands=[0] * 999), "operands is not a list of at most"),
    (lambda d: d["nodes"][2].update(op="exec"), "node 2 (exec): op 'exec' is unknown"),
    (lambda d: d["nodes"][2].update(op=["add"]), "node 2: op is not a text"),
    (lambda d: d["nodes"][2].update(attrs=[]), "node 2: attrs is not an object"),
    (lambda d: d["nodes"][2].update(cost=1), "node 2 lacks [] and has unknown ['cost']"),
    (lambda d: d["nodes"][0]["attrs"].update(form="fft"), "form 'fft' is not one of ntt, coeff"),
    (lambda d: d["nodes"][0]["attrs"].update(form=["ntt"]), "form ['ntt'] is not one of"),
    (lambda d: d["nodes"][0]["attrs"].update(base="01"), "base '01' is not a list"),
    (lambda d: d["nodes"][0]["attrs"].update(base=[0.0]), "prime 0.0 is not a whole number"),
    (lambda d: d["nodes"][0]["attrs"].update(name="x" * 129), "is no name: use 1 to 128 letters"),
    (lambda d: d["nodes"][0]["attrs"].update(name="x.1"), "already has an input 'x.1'"),
    (lambda d: d["nodes"][-1].update(origin={"node": -1, "op": "add"}), "node -1 is not a whole"),
    (lambda d: d["nodes"][-1].update(origin={"node": 1}), "origin of node 17 lacks ['op']"),
]


@pytest.mark.parametrize(("damage", "words"), HOSTILE)
def test_a_file_from_a_stranger_is_refused_in_words(
    damage: Callable[[Document], object], words: str, graph: SubroutineGraph
) -> None:
    document = document_of(graph)
    damage(document)
    with pytest.raises(InteropError, match=re.escape(words)):
        from_json(text_of(document))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the first line is not an object"),
        ("[" * 100_000, "is not JSON"),
        ("9" * 10_000, "is not JSON"),
        ('{"n": 1, "n": 1}', "an object has one key twice"),
        ("[]", "the first line is not an object"),
        ("NaN", "NaN is no number"),
        ("{}" + " " * (1 << 21), "line 1 has more than 2097152 characters"),
        ("é", "all of ASCII"),
    ],
)
def test_a_text_that_is_no_graph_is_refused(text: str, words: str) -> None:
    with pytest.raises(InteropError, match=words):
        from_json(text)


def _places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Returns the path of every value inside a document."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(place for key, inner in items for place in _places(inner, (*path, key)))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("every", [False, True])
def test_any_value_in_any_place_is_refused_or_makes_a_valid_graph(
    every: bool, data: st.DataObject, graph: SubroutineGraph
) -> None:
    document = document_of(every_op() if every else graph)
    *path, last = data.draw(st.sampled_from([p for p in _places(document) if p]))
    inner = document
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(
        st.none()
        | st.booleans()
        | st.integers(-2, 10)
        | st.floats()
        | st.sampled_from(["", "ntt", "relin", "add", "x.0", "half", "words", "centred_digit"])
        | st.lists(st.integers(-1, 6), max_size=4)
        | st.just({})
    )
    try:
        read = from_json(text_of(document))
    except InteropError:
        return
    assert len(read.to_core()) == len(read.nodes)  # the interpreter takes whatever is accepted


def test_the_interpreter_runs_what_a_file_says(
    graph: SubroutineGraph, small: CkksParameters, rng: np.random.Generator
) -> None:
    inputs = {
        name: np.stack(
            [rng.integers(0, small.primes[i], small.n, dtype=np.uint64) for i in kind.base]
        )
        for name, kind in graph.inputs.items()
    }
    keys = {
        name: np.stack(
            [rng.integers(0, q, (shape.digits, 2, small.n), np.uint64) for q in small.primes], 2
        )
        for name, shape in graph.keys.items()
    }
    first = graph.to_core().run(inputs, keys)
    again = from_json(to_json(graph)).to_core().run(inputs, keys)
    assert first.keys() == {"y.0", "y.1"}
    for name, value in first.items():
        assert np.array_equal(value, again[name])
        assert value.any()


# ---- BFV's ops -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bfv_graph() -> SubroutineGraph:
    """A product with HPS and a key in words: lift, scale and key_switch, and what CKKS has, too."""
    parameters = BfvParameters.create(
        n=1024,
        prime_bits=(30, 30),
        plain_modulus=257,
        multiplication="hps",
        relinearization="word",
        word_bits=31,
        security=None,
    )
    graph = SubroutineGraph.for_parameters(
        parameters, {"relin": KeyShape(parameters.key_digits)}, products=True
    )
    writer = scheme_of(parameters).writer(graph, parameters)
    x, y = writer.input("x", 2, 2), writer.input("y", 2, 2)
    writer.output(writer.mod_switch(writer.relinearize(writer.multiply(x, y)), 1), "z")
    return graph


def test_a_bfv_graphs_file_and_back_is_the_same_graph(bfv_graph: SubroutineGraph) -> None:
    document = document_of(bfv_graph)
    assert (document["special"], document["extension"]) == ([], [2, 3, 4])
    again = from_json(to_json(bfv_graph))
    assert again.nodes == bfv_graph.nodes
    assert (again.extension, again.key_primes) == (bfv_graph.extension, 2)
    assert {node.op for node in again.nodes} >= {"lift", "scale", "key_switch", "mod_down"}
    assert {str(kind.form) for kind in again.outputs.values()} == {"coeff"}


ILLEGAL_BFV: list[tuple[Callable[[SubroutineGraph, int, int, int], object], str]] = [
    (lambda g, x, c, w: g.lift(x, (0, 1, 2, 3, 4), "hps"), "lift takes coeff form"),
    (
        lambda g, x, c, w: g.lift(c, (0, 1), "hps"),
        "base [0, 1] is not coeff over base [0, 1] and more",
    ),
    (lambda g, x, c, w: g.lift(c, (0, 2, 3), "hps"), "base [0, 2, 3] is not coeff"),
    (lambda g, x, c, w: g.lift(c, (0, 1, 2), "bgv"), "lift variant 'bgv' is not one of behz, hps"),
    (lambda g, x, c, w: g.lift(c, (0, 1, 7), "hps"), "prime 7 is not a whole number in 0 … 4"),
    (lambda g, x, c, w: g.scale(x, (0,), 257, "hps"), "scale takes coeff form"),
    (lambda g, x, c, w: g.scale(w, (0, 1, 2, 3, 4), 257, "hps"), "takes the last 1 primes away"),
    (lambda g, x, c, w: g.scale(w, (1, 2), 257, "hps"), "base [1, 2] does not leave as many"),
    (
        lambda g, x, c, w: g.scale(w, (0, 1, 2, 3), 257, "behz"),
        "scale of variant behz takes the last 2 primes away, or more",
    ),
    (lambda g, x, c, w: g.scale(w, (0, 1), 1, "hps"), "plain_modulus 1 is not a whole number in 2"),
    (lambda g, x, c, w: g.scale(w, (0, 1), 1 << 60, "behz"), "plain_modulus 1152921504606846976"),
    (lambda g, x, c, w: g.scale(w, (0, 1), g.primes[0], "behz"), "is not coprime to the primes of"),
    (lambda g, x, c, w: g.centred_digit(x, (0,), (0, 1)), "mod_up takes coeff form"),
    (lambda g, x, c, w: g.centred_digit(c, (0, 2), (0, 1, 2)), "digit [0, 2] is not primes of the"),
    (lambda g, x, c, w: g.centred_digit(c, (0, 1), (1, 2)), "digit [0, 1] is not in the base"),
    (lambda g, x, c, w: g.decompose(x, 0, 31, (0, 1)), "decompose takes coeff form"),
    (lambda g, x, c, w: g.decompose(c, 2, 31, (0, 1)), "digit 2 is not a whole number in 0 … 1"),
    (lambda g, x, c, w: g.decompose(c, 1, 60, (0, 1)), "digit 1 is not a whole number in 0 … 0"),
    (lambda g, x, c, w: g.decompose(c, 0, 1 << 14, (0,)), "word_bits 16384 is not a whole number"),
    (lambda g, x, c, w: g.decompose(c, 0, 0, (0, 1)), "word_bits 0 is not"),
    (lambda g, x, c, w: g.ksk_inner_product([g.ntt(w)], "relin", 0, [0]), "has an extension prime"),
]


@pytest.mark.parametrize(("build", "words"), ILLEGAL_BFV)
def test_an_illegal_bfv_node_is_refused_in_words(
    build: Callable[[SubroutineGraph, int, int, int], object],
    words: str,
    bfv_graph: SubroutineGraph,
) -> None:
    primes, roots = bfv_graph.primes, bfv_graph.roots
    graph = SubroutineGraph(1024, primes, roots, (), {"relin": KeyShape(2)}, bfv_graph.extension)
    x, c = graph.input("x", (0, 1)), graph.input("c", (0, 1), Form.COEFF)
    wide = graph.input("w", (0, 1, 2, 3, 4), Form.COEFF)
    with pytest.raises(ProgramError, match=re.escape(words)):
        build(graph, x, c, wide)


@pytest.mark.parametrize(
    ("special", "extension", "words"),
    [
        ((3, 4), (2,), "extension primes [2] must be the last of 5 primes"),
        ((), (4, 3), "extension primes [4, 3] must be the last"),
        ((0, 1), (2, 3, 4), "special primes [0, 1] must be the last of 2 primes"),
        ((), (0, 1, 2, 3, 4), "with a data prime before them"),
    ],
)
def test_extension_primes_are_the_last_ones(
    special: tuple[int, ...], extension: tuple[int, ...], words: str, bfv_graph: SubroutineGraph
) -> None:
    with pytest.raises(ProgramError, match=re.escape(words)):
        SubroutineGraph(1024, bfv_graph.primes, bfv_graph.roots, special, {}, extension)


def test_bfv_does_not_multiply_without_extension_primes(bfv_graph: SubroutineGraph) -> None:
    parameters = BfvParameters.create(
        n=1024, prime_bits=(30, 30), special_bits=30, plain_bits=17, security=None
    )
    writer = scheme_of(parameters).writer(SubroutineGraph.for_parameters(parameters), parameters)
    x = writer.input("x", 2, 2)
    with pytest.raises(ProgramError, match=r"no extension primes .* products=True"):
        writer.square(x)
