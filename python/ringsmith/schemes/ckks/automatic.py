"""Automatic CKKS parameters at one ring degree: the fewest levels, then the smallest scale."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.params import AutoParameters, CkksParameters
from ringsmith.params.automatic import (
    DRIFT_BITS,
    MAX_HEADROOM_BITS,
    MIN_SCALE_BITS,
    WIDEST_PRIME_BITS,
)
from ringsmith.params.primes import MAX_DEGREE
from ringsmith.program.graph import Program
from ringsmith.program.overflow import ConstantOutputError, RangeError
from ringsmith.program.recording import Recording
from ringsmith.schemes.base import Options, Search
from ringsmith.schemes.ckks import noise
from ringsmith.schemes.ckks.forecast import OutputForecast, correct_bits, error_bound
from ringsmith.schemes.ckks.plan import LevelsError
from ringsmith.schemes.ckks.planned import planned
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.ckks.spread import Kind
from ringsmith.schemes.grouping import HINT, Grouping, groupings, with_digits

_SPARE = 2
"""Levels beyond the fewest that are tried where values do not fit below q_0."""
_BITS_FOR_TWICE_N = 1.3
"""Bits of precision that a ring of twice the degree loses, about: for the first guess."""
_USUAL_BITS = 3
"""Bits by which the scale of a result up to 1 is often greater than ``_first_scale``."""
_BITS_FOR_LEVEL = 3.0
"""Bits of precision that a level more cannot win: of fewer than are missing no scale is tried."""
_BEYOND_APPROXIMATION = 3
"""Bits by which noise is less than an approximation, where that decides."""
_LEAST_BITS = 8
_LOSS_SLACK = 0.01
"""Bits by which a scale of one bit less may be more precise than is computed."""
_GAIN_SLACK = 1.0
"""Bits by which a greater scale may be more precise than what it leaves of the error says."""
_KEYS = (Kind.KEY_SWITCH, Kind.KEY_OFFSET)


class Precision(NamedTuple):
    """What a forecast says of one scale.

    Attributes:
        bits: Bits of precision that noise leaves, of the output that is least precise.
        loss: How many of them a scale of one bit less loses at least.
        shares: Share of each kind of noise in its variance; empty: they are not known.
    """

    bits: float
    loss: float = 0.0
    shares: Mapping[Kind, float] = MappingProxyType({})


@dataclass(eq=False)
class CkksSearch(Search):
    """The search at one ring degree.

    Attributes:
        recording: The recorded program.
        wish: The requirements.
        n: The ring degree.
        carried: Bits of modulus that it carries.
        options: The other options of ``trace``; ``wish`` has the headroom.
        asked: Bits of precision that are asked for; of the output that was least precise last.
        lead: Bits of precision less those of the scale, about; None: not known.
        forecast_here: Whether that is by a forecast at this ring degree.
    """

    recording: Recording
    wish: AutoParameters
    n: int
    carried: int
    options: Options
    scale_reason: str = ""
    key_reason: str = ""
    asked: float = 0.0
    lead: float | None = None
    forecast_here: bool = False

    def __post_init__(self) -> None:
        self.asked = self.wish.precision_bits

    def follow(self, before: Search) -> None:
        """Takes the smaller degree's precision for the first guess."""
        if isinstance(before, CkksSearch) and before.lead is not None:
            self.asked = before.asked
            self.lead = before.lead - _BITS_FOR_TWICE_N * math.log2(self.n / before.n)

    def may_fit(self, fewer: int) -> bool:
        """Tells whether the modulus bears the levels but for a few, at any scale."""
        levels = max(self.recording.depth - fewer, min(self.recording.depth, 1))
        return self._widest_scale(levels) >= self._least_scale(levels)

    def run(self) -> CkksProgram | None:
        """Returns the program with the fewest levels, and for those the smallest scale."""
        most = self.wish.max_levels
        for levels in count(self.recording.depth):
            if most is not None and levels > most:
                assert self.wish.limits is not None, "it says the most"
                self.obstacle = (
                    f"{levels} levels take {levels + 2} primes, and design "
                    f"{self.wish.limits.design} holds {most + 2}"
                )
                return None
            widest = self._widest_scale(levels)
            if widest < self._least_scale(levels):
                self._say_too_deep(levels, self._first_scale)
                return None
            wish = self.wish
            try:
                best = self._with_levels(levels, widest)
            except LevelsError:
                continue  # planning takes a level more than the multiplications in a row
            if best is None and self.wish is not wish and levels <= self.recording.depth + _SPARE:
                self.wish = wish  # a level more leaves a prime to values that q_0 does not hold
                continue
            return best and self._with_digits(best)
        raise AssertionError("levels end where the modulus does")

    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""
        parameters, depth = program.parameters, self.recording.depth
        assert isinstance(parameters, CkksParameters), "the search's own program"
        return [
            f"N = {self.n}: the smallest that does; it carries {self.carried} bits of modulus at "
            f"{self.wish.security_text}, and all primes have {parameters.log_qp}",
            f"{parameters.levels} levels: the fewest that planning does with; {depth} "
            "multiplications follow one another",
            f"scale 2^{math.log2(parameters.scale):g}: {self.scale_reason}",
            self.key_reason,
        ]

    @property
    def _first_scale(self) -> int:
        """Bits of the scale that the precision takes at least, about."""
        bits = self.asked
        if self.wish.flooding is not None:
            bits -= self.wish.flooding.bits(self.n, self.wish.flooding.noise_bound(1.0))
        guess = math.ceil(bits + math.log2(self.n))
        return min(max(guess, MIN_SCALE_BITS), self.wish.max_scale_bits)

    def _start(self, widest: int) -> int:
        """Returns the bits of the scale that is tried first."""
        if self.lead is None:
            trace, outputs = self.recording.trace, self.recording.outputs.values()
            largest = max(trace.span(index).magnitude for index in outputs)
            growth = math.log2(min(max(largest, 1.0), 2.0**60)) / 2  # of a sum, of its error
            return min(self._first_scale + _USUAL_BITS + round(growth), widest)
        return min(max(math.ceil(self.asked - self.lead), MIN_SCALE_BITS), widest)

    def _fits(self, levels: int, bits: int) -> bool:
        return sum(self.wish.prime_bits(levels, bits)) <= self.carried

    def _widest_scale(self, levels: int) -> int:
        """Returns the bits of the largest scale that the modulus bears; below the least: none."""
        scales = range(self.wish.max_scale_bits, MIN_SCALE_BITS - 1, -1)
        return next((bits for bits in scales if self._fits(levels, bits)), MIN_SCALE_BITS - 1)

    def _least_scale(self, levels: int) -> int:
        """Returns bits of the scale below which no forecast can be precise enough.

        A result of one rescaling has the error of its rounding, at a scale that drifted. Where
        primes are too narrow, and not the modulus, forecasts say it.
        """
        wish, least = self.wish, MIN_SCALE_BITS
        approximates = any(self.recording.trace.nodes[i].approximation for i in self.recording.used)
        fewer = wish.flooding is not None or (self.options.enough and approximates)
        if not levels or fewer or wish.limits is not None:
            return least
        rounded = error_bound(np.full(1, noise.rounding_spread(self.n) ** 2))
        needed = math.floor(wish.precision_bits - correct_bits(rounded) - DRIFT_BITS)
        return max(least, min(needed, wish.max_scale_bits))

    def _with_more_headroom(self, levels: int, error: RangeError) -> int:
        """Asks for as much headroom as a value lacks, and returns the bits of the largest scale."""
        headroom = self.wish.headroom_bits + math.ceil(error.missing_bits)
        if headroom > min(MAX_HEADROOM_BITS, self.wish.widest_prime - MIN_SCALE_BITS - 2):
            self.wish = replace(self.wish)  # another one, to say that headroom was the obstacle
            return MIN_SCALE_BITS - 1
        self.wish = replace(self.wish, headroom_bits=headroom)
        return self._widest_scale(levels)

    def _with_levels(self, levels: int, widest: int) -> CkksProgram | None:
        """Returns the program with that many levels and the smallest scale that is precise enough.

        One more bit of scale gives nearly one more bit of precision, but of errors that do not
        depend on it. The search therefore steps to the scale that is precise enough by the sources
        of the error, up to the largest, until it reaches a scale again, or the sources show that
        one bit less is too few, or that the largest scale is.

        Raises:
            LevelsError: When the program needs more levels.
        """
        best, scale = None, self._start(widest)
        forecasts: dict[int, float] = {}
        errors: dict[int, str] = {}
        if self.lead is not None and self.forecast_here:
            hoped = widest + self.lead
            if hoped + _BITS_FOR_LEVEL < self.asked:
                self._say_unprecise(levels, widest, {widest: hoped}, errors)
                return None
        while scale not in forecasts.keys() | errors.keys():
            try:
                candidate = self.wish.candidate(self.n, levels, scale)
                program = planned(self.recording, candidate, self.wish.headroom_bits, self.options)
            except (LevelsError, ConstantOutputError):
                raise
            except RangeError as error:
                widest = self._with_more_headroom(levels, error)
                if widest < MIN_SCALE_BITS:
                    self.obstacle, self.hint = str(error), ""
                    return None
                forecasts, errors, best = {}, {}, None
                scale = min(scale, widest)
                continue
            except (ProgramError, ValueError) as error:  # ValueError: too few primes of that size
                errors[scale] = str(error)
                scale = min(scale + 1, widest)
                continue
            found = self.precision(program)
            bits, asked = found.bits, self.asked
            forecasts[scale] = bits
            if math.isfinite(bits):
                self.lead, self.forecast_here = bits - scale, True
            if bits >= asked:
                best = program
                if bits - found.loss < asked:
                    forecasts.setdefault(scale - 1, bits - found.loss)
                    break
            scale = self._next(program, found, scale, widest)
        if best is None:
            self._say_unprecise(levels, widest, forecasts, errors)
            return None
        chosen = round(math.log2(best.parameters.scale))
        below = f"2^{MIN_SCALE_BITS} is the smallest that is tried"
        if chosen - 1 in forecasts:
            below = f"2^{chosen - 1} forecasts {forecasts[chosen - 1]:.1f} bits of precision"
        elif chosen - 1 in errors:
            below = f"2^{chosen - 1} does not do: {errors[chosen - 1]}"
        self.scale_reason = (
            f"2^{chosen} forecasts {forecasts[chosen]:.1f} bits of precision and {self.asked:g} "
            f"are asked for; {below}"
        )
        return best

    def precision(self, program: CkksProgram) -> Precision:
        """Returns the precision that noise leaves by the forecast.

        Where results are shared, it is that of the inputs that clients may encrypt, and the noise
        that hides their own is counted.
        """
        wish = self.wish
        if wish.flooding is not None:
            return Precision(program.shared_bits(wish.flooding))
        found = program.forecast(
            wish.input_bound, samples=wish.samples, each_node=False, quick=True
        )
        worst = min(found.outputs.values(), key=lambda each: each.bits - self._enough(each))
        self.asked = self._enough(worst)
        return Precision(worst.bits, self._loss(program.parameters, worst.shares), worst.shares)

    def _next(self, program: CkksProgram, found: Precision, scale: int, widest: int) -> int:
        """Returns the scale to try after one; that one again: no other does."""
        unused = found.bits - self.asked
        if unused < 0 and self._most_gain(program, found, widest) < -unused:
            return scale
        scales = range(MIN_SCALE_BITS, scale) if unused >= 0 else range(scale + 1, widest)
        if found.shares:
            last = scale - 1 if unused >= 0 else widest
            fits = (bits for bits in scales if unused + self._gain(program, found, bits) >= 0)
            step = next(fits, last) - scale
        else:
            step = -max(1, _whole(unused)) if unused >= 0 else max(1, _whole(1 - unused))
        return min(max(scale + step, MIN_SCALE_BITS), widest)

    def _gain(self, program: CkksProgram, found: Precision, scale: int) -> float:
        """Returns the bits of precision that another scale wins, about; negative: that it loses.

        The error of double precision stays. That of key switching, with digits that grow with the
        scale, is in proportion to 1 / special prime.
        """
        before = round(math.log2(program.parameters.scale))
        wider = self._special_bits(program, scale) - self._special_bits(program, before)
        won = {Kind.FLOATING: 0, **dict.fromkeys(_KEYS, wider)}
        left = sum(
            share * 4.0 ** -won.get(kind, scale - before) for kind, share in found.shares.items()
        )
        return -math.log2(left) / 2

    def _most_gain(self, program: CkksProgram, found: Precision, widest: int) -> float:
        """Returns the bits of precision that any greater scale wins at most.

        They are those that are won if nothing is left of errors that shrink with the scale.
        """
        parameters, shares = program.parameters, found.shares
        wider = self._special_bits(program, widest) - parameters.special_primes[0].bit_length()
        digits = noise.digits_spread(parameters, 1) / noise.key_switch_spread(parameters, 1)
        keys = shares.get(Kind.KEY_OFFSET, 0.0) + digits**2 * shares.get(Kind.KEY_SWITCH, 0.0)
        left = shares.get(Kind.FLOATING, 0.0) + 4.0**-wider * keys
        return _GAIN_SLACK - math.log2(left) / 2 if left > 0 else math.inf

    def _special_bits(self, program: CkksProgram, scale: int) -> int:
        return self.wish.prime_bits(program.parameters.levels, scale)[-1]

    def _enough(self, output: OutputForecast) -> float:
        """Returns the bits of precision that are asked of an output."""
        asked = self.wish.precision_bits
        if not self.options.enough or not output.approximation:
            return asked
        deserved = math.ceil(_BEYOND_APPROXIMATION - math.log2(output.approximation))
        return min(asked, max(_LEAST_BITS, deserved))

    def _loss(self, parameters: CkksParameters, shares: Mapping[Kind, float]) -> float:
        """Returns the bits that an error of these sources loses with one bit of scale.

        All but a few are in proportion to 1 / scale, or grow faster.
        """
        scale_bits = round(math.log2(parameters.scale))
        sizes, below = (
            self.wish.prime_bits(parameters.levels, bits) for bits in (scale_bits, scale_bits - 1)
        )
        fixed = {Kind.FLOATING, Kind.OTHER}
        if below[-1] == sizes[-1]:  # digits shrink with the scale, and the special prime does not
            fixed |= set(_KEYS)
        kept = sum(shares.get(kind, 0.0) for kind in fixed)
        # Primes are 1 modulo 2N: those of some bits lie up to about this much from the scale, and
        # each level doubles what scales are apart, but where the scale was chosen to last.
        apart = 2 * self.n * scale_bits * len(sizes) / 2.0 ** (scale_bits - 1)
        lasts = parameters.scale != 2.0**scale_bits
        apart *= 2.0 if lasts else 2.0**parameters.levels
        return math.log2(4 - 3 * min(kept, 1.0)) / 2 - apart - _LOSS_SLACK

    def _with_digits(self, program: CkksProgram) -> CkksProgram | None:
        """Returns the program with the digits of key switching that suit its keys best."""
        scale_bits = round(math.log2(program.parameters.scale))
        limbs, levels = program.parameters.limbs, program.parameters.levels
        sizes = [
            self.wish.prime_bits(levels, scale_bits, digit_size)
            for digit_size in range(1, limbs + 1 if self.wish.limits is None else 2)
        ]
        chosen, words = with_digits(
            program,
            groupings(program, sizes, self.carried),
            self.wish.keys,
            lambda digits: self._regrouped(program, scale_bits, digits),
        )
        if chosen is None:
            self.obstacle, self.hint = words, HINT
        self.key_reason = words
        return chosen

    def _regrouped(
        self, program: CkksProgram, scale_bits: int, digits: Grouping
    ) -> CkksProgram | None:
        """Returns the program with other digits, and where it takes it one bit of scale more."""
        found = self._with_digit_size(program, scale_bits, digits.digit_size)
        if found is None:  # each special prime's division rounds, too
            found = self._with_digit_size(program, scale_bits + 1, digits.digit_size)
            self.scale_reason += "" if found is None else "; digits of several primes take one more"
        return found

    def _with_digit_size(
        self, program: CkksProgram, scale_bits: int, digit_size: int
    ) -> CkksProgram | None:
        wish, levels = self.wish, program.parameters.levels
        try:
            candidate = wish.candidate(self.n, levels, scale_bits, digit_size)
            other = planned(self.recording, candidate, wish.headroom_bits, self.options)
        except (ProgramError, ValueError):  # ValueError: too few primes of that size
            return None
        return other if self.precision(other).bits >= self.asked else None

    # ---- why no parameters fit --------------------------------------------------------------

    def _say_too_deep(self, levels: int, scale: int) -> None:
        """Says that the modulus does not hold this many levels at the scale that is needed."""
        most = next((k for k in range(levels - 1, -1, -1) if self._fits(k, scale)), 0)
        self.obstacle = (
            f"too deep: {levels} levels, and at most {most} fit: at the scale 2^{scale}, which "
            f"{self.asked:g} bits of precision take, {levels} levels need "
            f"{sum(self.wish.prime_bits(levels, scale))} bits of modulus, and it carries "
            f"{self.carried} at {self.wish.security_text}"
        )
        way = "multiply less deeply, or split the program"
        if self.n == MAX_DEGREE:
            self.hint = f"{way}, or ask for AutoParameters(bootstrapping=True)"
        else:
            self.hint = f"{self.wish.larger}, {way}"

    def _say_unprecise(
        self, levels: int, widest: int, forecasts: dict[int, float], errors: dict[int, str]
    ) -> None:
        """Says why no scale is precise enough, by the best one."""
        asked = self.asked
        if not forecasts and widest < self._first_scale:
            self._say_too_deep(levels, self._first_scale)
            return
        if not forecasts:
            self.obstacle, self.hint = errors[max(errors)], ""
            return
        scale = max(forecasts, key=lambda bits: forecasts[bits])
        missing = asked - forecasts[scale]
        if missing < math.inf:
            needed = math.ceil(scale + missing)
            if widest < needed <= self.wish.max_scale_bits:
                self._say_too_deep(levels, needed)
                return
        self.obstacle = (
            f"with {levels} levels, 2^{scale} forecasts {forecasts[scale]:.1f} bits of precision, "
            f"{asked:g} are asked for, and its modulus of {self.carried} bits and primes of "
            f"{self.wish.widest_prime} bear 2^{widest}"
        )
        if self.wish.limits is not None:
            return  # a larger design has wider primes
        # A larger ring has no wider primes, and more noise.
        self.hint = (
            f"ask for fewer than precision_bits = {asked:g}, give tighter bounds (bounded), "
            "multiply less deeply, or split the program"
        )


def _whole(bits: float) -> int:
    """Returns a step of the search: whole bits, at most as many as a prime has."""
    return math.floor(min(bits, WIDEST_PRIME_BITS))
