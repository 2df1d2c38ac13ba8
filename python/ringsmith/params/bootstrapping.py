"""How a CKKS parameter set bootstraps: how many of its levels each stage takes, and at which scale.

A ciphertext at the lowest level is read modulo all data primes (ModRaise): its message then has
multiples of the lowest modulus q_0 added. CoeffsToSlots brings the coefficients into slots, EvalMod
takes away the multiples of q_0 by a sine, and SlotsToCoeffs brings them back (Cheon, Han, Kim, Kim,
Song 2018, eprint 2018/153). The data primes from q_0 up serve

    q_0 | the levels of programs | SlotsToCoeffs | EvalMod | CoeffsToSlots

so that a bootstrapped ciphertext has the levels of programs. The secret is switched to a sparse one
for ModRaise only (sparse-secret encapsulation: Bossuat, Troncoso-Pastoriza, Hubaux 2022, eprint
2022/024), which bounds the multiples of q_0.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ringsmith.errors import ParameterError

MAX_SPARSE_BITS = 121
"""The largest modulus of a key to the sparse secret, in bits: of ``SPARSE_SECURITY`` at weight 32.

Lattigo v6 states this limit for its sets with an ephemeral secret of weight 32.
"""
SPARSE_SECURITY = 128
"""The highest level of parameters that bootstrap, in bits: that of the sparse secret."""
MIN_SPARSE_DEGREE = 1 << 15
"""The smallest ring of that level: Lattigo has such sets from N = 2^15 on."""
_RANGES = {
    "coeffs_to_slots": (1, 8),
    "slots_to_coeffs": (1, 8),
    "degree": (3, 255),
    "doublings": (0, 8),
    "arcsine": (1, 3),
    "period": (2, 1024),
    "weight": (32, 1024),
    "ratio_bits": (2, 20),
    "special": (1, 64),
}


@dataclass(frozen=True)
class Bootstrapping:
    """How a parameter set bootstraps.

    Attributes:
        coeffs_to_slots: Levels of CoeffsToSlots, 1 … 8. More levels need fewer rotations.
        slots_to_coeffs: Levels of SlotsToCoeffs, 1 … 8.
        degree: Degree of EvalMod's polynomial, 3 … 255, one less than a power of two: it takes
            log2(degree + 1) levels. It is even: an even one of a degree less.
        doublings: Double angles after the polynomial, 0 … 8, a level each.
        arcsine: Degree of the polynomial for the arcsine after them: 3, in two
            levels, or 1: without it.
        scale_bits: log2 of the scale of EvalMod; the size of the primes of its levels.
        ratio_bits: log2 of the lowest modulus over the scale of the message, 2 … 20: a sine stands
            for a line, and the error of that falls by 2 bits for each (with an arcsine by 4).
        period: EvalMod works for up to ``period`` - 1 multiples of q_0 in both directions.
        weight: Coefficients of the sparse secret that are not zero, 32 … 1,024: fewer are insecure.
        special: Special primes, from the first, of the key that switches to the sparse secret.
    """

    coeffs_to_slots: int = 4
    slots_to_coeffs: int = 3
    degree: int = 63
    doublings: int = 2
    arcsine: int = 1
    scale_bits: int = 60
    ratio_bits: int = 10
    period: int = 16
    weight: int = 32
    special: int = 1

    def __post_init__(self) -> None:
        for name, (low, high) in {**_RANGES, "scale_bits": (20, 120)}.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ParameterError(
                    f"bootstrapping: {name} = {value!r:.40} is not a whole number in {low} … {high}"
                )
        if self.arcsine == 2:
            raise ParameterError("bootstrapping: arcsine = 2 is even: take 1, for none, or 3")
        if self.degree & (self.degree + 1):
            raise ParameterError(
                f"bootstrapping: degree = {self.degree} is not one less than a power of two: take "
                f"{(1 << self.degree.bit_length()) - 1}, which needs as many levels"
            )

    @property
    def eval_mod(self) -> int:
        """Levels of EvalMod."""
        return self.degree.bit_length() + self.doublings + (2 if self.arcsine > 1 else 0)

    @property
    def levels(self) -> int:
        """Levels that a bootstrapping takes."""
        return self.coeffs_to_slots + self.eval_mod + self.slots_to_coeffs

    @property
    def scale(self) -> float:
        """The scale of EvalMod."""
        return math.ldexp(1.0, self.scale_bits)

    @cached_property
    def failure_bits(self) -> float:
        """log2 of the probability that EvalMod is wrong for one coefficient.

        A coefficient after ModRaise, over q_0, is a sum of 1 + ``weight`` numbers that are uniform
        in [-1/2, 1/2]; EvalMod is wrong where it exceeds ``period`` - 1/2 in magnitude. By the
        distribution of Irwin and Hall, exactly; -inf: never.
        """
        terms, limit = self.weight + 1, Fraction(2 * self.period - 1, 2)
        from_end = Fraction(terms, 2) - limit  # the sum of numbers in [0, 1] is below it
        if from_end <= 0:
            return -math.inf
        volume = sum(
            (-1) ** k * math.comb(terms, k) * (from_end - k) ** terms
            for k in range(math.floor(from_end) + 1)
        )
        chance = 2 * volume / math.factorial(terms)
        return math.log2(chance.numerator) - math.log2(chance.denominator)
