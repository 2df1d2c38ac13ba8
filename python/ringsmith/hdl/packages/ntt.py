"""What Python uses of ``rs_ntt_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

from ringsmith.hdl.packages import arith, mem

TWIDDLES_STORED = 1
LUT_RAM_WORDS = 64


def memory_read_latency() -> int:
    """The memory of the polynomials: address at its port to words at the unit, by a register in
    front of the memory, the memory, and a register behind it, which may hold a selection
    among banks.
    """
    return 1 + mem.RAM_LATENCY + 1


def pre_latency() -> int:
    """In front of the multipliers: sum and difference of the inverse butterfly, and the halving."""
    return arith.mod_addsub_latency() + arith.mod_halve_latency()


def lanes_latency(reduction: int) -> int:
    """rs_butterfly_lanes: operands to result, in an inverse butterfly."""
    return pre_latency() + 1 + arith.mod_mul_latency(reduction)


def lanes_wait() -> int:
    """All other operations are shorter by this: their rows are read this many cycles later."""
    return pre_latency() - arith.mod_addsub_latency()


def read_to_write(reduction: int) -> int:
    """A row's address at the memory of the polynomials to its result at the write port, through
    rs_lane_gather, rs_butterfly_lanes and rs_lane_scatter.
    """
    return memory_read_latency() + 1 + lanes_latency(reduction) + 1


def twiddle_latency() -> int:
    """rs_ntt_twiddle: step to table words."""
    return 2 + mem.RAM_LATENCY


def step_to_operand() -> int:
    """From a step to the multipliers' operand registers in a forward transform: the step's
    register, the wait, the memory and the lane arrangement.
    """
    return 1 + lanes_wait() + memory_read_latency() + 1


def twiddle_lead(twiddles: int, reduction: int) -> int:
    """Cycles by which the factors of an NTT start before the data that they meet. Generated ones
    pass an operand register and a multiplier first.
    """
    return (
        0
        if twiddles == TWIDDLES_STORED
        else twiddle_latency() + 1 + arith.mod_mul_latency(reduction) - step_to_operand()
    )


def stage_gap(reduction: int, rows: int) -> int:
    """Idle cycles between two stages of an NTT. A stage reads a row at the earliest half a stage
    sooner than the stage before wrote it. It may be written in the cycle in which its address
    comes to the memory, which reads it in the next.
    """
    return read_to_write(reduction) - rows // 2 if read_to_write(reduction) > rows // 2 else 0
