"""Resources and bandwidth of a stream design, block for block as the RTL is built.

DSPs and block RAMs are counted; LUTs and flip-flops are in proportion to the multipliers of devices
that were synthesized (``debug/area.py``). DSP slices are those of the 7 series, the RPM paper's,
where nothing else is said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.backends.stream.design import package
from ringsmith.backends.stream.design.design import BARRETT, StreamDesign
from ringsmith.errors import ParameterError
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, montgomery_dsps
from ringsmith.hdl.synthesis import block_rams

_BLOCK_FROM = 256
"""Words from which on delays, and beyond which factors, are in block RAM."""

_FABRIC = ((30, 685, 665), (51, 1558, 1655))
"""Width of a word, and LUTs and flip-flops for each modular multiplier of a whole device: in the
middle of those that docs/results/rpm.md and docs/results/estimates.md have of devices of that
width."""

TRANSFORMS = 3
"""Forward transforms of both operands, and the inverse one."""


@dataclass(frozen=True)
class Memories:
    """Block RAMs of 36 Kbit by what they hold.

    Attributes:
        exchanges: Words that wait in the transforms for their partners.
        factors: Banks of twiddle factors.
        inputs: Frames of both operands.
        output: Frames of products.
    """

    exchanges: float
    factors: float
    inputs: float
    output: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.exchanges + self.factors + self.inputs + self.output


def multipliers(design: StreamDesign) -> int:
    """Modular multipliers: a butterfly each, the generator's, the two products between transforms.

    With merged roots; the RPM paper's data path (:func:`weighing_multipliers`) has others.
    """
    butterflies = TRANSFORMS * design.log_n * design.lanes // 2
    return butterflies + 3 * design.lanes


def weighing_multipliers(design: StreamDesign) -> int:
    """Modular multipliers of the paper's data path, which weighs operands and product.

    Its transforms have no factor in their first stage; a lane has two weights before, one behind,
    the product, the generator's, and the scaling of the inverse weights.
    """
    butterflies = TRANSFORMS * (design.log_n - 1) * design.lanes // 2
    return butterflies + 6 * design.lanes


def multiplier_dsps(design: StreamDesign, slices: DspSlice = DspSlice.DSP48E1) -> int:
    """DSP slices of a modular multiplier."""
    if design.multiplier == BARRETT:
        return barrett_dsps(design.word_bits, slices)
    return montgomery_dsps(design.log_n, design.word_bits, slices)


def dsps(design: StreamDesign, slices: DspSlice = DspSlice.DSP48E1) -> int:
    """DSP slices."""
    return multipliers(design) * multiplier_dsps(design, slices)


def fabric(design: StreamDesign) -> tuple[int, int]:
    """LUTs and flip-flops, an estimate; ``tests/backends/test_estimates.py`` has its error."""
    (low, *first), (high, *second) = _FABRIC
    share, count = (design.word_bits - low) / (high - low), multipliers(design)
    luts, registers = (
        round(count * max(1.0, a + share * (b - a))) for a, b in zip(first, second, strict=True)
    )
    return luts, registers


def banks(design: StreamDesign, stage: int, *, inverse: bool) -> int:
    """Banks of a stage's factors.

    The generator begins frame f + slots when frame f has started to flow, or later, and frames are
    at least a period apart: this many banks keep every frame's factors until their last read.
    """
    read = package.factor_cycles(design.cfg, stage, inverse)
    return design.slots + 1 + -(-read // design.period)


def _factor_depths(design: StreamDesign) -> Iterator[int]:
    """Words of the twiddle memory of a butterfly, for each stage of the two kinds of transform."""
    for inverse in (False, True):
        for stage in range(design.log_n):
            time_bits = stage - min(design.log_lanes - 1, stage)
            yield banks(design, stage, inverse=inverse) << time_bits


def memories(design: StreamDesign) -> Memories:
    """Block RAMs; smaller memories are in LUTs."""
    width, lanes = design.word_bits, design.lanes
    distances = [design.exchange_distance(stage) for stage in range(design.log_n)]
    delays = [distance for distance in distances if distance >= _BLOCK_FROM]
    depths = [depth for depth in _factor_depths(design) if depth > _BLOCK_FROM]
    frames = package.output_frames(design.cfg)
    return Memories(
        exchanges=TRANSFORMS * lanes * sum(block_rams(width, depth) for depth in delays),
        factors=lanes // 2 * sum(block_rams(width, depth) for depth in depths),
        inputs=2 * lanes * block_rams(width, 2 * design.period),
        output=lanes * block_rams(width, frames * design.period),
    )


def descriptor_bytes(design: StreamDesign, primes: int) -> float:
    """Bytes from which the factors of this many primes are made: k descriptors.

    The RPM paper's table 6 counts w words of a prime; ours are q, unit, scale and w powers.

    Raises:
        ParameterError: Without a prime.
    """
    if primes < 1:
        raise ParameterError(f"{primes} primes: give at least one")
    return primes * (3 + design.lanes) * design.word_bits / 8


def gigabytes_per_second(design: StreamDesign, megahertz: float) -> tuple[float, float]:
    """What enters and leaves at full speed: operands with their descriptors, and products."""
    word = design.word_bits / 8 * megahertz * 1e6 / 1e9
    descriptors = (3 + design.lanes) / design.period
    return word * (2 * design.lanes + descriptors), word * design.lanes


def latency_cycles(design: StreamDesign) -> int:
    """From a product's first words to its own first words, where nothing pauses."""
    return package.core_cycles(design.cfg)


def products_per_millisecond(design: StreamDesign, megahertz: float) -> float:
    """Residue polynomial products, one every period."""
    return megahertz * 1e3 / design.period
