"""What HE parameters a design of the RPAU architecture takes."""

from collections.abc import Callable

from ringsmith.backends.rpau import folded
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.params import ParameterLimits


def parameter_limits(design: RpauDesign) -> ParameterLimits:
    """Returns the rings and primes of a design; it has no unit for BFV's products and rotations."""
    width = design.word_bits
    shortest = width - folded.shifts(width) if design.reduction == "folded" else (width + 1) // 2
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=1 << design.max_log_n,
        min_prime_bits=shortest,
        max_prime_bits=width,
        max_primes=design.limbs,
        primes=tuple(design.sparse_primes),
        near_power=_near_power(width) if design.reduction == "folded" else None,
        one_prime_digits=True,
        word_keys=False,
        bfv_multiplications=(),
        bfv_rotations=False,
    )


def _near_power(width: int) -> Callable[[int], str]:
    """Why a design that reduces in folds does not take a prime; nothing where it does."""
    return lambda prime: "" if folded.fits(prime, width) else folded.refusal(prime, width)
