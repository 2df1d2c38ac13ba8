"""Cycles of every instruction of an RPAU design.

Each latency is built from the latencies of the blocks that the data pass through, which the RTL's
packages have: ``package.py`` and :mod:`ringsmith.hdl.packages` are translations of those. The tests
measure every instruction on the RTL against this module.

A latency counts from the cycle in which the controller issues an instruction to the first one in
which it can issue another to the same unit; by then every result lies in memory. A whole program
takes as many cycles as lie between the cycle that accepts the start command (cycle 0) and the one
in which ``halt`` issues: then every result lies in memory.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ringsmith.backends.rpau.design import package
from ringsmith.backends.rpau.design.conversions import converter_of
from ringsmith.backends.rpau.design.design import LOG_SEEDED_BLOCK, RpauDesign
from ringsmith.backends.rpau.design.register_table import CAPABILITIES
from ringsmith.hdl.packages import arith, ntt, prng

FETCH_CYCLES = 4
"""From one issue to the earliest next one: address, two cycles of program store, decoding."""

DISPATCH_CYCLES = 3
"""Registers between the controller and a unit: its own, the RPAU's, the unit's."""

COMPLETION_CYCLES = 2
"""From a unit's last write to the cycle in which the controller sees the unit idle."""

# Registers of one cycle each.
_COMMAND = 1  # a unit's own copy of its command, and its counters
_STEP = 1  # row addresses out of a unit's counters
_PAIR = 1  # the second of two rows that are ready at once waits to be written
_SIGN = 2  # a permuted word, and itself or its negative
_ROW = 1  # the coefficient unit's row of results
_SERIAL = 1  # the dyadic unit's row register, in front of the multipliers and behind them


_CHOICES = {each.name: each.values for each in CAPABILITIES}


def _number(design: RpauDesign, name: str) -> int:
    """A parameter's number in the RTL's record."""
    value, choices = getattr(design, name), _CHOICES[name]
    return choices.index(value) if choices else int(value)


def _reduction(design: RpauDesign) -> int:
    return _number(design, "reduction")


def main_read_to_write(design: RpauDesign) -> int:
    """From a row's address at the work memory to its result at the write port, in the main unit.

    The address is an inverse butterfly's; that of all else comes a little later.
    """
    return ntt.read_to_write(_reduction(design))


def stage_gap(design: RpauDesign) -> int:
    """Idle cycles between two stages of an NTT; 0 where half a stage covers the pipeline."""
    return ntt.stage_gap(_reduction(design), design.rows)


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
    lead = ntt.twiddle_lead(_number(design, "twiddles"), _reduction(design))
    reading = lead + steps
    return _main_cycles(design, reading, main_read_to_write(design))


def pointwise_cycles(design: RpauDesign) -> int:
    """Latency of the pointwise instructions of the main unit: a row every ``row_cycles``."""
    return _main_cycles(design, _walk(design), main_read_to_write(design))


def sum_cycles(design: RpauDesign) -> int:
    """Latency of ``add`` and ``sub``: a row a cycle; past the multipliers, where a core has one."""
    if row_cycles(design) == 1:
        return _main_cycles(design, design.rows, main_read_to_write(design))
    return _main_cycles(design, design.rows, package.sum_read_to_write(_reduction(design)))


def split_cycles(design: RpauDesign) -> int:
    """Latency of ``split`` and ``join``: half a row of both a cycle, written row by row."""
    return _main_cycles(design, 2 * design.rows, main_read_to_write(design) + _PAIR)


def automorph_cycles(design: RpauDesign) -> int:
    """Latency of ``automorph``: that of all pointwise instructions."""
    return pointwise_cycles(design)


def broadcast_cycles(design: RpauDesign) -> int:
    """Latency of ``broadcast``, the same for every source: up to the RPAU reached last."""
    way = interconnect_cycles(design)
    drain = package.broadcast_read_to_write(_reduction(design), way) + row_cycles(design) - 1
    return _main_cycles(design, _walk(design), drain)


def send_cycles(design: RpauDesign) -> int:
    """Latency of ``send``, the same for every source: a row a cycle, to the RPAU reached last."""
    way = interconnect_cycles(design)
    return _main_cycles(design, design.rows, ntt.memory_read_latency() + way)


def interconnect_cycles(design: RpauDesign) -> int:
    """From the RPAU that sends to the RPAU that is reached last, shortened there if it is narrow.

    Those with wide words wait as long, so that a transfer ends everywhere at once.
    """
    cfg = package.RpauCfg(**{name: _number(design, name) for name in package.RpauCfg._fields})
    return package.interconnect_latency(cfg)


def dyadic_seed_cycles(design: RpauDesign) -> int:
    """Latency of the dyadic instructions that expand a seed: rows wait for its residues."""
    lead = package.seed_lead(design.dyadic_cores)
    pauses = max(0, (design.n >> LOG_SEEDED_BLOCK) - 1)
    return dyadic_cycles(design) + lead + pauses * prng.expander_pause(design.dyadic_cores)


def convert_cycles(design: RpauDesign) -> int:
    """Latency of ``convert`` and ``convert_own``: a coefficient a converter every ``rpaus`` cycles.

    The words of the last RPAU have the longest way to the converters and back. All others wait as
    long: its word is the last input, and the last output is for it.
    """
    hops = 1 + (design.rpaus - 1) * design.hop_cycles
    way = ntt.memory_read_latency() + hops + converter_of(design).latency(design.rpaus) + hops
    steps = (design.n // design.converters - 1) * design.rpaus
    return _main_cycles(design, steps + 1, way + _ROW)


def permute_cycles(design: RpauDesign) -> int:
    """Latency of ``permute``: a word a cycle."""
    return _main_cycles(design, design.n, ntt.memory_read_latency() + _SIGN + _ROW)


def dyadic_cycles(design: RpauDesign) -> int:
    """Latency of the dyadic instructions: ``dyadic_cores`` words a cycle, at least one."""
    words = ntt.memory_read_latency() + 2 * _SERIAL
    words += arith.mod_mul_latency(_reduction(design)) + arith.mod_addsub_latency()
    return _main_cycles(design, design.n // design.dyadic_cores, words)


def host_words(design: RpauDesign) -> int:
    """Words at the host's port: a row of a memory, or a part of a longer one."""
    return package.host_words(design.lanes)


def host_read_cycles(design: RpauDesign) -> int:
    """From the request of a row at the host's port to its words there, whichever RPAU has it."""
    return package.host_read_latency(design.rpaus)


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
    return package.arrival_latency(design.rpaus)
