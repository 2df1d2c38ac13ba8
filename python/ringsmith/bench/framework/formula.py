"""The paper's own latency estimate, its equations 1 to 5, for an array of its kind.

An operation is a list of subroutines. Each takes the longer of two times: that of its computing,
and that of the bytes that it moves. The paper gives the computing of transforms (equation 3) and of
basis conversions (equation 4), and says that others are counted in the same way: an ALU does one
modular multiplication, addition or subtraction in a cycle. The bytes here are those that no
scratchpad avoids: operands, keys and results.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.bench.framework.cases import HERTZ, PAPER, parameters
from ringsmith.bench.records import Found
from ringsmith.params import CkksParameters

ARRAYS = (256, 512)
"""ALUs, and as many words a cycle of the permutation: the sample design's, and the most that the
paper explores."""

BYTES_PER_SECOND = 460e9
"""The most that the paper's memory reads and writes."""

_WORD = 4
"""Bytes of a word."""


@dataclass(frozen=True)
class Estimate:
    """The estimate for a parameter set at all limbs.

    Attributes:
        of: The parameter set.
        alus: NumAlu, and PermTput.
    """

    of: CkksParameters
    alus: int

    def cycles(self, operation: str) -> float:
        """Cycles of an operation: the sum of its subroutines' (equation 1)."""
        return sum(max(computing, moving) for computing, moving in self._subroutines(operation))

    def _subroutines(self, operation: str) -> Iterator[tuple[float, float]]:
        """Cycles of computing and of moving bytes of each subroutine."""
        limbs = self.of.limbs
        if operation == "add":
            yield self._each(2 * limbs), self._moved(6 * limbs)
        elif operation == "multiply_plain":
            yield self._each(2 * limbs), self._moved(5 * limbs)
        elif operation == "rescale":
            yield from self._divide(1, limbs - 1, moved=4 * limbs - 2)
        elif operation == "rotate":
            yield self._permuted(2 * limbs), self._moved(2 * limbs)
            yield from self._switch_key()
            yield self._each(limbs), self._moved(2 * limbs)
        else:
            yield self._each(5 * limbs), self._moved(4 * limbs)
            yield from self._switch_key()
            yield self._each(2 * limbs), self._moved(2 * limbs)

    def _switch_key(self) -> Iterator[tuple[float, float]]:
        """ModUp, InnerProd and ModDown."""
        of, primes = self.of, len(self.of.primes)
        digits = of.digits(of.limbs)
        for digit in digits:
            others = primes - len(digit)
            yield self._ntt(len(digit)), 0
            yield self._convert(len(digit), others), 0
            yield self._ntt(others), 0
        sums = 2 * primes * (2 * len(digits) - 1)
        yield self._each(sums), self._moved(2 * primes * len(digits))
        yield from self._divide(len(of.special_primes), of.limbs, moved=0)

    def _divide(self, dropped: int, left: int, moved: int) -> Iterator[tuple[float, float]]:
        """ModDown, or Rescale, of two polynomials."""
        yield 2 * self._ntt(dropped), 0
        yield 2 * self._convert(dropped, left), 0
        yield 2 * self._ntt(left), 0
        yield self._each(2 * 2 * left), self._moved(moved)

    def _ntt(self, limbs: int) -> float:
        """Transforms of limbs: equation 3."""
        n, log_n = self.of.n, self.of.n.bit_length() - 1
        return limbs * log_n * max(3 * n / (2 * self.alus), n / self.alus)

    def _convert(self, source: int, target: int) -> float:
        """A basis conversion: equation 4."""
        return target * self.of.n * (2 * source + 3) / self.alus

    def _each(self, limbs: int) -> float:
        """One operation on each word of limbs."""
        return limbs * self.of.n / self.alus

    def _permuted(self, limbs: int) -> float:
        """Limbs through the permutation."""
        return limbs * self.of.n / self.alus

    def _moved(self, limbs: int) -> float:
        """Limbs to or from memory: equation 5."""
        return limbs * self.of.n * _WORD / BYTES_PER_SECOND * HERTZ


def formula_rows(operation: str, params: str) -> Iterator[Found]:
    """Milliseconds of an operation by the paper's equations, for each of ``ARRAYS``."""
    of = parameters(params)
    for alus in ARRAYS:
        seconds = Estimate(of, alus).cycles(operation) / HERTZ
        text = (
            f"NumAlu = PermTput = {alus}, {BYTES_PER_SECOND / 1e9:.0f} GB/s, "
            f"{HERTZ / 1e6:.0f} MHz; only operands, keys and results move"
        )
        name = f"{PAPER}: the paper's equations, {alus} ALUs"
        yield Found(name, params, operation, "milliseconds", seconds * 1e3, "formula", text)
