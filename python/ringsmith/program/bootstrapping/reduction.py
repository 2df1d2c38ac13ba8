"""The polynomial that takes away multiples of the modulus: a cosine, good near whole numbers only.

EvalMod computes sin(2 pi t) for t near a whole number k, |k| < ``period``, as a double angle of
double angles of cos(2 pi (t - 1/4) / 2^r). The polynomial for the cosine is fitted by least squares
to the neighbourhoods of these numbers; an interpolant on the whole interval of the same degree has
several bits less (Lee, Lee, Lee, Kim, No 2021, eprint 2020/552, fit the neighbourhoods, too). In
w = (t - 1/4) / ``period`` the cosine is even, and so is the polynomial: half as many coefficients,
and a polynomial of half the degree in 2 w^2 - 1.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

_POINTS = 9
"""Points in each neighbourhood: Chebyshev's."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A polynomial for the cosine.

    Attributes:
        coefficients: c_0, c_1, … of Chebyshev polynomials of 2 w^2 - 1.
        error: Its largest distance from the cosine in the neighbourhoods.
    """

    coefficients: NDArray[np.float64]
    error: float


@lru_cache(maxsize=32)
def fitted(period: int, doublings: int, degree: int, width: float) -> Reduction:
    """Fits the polynomial.

    Args:
        period: Whole numbers up to ``period`` - 1 in both directions.
        doublings: Double angles r that follow.
        degree: Degree in w; one more than an even number.
        width: Half of the width of a neighbourhood.
    """
    offsets = width * np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    points = (np.arange(1 - period, period)[:, np.newaxis] + offsets).reshape(-1)
    w = (points - 0.25) / period
    wanted = np.cos(2 * np.pi * period * w / 2**doublings)
    basis = chebyshev.chebvander(2 * w * w - 1, degree // 2)
    found, *_ = np.linalg.lstsq(basis, wanted, rcond=None)
    found.setflags(write=False)
    closer = np.arange(1 - period, period)[:, np.newaxis] + np.linspace(-width, width, 33)
    w = (closer - 0.25) / period
    values = chebyshev.chebval(2 * w * w - 1, found)
    errors = values - np.cos(2 * np.pi * period * w / 2**doublings)
    return Reduction(found, float(np.abs(errors).max()))
