"""Cycles of every instruction of an RPAU design.

Each latency is built from the latencies of the blocks that the data pass through, block for block
as the RTL is built: :mod:`ringsmith.hdl.latencies` has those that architectures share, and
``rtl/rpau/rs_rpau_pkg.sv`` holds the same numbers for the RTL. The tests measure every
instruction on the RTL against this module.

A latency counts from the cycle in which the controller issues an instruction to the first one in
which it can issue another to the same unit; by then every result lies in memory. A whole program
takes as many cycles as lie between the cycle that accepts the start command (cycle 0) and the one
in which ``halt`` issues: then every result lies in memory.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ringsmith.backends.rpau.design.conversions import converter_of
from ringsmith.backends.rpau.design.design import LOG_SEEDED_BLOCK, RpauDesign
from ringsmith.hdl.latencies import (
    MOD_ADDSUB_LATENCY,
    MOD_HALVE_LATENCY,
    MOD_MUL_LATENCY,
    MOD_SHORTEN_LATENCY,
    RAM_LATENCY,
)

FETCH_CYCLES = 4
"""From one issue to the earliest next one: address, two cycles of program store, decoding."""

DISPATCH_CYCLES = 3
"""Registers between the controller and a unit: its own, the RPAU's, the unit's."""

COMPLETION_CYCLES = 2
"""From a unit's last write to the cycle in which the controller sees the unit idle."""

MEMORY_READ_CYCLES = 1 + RAM_LATENCY + 1
"""Work memory: the register of addresses, its RAMs, then the multiplexer among the banks."""

_COUNT_CYCLES = 2
"""The count of key polynomials that have arrived, and its comparison."""

HOST_BEAT_WORDS = 8
"""Words at the host's port, at most: those of a beat of the data path."""

PRE_CYCLES = MOD_ADDSUB_LATENCY + MOD_HALVE_LATENCY
"""In front of the multipliers: the inverse butterfly's sum and difference, and the halving."""

_LANES_WAIT = PRE_CYCLES - MOD_ADDSUB_LATENCY
"""Cycles by which other instructions read rows later: their sums follow the multipliers."""

_STREAMS = 8  # of Trivium
_WARM_UP_STEPS = 18  # of 64 rounds of Trivium; of more lanes than streams each cycle has several

# Registers of one cycle each.
_COMMAND = 1  # a unit's own copy of its command, and its counters
_STEP = 1  # row addresses out of a unit's counters
_ARRANGE = 1  # words to lanes at the input, and lanes to words at the output
_OPERAND = 1  # choice of the multipliers' operands
_TWIDDLE_EXPONENT = 2  # exponent for each core, and its negative
_PAIR = 1  # the second of two rows that are ready at once waits to be written
_GATHER_HOPS = 2  # to the centre, and from there to everyone
_HOST = 1  # an RPAU's registers for the host, before and after its memory
_SIGN = 2  # a permuted word, and itself or its negative
_ROW = 1  # the coefficient unit's row of results
_SERIAL = 1  # the dyadic unit's row register, in front of the multipliers and behind them


def mod_mul_cycles(design: RpauDesign) -> int:
    """Latency of one modular multiplication."""
    return MOD_MUL_LATENCY[design.reduction]


def _receive_to_write(design: RpauDesign) -> int:
    """From words at the main unit's first operand to their results at the memory's write port."""
    return _OPERAND + mod_mul_cycles(design) + MOD_ADDSUB_LATENCY + _ARRANGE


def main_read_to_write(design: RpauDesign) -> int:
    """From a row's address at the work memory to its result at the write port, in the main unit.

    The address is an inverse butterfly's; that of all else comes a little later.
    """
    return MEMORY_READ_CYCLES + _ARRANGE + _LANES_WAIT + _receive_to_write(design)


def twiddle_lead(design: RpauDesign) -> int:
    """Cycles by which the generated factors of an NTT start before its data.

    A generated factor passes a multiplier before it meets its operands. A stored one is there
    sooner than they are.
    """
    if design.twiddles == "stored":
        return 0
    factor = _TWIDDLE_EXPONENT + RAM_LATENCY + _OPERAND + mod_mul_cycles(design)
    return factor - _STEP - _LANES_WAIT - MEMORY_READ_CYCLES - _ARRANGE


def stage_gap(design: RpauDesign) -> int:
    """Idle cycles between two stages of an NTT; 0 where half a stage covers the pipeline.

    A stage reads a row at the earliest half a stage sooner than the stage before wrote it, counted
    from their starts. The row may be written in the cycle in which its address reaches the work
    memory, which reads it in the next.
    """
    return max(0, main_read_to_write(design) - design.rows // 2)


def _main_cycles(design: RpauDesign, reading: int, drain: int) -> int:
    return DISPATCH_CYCLES + _COMMAND + _STEP + reading - 1 + drain + COMPLETION_CYCLES


def row_cycles(design: RpauDesign) -> int:
    """Cycles that a row takes pointwise: as many as a core's multiplier has lanes."""
    return 2 // design.core_multipliers


def _walk(design: RpauDesign) -> int:
    return design.rows * row_cycles(design)


def zero_cycles(design: RpauDesign) -> int:
    """Latency of what occupies no unit."""
    del design
    return 0


def ntt_cycles(design: RpauDesign) -> int:
    """Latency of ``ntt`` and ``intt``: log2 N stages of N/(2*cores) cycles, one pipeline."""
    steps = design.log_n * design.rows + (design.log_n - 1) * stage_gap(design)
    reading = twiddle_lead(design) + steps
    return _main_cycles(design, reading, main_read_to_write(design))


def pointwise_cycles(design: RpauDesign) -> int:
    """Latency of the pointwise instructions of the main unit: a row every ``row_cycles``."""
    return _main_cycles(design, _walk(design), main_read_to_write(design))


def sum_cycles(design: RpauDesign) -> int:
    """Latency of ``add`` and ``sub``: a row a cycle; past the multipliers, where a core has one."""
    passed = 0 if row_cycles(design) == 1 else _OPERAND + mod_mul_cycles(design)
    return _main_cycles(design, design.rows, main_read_to_write(design) - passed)


def split_cycles(design: RpauDesign) -> int:
    """Latency of ``split`` and ``join``: half a row of both a cycle, written row by row."""
    return _main_cycles(design, 2 * design.rows, main_read_to_write(design) + _PAIR)


def automorph_cycles(design: RpauDesign) -> int:
    """Latency of ``automorph``: that of all pointwise instructions."""
    return pointwise_cycles(design)


def broadcast_cycles(design: RpauDesign) -> int:
    """Latency of ``broadcast``, the same for every source: up to the RPAU reached last."""
    to_link = main_read_to_write(design) - _ARRANGE
    way = interconnect_cycles(design)
    received = _receive_to_write(design) + row_cycles(design) - 1
    return _main_cycles(design, _walk(design), to_link + way + received)


def send_cycles(design: RpauDesign) -> int:
    """Latency of ``send``, the same for every source: a row a cycle, to the RPAU reached last."""
    way = interconnect_cycles(design)
    return _main_cycles(design, design.rows, MEMORY_READ_CYCLES + way)


def interconnect_cycles(design: RpauDesign) -> int:
    """From the RPAU that sends to the RPAU that is reached last, shortened there if it is narrow.

    Those with wide words wait as long, so that a transfer ends everywhere at once.
    """
    shortened = MOD_SHORTEN_LATENCY if design.narrow_rpaus else 0
    return interconnect_hops(design) * design.hop_cycles + shortened


def interconnect_hops(design: RpauDesign) -> int:
    """Hops from the RPAU that sends to the RPAU that is reached last."""
    return _GATHER_HOPS if design.interconnect == "gather" else design.rpaus - 1


def expander_cycles(design: RpauDesign) -> int:
    """From the start of the key expander to its first residues (``rtl/prng``)."""
    return 2 + expander_pause(design) + 1


def expander_pause(design: RpauDesign) -> int:
    """Cycles without residues between two blocks: a loading and the warm-up of every stream."""
    steps = max(1, design.dyadic_cores // _STREAMS)
    return (1 + _WARM_UP_STEPS // steps) * max(1, _STREAMS // design.dyadic_cores)


def dyadic_seed_cycles(design: RpauDesign) -> int:
    """Latency of the dyadic instructions that expand a seed: rows wait for each block's residues.

    The expander starts as the command arrives; a row's words reach the multipliers' registers
    after the counters, the row address and the memory.
    """
    lead = 1 + expander_cycles(design) - (_COMMAND + 1 + _STEP + MEMORY_READ_CYCLES)
    pauses = max(0, (design.n >> LOG_SEEDED_BLOCK) - 1)
    return dyadic_cycles(design) + lead + pauses * expander_pause(design)


def convert_cycles(design: RpauDesign) -> int:
    """Latency of ``convert`` and ``convert_own``: a coefficient a converter every ``rpaus`` cycles.

    The words of the last RPAU have the longest way to the converters and back. All others wait as
    long: its word is the last input, and the last output is for it.
    """
    hops = 1 + (design.rpaus - 1) * design.hop_cycles
    way = MEMORY_READ_CYCLES + hops + converter_of(design).latency(design.rpaus) + hops
    steps = (design.n // design.converters - 1) * design.rpaus
    return _main_cycles(design, steps + 1, way + _ROW)


def permute_cycles(design: RpauDesign) -> int:
    """Latency of ``permute``: a word a cycle."""
    return _main_cycles(design, design.n, MEMORY_READ_CYCLES + _SIGN + _ROW)


def dyadic_cycles(design: RpauDesign) -> int:
    """Latency of the dyadic instructions: ``dyadic_cores`` words a cycle, at least one."""
    words = MEMORY_READ_CYCLES + 2 * _SERIAL + mod_mul_cycles(design) + MOD_ADDSUB_LATENCY
    return _main_cycles(design, design.n // design.dyadic_cores, words)


def host_words(design: RpauDesign) -> int:
    """Words at the host's port: a row of a memory, or a part of a longer one."""
    return min(design.lanes, HOST_BEAT_WORDS)


def host_read_cycles(design: RpauDesign) -> int:
    """From the request of a row at the host's port to its words there, whichever RPAU has it.

    A request passes a register for each RPAU, and so does the answer (``rs_rpau_chain``).
    """
    return 2 * design.rpaus + 2 * _HOST + MEMORY_READ_CYCLES


INSTRUCTION_CYCLES: Mapping[str, Callable[[RpauDesign], int]] = MappingProxyType(
    {
        "zero_cycles": zero_cycles,
        "ntt_cycles": ntt_cycles,
        "automorph_cycles": automorph_cycles,
        "broadcast_cycles": broadcast_cycles,
        "pointwise_cycles": pointwise_cycles,
        "sum_cycles": sum_cycles,
        "send_cycles": send_cycles,
        "split_cycles": split_cycles,
        "dyadic_cycles": dyadic_cycles,
        "dyadic_seed_cycles": dyadic_seed_cycles,
        "convert_cycles": convert_cycles,
        "permute_cycles": permute_cycles,
    }
)
"""The name of a latency in ``isa.yaml`` -> cycles in a ring of a design."""


def arrival_cycles(design: RpauDesign) -> int:
    """From the last row of a key polynomial at the host's port to the issue of its ``await``."""
    return design.rpaus + _COUNT_CYCLES
