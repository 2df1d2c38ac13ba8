"""Subroutine graphs of every op of pairs, digits, key switching and scalars, over a small ring."""

from collections.abc import Sequence
from math import prod
from typing import TypeVar

import numpy as np
from hypothesis import strategies as st

from ringsmith import _core
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.graph.types import Kind, PolyType
from ringsmith.objects import Residues
from ringsmith.params import KeyShape

T = TypeVar("T")

N = 256
BITS = (30, 24, 45, 60, 40, 59, 50)
"""Of four data primes, two special primes and an extension prime."""
DATA, SPECIAL, EXTENSION = range(4), (4, 5), (6,)
KEY_PRIMES = range(6)
KEYS = {"relin": KeyShape(9), "galois:3": KeyShape(7)}
"""Digits of the keys. No random value has more digits than the second."""


def empty() -> SubroutineGraph:
    """The ring and the keys."""
    primes = tuple(_core.prime_search(bits, N, 1)[0] for bits in BITS)
    roots = tuple(_core.smallest_root(q, N) for q in primes)
    return SubroutineGraph(N, primes, roots, SPECIAL, KEYS, EXTENSION)


def every_op() -> SubroutineGraph:
    """A graph in which every op occurs, and of key switching every variant."""
    graph = empty()
    x, y = (graph.input(name, range(3)) for name in "xy")
    c = graph.intt(graph.sub(graph.neg(x), graph.mul(x, y)))
    words = Cut((30, 30, 30, 30), "words", tuple(range(5)))
    primes = Cut((2, 1), "fast_base_conv", tuple(range(6)))
    centred = Cut((1, 2), "centred_digit", tuple(range(5)))
    digits = graph.digits(x, primes)
    low = graph.drop_limbs(y, (0, 1))
    pairs = {
        "product": graph.key_product(digits, "relin", 1, [x, y]),
        "moved": graph.key_product(digits, "galois:3", 3, [low]),
        "switched": graph.key_switch(c, "galois:3", words, (4,), 3, [c]),
        "fused": graph.key_switch(x, "relin", primes, (2, 4, 5), 1, [y, x]),
        "undivided": graph.key_switch(c, "relin", centred, (), 511),
    }
    total = graph.add(pairs["product"], pairs["moved"])
    factor = graph.input("factor", range(6))
    total = graph.mul_scalar(graph.sub(graph.mul(total, factor), graph.neg(total)), range(1, 7))
    total = graph.intt(graph.automorph(graph.mod_down(total, (3, 4, 5)), 5))
    pairs["total"] = graph.ntt(graph.mod_up_scaled(graph.drop_limbs(total, (0, 2)), range(4)))
    for name, pair in pairs.items():
        for half, polynomial in enumerate(graph.halves(pair)):
            graph.output(polynomial, f"{name}.{half}")
    graph.output(graph.add_scalar(graph.mul_scalar(c, (1, 2, 3)), (4, 0, 6)), "c")
    wide = graph.lift(c, (0, 1, 2, 6), "hps")
    graph.output(graph.scale(wide, (0, 1, 2), 257, "hps"), "scaled")
    raised = [
        graph.ntt(graph.mod_up(c, 0, range(5))),
        graph.ntt(graph.decompose(c, 1, 9, range(5))),
    ]
    graph.output(graph.ksk_inner_product(raised, "relin", 1, (0, 2)), "sum")
    graph.output(graph.add_scalar(x, (0, 5, 7)), "z")
    return graph


def random_inputs(graph: SubroutineGraph, random: np.random.Generator) -> dict[str, Residues]:
    """Residues of every input, 0 and q - 1 among them."""
    return {name: _residues(graph, kind.base, (), random) for name, kind in graph.inputs.items()}


def random_keys(graph: SubroutineGraph, random: np.random.Generator) -> dict[str, Residues]:
    """The keys: arrays (digits, 2, K, N)."""
    return {
        name: _residues(graph, shape.base, (shape.digits, 2), random)
        for name, shape in graph.keys.items()
    }


def _residues(
    graph: SubroutineGraph, base: Sequence[int], lead: tuple[int, ...], random: np.random.Generator
) -> Residues:
    limbs = [random.integers(0, graph.primes[i], (*lead, graph.n), np.uint64) for i in base]
    for i, limb in zip(base, limbs, strict=True):
        limb[..., :2] = 0, graph.primes[i] - 1
    return np.ascontiguousarray(np.stack(limbs, len(lead)))


@st.composite
def graphs(draw: st.DrawFn) -> SubroutineGraph:
    """A random graph; every value has a user, so that no op is without consequence."""
    return _Writer(draw).graph


class _Writer:
    """Adds random nodes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw, self.graph, self._count = draw, empty(), 0
        for name in "abc":
            base = self._part(KEY_PRIMES)
            self.graph.input(name, base, self._one([*Form]))
        for step in draw(st.lists(st.sampled_from(_STEPS), min_size=3, max_size=12)):
            step(self, self._value())
        self._finish()

    # ---- choices ---------------------------------------------------------------------------

    def _one(self, choices: Sequence[T]) -> T:
        return self._draw(st.sampled_from(choices))

    def _part(self, base: Sequence[int], *, proper: bool = False) -> tuple[int, ...]:
        """Some of the primes, at least one; proper: not all of them."""
        most = len(base) - proper
        return tuple(sorted(self._draw(st.sets(st.sampled_from(base), min_size=1, max_size=most))))

    def _value(self) -> int:
        """A polynomial or a pair; one of the last values half of the times."""
        found = [node.id for node in self.graph.nodes if node.type.kind is not Kind.DIGITS]
        return self._one(found[-4:] if self._draw(st.booleans()) else found)

    def _polynomial(self, base: Sequence[int], form: Form) -> int:
        """A polynomial of a base and form: one that is there, or an input."""
        kind = PolyType(tuple(base), form)
        found = [node.id for node in self.graph.nodes if node.type == kind]
        if not found or self._draw(st.booleans()):
            found = [self.graph.input(self._new_name("x"), base, form)]
        return self._one(found)

    def _new_name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}.{self._count}"

    def _element(self) -> int:
        return self._draw(st.just(1) | st.integers(0, N - 1).map(lambda i: 2 * i + 1))

    def _scalars(self, a: int) -> list[int]:
        primes = [self.graph.primes[i] for i in self.graph.type_of(a).base]
        return [self._draw(st.sampled_from((0, 1, q - 1)) | st.integers(0, q - 1)) for q in primes]

    def _more(self, base: Sequence[int]) -> tuple[int, ...]:
        """The primes of a base and others."""
        others = [i for i in KEY_PRIMES if i not in base]
        added = self._draw(st.just(others) | st.sets(st.sampled_from(others))) if others else ()
        return tuple(sorted({*base, *added}))

    def _cut(self, a: int) -> Cut:
        held = self.graph.type_of(a).base
        variant = self._one(("fast_base_conv", "centred_digit", "words"))
        if variant == "words":
            bits = prod(self.graph.primes[i] for i in held).bit_length()
            size = self._draw(st.integers(-(-bits // KEYS["galois:3"].digits), bits + 1))
            return Cut((size,) * -(-bits // size), variant, self._more(held))
        ends = sorted({*self._draw(st.sets(st.integers(1, len(held)))), len(held)})
        sizes = tuple(end - start for start, end in zip([0, *ends], ends, strict=False))
        return Cut(sizes, variant, self._more(held))

    # ---- nodes -----------------------------------------------------------------------------

    def _sum(self, a: int) -> None:
        kind = self.graph.type_of(a)
        b = self._one([node.id for node in self.graph.nodes if node.type == kind])
        self._one((self.graph.add, self.graph.sub))(a, b)

    def _neg(self, a: int) -> None:
        self.graph.neg(a)

    def _mul(self, a: int) -> None:
        kind = self.graph.type_of(a)
        if kind.form is Form.NTT:
            self.graph.mul(a, self._polynomial(kind.base, Form.NTT))

    def _automorph(self, a: int) -> None:
        self.graph.automorph(a, self._element())

    def _transform(self, a: int) -> None:
        (self.graph.intt if self.graph.type_of(a).form is Form.NTT else self.graph.ntt)(a)

    def _mod_down(self, a: int) -> None:
        base = self.graph.type_of(a).base
        if len(base) > 1:
            drop = self._part(base, proper=True)
            self.graph.mod_down(a, drop[0] if len(drop) == 1 and self._one((0, 1)) else drop)

    def _drop_limbs(self, a: int) -> None:
        base = self.graph.type_of(a).base
        if len(base) > 1:
            self.graph.drop_limbs(a, self._part(base, proper=True))

    def _mod_up_scaled(self, a: int) -> None:
        self.graph.mod_up_scaled(a, self._more(self.graph.type_of(a).base))

    def _mul_scalar(self, a: int) -> None:
        self.graph.mul_scalar(a, self._scalars(a))

    def _add_scalar(self, a: int) -> None:
        if self.graph.type_of(a).kind is Kind.POLYNOMIAL:
            self.graph.add_scalar(a, self._scalars(a))

    def _half(self, a: int) -> None:
        if self.graph.type_of(a).kind is Kind.PAIR:
            self.graph.half(a, self._one((0, 1)))

    def _key_switch(self, a: int) -> None:
        kind = self.graph.type_of(a)
        if kind.kind is not Kind.POLYNOMIAL:
            return
        cut = self._cut(a)
        drops = [(), tuple(i for i in cut.base if i not in kind.base)]
        if len(cut.base) > 1:
            drops.append(self._part(cut.base, proper=True))
        drop = self._one(drops)
        for _ in range(self._one((1, 2, 3))):
            added = [self._polynomial(kind.base, kind.form) for _ in range(self._one((0, 1, 2)))]
            self.graph.key_switch(a, self._key(), cut, drop, self._element(), added)

    def _digits(self, a: int) -> None:
        if self.graph.type_of(a).kind is Kind.POLYNOMIAL:
            digits = self.graph.digits(a, self._cut(a))
            for _ in range(self._one((1, 2, 3))):
                self._key_product(digits)

    def _key_product(self, digits: int) -> None:
        part = self._part(self.graph.type_of(digits).base)
        added = [self._polynomial(part, Form.NTT) for _ in range(self._one((0, 1, 2)))]
        self.graph.key_product(digits, self._key(), self._element(), added)

    def _key(self) -> str:
        return self._one(tuple(KEYS))

    def _finish(self) -> None:
        """Hands out what nothing uses, and uses both keys."""
        graph = self.graph
        for key in KEYS:
            graph.key_product(graph.digits(0, self._cut(0)), key)
        used = {operand for node in graph.nodes for operand in node.operands}
        for node in list(graph.nodes):
            if node.id in used:
                continue
            halves = graph.halves(node.id) if node.type.kind is Kind.PAIR else (node.id,)
            for value in halves:
                graph.output(value, self._new_name("y"))


_STEPS = (
    *(_Writer._sum, _Writer._neg, _Writer._mul, _Writer._automorph, _Writer._transform),
    *(_Writer._mod_down, _Writer._drop_limbs, _Writer._mod_up_scaled, _Writer._mul_scalar),
    *(_Writer._add_scalar, _Writer._half, _Writer._digits, _Writer._key_switch),
)
