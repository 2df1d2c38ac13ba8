"""Several rotations of one ciphertext: the bits of each alone, in the evaluator and in graphs."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.objects import Residues

Key = Residues | _core.PrecomputedKey

N = 256
ELEMENTS = (3, 9, 5, 2 * N - 1, N + 1, 1, 3**7 % (2 * N))

CASES = {
    "one prime a digit": ((60, 42, 50, 46, 61), 1, 0),
    "narrow special prime": ((50, 50, 50, 30), 1, 0),
    "narrow primes": ((20, 20, 21, 22), 1, 0),
    "two primes a digit": ((45, 45, 44, 46, 46, 47, 47), 2, 3),
    "uneven digits": ((30, 40, 50, 60, 60, 61, 61), 2, 2),
    "three primes a digit": ((32,) * 6 + (32,) * 3, 3, 2),
    "five primes a digit": ((32,) * 13 + (33,) * 5, 5, 3),
}


def context_of(case: str) -> _core.Context:
    """The case's context."""
    widths, special, dnum = CASES[case]
    found = {bits: _core.prime_search(bits, N, widths.count(bits)) for bits in set(widths)}
    return _core.Context(N, [found[bits].pop(0) for bits in widths], special, dnum)


def with_zeros(words: Residues, kind: str) -> Residues:
    """Words some of whose residues are zero: none, a few, one limb, or all."""
    changed = words.copy()
    if kind == "a few":
        changed[..., 0, ::37] = 0
        changed[..., -1, 5] = 0
    elif kind == "a limb":
        changed[..., 0, :] = 0
    elif kind == "all":
        changed[:] = 0
    return changed


def in_ntt_form(words: Residues, context: _core.Context) -> Residues:
    """Every limb transformed."""
    transformed = np.empty_like(words)
    for limb in range(words.shape[1]):
        q, root = context.primes[limb], context.roots[limb]
        transformed[:, limb] = _core.ntt_forward(np.ascontiguousarray(words[:, limb]), q, root)
    return transformed


@pytest.mark.parametrize("zeros", ["none", "a few", "a limb", "all"])
@pytest.mark.parametrize("case", CASES)
def test_hoisted_rotations_equal_single_ones_bit_for_bit(
    case: str, zeros: str, random_residues: RandomResidues
) -> None:
    context = context_of(case)
    keys = [random_residues(N, context.primes, context.dnum, 2) for _ in ELEMENTS]
    for limbs in {1, 2, context.max_limbs - 1, context.max_limbs}:
        coefficients = with_zeros(random_residues(N, context.primes[:limbs], 2), zeros)
        a = in_ntt_form(coefficients, context)
        many = _core.apply_galois_many(context, a, ELEMENTS, keys)
        for element, key, rotated in zip(ELEMENTS, keys, many, strict=True):
            assert np.array_equal(rotated, _core.apply_galois(context, a, element, key))


@pytest.mark.parametrize("bits", [30, 50, 60])
def test_runs_of_large_rings_go_where_each_rotation_takes_them(
    bits: int, random_residues: RandomResidues
) -> None:
    n, elements = 1 << 14, (3, 5, 27, 2**15 - 1)
    context = _core.Context(n, _core.prime_search(bits, n, 3), 1, 0)
    a = random_residues(n, context.primes[:2], 2)
    keys = [random_residues(n, context.primes, context.dnum, 2) for _ in elements]
    many = _core.apply_galois_many(context, a, elements, keys)
    for element, key, rotated in zip(elements, keys, many, strict=True):
        assert np.array_equal(rotated, _core.apply_galois(context, a, element, key))


@pytest.mark.parametrize("word_bits", [0, 20])
@pytest.mark.parametrize("zeros", ["none", "a few", "all"])
def test_hoisted_rotations_of_bfv_equal_single_ones_bit_for_bit(
    zeros: str, word_bits: int, random_residues: RandomResidues
) -> None:
    widths = (42, 30, 50, 46)
    primes = [_core.prime_search(bits, N, 1)[0] for bits in widths]
    context = _core.Context(N, primes, 1 if word_bits == 0 else 0)
    extension = bfv.behz_extension_primes(N, primes[: context.max_limbs], 257)
    scheme = _core.BfvContext(context, 257, extension)
    digits = context.words(context.max_limbs, word_bits) if word_bits else context.dnum
    keys = [random_residues(N, primes, digits, 2) for _ in ELEMENTS]
    for limbs in (1, 2, 3):
        a = with_zeros(random_residues(N, primes[:limbs], 2), zeros)
        many = bfv.apply_galois_many(scheme, a, ELEMENTS, keys, word_bits)
        for element, key, rotated in zip(ELEMENTS, keys, many, strict=True):
            single = bfv.apply_galois(scheme, a, element, key, word_bits)
            assert np.array_equal(rotated, single)


def test_no_rotation_or_one_is_no_special_case(random_residues: RandomResidues) -> None:
    context = context_of("one prime a digit")
    key = random_residues(N, context.primes, context.dnum, 2)
    a = random_residues(N, context.primes[:3], 2)
    assert _core.apply_galois_many(context, a, [], []) == []
    [only] = _core.apply_galois_many(context, a, [3], [key])
    assert np.array_equal(only, _core.apply_galois(context, a, 3, key))


def test_hoisting_refuses_what_single_rotations_refuse(random_residues: RandomResidues) -> None:
    context = context_of("one prime a digit")
    key = random_residues(N, context.primes, context.dnum, 2)
    a = random_residues(N, context.primes[:3], 2)
    with pytest.raises(_core.ParameterError, match="2 Galois elements and 1 keys"):
        _core.apply_galois_many(context, a, [3, 5], [key])
    with pytest.raises(_core.ParameterError, match="Galois element 4"):
        _core.apply_galois_many(context, a, [3, 4], [key, key])
    with pytest.raises(_core.ParameterError, match="2 polynomials"):
        _core.apply_galois_many(context, np.concatenate([a, a]), [3, 5], [key, key])
    bad = key.copy()
    bad[1, 1, 2, 7] = context.primes[2]
    with pytest.raises(_core.ParameterError, match="the key-switching key has"):
        _core.apply_galois_many(context, a, [3, 5], [key, bad])
    with pytest.raises(_core.ParameterError, match="the key-switching key has"):
        _core.apply_galois(context, a, 3, bad)


class RotationGraph:
    """A graph that rotates one ciphertext by every element, as `lower` writes it."""

    def __init__(
        self, context: _core.Context, limbs: int, form: str, inputs: Sequence[str] = ("c0", "c1")
    ) -> None:
        widths = len(context.primes) - context.max_limbs
        self.graph = _core.Graph(N, context.primes, context.roots)
        self.form = form
        self.base = [*range(limbs), *range(context.max_limbs, context.max_limbs + widths)]
        self.limbs = list(range(limbs))
        size = -(-context.max_limbs // context.dnum)
        self.digits = [self.limbs[i : i + size] for i in range(0, limbs, size)]
        self.single = size == 1
        self.c = [self.node("input", name=name, base=self.limbs, form=form) for name in inputs]

    def node(self, op: str, *operands: int, **attrs: object) -> int:
        """Any node."""
        return self.graph.add_node(op, list(operands), attrs)

    def rotate(self, element: int) -> tuple[int, int]:
        """The two polynomials of a rotation."""
        moved = [self.node("automorph", node, element=element) for node in self.c]
        halves = [self.divided(half) for half in self.products(moved[1], f"k{element}")]
        return self.node("add", moved[0], halves[0]), halves[1]

    def products(self, polynomial: int, key: str) -> list[int]:
        """A polynomial's digits times both halves of a key."""
        target = self.node("intt", polynomial) if self.form == "ntt" else polynomial
        variant = "rns_digit" if self.single else "fast_base_conv"
        raised = [
            self.node("ntt", self.node("mod_up", target, digit=d, base=self.base, variant=variant))
            for d in self.digits
        ]
        return [
            self.node(
                "ksk_inner_product",
                *raised,
                key=key,
                half=half,
                digits=list(range(len(raised))),
                base=self.base,
            )
            for half in (0, 1)
        ]

    def divided(self, product: int) -> int:
        """An inner product, divided by the special primes."""
        total = self.node("intt", product) if self.form == "coeff" else product
        drop = self.base[len(self.limbs) :]
        return self.node("mod_down", total, drop=drop, variant="centred_base_conv")

    def output(self, node: int, name: str) -> None:
        """Hands a value out."""
        self.node("output", node, name=name)


@pytest.mark.parametrize("zeros", ["none", "a few"])
@pytest.mark.parametrize("case", CASES)
def test_rotations_in_a_graph_equal_the_evaluator(
    case: str, zeros: str, random_residues: RandomResidues
) -> None:
    context = context_of(case)
    limbs = context.max_limbs
    graph = RotationGraph(context, limbs, "ntt")
    coefficients = with_zeros(random_residues(N, context.primes[:limbs], 2), zeros)
    a = in_ntt_form(coefficients, context)
    keys = {e: random_residues(N, context.primes, context.dnum, 2) for e in ELEMENTS}
    for element in ELEMENTS:
        for half, node in enumerate(graph.rotate(element)):
            graph.output(node, f"{element}.{half}")
    named = {f"k{element}": key for element, key in keys.items()}
    precomputed = {f"k{e}": _core.PrecomputedKey(context, key, e) for e, key in keys.items()}
    for forms in (named, precomputed):
        results = graph.graph.run({"c0": a[0], "c1": a[1]}, forms)
        for element in ELEMENTS:
            expected = _core.apply_galois(context, a, element, keys[element])
            assert np.array_equal(results[f"{element}.0"], expected[0])
            assert np.array_equal(results[f"{element}.1"], expected[1])


@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_forty_rotations_in_a_graph_equal_one_graph_each(
    form: str, random_residues: RandomResidues
) -> None:
    """More than are computed at once, some values between them handed out, in both forms."""
    context = context_of("narrow primes")
    elements = [pow(3, k, 2 * N) for k in range(1, 41)]
    key = random_residues(N, context.primes, context.dnum, 2)
    inputs = {f"c{i}": random_residues(N, context.primes[:3]) for i in range(2)}
    together = RotationGraph(context, 3, form)
    named = {}
    for element in elements:
        for half, node in enumerate(together.rotate(element)):
            together.output(node, f"{element}.{half}")
        named[f"k{element}"] = key
    kept = together.node("automorph", together.c[1], element=elements[0])
    together.output(kept, "kept")
    results = together.graph.run(inputs, named)
    for element in elements:
        alone = RotationGraph(context, 3, form)
        for half, node in enumerate(alone.rotate(element)):
            alone.output(node, f"{element}.{half}")
        expected = alone.graph.run(inputs, {f"k{element}": key})
        for name, words in expected.items():
            assert np.array_equal(results[name], words)


@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_a_moved_polynomial_is_switched_with_others_and_by_a_key_alone(
    form: str, precomputed: bool, random_residues: RandomResidues
) -> None:
    """One step computes two rotations, and another the products of one of their polynomials."""
    context = context_of("narrow primes")
    inputs = {"c1": random_residues(N, context.primes[:3])}
    keys = {name: random_residues(N, context.primes, context.dnum, 2) for name in "abc"}
    elements = {"a": 3, "b": 9, "c": 3}  # c's products are of a polynomial that is moved before
    forms = {name: _core.PrecomputedKey(context, keys[name], elements[name]) for name in keys}

    def switched(wanted: str, keys: Mapping[str, Key]) -> dict[str, Residues]:
        graph = RotationGraph(context, 3, form, inputs=("c1",))
        first, second = (graph.node("automorph", graph.c[-1], element=e) for e in (3, 9))
        for name, moved, divided in (("a", first, True), ("b", second, True), ("c", first, False)):
            if name in wanted:
                for half, node in enumerate(graph.products(moved, name)):
                    graph.output(graph.divided(node) if divided else node, f"{name}{half}")
        return graph.graph.run(inputs, {name: keys[name] for name in wanted})

    together = switched("abc", forms if precomputed else keys)
    for name in "abc":
        for output, words in switched(name, keys).items():
            assert np.array_equal(together[output], words)


def summed(context: _core.Context, form: str, *, kept: bool) -> _core.Graph:
    """Rotations that are added to each other, to values before and to what is made of them.

    With `kept` every value is handed out, too: then each node is a step by itself.
    """
    graph = RotationGraph(context, 3, form)
    c0, c1 = graph.c
    rotated = [graph.rotate(element) for element in (3, 9)]
    total = [graph.node("add", *pair) for pair in zip(*rotated, strict=True)]
    first = [graph.divided(half) for half in graph.products(c1, "k3")]
    total += [graph.node("add", half, c) for half, c in zip(first, (c1, c0), strict=True)]
    graph.c = [total[0], total[1]]
    second = graph.rotate(9)  # the polynomial to switch is older than the other one
    graph.c = [second[0], second[1]]
    moved = graph.node("automorph", c0, element=3)  # added twice: it is read by two nodes
    third = [graph.divided(half) for half in graph.products(second[1], "k3")]
    total += [graph.node("add", moved, third[0]), graph.node("add", third[1], moved)]
    lone = [graph.divided(half) for half in graph.products(total[2], "k9")]
    total += [graph.node("add", lone[0], lone[1]), graph.node("add", second[0], second[0])]
    for number, node in enumerate(total):
        graph.output(node, f"y{number}")
    for node in set(range(total[-1])) - set(total) if kept else ():
        graph.output(node, f"value {node}")
    return graph.graph


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_what_is_added_to_switched_polynomials_has_the_words_of_nodes_by_themselves(
    form: str, precomputed: bool, threads: int, random_residues: RandomResidues
) -> None:
    context = context_of("narrow primes")
    inputs = {f"c{i}": random_residues(N, context.primes[:3]) for i in range(2)}
    keys: dict[str, Key] = {}
    for element in (3, 9):
        words = random_residues(N, context.primes, context.dnum, 2)
        keys[f"k{element}"] = (
            _core.PrecomputedKey(context, words, element) if precomputed else words
        )
    expected = summed(context, form, kept=True).run(inputs, keys)
    before = _core.threads()
    _core.set_threads(threads)
    try:
        found = summed(context, form, kept=False).run(inputs, keys)
    finally:
        _core.set_threads(before)
    assert len(found) == 8
    for name, words in found.items():
        assert np.array_equal(words, expected[name]), name


@pytest.mark.parametrize("kept", [False, True])
def test_a_sum_of_two_products_has_the_words_of_the_products_that_are_added(
    kept: bool, random_residues: RandomResidues
) -> None:
    context = context_of("narrow primes")
    graph = RotationGraph(context, 3, "ntt", inputs=("a", "b", "c"))
    a, b, c = graph.c
    products = [graph.node("mul", a, b), graph.node("mul", b, c)]
    graph.output(graph.node("add", *products), "y")
    graph.output(graph.node("add", graph.node("mul", a, a), graph.node("mul", c, c)), "z")
    if kept:
        graph.output(products[0], "product")
    inputs = {name: random_residues(N, context.primes[:3]) for name in "abc"}
    found = graph.graph.run(inputs, {})
    q = np.array(context.primes[:3], dtype=object)[:, np.newaxis]
    x, y, z = (inputs[name].astype(object) for name in "abc")
    assert np.array_equal(found["y"], ((x * y + y * z) % q).astype(np.uint64))
    assert np.array_equal(found["z"], ((x * x + z * z) % q).astype(np.uint64))


def test_a_graph_names_the_key_and_the_residue_that_is_wrong(
    random_residues: RandomResidues,
) -> None:
    context = context_of("narrow primes")
    graph = RotationGraph(context, 3, "ntt")
    named = {}
    for element in (3, 9):
        for half, node in enumerate(graph.rotate(element)):
            graph.output(node, f"{element}.{half}")
        named[f"k{element}"] = random_residues(N, context.primes, context.dnum, 2)
    named["k9"][2, 0, 3, -1] = context.primes[3]
    inputs = {f"c{i}": random_residues(N, context.primes[:3]) for i in range(2)}
    with pytest.raises(_core.ParameterError, match="at position 255 of limb 3") as caught:
        graph.graph.run(inputs, named)
    assert str(caught.value).startswith("key 'k9' has ")
