"""Latencies of the blocks that architectures share: ``rtl/arith/rs_arith_pkg.sv``, in Python.

A latency counts from the cycle in which a word stands at a block's input to the one in which its
result stands at the output. ``tests/rtl/test_latencies.py`` elaborates the package and compares.
"""

from collections.abc import Mapping
from types import MappingProxyType

MUL_LATENCY = 5
MUL_LOW_LATENCY = 4
MOD_ADDSUB_LATENCY = 2
MOD_HALVE_LATENCY = 1
SPARSE_TIMES_LATENCY = 3
"""One multiplication by a sparse prime's tail."""

PAIR_LATENCY = 4
"""A product and a summand, in two DSP slices in cascade."""

SCALE_STEP_LATENCY = 5
"""One step of Montgomery's reduction."""

MOD_MUL_LATENCY: Mapping[str, int] = MappingProxyType(
    {
        "barrett": 2 * MUL_LATENCY + MUL_LOW_LATENCY + 6,
        "sparse": MUL_LATENCY + 3 * SPARSE_TIMES_LATENCY + 7,
        "folded": 4 * PAIR_LATENCY + 5,
    }
)
"""Modular multiplication, by reduction; Montgomery's follows from widths."""

TWO_STEPS_LATENCY = 10
"""Montgomery's modular multiplication in two steps."""

TILE_LATENCY = 3
"""A product in a tile of a base-conversion unit, added to those before it."""

MOD_SHORTEN_LATENCY = 5
"""A shorter word of the same residue."""

RAM_LATENCY = 2
"""Every memory: its array and its output register."""

DSP_SHORT = 17
"""Bits of the short operand of a DSP slice."""


def scale_step_bits(log_n: int) -> int:
    """Bits that one step of Montgomery's multipliers removes: all primes are 1 modulo 2N."""
    return min(log_n + 1, DSP_SHORT)


def scale_steps(word_bits: int, step_bits: int) -> int:
    """Steps that remove all bits of a word."""
    return -(-word_bits // step_bits)


def fits_two_steps(word_bits: int, step_bits: int) -> bool:
    """Whether Montgomery's multiplier in two steps takes words of a width."""
    return DSP_SHORT < word_bits <= 2 * step_bits and step_bits <= DSP_SHORT


def montgomery_latency(word_bits: int, step_bits: int) -> int:
    """Latency of one of Montgomery's modular multiplications."""
    steps = scale_steps(word_bits, step_bits)
    return MUL_LATENCY + steps * SCALE_STEP_LATENCY + MOD_ADDSUB_LATENCY


def montgomery_cycles(log_n: int, word_bits: int) -> int:
    """The same for the primes of a ring."""
    return montgomery_latency(word_bits, scale_step_bits(log_n))
