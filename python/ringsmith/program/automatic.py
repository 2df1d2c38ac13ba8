"""Automatic parameters: the smallest ring, then the fewest levels, then the smallest scale."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from ringsmith.errors import ProgramError
from ringsmith.params import AutoParameters
from ringsmith.params.automatic import MIN_SCALE_BITS
from ringsmith.program.graph import Program
from ringsmith.program.plan import LevelsError
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine


def choose(record: Callable[[int], Recording], wish: AutoParameters, source: SourceLine) -> Program:
    """Plans a program for the smallest parameters that hold what is asked.

    Args:
        record: Traces the function for a number of slots.
        wish: What is asked.
        source: The line that asks, for errors.

    Returns:
        The program; its ``choice`` says in words how the parameters came about.

    Raises:
        ProgramError: When the function is not legal, or no parameters fit.
    """
    obstacles: list[str] = []
    illegal: ProgramError | None = None
    for n, carried in wish.degrees():
        try:
            recording = record(n // 2)
        except ProgramError as error:  # too few slots, perhaps; or wrong at any number of slots
            illegal = error
            obstacles.append(f"N = {n} does not do: {error}")
            continue
        illegal = None
        search = _Search(recording, wish, n, carried)
        program = search.run()
        if program is not None:
            return replace(program, choice="\n".join([*search.words(program), *obstacles[-1:]]))
        obstacles.append(f"N = {n} does not do: {search.obstacle}")
    if illegal is not None:
        raise illegal
    raise source.error(
        f"no parameters fit; {obstacles[-1]}: ask for fewer than precision_bits = "
        f"{wish.precision_bits:g} or less headroom, raise max_n, multiply less deeply, or split "
        "the program"
    )


@dataclass(eq=False)
class _Search:
    """The search at one ring degree.

    Attributes:
        obstacle: Why nothing was found, as far as the search went.
    """

    recording: Recording
    wish: AutoParameters
    n: int
    carried: int
    obstacle: str = ""
    scale_reason: str = ""

    def run(self) -> Program | None:
        """Returns the program with the fewest levels, and for those the smallest scale."""
        for levels in count(self.recording.depth):
            widest = self._widest_scale(levels)
            if widest < MIN_SCALE_BITS:
                return None
            try:
                return self._with_levels(levels, widest)
            except LevelsError as error:
                self.obstacle = str(error)
        raise AssertionError("levels end where the modulus does")

    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""
        parameters, depth = program.parameters, self.recording.depth
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

    def _with_levels(self, levels: int, widest: int) -> Program | None:
        """Returns the program with that many levels and the smallest scale that is precise enough.

        A bit more of scale is nearly a bit more of precision, so the search steps by what is
        missing or to spare, until it meets a scale again.

        Raises:
            LevelsError: When the program needs more levels.
        """
        asked, best = self.wish.precision_bits, None
        tried: dict[int, str] = {}
        scale = min(max(math.ceil(asked + math.log2(self.n)), MIN_SCALE_BITS), widest)
        while MIN_SCALE_BITS <= scale <= widest and scale not in tried:
            try:
                program = self.recording.plan(
                    self.wish.candidate(self.n, levels, scale), self.wish.headroom_bits
                )
            except LevelsError:
                raise
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
                f"modulus of {self.carried} bits and primes of {self.wish.max_prime_bits} "
                f"bear 2^{widest}"
            )
            return None
        chosen = round(math.log2(best.parameters.scale))
        below = tried.get(chosen - 1, f"2^{MIN_SCALE_BITS} is the smallest that is tried")
        self.scale_reason = f"{tried[chosen]} and {asked:g} are asked for; {below}"
        return best
