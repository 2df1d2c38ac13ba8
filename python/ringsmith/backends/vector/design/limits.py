"""What HE parameters a design of the vector architecture takes."""

from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.params import ParameterLimits


def parameter_limits(design: VectorDesign) -> ParameterLimits:
    """Returns the rings and primes of a design.

    BFV's products are made in variant ``hps``: extension primes of ``behz`` have 61 bits, more than
    words. Its conversions, and those of most keys in residue digits, have steps modulo powers of
    two, which Barrett's reduction alone can do.
    """
    barrett = design.reduction == BARRETT
    least = (design.word_bits + 1) // 2 if barrett else design.log_n + 2
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=design.n,
        min_prime_bits=least,
        max_prime_bits=design.word_bits,
        reduction_error=design.prime_error,
        relinearizations=("special_prime", "residue") if barrett else ("special_prime",),
        bfv_multiplications=("hps",) if barrett else (),
    )
