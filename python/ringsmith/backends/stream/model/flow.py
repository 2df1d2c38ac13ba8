"""What flows through the pipeline, frame by frame: its layouts and factors, stage by stage.

A frame is an array (period, lanes): a row a cycle. This is the definition that the RTL follows, in
integers and without cycles; ``rs_stream_pkg`` has those.
"""

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.stream.design.design import BARRETT, StreamDesign
from ringsmith.backends.stream.isa.descriptor import Descriptor

Words = NDArray[np.uint64]
Integers = NDArray[np.object_]


def to_frame(design: StreamDesign, words: Words) -> Words:
    """A polynomial as it enters: word l * period + t in lane l of cycle t."""
    return words.reshape(design.lanes, design.period).T


def from_frame(frame: Words) -> Words:
    """The polynomial of a frame as it leaves."""
    return np.ascontiguousarray(frame.T).reshape(-1)


def _reversed(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2) if bits else 0


def pairs(design: StreamDesign, stage: int) -> list[tuple[int, int]]:
    """The lanes of each butterfly of a stage."""
    apart = max(1, design.lanes >> (stage + 1))
    return [
        (first, first + apart)
        for first in range(design.lanes)
        if first // apart % 2 == 0 and first + apart < design.lanes
    ]


def exponents(design: StreamDesign, stage: int, *, inverse: bool) -> NDArray[np.int64]:
    """Exponents of psi, (period, lanes / 2), that the butterflies of a stage multiply by.

    Block b of stage s has (2r + 1) * 2^(log N - 1 - s), r being b with its s bits turned around;
    for the inverse r has its bits inverted, and the factor is -psi^-e of the forward exponent e.
    """
    unit_bits = min(design.log_lanes - 1, stage)
    time_bits = stage - unit_bits
    log_period = design.log_n - design.log_lanes
    result = np.empty((design.period, design.lanes // 2), dtype=np.int64)
    for unit in range(design.lanes // 2):
        upper = unit >> (design.log_lanes - 1 - unit_bits)
        for time in range(design.period):
            block = upper << time_bits | time >> (log_period - time_bits)
            rank = _reversed(block, stage)
            if inverse:
                rank = (1 << stage) - 1 - rank
            result[time, unit] = (2 * rank + 1) << (design.log_n - 1 - stage)
    return result


def exchange(design: StreamDesign, stage: int, frame: Integers) -> Integers:
    """Exchanges the lowest lane bit with the stage's time bit; a second time undoes it."""
    distance = design.exchange_distance(stage)
    if not distance:
        return frame
    bits = frame.reshape(-1, 2, distance, design.lanes // 2, 2)
    return bits.swapaxes(1, 4).reshape(design.period, design.lanes)


def _factors(design: StreamDesign, stage: int, root: int, q: int, *, inverse: bool) -> Integers:
    powers = exponents(design, stage, inverse=inverse)
    return np.array([[pow(root, int(e), q) for e in row] for row in powers], dtype=object)


def forward(design: StreamDesign, frame: Words, root: int, q: int) -> Integers:
    """The negacyclic NTT, results in bit-reversed order and the layout of the last stage."""
    x = frame.astype(object)
    for stage in range(design.log_n):
        x = exchange(design, stage, x)
        factors = _factors(design, stage, root, q, inverse=False)
        first, second = (list(lanes) for lanes in zip(*pairs(design, stage), strict=True))
        u, v = x[:, first], x[:, second] * factors
        x = x.copy()
        x[:, first], x[:, second] = (u + v) % q, (u - v) % q
    return x


def inverse(design: StreamDesign, frame: Integers, root: int, q: int) -> Integers:
    """The stages of :func:`forward` undone, the last one first: N times the polynomial."""
    x = frame
    for stage in reversed(range(design.log_n)):
        factors = _factors(design, stage, root, q, inverse=True)
        first, second = (list(lanes) for lanes in zip(*pairs(design, stage), strict=True))
        u, v = x[:, first], x[:, second]
        x = x.copy()
        x[:, first], x[:, second] = (u + v) % q, (v - u) * factors % q
        x = exchange(design, stage, x)
    return x


def product(design: StreamDesign, words: Descriptor, a: Words, b: Words) -> Words:
    """What a frame of two polynomials, in natural order, becomes."""
    root, q = words.powers[0], words.q
    form = 1 if design.multiplier == BARRETT else words.unit
    scale = words.scale * pow(form, -1, q)
    between = [forward(design, to_frame(design, operand), root, q) for operand in (a, b)]
    scaled = between[0] * between[1] % q * scale % q
    return from_frame(inverse(design, scaled, root, q).astype(np.uint64))
