"""Rules of pairs, digits, products with keys, key switches and scalars."""

import re
from collections.abc import Callable

import pytest
from tests.graph.random_graphs import KEY_PRIMES, empty

from ringsmith.errors import ProgramError
from ringsmith.graph import Form, PolyType
from ringsmith.graph.subroutines import Cut
from ringsmith.graph.types import Kind

BASE = tuple(KEY_PRIMES)
PRIMES = Cut((2, 1), "fast_base_conv", BASE)
WORDS = Cut((33, 33, 33), "words", (0, 3))
"""The first three primes have 30 + 24 + 45 = 99 bits."""


class Given:
    """A graph with a value of each kind."""

    def __init__(self) -> None:
        self.graph = graph = empty()
        self.x = graph.input("x", (0, 1, 2))
        self.c = graph.input("c", (0, 1, 2), Form.COEFF)
        self.low = graph.input("low", (0, 1))
        self.wide = graph.input("wide", (0, 1, 6), Form.COEFF)
        self.digits = graph.digits(self.x, PRIMES)
        self.pair = graph.key_product(self.digits, "relin")
        self.switched = graph.key_switch(self.c, "relin", PRIMES, (3, 4, 5))
        self.factor = graph.input("factor", BASE)

    def cut(self, a: int, **changes: object) -> int:
        """The digits of a value, by changed attributes."""
        return self.graph.add_node("digits", (a,), PRIMES.attrs | changes)

    def switch(self, *operands: int, **changes: object) -> int:
        """A key switch, by changed attributes."""
        attrs = {"key": "relin", "element": 1, "drop": [5], **PRIMES.attrs}
        return self.graph.add_node("key_switch", operands, attrs | changes)


def pair(base: tuple[int, ...], form: Form = Form.NTT) -> PolyType:
    """A pair's type."""
    return PolyType(base, form, Kind.PAIR, 2)


TYPES: list[tuple[Callable[[Given], int], PolyType]] = [
    (lambda g: g.digits, PolyType(BASE, Form.NTT, Kind.DIGITS, 2)),
    (lambda g: g.cut(g.c), PolyType(BASE, Form.NTT, Kind.DIGITS, 2)),
    (
        lambda g: g.cut(g.c, sizes=[3], base=[0, 1, 2]),
        PolyType((0, 1, 2), Form.NTT, Kind.DIGITS, 1),
    ),
    (lambda g: g.cut(g.x, variant="centred_digit"), PolyType(BASE, Form.NTT, Kind.DIGITS, 2)),
    (lambda g: g.graph.digits(g.x, WORDS), PolyType((0, 3), Form.NTT, Kind.DIGITS, 3)),
    (lambda g: g.cut(g.c, sizes=[8192], variant="words"), PolyType(BASE, Form.NTT, Kind.DIGITS, 1)),
    (lambda g: g.pair, pair(BASE)),
    (lambda g: g.graph.key_product(g.digits, "relin", 511, [g.low]), pair(BASE)),
    (lambda g: g.graph.key_product(g.digits, "relin", 3, [g.x, g.x]), pair(BASE)),
    (lambda g: g.graph.key_product(g.digits, "relin", 3, [g.factor, g.factor]), pair(BASE)),
    (lambda g: g.switched, pair((0, 1, 2), Form.COEFF)),
    (lambda g: g.switch(g.x, g.x, g.x), pair((0, 1, 2, 3, 4))),
    (lambda g: g.switch(g.c, g.c, drop=[0, 5]), pair((1, 2, 3, 4), Form.COEFF)),
    (lambda g: g.switch(g.x, drop=[]), pair(BASE)),
    (lambda g: g.graph.half(g.pair, 1), PolyType(BASE, Form.NTT)),
    (lambda g: g.graph.half(g.switched, 0), PolyType((0, 1, 2), Form.COEFF)),
    (lambda g: g.graph.add(g.pair, g.pair), pair(BASE)),
    (lambda g: g.graph.sub(g.switched, g.switched), pair((0, 1, 2), Form.COEFF)),
    (lambda g: g.graph.neg(g.pair), pair(BASE)),
    (lambda g: g.graph.mul(g.pair, g.factor), pair(BASE)),
    (lambda g: g.graph.automorph(g.switched, 3), pair((0, 1, 2), Form.COEFF)),
    (lambda g: g.graph.ntt(g.switched), pair((0, 1, 2))),
    (lambda g: g.graph.intt(g.pair), pair(BASE, Form.COEFF)),
    (lambda g: g.graph.mod_up_scaled(g.switched, (0, 1, 2, 5)), pair((0, 1, 2, 5), Form.COEFF)),
    (lambda g: g.graph.mod_down(g.pair, 5), pair((0, 1, 2, 3, 4))),
    (lambda g: g.graph.mod_down(g.pair, (0, 5)), pair((1, 2, 3, 4))),
    (lambda g: g.graph.drop_limbs(g.pair, (2, 4)), pair((2, 4))),
    (lambda g: g.graph.mul_scalar(g.pair, range(6)), pair(BASE)),
    (lambda g: g.graph.mul_scalar(g.c, (0, 1, 2)), PolyType((0, 1, 2), Form.COEFF)),
    (
        lambda g: g.graph.add_scalar(g.low, [q - 1 for q in g.graph.primes[:2]]),
        PolyType((0, 1), Form.NTT),
    ),
]


@pytest.mark.parametrize(("build", "kind"), TYPES)
def test_a_node_yields_its_kind_base_and_form(
    build: Callable[[Given], int], kind: PolyType
) -> None:
    given = Given()
    assert given.graph.type_of(build(given)) == kind


def test_a_type_says_what_it_is() -> None:
    given = Given()
    told = [str(given.graph.type_of(each)) for each in (given.low, given.pair, given.digits)]
    everything = "ntt over base [0, 1, 2, 3, 4, 5]"
    assert told == ["ntt over base [0, 1]", f"a pair in {everything}", f"2 digits in {everything}"]


ILLEGAL: list[tuple[Callable[[Given], object], str]] = [
    # kinds
    (
        lambda g: g.graph.output(g.pair, "y"),
        "operand 0 of output must be of kind polynomial; it is a pair in ntt over base",
    ),
    (
        lambda g: g.graph.output(g.digits, "y"),
        "of kind polynomial; it is 2 digits in ntt over base",
    ),
    (
        lambda g: g.graph.neg(g.digits),
        "operand 0 of neg must be of kind polynomial or pair; it is 2",
    ),
    (
        lambda g: g.graph.mul(g.factor, g.pair),
        "operand 1 of mul must be of kind polynomial; it is a",
    ),
    (lambda g: g.graph.mul(g.pair, g.pair), "operand 1 of mul must be of kind polynomial; it is a"),
    (
        lambda g: g.graph.mul(g.pair, g.digits),
        "operand 1 of mul must be of kind polynomial; it is 2",
    ),
    (
        lambda g: g.graph.mul_scalar(g.digits, range(6)),
        "operand 0 of mul_scalar must be of kind poly",
    ),
    (
        lambda g: g.graph.add_scalar(g.pair, range(6)),
        "operand 0 of add_scalar must be of kind polynomial; it is a pair",
    ),
    (lambda g: g.graph.half(g.factor, 0), "operand 0 of half must be of kind pair; it is ntt over"),
    (lambda g: g.graph.half(g.digits, 0), "operand 0 of half must be of kind pair; it is 2 digits"),
    (lambda g: g.cut(g.pair), "operand 0 of digits must be of kind polynomial; it is a pair"),
    (lambda g: g.switch(g.pair), "operand 0 of key_switch must be of kind polynomial; it is a"),
    (lambda g: g.switch(g.c, g.switched), "operand 1 of key_switch must be of kind polynomial"),
    (
        lambda g: g.graph.key_product(g.x, "relin"),
        "operand 0 of key_product must be of kind digits; it is ntt over",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 1, [g.pair]),
        "operand 1 of key_product must be of kind polynomial",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 1, [g.x, g.digits]),
        "operand 2 of key_product must be of kind polynomial",
    ),
    (
        lambda g: g.graph.ksk_inner_product([g.pair], "relin", 0, [0]),
        "operand 0 of ksk_inner_product must be of kind polynomial",
    ),
    (
        lambda g: g.graph.lift(g.switched, (0, 1, 2, 6), "hps"),
        "operand 0 of lift must be of kind poly",
    ),
    (
        lambda g: g.graph.scale(g.switched, (0, 1), 257, "hps"),
        "operand 0 of scale must be of kind po",
    ),
    (
        lambda g: g.graph.decompose(g.switched, 0, 9, (0,)),
        "operand 0 of decompose must be of kind po",
    ),
    (
        lambda g: g.graph.mod_up(g.switched, 0, (0, 5)),
        "mod_up of variant rns_digit takes a polynomial, not a pair in",
    ),
    (
        lambda g: g.graph.centred_digit(g.switched, (0, 1), (0, 1, 5)),
        "mod_up of variant centred_digit takes a polynomial",
    ),
    # pairs in elementwise ops
    (
        lambda g: g.graph.add(g.pair, g.factor),
        "operands differ: a pair in ntt over base [0, 1, 2, 3, 4, 5], and ntt over",
    ),
    (
        lambda g: g.graph.sub(g.pair, g.graph.drop_limbs(g.pair, (0, 1))),
        "operands differ: a pair in ntt over",
    ),
    (
        lambda g: g.graph.add(g.switched, g.graph.ntt(g.switched)),
        "and a pair in ntt over base [0, 1, 2]",
    ),
    (
        lambda g: g.graph.mul(g.switched, g.c),
        "mul takes ntt form and its operand is a pair in coeff",
    ),
    (
        lambda g: g.graph.mul(g.pair, g.x),
        "operands differ: ntt over base [0, 1, 2, 3, 4, 5], and ntt over base [0, 1, 2]",
    ),
    (
        lambda g: g.graph.mul(g.graph.ntt(g.switched), g.c),
        "operands differ: ntt over base [0, 1, 2], and coeff",
    ),
    (lambda g: g.graph.ntt(g.pair), "ntt takes coeff form and its operand is a pair in ntt over"),
    (
        lambda g: g.graph.intt(g.switched),
        "intt takes ntt form and its operand is a pair in coeff over",
    ),
    (
        lambda g: g.graph.mod_down(g.switched, 5),
        "drop [5] must be one prime of the operand and leave another",
    ),
    (
        lambda g: g.graph.drop_limbs(g.switched, (0, 5)),
        "base [0, 5] must keep fewer primes of the operand",
    ),
    (lambda g: g.graph.automorph(g.pair, 2), "element 2 is even"),
    (lambda g: g.graph.half(g.pair, 2), "half 2 is not one of 0, 1"),
    (lambda g: g.graph.half(g.pair, True), "half True is not one of 0, 1"),
    # digits
    (
        lambda g: g.cut(g.c, variant="rns_digit"),
        "variant 'rns_digit' is not one of fast_base_conv, centred_digit, words",
    ),
    (lambda g: g.cut(g.c, sizes=3), "sizes 3 is not a list of 1 to 128 sizes"),
    (lambda g: g.cut(g.c, sizes=[]), "sizes [] is not a list of 1 to 128 sizes"),
    (lambda g: g.cut(g.c, sizes=[1] * 129), "is not a list of 1 to 128 sizes"),
    (lambda g: g.cut(g.c, sizes=[3, 0]), "size of a digit 0 is not a whole number in 1 … 8192"),
    (lambda g: g.cut(g.c, sizes=[True, 2]), "size of a digit True is not a whole number"),
    (
        lambda g: g.cut(g.c, sizes=[2, 2]),
        "sizes [2, 2] to base [0, 1, 2, 3, 4, 5] must cut all primes",
    ),
    (
        lambda g: g.cut(g.c, sizes=[1, 1]),
        "sizes [1, 1] to base [0, 1, 2, 3, 4, 5] must cut all primes",
    ),
    (
        lambda g: g.cut(g.c, base=[0, 1, 4]),
        "which the base has, too; the operand is coeff over base [0, 1, 2]",
    ),
    (
        lambda g: g.cut(g.c, base=[0, 1, 2, 6]),
        "base [0, 1, 2, 6] has an extension prime, and keys have none",
    ),
    (lambda g: g.cut(g.wide), "sizes [2, 1] to base [0, 1, 2, 3, 4, 5] must cut all primes"),
    (lambda g: g.cut(g.c, base=[1, 0]), "base [1, 0] is not ascending"),
    (
        lambda g: g.cut(g.c, variant="words", sizes=[50, 49]),
        "do not cut 99 bits into words of equal size",
    ),
    (
        lambda g: g.cut(g.c, variant="words", sizes=[33] * 4),
        "do not cut 99 bits into words of equal",
    ),
    (
        lambda g: g.cut(g.c, variant="words", sizes=[49] * 2),
        "do not cut 99 bits into words of equal",
    ),
    (
        lambda g: g.cut(g.c, variant="words", sizes=[8193]),
        "size of a digit 8193 is not a whole number",
    ),
    (
        lambda g: g.graph.add_node("digits", (g.c,), {"sizes": [3]}),
        "takes exactly ['base', 'sizes', 'variant']",
    ),
    # products with keys
    (
        lambda g: g.graph.key_product(g.digits, "galois:5"),
        "key 'galois:5' is not among the graph's keys: ['galois:3', 'relin']",
    ),
    (
        lambda g: g.graph.key_product(g.cut(g.c, variant="words", sizes=[13] * 8), "galois:3"),
        "8 digits are beyond the 7 digits of 'galois:3'",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 4),
        "element 4 is even: automorphisms are X -> X^odd",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 0),
        "element 0 is not a whole number in 1 … 511",
    ),
    (lambda g: g.graph.key_product(g.digits, "relin", 513), "element 513 is not a whole number"),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 1, [g.c]),
        "key_product takes ntt form and its operand is coeff",
    ),
    (
        lambda g: g.graph.key_product(g.cut(g.c, base=[0, 1, 2]), "relin", 1, [g.factor]),
        "must be over one part of the base [0, 1, 2]; it is ntt over",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 1, [g.x, g.low]),
        "must be over one part of the base [0, 1, 2, 3, 4, 5]; it is ntt over base [0, 1]",
    ),
    (
        lambda g: g.graph.key_product(g.digits, "relin", 1, [g.x] * 3),
        "key_product has 4 operands and takes 1 to 3",
    ),
    # key switches
    (lambda g: g.switch(g.c, key="relinearize"), "key 'relinearize' is not among the graph's keys"),
    (
        lambda g: g.switch(g.c, key="galois:3", variant="words", sizes=[13] * 8),
        "8 digits are beyond the 7 digits of 'galois:3'",
    ),
    (lambda g: g.switch(g.c, element=2), "element 2 is even"),
    (lambda g: g.switch(g.c, element=True), "element True is not a whole number"),
    (lambda g: g.switch(g.c, sizes=[1, 1]), "must cut all primes of the operand"),
    (lambda g: g.switch(g.c, base=[0, 1, 2, 6]), "has an extension prime"),
    (
        lambda g: g.switch(g.c, g.x),
        "what is added is ntt over base [0, 1, 2], and what is switched coeff over base [0, 1, 2]",
    ),
    (
        lambda g: g.switch(g.x, g.x, g.low),
        "what is added is ntt over base [0, 1], and what is switched ntt",
    ),
    (
        lambda g: g.switch(g.c, variant="words", sizes=[99], base=[0, 1, 5]),
        "base [0, 1, 5] lacks primes of the operand, coeff over base [0, 1, 2]",
    ),
    (lambda g: g.switch(g.c, drop=5), "drop 5 is not a list of 1 to 7 primes"),
    (lambda g: g.switch(g.c, drop="5"), "drop '5' is not a list of 1 to 7 primes"),
    (lambda g: g.switch(g.c, drop=[6]), "drop [6] must leave a prime of base [0, 1, 2, 3, 4, 5]"),
    (lambda g: g.switch(g.c, drop=[7]), "drop: prime 7 is not a whole number in 0 … 6"),
    (lambda g: g.switch(g.c, drop=[5, 4]), "drop [5, 4] is not ascending"),
    (lambda g: g.switch(g.c, drop=range(6)), "is not a list of 1 to 7 primes"),
    (
        lambda g: g.switch(g.c, drop=[*range(6)]),
        "drop [0, 1, 2, 3, 4, 5] must leave a prime of base",
    ),
    # scalars
    (
        lambda g: g.graph.mul_scalar(g.low, (1,)),
        "values [1] is not a list of 2 residues, one for each prime of ntt over base [0, 1]",
    ),
    (
        lambda g: g.graph.add_scalar(g.low, (1, 2, 3)),
        "values [1, 2, 3] is not a list of 2 residues",
    ),
    (
        lambda g: g.graph.add_node("add_scalar", (g.low,), {"values": 7}),
        "values 7 is not a list of 2",
    ),
    (
        lambda g: g.graph.mul_scalar(g.low, (0, g.graph.primes[1])),
        f"{empty().primes[1]} is not a whole number in 0 … {empty().primes[1] - 1}",
    ),
    (
        lambda g: g.graph.add_scalar(g.low, (-1, 0)),
        "residue modulo prime 0 -1 is not a whole number",
    ),
    (lambda g: g.graph.add_scalar(g.low, (0, True)), "residue modulo prime 1 True is not a whole"),
    (lambda g: g.graph.mul_scalar(g.low, (0, 1.0)), "residue modulo prime 1 1.0 is not a whole"),
]


@pytest.mark.parametrize(("build", "words"), ILLEGAL)
def test_an_illegal_node_is_refused_in_words(build: Callable[[Given], object], words: str) -> None:
    given = Given()
    with pytest.raises(ProgramError, match=re.escape(words)):
        build(given)
