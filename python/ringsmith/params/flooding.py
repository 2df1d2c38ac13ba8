"""Noise flooding: the Gaussian noise that hides the noise of ciphertexts.

Two uses, with the same quantity: a bound B of the Euclidean length of the noise polynomial, in
units of its integer coefficients. In CKKS it is the root mean square of the noise over all slots,
times the scale.

- **Decryptions that are shared** (IND-CPA-D). A Gaussian of deviation sigma in each coefficient
  moves by at most B. Then the Kullback-Leibler divergence between what is shared and noise around
  the exact message is at most B^2 / (2 sigma^2) for each decryption. With
  sigma = sqrt(12 * queries) * 2^(s/2) * B, all together have at most 2^-s / 24. By Pinsker's
  inequality their statistical distance is at most 0.15 * 2^(-s/2), which is s bits of security for
  a decision problem (Micciancio, Walter 2018, eprint 2018/077). Li, Micciancio, Schultz, Sorrell,
  Crypto 2022, eprint 2022/816, corollary 2: its factor sqrt(2n) is for bounds of single
  coefficients. OpenFHE's ``NOISE_FLOODING_DECRYPT`` has the same sigma (CKKS_NOISE_FLOODING.md).
- **Results that hide their circuit**. The noise of two circuits differs by at most 2B, and two
  Gaussians at that distance have a statistical distance of at most 2B / (sigma * sqrt(2 pi)).
"""

import math
from dataclasses import dataclass

from ringsmith.errors import ParameterError
from ringsmith.params.ring import RlweParameters

FAILURE = 2.0**-20
"""Probability, by the noise model, that any slot errs by more than is stated."""
STATISTICAL_SECURITY = 30
"""Bits of statistical security by default, as in OpenFHE."""
SHARED_BUDGET = 2
"""Bits of noise budget that a BFV result needs to be shared, by its forecast; decryption needs one.

The bounds of a forecast fail with a probability of about 2^-45 each (``schemes.bfv.norms``); at
twice the bounds, which it takes for a wrong decryption, with far less.
"""
_SECURITY = range(20, 65)
_MAX_QUERIES = 1 << 40
_MOMENTS = 200
"""Moments that are tried: more than a failure of 2^-104 takes."""


@dataclass(frozen=True)
class Flooding:
    """How much noise is added before decrypted numbers are shared.

    Attributes:
        queries: Decryptions under one key that may be shared in all; each ciphertext counts.
        statistical_security: Bits s of statistical security, 20 to 64: no attack, of any computing
            power, gains more than 2^-s from the noise of these decryptions.
    """

    queries: int
    statistical_security: int = STATISTICAL_SECURITY

    def __post_init__(self) -> None:
        queries, bits = self.queries, self.statistical_security
        if not _whole(queries) or not 1 <= queries <= _MAX_QUERIES:
            raise ParameterError(
                f"share = {queries!r:.60} is no number of decryptions in 1 … 2^40: count all "
                "decryptions under this key that others may see"
            )
        if not _whole(bits) or bits not in _SECURITY:
            raise ParameterError(
                f"statistical_security = {bits!r:.60} is no number of bits in "
                f"{_SECURITY.start} … {_SECURITY.stop - 1}: {STATISTICAL_SECURITY} is usual"
            )

    def noise_bound(self, deviation: float) -> float:
        """Returns what the noise of a decryption exceeds with the probability 2^-s / queries only.

        Args:
            deviation: Root mean square of the noise over the slots, by the forecast.
        """
        return deviation * tail(2.0**-self.statistical_security / self.queries)

    def deviation(self, noise_bound: float) -> float:
        """Returns the standard deviation sigma of the Gaussian that is added.

        Args:
            noise_bound: Bound B of the length of the noise, and in the same unit as the result.
        """
        return math.sqrt(12 * self.queries) * 2 ** (self.statistical_security / 2) * noise_bound

    def bits(self, n: int, noise_bound: float) -> float:
        """Returns the bits after the point that survive in every slot; may be negative.

        With b of them, rounded down, and numbers rounded to multiples of 2^-b, no number is off by
        more than 2^-b, but with the probability ``FAILURE``.

        Args:
            n: Ring degree N.
            noise_bound: Bound of the noise in units of the numbers.
        """
        error = largest_in_slots(n, self.deviation(noise_bound))
        return -math.log2(2 * error) if error else math.inf


def largest_noise(parameters: RlweParameters, limbs: int, budget: int) -> float:
    """Returns the largest coefficient that BFV's error may have.

    Args:
        parameters: The parameter set.
        limbs: Of the ciphertext.
        budget: Bits of noise budget, bits(q) - bits(t * error) - 1.
    """
    q = math.prod(parameters.data_primes[:limbs])
    return 2.0 ** (q.bit_length() - 2 - budget) / parameters.message_modulus


def surviving_bits(bits: float, flooding: Flooding) -> int:
    """Returns whole bits after the point.

    Raises:
        ParameterError: When fewer than one is left.
    """
    if not bits >= 1:
        raise ParameterError(
            f"noise that hides the result's own for share = {flooding.queries} and "
            f"statistical_security = {flooding.statistical_security} leaves {bits:.1f} bits after "
            "the point, and 1 is needed: take a larger scale, trace with "
            f"AutoParameters(share={flooding.queries}), or share fewer results"
        )
    return math.floor(min(bits, 1000))


def tail(failure: float) -> float:
    """Returns how many times its root mean square a noise's length may reach at most.

    Every slot's noise is at worst a product of two complex Gaussians X and Y, with E|XY|^(2p) =
    (p!)^2 (``ringsmith.schemes.ckks.forecast``). By Minkowski's inequality the mean square over the
    slots has a p-th moment of at most that, however the slots depend on each other; by Markov's it
    exceeds t^2 with the probability (p!)^2 / t^(2p) at most. The best p is taken.

    Args:
        failure: The probability that it reaches more.
    """
    logs = (math.lgamma(p + 1) / p - math.log(failure) / (2 * p) for p in range(1, _MOMENTS))
    return math.exp(min(logs))


def largest_in_slots(n: int, deviation: float) -> float:
    """Returns what Gaussian noise reaches in any slot, but with the probability ``FAILURE``.

    Args:
        n: Ring degree N: a slot's complex number has the variance N * deviation^2.
        deviation: Of each coefficient.
    """
    return math.sqrt(n * math.log(n / 2 / FAILURE)) * deviation


def hiding_deviation(noise_bound: float, statistical_security: int) -> float:
    """Returns the deviation that hides which of two circuits made a result's noise.

    Args:
        noise_bound: Bound of the noise's length for either circuit.
        statistical_security: Bits s; the statistical distance is at most 2^-s.
    """
    return 2 * noise_bound * 2.0**statistical_security / math.sqrt(2 * math.pi)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
