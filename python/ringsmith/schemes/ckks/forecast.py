"""The precision forecast: the expected error of decrypted results.

The error of every node is followed as a sum over noise sources (``ringsmith.schemes.ckks.spread``),
to first order and with the product of two errors as a source of its own. Where two encrypted values
are multiplied, each one's error is scaled by the other's message: by its curve where both are known
as functions of the same earlier values (``ringsmith.schemes.ckks.grids``), so that a polynomial has
its derivative times the error of its argument, and otherwise by a bound of it. The forecast
therefore rests on bounds of the inputs' numbers. ``docs/guide/programs.md`` states model,
confidence and sources.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Noise, Op
from ringsmith.params import CkksParameters
from ringsmith.params.flooding import FAILURE
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import PlainValues, digest, root_mean_square, turns
from ringsmith.program.ranges import Interval
from ringsmith.program.spans import Span, of_plain
from ringsmith.schemes.ckks import noise, spread
from ringsmith.schemes.ckks.bootstrapping_noise import bootstrapping_noise
from ringsmith.schemes.ckks.grids import Curve
from ringsmith.schemes.ckks.noise import Reals
from ringsmith.schemes.ckks.periods import period, shortened
from ringsmith.schemes.ckks.samples import magnitudes
from ringsmith.schemes.ckks.spread import Kind, Source, Term, Terms
from ringsmith.schemes.ckks.sums import Part, PlainProduct, Sums, product_part, total
from ringsmith.schemes.ckks.values import NO_AXES, Value, atom, common_axes
from ringsmith.short_repr import short_repr

_WHOLE = 2.0**53
"""Whole numbers below are doubles."""
_ALIKE = 1e-3
"""By what part of a promise a known range may exceed it and is not replaced by it."""


@short_repr
@dataclass(frozen=True)
class OutputForecast:
    """What to expect of one output.

    Two distances are separate. ``error`` is noise: from the decrypted number to that of
    ``program.evaluate``, which computes what was recorded, polynomials in place of functions too.
    Larger scales lower it. ``approximation`` is from there to the functions that the program
    stands for: to those of ``chebyshev``, and to polynomials before small coefficients were
    dropped. No parameters lower it, but a higher degree does. ``total`` is both.

    Attributes:
        bound: Largest message magnitude that the bounds of the inputs allow.
        rms: Standard deviation of the error, root mean square over the slots.
        error: Error by noise that any slot exceeds with at most the probability ``FAILURE``.
        approximation: Largest error by the approximation of functions; 0: no approximation.
        spread: As ``rms``, over all slots of the ciphertext.
        beyond: Largest magnitude that the slots after the output's numbers may hold.
        slot: The slot with the largest expected error.
        shares: Share of each kind of noise in that slot's variance, the largest first.
    """

    bound: float
    rms: float
    error: float
    approximation: float
    spread: float
    beyond: float
    slot: int
    shares: Mapping[Kind, float]

    @property
    def bits(self) -> float:
        """Binary digits after the point that noise leaves correct in every slot: -log2(error)."""
        return correct_bits(self.error)

    @property
    def total(self) -> float:
        """Error against the functions that the program stands for: noise and approximation."""
        return self.error + self.approximation


@short_repr
@dataclass(frozen=True)
class Forecast:
    """The forecast of a program.

    Attributes:
        outputs: By name.
        errors: Error of each node by noise, by id, as ``OutputForecast.error`` has it; none unless
            they were asked for.
        overflows: Outputs whose messages, by the bounds of the inputs, may exceed the modulus; if
            they do, nothing forecast holds for what depends on them.
    """

    outputs: Mapping[str, OutputForecast]
    errors: Sequence[float]
    overflows: Sequence[int]

    @property
    def bits(self) -> float:
        """Bits of the least precise output, without approximations."""
        return min(output.bits for output in self.outputs.values())


def forecast(
    parameters: CkksParameters,
    nodes: Sequence[Node],
    filled: Mapping[str, NDArray[np.bool_]],
    bounds: Mapping[str, ArrayLike | Interval] | float | Interval = 1.0,
    *,
    output_lengths: Mapping[str, int],
    complex_numbers: bool = False,
    samples: Mapping[str, ArrayLike] | None = None,
    each_node: bool | frozenset[int] = True,
    digits_first: frozenset[int] = frozenset(),
    undivided: frozenset[int] = frozenset(),
    quick: bool = False,
) -> Forecast:
    """Forecasts the precision of planned nodes; ``Program.forecast`` describes other arguments.

    Args:
        parameters: The parameter set.
        nodes: The planned nodes.
        filled: The slots that hold numbers, by the input's name.
        bounds: Bounds of all numbers, or for each input of its slots, from the first.
        output_lengths: Numbers that each output holds, by name.
        complex_numbers: Whether numbers may be complex.
        samples: For each input its first slots, or an array (samples, slots).
        each_node: Whether every node's error is wanted, or of which nodes.
        digits_first: As of ``Sharing``.
        undivided: As of ``Sharing``.
        quick: As of ``Program.forecast``.
    """
    promised = {
        node.name or "": Interval(node.bound.low, node.bound.high)
        for node in nodes
        if node.op is Op.INPUT and node.bound is not None
    }
    if not isinstance(bounds, Mapping):
        bounds = {name: promised.get(name, bounds) for name in filled}
    ranges = _input_ranges(filled, bounds, real=not complex_numbers)
    typical = None if samples is None else magnitudes(nodes, filled, samples)
    slots = parameters.slots
    if quick and typical is None:
        slots = period(nodes, ranges.values(), output_lengths, slots)
    if slots < parameters.slots:
        nodes, ranges = shortened(nodes, ranges, slots)
    walk = _Walk(parameters, nodes, ranges, output_lengths, typical, digits_first, undivided, slots)
    return walk.run(each_node=each_node)


def correct_bits(error: float) -> float:
    """Returns the binary digits after the point that an error leaves correct."""
    return -math.log2(error) if error else math.inf


def error_bound(variance: Reals, gaussian: Reals | float = 0.0) -> float:
    """Returns what no slot exceeds, but with the probability ``FAILURE``.

    An error is mostly a product of two nearly Gaussian numbers, a rounding and the secret key, or a
    digit and a key's error: its magnitude in units of its standard deviation exceeds t with the
    probability 2t * K_1(2t), here by the first two terms of the Bessel function's expansion. A
    Gaussian complex number does with exp(-t^2). The probabilities of all slots are added.

    Args:
        variance: Variance in each slot of products of Gaussian numbers.
        gaussian: Variance in each slot of a Gaussian part; the bounds of both are added.
    """
    parts = (np.sqrt(np.asarray(part)) for part in (variance, gaussian))
    return sum(map(_quantile, parts, (_exceeding_product, _exceeding_gaussian)))


@lru_cache
def _unit(slots: int) -> float:
    """The error of this number of slots of variance 1."""
    return error_bound(np.ones(slots))


def _exceeding_product(t: Reals) -> Reals:
    return np.sqrt(np.pi * t) * (1 + 3 / (16 * t)) * np.exp(-2 * t)


def _exceeding_gaussian(t: Reals) -> Reals:
    return np.exp(-(t**2))


def _quantile(spreads: Reals, exceeding: Callable[[Reals], Reals]) -> float:
    """Returns what deviations of all slots exceed together with half of ``FAILURE``."""
    largest = float(spreads.max())
    if not 0 < largest < math.inf:
        return largest
    relevant = spreads[spreads > largest / 16] / largest  # a smaller one exceeds nothing
    low, high = 1.0, 64.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        often = exceeding(middle / relevant).sum() > FAILURE / 2
        low, high = (middle, high) if often else (low, middle)
    return high * largest


def _input_ranges(
    filled: Mapping[str, NDArray[np.bool_]],
    given: Mapping[str, ArrayLike | Interval],
    *,
    real: bool,
) -> dict[str, Span]:
    if given.keys() != filled.keys():
        raise ProgramError(
            f"the program takes the inputs {sorted(filled)} and bounds were given for "
            f"{sorted(given)}: give a bound for each input, or one number for all"
        )
    result = {}
    for name, where in filled.items():
        limit, length = given[name], int(where.nonzero()[0].max(initial=0)) + 1
        bound = np.asarray(limit.magnitude if isinstance(limit, Interval) else limit)
        fits = bound.dtype.kind in "iuf" and (bound.ndim == 0 or 0 < bound.size <= length)
        if not fits or bound.ndim > 1 or not np.isfinite(bound).all() or (bound < 0).any():
            raise ProgramError(
                f"bounds[{name!r}] = {given[name]!r:.60} bounds no magnitudes: give a number from "
                f"0, or at most {length} of them"
            )
        low, high = (limit.low, limit.high) if isinstance(limit, Interval) else (-bound, bound)
        low, high = (_with_zeros(np.asarray(end, float), where) for end in (low, high))
        result[name] = Span(low, high)
        if not real:
            result[name] = Span.of_magnitude(result[name].magnitudes)
    return result


def _with_zeros(end: Reals, filled: NDArray[np.bool_]) -> Reals:
    """Returns an end of ranges for all slots: zeros where an input has no numbers."""
    if not end.ndim:
        return end if filled.all() else np.where(filled, end, 0.0)
    return np.where(filled, np.pad(end, (0, filled.size - end.size)), 0.0)


@dataclass(eq=False)
class _Walk:
    """One run over the nodes.

    Attributes:
        slots: Slots that are looked at, the first ones; the others repeat them.
        typical: The largest magnitudes of each node's numbers by samples; None: no samples.
        digits_first: Rotations of digits that were cut before: the digits' means are rotated, too.
        undivided: As of ``Sharing``.
        values: The values that a node still needs, by id.
        origins: What a value's variable is named after: the first node with the same numbers.
        holders: How many of the values hold each source.
        encodings: The source of each plain operand's encoding, by its node: equal ones err equally.
        single: Those of one node only, and merged ones of these.
        named: All of them; others are merged ones.
        uses: Users of each node that are still to come.
        profiles: Profiles of noise of the slots that are looked at, by those of all slots.
        sums: Products with plain vectors that wait for the sum that they are part of.
        log_q: log2 of the modulus of 1, 2, … limbs.
    """

    parameters: CkksParameters
    nodes: Sequence[Node]
    ranges: Mapping[str, Span]
    output_lengths: Mapping[str, int]
    typical: Sequence[NDArray[np.float32]] | None
    digits_first: frozenset[int]
    undivided: frozenset[int]
    slots: int
    values: dict[int, Value] = field(default_factory=dict)
    origins: dict[int, int] = field(default_factory=dict)
    holders: Counter[Source] = field(default_factory=Counter)
    encodings: dict[int, Source] = field(default_factory=dict)
    single: set[Source] = field(default_factory=set)
    named: set[Source] = field(default_factory=set)
    uses: Counter[int] = field(default_factory=Counter)
    profiles: dict[int, Reals] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
    log_q: Sequence[float] = ()

    def run(self, *, each_node: bool | frozenset[int]) -> Forecast:
        self._name_encodings()
        self.uses = Counter(i for node in self.nodes for i in node.operands)
        wanted = frozenset[int]() if isinstance(each_node, bool) else each_node
        if each_node is not True and self.typical is None:
            self.sums = Sums.of(self.nodes, self.uses, wanted)
        self.log_q = np.cumsum(np.log2(np.array(self.parameters.data_primes, float))).tolist()
        outputs, errors, overflows = {}, [], []
        for node in self.nodes:
            errors.append(math.nan)
            if node.stage:
                continue
            with np.errstate(over="ignore", invalid="ignore"):  # an error may be infinite
                if self._waits(node):
                    continue
                value = self._annotated(node, self._node(node))
                self._release(node.operands)
                value = self._keep(node.id, value)
                if each_node is True or node.id in wanted:
                    errors[-1] = self._error(value, self.parameters.slots)
            if node.op is Op.OUTPUT:
                if self._overflows(node, value.magnitude):
                    overflows.append(node.id)
                length = self.output_lengths[node.name or ""]
                outputs[node.name or ""] = self._summary(value, length)
        return Forecast(
            MappingProxyType(outputs), tuple(errors) if each_node else (), tuple(overflows)
        )

    def _overflows(self, node: Node, bound: float) -> bool:
        """Tells whether numbers up to a bound exceed the modulus of a node."""
        return bound > 0 and math.log2(bound * node.scale) + 1 > self.log_q[node.limbs - 1]

    def _release(self, used: Iterable[int]) -> None:
        """Forgets values that are used no more."""
        for i in used:
            self.uses[i] -= 1
            if not self.uses[i] and i in self.values:
                for source in _sources(self.values.pop(i).terms):
                    self.holders[source] -= 1

    # ---- sums of products with plain vectors -----------------------------------------------

    def _waits(self, node: Node) -> bool:
        """Tells whether a node is computed later, as a part of a sum; makes parts values else."""
        part: Part | None = None
        if node.plain is not None and node.id in self.sums.candidates:
            operand = self.values[node.operands[0]]
            part = product_part(node, operand, node.plain.values)
        elif node.op in (Op.ADD, Op.SUB):
            part = self.sums.joined(node)
        if part is not None and not self._overflows(node, part.magnitude):
            if node.id in self.sums.candidates:
                self.sums.waiting[node.id] = part
                return True
            return False
        for i in set(node.operands):
            if i in self.sums.waiting:
                waiting = self.sums.waiting.pop(i)
                value = self._settled(waiting)
                self._release(waiting.operands)
                self._keep(i, value)
        return False

    def _settled(self, part: Part) -> Value:
        """Returns the value of a part of a sum: what its operations one after another make."""
        node = self.nodes[part.identity]
        if part.halves is not None:
            left, right = (self._settled(half) for half in part.halves)
            return self._sum(node, left, right)
        if len(part.products) > 1:
            return total(part, self._product_terms)
        product = part.products[0]
        return self._with_plain(node, product.value, product.plain)

    def _product_terms(self, product: PlainProduct) -> Terms:
        """Returns the error that a product with a plain vector adds."""
        value, plain = product.value, product.plain
        size, rotations = self._encoding(plain.values, plain.scale)
        second = value.deviation * (2 * size)
        profile, factor = _shaped(value.magnitudes * size)
        return {
            (Kind.PRODUCT, product.identity): Term(*_shaped(second), spread.new_token()),
            self.encodings[product.identity]: Term(
                profile, factor, spread.new_token(), rotations, rotations
            ),
        }

    def _name_encodings(self) -> None:
        for node in self.nodes:
            if node.plain is not None and not node.stage:
                values = node.plain.values
                content = (digest(values), values.shape, node.plain.scale)
                self.encodings[node.id] = (Kind.ENCODING, content)
        uses = Counter(self.encodings.values())
        self.named = set(uses)
        self.single = {source for source, count in uses.items() if count == 1}

    def _annotated(self, node: Node, value: Value) -> Value:
        """Takes for granted what the program promises, and adds what it approximates by."""
        if node.bound is not None:
            low, high = np.asarray(node.bound.low), np.asarray(node.bound.high)
            promised, known = Span(low, high), value.range
            if not known.real and node.bound.low != -node.bound.high:
                known = Span(known.low, known.high)
            sum_of_some = value.degree == 1 and len(value.axes.variables) > 1
            if sum_of_some or known.exceeds(promised, _ALIKE * node.bound.magnitude):
                # A variable of its own: on the grid of others it would exceed the promise. A sum of
                # others loses nothing by that, and what follows is a function of one variable.
                self.origins[node.id] = node.id
                value = value.atom(node.id, known.within(promised))
            else:
                value = replace(value, range=known.within(promised))
            value = _within_promise(value, node)
        if self.typical is not None:
            largest = self.typical[node.id].astype(np.float64)
            seen = Span(-largest, largest)
            if value.range.exceeds(seen, 0.0):
                self.origins[node.id] = node.id
                value = value.atom(node.id, value.range.within(seen))
        if node.approximation:
            size, profile = np.asarray(float(node.approximation)), None
            if node.approximated:
                profile = (np.arange(self.parameters.slots) < node.approximated).astype(np.float64)
            value = _with_term(value, (Kind.APPROXIMATION, node.id), _approximation(profile, size))
        return value

    def _keep(self, identity: int, value: Value) -> Value:
        """Stores a value, with sources that only it holds merged."""
        private = [
            source
            for source in value.terms
            if (source[0] not in spread.SHARED or source in self.single)
            and not self.holders.get(source)
        ]
        value = value.with_terms(spread.merge(value.terms, private, identity, value.axes))
        self.values[identity] = value
        for source in _sources(value.terms):
            if source not in self.holders:
                self.holders[source] = 0
                if source[0] is Kind.ENCODING and source not in self.named:
                    self.single.add(source)  # encodings of one node only, merged
            self.holders[source] += 1
        return value

    # ---- what is known of a value ----------------------------------------------------------

    def _variance(self, value: Value, *, gaussian: bool | None = None) -> Reals:
        """Returns the variance by noise, for all slots or for each of them.

        Args:
            value: The value.
            gaussian: Of Gaussian errors alone, of the others alone, or None: of all.
        """
        if gaussian is None:
            return value.variance
        noisy = (
            term
            for (kind, _), term in value.terms.items()
            if kind is not Kind.APPROXIMATION and gaussian is (kind is Kind.KEY_OFFSET)
        )
        return spread.variance(noisy, value.axes)

    def _error(self, value: Value, length: int) -> float:
        """Returns the error of a value's first numbers."""
        products, gaussian = (self._variance(value, gaussian=kind) for kind in (False, True))
        if not products.ndim and not gaussian.any():
            return _unit(length) * math.sqrt(float(products))
        again = self.parameters.slots // self.slots
        parts = (
            np.tile(np.broadcast_to(part, (self.slots,)), again)[:length]
            for part in (products, gaussian)
        )
        return error_bound(*parts)

    def _summary(self, value: Value, length: int) -> OutputForecast:
        """Returns the forecast of an output of this number of numbers."""
        slots = self.slots
        every = np.broadcast_to(self._variance(value), (slots,))
        each = every[:length]
        magnitude = np.broadcast_to(value.range.magnitudes, (slots,))
        slot = int(np.argmax(each))
        by_kind: dict[Kind, float] = {}
        for (kind, _), term in value.terms.items():
            if kind is not Kind.APPROXIMATION:
                size = float(np.broadcast_to(term.deviation(value.axes), (slots,))[slot])
                by_kind[kind] = by_kind.get(kind, 0.0) + size * size  # may be infinite
        total = sum(by_kind.values())
        shares = {kind: part / total for kind, part in by_kind.items() if part}
        return OutputForecast(
            bound=float(magnitude[:length].max()),
            rms=math.sqrt(float(each.mean())),
            error=self._error(value, length),
            approximation=float(_first(_approximations(value), length).max()),
            spread=math.sqrt(float(every.mean())),
            beyond=float(magnitude[length:].max(initial=0.0)),
            slot=slot,
            shares=MappingProxyType(dict(sorted(shares.items(), key=lambda item: -item[1]))),
        )

    # ---- operations ------------------------------------------------------------------------

    def _node(self, node: Node) -> Value:
        effect = node.op.record.noise
        if effect in (Noise.FRESH, Noise.BOOTSTRAP):
            return self._input(node) if effect is Noise.FRESH else self._bootstrapped(node)
        part = self.sums.joined(node)
        if part is not None:
            self.sums.take(node.operands)
            value = self._settled(part)
            self._release(part.operands)
            return value
        a, b = self.values[node.operands[0]], self.values[node.operands[-1]]
        same = node.operands[0]
        if node.plain is None and effect not in (Noise.SUM, Noise.PRODUCT) and not node.element:
            self.origins[node.id] = self.origins.get(same, same)  # the numbers are the same
        if node.op is Op.NEGATE:
            self.origins[node.id] = node.id
            return _scaled(a, np.asarray(-1.0))
        if node.plain is not None:
            return self._with_plain(node, a, node.plain)
        match effect:
            case Noise.SUM:
                return self._sum(node, a, b)
            case Noise.PRODUCT:
                return self._product(node, a, b)
            case Noise.KEY if node.steps is not None:
                rotated = a.rotated(node.steps % self.slots, self.slots)
                return self._switched(node, rotated, node.element)
            case Noise.KEY if node.element is not None:
                return self._switched(node, _conjugated(a), node.element)
            case Noise.KEY:
                return self._switched(node, a, "relinearization")
            case Noise.DIVISION:
                primes = len(self.parameters.dropped(self.nodes[node.operands[0]].limbs))
                size = noise.division_spread(self.parameters, primes) / node.scale
                return _with(a, {(Kind.RESCALE, node.id): size})
            case Noise.KEY_AND_DIVISION:
                # The key's errors at the operand's limbs and scale, then one division: by the
                # special primes and the last data prime.
                product, parameters = self.nodes[node.operands[0]], self.parameters
                digits = noise.digits_spread(parameters, product.limbs)
                switched = self._with_key(node.id, product, a, "relinearization", digits)
                primes = len(parameters.special_primes) + len(parameters.dropped(product.limbs))
                size = noise.division_spread(parameters, primes) / node.scale
                return _with(switched, {(Kind.RESCALE, node.id): size})
        if node.op is Op.OUTPUT:
            return _with(a, {(Kind.FLOATING, node.id): self._floating(a.range.magnitudes)})
        return a

    def _input(self, node: Node) -> Value:
        known = self.ranges[node.name or ""]
        parameters, scale = self.parameters, node.scale
        return _with(
            atom(node.id, known, {}),
            {
                (Kind.ENCRYPTION, node.id): noise.encryption_spread(parameters, node.limbs) / scale,
                (Kind.ENCODING, ("input", node.id)): noise.encoding_spread(parameters) / scale,
                (Kind.FLOATING, node.id): self._floating(known.magnitudes),
            },
        )

    def _bootstrapped(self, node: Node) -> Value:
        """Returns what was bootstrapped with the noise of that."""
        before = node.operands[1]
        found = bootstrapping_noise(self.parameters, self.nodes, node.id, self.undivided)
        profile = found.mean * noise.mean_profile(self.parameters.n)
        mean = _approximation(profile, np.ones(()))
        value = _with_term(self.values[before], (Kind.APPROXIMATION, ("mean", node.id)), mean)
        self.origins[node.id] = self.origins.get(before, before)  # the numbers are the same
        return _with(value, {(Kind.BOOTSTRAP, node.id): found.spread})

    def _with_plain(self, node: Node, a: Value, plain: Plain) -> Value:
        """Adds, subtracts or multiplies by a plain operand."""
        values: Curve = plain.values.astype(np.result_type(plain.values, np.float64))
        source = self.encodings[node.id]
        size, rotations = self._encoding(values, plain.scale)
        if node.op is Op.MULTIPLY_PLAIN:
            second = 2 * np.sqrt(self._variance(a)) * size
            product = (
                _scaled(a, values) if not values.ndim else _scaled_by_slots(node.id, a, values)
            )
            product = _with(product, {(Kind.PRODUCT, node.id): second})
            profile, factor = _shaped(a.range.magnitudes * size)
            term = Term(profile, factor, spread.new_token(), rotations, rotations)
            return _with_term(product, source, term)
        sign = -1 if node.op is Op.SUB_PLAIN else 1
        term = Term(None, np.asarray(sign * size), spread.new_token(source), rotations, rotations)
        known = a.range.plus(_range_of(sign * values))
        if values.ndim:
            return _with_term(a.atom(node.id, known), source, term)
        moved = replace(a, range=known, numbers=lambda: a.curve + sign * values)
        return _with_term(moved, source, term)

    def _encoding(self, values: PlainValues, scale: float) -> tuple[float, int]:
        """Returns the deviation of an encoding in every slot, and the rotations of its source."""
        floating = noise.floating_spread(self.parameters) * root_mean_square(values)
        if values.ndim and scale == 1 and turns(values):
            return 0.0, 1
        if not values.ndim and not values.imag:
            number = float(values.real) * scale
            if number.is_integer() and abs(number) < _WHOLE:
                return 0.0, spread.EVERY_ROTATION
        if values.ndim:
            return noise.encoding_spread(self.parameters) / scale + floating, 1
        # One coefficient is rounded, or three where the number is complex: no more than 3/2.
        rounding = (1.5 if np.iscomplexobj(values) else 0.5) / scale
        return rounding + floating, spread.EVERY_ROTATION

    def _sum(self, node: Node, a: Value, b: Value) -> Value:
        sign = np.asarray(-1.0 if node.op is Op.SUB else 1.0)
        known = a.range.minus(b.range) if sign < 0 else a.range.plus(b.range)
        axes = common_axes(a, b, max(a.degree, b.degree))
        linear = a.degree == b.degree == 1
        if axes is None or (linear and len(axes.variables) > 2):
            # Of linear values nothing is lost, and what follows is a function of one variable.
            i, j = (self._origin(operand) for operand in node.operands)
            flat = b.flat_terms(j)
            flat = flat if sign > 0 else spread.scale(flat, sign)
            return atom(node.id, known, spread.add(a.flat_terms(i), flat, NO_AXES))
        added = b.terms_on(axes)
        terms = spread.add(a.terms_on(axes), added if sign > 0 else spread.scale(added, sign), axes)

        def numbers() -> Curve:
            total: Curve = a.curve_on(axes) + sign * b.curve_on(axes)
            return total

        degree, carried = max(a.degree, b.degree), a.carried or b.carried
        result = Value(known, terms, axes, degree, numbers, carried=carried)
        # Variables of their own are bounded well by the sum of their bounds.
        return result.narrowed() if axes in (a.axes, b.axes) else result

    def _product(self, node: Node, a: Value, b: Value) -> Value:
        known = a.range.squared() if node.op is Op.SQUARE else a.range.times(b.range)
        # Where the two are equal, E|e|^4 is up to 4 (E|e|^2)^2: of a product of two Gaussians.
        second: Reals = 2 * np.sqrt(self._variance(a)) * np.sqrt(self._variance(b))
        approximations = _approximations(a) * _approximations(b)
        a, b = self._multiplied(node, a, b)
        axes = common_axes(a, b, a.degree + b.degree)
        if axes is None:
            terms = spread.add(
                {s: t.times(b.range.magnitudes, a.axes) for s, t in a.terms.items()},
                {s: t.times(a.range.magnitudes, b.axes) for s, t in b.terms.items()},
                NO_AXES,
            )
            result = atom(node.id, known, terms)
        else:
            left, right = a.curve_on(axes), b.curve_on(axes)
            terms = spread.add(
                spread.scale(a.terms_on(axes), right), spread.scale(b.terms_on(axes), left), axes
            )
            degree, carried = a.degree + b.degree, a.carried or b.carried
            result = Value(known, terms, axes, degree, lambda: left * right, carried=carried)
            result = result.narrowed()
        if approximations.any():
            term = _approximation(*_shaped(approximations))
            result = _with_term(result, (Kind.APPROXIMATION, ("product", node.id)), term)
        return _with(result, {(Kind.PRODUCT, node.id): second})

    def _multiplied(self, node: Node, a: Value, b: Value) -> tuple[Value, Value]:
        """Returns factors whose product has a curve: where it must, as new variables."""
        if common_axes(a, b, a.degree + b.degree) or not (a.range.real and b.range.real):
            return a, b
        origins = [self._origin(i) for i in (node.operands[0], node.operands[-1])]
        new_a, new_b = a.atom(origins[0], a.range), b.atom(origins[1], b.range)
        ways = [(new_a, b), (a, new_b), (new_a, new_b)]
        if a.degree < b.degree:
            ways[:2] = reversed(ways[:2])
        if node.op is Op.SQUARE:
            ways = [(new_a, new_a)]
        return next(way for way in ways if common_axes(*way, way[0].degree + way[1].degree))

    def _origin(self, identity: int) -> int:
        """Returns what a value's variable is named after."""
        return self.origins.get(identity, identity)

    def _switched(self, node: Node, value: Value, key: object) -> Value:
        """Adds the noise of key switching; ``key`` identifies the key."""
        random = noise.key_switch_spread(self.parameters, node.limbs)
        return self._with_key(node.id, node, value, key, random)

    def _with_key(
        self, identity: int, switched: Node, value: Value, key: object, random: float
    ) -> Value:
        """Adds errors of a key at a node's limbs and scale: a random one, and the digits' means."""
        limbs, scale = switched.limbs, switched.scale
        size, profile = noise.key_switch_offset(self.parameters, limbs)
        if self.slots < profile.size:
            profile = self._of_one_period(profile)
        moved = switched.id in self.digits_first
        if moved and switched.steps is not None:
            profile = np.roll(profile, -switched.steps)
        token = spread.new_token((key, limbs, moved))  # of every such use of a key at equal limbs
        offset = Term(profile, np.asarray(size / scale), token)
        value = _with_term(value, (Kind.KEY_OFFSET, key), offset)
        return _with(value, {(Kind.KEY_SWITCH, identity): random / scale})

    def _of_one_period(self, profile: Reals) -> Reals:
        """The largest of the slots that one slot stands for."""
        if id(profile) not in self.profiles:
            self.profiles[id(profile)] = profile.reshape(-1, self.slots).max(axis=0)
        return self.profiles[id(profile)]

    def _floating(self, bound: Reals) -> float:
        """Error of encoding or decoding values of these magnitudes in double precision."""
        return noise.floating_spread(self.parameters) * math.sqrt(float(np.mean(bound**2)))


def _sources(terms: Terms) -> Iterator[Source]:
    """Yields the sources of terms, and those that the term of small ones is made of."""
    for source, term in terms.items():
        yield source
        yield from term.members


def _first(values: Reals, length: int) -> Reals:
    """Returns the numbers of the first slots."""
    return values[:length] if values.ndim else values


def _shaped(size: Reals) -> tuple[Reals | None, Reals]:
    """Returns sizes as a profile and a factor."""
    return (size, np.ones(())) if size.ndim else (None, size)


def _approximation(profile: Reals | None, size: Reals) -> Term:
    """Returns the term of an approximation: no random error, and none that cancels another."""
    rotations = spread.EVERY_ROTATION
    return Term(profile, size, spread.new_token(), rotations, rotations)


def _approximations(value: Value) -> Reals:
    """Returns what approximations amount to at most: they add up, as if all had one sign."""
    total: Reals = np.zeros(())
    for (kind, _), term in value.terms.items():
        if kind is Kind.APPROXIMATION:
            total = total + term.deviation(value.axes)
    return total


def _within_promise(value: Value, node: Node) -> Value:
    """Returns a promised value, whose approximations do not exceed the width of the promise.

    What is computed lies in the range, and so does what it stands for.
    """
    assert node.bound is not None, "it is promised"
    found, width = _approximations(value), node.bound.high - node.bound.low
    if np.all(found <= width):
        return value
    terms = {each: term for each, term in value.terms.items() if each[0] is not Kind.APPROXIMATION}
    term = _approximation(*_shaped(np.fmin(found, width)))
    return _with_term(value.with_terms(terms), (Kind.APPROXIMATION, ("promise", node.id)), term)


def _with(value: Value, added: Mapping[Source, Reals | float]) -> Value:
    """Returns the value with new sources of error: deviations, for all slots or for each."""
    terms = {
        source: Term(*_shaped(np.asarray(size)), spread.new_token())
        for source, size in added.items()
    }
    return value.with_terms(spread.add(value.terms, terms, value.axes))


def _with_term(value: Value, source: Source, term: Term) -> Value:
    return value.with_terms(spread.add(value.terms, {source: term}, value.axes))


def _conjugated(a: Value) -> Value:
    terms = spread.conjugate(a.terms)
    return replace(a, terms=terms, numbers=lambda: np.conjugate(a.curve))


def _range_of(values: Curve) -> Span:
    """Returns the range of known numbers."""
    if np.iscomplexobj(values):
        return Span.of_magnitude(np.abs(values))
    return of_plain(values)


def _scaled(a: Value, factor: Curve) -> Value:
    """Returns the value times one number."""
    known, terms = a.range.times(_range_of(factor)), spread.scale(a.terms, factor)
    return replace(a, range=known, terms=terms, numbers=lambda: a.curve * factor)


def _scaled_by_slots(identity: int, a: Value, factors: Curve) -> Value:
    """Returns the value times a number in each slot, as a variable of its own."""
    magnitude: Reals = np.abs(factors)
    terms = {source: term.times(magnitude, a.axes) for source, term in a.terms.items()}
    return atom(identity, a.range.times(_range_of(factors)), terms)
