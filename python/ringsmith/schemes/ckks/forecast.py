"""The precision forecast: the expected error of decrypted results.

The error of every node is followed as a sum over noise sources (``ringsmith.program.spread``), to
first order and with the product of two errors as a source of its own. Where two encrypted values
are multiplied, each one's error is scaled by a bound on the other's message, so the forecast rests
on bounds of the inputs' numbers. ``docs/guide/programs.md`` states model, confidence and sources.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Noise, Op
from ringsmith.params import CkksParameters
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.ranges import Interval
from ringsmith.schemes.ckks import noise, spread
from ringsmith.schemes.ckks.noise import Reals
from ringsmith.schemes.ckks.spread import Kind, Source, Term, Terms
from ringsmith.short_repr import short_repr

FAILURE = 2.0**-20
"""Probability, by the model, that any slot of an output errs by more than the forecast."""


@short_repr
@dataclass(frozen=True)
class OutputForecast:
    """What to expect of one output.

    Attributes:
        bound: Largest message magnitude that the bounds of the inputs allow.
        rms: Standard deviation of the error, root mean square over the slots.
        error: Error that any slot exceeds with at most the probability ``FAILURE``.
        slot: The slot with the largest expected error.
        shares: Share of each kind of noise in that slot's variance, the largest first.
    """

    bound: float
    rms: float
    error: float
    slot: int
    shares: Mapping[Kind, float]

    @property
    def bits(self) -> float:
        """Binary digits after the point that are correct in every slot: -log2(error)."""
        return -math.log2(self.error)


@short_repr
@dataclass(frozen=True)
class Forecast:
    """The forecast of a program.

    Attributes:
        outputs: By name.
        errors: Error of each node, by id, as ``OutputForecast.error`` has it.
        overflows: Nodes whose messages, by the bounds of the inputs, may exceed the modulus; if
            they do, nothing forecast holds for what depends on them.
    """

    outputs: Mapping[str, OutputForecast]
    errors: Sequence[float]
    overflows: Sequence[int]

    @property
    def bits(self) -> float:
        """Bits of the least precise output."""
        return min(output.bits for output in self.outputs.values())


@dataclass(frozen=True, eq=False)
class _Value:
    """Bounds of a value: of its message's magnitude in each slot, and of its error."""

    bound: Reals
    terms: Terms


def forecast(
    parameters: CkksParameters,
    nodes: Sequence[Node],
    lengths: Mapping[str, int],
    bounds: Mapping[str, ArrayLike | Interval] | float | Interval = 1.0,
) -> Forecast:
    """Forecasts the precision of planned nodes; ``Program.forecast`` describes the arguments."""
    promised = {
        node.name or "": node.bound.magnitude
        for node in nodes
        if node.op is Op.INPUT and node.bound is not None
    }
    if not isinstance(bounds, Mapping):
        bounds = {name: promised.get(name, bounds) for name in lengths}
    return _Walk(parameters, nodes, _input_bounds(parameters.slots, lengths, bounds)).run()


def error_bound(variance: Reals) -> float:
    """Returns what no slot exceeds, but with the probability ``FAILURE``.

    An error is mostly a product of two nearly Gaussian numbers, a rounding and the secret key, or a
    digit and a key's error: its magnitude in units of its standard deviation exceeds t with the
    probability 2t * K_1(2t), here by the first two terms of the Bessel function's expansion. The
    probabilities of all slots are added.

    Args:
        variance: Variance in each slot, not all 0.
    """
    spreads = np.sqrt(variance)
    largest = float(spreads.max())
    relevant = spreads[spreads > largest / 16] / largest  # a smaller one exceeds nothing
    low, high = 1.0, 64.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        t = middle / relevant
        exceeding = np.sqrt(np.pi * t) * (1 + 3 / (16 * t)) * np.exp(-2 * t)
        low, high = (middle, high) if exceeding.sum() > FAILURE else (low, middle)
    return high * largest


def _input_bounds(
    slots: int, lengths: Mapping[str, int], given: Mapping[str, ArrayLike | Interval]
) -> dict[str, Reals]:
    if given.keys() != lengths.keys():
        raise ProgramError(
            f"the program takes the inputs {sorted(lengths)} and bounds were given for "
            f"{sorted(given)}: give a bound for each input, or one number for all"
        )
    result = {}
    for name, length in lengths.items():
        limit = given[name]
        bound = np.asarray(limit.magnitude if isinstance(limit, Interval) else limit)
        fits = bound.dtype.kind in "iuf" and (bound.ndim == 0 or 0 < bound.size <= length)
        if not fits or bound.ndim > 1 or not np.isfinite(bound).all() or (bound < 0).any():
            raise ProgramError(
                f"bounds[{name!r}] = {given[name]!r:.60} bounds no magnitudes: give a number from "
                f"0, or at most {length} of them"
            )
        result[name] = np.zeros(slots)
        result[name][: length if bound.ndim == 0 else bound.size] = bound
    return result


@dataclass(eq=False)
class _Walk:
    """One run over the nodes."""

    parameters: CkksParameters
    nodes: Sequence[Node]
    bounds: Mapping[str, Reals]
    values: dict[int, _Value] = field(default_factory=dict)
    holders: Counter[Source] = field(default_factory=Counter)

    def run(self) -> Forecast:
        uses = Counter(i for node in self.nodes for i in node.operands)
        log_q = np.cumsum(np.log2(np.array(self.parameters.data_primes, dtype=np.float64)))
        outputs, errors, overflows = {}, [], []
        for node in self.nodes:
            value = self._node(node, [self.values[i] for i in node.operands])
            for i in node.operands:
                uses[i] -= 1
                if not uses[i] and i in self.values:
                    self.holders.subtract(self.values.pop(i).terms.keys())
            value = self._keep(node.id, self._annotated(node, value))
            result = self._summary(value)
            errors.append(result.error)
            if result.bound and math.log2(result.bound * node.scale) + 1 > log_q[node.limbs - 1]:
                overflows.append(node.id)
            if node.op is Op.OUTPUT:
                outputs[node.name or ""] = result
        return Forecast(MappingProxyType(outputs), tuple(errors), tuple(overflows))

    def _annotated(self, node: Node, value: _Value) -> _Value:
        """Takes for granted what the program promises, and adds what it approximates by."""
        if node.bound is not None:
            value = _Value(np.minimum(value.bound, node.bound.magnitude), value.terms)
        if node.approximation:
            # Its whole size is what no slot exceeds, so that its spread is less by that factor.
            size = node.approximation / error_bound(np.ones(self.parameters.slots))
            value = self._with(value, {(Kind.APPROXIMATION, node.id): math.sqrt(2) * size})
        return value

    def _keep(self, identity: int, value: _Value) -> _Value:
        """Stores a value, with sources that only it holds merged."""
        private = [s for s in value.terms if s[0] not in spread.SHARED and not self.holders[s]]
        merged = _Value(value.bound, spread.merge(value.terms, private, identity))
        self.values[identity] = merged
        self.holders.update(merged.terms.keys())
        return merged

    def _summary(self, value: _Value) -> OutputForecast:
        by_kind: dict[Kind, Reals] = {}
        for (kind, _), term in value.terms.items():
            by_kind[kind] = by_kind.get(kind, 0) + term.spread**2
        variance = spread.variance(value.terms.values(), self.parameters.slots)
        slot = int(np.argmax(variance))
        largest = float(variance[slot])
        shares = {kind: float(part[slot]) / largest for kind, part in by_kind.items()}
        return OutputForecast(
            bound=float(value.bound.max()),
            rms=math.sqrt(float(variance.mean())),
            error=error_bound(variance),
            slot=slot,
            shares=MappingProxyType(dict(sorted(shares.items(), key=lambda item: -item[1]))),
        )

    # ---- operations ------------------------------------------------------------------------

    def _node(self, node: Node, operands: list[_Value]) -> _Value:
        effect = node.op.record.noise
        if effect is Noise.FRESH:
            return self._input(node)
        a = operands[0]
        b = operands[-1] if node.plain is None else self._plain(node.plain)
        match effect:
            case Noise.SUM:
                return _Value(a.bound + b.bound, spread.add(a.terms, b.terms))
            case Noise.PRODUCT:
                return self._product(node, a, b)
            case Noise.KEY if node.steps is not None:
                turned = _Value(np.roll(a.bound, -node.steps), spread.rotate(a.terms, node.steps))
                return self._switched(node, turned, node.element)
            case Noise.KEY if node.element is not None:
                mirrored = _Value(a.bound, spread.conjugate(a.terms))
                return self._switched(node, mirrored, node.element)
            case Noise.KEY:
                return self._switched(node, a, "relinearization")
            case Noise.DIVISION:
                size = noise.division_spread(self.parameters) / node.scale
                return self._with(a, {(Kind.RESCALE, node.id): size})
            case Noise.KEY_AND_DIVISION:
                # The key's errors at the operand's limbs and scale, then one division: by the
                # special primes and the last data prime.
                product, parameters = self.nodes[node.operands[0]], self.parameters
                digits = noise.digits_spread(parameters, product.limbs)
                switched = self._with_key(product, a, "relinearization", digits)
                primes = len(parameters.special_primes) + 1
                size = noise.division_spread(parameters, primes) / node.scale
                return self._with(switched, {(Kind.RESCALE, node.id): size})
        if node.op is Op.OUTPUT:
            return self._with(a, {(Kind.FLOATING, node.id): self._floating(a.bound)})
        return a

    def _input(self, node: Node) -> _Value:
        bound = self.bounds[node.name or ""]
        parameters, scale = self.parameters, node.scale
        return self._with(
            _Value(bound, {}),
            {
                (Kind.ENCRYPTION, node.id): noise.encryption_spread(parameters, node.limbs) / scale,
                (Kind.ENCODING, ("input", node.id)): noise.encoding_spread(parameters) / scale,
                (Kind.FLOATING, node.id): self._floating(bound),
            },
        )

    def _plain(self, plain: Plain) -> _Value:
        """An encoded operand; equal ones err equally."""
        values = plain.vector(self.parameters.slots)
        bound = np.abs(values).astype(np.float64)
        digest = hashlib.sha256(plain.values.tobytes()).hexdigest()
        source: Source = (Kind.ENCODING, (digest, plain.values.shape, plain.scale))
        floating = np.full(bound.shape, self._floating(bound))
        if plain.values.ndim == 0:
            # One coefficient is rounded, or three where the number is complex: no more than 3/2.
            rounding = np.full(bound.shape, (1.5 if np.iscomplexobj(values) else 0.5) / plain.scale)
            term = Term(rounding + floating, spread.EVERY_ROTATION, spread.EVERY_ROTATION)
        else:
            rounding = np.full(bound.shape, noise.encoding_spread(self.parameters) / plain.scale)
            term = Term(rounding + floating)
        return _Value(bound, {source: term})

    def _product(self, node: Node, a: _Value, b: _Value) -> _Value:
        slots = self.parameters.slots
        terms = spread.add(spread.scale(a.terms, b.bound), spread.scale(b.terms, a.bound))
        both = spread.variance(a.terms.values(), slots) * spread.variance(b.terms.values(), slots)
        # Where the two are equal, E|e|^4 is up to 4 (E|e|^2)^2: of a product of two Gaussians.
        second: Reals = 2 * np.sqrt(both)
        return self._with(_Value(a.bound * b.bound, terms), {(Kind.PRODUCT, node.id): second})

    def _switched(self, node: Node, value: _Value, key: object) -> _Value:
        """Adds the noise of key switching; ``key`` identifies the key."""
        random = noise.key_switch_spread(self.parameters, node.limbs)
        return self._with_key(node, value, key, random)

    def _with_key(self, node: Node, value: _Value, key: object, random: float) -> _Value:
        """Adds errors of a key at a node's limbs and scale: a random one, and the digits' means."""
        offset = noise.key_switch_offset(self.parameters, node.limbs)
        return self._with(
            value,
            {
                (Kind.KEY_SWITCH, node.id): random / node.scale,
                (Kind.KEY_OFFSET, key): offset / node.scale,
            },
        )

    def _with(self, value: _Value, added: Mapping[Source, Reals | float]) -> _Value:
        ones = np.ones(self.parameters.slots)
        terms = {source: Term(ones * size) for source, size in added.items()}
        return _Value(value.bound, spread.add(value.terms, terms))

    def _floating(self, bound: Reals) -> float:
        """Error of encoding or decoding values of these magnitudes in double precision."""
        return noise.floating_spread(self.parameters) * math.sqrt(float(np.mean(bound**2)))
