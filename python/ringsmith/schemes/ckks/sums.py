"""Sums of products of values with plain vectors, as matrices have them, computed at once.

Each product with a plain vector scales all sources of a value by the vector's magnitudes, slot by
slot, and the parts of one source are added as ``spread.Term.plus`` adds them. A sum of many
products is therefore a matrix product for all sources: of deviations times the plain vectors'
magnitudes, or of both squared where the parts are uncorrelated. Of a chain of sums, the result is
that of one operation after another, but for rounding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import PlainValues, largest
from ringsmith.program.spans import Numbers, Span
from ringsmith.schemes.ckks import spread
from ringsmith.schemes.ckks.grids import Curve
from ringsmith.schemes.ckks.noise import Reals
from ringsmith.schemes.ckks.spread import Kind, Source, Term, Terms
from ringsmith.schemes.ckks.values import NO_AXES, Value, atom

MOST_PRODUCTS = 64
"""Products that are added at once: what they are made of is held so long."""
_MOST_PROFILES = 16
"""Sources of different sizes in different slots, of a value whose products wait."""
_ONE = np.ones(())


@dataclass(frozen=True, eq=False)
class PlainProduct:
    """A value times a plain vector.

    Attributes:
        identity: The node that computes it.
        operand: The value's node.
        value: The value.
        plain: The plain vector.
        negative: Whether it is subtracted.
    """

    identity: int
    operand: int
    value: Value
    plain: Plain
    negative: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """Products, and sums of them, that are no value yet.

    Attributes:
        identity: The node that computes it.
        products: What is added.
        magnitude: A bound of its numbers.
        halves: Operands of a sum that is a function of two variables; None: it is a variable of its
            own.
    """

    identity: int
    products: tuple[PlainProduct, ...]
    magnitude: float
    halves: "tuple[Part, Part] | None" = None

    @property
    def operands(self) -> list[int]:
        """The nodes of the values."""
        return [product.operand for product in self.products]


@dataclass(eq=False)
class Sums:
    """The parts that wait.

    Attributes:
        candidates: Nodes that a sum alone uses, and that may wait for it.
        waiting: By node.
    """

    candidates: frozenset[int] = frozenset()
    waiting: dict[int, Part] = field(default_factory=dict)

    @staticmethod
    def of(
        nodes: Sequence[Node], uses: Mapping[int, int], wanted: frozenset[int] = frozenset()
    ) -> "Sums":
        """Returns the sums of a program.

        Args:
            nodes: Its nodes.
            uses: The users of each.
            wanted: Nodes that must be computed by themselves.
        """
        added = {i for node in nodes if node.op in (Op.ADD, Op.SUB) for i in node.operands}
        found: set[int] = set()
        for node in nodes:
            plain = node.plain if node.op is Op.MULTIPLY_PLAIN else None
            product = plain is not None and plain.values.ndim > 0
            joins = node.op in (Op.ADD, Op.SUB) and all(i in found for i in node.operands)
            free = node.bound is None and not node.approximation
            alone = uses[node.id] == 1 and node.id not in wanted
            if (product or joins) and free and alone and node.id in added:
                found.add(node.id)
        return Sums(frozenset(found))

    def joined(self, node: Node) -> Part | None:
        """Returns the sum of two parts that wait; None: it is none, or of too many products."""
        if node.op not in (Op.ADD, Op.SUB) or any(i not in self.waiting for i in node.operands):
            return None
        left, right = (self.waiting[i] for i in node.operands)
        if len(left.products) + len(right.products) > MOST_PRODUCTS:
            return None
        added = right.products
        if node.op is Op.SUB:
            added = tuple(
                PlainProduct(p.identity, p.operand, p.value, p.plain, not p.negative) for p in added
            )
        # As the forecast adds values: up to two variables stay, and more become one.
        halves = None if left.halves or right.halves else (left, right)
        magnitude = left.magnitude + right.magnitude
        # Of a chain in the order of its sums, which matters where some parts are correlated.
        pair = sorted((left.products, added), key=len, reverse=True)
        return Part(node.id, (*pair[0], *pair[1]), magnitude, halves)

    def take(self, identities: Sequence[int]) -> None:
        """Forgets parts, which are a value from now on."""
        for i in identities:
            del self.waiting[i]


def product_part(node: Node, value: Value, values: PlainValues) -> Part | None:
    """Returns a product as a part of a sum; None: it must be computed by itself."""
    own = [
        term
        for (kind, _), term in value.terms.items()
        if term.profile is not None and kind is not Kind.KEY_OFFSET
    ]
    simple = value.range.real and not np.iscomplexobj(value.range.low)
    if len(own) > _MOST_PROFILES or not simple or np.iscomplexobj(values):
        return None
    if node.plain is None or any(kind is Kind.OTHER for kind, _ in value.terms):
        return None
    product = PlainProduct(node.id, node.operands[0], value, node.plain)
    return Part(node.id, (product,), value.magnitude * largest(values))


def total(part: Part, added: Callable[[PlainProduct], Terms]) -> Value:
    """Returns the sum of several products, as a variable of its own.

    Args:
        part: The sum.
        added: Returns the error that a product adds of its own.
    """
    products = part.products
    plain: Curve = np.array([product.plain.values for product in products], np.float64)
    sizes: Reals = np.abs(plain)
    terms = dict(_scaled(products, sizes))
    for product in products:
        own = added(product)
        if spread.REST in terms or not terms.keys().isdisjoint(own):
            terms = dict(spread.add(terms, own, NO_AXES))
        else:
            terms |= own
    return atom(part.identity, _range(products, plain), terms)


def _range(products: Sequence[PlainProduct], plain: Curve) -> Span:
    """The range of the sum."""
    low: Numbers = np.zeros(plain.shape[1:])
    high: Numbers = np.zeros(plain.shape[1:])
    for product, values in zip(products, plain, strict=True):
        known = product.value.range.times(Span(values, values))
        if product.negative:
            low, high = low - known.high, high - known.low
        else:
            low, high = low + known.low, high + known.high
    return Span(low, high)


@dataclass(eq=False)
class _Parts:
    """The parts of one source in the products of a sum.

    Attributes:
        rows: Their products, by number.
        deviations: Of the values, for all slots or for each of them.
        terms: Their terms.
        rotations: Of all terms.
        mirrored: Of all terms.
        apart: Whether each is uncorrelated with those before it, for all but the first.
    """

    rows: list[int] = field(default_factory=list)
    deviations: list[Reals] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    rotations: int = 0
    mirrored: int = 0
    apart: set[bool] = field(default_factory=set)

    def add(self, row: int, deviation: Reals, term: Term) -> None:
        """Adds a part."""
        if self.rows:
            shared = self.rotations & term.rotations or self.mirrored & term.mirrored
            self.apart.add(not shared)
        self.rows.append(row)
        self.deviations.append(deviation)
        self.terms.append(term)
        self.rotations |= term.rotations
        self.mirrored |= term.mirrored

    def term(self, profile: Reals) -> Term:
        """Returns the term of the sum."""
        return Term(profile, _ONE, spread.new_token(), self.rotations, self.mirrored)


def _scaled(products: Sequence[PlainProduct], sizes: Reals) -> Terms:
    """The errors of the values, times plain numbers of these magnitudes, added up."""
    found: dict[Source, _Parts] = {}
    for row, product in enumerate(products):
        deviations = product.value.deviations
        for source, term in product.value.terms.items():
            found.setdefault(source, _Parts()).add(row, deviations[source], term)
    result: dict[Source, Term] = {}
    groups: dict[bool, list[Source]] = {False: [], True: []}
    rows = list(sizes)  # terms of one product share its row
    for source, parts in found.items():
        if len(parts.rows) > 1 and len(parts.apart) == 1:
            groups[parts.apart.pop()].append(source)
            continue
        scaled = [
            _times(term, deviation, rows[row])
            for row, deviation, term in zip(parts.rows, parts.deviations, parts.terms, strict=True)
        ]
        term = scaled[0]
        for other in scaled[1:]:
            term = term.plus(other, NO_AXES)
        result[source] = term
    for source, profile in _added(found, groups[False], sizes):
        result[source] = found[source].term(profile)
    for source, profile in _added(found, groups[True], sizes * sizes, squared=True):
        result[source] = found[source].term(np.sqrt(profile))
    return result


def _times(term: Term, deviation: Reals, sizes: Reals) -> Term:
    """Returns a term of a value times numbers of these magnitudes."""
    profile, curve = (deviation * sizes, _ONE) if deviation.ndim else (sizes, deviation)
    return Term(profile, curve, spread.new_token(), term.rotations, term.mirrored)


def _added(
    found: Mapping[Source, _Parts],
    sources: Sequence[Source],
    sizes: Reals,
    *,
    squared: bool = False,
) -> Iterator[tuple[Source, Reals]]:
    """Yields sums of deviations times sizes, by source: all squared, or none."""
    factors = np.zeros((len(sources), len(sizes)))
    for factor, source in zip(factors, sources, strict=True):
        for row, deviation in zip(found[source].rows, found[source].deviations, strict=True):
            if not deviation.ndim:
                factor[row] = deviation * deviation if squared else deviation
    with np.errstate(invalid="ignore"):
        sums = factors @ sizes
    for profile, source in zip(sums, sources, strict=True):
        for row, deviation in zip(found[source].rows, found[source].deviations, strict=True):
            if deviation.ndim:
                profile += sizes[row] * (deviation * deviation if squared else deviation)
        yield source, profile
