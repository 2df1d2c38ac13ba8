"""What Python uses of ``rs_arith_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

REDUCTION_SPARSE = 1
REDUCTION_FOLDED = 2
DSP_LONG = 26
DSP_SHORT = 17
TWO_STEPS_MODULI = 3


def mul_block_latency() -> int:
    """Product of two tiles in one DSP block, or of one tile."""
    return 2


def mul_latency() -> int:
    return mul_block_latency() + 3


def mul_low_latency() -> int:
    return mul_block_latency() + 2


def mod_addsub_latency() -> int:
    return 2


def mod_halve_latency() -> int:
    return 1


def mod_mul_barrett_latency() -> int:
    """Two full products, one low product; normalizing shift 2, quotient 1, remainder 1,
    correction 2.
    """
    return 2 * mul_latency() + mul_low_latency() + 6


def scale_step_latency() -> int:
    """rs_scale_step: difference with a digit; product, one summand after two cycles and the
    other after three; a sum with each.
    """
    return mul_block_latency() + 3


def scale_step_bits(log_n: int) -> int:
    """Bits that one step removes. All primes of a ring of degree 2^log_n are 1 modulo 2 to this
    power. More bits would not fit the short operand of a DSP.
    """
    return log_n + 1 if log_n + 1 < DSP_SHORT else DSP_SHORT


def scale_steps(bits: int, step_bits: int) -> int:
    """Steps of rs_scale_steps."""
    return (bits + step_bits - 1) // step_bits


def mod_mul_montgomery_latency(width: int, step_bits: int) -> int:
    """A full product, the steps, and the last modular addition."""
    return (
        mul_latency() + scale_steps(width, step_bits) * scale_step_latency() + mod_addsub_latency()
    )


def fits_two_steps(width: int, step_bits: int) -> bool:
    """Whether rs_mod_mul_two_steps takes words of this width."""
    return width > DSP_SHORT and step_bits <= DSP_SHORT and (width <= 2 * step_bits)


def mul_cascade_low() -> int:
    """rs_mul_cascade: an operand's register, product and sum of a slice, for the lowest of four."""
    return 3


def two_steps_modulus_time(i: int) -> int:
    return mul_cascade_low() + i * (mul_block_latency() + 1)


def mod_mul_two_steps_latency() -> int:
    return two_steps_modulus_time(TWO_STEPS_MODULI - 1) + 1


def sparse_times_latency() -> int:
    """A base and x times q - 2^bits - 1."""
    return 3


def mod_mul_sparse_latency() -> int:
    """A full product, three folds; two cuts, a selection and two sums between them; correction
    2.
    """
    return mul_latency() + 3 * sparse_times_latency() + 7


def pair_latency() -> int:
    """rs_mul_add_pair with one register in front: operands, product and sum of the low slice,
    and the sum of the high one.
    """
    return 4


def mod_mul_folded_latency() -> int:
    """Four pairs; two sums for the product's parts, less the cycle by which the bits to fold
    precede them; a sum after each fold, a shift, and the correction.
    """
    return 4 * pair_latency() + 5


def mod_shorten_latency() -> int:
    """rs_mod_shorten: operand, product and sum of a slice, the bits above it, the correction."""
    return 5


def mod_mul_latency(reduction: int) -> int:
    if reduction == REDUCTION_SPARSE:
        return mod_mul_sparse_latency()
    if reduction == REDUCTION_FOLDED:
        return mod_mul_folded_latency()
    return mod_mul_barrett_latency()
