"""The error of one encrypted value as a sum over noise sources, slot by slot.

A source is a random vector whose entries are uncorrelated, such as one rounding. Its part in a
value is bounded by a ``Term``: a standard deviation in every slot, and the rotations under which
the source's entries got there. Where two values are added, terms of one source add up like
uncorrelated ones if they hold disjoint rotations of it, and otherwise like equal ones: the norm of
a sum is at most the sum of the norms. Terms of different sources are kept separate while another
value may hold the same source.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ringsmith.schemes.ckks.noise import Reals

MAX_TERMS = 128
"""Terms that a value keeps separate; smaller ones are added as if they were all equal."""
EVERY_ROTATION = -1
"""As a bit set: the source's entries are all one, so that any two rotations are correlated."""


class Kind(StrEnum):
    """What makes an error."""

    ENCRYPTION = "encryption"
    RESCALE = "rescaling"
    KEY_SWITCH = "key switching"
    KEY_OFFSET = "key switching's mean"
    ENCODING = "encoding"
    FLOATING = "double precision"
    PRODUCT = "products of errors"
    APPROXIMATION = "approximation"
    OTHER = "small ones together"


Source = tuple[Kind, object]
SHARED = frozenset({Kind.KEY_OFFSET, Kind.ENCODING, Kind.OTHER})
"""Kinds whose sources may turn up again in values that come later."""


@dataclass(frozen=True, eq=False)
class Term:
    """What one source contributes to a value, at most.

    Attributes:
        spread: Standard deviation in each slot, in units of the message.
        rotations: Bit r: slot i may hold the source's entry i + r.
        mirrored: Bit r: slot i may hold the conjugate of the source's entry i + r.
    """

    spread: Reals
    rotations: int = 1
    mirrored: int = 0

    def plus(self, other: "Term") -> "Term":
        """Returns the term of a sum of two values that hold the same source."""
        apart = not self.rotations & other.rotations and not self.mirrored & other.mirrored
        add = np.hypot if apart else np.add
        return Term(
            add(self.spread, other.spread),
            self.rotations | other.rotations,
            self.mirrored | other.mirrored,
        )


Terms = Mapping[Source, Term]


def add(a: Terms, b: Terms) -> Terms:
    """Returns the error of a sum or difference."""
    result = dict(a)
    for source, term in b.items():
        result[source] = result[source].plus(term) if source in result else term
    return result


def scale(terms: Terms, factor: Reals) -> Terms:
    """Returns the error of a value that is multiplied by numbers of the given magnitudes."""
    return {source: replace(t, spread=t.spread * factor) for source, t in terms.items()}


def rotate(terms: Terms, steps: int) -> Terms:
    """Returns the error of a value rotated to the left."""
    return {
        source: Term(
            np.roll(t.spread, -steps),
            _turn(t.rotations, steps, t.spread.size),
            _turn(t.mirrored, steps, t.spread.size),
        )
        for source, t in terms.items()
    }


def conjugate(terms: Terms) -> Terms:
    """Returns the error of a conjugated value."""
    return {source: Term(t.spread, t.mirrored, t.rotations) for source, t in terms.items()}


def variance(terms: Iterable[Term], slots: int) -> Reals:
    """Returns the variance in each slot."""
    total: Reals = np.zeros(slots)
    for term in terms:
        total += term.spread**2
    return total


def merge(terms: Terms, private: Iterable[Source], name: object) -> Terms:
    """Returns fewer terms for the same error.

    Args:
        terms: The terms.
        private: Sources that no other value holds or will hold: those of one kind, under the same
            rotations, are one source from now on.
        name: Of the new sources; not used before.
    """
    result = dict(terms)
    groups: dict[tuple[Kind, int, int], list[Term]] = {}
    for source in private:
        term = result.pop(source)
        groups.setdefault((source[0], term.rotations, term.mirrored), []).append(term)
    for index, ((kind, rotations, mirrored), group) in enumerate(groups.items()):
        spread = np.sqrt(variance(group, group[0].spread.size))
        result[kind, (name, index)] = Term(spread, rotations, mirrored)
    return _cut(result)


def _cut(terms: dict[Source, Term]) -> Terms:
    """Adds the smallest terms together where there are more than ``MAX_TERMS``."""
    if len(terms) <= MAX_TERMS:
        return terms
    ordered = sorted(terms, key=lambda source: float(terms[source].spread.max()), reverse=True)
    rest = [terms.pop(source).spread for source in ordered[MAX_TERMS - 1 :]]
    spread: Reals = np.sum(rest, axis=0)
    other: Source = (Kind.OTHER, None)
    # The rest may have held this source, or not: it is correlated with itself in any case.
    return add(terms, {other: Term(spread, EVERY_ROTATION, EVERY_ROTATION)})


def _turn(bits: int, steps: int, slots: int) -> int:
    """Returns the set of rotations after ``steps`` more, cyclically."""
    if bits in (0, EVERY_ROTATION):
        return bits
    full = (1 << slots) - 1
    return (bits << steps | bits >> (slots - steps)) & full
