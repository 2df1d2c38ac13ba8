"""Polynomials of an encrypted vector with few products and the least depth.

Paterson and Stockmeyer 1973, as CKKS needs it (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux 2021,
eprint 2020/1203, section 5): the polynomial is split at powers m = baby * 2^j into
high * x^m + low, until parts are of a degree up to ``baby``; those are sums of coefficients times
small powers. Since a coefficient costs a level, too, a part that has no level to spare is split
further. Every ``baby`` is tried without computing anything, and the one of the fewest products is
taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ringsmith.program.plain import PlainValues
from ringsmith.program.source import caller
from ringsmith.program.vector import EncryptedVector


def polynomial(x: EncryptedVector, coefficients: object) -> EncryptedVector:
    """Returns c[0] + c[1]*x + … + c[d]*x^d in every slot, through ceil(log2(d + 1)) levels.

    About sqrt(2d) + log2(d) products of encrypted vectors are made, fewer where coefficients are
    zero. A product with a coefficient is a plain multiplication whose scale is free, and the
    planner makes it the scale of what it is added to.

    Args:
        x: The encrypted vector. High degrees want it within [-1, 1], lest powers overflow.
        coefficients: The numbers c[0] … c[d], the constant first, not all of c[1] … c[d] zero.

    Raises:
        ProgramError: When the coefficients are not numbers, or make a constant.
    """
    source = caller()
    c = np.trim_zeros(np.atleast_1d(x.trace.space.numbers(coefficients, source)), "b")
    if c.size < 2:
        raise source.error(
            "the polynomial is constant, and its value does not depend on the encrypted vector: "
            "give a nonzero coefficient of degree 1 or more"
        )
    return _plus(_evaluate(x, _best_split(c)), c[0])


@dataclass(frozen=True, eq=False)
class _Sum:
    """c[1]*x + … + c[d]*x^d, term by term; the constant c[0] is left to the user of the part."""

    c: PlainValues


@dataclass(frozen=True, eq=False)
class _Split:
    """(high + constant) * x^power + low; ``high`` None where the factor is the constant alone."""

    power: int
    constant: complex
    high: "_Part | None"
    low: "_Part | None"


_Part = _Sum | _Split


def _best_split(c: PlainValues) -> _Part:
    """Returns the way with the fewest products; of several, that with the smallest ``baby``."""
    degree = c.size - 1
    levels = degree.bit_length()  # ceil(log2(degree + 1))
    largest = 1 << (levels + 1) // 2 + 1  # greater ones make more small powers than they save
    ways = [
        _split(c, baby, leaf, levels)
        for baby in range(2, min(largest, degree + 1) + 1)
        for leaf in (baby - 1, baby)
    ]
    return min((way for way in ways if way is not None), key=_products)


def _products(part: _Part) -> int:
    """Returns how many products of encrypted vectors the evaluation of a part makes."""
    powers: set[int] = set()
    splits = 0
    for piece in _pieces(part):
        if isinstance(piece, _Split):
            powers |= _chain(piece.power)
            splits += piece.high is not None
        else:
            powers = powers.union(*(_chain(int(i)) for i in np.flatnonzero(piece.c) if i > 0))
    return len(powers) + splits


def _split(c: PlainValues, baby: int, leaf: int, levels: int) -> _Part | None:
    """Returns a way to evaluate c[1]*x + … + c[d]*x^d within ``levels``; None: there is none.

    Args:
        c: Coefficients; the last one is not zero, and d >= 1.
        baby: Parts are split at powers baby * 2^j.
        leaf: Highest degree of a part that is not split, if levels allow.
        levels: Levels that the part may take.
    """
    degree = c.size - 1
    if degree <= leaf and _depth(c) <= levels:
        return _Sum(c)
    if degree <= leaf:
        powers = [1 << degree.bit_length() - 1]  # the largest power of two: of the least depth
    else:
        powers = [baby << j for j in range(degree.bit_length()) if baby << j <= degree]
        # With powers to baby * 2^j, degrees to leaf + baby * (2^(j+1) - 1) are in reach.
        powers = [power for power in powers if degree <= leaf + 2 * power - baby]
    ways = (_split_at(c, power, baby, leaf, levels) for power in powers)
    return next((way for way in ways if way is not None), None)


def _split_at(c: PlainValues, power: int, baby: int, leaf: int, levels: int) -> _Part | None:
    """Returns ``_split``'s way of which the first split is at ``power``; None: there is none."""
    depth = (power - 1).bit_length()
    low_c, high_c = np.trim_zeros(c[:power], "b"), c[power:]
    high, low = None, None
    if high_c.size > 1:
        high = _split(high_c, baby, leaf, levels - 1)
        if high is None or depth > levels - 1:
            return None
    elif depth + (high_c[0] != 1) > levels:
        return None
    if low_c.size > 1:
        low = _split(low_c, baby, leaf, levels)
        if low is None:
            return None
    return _Split(power, high_c[0].item(), high, low)


def _depth(c: PlainValues) -> int:
    """Returns the levels of a sum of terms: a power's, and one more for its coefficient."""
    return max((int(i) - 1).bit_length() + int(c[i] != 1) for i in np.flatnonzero(c) if i > 0)


def _chain(power: int) -> set[int]:
    """Returns the powers above 1 that ``x**power`` computes on its way, as its ``_power`` does."""
    if power == 1:
        return set()
    high = 1 << ((power - 1).bit_length() - 1)
    return {power} | _chain(high) | _chain(power - high)


def _pieces(part: _Part) -> Iterator[_Part]:
    yield part
    if isinstance(part, _Split):
        for piece in (part.high, part.low):
            if piece is not None:
                yield from _pieces(piece)


def _evaluate(x: EncryptedVector, part: _Part) -> EncryptedVector:
    """Computes a part.

    Constants are added after rescaling; terms are added before, so that one rescaling serves all.
    """
    if isinstance(part, _Sum):
        terms = [_times(x ** int(i), part.c[i]) for i in np.flatnonzero(part.c) if i > 0]
    else:
        power = x**part.power
        if part.high is None:
            terms = [_times(power, part.constant)]
        else:
            terms = [_plus(_evaluate(x, part.high), part.constant) * power]
        if part.low is not None:
            terms.append(_evaluate(x, part.low))
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _times(x: EncryptedVector, coefficient: complex) -> EncryptedVector:
    return x if coefficient == 1 else x * coefficient


def _plus(x: EncryptedVector, constant: complex) -> EncryptedVector:
    return x if constant == 0 else x + constant
