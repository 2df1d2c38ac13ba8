"""The error of one encrypted value as a sum over noise sources, slot by slot.

A source is a random vector whose entries are uncorrelated, such as one rounding. Its part in a
value is a ``Term``: a standard deviation in every slot, times a curve (``grids``) of the value's
variables by which it grew, and the rotations under which the source's entries got there.

Two terms of one source with the same ``token`` are the same random vector, and their curves are
added with their signs: so x - x has no error, and a polynomial of x has its derivative times that
of x. Other terms of one source add up like uncorrelated ones if they hold disjoint rotations of it,
and otherwise like equal ones: the norm of a sum is at most the sum of the norms. Terms of different
sources are kept separate while another value may hold the same source.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import count
from typing import NamedTuple

import numpy as np

from ringsmith.schemes.ckks.grids import Axes, Curve, rolled
from ringsmith.schemes.ckks.noise import Reals

MAX_TERMS = 128
"""Terms that a value keeps separate; smaller ones become one term (``Term.members``)."""
EVERY_ROTATION = -1
"""As a bit set: the source's entries are all one, so that any two rotations are correlated."""


class Kind(StrEnum):
    """What makes an error."""

    __hash__ = str.__hash__  # an Enum's own is slow, and sources are looked up all the time

    ENCRYPTION = "encryption"
    RESCALE = "rescaling"
    KEY_SWITCH = "key switching"
    KEY_OFFSET = "key switching's mean"
    ENCODING = "encoding"
    FLOATING = "double precision"
    PRODUCT = "products of errors"
    BOOTSTRAP = "bootstrapping"
    APPROXIMATION = "approximation"
    OTHER = "small ones together"


Source = tuple[Kind, object]
SHARED = frozenset({Kind.KEY_OFFSET, Kind.ENCODING, Kind.OTHER, Kind.APPROXIMATION})
"""Kinds that are not merged: they may turn up again in later values, or are no random errors."""
REST: Source = (Kind.OTHER, None)
"""The source of small ones together."""
_ONE = np.ones(())
_fresh = count()

Token = tuple[object, int, bool]
"""What distinguishes random vectors of a source: its origin, rotated by steps, or conjugated."""


def new_token(origin: object = None) -> Token:
    """Returns the token of an error vector; of equal origins, equal ones. None: of no other's."""
    return (next(_fresh) if origin is None else origin), 0, False


class Term(NamedTuple):
    """What one source contributes to a value, at most.

    Attributes:
        profile: Standard deviation in each slot, in units of the message; None: 1 in all slots.
        curve: What the source's vector is multiplied by, as a curve of the value's variables.
        token: Tells which vector of the source it is.
        rotations: Bit r: slot i may hold the source's entry i + r.
        mirrored: Bit r: slot i may hold the conjugate of the source's entry i + r.
        members: Of the term of small sources: which they are.
    """

    profile: Reals | None
    curve: Curve
    token: Token
    rotations: int = 1
    mirrored: int = 0
    members: frozenset[Source] = frozenset()

    def deviation(self, axes: Axes) -> Reals:
        """Returns the largest standard deviation, for all slots or for each of them."""
        if self.profile is not None and self.curve is _ONE:
            return self.profile
        largest = axes.largest(np.abs(self.curve))
        return largest if self.profile is None else self.profile * largest

    def plus(self, other: "Term", axes: Axes) -> "Term":
        """Returns the term of a sum of two values that hold the same source."""
        if self.token == other.token:
            return self._replace(curve=self.curve + other.curve)
        disjoint = not self.rotations & other.rotations and not self.mirrored & other.mirrored
        disjoint = disjoint or (bool(self.members) and not self.members & other.members)
        both = _hypotenuse if disjoint else np.add
        if self.profile is other.profile:
            profile, curve = self.profile, both(np.abs(self.curve), np.abs(other.curve))
        else:
            profile, curve = both(self.deviation(axes), other.deviation(axes)), _ONE
        return Term(
            profile,
            curve,
            new_token(),
            self.rotations | other.rotations,
            self.mirrored | other.mirrored,
            self.members | other.members,
        )

    def times(self, factor: Reals, axes: Axes) -> "Term":
        """Returns the term of a value times numbers of these magnitudes, of whatever signs.

        It has no curve: the product is no function of the value's variables ``axes``.
        """
        if factor.ndim:
            profile = self.deviation(axes) * factor
            return self._replace(profile=profile, curve=_ONE, token=new_token())
        flat = self.flat(axes)
        return flat._replace(curve=flat.curve * factor, token=new_token())

    def flat(self, axes: Axes, origin: object = None) -> "Term":
        """Returns the term without a curve: with the largest deviation that it shows.

        Equal terms of the value that ``origin`` names become equal vectors; None: it has no name.
        """
        if not self.curve.ndim:
            return self
        token = new_token(None if origin is None else (self.token, origin))
        largest = axes.largest(np.abs(self.curve))
        if not largest.ndim:
            return self._replace(curve=largest, token=token)
        profile = largest if self.profile is None else self.profile * largest
        return self._replace(profile=profile, curve=_ONE, token=token)


Terms = Mapping[Source, Term]


def add(a: Terms, b: Terms, axes: Axes) -> Terms:
    """Returns the error of a sum; curves of both are on the same axes."""
    result = dict(a)
    for source, term in b.items():
        result[source] = result[source].plus(term, axes) if source in result else term
    if REST in result:
        members = result[REST].members
        for source in [s for s in result if s in members]:
            # It is in both: in the rest of one operand, and by itself in the other.
            result[REST] = result[REST].plus(_as_rest(source, result.pop(source), axes), axes)
    return result


def _hypotenuse(a: Reals, b: Reals) -> Reals:
    """As NumPy's, and faster; an error whose square is no double is infinite."""
    return np.sqrt(a * a + b * b)


def scale(terms: Terms, curve: Curve) -> Terms:
    """Returns the error of a value times numbers that the curve knows."""
    return {
        source: Term(term.profile, term.curve * curve, *term[2:]) for source, term in terms.items()
    }


def rotate(terms: Terms, steps: int, slots: int) -> Terms:
    """Returns the error of a value rotated to the left."""
    profiles: dict[int, Reals] = {}  # many terms have the same
    return {source: _rotated(term, steps, slots, profiles) for source, term in terms.items()}


def _rotated(term: Term, steps: int, slots: int, profiles: dict[int, Reals]) -> Term:
    profile = term.profile
    if profile is not None:
        if id(profile) not in profiles:
            profiles[id(profile)] = rolled(profile, steps)
        profile = profiles[id(profile)]
    origin, before, mirrored = term.token
    return Term(
        profile,
        term.curve,
        (origin, (before + steps) % slots, mirrored),
        _turn(term.rotations, steps, slots),
        _turn(term.mirrored, steps, slots),
        term.members,
    )


def conjugate(terms: Terms) -> Terms:
    """Returns the error of a conjugated value."""
    return {
        source: t._replace(
            curve=np.conjugate(t.curve),
            token=(*t.token[:2], not t.token[2]),
            rotations=t.mirrored,
            mirrored=t.rotations,
        )
        for source, t in terms.items()
    }


def variance(terms: Iterable[Term], axes: Axes) -> Reals:
    """Returns the largest variance, for all slots or for each of them."""
    curves: dict[int, tuple[Reals | None, Curve | float]] = {}
    for term in terms:
        key = 0 if term.profile is None else id(term.profile)
        size = np.abs(term.curve) if term.curve.ndim else abs(term.curve.item())
        before = curves[key][1] if key in curves else 0.0
        curves[key] = term.profile, before + size * size
    total: Reals = np.zeros(())
    part: Reals | None = None  # one array for all parts, and one for their sum: they are large
    with np.errstate(over="ignore"):
        for profile, curve in curves.values():
            largest = np.asarray(curve) if isinstance(curve, float) else axes.largest(curve)
            if profile is not None:
                part = np.multiply(profile, profile, out=part)
                one = isinstance(curve, float) and curve == 1
                largest = part if one else np.multiply(part, largest, out=part)
            total = np.add(total, largest, out=total if total.ndim else None)
    unknown = np.isnan(total)
    return np.asarray(np.where(unknown, np.inf, total) if unknown.any() else total)


def merge(terms: Terms, private: Iterable[Source], name: object, axes: Axes) -> Terms:
    """Returns fewer terms for the same error.

    Args:
        terms: The terms.
        private: Sources that no other value holds or will hold: those of one kind, under the same
            rotations, are one source from now on.
        name: Of the new sources; not used before.
        axes: The axes of the curves.
    """
    result = dict(terms)
    groups: dict[tuple[Kind, int, int, int | None], list[Term]] = {}
    for source in private:
        term = result.pop(source)
        shape = _shape(term)
        groups.setdefault((source[0], term.rotations, term.mirrored, shape), []).append(term)
    for index, ((kind, _, _, shape), group) in enumerate(groups.items()):
        merged = group[0]
        if len(group) > 1 and shape is None:
            profile = np.sqrt(variance(group, axes))
            merged = merged._replace(profile=profile, curve=_ONE, token=new_token())
        elif len(group) > 1:
            squares = sum(np.abs(term.curve) ** 2 for term in group)
            merged = merged._replace(curve=np.sqrt(squares), token=new_token())
        result[kind, (name, index)] = merged
    return _cut(result, axes)


def _shape(term: Term) -> int | None:
    """What terms have in common that are merged without loss; None: profiles without curves."""
    if term.profile is None:
        return 0
    return id(term.profile) if term.curve.ndim else None


def _cut(terms: dict[Source, Term], axes: Axes) -> Terms:
    """Makes one term of the smallest, where there are more than ``MAX_TERMS``."""
    if len(terms) <= MAX_TERMS:
        return terms
    small = [source for source in terms if source[0] not in (Kind.OTHER, Kind.APPROXIMATION)]
    small.sort(key=lambda source: float(terms[source].deviation(axes).max()), reverse=True)
    rest = [_as_rest(source, terms.pop(source), axes) for source in small[MAX_TERMS // 2 :]]
    spread = np.sqrt(variance(rest, axes))  # they are different sources, and so uncorrelated
    together = Term(
        spread,
        _ONE,
        new_token(),
        _union(term.rotations for term in rest),
        _union(term.mirrored for term in rest),
        frozenset().union(*(term.members for term in rest)),
    )
    return add(terms, {REST: together}, axes)


def _as_rest(source: Source, term: Term, axes: Axes) -> Term:
    flat = term.flat(axes)
    return flat._replace(token=new_token(), members=frozenset({source}))


def _union(sets: Iterable[int]) -> int:
    result = 0
    for bits in sets:
        result |= bits
    return result


def _turn(bits: int, steps: int, slots: int) -> int:
    """Returns the set of rotations after ``steps`` more, cyclically."""
    if bits in (0, EVERY_ROTATION):
        return bits
    full = (1 << slots) - 1
    return (bits << steps | bits >> (slots - steps)) & full
