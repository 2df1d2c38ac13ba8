"""Parameters that bootstrap in a small ring, insecure, for tests."""

from typing import Any

from ringsmith.params import Bootstrapping, CkksParameters
from ringsmith.params.primes import primes_of_sizes

N = 1 << 10


def tiny(levels: int = 2, **stages: Any) -> CkksParameters:  # noqa: ANN401 - Bootstrapping's fields
    """N = 2^10, the stages of ``boot-test`` but for those given."""
    given = Bootstrapping(**stages)
    bits = [60, *[40] * levels, *[39] * given.slots_to_coeffs, *[60] * given.eval_mod]
    data, special = primes_of_sizes(N, [*bits, *[56] * given.coeffs_to_slots], [61] * 5, None)
    return CkksParameters.from_primes(
        n=N,
        data_primes=data,
        special_prime=special,
        scale=2.0**40,
        dnum=-(-len(data) // 5),
        declared_security=0,
        bootstrapping=given,
        name="tiny",
    )
