"""Key switching in primitives: what a device takes that has no instructions for it as a whole.

This is the only place that knows how digits, their products with keys, and a whole key switch are
made of other ops. An expanded graph has polynomials only. Which of its nodes belong to one key
switch is in ``Expanded.switches``, so that no backend looks for them.

A device that computes key products itself asks for them: then digits stay, and key products, each
with its two halves behind it. All else is polynomials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ringsmith.graph.subroutines import Cut, SubroutineGraph, SubroutineNode
from ringsmith.graph.types import Form


@dataclass(frozen=True)
class KeyProduct:
    """Sums of digits times the two parts of a key, in an expanded graph.

    Attributes:
        digits: The digits, moved by the automorphism of the product if it has one.
        sums: The ``ksk_inner_product`` nodes of the key's b and a parts.
        totals: The nodes with what is added before a division; else the sums.
        initial: For each half the value that is multiplied by P and added before a division, or
            whose addition behind the division means the same; None: nothing.
        added: For each half the addition of such a value behind the division; None: there is none.
        divisions: The ``mod_down`` nodes of the totals; none: something else reads one of them.
    """

    digits: tuple[int, ...]
    sums: tuple[int, int]
    totals: tuple[int, int]
    initial: tuple[int | None, int | None] = (None, None)
    added: tuple[int | None, int | None] = (None, None)
    divisions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Digits:
    """The digits of one value in an expanded graph, and what they are multiplied with.

    Attributes:
        source: The value in NTT form that they are the digits of; None: it is in coefficient form.
        raised: The ``mod_up`` or ``decompose`` node of each digit.
        transformed: Its ``ntt`` node.
        moved: Whether automorphisms of the digits are multiplied, too.
        products: Their products with keys.
    """

    source: int | None
    raised: tuple[int, ...]
    transformed: tuple[int, ...]
    moved: bool
    products: tuple[KeyProduct, ...]


@dataclass(frozen=True)
class Expanded:
    """A graph of polynomials only, but for digits and key products that a device keeps.

    Attributes:
        graph: The graph.
        switches: Its digits and their products with keys; none where they are kept.
        sources: For each node, the id in the graph as it was of the node that it is a part of.
    """

    graph: SubroutineGraph
    switches: tuple[Digits, ...]
    sources: tuple[int, ...]


def expand(graph: SubroutineGraph, *, keep_products: bool = False) -> Expanded:
    """Writes pairs as polynomials, and key switching as other ops; every output stays the same.

    Args:
        graph: The graph.
        keep_products: Whether digits and key products stay, as nodes of the same ops.

    Raises:
        ProgramError: When the graph has too many nodes then.
    """
    return _Expansion(graph, keep_products).run()


Values = tuple[int, ...]
"""New nodes of an old one: of a pair two, of digits one for each; of digits that are kept one."""


@dataclass
class _Cut:
    """Digits while they are written."""

    source: int | None
    raised: Values
    transformed: Values
    moved: bool = False
    products: list[KeyProduct] = field(default_factory=list)

    def record(self, users: Mapping[int, Sequence[SubroutineNode]]) -> Digits:
        products = tuple(
            replace(each, divisions=_divisions(each.totals, users)) for each in self.products
        )
        return Digits(self.source, self.raised, self.transformed, self.moved, products)

    def totals(self) -> Values:
        return tuple(total for each in self.products for total in each.totals)


class _Expansion:
    def __init__(self, graph: SubroutineGraph, keep_products: bool) -> None:
        self._old, self._keep = graph, keep_products
        self._new = SubroutineGraph(
            graph.n,
            graph.primes,
            graph.roots,
            graph.special,
            graph.keys,
            graph.extension,
            max_nodes=graph.max_nodes,
        )
        self._found: list[Values] = []
        self._cuts: dict[Values, _Cut] = {}

    def run(self) -> Expanded:
        sources: list[int] = []
        for node in self._old.nodes:
            self._new.at_origin(node.origin)
            operands = [self._found[i] for i in node.operands]
            own = getattr(self, f"_{node.op}", None)
            self._found.append(own(node, operands) if own else self._alike(node, operands))
            sources += [node.id] * (len(self._new.nodes) - len(sources))
        users = self._users([total for cut in self._cuts.values() for total in cut.totals()])
        switches = tuple(cut.record(users) for cut in self._cuts.values())
        return Expanded(self._new, switches, tuple(sources))

    def _alike(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        """The same op; of a pair once for each half."""
        count = node.type.count
        return tuple(
            self._new.add_node(
                node.op, [each[i if len(each) > 1 else 0] for each in operands], node.attrs
            )
            for i in range(count)
        )

    def _half(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        return (operands[0][node.attrs["half"]],)

    def _add_scalar(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        if node.type.form is Form.NTT:
            return self._alike(node, operands)
        transformed = self._new.ntt(operands[0][0])
        return (self._new.intt(self._new.add_scalar(transformed, node.attrs["values"])),)

    def _digits(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        return self._written(operands[0][0], node.attrs)

    def _written(self, a: int, attrs: Mapping[str, Any]) -> Values:
        """Writes the digits of a value."""
        graph, source = self._new, None
        if self._keep:
            return (graph.digits(a, Cut(attrs["sizes"], attrs["variant"], attrs["base"])),)
        if graph.type_of(a).form is Form.NTT:
            source, a = a, graph.intt(a)
        raised, transformed = [], []
        for digit in range(len(attrs["sizes"])):
            raised.append(self._raised(a, attrs, digit))
            transformed.append(graph.ntt(raised[-1]))
        cut = _Cut(source, tuple(raised), tuple(transformed))
        self._cuts[cut.transformed] = cut
        return cut.transformed

    def _raised(self, a: int, attrs: Mapping[str, Any], digit: int) -> int:
        """One digit over the base, in coefficient form."""
        graph, sizes, base = self._new, attrs["sizes"], attrs["base"]
        if attrs["variant"] == "words":
            return graph.decompose(a, digit, sizes[digit], base)
        first = sum(sizes[:digit])
        primes = graph.type_of(a).base[first : first + sizes[digit]]
        if attrs["variant"] == "centred_digit":
            return graph.centred_digit(a, primes, base)
        return graph.mod_up(a, primes[0] if set(sizes) == {1} else primes, base)

    def _key_product(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        (digits, *added), element = operands, node.attrs["element"]
        if self._keep:
            return self._new.halves(
                self._new.add_node(node.op, [each[0] for each in operands], node.attrs)
            )
        cut = self._cuts[digits]
        initial = [self._moved(each[0], element) for each in added]
        if element != 1:
            cut.moved = True
            digits = tuple(self._moved(each, element) for each in digits)
        sums = self._sums(digits, node.attrs["key"])
        totals = tuple(
            self._with_multiple(total, initial[half] if half < len(initial) else None)
            for half, total in enumerate(sums)
        )
        cut.products.append(KeyProduct(digits, sums, (totals[0], totals[1]), _both(initial)))
        return totals

    def _key_switch(self, node: SubroutineNode, operands: Sequence[Values]) -> Values:
        graph, attrs = self._new, node.attrs
        initial = [self._moved(value, attrs["element"]) for (value,) in operands[1:]]
        a = self._moved(operands[0][0], attrs["element"])
        kind = graph.type_of(a)
        digits = self._written(a, attrs)
        sums = self._sums(digits, attrs["key"])
        behind = set(attrs["drop"]) == set(attrs["base"]) - set(kind.base)
        totals: list[int] = []
        additions: list[int | None] = [None, None]
        results: list[int] = []
        for half, each in enumerate(sums):
            own = initial[half] if half < len(initial) else None
            total = graph.intt(each) if kind.form is Form.COEFF else each
            if not behind:
                total = self._with_multiple(total, own)
            totals.append(total)
            if attrs["drop"]:
                drop = attrs["drop"]
                total = graph.mod_down(total, drop[0] if len(drop) == 1 else drop)
            results.append(total)
        if behind:
            for half, own in enumerate(initial):
                results[half] = additions[half] = graph.add(own, results[half])
        if not self._keep:
            both, behind_them = (totals[0], totals[1]), (additions[0], additions[1])
            product = KeyProduct(digits, sums, both, _both(initial), behind_them)
            self._cuts[digits].products.append(product)
        return tuple(results)

    def _users(self, values: Sequence[int]) -> dict[int, list[SubroutineNode]]:
        """The nodes that read each of some values."""
        users: dict[int, list[SubroutineNode]] = {value: [] for value in values}
        for node in self._new.nodes:
            for operand in node.operands:
                if operand in users:
                    users[operand].append(node)
        return users

    def _moved(self, value: int, element: int) -> int:
        return value if element == 1 else self._new.automorph(value, element)

    def _sums(self, digits: Values, key: str) -> tuple[int, int]:
        if self._keep:
            return self._new.halves(self._new.key_product(digits[0], key))
        numbers = range(len(digits))
        first, second = (self._new.ksk_inner_product(digits, key, h, numbers) for h in (0, 1))
        return first, second

    def _with_multiple(self, total: int, value: int | None) -> int:
        """A sum plus P times a value."""
        if value is None:
            return total
        base = self._new.type_of(total).base
        if self._new.type_of(value).base != base:
            value = self._new.mod_up_scaled(value, base)
        return self._new.add(total, value)


def _divisions(
    totals: Sequence[int], users: Mapping[int, Sequence[SubroutineNode]]
) -> tuple[int, ...]:
    readers = [node for total in totals for node in users[total]]
    divided = all(node.op == "mod_down" for node in readers)
    return tuple(node.id for node in readers) if divided else ()


def _both(initial: Sequence[int]) -> tuple[int | None, int | None]:
    first, second = (initial[half] if half < len(initial) else None for half in (0, 1))
    return first, second
