"""Cycles of the vector architecture's datapath: ``rtl/vector/rs_vector_pkg.sv``, in Python.

``tests/rtl/test_latencies.py`` elaborates the package and compares. Cycles count from the one in
which the banks take the address of a row of x.
"""

from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.hdl.latencies import (
    MOD_MUL_LATENCY,
    RAM_LATENCY,
    TWO_STEPS_LATENCY,
    fits_two_steps,
    montgomery_cycles,
    scale_step_bits,
)

FACTOR_CYCLES = 1
"""From z, at a stage, to y."""

_SELECT = 1
"""A register behind the selection of operands, and one behind that of results."""

_WRITE = 1
"""A register in front of the banks."""


def step_bits(design: VectorDesign) -> int:
    """Bits that a step of Montgomery's reduction removes: the blocks' parameter ``StepBits``."""
    return scale_step_bits(design.log_n)


def alu_cycles(design: VectorDesign) -> int:
    """An ALU: a sum or difference and its correction, before the product and behind it."""
    if design.reduction == BARRETT:
        product = MOD_MUL_LATENCY[BARRETT]
    elif fits_two_steps(design.word_bits, step_bits(design)):
        product = TWO_STEPS_LATENCY
    else:
        product = montgomery_cycles(design.log_n, design.word_bits)
    return 2 + product + 2


def permute_cycles(design: VectorDesign) -> int:
    """The network: rotation, exchange, affine map, arrangement for the units."""
    exchange = (1 << design.log_radix) - 1 + design.log_radix
    return _SELECT + exchange + design.log_lanes // 2 + _SELECT


def turn_cycles(design: VectorDesign) -> int:
    """From a row of a transform to the first one of a transform in the other direction."""
    return (design.log_radix - 1) * alu_cycles(design) + 1


def summand_cycles(design: VectorDesign, stage: int) -> int:
    """From the reading of x to that of z, for what a stage computes."""
    return permute_cycles(design) + stage * alu_cycles(design)


def factor_cycles(design: VectorDesign, stage: int) -> int:
    """From the reading of x to that of y, for what a stage computes."""
    return summand_cycles(design, stage) + FACTOR_CYCLES


def result_cycles(design: VectorDesign, stage: int) -> int:
    """From the reading of x to the write of what a stage computes."""
    stages = permute_cycles(design) + (stage + 1) * alu_cycles(design)
    return RAM_LATENCY + _SELECT + stages + _SELECT + _WRITE


def pass_cycles(design: VectorDesign) -> int:
    """A pass of a transform, from the reading of a row to its write."""
    return result_cycles(design, design.log_radix - 1)
