"""Fractions in BFV: integers times 2^-fraction_bits.

BFV computes with integers, so the scale of a fraction is not part of the ciphertext. A
``FixedPoint`` is that scale. Apply to it the same operations as to the fractions::

    x = FixedPoint(10)
    cipher = encrypt(parameters, public_key, x.encode(parameters, [0.5, -1.25]))
    ...                                    # the server multiplies the ciphertext by itself
    square = x * x                         # FixedPoint(20)
    square.decode(parameters, decrypt(parameters, secret_key, result))
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.client.checks import checked_bfv, refuse_masked
from ringsmith.client.integers import decode_batch, encode_batch
from ringsmith.errors import ParameterError, check_type
from ringsmith.objects import PlainPolynomial
from ringsmith.params import BfvParameters
from ringsmith.python_numbers import make_python_numbers

_MAX_FRACTION_BITS = 1024
"""Above this limit 2^-bits is no normal double-precision number."""


@dataclass(frozen=True)
class FixedPoint:
    """A format of fractions: each is stored as the integer fraction * 2^fraction_bits, rounded.

    Attributes:
        fraction_bits: Bits after the point, 0 … 1024.
    """

    fraction_bits: int

    def __post_init__(self) -> None:
        make_python_numbers(self)
        bits = self.fraction_bits
        if isinstance(bits, bool) or not isinstance(bits, int):
            raise ParameterError(f"fraction_bits = {bits!r} is not a whole number")
        if not 0 <= bits <= _MAX_FRACTION_BITS:
            raise ParameterError(
                f"fraction_bits = {bits} is outside 0 … {_MAX_FRACTION_BITS}: products add them "
                "up; give the factors fewer"
            )

    def __mul__(self, other: "FixedPoint") -> "FixedPoint":
        """Returns the format of a product: the bits are added."""
        check_type("factor", other, FixedPoint, "give the format of the other factor")
        return FixedPoint(self.fraction_bits + other.fraction_bits)

    def __add__(self, other: "FixedPoint") -> "FixedPoint":
        """Returns the format of a sum or difference; both operands must have the same format.

        Raises:
            ParameterError: When the formats differ.
        """
        if self != other:
            raise ParameterError(
                f"numbers with {self.fraction_bits} and {other.fraction_bits} bits after the point "
                "cannot be added: multiply the one with fewer by a power of two, an integer plain "
                "factor"
            )
        return self

    def integers(self, values: ArrayLike) -> NDArray[np.int64]:
        """Returns the integers that represent fractions, rounded half to even.

        Raises:
            ParameterError: When a value is not finite, or its integer has more than 62 bits.
        """
        refuse_masked(values)
        try:
            array = np.atleast_1d(np.asarray(values, np.float64))
        except (TypeError, ValueError):
            raise ParameterError(f"{values!r:.40} are no real numbers") from None
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.rint(np.ldexp(array, self.fraction_bits))
        if not np.isfinite(scaled).all() or (np.abs(scaled) >= 2.0**62).any():
            raise ParameterError(
                f"a number times 2^{self.fraction_bits} is not finite or exceeds 62 bits: take "
                "fewer fraction_bits"
            )
        return scaled.astype(np.int64)

    def numbers(self, integers: ArrayLike) -> NDArray[np.float64]:
        """Returns the fractions that integers represent."""
        return np.ldexp(np.asarray(integers, np.float64), -self.fraction_bits)

    def encode(self, parameters: BfvParameters, values: ArrayLike) -> PlainPolynomial:
        """Encodes fractions into slots, as ``client.encode`` does integers.

        Raises:
            ParameterError: As ``integers`` and ``client.encode``.
            TypeError: When ``parameters`` are no parameter set.
        """
        return encode_batch(checked_bfv(parameters, "fixed point"), self.integers(values))

    def decode(self, parameters: BfvParameters, plaintext: PlainPolynomial) -> NDArray[np.float64]:
        """Returns the fractions in the N slots of a plaintext.

        Raises:
            ParameterError: As ``client.decode``.
            TypeError: When an argument is of another kind.
        """
        return self.numbers(decode_batch(checked_bfv(parameters, "fixed point"), plaintext))
