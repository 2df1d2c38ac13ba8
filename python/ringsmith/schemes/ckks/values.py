"""What the forecast knows of one encrypted value: its range, its numbers' curve and its error."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ringsmith.program.spans import Span
from ringsmith.schemes.ckks import spread
from ringsmith.schemes.ckks.grids import MOST_DEGREE, Axes, Curve, Variable, rolled
from ringsmith.schemes.ckks.noise import Reals
from ringsmith.schemes.ckks.spread import Source, Terms

NO_AXES = Axes()


@dataclass(frozen=True, eq=False)
class Value:
    """One value.

    Attributes:
        range: Bounds of its numbers.
        terms: Its error.
        axes: The variables that its curves are functions of. None where it is not real and is no
            function of real ones: then all that is known of it is ``range``.
        degree: The degree of its curves in one variable.
        numbers: Makes the curve of its numbers.
        carried: Whether curves of its error are steps on this grid, and no polynomials: they cannot
            be read on a coarser one.
    """

    range: Span
    terms: Terms
    axes: Axes
    degree: int
    numbers: Callable[[], Curve]
    carried: bool = False

    @cached_property
    def curve(self) -> Curve:
        """Its numbers on the grid of its axes."""
        return self.numbers()

    @cached_property
    def magnitude(self) -> float:
        """The largest magnitude of a number in any slot."""
        return self.range.magnitude

    @cached_property
    def magnitudes(self) -> Reals:
        """The largest magnitude of a number in each slot, or for all slots."""
        return self.range.magnitudes

    @cached_property
    def deviation(self) -> Reals:
        """The standard deviation by noise, for all slots or for each of them."""
        return np.asarray(np.sqrt(self.variance))

    @cached_property
    def variance(self) -> Reals:
        """The variance by noise, for all slots or for each of them."""
        noisy = (
            term for (kind, _), term in self.terms.items() if kind is not spread.Kind.APPROXIMATION
        )
        return spread.variance(noisy, self.axes)

    @cached_property
    def deviations(self) -> dict[Source, Reals]:
        """The largest standard deviation by each source, for all slots or for each of them."""
        return {source: term.deviation(self.axes) for source, term in self.terms.items()}

    def with_terms(self, terms: Terms) -> "Value":
        """Returns the value with another error."""
        result = Value(
            self.range, terms, self.axes, self.degree, self.numbers, carried=self.carried
        )
        if "curve" in self.__dict__:
            result.__dict__["curve"] = self.curve
        return result

    def terms_on(self, axes: Axes) -> Terms:
        """Returns its error with curves on more axes."""
        if axes.keys == self.axes.keys:
            return self.terms
        if self.carried:
            return self.flat_terms(None)
        return {
            source: term._replace(curve=axes.expanded(term.curve, self.axes))
            if term.curve.ndim
            else term
            for source, term in self.terms.items()
        }

    def curve_on(self, axes: Axes) -> Curve:
        """Returns its curve on more axes."""
        return axes.expanded(self.curve, self.axes)

    def flat_terms(self, origin: object) -> Terms:
        """Returns its error without curves; ``origin`` names the value."""
        return {source: term.flat(self.axes, origin) for source, term in self.terms.items()}

    def atom(self, origin: int, known: Span) -> "Value":
        """Returns the value as a variable of its own, named ``origin``, of a given range.

        Its error stays a function of it where that is known.
        """
        curves = {source: t.curve for source, t in self.terms.items() if t.curve.ndim}
        one = len(self.axes.variables) == 1 and self.range.real and known.real
        if not curves or not one or np.iscomplexobj(self.curve):
            return atom(origin, known, self.flat_terms(origin))
        result = atom(origin, known, self.terms)
        (variable,) = result.axes.variables
        moved = self.axes.carried(variable, self.curve, list(curves.values()))
        terms = dict(self.terms)
        for source, curve in zip(curves, moved, strict=True):
            token = spread.new_token((terms[source].token, origin))
            terms[source] = terms[source]._replace(curve=curve, token=token)
        return replace(result, terms=terms, carried=True)

    def rotated(self, steps: int, slots: int) -> "Value":
        """Returns the value after a rotation to the left."""
        rotated = [variable.rotated(steps, slots) for variable in self.axes.variables]
        order = sorted(range(len(rotated)), key=lambda i: rotated[i].key)
        axes = Axes(tuple(rotated[i] for i in order))

        def moved(curve: Curve) -> Curve:
            return curve.transpose(order) if curve.ndim else curve

        terms = spread.rotate(self.terms, steps, slots)
        if order != sorted(order):
            terms = {s: term._replace(curve=moved(term.curve)) for s, term in terms.items()}
        low, high = (rolled(end, steps) for end in (self.range.low, self.range.high))
        numbers = Span(low, high, self.range.disc)
        return Value(
            numbers, terms, axes, self.degree, lambda: moved(self.curve), carried=self.carried
        )

    def narrowed(self) -> "Value":
        """Returns the value with its range narrowed to that of its curve."""
        curve, axes = self.curve, self.axes
        if np.iscomplexobj(curve):
            sizes = np.abs(curve)
            largest = axes.largest(sizes) + axes.excess(self.degree) * sizes.max()
            return replace(self, range=self.range.within(Span(-largest, largest)))
        if not self.range.real:
            return self
        beyond = axes.excess(self.degree) * (curve.max() - curve.min()) / 2
        found = Span(-axes.largest(-curve) - beyond, axes.largest(curve) + beyond)
        return replace(self, range=self.range.within(found))


def atom(origin: int, known: Span, terms: Terms) -> Value:
    """Returns a value that is a variable of its own, named ``origin``."""
    if not known.real:
        return Value(known, terms, NO_AXES, 1, lambda: np.asarray(np.nan))
    variable = Variable(origin, 0, known.low, known.high)
    axes = Axes((variable,))
    return Value(known, terms, axes, 1, lambda: axes.coordinate(variable))


def common_axes(a: Value, b: Value, degree: int) -> Axes | None:
    """Returns axes on which curves of both, and one of that degree, are known; None: too many."""
    if not (a.axes.variables and b.axes.variables):
        return None
    axes = a.axes.joined(b.axes)
    if axes is None or degree > MOST_DEGREE[len(axes.variables)]:
        return None
    return axes
