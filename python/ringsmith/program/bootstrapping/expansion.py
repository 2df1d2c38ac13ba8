"""A bootstrapping as operations of the language, which the planner plans like any others.

What is recorded begins after ModRaise: with values v = m + I, where m are the coefficients of the
message over q_0, which are small, and I are whole numbers.

1. CoeffsToSlots writes v / ``period`` into slots, as complex numbers; conjugation separates their
   real and imaginary parts.
2. EvalMod computes sin(2 pi v) = sin(2 pi m) of both (``reduction``), or its arcsine.
3. SlotsToCoeffs brings sin(2 pi m) / (2 pi), about m, back.

Where slots repeat after ``period`` of them, fewer than all, the message has a coefficient only at
every (N/2 / period)-th power of X. A sum of rotations takes the others, of I alone, away. Then the
matrices are those of a ring of degree 2 * ``period``, the real and the imaginary parts lie in one
vector, and EvalMod is computed once (Cheon, Han, Kim, Kim, Song 2018, section 5.2).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.params.bootstrapping import Bootstrapping
from ringsmith.program.bases import CHEBYSHEV
from ringsmith.program.bootstrapping.factors import (
    Complexes,
    Diagonals,
    coefficients_to_slots,
    in_slots,
    slots_to_coefficients,
)
from ringsmith.program.bootstrapping.reduction import fitted
from ringsmith.program.bootstrapping.splitting import baby_steps, best_sizes, signed_steps
from ringsmith.program.nodes import Bound
from ringsmith.program.plain import Space
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine
from ringsmith.program.spans import Span
from ringsmith.program.splits import best_split, evaluated, plus
from ringsmith.program.vector import EncryptedVector

STAGES = ("ModRaise", "CoeffsToSlots", "EvalMod", "SlotsToCoeffs")


@dataclass(frozen=True, eq=False)
class Expansion:
    """What a bootstrapping is recorded as.

    Attributes:
        nodes: The operations.
        start: What is bootstrapped, after ModRaise.
        result: The bootstrapped value.
        error: How far the result is from what was bootstrapped, at most, but for noise.
    """

    nodes: list[TraceNode]
    start: int
    result: int
    error: float


def expanded(
    given: Bootstrapping,
    space: Space,
    limbs: Sequence[int],
    ratio: float,
    largest: float,
    period: int,
    source: SourceLine,
) -> Expansion:
    """Records a bootstrapping.

    Args:
        given: How the parameters bootstrap.
        space: The slots.
        limbs: Those of the levels that the bootstrapping takes, from the highest.
        ratio: q_0 over the scale of what is bootstrapped.
        largest: Its largest magnitude.
        period: After how many slots it repeats: all, or a power of two from ``least_period`` on.
        source: The user's line.
    """
    trace = Trace(space)
    span = Span(np.asarray(complex(-1, -1)), np.asarray(complex(1, 1)))
    start = trace.record(TraceNode(Op.INPUT, (), source, name="raised", span=span))
    recorder = _Recorder(trace, source, given, tuple(limbs), period)
    after = limbs[given.coeffs_to_slots + given.eval_mod]
    both = recorder.coefficients(EncryptedVector(trace, start), 1 / (2 * given.period * ratio))
    separated = recorder.separated(both)
    first_end = len(trace.nodes)
    parts = [recorder.reduced(part) for part in separated]
    joined = parts[0] if recorder.sparse else parts[0] + recorder.turned(parts[1])
    second_end = len(trace.nodes)
    result = recorder.slots(recorder.at_limbs(joined, after), ratio / (2 * math.pi))
    # A sine in place of a line, for one coefficient that is as large as it can be. Others add no
    # more: the error grows faster than the square, and by Parseval the squares of all coefficients
    # add up to the mean square of the slots.
    angle = 2 * math.pi * largest / ratio
    sine = math.sin(angle)
    error = abs(angle - sine - (sine**3 / 6 if given.arcsine > 1 else 0)) * ratio / (2 * math.pi)
    nodes = [
        replace(node, stage=STAGES[1 + (index >= first_end) + (index >= second_end)])
        for index, node in enumerate(trace.nodes)
    ]
    return Expansion(nodes, start, result.index, error)


def least_period(given: Bootstrapping) -> int:
    """Returns the fewest slots whose transforms have a stage for each of their levels."""
    return 1 << max(given.coeffs_to_slots, given.slots_to_coeffs)


def _two_periods(
    matrix: Diagonals, second: complex, *, of_operand: bool = False
) -> dict[int, Complexes]:
    """Returns a matrix that also multiplies every second period by a number.

    Args:
        matrix: Of one period.
        second: The number.
        of_operand: Whether the periods are those of the vector, and not of the result.
    """
    found: dict[int, Complexes] = {}
    for step, values in matrix.items():
        period = values.size
        mask = np.repeat([1, second], period)
        signed = step if step <= period // 2 else step - period
        mask = np.roll(mask, -signed) if of_operand else mask
        found[signed % (2 * period)] = np.tile(values, 2) * mask
    return found


@dataclass(frozen=True, eq=False)
class _Recorder:
    """Records the steps of one bootstrapping."""

    trace: Trace
    source: SourceLine
    given: Bootstrapping
    limbs: tuple[int, ...]
    period: int

    @property
    def sparse(self) -> bool:
        """Whether slots repeat."""
        return self.period < self.trace.space.slots

    def coefficients(self, x: EncryptedVector, factor: float) -> EncryptedVector:
        """CoeffsToSlots, times a factor; of the sum of what repeats."""
        sizes = best_sizes(self._n, self.limbs[: self.given.coeffs_to_slots], inverse=True)
        after = self.limbs[1 : self.given.coeffs_to_slots + 1]
        matrices = coefficients_to_slots(self._n, sizes)
        steps = self.period
        while steps < self.trace.space.slots:
            x = x + self._rotated(x, steps)
            factor, steps = factor / 2, 2 * steps
        if self.sparse:
            matrices = (*matrices[:-1], _two_periods(matrices[-1], -1j))
        return self._transformed(x, matrices, factor, after)

    def slots(self, x: EncryptedVector, factor: float) -> EncryptedVector:
        """SlotsToCoeffs, times a factor."""
        sizes = best_sizes(self._n, self.limbs[-self.given.slots_to_coeffs :], inverse=False)
        after = self.limbs[-self.given.slots_to_coeffs :][1:]
        matrices = slots_to_coefficients(self._n, sizes)
        if self.sparse:
            matrices = (_two_periods(matrices[0], 1j, of_operand=True), *matrices[1:])
        return self._transformed(x, matrices, factor, after, joins=self.sparse)

    def separated(self, x: EncryptedVector) -> tuple[EncryptedVector, ...]:
        """Twice the real and the imaginary parts, which lie in [-1, 1]; sparse ones in one vector.

        Of those, x has the second period times -i, and its real part is the imaginary part.
        """
        conjugate = x.conjugate()
        parts: tuple[EncryptedVector, ...] = (x + conjugate,)
        if not self.sparse:
            parts = (*parts, self.turned(conjugate - x))
        end = 1 - 0.5 / self.given.period
        bound = Bound(-end, 1.0, self.source, computed=True)  # real, since its ends differ
        for part in parts:
            self.trace.annotate(part.index, bound=bound)
        return parts

    def at_limbs(self, x: EncryptedVector, limbs: int) -> EncryptedVector:
        """Returns x, rescaled, over its first ``limbs`` primes."""
        node = TraceNode(Op.MOD_SWITCH, (x.index,), self.source, limbs=limbs)
        return x.slots_of(self.trace.record(node))

    def turned(self, x: EncryptedVector) -> EncryptedVector:
        """Returns x times i in the order of the matrices: the product with X^(N/2)."""
        values = in_slots(np.full(self.trace.space.slots, 1j))
        return x.slots_of(self.trace.plain(Op.MULTIPLY_PLAIN, x.index, values, self.source))

    def reduced(self, x: EncryptedVector) -> EncryptedVector:
        """Returns sin(2 pi * period * x), or about its arcsine."""
        given = self.given
        width = 2.0**-given.ratio_bits
        c = fitted(given.period, given.doublings, given.degree, width).coefficients
        w = plus(x, -0.25 / given.period)
        square = w * w
        y = plus(square + square, -1.0)
        bound = Bound(-1.0, 1.0, self.source, computed=True)
        self.trace.annotate(y.index, bound=bound)
        result = plus(evaluated(y, CHEBYSHEV, best_split(c, CHEBYSHEV)), float(c[0]))
        for _ in range(given.doublings):
            self.trace.annotate(result.index, bound=bound)
            square = result * result
            result = plus(square + square, -1.0)
        self.trace.annotate(result.index, bound=bound)
        return self._arcsine(result) if given.arcsine > 1 else result

    def _arcsine(self, s: EncryptedVector) -> EncryptedVector:
        """Returns s + s^3 / 6. The division by 6 is one of the scale, and takes no level."""
        square = s * s
        node = TraceNode(
            Op.MULTIPLY_PLAIN,
            (square.index,),
            self.source,
            values=np.asarray(1 / 6),
            scale=6.0,
        )
        return s * plus(s.slots_of(self.trace.record(node)), 1.0)

    @property
    def _n(self) -> int:
        return 2 * self.period

    def _transformed(
        self,
        x: EncryptedVector,
        matrices: tuple[Diagonals, ...],
        factor: float,
        after: tuple[int, ...],
        *,
        joins: bool = False,
    ) -> EncryptedVector:
        """Matrices one after another, and a factor that is spread over them.

        With ``joins``, both periods of what the first matrix makes are added up.

        What a matrix makes is brought to the limbs in ``after`` at once, and so rescaled before its
        rotations: then the next matrix can divide their sums, and not each of them.
        """
        each = factor ** (1 / len(matrices))
        for position, matrix in enumerate(matrices):
            x = self._multiplied(x, {step: each * values for step, values in matrix.items()})
            if position < len(after):
                x = self.at_limbs(x, after[position])
            if joins and position == 0:
                x = x + self._rotated(x, self.period)
        return x

    def _multiplied(self, x: EncryptedVector, matrix: Mapping[int, Complexes]) -> EncryptedVector:
        """A matrix times a vector, in baby and giant steps, through one level."""
        slots, size = self.trace.space.slots, next(iter(matrix.values())).size
        unit, signed = signed_steps(matrix, size)
        baby, _ = baby_steps([*signed])
        giants: dict[int, list[int]] = {}
        for k in sorted(signed):
            giants.setdefault(k - k % baby, []).append(k)
        total: EncryptedVector | None = None
        for start, steps in giants.items():
            inner: EncryptedVector | None = None
            for k in steps:
                moved = self._rotated(x, (k - start) * unit)
                values = in_slots(np.roll(matrix[signed[k]], start * unit))
                laid = np.tile(values, slots // size)
                index = self.trace.plain(Op.MULTIPLY_PLAIN, moved.index, laid, self.source)
                term = moved.slots_of(index)
                inner = term if inner is None else inner + term
            assert inner is not None, "every giant step has a term"
            inner = self._rotated(inner, start * unit)
            total = inner if total is None else total + inner
        assert total is not None, "no matrix is zero"
        return total

    def _rotated(self, x: EncryptedVector, steps: int) -> EncryptedVector:
        """A rotation in the order of the matrices: by an odd number it also conjugates."""
        steps %= self.trace.space.slots
        if not steps:
            return x
        op = Op.ROTATE_CONJUGATE if steps % 2 else Op.ROTATE
        node = TraceNode(op, (x.index,), self.source, steps=steps)
        return x.slots_of(self.trace.record(node))
