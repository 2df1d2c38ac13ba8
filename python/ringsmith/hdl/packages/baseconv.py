"""What Python uses of ``rs_baseconv_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

from ringsmith.hdl.packages import arith

LIFT_FRACTION_BITS = 89
LOAD_SHAPE = 0
LOAD_INPUT_MODULUS = 1
LOAD_INPUT_FACTOR = 2
LOAD_FRACTION = 3
LOAD_WEIGHT = 4
LOAD_OUTPUT_MODULUS = 5
LOAD_QUOTIENT_FACTOR = 6


def x_parts(x_width: int) -> int:
    """A product of X and Y bits is cut into tiles of one DSP each: X at multiples of the short
    operand's bits, Y evenly into the fewest parts that fit the long one.
    """
    return (x_width + arith.DSP_SHORT - 1) // arith.DSP_SHORT


def y_parts(y_width: int) -> int:
    return (y_width + arith.DSP_LONG - 1) // arith.DSP_LONG


def x_cut(x_width: int) -> int:
    return x_width if x_width < arith.DSP_SHORT else arith.DSP_SHORT


def tiles(x_width: int, y_width: int) -> int:
    return x_parts(x_width) * y_parts(y_width)


def quotient_bits(width: int, terms: int) -> int:
    """Bits of v, which is below terms * 2^width."""
    return width + (terms - 1).bit_length()


def reduced_bits(width: int, terms: int) -> int:
    """E: the bits that the reducer divides away. The sum is below p * 2^E for 2 * terms products
    of a word and a residue, which v times its factor makes of them at most.
    """
    return width + (2 * terms - 1).bit_length()


def tile_latency() -> int:
    """Cycles from an operand of tiles to their sums, and from there to the whole sum."""
    return 3


def tile_sum_latency(number: int) -> int:
    return number - 1


def fraction_tiles(width: int, fraction_bits: int) -> int:
    """Tiles of y_i * T_i, and of v * D_j, which is cut as the products that it is added to."""
    return tiles(width, fraction_bits)


def quotient_tiles(width: int, terms: int) -> int:
    return (quotient_bits(width, terms) + x_cut(width) - 1) // x_cut(width) * y_parts(width)


def scaled_latency(width: int, step_bits: int) -> int:
    """From x_i to y_i: its constants, and the product."""
    return 2 + arith.mod_mul_montgomery_latency(width, step_bits)


def weighted_latency(width: int, step_bits: int, fraction_bits: int) -> int:
    """From x_i to the first output's product with y_i. The outputs' sums are delayed until v is
    ready.
    """
    return scaled_latency(width, step_bits) + fraction_tiles(width, fraction_bits)


def reduce_latency(width: int, step_bits: int, terms: int) -> int:
    """From an output's tile sums to the output: v times its factor, the sum, the steps, and the
    last modular subtraction.
    """
    return (
        3
        + tile_sum_latency(quotient_tiles(width, terms))
        + arith.scale_steps(reduced_bits(width, terms), step_bits) * arith.scale_step_latency()
        + arith.mod_addsub_latency()
    )


def base_convert_latency(
    width: int, step_bits: int, fraction_bits: int, terms: int, used: int
) -> int:
    """Cycles from start_i to the first output of a conversion of `used` terms, on a unit that
    takes up to `terms`.
    """
    return (
        weighted_latency(width, step_bits, fraction_bits)
        + (used - 1)
        + tile_latency()
        + reduce_latency(width, step_bits, terms)
    )
