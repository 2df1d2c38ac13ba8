"""Automatic CKKS parameters at one ring degree: the fewest levels, then the smallest scale."""

import math
from dataclasses import dataclass, replace
from itertools import count

from ringsmith.errors import ProgramError
from ringsmith.params import AutoParameters, CkksParameters
from ringsmith.params.automatic import MAX_HEADROOM_BITS, MIN_SCALE_BITS
from ringsmith.program.graph import Program
from ringsmith.program.overflow import ConstantOutputError, RangeError
from ringsmith.program.recording import Recording
from ringsmith.schemes.base import Options, Search
from ringsmith.schemes.ckks.plan import LevelsError
from ringsmith.schemes.ckks.planned import planned
from ringsmith.schemes.ckks.program import CkksProgram

_SPARE = 2
"""Levels beyond the fewest that are tried where values do not fit below q_0."""


@dataclass(eq=False)
class CkksSearch(Search):
    """The search at one ring degree.

    Attributes:
        recording: The recorded program.
        wish: The requirements.
        n: The ring degree.
        carried: Bits of modulus that it carries.
        options: The other options of ``trace``; ``wish`` has the headroom.
    """

    recording: Recording
    wish: AutoParameters
    n: int
    carried: int
    options: Options
    scale_reason: str = ""

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
            if widest < MIN_SCALE_BITS:
                return None
            wish = self.wish
            try:
                program = self._with_levels(levels, widest)
            except LevelsError as error:
                self.obstacle = str(error)
                continue
            if program is not None or self.wish is wish or levels > self.recording.depth + _SPARE:
                return program
            self.wish = wish  # one level more leaves a prime to values that q_0 does not hold
        raise AssertionError("levels end where the modulus does")

    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""
        parameters, depth = program.parameters, self.recording.depth
        assert isinstance(parameters, CkksParameters), "the search's own program"
        return [
            f"N = {self.n}: the smallest that does; it carries {self.carried} bits of modulus at "
            f"{self.wish.security}-bit security, and all primes have {parameters.log_qp}",
            f"{parameters.levels} levels: the fewest that planning does with; {depth} "
            "multiplications follow one another",
            f"scale 2^{math.log2(parameters.scale):g}: {self.scale_reason}",
        ]

    def _widest_scale(self, levels: int) -> int:
        """Returns the bits of the largest scale that the modulus bears; below the least: none."""
        for bits in range(self.wish.max_scale_bits, MIN_SCALE_BITS - 1, -1):
            if sum(self.wish.prime_bits(levels, bits)) <= self.carried:
                return bits
        self.obstacle = self.obstacle or (
            f"{levels} levels at the scale 2^{MIN_SCALE_BITS} need "
            f"{sum(self.wish.prime_bits(levels, MIN_SCALE_BITS))} bits of modulus, and it carries "
            f"{self.carried} at {self.wish.security}-bit security"
        )
        return MIN_SCALE_BITS - 1

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

        One more bit of scale gives nearly one more bit of precision. The search therefore steps by
        the missing or unused precision, until it reaches a scale again.

        Raises:
            LevelsError: When the program needs more levels.
        """
        asked, best = self.wish.precision_bits, None
        tried: dict[int, str] = {}
        scale = min(max(math.ceil(asked + math.log2(self.n)), MIN_SCALE_BITS), widest)
        while MIN_SCALE_BITS <= scale <= widest and scale not in tried:
            try:
                candidate = self.wish.candidate(self.n, levels, scale)
                program = planned(self.recording, candidate, self.wish.headroom_bits, self.options)
            except (LevelsError, ConstantOutputError):
                raise
            except RangeError as error:
                tried[scale] = f"2^{scale} does not do: {error}"
                widest = self._with_more_headroom(levels, error)
                tried, scale = {scale: tried[scale]} if scale > widest else {}, min(scale, widest)
                continue
            except (ProgramError, ValueError) as error:  # ValueError: too few primes of that size
                tried[scale] = f"2^{scale} does not do: {error}"
                scale += 1
                continue
            bits = program.forecast(self.wish.input_bound).bits
            tried[scale] = f"2^{scale} forecasts {bits:.1f} bits of precision"
            if bits >= asked:
                best = program
                scale -= max(1, math.floor(bits - asked))
            else:
                scale += max(1, math.ceil(asked - bits))
        if best is None:
            self.obstacle = (
                f"with {levels} levels, {tried[max(tried)]}, {asked:g} are asked for, and its "
                f"modulus of {self.carried} bits and primes of {self.wish.widest_prime} "
                f"bear 2^{widest}"
            )
            return None
        chosen = round(math.log2(best.parameters.scale))
        below = tried.get(chosen - 1, f"2^{MIN_SCALE_BITS} is the smallest that is tried")
        self.scale_reason = f"{tried[chosen]} and {asked:g} are asked for; {below}"
        return best
