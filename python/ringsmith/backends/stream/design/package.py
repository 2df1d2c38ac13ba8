"""What Python uses of ``rs_stream_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

from typing import NamedTuple

from ringsmith.hdl.packages import arith, mem
from ringsmith.hdl.record import Field, Record

RESET_CYCLES = 64
MULTIPLIER_MONTGOMERY = 0
MULTIPLIER_BARRETT = 1
OUTPUT_WORDS = 8


class StreamCfg(NamedTuple):
    """What functions read of a ``stream_cfg_t``."""

    log_n: int
    log_lanes: int
    width: int
    multiplier: int


def stream_cfg(*, log_n: int, log_lanes: int, width: int, multiplier: int, slots: int) -> Record:
    """A ``stream_cfg_t``, as the value of a parameter."""
    return Record(
        (
            Field("LogN", 32, log_n),
            Field("LogLanes", 32, log_lanes),
            Field("Width", 32, width),
            Field("Multiplier", 32, multiplier),
            Field("Slots", 32, slots),
        )
    )


def mul_cycles(cfg: StreamCfg) -> int:
    if cfg.multiplier == MULTIPLIER_BARRETT:
        return arith.mod_mul_barrett_latency()
    return arith.mod_mul_montgomery_latency(cfg.width, arith.scale_step_bits(cfg.log_n))


def butterfly_cycles(cfg: StreamCfg) -> int:
    return mul_cycles(cfg) + arith.mod_addsub_latency()


def log_distance(log_n: int, stage: int) -> int:
    """log2 of the distance in cycles of what stage s exchanges between two lanes; s >=
    log_lanes.
    """
    return log_n - 1 - stage


def exchange_cycles(cfg: StreamCfg, stage: int) -> int:
    """Distance and a register; 0 where both words of a butterfly are in lanes anyway."""
    return 0 if stage < cfg.log_lanes else (1 << log_distance(cfg.log_n, stage)) + 1


def arrange_cycles(cfg: StreamCfg, stage: int, inverse: bool) -> int:
    """In front of a forward butterfly: the exchange, or the twiddle memory. Behind an inverse
    one: the exchange, if there is one.
    """
    if stage < cfg.log_lanes and (not inverse):
        return mem.RAM_LATENCY
    return exchange_cycles(cfg, stage)


def forward_offset(cfg: StreamCfg, stage: int) -> int:
    """From a frame's first cycle at the forward transform to its first cycle at stage s; s =
    LogN is the transform's latency.
    """
    sum_ = 0
    for s in range(stage):
        sum_ += arrange_cycles(cfg, s, False) + butterfly_cycles(cfg)
    return sum_


def inverse_offset(cfg: StreamCfg, stages_before: int) -> int:
    """The same for the inverse transform, after that number of its stages: the first is stage
    LogN-1.
    """
    sum_ = 0
    for i in range(stages_before):
        sum_ += butterfly_cycles(cfg) + arrange_cycles(cfg, cfg.log_n - 1 - i, True)
    return sum_


def product_cycles(cfg: StreamCfg) -> int:
    """A register, the product of the two transforms, and its product with the scale."""
    return 1 + 2 * mul_cycles(cfg)


def core_cycles(cfg: StreamCfg) -> int:
    """From a frame's first cycle at rs_stream_core to the first cycle of its product."""
    return forward_offset(cfg, cfg.log_n) + product_cycles(cfg) + inverse_offset(cfg, cfg.log_n)


def input_cycles() -> int:
    """rs_stream_axis: from the launch of a frame to its first cycle at rs_stream_core: memory
    and a register.
    """
    return mem.RAM_LATENCY + 1


def output_frames(cfg: StreamCfg) -> int:
    """Frames for which the output has buffers. A frame has its buffer from its launch until its
    last word was read. With this number, no frame waits while the receiver never pauses.
    """
    period = 1 << cfg.log_n - cfg.log_lanes
    return (input_cycles() + core_cycles(cfg) + 2 * period + OUTPUT_WORDS + period - 1) // period


def factor_cycles(cfg: StreamCfg, stage: int, inverse: bool) -> int:
    """From a frame's first cycle at rs_stream_core to the first read of its factors at a stage."""
    if inverse:
        return (
            forward_offset(cfg, cfg.log_n)
            + product_cycles(cfg)
            + inverse_offset(cfg, cfg.log_n - 1 - stage)
        )
    return forward_offset(cfg, stage) + arrange_cycles(cfg, stage, False) - mem.RAM_LATENCY


def generator_loop(cfg: StreamCfg) -> int:
    """From the grant of a group of factors to the first grant that can use it: ring, operands,
    product, and the update.
    """
    return mul_cycles(cfg) + 4


def log_ring(cfg: StreamCfg) -> int:
    """log2 of the groups that the generator's main part looks back."""
    return (generator_loop(cfg) - 1).bit_length()
