"""What HE parameters a design of the vector architecture takes."""

from ringsmith.backends.vector.design import BARRETT, VectorDesign
from ringsmith.params import ParameterLimits


def parameter_limits(design: VectorDesign) -> ParameterLimits:
    """Returns the rings and primes of a design; of BFV's products and rotations it has none."""
    least = (design.word_bits + 1) // 2 if design.reduction == BARRETT else design.log_n + 2
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=design.n,
        min_prime_bits=least,
        max_prime_bits=design.word_bits,
        near_power=design.prime_refusal,
        undivided_keys=False,
        bfv_multiplications=(),
        bfv_rotations=False,
    )
