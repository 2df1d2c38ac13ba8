"""Sums of digits times keys, while instructions are selected.

A sum may begin with a value times the primes that are divided by later (``fusion``), and its
products may be added up digit by digit, as soon as each digit is there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import TypeVar

from ringsmith.backends.rpau.compiler.fusion import Beginning
from ringsmith.backends.rpau.compiler.layout import Layout
from ringsmith.backends.rpau.compiler.selection import KeyPolynomial, KeySeed, Location
from ringsmith.backends.rpau.compiler.selector import Selector
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.graph import SubroutineGraph, SubroutineNode

T = TypeVar("T")


class KeySummer(Selector):
    """Selects the products of digits and keys.

    Attributes:
        seeded: Names of keys whose half 1 the design expands.
        fused: Nodes that need no instruction of their own.
        beginnings: What sums begin with.
        products: Digits whose products follow them at once: the sums, and which digit it is.
        sums: Where the sums so far are.
        begun: Places where a sum has a first summand.
    """

    def __init__(
        self,
        graph: SubroutineGraph,
        design: RpauDesign,
        layout: Layout,
        apart: bool,
        seeded: Collection[str],
        fused: Collection[int],
        beginnings: Mapping[int, Beginning],
        products: Mapping[int, Sequence[tuple[SubroutineNode, int]]],
    ) -> None:
        super().__init__(graph, design, layout, apart=apart)
        self.seeded = seeded
        self.fused = fused
        self.beginnings = beginnings
        self.products = products
        self.sums: dict[int, Location] = {}
        self.begun: dict[int, set[int]] = {}
        self._unit = "d" if design.dyadic_cores else ""

    def product(self, base: Iterable[int], limbs: Iterable[int]) -> int:
        """The constant that is the product of the primes of ``limbs``, modulo those of ``base``."""
        primes = self.graph.primes
        factor = prod(primes[limb] for limb in limbs)
        return self.constant({limb: factor % primes[limb] for limb in base})

    def _ksk_inner_product(self, node: SubroutineNode) -> Location:
        for index, operand in enumerate(node.operands):
            if operand not in self.products:
                self.add_product(node, index)
        return self.sums[node.id]

    def add_product(self, node: SubroutineNode, index: int) -> None:
        """Adds one digit's products to a sum of key products."""
        key, half = node.attrs["key"], node.attrs["half"]
        if index == 0:
            self._begin_sum(node)
        total, begun = self.sums[node.id], self.begun[node.id]
        digit, operand = node.attrs["digits"][index], node.operands[index]
        places = self.layout.places(operand, node.type.base)
        suffix, source = self._key_factor(key, digit, half, places)
        for opcode, members in (
            ("mul", [place for place in places if place not in begun]),
            ("mac", [place for place in places if place in begun]),
        ):
            a = self.location[operand]
            self.emit(members, self._unit + opcode + suffix, dst=total, a=a, **source)
        begun.update(places)

    def _begin_sum(self, node: SubroutineNode) -> None:
        self.sums[node.id], self.begun[node.id] = self._sums(node), set()
        if beginning := self.beginnings.get(node.id):
            base, total = beginning.base, self.sums[node.id]
            a, factor = self.location[beginning.value], self.product(base, beginning.primes)
            self.emit(base, "affine", dst=total, a=a, k1=factor, k2=self.zeros())
            self.begun[node.id].update(base)

    def _sums(self, node: SubroutineNode) -> Location:
        """Where sums of key products grow; those of a spread limb begin at digits of their own."""
        spread = [limb for limb in node.type.base if len(self.layout.places(node.id, [limb])) > 1]
        together = [limb for limb in node.type.base if limb not in spread]
        location = self.fresh(self.layout.places(node.id, together))
        for place in self.layout.places(node.id, spread):
            location.update(self.fresh([place]))
        return location

    def _key_factor(
        self, key: str, digit: int, half: int, base: Iterable[int]
    ) -> tuple[str, dict[str, Location | int]]:
        """What products with a key polynomial are called, and their second source.

        That is a polynomial of the key store, or a seed and the digit that is expanded from it.
        """
        expanded = half == 1 and key in self.seeded
        indices: Location = {}
        for prime_set, members in self.by_set(base).items():
            if expanded:
                index = _needed(self.out.seeds, KeySeed(key, prime_set), self.mask(members))
            else:
                whole = [
                    KeyPolynomial(key, digit, half, prime_set, piece)
                    for piece in range(self.pieces)
                ]
                mask = self.mask(members)
                index = min(_needed(self.out.keys, piece, mask) for piece in whole)
            indices.update(dict.fromkeys(members, index))
        if expanded:
            return "_seed", {"seed": indices, "digit": digit}
        return "_key", {"b_key": indices}


def _needed(store: dict[T, tuple[int, int]], entry: T, mask: int) -> int:
    """Index of an entry of the key or seed store, which the RPAUs of the mask need, too."""
    index, others = store.get(entry, (len(store), 0))
    store[entry] = (index, others | mask)
    return index
