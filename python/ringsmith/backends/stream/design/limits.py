"""What HE parameters a design of the stream architecture takes."""

from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT
from ringsmith.params import ParameterLimits

BFV_MULTIPLICATIONS = ("hps",)
"""The extension primes of ``behz`` have 61 bits, more than a design's words."""


def parameter_limits(design: StreamDesign) -> ParameterLimits:
    """Returns the ring and primes of a design; the host does everything but its products."""
    barrett = design.multiplier == BARRETT
    return ParameterLimits(
        design=design.name,
        min_n=design.n,
        max_n=design.n,
        min_prime_bits=design.word_bits if barrett else 2,
        max_prime_bits=design.word_bits,
        bfv_multiplications=BFV_MULTIPLICATIONS,
    )
