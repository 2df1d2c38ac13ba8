"""How functions are approximated: forms that compute them, and the choice of the cheapest one.

A form takes levels and products. The one with the fewest levels is taken, and of those the one with
the fewest products.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ringsmith.caching import cached
from ringsmith.program.minimax import Function, Reals, Terms, minimax
from ringsmith.program.ranges import Interval, image
from ringsmith.program.shapes import SHAPES, Shape
from ringsmith.program.signs import MARGINS, composite
from ringsmith.program.source import SourceLine
from ringsmith.program.splits import Cost
from ringsmith.program.stages import (
    UNIT,
    Stage,
    chebyshev_stage,
    largest_error,
    samples,
    seen,
    stages_of,
    within,
)
from ringsmith.program.vector import EncryptedVector

Domain = tuple[float, float]

MAX_DEGREE = 511
"""Highest degree of one polynomial."""
_SAFETY = 1 - 1e-3
"""Part of an error for which degrees are looked for; the rest is for what lies between points."""
_DOUBLE = 1e-11
"""Errors below this part of the function's values are not looked for."""
_SIGN_GAIN = 2.0**8
_MARGINS = (5.0, 4.5, 4.0, 3.5, 3.0, 2.5, 2.0)
"""Margins of a sign that makes a magnitude, in errors: the greatest that suffices is taken."""
_MOST_SQUARINGS = 10


class Form(Protocol):
    """A way to compute a function."""

    @property
    def cost(self) -> Cost:
        """What it takes."""
        ...

    @property
    def text(self) -> str:
        """The polynomials, for people."""
        ...

    def values(self, points: Reals) -> Reals:
        """Returns what it computes, in NumPy, element by element."""
        ...

    def applied(self, x: EncryptedVector, source: SourceLine) -> EncryptedVector:
        """Returns what it computes of a vector in its interval, in every slot."""
        ...


@dataclass(frozen=True, eq=False)
class Chain:
    """Polynomials, one after another: all but the last have values in [-1, 1].

    Attributes:
        stages: The polynomials.
        factor: Whether the result is multiplied by x.
    """

    stages: tuple[Stage, ...]
    factor: bool = False

    @property
    def cost(self) -> Cost:
        """What it takes."""
        total = Cost(1, 1) if self.factor else Cost(0, 0)
        for stage in self.stages:
            total = total + stage.cost
        return total

    @property
    def text(self) -> str:
        """The polynomials, for people."""
        degrees = ", ".join(str(stage.degree) for stage in self.stages)
        found = f"{_counted(len(self.stages), 'polynomial')} of degree {degrees}"
        return f"x times {found}" if self.factor else found

    def values(self, points: Reals) -> Reals:
        """Returns what it computes, in NumPy, element by element."""
        found = points
        for stage in self.stages:
            found = stage.values(found)
        return found * points if self.factor else found

    def applied(self, x: EncryptedVector, source: SourceLine) -> EncryptedVector:
        """Returns what it computes of a vector in its interval, in every slot."""
        domain = self.stages[0].domain
        y = x = within(x, domain, source)
        values = points = samples(domain, self.stages[0].degree)
        for stage in self.stages:
            y, values = stage.applied(y), stage.values(values)
            if stage is self.stages[-1]:
                seen(y, values, source)
            else:
                image(y, Interval(*UNIT), source)
        return seen(x * y, points * values, source) if self.factor else y


@dataclass(frozen=True, eq=False)
class Squarings:
    """A polynomial to the power 2^count."""

    stage: Stage
    count: int

    @property
    def cost(self) -> Cost:
        """What it takes."""
        return self.stage.cost + Cost(self.count, self.count)

    @property
    def text(self) -> str:
        """The polynomials, for people."""
        return f"a polynomial of degree {self.stage.degree} and {_counted(self.count, 'squaring')}"

    def values(self, points: Reals) -> Reals:
        """Returns what it computes, in NumPy, element by element."""
        found = self.stage.values(points)
        for _ in range(self.count):
            found = found * found
        return found

    def applied(self, x: EncryptedVector, source: SourceLine) -> EncryptedVector:
        """Returns what it computes of a vector in its interval, in every slot."""
        values = self.stage.values(samples(self.stage.domain, self.stage.degree))
        y = seen(self.stage.applied(within(x, self.stage.domain, source)), values, source)
        for _ in range(self.count):
            values = values * values
            y = seen(y * y, values, source)
        return y


@dataclass(frozen=True, eq=False)
class Goldschmidt:
    """The inverse of x by Goldschmidt's iteration, from a polynomial: y <- y + y*e, e <- e*e."""

    stage: Stage
    count: int

    @property
    def cost(self) -> Cost:
        """What it takes."""
        return self.stage.cost + Cost(1 + self.count, 2 * self.count)

    @property
    def text(self) -> str:
        """The polynomials, for people."""
        steps = _counted(self.count, "step")
        return f"a polynomial of degree {self.stage.degree} and {steps} of Goldschmidt's iteration"

    def values(self, points: Reals) -> Reals:
        """Returns what it computes, in NumPy, element by element."""
        y = self.stage.values(points)
        e = 1 - points * y
        for _ in range(self.count):
            y, e = y + y * e, e * e
        return np.asarray(y)

    def applied(self, x: EncryptedVector, source: SourceLine) -> EncryptedVector:
        """Returns what it computes of a vector in its interval, in every slot."""
        points = samples(self.stage.domain, self.stage.degree)
        values = self.stage.values(points)
        rest = 1 - points * values
        x = within(x, self.stage.domain, source)
        y = seen(self.stage.applied(x), values, source)
        e = seen(1 - x * y, rest, source)
        for step in range(self.count):
            values = values + values * rest
            y = seen(y + y * e, values, source)
            if step + 1 < self.count:
                rest = rest * rest
                e = seen(e * e, rest, source)
        return y


@dataclass(frozen=True, eq=False)
class Plan:
    """A function's approximation on an interval.

    Attributes:
        form: How it is computed.
        domain: The interval of x.
        error: Its largest distance from the function.
    """

    form: Form
    domain: Domain
    error: float

    @property
    def text(self) -> str:
        """What it is and what it takes, for people."""
        low, high = self.domain
        cost = self.form.cost
        return (
            f"{self.form.text} on [{low:g}, {high:g}]: error {self.error:.2g}, "
            f"{_counted(cost.levels, 'level')}, {_counted(cost.products, 'product')}"
        )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


# ---- choice --------------------------------------------------------------------------------


def default_error(name: str, domain: Domain) -> float:
    """Returns 2^-10 of the width of the range of a function on an interval."""
    values = SHAPES[name].values(samples(domain))
    return float(values.max() - values.min()) * 2.0**-10


@cached
def plan_of_degree(name: str, domain: Domain, degree: int) -> Plan | None:
    """Returns the polynomial of a degree, or of one less by parity; None: it is constant."""
    shape = SHAPES[name]
    low, high = domain
    family = _Family(shape, domain, parity=bool(shape.parity) and low == -high)
    taken = degree - (degree - family.first) % family.step
    if taken < 1:
        return None
    stages = stages_of(family.fitted(taken)[0], domain)
    return min(
        (_measured(shape, Chain((stage,)), domain) for stage in stages),
        key=lambda plan: (plan.form.cost.levels, plan.form.cost.products),
    )


@cached
def plan_of_error(name: str, domain: Domain, error: float) -> Plan | None:
    """Returns the cheapest form with at most an error; None: no form reaches it."""
    shape = SHAPES[name]
    best: Plan | None = None
    for forms in (_polynomials, _times_sign, *_SPECIAL.get(name, ())):
        levels = None if best is None else best.form.cost.levels
        for form in forms(shape, domain, error, levels):
            found = _measured(shape, form, domain)
            if found.error <= error and (best is None or form.cost < best.form.cost):
                best = found
    return best


def _measured(shape: Shape, form: Form, domain: Domain) -> Plan:
    points = samples(domain, MAX_DEGREE)
    return Plan(form, domain, largest_error(form.values(points) - shape.values(points)))


@dataclass(frozen=True, eq=False)
class _Family:
    """The polynomials that may approximate a function.

    Attributes:
        shape: The function.
        domain: Where it is approximated.
        parity: Whether they are odd or even, but for the function's constant and slope.
        tolerance: What divides the error; None: 1.
    """

    shape: Shape
    domain: Domain
    parity: bool
    tolerance: Function | None = None

    @property
    def first(self) -> int:
        """The degree of the first term that is looked for."""
        return int(self.shape.parity == "odd") if self.parity else 0

    @property
    def step(self) -> int:
        """From one degree to the next."""
        return 2 if self.parity else 1

    def fitted(self, degree: int, asked: float | None = None) -> tuple[Reals, float]:
        """Returns the Chebyshev series of the best polynomial of a degree, and its error.

        Args:
            degree: The degree.
            asked: As of ``minimax``: the polynomial is only good enough to compare its error.
        """
        low, high = self.domain
        terms = Terms(degree, self.first, self.step, 0.0 if self.parity else -1.0)
        middle, half = (low + high) / 2, (high - low) / 2

        def wanted(u: Reals) -> Reals:
            x = np.clip(middle + half * u, low, high)
            values = self.shape.values(x)
            if self.parity:
                values = values - self.shape.constant - self.shape.slope * x
            return values

        def allowed(u: Reals) -> Reals:
            assert self.tolerance is not None, "it is used where it is given"
            return self.tolerance(np.clip(middle + half * u, low, high))

        tolerance = None if self.tolerance is None else allowed
        series, error = minimax(wanted, terms, tolerance, asked=asked)
        if self.parity:
            series = np.pad(series, (0, max(0, 2 - series.size)))
            series[:2] += self.shape.constant, self.shape.slope * half
        return series, error

    def smallest(self, error: float, most: int) -> Reals | None:
        """Returns the series of the smallest degree with at most an error; None: none has it."""
        start = self.first or self.step  # no constant
        count = (most - start) // self.step + 1
        if count < 1:
            return None
        found = {0: self.fitted(start, error)}
        low, high = -1, 0
        while found[high][1] > error:
            if high == count - 1 or found[high][1] <= _DOUBLE * float(np.abs(found[high][0]).sum()):
                return None
            low, high = high, min(2 * high + 1, count - 1)
            found[high] = self.fitted(start + self.step * high, error)
        while high - low > 1:
            middle = _between(low, found[low][1], high, found[high][1], error)
            found[middle] = self.fitted(start + self.step * middle, error)
            low, high = (low, middle) if found[middle][1] <= error else (middle, high)
        return self.fitted(start + self.step * high)[0]


def _between(low: int, above: float, high: int, below: float, error: float) -> int:
    """Returns a number between two, where an error that falls as a power of it reaches a limit."""
    middle = (low + high) // 2
    if below > 0 and high - low > 4:
        part = math.log(above / error) / math.log(above / below)
        guess = round((low + 1) * ((high + 1) / (low + 1)) ** part) - 1
        middle = min(max(guess, low + (high - low) // 8), high - 1 - (high - low) // 8)
    return min(max(middle, low + 1), high - 1)


def _polynomials(shape: Shape, domain: Domain, error: float, levels: int | None) -> Iterator[Form]:
    """Single polynomials."""
    most = MAX_DEGREE if levels is None else min(MAX_DEGREE, (1 << levels) - 1)
    for family in _families(shape, domain):
        series = family.smallest(error * _SAFETY, most)
        if series is not None:
            for stage in stages_of(series, family.domain):
                yield Chain((stage,))


def _families(shape: Shape, domain: Domain) -> Iterator[_Family]:
    """Polynomials on the interval, and on wider ones that take no level or have a parity."""
    low, high = domain
    limit = max(-low, high)
    if not shape.parity or (low != -high and shape.sign is None):  # a kink takes no fewer degrees
        yield _Family(shape, domain, parity=False)
    if shape.parity:
        yield _Family(shape, (-limit, limit), parity=True)
    if shape.everywhere and limit < 1:
        yield _Family(shape, UNIT, parity=bool(shape.parity))


def _times_sign(shape: Shape, domain: Domain, error: float, levels: int | None) -> Iterator[Form]:
    """X times a composition that is about ``scale`` * sign(x) + ``offset``."""
    if shape.sign is None:
        return
    scale, offset = shape.sign
    span = max(-domain[0], domain[1])
    relative = error / (scale * span)
    for multiple in _MARGINS:
        margin = multiple * relative
        if not MARGINS[0] <= margin <= MARGINS[1]:
            continue
        plan = sign_plan(
            margin, relative, span, scale, offset, None if levels is None else levels - 1
        )
        if plan is None:
            return  # a smaller margin takes more levels
        form = Chain(plan.stages, factor=True)
        if _measured(shape, form, domain).error <= error:
            yield form
            return


def _squarings(shape: Shape, domain: Domain, error: float, levels: int | None) -> Iterator[Form]:
    """exp(x) = exp(x / 2^count)^(2^count)."""
    for count in range(1, min(_MOST_SQUARINGS, levels or _MOST_SQUARINGS)):
        power = 1 << count

        def root(x: Reals, power: int = power) -> Reals:
            return np.exp(x / power)

        def allowed(x: Reals, power: int = power) -> Reals:
            bits = np.logaddexp(0, math.log(error * _SAFETY) - x)  # log(1 + error / exp(x))
            return np.asarray(np.exp(x / power) * np.expm1(bits / power))

        family = _Family(Shape(root), domain, parity=False, tolerance=allowed)
        most = MAX_DEGREE if levels is None else (1 << max(0, levels - count)) - 1
        series = family.smallest(1.0, min(most, MAX_DEGREE))
        if series is not None:
            for stage in stages_of(series, domain):
                yield Squarings(stage, count)


def _goldschmidt(shape: Shape, domain: Domain, error: float, levels: int | None) -> Iterator[Form]:
    """1/x from a polynomial with a residual 1 - x*p(x) that is squared in each step."""
    for count in range(1, min(_MOST_SQUARINGS, levels or _MOST_SQUARINGS)):
        power = 1 << count

        def allowed(x: Reals, power: int = power) -> Reals:
            return np.asarray((error * _SAFETY * np.abs(x)) ** (1 / power) / np.abs(x))

        family = _Family(shape, domain, parity=False, tolerance=allowed)
        most = MAX_DEGREE if levels is None else (1 << max(0, levels - count - 1)) - 1
        series = family.smallest(1.0, min(most, MAX_DEGREE))
        if series is not None:
            for stage in stages_of(series, domain):
                yield Goldschmidt(stage, count)


_Forms = Callable[[Shape, Domain, float, int | None], Iterator[Form]]
_SPECIAL: dict[str, tuple[_Forms, ...]] = {"exp": (_squarings,), "inverse": (_goldschmidt,)}


@dataclass(frozen=True, eq=False)
class SignPlan:
    """A composition that is about ``scale`` * sign(x) + ``offset``.

    Attributes:
        stages: Its polynomials.
        margin: Least magnitude of numbers whose sign counts.
        error: The largest distance from that, for magnitudes from the margin on.
    """

    stages: tuple[Stage, ...]
    margin: float
    error: float

    @property
    def form(self) -> Chain:
        """How it is computed."""
        return Chain(self.stages)

    @property
    def text(self) -> str:
        """What it is and what it takes, for people."""
        plan = Plan(self.form, self.stages[0].domain, self.error)
        return f"{plan.text}; right where magnitudes are at least {self.margin:.3g}"


@cached
def sign_plan(
    margin: float,
    error: float,
    span: float,
    scale: float = 1.0,
    offset: float = 0.0,
    most: int | None = None,
) -> SignPlan | None:
    """Returns the cheapest composition for numbers within ±span; None: there is none.

    Args:
        margin: Least magnitude of numbers whose sign counts, divided by the span.
        error: The largest distance from 1 of the sign.
        span: The largest magnitude of a number.
        scale: What the sign is multiplied by.
        offset: What is added then.
        most: Levels that it may take; None: any number.
    """
    found = [
        SignPlan(
            (first, *(chebyshev_stage(c, UNIT) for c in series[1:])),
            margin * span,
            made.error * abs(scale),
        )
        for degree in ((31,) if span == 1 else (31, 7))
        for made in [composite(margin, error, degree, most)]
        if made is not None
        for series in [_rescaled(made.components, scale, offset)]
        for first in stages_of(series[0], (-span, span), _SIGN_GAIN)
    ]
    found.sort(key=lambda plan: (plan.form.cost.levels, plan.form.cost.products))
    return found[0] if found else None


def _rescaled(components: tuple[Reals, ...], scale: float, offset: float) -> list[Reals]:
    last = components[-1] * scale
    last[0] += offset
    return [*components[:-1], last]
