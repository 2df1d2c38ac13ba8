"""What HE parameters a design of the stream architecture takes."""

from ringsmith.backends.stream.design import StreamDesign
from ringsmith.backends.stream.latency import BARRETT
from ringsmith.params import ParameterLimits


def parameter_limits(design: StreamDesign) -> ParameterLimits:
    """Returns the ring and primes of a design; the host does everything but its products.

    The extension primes of BEHZ have 61 bits, more than its words.
    """
    barrett = design.multiplier == BARRETT
    return ParameterLimits(
        design=design.name,
        min_n=design.n,
        max_n=design.n,
        min_prime_bits=design.word_bits if barrett else 2,
        max_prime_bits=design.word_bits,
        bfv_multiplications=("hps",),
    )
