"""Cycles of the stream architecture's blocks, built as the RTL is: rs_arith_pkg and rs_stream_pkg.

A latency counts from the cycle in which a word stands at a block's input to the one in which its
result stands at the output. Stage s of a transform has butterflies between words whose indices
differ in bit log_n - 1 - s. ``tests/backends/stream`` holds these functions against the RTL.
"""

from ringsmith.hdl.latencies import (
    MOD_ADDSUB_LATENCY,
    MOD_MUL_LATENCY,
    RAM_LATENCY,
    montgomery_cycles,
)

MONTGOMERY = "montgomery"
BARRETT = "barrett"
MULTIPLIERS = (MONTGOMERY, BARRETT)
"""Of rs_stream_mul, each at its number."""


def mul_cycles(log_n: int, word_bits: int, multiplier: str) -> int:
    """Latency of a modular multiplication."""
    if multiplier == BARRETT:
        return MOD_MUL_LATENCY[BARRETT]
    return montgomery_cycles(log_n, word_bits)


def butterfly_cycles(log_n: int, word_bits: int, multiplier: str) -> int:
    """Latency of a butterfly, of either transform."""
    return mul_cycles(log_n, word_bits, multiplier) + MOD_ADDSUB_LATENCY


def exchange_distance(log_n: int, log_lanes: int, stage: int) -> int:
    """Cycles between the words that a stage exchanges between two lanes; 0: it exchanges none."""
    return 0 if stage < log_lanes else 1 << (log_n - 1 - stage)


def exchange_cycles(log_n: int, log_lanes: int, stage: int) -> int:
    """Latency of a stage's exchange."""
    distance = exchange_distance(log_n, log_lanes, stage)
    return distance + 1 if distance else 0


def arrange_cycles(log_n: int, log_lanes: int, stage: int) -> int:
    """What precedes a forward butterfly: the exchange, or the twiddle memory."""
    return exchange_cycles(log_n, log_lanes, stage) or RAM_LATENCY


def forward_offset(log_n: int, log_lanes: int, word_bits: int, multiplier: str, stage: int) -> int:
    """From a frame's first cycle at the forward transform to that at a stage; log_n: to the end."""
    arranging = sum(arrange_cycles(log_n, log_lanes, s) for s in range(stage))
    return arranging + stage * butterfly_cycles(log_n, word_bits, multiplier)


def inverse_offset(
    log_n: int, log_lanes: int, word_bits: int, multiplier: str, stages_before: int
) -> int:
    """The same for the inverse transform, which begins with stage log_n - 1."""
    last = range(log_n - 1, log_n - 1 - stages_before, -1)
    exchanging = sum(exchange_cycles(log_n, log_lanes, s) for s in last)
    return exchanging + stages_before * butterfly_cycles(log_n, word_bits, multiplier)


def product_cycles(log_n: int, word_bits: int, multiplier: str) -> int:
    """Between the transforms: a register, the product, and its product with the scale."""
    return 1 + 2 * mul_cycles(log_n, word_bits, multiplier)


def core_cycles(log_n: int, log_lanes: int, word_bits: int, multiplier: str) -> int:
    """From a frame's first cycle to the first cycle of its product."""
    return (
        forward_offset(log_n, log_lanes, word_bits, multiplier, log_n)
        + product_cycles(log_n, word_bits, multiplier)
        + inverse_offset(log_n, log_lanes, word_bits, multiplier, log_n)
    )


INPUT_CYCLES = RAM_LATENCY + 1
"""From the launch of a frame to its first cycle at the core: memory and a register."""

OUTPUT_WORDS = 8
"""Words that may wait for the receiver of the products."""


def output_frames(log_n: int, log_lanes: int, word_bits: int, multiplier: str) -> int:
    """Frames that fit into the output buffer: each has a slot from its launch to its last word."""
    period = 1 << (log_n - log_lanes)
    busy = (
        INPUT_CYCLES
        + core_cycles(log_n, log_lanes, word_bits, multiplier)
        + 2 * period
        + OUTPUT_WORDS
    )
    return -(-busy // period)


def factor_cycles(
    log_n: int,
    log_lanes: int,
    word_bits: int,
    multiplier: str,
    stage: int,
    *,
    inverse: bool,
) -> int:
    """From a frame's first cycle to the first read of its factors at a stage."""
    if inverse:
        return (
            forward_offset(log_n, log_lanes, word_bits, multiplier, log_n)
            + product_cycles(log_n, word_bits, multiplier)
            + inverse_offset(log_n, log_lanes, word_bits, multiplier, log_n - 1 - stage)
        )
    before = forward_offset(log_n, log_lanes, word_bits, multiplier, stage)
    return before + arrange_cycles(log_n, log_lanes, stage) - RAM_LATENCY


def generator_loop(log_n: int, word_bits: int, multiplier: str) -> int:
    """From the grant of a group of factors to the first grant that can use it."""
    return mul_cycles(log_n, word_bits, multiplier) + 4


def log_ring(log_n: int, word_bits: int, multiplier: str) -> int:
    """log2 of the groups that the generator's main part looks back."""
    return (generator_loop(log_n, word_bits, multiplier) - 1).bit_length()
