"""Cycles of the vector architecture's datapath: from the issue of a row to the write of results."""

from ringsmith.backends.vector.design import BARRETT, VectorDesign
from ringsmith.hdl.latencies import (
    MOD_ADDSUB_LATENCY,
    MOD_MUL_LATENCY,
    RAM_LATENCY,
    TWO_STEPS_LATENCY,
    fits_two_steps,
    montgomery_latency,
    scale_step_bits,
)

_ADDRESS = 1
"""A register between the sequencer and the banks, each way."""

_SELECT = 1
"""A register behind the selection of operands, and behind that of results."""


def alu_cycles(design: VectorDesign) -> int:
    """An ALU: a sum and difference, the product, a sum and difference."""
    step_bits = scale_step_bits(design.log_n)
    if design.reduction == BARRETT:
        product = MOD_MUL_LATENCY[BARRETT]
    elif fits_two_steps(design.word_bits, step_bits):
        product = TWO_STEPS_LATENCY
    else:
        product = montgomery_latency(design.word_bits, step_bits)
    return MOD_ADDSUB_LATENCY + product + MOD_ADDSUB_LATENCY


def permute_cycles(design: VectorDesign) -> int:
    """The network: rotation, exchange, affine stages of two bits each, rotation back."""
    exchange = (1 << design.log_radix) - 1 + design.log_radix
    return 2 * _SELECT + exchange + design.log_lanes // 2


def stage_cycles(design: VectorDesign, stage: int) -> int:
    """From the issue of a row to its words at a stage of the units."""
    return _ADDRESS + RAM_LATENCY + _SELECT + permute_cycles(design) + stage * alu_cycles(design)


def late_cycles(design: VectorDesign, stage: int) -> int:
    """How long after a row's issue the operands are read that only a stage takes."""
    return permute_cycles(design) + stage * alu_cycles(design)


def stage_results(design: VectorDesign, stage: int) -> int:
    """From the issue of a row to the write of what a stage hands out."""
    return stage_cycles(design, stage + 1) + _SELECT + _ADDRESS


def pass_cycles(design: VectorDesign) -> int:
    """A pass of a transform, from a row's issue to its write."""
    return stage_results(design, design.log_radix - 1)


def automorph_cycles(design: VectorDesign) -> int:
    """An automorphism: all stages pass the words by."""
    return pass_cycles(design)
