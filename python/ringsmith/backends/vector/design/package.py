"""What Python uses of ``rs_vector_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

from typing import NamedTuple

from ringsmith.hdl.packages import arith, mem
from ringsmith.hdl.record import Field, Record

VECTOR_BARRETT = 0
VECTOR_MONTGOMERY = 1
BANK_BLOCK = 0
BANK_ULTRA = 1
MEMORY_ROW_BITS = 29
LIST_BITS = 512
SLOT_BYTES = 256
SLOT_BEATS = 4
INSTRUCTION_BEATS = 3
LOG_LISTED = 5
LOG_LIST_BEATS = 4
FAULT_MALFORMED = 3


class VectorCfg(NamedTuple):
    """What functions read of a ``vector_cfg_t``."""

    width: int
    reduction: int
    step_bits: int
    log_lanes: int
    log_radix: int
    ports: int
    port_bits: int


def vector_cfg(
    *,
    width: int,
    reduction: int,
    step_bits: int,
    log_lanes: int,
    log_radix: int,
    banks: int,
    bank_rows: int,
    table_rows: int,
    stream_rows: int,
    bank_ram: int,
    clusters: int,
    ports: int,
    port_bits: int,
    span_bits: int,
    burst_beats: int,
    outstanding: int,
    addr_width: int,
) -> Record:
    """A ``vector_cfg_t``, as the value of a parameter."""
    return Record(
        (
            Field("Width", 32, width),
            Field("Reduction", 32, reduction),
            Field("StepBits", 32, step_bits),
            Field("LogLanes", 32, log_lanes),
            Field("LogRadix", 32, log_radix),
            Field("Banks", 32, banks),
            Field("BankRows", 32, bank_rows),
            Field("TableRows", 32, table_rows),
            Field("StreamRows", 32, stream_rows),
            Field("BankRam", 32, bank_ram),
            Field("Clusters", 32, clusters),
            Field("Ports", 32, ports),
            Field("PortBits", 32, port_bits),
            Field("SpanBits", 32, span_bits),
            Field("BurstBeats", 32, burst_beats),
            Field("Outstanding", 32, outstanding),
            Field("AddrWidth", 32, addr_width),
        )
    )


def product_two_steps(cfg: VectorCfg) -> bool:
    """Montgomery's reduction in two steps, where words are that short."""
    return cfg.reduction == VECTOR_MONTGOMERY and arith.fits_two_steps(cfg.width, cfg.step_bits)


def product_latency(cfg: VectorCfg) -> int:
    if product_two_steps(cfg):
        return arith.mod_mul_two_steps_latency()
    if cfg.reduction == VECTOR_MONTGOMERY:
        return arith.mod_mul_montgomery_latency(cfg.width, cfg.step_bits)
    return arith.mod_mul_barrett_latency()


def factor_time() -> int:
    """From the words of an ALU to its factor: sum or difference, and its correction."""
    return 2


def combine_time(cfg: VectorCfg) -> int:
    """From the words of an ALU to the sums behind its multiplier."""
    return factor_time() + product_latency(cfg)


def alu_latency(cfg: VectorCfg) -> int:
    return combine_time(cfg) + 2


def stage_factor_time() -> int:
    """From the words of a stage to its factors, which a register passes on to the ALUs."""
    return factor_time() - 1


def transform_latency(cfg: VectorCfg) -> int:
    """Stage after stage for a transform, one for a point operation, and a register that selects."""
    return cfg.log_radix * alu_latency(cfg) + 1


def point_latency(cfg: VectorCfg) -> int:
    return alu_latency(cfg) + 1


def exchange_time(bit_index: int) -> int:
    """When a row is at the switch of an exchange's bit, and at those of the affine map."""
    return (1 << bit_index) + bit_index


def affine_time(log_radix: int) -> int:
    return exchange_time(log_radix)


def permute_latency(log_lanes: int, log_radix: int) -> int:
    return affine_time(log_radix) + log_lanes // 2 + 1


def array_z_time(cfg: VectorCfg, stage: int) -> int:
    return permute_latency(cfg.log_lanes, cfg.log_radix) + stage * alu_latency(cfg)


def array_y_time(cfg: VectorCfg, stage: int) -> int:
    return array_z_time(cfg, stage) + stage_factor_time()


def array_transform_latency(cfg: VectorCfg) -> int:
    return permute_latency(cfg.log_lanes, cfg.log_radix) + transform_latency(cfg)


def array_point_latency(cfg: VectorCfg, stage: int) -> int:
    return array_z_time(cfg, stage) + point_latency(cfg)


def array_turn(cfg: VectorCfg) -> int:
    """Least number of cycles from rows of a transform in one direction to rows of a transform in
    the other one; 1 is a row in each cycle.
    """
    return (cfg.log_radix - 1) * alu_latency(cfg) + 1


def core_read_latency() -> int:
    """Banks, and a register behind the selection of operands, before X enters the array."""
    return 1 + mem.RAM_LATENCY + 1


def core_point_latency(cfg: VectorCfg, stage: int) -> int:
    """Cycles from the read of X to the write of banks, one register after the results."""
    return core_read_latency() + array_point_latency(cfg, stage)


def core_transform_latency(cfg: VectorCfg) -> int:
    return core_read_latency() + array_transform_latency(cfg)


def stored_bits(width: int) -> int:
    """A word in memory takes 32 bits, or 64."""
    return 32 if width <= 32 else 64


def row_cycles(cfg: VectorCfg) -> int:
    """Beats of a row at each of its cluster's ports, a power of two."""
    return (stored_bits(cfg.width) << cfg.log_lanes) // (cfg.ports * cfg.port_bits)
