"""Automatic BFV parameters at one ring degree: the smallest modulus q with enough noise budget."""

import math
from dataclasses import dataclass, replace

from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import AutoBfvParameters, BfvParameters
from ringsmith.params.bfv import MAX_PLAIN_BITS
from ringsmith.program.graph import Program
from ringsmith.program.overflow import RangeError
from ringsmith.program.recording import Recording
from ringsmith.schemes.base import Options, Search
from ringsmith.schemes.bfv.emitter import NoiseError
from ringsmith.schemes.bfv.planned import planned
from ringsmith.schemes.bfv.program import BfvProgram
from ringsmith.schemes.grouping import HINT, Grouping, groupings, with_digits

_DIP = 3
"""How many bits below a sufficient q are tried one by one."""


@dataclass(eq=False)
class BfvSearch(Search):
    """The search at one ring degree.

    Attributes:
        recording: The recorded program.
        wish: The requirements.
        n: The ring degree.
        carried: Bits of modulus that it carries.
        options: Whether results are meant modulo t.
    """

    recording: Recording
    wish: AutoBfvParameters
    n: int
    carried: int
    options: Options
    key_reason: str = ""

    def run(self) -> BfvProgram | None:
        """Returns the program with the smallest q; None: the largest does not suffice.

        One more bit of q gives nearly one more bit of budget. The search therefore steps down by
        the unused budget. If a step fails, it tries single bits, up to ``_DIP``, because the
        division of q into primes has a small effect, too.
        """
        while True:
            try:
                return self._smallest()
            except RangeError as error:
                wish = self.wish
                more = math.ceil(error.missing_bits) or 1
                if wish.plain_bits is None:
                    raise
                if wish.plain_bits + more > MAX_PLAIN_BITS:
                    raise ProgramError(
                        f"{error}; automatic parameters take a t of at most {MAX_PLAIN_BITS} bits, "
                        f"and {wish.plain_bits + more} are needed"
                    ) from None
                self.wish = replace(wish, plain_bits=wish.plain_bits + more)

    def _smallest(self) -> BfvProgram | None:
        """Returns the program with the smallest q; None: the largest does not suffice."""
        bits = self.wish.widest(self.carried)
        if not bits:
            self.obstacle = (
                f"it carries {self.carried} bits of modulus at {self.wish.security_text}, too few "
                "for a data and a special prime"
            )
            return None
        while bits > 1 and self._parameters(bits) is None:
            bits -= 1
        best = self._with_bits(bits)
        smaller = best
        while best is not None and smaller is not None:
            best, bits = smaller, self._bits_of(smaller)
            step = max(1, best.forecast().bits - self.wish.margin_bits)
            tries = (step, *range(1, _DIP + 1))
            found = (self._with_bits(bits - less) for less in tries if less < bits)
            less_bits = (each for each in found if each is not None and self._bits_of(each) < bits)
            smaller = next(less_bits, None)  # a design's only primes may be wider than was asked
        return best and self._with_digits(best)

    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""
        parameters = program.parameters
        assert isinstance(program, BfvProgram), "the search's own program"
        return [
            f"N = {self.n}: the smallest that does; it carries {self.carried} bits of modulus at "
            f"{self.wish.security_text}, and all primes have {parameters.log_qp}",
            f"q of {self._bits_of(program)} bits in {parameters.limbs} primes: the smallest that "
            f"leaves {self.wish.margin_bits} bits of noise budget by the forecast, which says "
            f"{program.forecast().bits}",
            f"t = {program.parameters.plain_modulus}: "
            + ("as given" if self.wish.plain_modulus else f"{self.wish.plain_bits} bits, batches"),
            self.key_reason,
        ]

    def _with_digits(self, program: BfvProgram) -> BfvProgram | None:
        """Returns the program with the digits of key switching that suit its keys best."""
        data = [q.bit_length() for q in program.parameters.data_primes]
        sizes = [
            [*data, *(max(data),) * digit_size]
            for digit_size in range(1, len(data) + 1 if self.wish.limits is None else 2)
        ]
        found = groupings(program, sizes, self.carried)
        chosen, words = with_digits(
            program, found, self.wish.keys, lambda digits: self._regrouped(sum(data), digits)
        )
        if chosen is None:
            self.obstacle, self.hint = words, HINT
        self.key_reason = words
        return chosen

    def _regrouped(self, bits: int, digits: Grouping) -> BfvProgram | None:
        """Returns the program with other digits; None: they leave too little budget."""
        try:
            parameters = self.wish.candidate(self.n, bits, self.carried, digits.digit_size)
            program = planned(self.recording, parameters, self.options)
        except (ParameterError, NoiseError, RangeError):
            return None
        return program if program.forecast().bits >= self.wish.margin_bits else None

    def _bits_of(self, program: BfvProgram) -> int:
        return sum(q.bit_length() for q in program.parameters.data_primes)

    def _parameters(self, bits: int) -> BfvParameters | None:
        """Returns the set with q of that many bits; None: no set fits.

        The widest q without a set gives the reason; narrower ones fail for their width, too.
        """
        try:
            parameters = self.wish.candidate(self.n, bits, self.carried)
            parameters.require_batching()
        except ParameterError as error:
            self.obstacle = self.obstacle or str(error)
            return None
        return parameters

    def _with_bits(self, bits: int) -> BfvProgram | None:
        """Returns the program with q of that many bits, unless it leaves too little budget."""
        parameters = self._parameters(bits)
        if parameters is None:
            return None
        try:
            program = planned(self.recording, parameters, self.options)
        except NoiseError as error:
            self.obstacle = str(error)
            return None
        left = program.forecast().bits
        if left >= self.wish.margin_bits:
            return program
        self.obstacle = (
            f"q of {bits} bits leaves {left} bits of noise budget by the forecast, and "
            f"{self.wish.margin_bits} are asked for"
        )
        return None
