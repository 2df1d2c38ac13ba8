"""The moduli of the folded (pseudo-Mersenne) multipliers, and the words that describe one.

A modulus is q = 2^b - s with a small s of either sign. ``rtl/arith/rs_mod_mul_folded.sv`` computes
with s and with s * 2^(width - b), which is 2^width modulo q; ``docs/reference/arithmetic.md`` has
the bounds.
"""

_DSP_LONG = 26
"""Bits of s that a DSP slice takes, without its sign."""

_MOST_SHIFTS = 15
"""By how many bits a modulus may be shorter than a word, for every width."""


def split(modulus: int) -> tuple[int, int]:
    """The exponent b and s of a modulus 2^b - s: the nearest power of two."""
    bits = modulus.bit_length()
    above, below = (1 << bits) - modulus, (1 << bits - 1) - modulus
    return (bits, above) if above <= -below else (bits - 1, below)


def scaled_bits(width: int) -> int:
    """Bits of s * 2^(width - b) without its sign: ``rs_arith_pkg::folded_scaled_bits``."""
    return width - _cut(width) - 2


def tail_bits(width: int) -> int:
    """Bits of s without its sign: ``rs_arith_pkg::folded_tail_bits``."""
    return min(scaled_bits(width), _DSP_LONG)


def shifts(width: int) -> int:
    """By how many bits b may be below the width: ``rs_arith_pkg::folded_shifts``."""
    return min(3 * _cut(width) - width - 2, _MOST_SHIFTS)


def most_tail(width: int, bits: int) -> int:
    """The largest magnitude of s in a modulus 2^bits - s of a word; 0 where no s fits."""
    if not width - shifts(width) <= bits <= width:
        return 0
    return (1 << min(tail_bits(width), scaled_bits(width) - (width - bits))) - 1


def fits(modulus: int, width: int) -> bool:
    """Whether the multiplier of a word width reduces modulo this number."""
    bits, tail = split(modulus)
    return modulus >> width == 0 and 0 < abs(tail) <= most_tail(width, bits)


def fold_error(modulus: int, width: int) -> str:
    """Returns why a modulus does not fit: its value and the limit."""
    bits, tail = split(modulus)
    least = width - shifts(width)
    if bits < least:
        return f"prime {modulus} is near 2^{bits}, and words of {width} bits need 2^{least} or more"
    sign = "-" if tail > 0 else "+"
    return (
        f"prime {modulus} is 2^{bits} {sign} {abs(tail)}, and words of {width} bits take at most "
        f"{most_tail(width, bits)} away from 2^{bits}"
    )


def words(modulus: int, width: int) -> tuple[int, int]:
    """The words mu and k of a modulus that fits: s above s * 2^(width - b), and the bits of q."""
    bits, tail = split(modulus)
    low, high = scaled_bits(width) + 1, tail_bits(width) + 1
    scaled = tail << width - bits
    return (tail % (1 << high)) << low | scaled % (1 << low), modulus.bit_length()


def _cut(width: int) -> int:
    """The shorter part of an operand: ``rs_arith_pkg::folded_split``."""
    return min(width // 2, _DSP_LONG)
