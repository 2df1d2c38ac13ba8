"""HE parameters that fill a design, or a small part of it: for counting cycles and demonstrations.

They are as wide as the design's words, regardless of security: no data is to be encrypted
with them.
"""

import warnings

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters

_PRIME_SLACK = 1  # bits that the narrower primes are below the word width


def sample_parameters(
    design: RpauDesign,
    name: str,
    *,
    log_degree: int | None = None,
    data_primes: int | None = None,
    plain_modulus: int = 2,
    headroom_bits: int = 0,
) -> RlweParameters:
    """Primes that the design accepts, one per RPAU, regardless of security.

    With converters they are BFV's, and primes of a second modulus bank extend them for products.

    Args:
        design: The design.
        name: What reports call the set.
        log_degree: log2 of the ring's degree; None: the design's N.
        data_primes: How many; None: as many as RPAUs, less one.
        plain_modulus: t, where they are BFV's.
        headroom_bits: Bits that CKKS's scale is below the data primes.

    Raises:
        ParameterError: If the ring is too small for HE, or has too few primes of that size.
    """
    n = design.n if log_degree is None else 1 << log_degree
    count = design.rpaus - 1 if data_primes is None else data_primes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no data will ever be encrypted with these
        if design.converters and design.modulus_banks > 1:
            return BfvParameters.create(
                n=n,
                prime_bits=(design.word_bits,) * count,
                plain_modulus=plain_modulus,
                multiplication="hps",
                relinearization="residue",
                dnum=2,
                security=None,
                name=name,
            )
        if design.reduction == "sparse":
            first, *others = sorted(design.sparse_primes, reverse=True)[: count + 1]
            return CkksParameters.from_primes(
                n=n,
                data_primes=(first, *others[:-1]),
                special_prime=others[-1],
                scale=float(others[-1]) / 2.0**headroom_bits,
                name=name,
                security=None,
            )
        bits = [design.bits_of(rpau) - _PRIME_SLACK for rpau in range(1, count + 1)]
        return CkksParameters.create(
            n=n,
            prime_bits=bits,
            special_bits=design.word_bits,
            scale_bits=bits[-1] - headroom_bits,
            security=None,
            name=name,
        )
