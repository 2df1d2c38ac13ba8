"""Quotients of long sums by a power of two, rounded down, in modular steps alone.

The conversions of variant ``hps`` need v = floor((sum of x_i * T_i + 2^(F-1)) / 2^F) of words x_i.
The sum is longer than a word, and the array computes modulo a word. So the sum is divided digit by
digit, lowest first. With S the sum of what a digit and the carries below it contribute:

    rest = S mod 2^h           sums of products modulo 2^h, which Barrett's reduction can do
    carry = (S - rest) / 2^h   the same sums modulo 2^W - 1, in which 2^h has an inverse

The division is exact, so that the carry is the integer itself where it is below 2^W - 1. Where all
terms together would make it larger, they are taken in several steps, each with the rest of the
one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.hdl.base_conversion import FRACTION_BITS, is_centred, largest_positive


@dataclass(frozen=True)
class Step:
    """One rest and one carry.

    Attributes:
        bits: h.
        terms: Items and their factors. Items are numbered: the words, then the carries of all
            steps, in order.
        first: What the sum begins with.
        after_rest: Whether the rest of the step before is added.
    """

    bits: int
    terms: tuple[tuple[int, int], ...]
    first: int
    after_rest: bool


@dataclass(frozen=True)
class Quotient:
    """A quotient as steps.

    Attributes:
        steps: In order.
        parts: The items whose sum is the quotient.
    """

    steps: tuple[Step, ...]
    parts: tuple[int, ...]


def digit_bits(word_bits: int) -> tuple[int, ...]:
    """Bits of the digits of a fraction, lowest first: 2^h is a word of more than half the width."""
    count = -(-FRACTION_BITS // (word_bits - 1))
    last = FRACTION_BITS - (count - 1) * (word_bits - 1)
    if last > word_bits // 2:
        return (word_bits - 1,) * (count - 1) + (last,)
    cuts = [FRACTION_BITS * i // count for i in range(count + 1)]
    return tuple(high - low for low, high in pairwise(cuts))


def moduli_of(graph: SubroutineGraph, design: VectorDesign) -> tuple[int, ...]:
    """What a graph computes modulo: its primes; with quotients, the moduli of their steps.

    Those are 2^W - 1, then the powers of two.
    """
    if not any(has_quotient(node, graph.primes, design) for node in graph.nodes):
        return graph.primes
    powers = sorted({1 << bits for bits in digit_bits(design.word_bits)})
    return (*graph.primes, (1 << design.word_bits) - 1, *powers)


def has_quotient(node: SubroutineNode, primes: Sequence[int], design: VectorDesign) -> bool:
    """Whether a node is a conversion that is exact by a quotient.

    Montgomery's reduction cannot do its steps; there, digits are converted in mixed radix if that
    gives the same bits.
    """
    if node.attrs.get("variant") != "centred_digit":
        return node.op in ("lift", "scale")
    if design.reduction == BARRETT:
        return True
    if "digit" in node.attrs:
        return largest_positive([primes[i] for i in node.attrs["digit"]]) is None
    largest = sorted((primes[i] for i in node.attrs["base"]), reverse=True)
    return not is_centred(largest[: max(node.attrs["sizes"])])  # of any primes of the base


def quotient(mosts: Sequence[int], fractions: Sequence[int], word_bits: int) -> Quotient:
    """The steps to floor((sum of x_i * fractions_i + 2^(F-1)) / 2^F).

    Args:
        mosts: The largest value of each word x_i.
        fractions: T_i, below 2^F.
        word_bits: W, the width of the array's words.
    """
    planner = _Planner(list(mosts), word_bits)
    left, low, carries = list(fractions), 0, list[int]()
    for bits in digit_bits(word_bits):
        first = (1 << FRACTION_BITS - 1) >> low & (1 << bits) - 1
        whole = [(item, each) for item, each in enumerate(left) if each]
        whole += [(item, 1) for item in carries]
        if planner.fits(whole, first, bits):
            terms, left = whole, [0] * len(left)
        else:
            digits = [each & (1 << bits) - 1 for each in left]
            terms = [(item, each) for item, each in enumerate(digits) if each]
            terms += [(item, 1) for item in carries]
            left = [each >> bits for each in left]
        carries = planner.stage(terms, first, bits)
        low += bits
    return Quotient(tuple(planner.steps), tuple(carries))


Terms = Sequence[tuple[int, int]]


class _Planner:
    """Makes steps, and knows how large items are at most."""

    def __init__(self, mosts: list[int], word_bits: int) -> None:
        self._mosts, self._most_carry = mosts, (1 << word_bits) - 2
        self.steps: list[Step] = []

    def _carry(self, terms: Terms, start: int, bits: int) -> int:
        """The largest carry of a sum that begins with ``start`` at most."""
        return start + sum(self._mosts[item] * factor for item, factor in terms) >> bits

    def fits(self, terms: Terms, first: int, bits: int) -> bool:
        """Whether the carry of all terms together is a word."""
        return self._carry(terms, first, bits) <= self._most_carry

    def stage(self, terms: Terms, first: int, bits: int) -> list[int]:
        """Adds the steps of one digit; returns the items that its carries are."""
        carries, own, after_rest = list[int](), list[tuple[int, int]](), False
        start = first
        for term in terms:
            if own and not self.fits([*own, term], start, bits):
                carries.append(self._add(own, first, start, bits, after_rest))
                own, first, start, after_rest = [], 0, (1 << bits) - 1, True
            own.append(term)
        if own:
            carries.append(self._add(own, first, start, bits, after_rest))
        return carries

    def _add(self, terms: Terms, first: int, start: int, bits: int, after_rest: bool) -> int:
        self.steps.append(Step(bits, tuple(terms), first, after_rest))
        self._mosts.append(self._carry(terms, start, bits))
        return len(self._mosts) - 1
