"""What HE parameters a design of the RPAU architecture takes."""

from collections.abc import Callable, Sequence

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import slot_order
from ringsmith.errors import ProgramError
from ringsmith.params import ParameterLimits


def parameter_limits(design: RpauDesign) -> ParameterLimits:
    """Returns the rings and primes of a design; BFV's products and rotations need converters."""
    folds = design.reduction == "folded"
    shortest = [w - folded.shifts(w) if folds else (w + 1) // 2 for w in design.widths]
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=1 << design.max_log_n,
        min_prime_bits=min(shortest),
        max_prime_bits=design.word_bits,
        max_primes=design.limbs,
        primes=tuple(design.sparse_primes),
        reduction_error=_near_power(design.widths) if folds else None,
        together=_together(design) if design.narrow_rpaus else None,
        one_prime_digits=not design.converters,
        relinearizations=("special_prime",),
        bfv_multiplications=("hps",) if design.converters else (),
        bfv_rotations=design.converters > 0,
    )


def _near_power(widths: Sequence[int]) -> Callable[[int], str]:
    """Why a design that reduces in folds does not take a prime; nothing where it does."""

    def error(prime: int) -> str:
        if any(folded.fits(prime, width) for width in widths):
            return ""
        return folded.fold_error(prime, widths[0])

    return error


def _together(design: RpauDesign) -> Callable[[Sequence[int], int], str]:
    """Why a design has too few RPAUs of a word width for some primes; nothing where it has."""

    def error(primes: Sequence[int], special: int) -> str:
        try:
            slot_order(primes, range(len(primes) - special, len(primes)), design)
        except ProgramError as problem:
            return str(problem)
        return ""

    return error
