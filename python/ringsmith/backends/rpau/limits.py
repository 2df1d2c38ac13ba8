"""What HE parameters a design of the RPAU architecture takes."""

from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.params import ParameterLimits


def parameter_limits(design: RpauDesign) -> ParameterLimits:
    """Returns the rings and primes of a design; it has no unit for BFV's products and rotations."""
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=1 << design.max_log_n,
        min_prime_bits=(design.word_bits + 1) // 2,
        max_prime_bits=design.word_bits,
        max_primes=design.limbs,
        primes=tuple(design.sparse_primes),
        one_prime_digits=True,
        word_keys=False,
        bfv_multiplications=(),
        bfv_rotations=False,
    )
