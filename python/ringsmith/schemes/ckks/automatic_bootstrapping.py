"""Automatic parameters that bootstrap: the levels of programs at which all of it costs least."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import Bootstrapping, CkksParameters
from ringsmith.params.primes import MAX_DEGREE
from ringsmith.params.sets import boot_set
from ringsmith.program.graph import Program
from ringsmith.program.recording import Recording
from ringsmith.schemes.base import Search
from ringsmith.schemes.ckks.automatic import CkksSearch
from ringsmith.schemes.ckks.placing import ways
from ringsmith.schemes.ckks.planned import planned, price_of
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.ckks.work import Work

_STAGES = (Bootstrapping(), Bootstrapping(arcsine=3, ratio_bits=6))
"""How parameters bootstrap: the second way has 4 bits of precision more, and two levels."""
_SCALE_BITS = 40
"""log2 of the scale: the noise of bootstrapping does not depend on it."""
_LEAST_LEVELS = 2
"""Levels of programs, at least: a product with a plaintext and one of ciphertexts."""


@dataclass(eq=False)
class BootstrappingSearch(Search):
    """The search at one ring degree: parameters without bootstrapping first, which cost less.

    Attributes:
        plain: The search for parameters that do not bootstrap, with loops unrolled.
        recording: The recorded program.
    """

    plain: CkksSearch
    recording: Recording
    reason: str = ""

    def follow(self, before: Search) -> None:
        """See ``Search``."""
        if isinstance(before, BootstrappingSearch):
            self.plain.follow(before.plain)

    def may_fit(self, fewer: int) -> bool:
        """Tells whether parameters may fit: in the largest ring always."""
        return self.plain.n == MAX_DEGREE or self.plain.may_fit(fewer)

    def run(self) -> CkksProgram | None:
        """See ``Search``."""
        plain = self.plain
        nodes = plain.recording.trace.nodes
        if not any(node.op is Op.BOOTSTRAP for node in nodes):
            found = plain.run()
            if found is not None:
                return found
            self.obstacle, self.hint = plain.obstacle, plain.hint
        if plain.n == MAX_DEGREE:
            return self._with_bootstrappings()
        self.obstacle = self.obstacle or f"parameters that bootstrap have N = {MAX_DEGREE}"
        return None

    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""
        parameters = program.parameters
        if not self.reason or not isinstance(parameters, CkksParameters):
            return self.plain.words(program)
        levels = parameters.ladder.index(parameters.working_limbs)
        return [
            f"N = {parameters.n}: it bootstraps; all primes have {parameters.log_qp} bits of "
            f"{self.plain.carried} at {self.plain.wish.security_text}",
            f"{levels} levels between bootstrappings: with these all operations cost least",
            self.reason,
        ]

    def _with_bootstrappings(self) -> CkksProgram | None:
        """Returns the program with the cheapest stages that are precise enough; None: none are."""
        plain = self.plain
        for stages in _STAGES:
            best = self._cheapest(stages)
            if best is None:
                continue
            headroom = plain.wish.headroom_bits
            program = planned(self.recording, best, headroom, plain.options)
            bits = plain.precision(program).bits
            said = (
                f"message ratio 2^{stages.ratio_bits}, arcsine of degree {stages.arcsine}: the "
                f"forecast is {bits:.1f} bits of precision, and {plain.asked:g} are asked for"
            )
            if bits >= plain.asked:
                self.reason = said
                return program
            self.obstacle = f"with bootstrapping, {said}"
        self.hint = "ask for fewer precision_bits, give tighter bounds (bounded), or multiply less"
        return None

    def _cheapest(self, stages: Bootstrapping) -> CkksParameters | None:
        """Returns the parameters with these stages with which the program costs least."""
        recording, options = self.recording, self.plain.options
        best: CkksParameters | None = None
        least = math.inf
        for parameters in self._candidates(stages):
            work = Work(parameters, recording.trace.space.costs)
            levels = parameters.ladder.index(parameters.working_limbs)
            price = price_of(parameters, recording, options, work)
            for way in ways(recording, parameters, levels, work, price)[:1]:
                if way.cost < least:
                    best, least = parameters, way.cost
        if best is None:
            first = next(self._candidates(stages), None)
            if first is not None:  # its planning says what is in the way
                try:
                    planned(recording, first, self.plain.wish.headroom_bits, options)
                except ProgramError as error:
                    self.obstacle = str(error)
        return best

    def _candidates(self, stages: Bootstrapping) -> Iterator[CkksParameters]:
        """Yields parameters, of the most levels first."""
        plain = self.plain
        for levels in reversed(range(_LEAST_LEVELS, plain.carried // _SCALE_BITS)):
            name = f"auto-boot-{levels}-{stages.ratio_bits}"
            try:
                made = boot_set(plain.n, levels, None, name, stages)
                plain.wish.require_security(plain.n, made.log_qp)
            except ParameterError:
                continue
            yield made
