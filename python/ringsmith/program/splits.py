"""Splits of a polynomial into few products of the least depth, and their evaluation.

Paterson and Stockmeyer 1973, as CKKS needs it (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux 2021,
eprint 2020/1203, section 5): the polynomial is split at basis elements m = baby * 2^j into
high * B_m + low, until parts are of a degree up to ``baby``; those are sums of coefficients times
small elements. Since a coefficient costs a level, too, a part that has no level to spare is split
further. Every ``baby`` is tried symbolically, and the one with the fewest products is used. The
basis is that of powers, or Chebyshev's (``ringsmith.program.bases``).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ringsmith.program.bases import Basis, Elements
from ringsmith.program.plain import PlainValues
from ringsmith.program.vector import EncryptedVector


@dataclass(frozen=True)
class Cost:
    """What a polynomial takes, the more important first.

    Attributes:
        levels: Its levels.
        products: Its products of encrypted vectors.
    """

    levels: int
    products: int

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.levels + other.levels, self.products + other.products)

    def __lt__(self, other: "Cost") -> bool:
        return (self.levels, self.products) < (other.levels, other.products)


@dataclass(frozen=True, eq=False)
class _Sum:
    """c[1]*B_1 + … + c[d]*B_d, term by term; the constant c[0] is left to the user of the part."""

    c: PlainValues


@dataclass(frozen=True, eq=False)
class _Split:
    """(high + constant) * B_m + low; ``high`` None where the factor is the constant alone.

    Attributes:
        element: The number m of the basis element.
        constant: The constant of the factor.
        high: The factor without its constant.
        low: What is added, without its constant.
        rest: The constant of ``low``, which products of basis elements leave behind.
    """

    element: int
    constant: complex
    high: "Part | None"
    low: "Part | None"
    rest: complex


Part = _Sum | _Split


def best_split(c: PlainValues, basis: Basis) -> Part:
    """Returns the way with the fewest products; of several, that with the smallest ``baby``."""
    degree = c.size - 1
    levels = degree.bit_length()  # ceil(log2(degree + 1))
    largest = 1 << (levels + 1) // 2 + 1  # greater ones make more small elements than they save
    ways = [
        _split(c, basis, baby, leaf, levels)
        for baby in range(2, min(largest, degree + 1) + 1)
        for leaf in (baby - 1, baby)
    ]
    found = [way for way in ways if way is not None]
    return min(found, key=lambda way: products(way, basis))


def products(part: Part, basis: Basis) -> int:
    """Returns how many products of encrypted vectors the evaluation of a part makes."""
    elements: set[int] = set()
    splits = 0
    for each in _parts(part):
        if isinstance(each, _Split):
            elements |= basis.chain(each.element)
            splits += each.high is not None
        else:
            numbers = (int(i) for i in np.flatnonzero(each.c) if i > 0)
            elements = elements.union(*(basis.chain(i) for i in numbers))
    return len(elements) + splits


def _split(c: PlainValues, basis: Basis, baby: int, leaf: int, levels: int) -> Part | None:
    """Returns a way to evaluate c[1]*B_1 + … + c[d]*B_d within ``levels``; None: it takes more.

    Args:
        c: Coefficients; the last one is not zero, and d >= 1.
        basis: The basis.
        baby: Parts are split at elements baby * 2^j.
        leaf: Highest degree of a part that is not split, if levels allow.
        levels: Levels that the part may take.
    """
    degree = c.size - 1
    if degree <= leaf and _depth(c) <= levels:
        return _Sum(c)
    if degree <= leaf:
        elements = [1 << degree.bit_length() - 1]  # the largest power of two: of the least depth
    else:
        elements = [baby << j for j in range(degree.bit_length()) if baby << j <= degree]
        # With elements to baby * 2^j, degrees to leaf + baby * (2^(j+1) - 1) are in reach.
        elements = [element for element in elements if degree <= leaf + 2 * element - baby]
    ways = (_split_at(c, basis, element, baby, leaf, levels) for element in elements)
    return next((way for way in ways if way is not None), None)


def _split_at(
    c: PlainValues, basis: Basis, element: int, baby: int, leaf: int, levels: int
) -> Part | None:
    """Returns ``_split``'s result with the first split at ``element``; None: levels are too few."""
    depth = (element - 1).bit_length()
    high_c, low_c = basis.divide(c, element)
    low_c = np.trim_zeros(low_c, "b")
    high, low = None, None
    if high_c.size > 1:
        high = _split(high_c, basis, baby, leaf, levels - 1)
        if high is None or depth > levels - 1:
            return None
    elif depth + (high_c[0] != 1) > levels:
        return None
    if low_c.size > 1:
        low = _split(low_c, basis, baby, leaf, levels)
        if low is None:
            return None
    rest = low_c[0].item() - c[0].item() if low_c.size else -c[0].item()
    return _Split(element, high_c[0].item(), high, low, rest)


def _depth(c: PlainValues) -> int:
    """Returns the levels of a sum of terms: an element's, and one more for its coefficient."""
    return max((int(i) - 1).bit_length() + int(c[i] != 1) for i in np.flatnonzero(c) if i > 0)


def _parts(part: Part) -> Iterator[Part]:
    yield part
    if isinstance(part, _Split):
        for each in (part.high, part.low):
            if each is not None:
                yield from _parts(each)


def evaluated(x: EncryptedVector, basis: Basis, part: Part) -> EncryptedVector:
    """Computes a part.

    Constants are added after rescaling; terms are added before, so that one rescaling serves all.
    """
    return _evaluated({1: x}, basis, part)


def _evaluated(known: Elements, basis: Basis, part: Part) -> EncryptedVector:
    terms, rest = _terms(known, basis, part)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return plus(total, rest)


def _terms(known: Elements, basis: Basis, part: Part) -> tuple[list[EncryptedVector], complex]:
    """Terms that add up to a part, and a constant that is added to them.

    Those at the fewest levels are the first: others come down to them as they are multiplied by
    their coefficients, and need no rescaling for it.
    """
    if isinstance(part, _Sum):
        numbers = [int(i) for i in np.flatnonzero(part.c) if i > 0][::-1]
        return [times(basis.element(known, i), part.c[i]) for i in numbers], 0
    factor = basis.element(known, part.element)
    if part.high is None:
        first = times(factor, part.constant)
    else:
        first = plus(_evaluated(known, basis, part.high), part.constant) * factor
    terms, rest = ([], 0) if part.low is None else _terms(known, basis, part.low)
    return [first, *terms], part.rest + rest


def times(x: EncryptedVector, coefficient: complex) -> EncryptedVector:
    """Returns the product with a coefficient; 1 takes no product."""
    return x if coefficient == 1 else x * coefficient


def plus(x: EncryptedVector, constant: complex) -> EncryptedVector:
    """Returns the sum with a constant; 0 takes no addition."""
    return x if constant == 0 else x + constant
