"""The subroutine graph: its nodes' meaning, its equality with the evaluator, what it refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith.objects import Residues


@dataclass
class Case:
    """A context of K = 4 primes of uneven size, random keys, and a graph to fill."""

    n: int
    context: _core.Context
    graph: _core.Graph
    key: Residues
    make: RandomResidues
    inputs: dict[str, Residues] = field(default_factory=dict)

    @property
    def primes(self) -> list[int]:
        """Three data primes and the special prime."""
        return self.context.primes

    def input(self, name: str, base: list[int], form: str = "ntt") -> int:
        """An input node with random residues."""
        self.inputs[name] = self.make(self.n, [self.primes[i] for i in base])
        return self.graph.add_node("input", [], {"name": name, "base": base, "form": form})

    def ciphertext(self, name: str, size: int, limbs: int) -> list[int]:
        """An input node for each polynomial of a ciphertext."""
        return [self.input(f"{name}.{i}", list(range(limbs))) for i in range(size)]

    def words(self, name: str, size: int) -> Residues:
        """The ciphertext that `ciphertext` made, as the evaluator takes it."""
        return np.stack([self.inputs[f"{name}.{i}"] for i in range(size)])

    def node(self, op: str, *operands: int, **attrs: object) -> int:
        """Any node."""
        return self.graph.add_node(op, list(operands), attrs)

    def run(self, *outputs: int, **keys: Residues) -> list[Residues]:
        """The values of some nodes."""
        for index, node in enumerate(outputs):
            self.graph.add_node("output", [node], {"name": str(index)})
        results = self.graph.run(self.inputs, keys)
        return [results[str(index)] for index in range(len(outputs))]

    def switch(self, target: int, limbs: int, key: str) -> list[int]:
        """Key switching in subroutines: the two polynomials over the data primes."""
        base = [*range(limbs), 3]
        coefficients = self.node("intt", target)
        digits = [
            self.node(
                "ntt",
                self.node("mod_up", coefficients, digit=[j], base=base, variant="rns_digit"),
            )
            for j in range(limbs)
        ]
        sums = [
            self.node(
                "ksk_inner_product", *digits, key=key, half=h, digits=list(range(limbs)), base=base
            )
            for h in range(2)
        ]
        return [self.node("mod_down", total, drop=[3], variant="rounded") for total in sums]


@pytest.fixture(params=[(60, 42, 42, 61), (42, 50, 42, 30)], ids=["wide", "narrow special"])
def case(request: pytest.FixtureRequest, random_residues: RandomResidues) -> Case:
    n, primes = 256, []
    for bits in request.param:
        primes.append(next(q for q in _core.prime_search(bits, n, 4) if q not in primes))
    context = _core.Context(n, primes)
    graph = _core.Graph(n, primes, context.roots)
    return Case(n, context, graph, random_residues(n, primes, 3, 2), random_residues)


@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_pointwise_nodes_equal_the_evaluator(case: Case, limbs: int) -> None:
    a, b = case.ciphertext("a", 2, limbs), case.ciphertext("b", 2, limbs)
    x, y = case.words("a", 2), case.words("b", 2)
    sums = [case.node("add", *pair) for pair in zip(a, b, strict=True)]
    differences = [case.node("sub", *pair) for pair in zip(a, b, strict=True)]
    negated = [case.node("neg", node) for node in a]
    products = [
        case.node("mul", a[0], b[0]),
        case.node("add", case.node("mul", a[0], b[1]), case.node("mul", a[1], b[0])),
        case.node("mul", a[1], b[1]),
    ]
    results = case.run(*sums, *differences, *negated, *products)
    core = case.context
    assert np.array_equal(results[0:2], _core.add(core, x, y))
    assert np.array_equal(results[2:4], _core.sub(core, x, y))
    assert np.array_equal(results[4:6], _core.negate(core, x))
    assert np.array_equal(results[6:9], _core.multiply(core, x, y))


@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_relinearization_in_subroutines_equals_the_evaluator(case: Case, limbs: int) -> None:
    c = case.ciphertext("c", 3, limbs)
    switched = case.switch(c[2], limbs, "relin")
    outputs = [case.node("add", c[i], switched[i]) for i in range(2)]
    results = case.run(*outputs, relin=case.key)
    expected = _core.relinearize(case.context, case.words("c", 3), case.key)
    assert np.array_equal(results, expected)


def test_digits_that_are_kept_give_the_sums_of_digits_that_are_not(case: Case) -> None:
    """An output of every raised digit forces the interpreter to compute node by node."""
    target = case.input("c", [0, 1, 2])
    fused = case.switch(target, 3, "relin")
    coefficients = case.node("intt", target)
    base = [0, 1, 2, 3]
    raised = [
        case.node("mod_up", coefficients, digit=[j], base=base, variant="rns_digit")
        for j in range(3)
    ]
    digits = [case.node("ntt", node) for node in raised]
    sums = [
        case.node("ksk_inner_product", *digits, key="relin", half=half, digits=[0, 1, 2], base=base)
        for half in (1, 0)
    ]
    kept = [case.node("mod_down", node, drop=[3], variant="rounded") for node in reversed(sums)]
    results = case.run(*fused, *kept, *digits, relin=case.key)
    assert np.array_equal(results[0], results[2])
    assert np.array_equal(results[1], results[3])


@pytest.mark.parametrize("limbs", [1, 2, 3])
@pytest.mark.parametrize("element", [3, 5, 511])
def test_rotation_in_subroutines_equals_the_evaluator(case: Case, limbs: int, element: int) -> None:
    c = case.ciphertext("c", 2, limbs)
    moved = [case.node("automorph", node, element=element) for node in c]
    switched = case.switch(moved[1], limbs, "galois")
    results = case.run(case.node("add", moved[0], switched[0]), switched[1], galois=case.key)
    expected = _core.apply_galois(case.context, case.words("c", 2), element, case.key)
    assert np.array_equal(results, expected)


@pytest.mark.parametrize("limbs", [2, 3])
def test_rescale_and_mod_switch_nodes_equal_the_evaluator(case: Case, limbs: int) -> None:
    c = case.ciphertext("c", 2, limbs)
    rescaled = [case.node("mod_down", node, drop=[limbs - 1], variant="rounded") for node in c]
    dropped = [case.node("drop_limbs", node, base=list(range(limbs - 1))) for node in c]
    results = case.run(*rescaled, *dropped)
    words = case.words("c", 2)
    assert np.array_equal(results[:2], _core.rescale(case.context, words))
    assert np.array_equal(results[2:], _core.mod_switch(case.context, words))


def test_a_key_with_fewer_digits_serves_lower_levels(case: Case) -> None:
    c = case.ciphertext("c", 3, 2)
    whole = case.run(*case.switch(c[2], 2, "relin"), relin=case.key)
    trimmed = case.graph.run(case.inputs, {"relin": case.key[:2]})
    assert np.array_equal(whole, [trimmed["0"], trimmed["1"]])


def test_ntt_nodes_are_the_transforms_of_each_limb(case: Case) -> None:
    a, b = case.input("a", [2, 0], "coeff"), case.input("b", [1, 3], "ntt")
    forward, inverse = case.run(case.node("ntt", a), case.node("intt", b))
    for i, prime in enumerate([2, 0]):
        q, root = case.primes[prime], case.context.roots[prime]
        assert np.array_equal(forward[i], _core.ntt_forward(case.inputs["a"][i], q, root))
    for i, prime in enumerate([1, 3]):
        q, root = case.primes[prime], case.context.roots[prime]
        assert np.array_equal(inverse[i], _core.ntt_inverse(case.inputs["b"][i], q, root))


@pytest.mark.parametrize("element", [1, 3, 255, 257, 511])
def test_automorph_substitutes_a_power_in_both_forms(case: Case, element: int) -> None:
    a = case.input("a", [0, 1], "coeff")
    direct = case.node("automorph", a, element=element)
    through_ntt = case.node("intt", case.node("automorph", case.node("ntt", a), element=element))
    first, second = case.run(direct, through_ntt)
    expected = np.zeros_like(first)
    for limb in range(2):
        for i, word in enumerate(case.inputs["a"][limb].tolist()):
            power = i * element % (2 * case.n)
            signed = word if power < case.n else -word
            expected[limb, power % case.n] = signed % case.primes[limb]
    assert np.array_equal(first, expected)
    assert np.array_equal(second, expected)


def test_mod_up_reduces_the_uncentred_digit(case: Case) -> None:
    a = case.input("a", [0, 1, 2], "coeff")
    for digit in range(3):
        node = case.node("mod_up", a, digit=[digit], base=[3, 0, 1, 2], variant="rns_digit")
        case.node("output", node, name=f"digit {digit}")
    results = case.graph.run(case.inputs, {})
    for digit in range(3):
        residues = case.inputs["a"][digit].tolist()
        expected = [[word % case.primes[i] for word in residues] for i in (3, 0, 1, 2)]
        assert results[f"digit {digit}"].tolist() == expected


@pytest.mark.parametrize("drop", [0, 2, 3])
def test_mod_down_is_the_rounded_quotient_of_the_integer(case: Case, drop: int) -> None:
    """(x + floor(p / 2)) div p over the integers, for x composed from its residues."""
    base = [0, 2, 3]
    kept = [i for i in base if i != drop]
    a = case.input("a", base, "coeff")
    coefficients = case.node("mod_down", a, drop=[drop], variant="rounded")
    values = case.node(
        "intt", case.node("mod_down", case.node("ntt", a), drop=[drop], variant="rounded")
    )
    first, second = case.run(coefficients, values)
    moduli = [case.primes[i] for i in base]
    total, p = prod(moduli), case.primes[drop]
    for column in range(case.n):
        x = 0
        for limb, q in enumerate(moduli):
            cofactor = total // q
            x += int(case.inputs["a"][limb, column]) * cofactor * pow(cofactor, -1, q)
        quotient = (x % total + p // 2) // p
        assert first[:, column].tolist() == [quotient % case.primes[i] for i in kept]
    assert np.array_equal(first, second)


def test_inner_product_is_exact_over_many_digits(random_residues: RandomResidues) -> None:
    """Over 64 digits of q - 1 modulo 61-bit primes: the lazy sum must be reduced in between."""
    n, count = 256, 130
    primes = _core.prime_search(61, n, 2)
    graph = _core.Graph(n, primes, [_core.smallest_root(q, n) for q in primes])
    top = np.stack([np.full(n, q - 1, dtype=np.uint64) for q in primes])
    one = graph.add_node("input", [], {"name": "x", "base": [0, 1], "form": "ntt"})
    digits = [graph.add_node("neg", [one], {}) for _ in range(count)]
    attrs = {"key": "k", "half": 1, "digits": list(range(count)), "base": [0, 1]}
    graph.add_node("output", [graph.add_node("ksk_inner_product", digits, attrs)], {"name": "sum"})
    key = np.broadcast_to(top, (count, 2, 2, n)).copy()
    ones = np.ones((2, n), dtype=np.uint64)
    assert (graph.run({"x": ones}, {"k": key})["sum"] == count).all()


def test_digits_choose_the_key_by_number(case: Case) -> None:
    a, b = case.input("a", [0, 3]), case.input("b", [0, 3])
    node = case.node("ksk_inner_product", a, b, key="k", half=1, digits=[2, 0], base=[0, 3])
    [result] = case.run(node, k=case.key)
    for limb, prime in enumerate([0, 3]):
        pairs = [(case.inputs["a"], case.key[2, 1]), (case.inputs["b"], case.key[0, 1])]
        expected = [
            sum(int(x[limb, i]) * int(k[prime, i]) for x, k in pairs) % case.primes[prime]
            for i in range(case.n)
        ]
        assert result[limb].tolist() == expected


def test_types_follow_from_the_nodes(case: Case) -> None:
    a = case.input("a", [0, 1, 3])
    assert case.graph.node_type(a) == ([0, 1, 3], "ntt")
    assert case.graph.node_type(case.node("intt", a)) == ([0, 1, 3], "coeff")
    assert case.graph.node_type(case.node("drop_limbs", a, base=[1, 3])) == ([1, 3], "ntt")
    down = case.node("mod_down", a, drop=[1], variant="rounded")
    assert case.graph.node_type(down) == ([0, 3], "ntt")
    assert len(case.graph) == 4
    with pytest.raises(_core.GraphError, match="no node 4; it has 4"):
        case.graph.node_type(4)


def test_inputs_are_left_as_they_were(case: Case) -> None:
    a = case.input("a", [0, 1], "coeff")
    before = case.inputs["a"].copy()
    case.run(case.node("ntt", a), a)
    assert np.array_equal(case.inputs["a"], before)


def test_inputs_that_are_not_given_are_asked_for_once_and_give_the_same_words(case: Case) -> None:
    a, b, c = (case.input(name, [0, 1]) for name in "abc")
    product = case.node("add", case.node("mul", a, b), case.node("mul", a, c))
    again = case.node("mul", case.node("neg", product), b)
    for name, node in {"product": product, "again": again, "as it is": c}.items():
        case.node("output", node, name=name)
    expected = case.graph.run(case.inputs, {})
    asked: list[str] = []

    def source(name: str) -> Residues:
        asked.append(name)
        return case.inputs[name]

    found = case.graph.run({"a": case.inputs["a"]}, {}, source)
    assert sorted(asked) == ["b", "c"]
    assert all(np.array_equal(found[name], words) for name, words in expected.items())


@pytest.mark.parametrize("each", [2, 16, "all"])
def test_each_word_of_a_shortened_input_stands_for_equal_ones(case: Case, each: int | str) -> None:
    """In steps that go over runs of words, in one that needs the whole polynomial, as an output."""
    count = case.n if each == "all" else int(each)
    a, b, c = (case.input(name, [0, 1]) for name in "abc")
    sums = case.node("add", case.node("mul", a, c), case.node("mul", b, c))
    nodes = {"sums": sums, "back": case.node("intt", c), "as it is": c, "neg": case.node("neg", c)}
    for name, node in nodes.items():
        case.node("output", node, name=name)
    short = np.ascontiguousarray(case.inputs["c"][:, ::count])
    whole = np.repeat(short, count, axis=1)
    expected = case.graph.run({**case.inputs, "c": whole}, {})
    found = case.graph.run({**case.inputs, "c": short}, {})
    assert all(np.array_equal(found[name], words) for name, words in expected.items())
    three = np.ascontiguousarray(short[:, :1].repeat(3, axis=1))
    for wrong, message in (
        (three, "input 'c' has 2 limbs and 6 words; the graph expects 2 limbs of N"),
        (short[:1], "input 'c' has 1 limbs"),
        (short | np.uint64(1 << 63), r"input 'c' has \d+ at position 0 of limb 0, which is not be"),
    ):
        with pytest.raises((_core.GraphError, ValueError), match=message):
            case.graph.run({**case.inputs, "c": wrong}, {})


def test_coefficients_are_not_shortened(case: Case) -> None:
    a = case.input("a", [0, 1], "coeff")
    case.node("output", case.node("ntt", a), name="out")
    with pytest.raises(_core.GraphError, match=r"input 'a' has 2 limbs and .* in NTT form"):
        case.graph.run({"a": np.ascontiguousarray(case.inputs["a"][:, ::2])}, {})


def test_a_graph_gets_no_nodes_while_it_runs(case: Case) -> None:
    """The interpreter holds references into the list of nodes."""
    a, b = case.input("a", [0, 1]), case.input("b", [0, 1])
    case.node("output", case.node("add", a, b), name="sum")
    refused: list[str] = []

    def source(name: str) -> Residues:
        for _ in range(64):
            try:
                case.graph.add_node("neg", [a], {})
            except _core.GraphError as error:
                refused.append(str(error))
        return case.inputs[name]

    found = case.graph.run({}, {}, source)["sum"]
    assert set(refused) == {
        "the graph is running and cannot get a node: add all nodes, then run it"
    }
    assert len(refused) == 128
    np.testing.assert_array_equal(found, case.graph.run(case.inputs, {})["sum"])
    with pytest.raises(ZeroDivisionError):
        case.graph.run({}, {}, lambda _: 1 // 0)
    assert case.graph.add_node("neg", [a], {}) == 4  # also after a run that failed


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda words: words[:1], _core.GraphError, "input 'b' has 1 limbs; the graph expects 2"),
        (lambda words: words | np.uint64(1 << 63), ValueError, "not below its prime"),
        (lambda words: words.astype(np.float64), TypeError, "input 'b' must be a C-contiguous"),
        (lambda words: {}["absent"], KeyError, "absent"),
    ],
)
def test_what_is_asked_for_and_does_not_fit_is_refused(
    case: Case, make: Callable[[Residues], Residues], error: type[Exception], message: str
) -> None:
    a, b = case.input("a", [0, 1]), case.input("b", [0, 1])
    case.node("output", case.node("mul", a, b), name="out")
    with pytest.raises(error, match=message):
        case.graph.run({"a": case.inputs["a"]}, {}, lambda name: make(case.inputs[name]))
    with pytest.raises(_core.GraphError, match="has no input 'c'"):
        case.graph.run({"c": case.inputs["a"]}, {}, lambda name: case.inputs[name])


def test_the_polynomials_of_a_ciphertext_are_rows_of_one_array(case: Case) -> None:
    a, b = case.input("a", [0, 1]), case.input("b", [0, 1])
    total, fewer = case.node("add", a, b), case.node("drop_limbs", a, base=[0])
    outputs = {"x.0": total, "x.1": a, "x.2": total, "y.0": fewer, "z.0": total, "z": total}
    for name, node in outputs.items():
        case.node("output", node, name=name)
    found = case.graph.run(case.inputs, {})
    expected = _core.add(case.context, *(case.inputs[name][np.newaxis] for name in "ab"))[0]
    for name, node in outputs.items():
        words = {total: expected, a: case.inputs["a"], fewer: case.inputs["a"][:1]}[node]
        assert np.array_equal(found[name], words), name
    rows = [found[f"x.{number}"] for number in range(3)]
    assert rows[0].base.shape == (3, 2, case.n)
    assert all(row.base is rows[0].base for row in rows)
    assert all(found[name].base.shape[0] == 1 for name in ("y.0", "z.0", "z"))
    found["z"][0, 0] += 1  # no output is another one's memory
    assert np.array_equal(found["z.0"], expected)


# ---- what is refused ---------------------------------------------------------------------------

UP = {"variant": "rns_digit"}
DOWN = {"variant": "rounded"}


@pytest.mark.parametrize(
    ("op", "operands", "attrs", "message"),
    [
        ("frobnicate", [], {}, r"node 4 \(frobnicate\) is an unknown operation"),
        ("neg", [9], {}, "operand 9, which does not exist"),
        ("neg", [3], {}, "operand 3, an output"),
        ("neg", [0, 0], {}, "has 2 operands and takes 1"),
        ("add", [0], {}, "has 1 operands and takes 2"),
        ("add", [0, 1], {}, "different bases or forms"),
        ("add", [0, 2], {}, "different bases or forms"),
        ("add", [0, 0], {"scale": 3}, "attribute 'scale' that it does not know"),
        ("mul", [2, 2], {}, "needs its operands in NTT form"),
        ("ntt", [0], {}, "needs its operands in coefficient form"),
        ("intt", [2], {}, "needs its operands in NTT form"),
        ("input", [], {"name": "ntt01", "base": [0], "form": "ntt"}, "names must be unique"),
        ("input", [], {"name": "z", "base": [4], "form": "ntt"}, "prime 4 in 'base', but .* 4 pr"),
        ("input", [], {"name": "z", "base": [], "form": "ntt"}, "at least one index"),
        ("input", [], {"name": "z", "base": [0, 0], "form": "ntt"}, "none twice"),
        ("input", [], {"name": "z", "base": [0], "form": "fft"}, "known are 'ntt' and 'coeff'"),
        ("input", [], {"name": "z", "base": [0]}, "lacks its attribute 'form'"),
        ("input", [], {"name": 3, "base": [0], "form": "ntt"}, "needs a text as its attribute"),
        ("input", [0], {"name": "z", "base": [0], "form": "ntt"}, "takes no operands"),
        ("output", [0], {"name": "out"}, "names must be unique"),
        ("automorph", [0], {"element": 2}, "Galois element 2, which is not odd"),
        ("automorph", [0], {"element": 513}, "not odd and below 2N = 512"),
        ("mod_up", [0], {"digit": [0], "base": [0, 3], **UP}, "in coefficient form"),
        ("mod_up", [2], {"digit": [2], "base": [0, 3], **UP}, "prime 2 in its operand's base"),
        ("mod_up", [2], {"digit": [0, 1], "base": [0, 3], **UP}, "'rns_digit' takes one"),
        ("mod_up", [2], {"digit": [0], "base": [0], "variant": "hps"}, "known is 'rns_digit'"),
        ("mod_down", [0], {"drop": [2], **DOWN}, "prime 2 in its operand's base"),
        ("mod_down", [0], {"drop": [0], "variant": "floor"}, "known is 'rounded'"),
        ("mod_down", [0], {"drop": [0, 1], **DOWN}, "'rounded' takes one"),
        ("mod_down", [1], {"drop": [0], **DOWN}, "drops all primes"),
        ("drop_limbs", [0], {"base": [2]}, "keeps prime 2"),
        ("drop_limbs", [0], {"base": [1, 0]}, "in this order"),
        (
            "ksk_inner_product",
            [0],
            {"key": "k", "half": 2, "digits": [0], "base": [0, 1]},
            "half 2",
        ),
        (
            "ksk_inner_product",
            [0],
            {"key": "k", "half": 0, "digits": [0, 1], "base": [0, 1]},
            "has 1 operands and takes 2",
        ),
        (
            "ksk_inner_product",
            [2],
            {"key": "k", "half": 0, "digits": [0], "base": [0, 1]},
            "in NTT form",
        ),
        (
            "ksk_inner_product",
            [0],
            {"key": "k", "half": 0, "digits": [2**64 - 1], "base": [0, 1]},
            r"names digit 18446744073709551615 of the key: name digits below 2\^32",
        ),
        (
            "ksk_inner_product",
            [0],
            {"key": "k", "half": 0, "digits": [0], "base": [0, 3]},
            "another base",
        ),
    ],
)
def test_a_wrong_node_is_refused_and_leaves_the_graph_as_it_was(
    case: Case, op: str, operands: list[int], attrs: dict[str, object], message: str
) -> None:
    case.input("ntt01", [0, 1])
    case.input("ntt0", [0])
    case.input("coeff01", [0, 1], "coeff")
    case.node("output", 0, name="out")
    with pytest.raises(_core.GraphError, match=message):
        case.graph.add_node(op, operands, attrs)
    assert len(case.graph) == 4


def test_wrong_inputs_and_keys_are_refused(case: Case) -> None:
    a = case.input("a", [0, 1])
    node = case.node("ksk_inner_product", a, key="k", half=0, digits=[1], base=[0, 1])
    case.node("output", node, name="out")
    good, keys = case.inputs["a"], {"k": case.key}
    for inputs, given, error, message in [
        ({}, keys, _core.GraphError, "needs the input 'a'"),
        ({"a": good, "b": good}, keys, _core.GraphError, "has no input 'b'"),
        ({"a": good}, {}, _core.GraphError, "needs the key 'k'"),
        ({"a": good}, {"k": case.key, "l": case.key}, _core.GraphError, "has no key 'l'"),
        ({"a": good[:1]}, keys, _core.GraphError, "expects 2 limbs"),
        (
            {"a": good[:, :-1].copy()},
            keys,
            _core.GraphError,
            r"input 'a' has 2 limbs and \d+ words",
        ),
        ({"a": good | np.uint64(1 << 63)}, keys, ValueError, "not below its prime"),
        ({"a": good.astype(np.float64)}, keys, TypeError, "input 'a' must be a C-contiguous"),
        ({"a": good}, {"k": case.key[:1]}, _core.GraphError, "at least 2 digits"),
        ({"a": good}, {"k": case.key[:, :1].copy()}, ValueError, "expected is"),
        ({"a": good}, {"k": case.key | np.uint64(1 << 63)}, ValueError, "key 'k' has"),
    ]:
        with pytest.raises(error, match=message):
            case.graph.run(inputs, given)
    assert case.graph.run({"a": good}, keys)["out"].shape == (2, case.n)


def test_a_graph_of_wrong_primes_or_roots_is_refused(case: Case) -> None:
    roots = case.context.roots
    with pytest.raises(_core.ParameterError, match="3 roots for 4 primes"):
        _core.Graph(case.n, case.primes, roots[:3])
    with pytest.raises(_core.ParameterError, match="is not a primitive 2N-th root"):
        _core.Graph(case.n, case.primes, [1, *roots[1:]])
    with pytest.raises(_core.ParameterError, match="occurs twice"):
        _core.Graph(case.n, case.primes[:1] * 2, roots[:2])
