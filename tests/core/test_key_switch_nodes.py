"""Digits, pairs and whole key switchings as nodes: the words of the primitives they stand for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product, zip_longest
from math import prod

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith.objects import Residues

N = 256
Key = Residues | _core.OnTheFlyKey | _core.PrecomputedKey
Pair = tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """Bits of data and special primes, and how many primes a digit has at the highest level."""

    data: tuple[int, ...]
    special: tuple[int, ...]
    digit: int

    def sizes(self, limbs: int) -> list[int]:
        """The sizes of the digits of that many data primes."""
        return [min(self.digit, limbs - i) for i in range(0, limbs, self.digit)]


SHAPES = {
    "one prime a digit": Shape((60, 42, 50, 46), (61,), 1),
    "narrow primes": Shape((20, 20, 21), (22,), 1),
    "narrow special prime": Shape((50, 50, 50), (30,), 1),
    "two primes a digit": Shape((45, 45, 44, 46, 46), (47, 47), 2),
    "uneven digits": Shape((30, 40, 50, 60, 60), (61, 61, 60), 3),
    "five primes a digit": Shape((32,) * 7, (33,) * 5, 5),
}

ELEMENTS = (1, 3, 2 * N - 1, 3**7 % (2 * N))


@dataclass
class Program:
    """A graph over data, special and one extension prime, and inputs for it."""

    shape: Shape
    make: RandomResidues
    inputs: dict[str, Residues] = field(default_factory=dict)
    n: int = N

    def __post_init__(self) -> None:
        widths = (*self.shape.data, *self.shape.special)
        found = {bits: _core.prime_search(bits, self.n, widths.count(bits)) for bits in set(widths)}
        self.primes = [found[bits].pop(0) for bits in widths]
        digits = -(-len(self.shape.data) // self.shape.digit)
        self.context = _core.Context(self.n, self.primes, len(self.shape.special), digits)
        extension = next(q for q in _core.prime_search(40, self.n, 9) if q not in self.primes)
        primes = [*self.primes, extension]
        self.graph = _core.Graph(
            self.n, primes, [_core.smallest_root(q, self.n) for q in primes], 1
        )

    @property
    def special(self) -> list[int]:
        """The special primes."""
        return list(range(len(self.shape.data), len(self.primes)))

    def key(self, digits: int) -> Residues:
        """A random full key."""
        return self.make(self.n, self.primes, digits, 2)

    def input(self, name: str, base: Sequence[int], form: str) -> int:
        """An input node with random residues."""
        words = self.make(self.n, [self.primes[i] for i in base])
        words[0, 7:9] = 0
        self.inputs[name] = words
        return self.node("input", name=name, base=list(base), form=form)

    def node(self, op: str, *operands: int, **attrs: object) -> int:
        """Any node."""
        return self.graph.add_node(op, list(operands), attrs)

    def output(self, name: str, *nodes: int) -> None:
        """Output nodes, named name.0, name.1 and so on."""
        for number, node in enumerate(nodes):
            self.node("output", node, name=f"{name}.{number}")

    def halves(self, pair: int) -> Pair:
        """The halves of a pair."""
        return self.node("half", pair, half=0), self.node("half", pair, half=1)

    def base(self, node: int) -> list[int]:
        """The base of a node's value."""
        return self.graph.node_type(node)[0]

    def form(self, node: int) -> str:
        """The form of a node's value."""
        return self.graph.node_type(node)[1]

    def run(self, keys: dict[str, Key]) -> dict[str, Residues]:
        """All outputs."""
        return self.graph.run(self.inputs, keys)

    # ---- what the nodes stand for, in polynomials ---------------------------------------------

    def cut(self, a: int, sizes: Sequence[int], variant: str, base: Sequence[int]) -> list[int]:
        """The digits of a polynomial, in NTT form."""
        coefficients = self.node("intt", a) if self.form(a) == "ntt" else a
        if variant == "words":
            raised = [
                self.node("decompose", coefficients, digit=j, word_bits=size, base=list(base))
                for j, size in enumerate(sizes)
            ]
        else:
            own, raised = self.base(a), []
            for size in sizes:
                digit, own = own[:size], own[size:]
                attrs = {"digit": digit, "base": list(base), "variant": variant}
                raised.append(self.node("mod_up", coefficients, **attrs))
        return [self.node("ntt", node) for node in raised]

    def raised(self, sums: Pair, added: Sequence[int], element: int) -> Pair:
        """Sums in NTT form plus P times what is added, moved."""
        result, base = list(sums), self.base(sums[0])
        for half, node in enumerate(added):
            moved = self.node("automorph", node, element=element)
            values = self.node("ntt", moved) if self.form(node) == "coeff" else moved
            attrs = {"digit": self.base(node), "base": base, "variant": "scaled"}
            result[half] = self.node("add", sums[half], self.node("mod_up", values, **attrs))
        return result[0], result[1]

    def products(self, digits: Sequence[int], key: str, added: Sequence[int], element: int) -> Pair:
        """key_product."""
        moved = [self.node("automorph", digit, element=element) for digit in digits]
        base, numbers = self.base(digits[0]), list(range(len(digits)))
        first, second = (
            self.node("ksk_inner_product", *moved, key=key, half=h, digits=numbers, base=base)
            for h in (0, 1)
        )
        return self.raised((first, second), added, element)

    def switched(self, operands: Sequence[int], attrs: dict[str, object]) -> Pair:
        """key_switch with the same operands and attributes."""
        a, *added = operands
        element, sizes, base, drop = (attrs[n] for n in ("element", "sizes", "base", "drop"))
        assert isinstance(element, int)
        assert isinstance(sizes, list)
        assert isinstance(base, list)
        moved = self.node("automorph", a, element=element)
        digits = self.cut(moved, sizes, str(attrs["variant"]), base)
        sums = self.products(digits, str(attrs["key"]), (), 1)
        result = list(self.raised(sums, added, element))
        for half in (0, 1):
            if self.form(a) == "coeff":
                result[half] = self.node("intt", result[half])
            if drop:
                down = {"drop": drop, "variant": "centred_base_conv"}
                result[half] = self.node("mod_down", result[half], **down)
        return result[0], result[1]


@pytest.fixture(params=SHAPES)
def program(request: pytest.FixtureRequest, random_residues: RandomResidues) -> Program:
    return Program(SHAPES[request.param], random_residues)


def word_sizes(program: Program, base: Sequence[int], bits: int) -> list[int]:
    """Words that cover the integers of a base."""
    wanted = prod(program.primes[i] for i in base).bit_length()
    return [bits] * -(-wanted // bits)


def check(program: Program, keys: dict[str, Key], expected: str, found: str) -> None:
    """Outputs of two names are equal word by word."""
    results = program.run(keys)
    names = [name for name in results if name.startswith(f"{expected}.")]
    assert names
    for name in names:
        assert np.array_equal(results[name], results[name.replace(expected, found, 1)]), name


@pytest.mark.parametrize("form", ["ntt", "coeff"])
@pytest.mark.parametrize("variant", ["fast_base_conv", "centred_digit", "words"])
def test_a_key_switch_has_the_words_of_its_primitives(
    program: Program, variant: str, form: str
) -> None:
    """At two levels, by every kind of division, with none, one and two polynomials added."""
    count, special = len(program.shape.data), program.special
    keys: dict[str, Key] = {}
    for limbs in (count, count - 1):
        data = list(range(limbs))
        c = [program.input(f"{limbs} {i}", data, form) for i in range(3)]
        sizes = word_sizes(program, data, 70) if variant == "words" else program.shape.sizes(limbs)
        drops = (special, [limbs - 1, *special], special[::-1], [], [0], special[-1:])
        for (index, drop), added, element in product(enumerate(drops), range(3), ELEMENTS[:3]):
            key = f"k{limbs}"
            keys.setdefault(key, program.key(len(sizes) + 1))
            attrs = {"key": key, "element": element, "sizes": sizes, "variant": variant}
            attrs |= {"base": [*data, *special], "drop": drop}
            name = f"{limbs} {index} {added} {element}"
            program.output(f"expected {name}", *program.switched(c[: added + 1], attrs))
            pair = program.node("key_switch", *c[: added + 1], **attrs)
            program.output(f"found {name}", *program.halves(pair))
            kept = [i for i in [*data, *special] if i not in drop]
            assert program.graph.node_type(pair) == (kept, form)
            assert program.graph.node_kind(pair) == ("pair", 2)
    results = program.run(keys)
    for name, words in results.items():
        if name.startswith("expected"):
            assert np.array_equal(words, results[name.replace("expected", "found")]), name


@pytest.mark.parametrize("variant", ["fast_base_conv", "centred_digit", "words"])
def test_bases_may_have_their_primes_in_any_order(program: Program, variant: str) -> None:
    count, special = len(program.shape.data), program.special
    data = list(range(count))[::-1]
    base = [*special, *data[1:], data[0]]
    sizes = word_sizes(program, data, 33) if variant == "words" else program.shape.sizes(count)
    key = {"k": program.key(len(sizes))}
    c = [program.input(f"c{i}", data, "ntt") for i in range(3)]
    for drop in (special, [data[0]], []):
        attrs = {"key": "k", "element": 5, "sizes": sizes, "variant": variant}
        attrs |= {"base": base, "drop": drop}
        program.output(f"expected.{drop}", *program.switched(c, attrs))
        program.output(f"found.{drop}", *program.halves(program.node("key_switch", *c, **attrs)))
    check(program, key, "expected", "found")


def test_words_need_no_special_prime(program: Program) -> None:
    data = list(range(len(program.shape.data)))
    c = [program.input(f"c{i}", data, "coeff") for i in range(2)]
    for bits in (19, 64, 1000):
        sizes = word_sizes(program, data, bits)
        attrs = {"key": f"k{bits}", "element": 3, "sizes": sizes, "variant": "words"}
        attrs |= {"base": data, "drop": []}
        program.output(f"expected.{bits}", *program.switched(c, attrs))
        program.output(f"found.{bits}", *program.halves(program.node("key_switch", *c, **attrs)))
    keys = {
        f"k{bits}": program.key(len(word_sizes(program, data, bits))) for bits in (19, 64, 1000)
    }
    check(program, keys, "expected", "found")


def test_digits_are_those_of_mod_up_and_of_words(program: Program) -> None:
    """A key that is 1 for one digit, and else 0, shows this digit."""
    data = list(range(len(program.shape.data)))
    base = [*data, *program.special]
    keys: dict[str, Key] = {}
    for form, variant in product(("ntt", "coeff"), ("fast_base_conv", "centred_digit", "words")):
        name = f"{form} {variant}"
        a = program.input(name, data, form)
        sizes = (
            word_sizes(program, data, 50) if variant == "words" else program.shape.sizes(len(data))
        )
        digits = program.node("digits", a, sizes=sizes, variant=variant, base=base)
        assert program.graph.node_type(digits) == (base, "ntt")
        assert program.graph.node_kind(digits) == ("digits", len(sizes))
        for j, digit in enumerate(program.cut(a, sizes, variant, base)):
            shown = np.zeros((len(sizes), 2, len(program.primes), N), dtype=np.uint64)
            shown[j, 1] = 1
            keys[f"{name} {j}"] = shown
            pair = program.node("key_product", digits, key=f"{name} {j}", element=1)
            zero = program.node("sub", digit, digit)
            program.output(f"expected.{name}.{j}", zero, digit)
            program.output(f"found.{name}.{j}", *program.halves(pair))
    check(program, keys, "expected", "found")


Form = Callable[[Program, str, int], tuple[Residues, Key]]


def full(program: Program, _: str, __: int) -> tuple[Residues, Key]:
    words = program.key(program.context.dnum)
    return words, words


def precomputed(program: Program, _: str, element: int) -> tuple[Residues, Key]:
    words = program.key(program.context.dnum)
    return words, _core.PrecomputedKey(program.context, words, element)


def precomputed_for_another_element(program: Program, _: str, __: int) -> tuple[Residues, Key]:
    words = program.key(program.context.dnum)
    return words, _core.PrecomputedKey(program.context, words, 9)


def on_the_fly(program: Program, name: str, _: int) -> tuple[Residues, Key]:
    words, seed = program.key(program.context.dnum), name.encode()[-10:].rjust(10)
    for digit, limb in product(range(len(words)), range(len(program.primes))):
        words[digit, 1, limb] = _core.expand_key_half(
            seed, digit, limb, program.primes[limb], program.n
        )
    return words, _core.OnTheFlyKey(np.ascontiguousarray(words[:, 0]), seed)


KEY_FORMS = (full, precomputed, precomputed_for_another_element, on_the_fly)


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("variant", ["fast_base_conv", "centred_digit"])
def test_shared_digits_times_keys_of_every_form_have_the_words_of_primitives(
    program: Program, variant: str, threads: int
) -> None:
    """Rotations of one ciphertext, as pairs: divided or not, and products with two users."""
    count, special = len(program.shape.data), program.special
    _core.set_threads(threads)
    keys: dict[str, Key] = {}
    full_keys: dict[str, Key] = {}
    for limbs in (count, count - 1):
        data = list(range(limbs))
        base = [*data, *special]
        c = [program.input(f"{limbs} {i}", data, "ntt") for i in range(3)]
        small = program.input(f"{limbs} small", data[1:], "ntt")
        sizes = program.shape.sizes(limbs)
        digits = program.node("digits", c[0], sizes=sizes, variant=variant, base=base)
        parts = program.cut(c[0], sizes, variant, base)
        for form, element in product(KEY_FORMS, ELEMENTS):
            key = f"{form.__name__} {element}"
            if key not in keys:
                full_keys[key], keys[key] = form(program, key, element)
            for added in ((), (c[1],), (c[1], c[2]), (small,)):
                name = f"{limbs} {key} {added}"
                sums = program.products(parts, key, added, element)
                pair = program.node("key_product", digits, *added, key=key, element=element)
                down = {"drop": special, "variant": "centred_base_conv"}
                divided = [program.node("mod_down", half, **down) for half in sums]
                if len(added) == 1:
                    program.output(f"expected sum {name}", *sums)
                    program.output(f"found sum {name}", *program.halves(pair))
                program.output(f"expected {name}", *divided)
                quotient = program.node("mod_down", pair, **down)
                program.output(f"found {name}", *program.halves(quotient))
    expected, found = program.run(full_keys), program.run(keys)
    for name, words in expected.items():
        if name.startswith("expected"):
            assert np.array_equal(words, found[name.replace("expected", "found", 1)]), name
            assert np.array_equal(words, expected[name.replace("expected", "found", 1)]), name


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_switches_of_one_polynomial_have_the_words_of_each_alone(
    program: Program, form: str, threads: int
) -> None:
    """More than are computed at once, by keys of all forms; some need others' results."""
    _core.set_threads(threads)
    special, data = program.special, list(range(len(program.shape.data)))
    base = [*data, *special]
    c = [program.input(f"c{i}", data, form) for i in range(2)]
    keys: dict[str, Key] = {}
    full_keys: dict[str, Key] = {}
    last = c[1]
    for number in range(20):
        make, element = KEY_FORMS[number % 4], pow(3, number // 2, 2 * N)
        key = f"k{number}"
        full_keys[key], keys[key] = make(program, key, element)
        attrs = {"key": key, "element": element, "sizes": program.shape.sizes(len(data))}
        attrs |= {"variant": "fast_base_conv", "base": base, "drop": special}
        operands = [c[0], last] if number % 3 else [c[0]]
        pair = program.node("key_switch", *operands, **attrs)
        found = program.halves(pair)
        program.output(f"expected.{number}", *program.switched(operands, attrs))
        program.output(f"found.{number}", *found)
        if number in (6, 11):
            last = found[1]
    check(program, keys, "expected", "found")
    check(program, full_keys, "expected", "found")


def test_pairs_are_computed_half_by_half(program: Program) -> None:
    """Every operation that takes pairs, on a pair and on its halves."""
    data, special = list(range(len(program.shape.data))), program.special
    sizes = program.shape.sizes(len(data))
    attrs = {"element": 3, "sizes": sizes, "variant": "fast_base_conv", "drop": special}
    c = program.input("c", data, "ntt")
    w = program.input("w", data, "ntt")
    pairs = [
        program.node("key_switch", c, key=key, base=[*data, *special], **attrs) for key in "ab"
    ]
    halves = [program.halves(pair) for pair in pairs]
    coefficients = program.node("intt", pairs[0])
    scalars = [q - 2 for q in program.primes[: len(data)]]

    def each(op: str, *operands: Sequence[int], **given: object) -> Pair:
        first, second = (program.node(op, *(x[h] for x in operands), **given) for h in (0, 1))
        return first, second

    in_coefficients = each("intt", halves[0])
    down = {"drop": data[-1:], "variant": "rounded"}
    up = {"digit": data, "base": [*special, *data], "variant": "scaled"}
    cases: dict[str, tuple[int, Pair]] = {
        "add": (program.node("add", *pairs), each("add", *halves)),
        "sub": (program.node("sub", *pairs), each("sub", *halves)),
        "neg": (program.node("neg", pairs[0]), each("neg", halves[0])),
        "mul": (program.node("mul", pairs[0], w), each("mul", halves[0], (w, w))),
        "automorph": (
            program.node("automorph", pairs[0], element=5),
            each("automorph", halves[0], element=5),
        ),
        "moved coefficients": (
            program.node("automorph", coefficients, element=5),
            each("automorph", in_coefficients, element=5),
        ),
        "intt": (coefficients, in_coefficients),
        "ntt": (program.node("ntt", program.node("neg", coefficients)), each("neg", halves[0])),
        "mod_down": (
            program.node("mod_down", pairs[0], **down),
            each("mod_down", halves[0], **down),
        ),
        "drop_limbs": (
            program.node("drop_limbs", pairs[0], base=data[1:]),
            each("drop_limbs", halves[0], base=data[1:]),
        ),
        "mod_up": (program.node("mod_up", pairs[0], **up), each("mod_up", halves[0], **up)),
        "mul_scalar": (
            program.node("mul_scalar", pairs[0], values=scalars),
            each("mul_scalar", halves[0], values=scalars),
        ),
    }
    for name, (pair, expected) in cases.items():
        program.output(f"found.{name}", *program.halves(pair))
        program.output(f"expected.{name}", *expected)
        assert program.graph.node_type(pair) == program.graph.node_type(expected[0]), name
    check(program, {key: program.key(len(sizes)) for key in "ab"}, "expected", "found")


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("degree", [N, 4096])
def test_steps_that_need_no_other_limb_have_the_words_of_primitives(
    random_residues: RandomResidues, degree: int, form: Form, threads: int
) -> None:
    """Rotations times plaintexts, added up undivided, and what else is made of them limb by limb.

    Some values are read by other steps or are outputs, too, and limbs are longer than what is
    worked on at a time.
    """
    _core.set_threads(threads)
    program = Program(SHAPES["two primes a digit"], random_residues, n=degree)
    data, special = list(range(4)), program.special
    base, sizes = [*data, *special], program.shape.sizes(4)
    c = [program.input(f"c{i}", data, "ntt") for i in range(2)]
    w = [program.input(f"w{i}", base, "ntt") for i in range(12)]
    cut = {"sizes": sizes, "variant": "fast_base_conv", "base": base}
    digits, parts = program.node("digits", c[1], **cut), program.cut(c[1], **cut)
    elements, down = (1, 3, 2 * degree - 1), {"drop": special, "variant": "centred_base_conv"}
    keys: dict[str, Key] = {}
    full_keys: dict[str, Key] = {}
    pairs = []
    for element in elements:
        key = f"k{element}"
        full_keys[key], keys[key] = form(program, key, element)
        pairs.append(program.node("key_product", digits, c[0], key=key, element=element))
    expected = [program.products(parts, f"k{e}", [c[0]], e) for e in elements]
    scalars = [program.primes[i] - 3 for i in base]

    def linear(values: Sequence[int]) -> list[int]:
        """Undivided sums: of products and of other values."""
        sums = []
        for first in (0, 3, 6):
            terms = [program.node("mul", a, w[first + i]) for i, a in enumerate(values)]
            sums.append(program.node("add", terms[0], program.node("add", terms[1], terms[2])))
        scaled = program.node("mul_scalar", sums[1], values=scalars)
        other = program.node("sub", program.node("neg", sums[0]), scaled)
        return [program.node("add", other, program.node("mul", sums[2], w[9])), sums[2], values[1]]

    for name, node in zip(("all", "sum", "product"), linear(pairs), strict=True):
        program.output(f"found undivided {name}", *program.halves(node))
        program.output(f"found {name}", *program.halves(program.node("mod_down", node, **down)))
    up = {"digit": data, "base": base, "variant": "scaled"}
    first, second = program.halves(linear(pairs)[0])
    raised = program.node("add", first, program.node("mod_up", c[0], **up))
    program.output("found raised", program.node("sub", second, raised))
    plain = [linear([pair[half] for pair in expected])[0] for half in (0, 1)]
    moved = [
        program.node("automorph", node, element=1)
        for node in (*plain, program.node("mod_up", c[0], **up))
    ]
    raised = program.node("add", moved[0], moved[2])
    program.output("expected raised", program.node("sub", moved[1], raised))
    for half in (0, 1):
        values = linear([pair[half] for pair in expected])
        for name, node in zip(("all", "sum", "product"), values, strict=True):
            words = program.node("automorph", program.node("automorph", node, element=1), element=1)
            program.node("output", words, name=f"expected undivided {name}.{half}")
            quotient = program.node("mod_down", words, **down)
            program.node("output", quotient, name=f"expected {name}.{half}")
    wanted, found = program.run(full_keys), program.run(keys)
    for name, words in wanted.items():
        if name.startswith("expected"):
            assert np.array_equal(words, found[name.replace("expected", "found", 1)]), name
            assert np.array_equal(words, wanted[name.replace("expected", "found", 1)]), name
    program.inputs["w4"][3, degree - 1] = program.primes[3]
    message = f"input 'w4' has {program.primes[3]} at position {degree - 1} of limb 3"
    with pytest.raises(_core.ParameterError, match=message):
        program.run(keys)


@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_scalars_are_multiplied_and_added_as_constant_polynomials(
    program: Program, form: str
) -> None:
    data = list(range(len(program.shape.data)))[::-1]
    a = program.input("a", data, form)
    scalar = 3**90 + 5
    values = [scalar % program.primes[i] for i in data]
    program.output("product", program.node("mul_scalar", a, values=values))
    program.output("sum", program.node("add_scalar", a, values=values))
    top = [program.primes[i] - 1 for i in data]
    program.output("top", program.node("mul_scalar", a, values=top))
    results = program.run({})
    for limb, prime in enumerate(data):
        q, words = program.primes[prime], program.inputs["a"][limb].tolist()
        assert results["product.0"][limb].tolist() == [w * scalar % q for w in words]
        assert results["top.0"][limb].tolist() == [-w % q for w in words]
        changed = [(w + scalar) % q for w in words]
        if form == "coeff":
            changed[1:] = words[1:]
        assert results["sum.0"][limb].tolist() == changed


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 5, 17, 40])
@pytest.mark.parametrize("form", ["ntt", "coeff"])
def test_sums_of_multiples_have_the_words_of_integers(
    program: Program, form: str, count: int, threads: int
) -> None:
    """Chains and trees of multiples by scalars, with products and other values among them."""
    _core.set_threads(threads)
    data = list(range(len(program.shape.data)))
    primes = [program.primes[i] for i in data]
    x = [program.input(f"x{i}", data, form) for i in range(count)]
    y, z = (program.input(name, data, form) for name in "yz")
    scalars = [[q - 1 - i if i % 2 else 3**40 * (i + 1) % q for q in primes] for i in range(count)]
    products = 2 if form == "ntt" else 0

    def terms() -> list[int]:
        found = [
            program.node("mul_scalar", a, values=each) for a, each in zip(x, scalars, strict=True)
        ]
        others = [y, *(program.node("mul", y, z) for _ in range(products)), z]
        return [term for pair in zip_longest(found, others) for term in pair if term is not None]

    for tree in (False, True):
        for left in (0, 1):  # the last one is read elsewhere, too
            given = terms()
            kept = given[-1]
            while len(given) > 1:
                pairs = [*zip(given[::2], given[1::2], strict=False)]
                merged = [program.node("add", a, b) for a, b in (pairs if tree else pairs[:1])]
                given = [*merged, *given[2 * len(merged) :]]
            program.output(f"sum {tree} {left}", given[0])
            if left:
                program.output(f"kept {tree}", kept)
    results = program.run({})
    q = np.array(primes, dtype=object)[:, np.newaxis]
    values = {name: words.astype(object) for name, words in program.inputs.items()}
    expected = values["y"] + values["z"] + products * values["y"] * values["z"]
    for i, each in enumerate(scalars):
        expected += values[f"x{i}"] * np.array(each, dtype=object)[:, np.newaxis]
    for tree in (False, True):
        for left in (0, 1):
            assert np.array_equal(results[f"sum {tree} {left}.0"], expected % q)


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 17, 40])
def test_sums_of_products_have_the_words_of_integers(
    program: Program, count: int, threads: int
) -> None:
    """Chains and trees of polynomials and of pairs, with other terms, and with values kept."""
    _core.set_threads(threads)
    data, special = list(range(len(program.shape.data))), program.special
    sizes = program.shape.sizes(len(data))
    attrs = {"sizes": sizes, "variant": "fast_base_conv", "drop": special}
    attrs |= {"base": [*data, *special], "key": "k"}
    x = [program.input(f"x{i}", data, "ntt") for i in range(count)]
    w = [program.input(f"w{i}", data, "ntt") for i in range(count)]
    p = [program.node("key_switch", a, element=3, **attrs) for a in x]
    program.output("y", *x)
    for i, pair in enumerate(p):
        program.output(f"pair{i}", *program.halves(pair))

    def total(terms: list[int], *, tree: bool) -> int:
        while len(terms) > 1:
            sums = [
                program.node("add", a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)
            ]
            rest = terms[2 * len(sums) :]
            terms = (
                [*sums, *rest] if tree else [program.node("add", terms[0], terms[1]), *terms[2:]]
            )
        return terms[0]

    for tree, extra in product((False, True), (0, 1, 3)):
        name = f"{tree} {extra}"
        products = [program.node("mul", a, b) for a, b in zip(x, w, strict=True)]
        program.output(f"sum {name}", total([*x[:extra], *products], tree=tree))
        pairs = [program.node("mul", a, b) for a, b in zip(p, w, strict=True)]
        program.output(f"pairs {name}", *program.halves(total([*pairs, *p[:extra]], tree=tree)))
        if extra == 0:
            program.output(f"kept {tree}", products[-1])
            squares = [program.node("mul", a, a) for a in x]
            program.output(f"squares {tree}", total(squares, tree=tree))
    results = program.run({"k": program.key(len(sizes))})
    q = np.array(program.primes[: len(data)], dtype=object)[:, np.newaxis]
    wide = {name: words.astype(object) for name, words in results.items()}
    xs = [wide[f"y.{i}"] for i in range(count)]
    ws = [program.inputs[f"w{i}"].astype(object) for i in range(count)]
    for tree, extra in product((False, True), (0, 1, 3)):
        expected = (sum(a * b for a, b in zip(xs, ws, strict=True)) + sum(xs[:extra])) % q
        assert np.array_equal(wide[f"sum {tree} {extra}.0"], expected)
        for half in (0, 1):
            ps = [wide[f"pair{i}.{half}"] for i in range(count)]
            expected = (sum(a * b for a, b in zip(ps, ws, strict=True)) + sum(ps[:extra])) % q
            assert np.array_equal(wide[f"pairs {tree} {extra}.{half}"], expected)
    for tree in (False, True):
        assert np.array_equal(wide[f"kept {tree}.0"], xs[-1] * ws[-1] % q)
        assert np.array_equal(wide[f"squares {tree}.0"], sum(a * a for a in xs) % q)


# ---- what is refused ---------------------------------------------------------------------------

CUT = {"sizes": [1, 1], "variant": "fast_base_conv", "base": [0, 1, 3]}
PRODUCT = {"key": "k", "element": 1}
SWITCH = {**CUT, **PRODUCT, "drop": [3]}
# Nodes of the graph below.
NTT, COEFF, SMALL, DIGITS, PAIR, OUTPUT = range(6)


@pytest.mark.parametrize(
    ("op", "operands", "attrs", "message"),
    [
        ("output", [PAIR], {"name": "p"}, "a pair: it takes polynomials; take a half"),
        ("output", [DIGITS], {"name": "p"}, "digits: it takes polynomials"),
        ("neg", [DIGITS], {}, "digits: it takes polynomials or pairs"),
        ("add", [PAIR, NTT], {}, "a polynomial and a pair"),
        ("add", [DIGITS, DIGITS], {}, "digits: it takes polynomials or pairs"),
        ("mul", [PAIR, PAIR], {}, "a pair: it takes polynomials"),
        ("mul", [NTT, PAIR], {}, "name the pair first"),
        ("mul", [PAIR, SMALL], {}, "different bases or forms"),
        ("mul", [PAIR, COEFF], {}, "different bases or forms"),
        ("mod_up", [PAIR], {"digit": [0], "base": [0, 3], "variant": "rns_digit"}, "a pair"),
        ("lift", [PAIR], {"base": [0, 1, 4], "variant": "hps"}, "a pair"),
        ("decompose", [PAIR], {"digit": 0, "word_bits": 9, "base": [0]}, "a pair"),
        (
            "ksk_inner_product",
            [PAIR],
            {"key": "k", "half": 0, "digits": [0], "base": [0, 1]},
            "a pair",
        ),
        ("digits", [PAIR], CUT, "a pair"),
        ("digits", [DIGITS], CUT, "digits: it takes polynomials"),
        ("digits", [NTT, NTT], CUT, "has 2 operands and takes 1"),
        ("digits", [NTT], {**CUT, "sizes": [1]}, "do not add up to its operand's 2 primes"),
        ("digits", [NTT], {**CUT, "sizes": [1, 2]}, "do not add up"),
        ("digits", [NTT], {**CUT, "sizes": [2, 0]}, "do not add up"),
        ("digits", [NTT], {**CUT, "sizes": []}, "do not add up"),
        ("digits", [NTT], {**CUT, "sizes": [2**64 - 1, 3]}, "do not add up"),
        ("digits", [NTT], {**CUT, "sizes": 2}, "needs a list of integers"),
        ("digits", [NTT], {**CUT, "base": [0, 3]}, "lacks a prime of its operand's"),
        ("digits", [NTT], {**CUT, "base": [0, 1, 4]}, "over an extension prime"),
        ("digits", [NTT], {**CUT, "base": [0, 1, 5]}, "names prime 5"),
        ("digits", [NTT], {**CUT, "base": []}, "at least one index"),
        ("digits", [NTT], {**CUT, "variant": "rns_digit"}, "known is 'fast_base_conv'"),
        ("digits", [NTT], {**CUT, "variant": "words"}, "has 2 words in 'sizes', .* 60 bits"),
        ("digits", [NTT], {**CUT, "variant": "words", "sizes": [0]}, "at least 1 bit"),
        ("digits", [NTT], {**CUT, "variant": "words", "sizes": []}, "at least 1 bit"),
        ("digits", [NTT], {**CUT, "variant": "words", "sizes": [40, 30]}, "equal sizes"),
        ("digits", [NTT], {**CUT, "variant": "words", "sizes": [2**64 - 1] * 2}, "2 words"),
        ("digits", [NTT], {**CUT, "element": 1}, "attribute 'element' that it does not know"),
        ("key_product", [], PRODUCT, "has 0 operands and takes 1 to 3"),
        ("key_product", [DIGITS, NTT, NTT, NTT], PRODUCT, "has 4 operands and takes 1 to 3"),
        ("key_product", [NTT], PRODUCT, "a polynomial: its first operand must be digits"),
        ("key_product", [DIGITS, PAIR], PRODUCT, "a pair: it takes polynomials"),
        ("key_product", [DIGITS, DIGITS], PRODUCT, "digits: it takes polynomials"),
        ("key_product", [DIGITS, NTT, SMALL], PRODUCT, "different bases or forms"),
        ("key_product", [DIGITS, COEFF], PRODUCT, "adds in NTT form"),
        ("key_product", [DIGITS, 6], PRODUCT, "a prime which the digits' base lacks"),
        ("key_product", [DIGITS], {**PRODUCT, "element": 2}, "Galois element 2"),
        ("key_product", [DIGITS], {**PRODUCT, "element": 513}, "below 2N = 512"),
        ("key_product", [DIGITS], {"element": 1}, "lacks its attribute 'key'"),
        ("key_switch", [DIGITS], SWITCH, "digits: it takes polynomials"),
        ("key_switch", [NTT, COEFF], SWITCH, "different bases or forms"),
        ("key_switch", [NTT, PAIR], SWITCH, "a pair: it takes polynomials"),
        ("key_switch", [NTT] * 4, SWITCH, "has 4 operands"),
        ("key_switch", [NTT], {**SWITCH, "drop": [2]}, "not in 'base', or all of 'base'"),
        ("key_switch", [NTT], {**SWITCH, "drop": [0, 1, 3]}, "not in 'base', or all of 'base'"),
        ("key_switch", [NTT], {**SWITCH, "drop": [3, 3]}, "none twice"),
        ("key_switch", [NTT], {**SWITCH, "drop": [9]}, "names prime 9"),
        ("key_switch", [NTT], {**SWITCH, "drop": 3}, "needs a list of indices"),
        ("key_switch", [NTT], {**SWITCH, "element": 4}, "Galois element 4"),
        ("key_switch", [NTT], {**SWITCH, "sizes": [3]}, "do not add up"),
        (
            "key_switch",
            [NTT, NTT],
            {**SWITCH, "base": [0, 3], "variant": "words", "sizes": [30, 30]},
            "over primes that its 'base' lacks",
        ),
        ("half", [NTT], {"half": 0}, "a polynomial: it takes a half of a pair"),
        ("half", [PAIR], {"half": 2}, "half 2; a pair has the halves 0 and 1"),
        ("half", [PAIR, PAIR], {"half": 0}, "has 2 operands"),
        ("mul_scalar", [NTT], {"values": [1]}, "has 1 residues in 'values', .* 2 primes"),
        ("mul_scalar", [NTT], {"values": [1, 2**64 - 1]}, "not below its prime"),
        ("mul_scalar", [DIGITS], {"values": [1, 2, 3]}, "digits"),
        ("add_scalar", [PAIR], {"values": [1, 2]}, "a pair"),
        ("add_scalar", [NTT], {}, "lacks its attribute 'values'"),
    ],
)
def test_a_wrong_node_is_refused_and_leaves_the_graph_as_it_was(
    op: str, operands: list[int], attrs: dict[str, object], message: str
) -> None:
    primes = _core.prime_search(30, N, 5)
    graph = _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes], 1)
    for name, base, form in (("a", [0, 1], "ntt"), ("b", [0, 1], "coeff"), ("c", [0], "ntt")):
        graph.add_node("input", [], {"name": name, "base": base, "form": form})
    graph.add_node("digits", [NTT], CUT)
    graph.add_node("key_switch", [NTT], SWITCH)
    graph.add_node("output", [NTT], {"name": "out"})
    graph.add_node("input", [], {"name": "d", "base": [2], "form": "ntt"})
    with pytest.raises(_core.GraphError, match=message):
        graph.add_node(op, operands, attrs)
    assert len(graph) == 7


@pytest.mark.parametrize("op", ["key_switch", "key_product", "key_switch by steps"])
def test_keys_that_do_not_fit_are_refused(op: str, random_residues: RandomResidues) -> None:
    program = Program(SHAPES["narrow primes"], random_residues)
    c = program.input("c", [0, 1, 2], "ntt")
    cut = {"sizes": [1, 1, 1], "base": [0, 1, 2, 3], "variant": "fast_base_conv"}
    if op == "key_product":
        pair = program.node(op, program.node("digits", c, **cut), key="k", element=3)
    else:
        cut["variant"] = "centred_digit" if "steps" in op else "fast_base_conv"
        pair = program.node("key_switch", c, key="k", element=3, drop=[3], **cut)
    program.output("y", *program.halves(pair))
    key = program.key(3)
    bad = key.copy()
    bad[1, 0, 2, 9] = program.primes[2]
    for keys, error, message in [
        ({}, _core.GraphError, "needs the key 'k'"),
        ({"k": key[:2].copy()}, _core.GraphError, "'k' has 2 digits .* at least 3 digits"),
        ({"k": bad}, ValueError, "key 'k' has"),
        ({"k": key, "l": key}, _core.GraphError, "has no key 'l'"),
    ]:
        with pytest.raises(error, match=message):
            program.run(keys)
    other = Program(SHAPES["one prime a digit"], random_residues)
    foreign = _core.PrecomputedKey(other.context, other.key(other.context.dnum))
    with pytest.raises(_core.GraphError, match="the precomputed key 'k'"):
        program.run({"k": foreign})
    assert program.run({"k": key})["y.0"].shape[1] == N
