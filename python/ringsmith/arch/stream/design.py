"""Design points of the stream architecture: parameters, their legal values, and why."""

from dataclasses import dataclass

from ringsmith.arch.stream import generator
from ringsmith.arch.stream.latency import generator_loop, log_ring
from ringsmith.errors import ParameterError

LANES = (2, 4, 8, 16)


@dataclass(frozen=True)
class StreamDesign:
    """A checked design point.

    Attributes:
        name: What the design is called in reports and caches.
        log_n: log2 of the ring degree N.
        lanes: Words of each polynomial a cycle, w in the RPM paper.
        word_bits: Width of a residue word; every prime has at most this many bits.
    """

    name: str
    log_n: int
    lanes: int
    word_bits: int

    def __post_init__(self) -> None:
        if not 8 <= self.log_n <= 15:
            raise ParameterError(f"log_n = {self.log_n} is outside 8 … 15: choose a degree in it")
        if self.lanes not in LANES:
            raise ParameterError(f"lanes = {self.lanes} is none of {LANES}: choose one")
        least = max(16, self.log_n + 3)
        if not least <= self.word_bits <= 60:
            raise ParameterError(
                f"word_bits = {self.word_bits} is outside {least} … 60 at N = {self.n}: words must "
                "hold a prime that is 1 modulo 2N, and multipliers have at most 60 bits"
            )
        least = max(64, 2 << log_ring(self.log_n, self.word_bits))
        if self.period < least:
            raise ParameterError(
                f"N / lanes = {self.period} is below {least}: a frame must have 64 cycles, and "
                "twice the twiddle generator's ring, which covers a pipeline of "
                f"{generator_loop(self.log_n, self.word_bits)} cycles; take fewer lanes or a "
                "larger N"
            )

    @property
    def n(self) -> int:
        """Ring degree N."""
        return 1 << self.log_n

    @property
    def log_lanes(self) -> int:
        """log2 of the lanes."""
        return self.lanes.bit_length() - 1

    @property
    def period(self) -> int:
        """Cycles of a frame, and between the beginnings of two products: N / lanes."""
        return self.n // self.lanes

    @property
    def slots(self) -> int:
        """Frames whose factors the generator has under way: the fewest that let none wait."""
        return generator.slots(self.log_n, self.log_lanes, self.word_bits)
