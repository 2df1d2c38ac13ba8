"""Design points of the stream architecture: parameters, their legal values, and why."""

from dataclasses import dataclass
from typing import ClassVar

from ringsmith import design_files
from ringsmith.backends.stream.design import generator, package
from ringsmith.design_files import check_name
from ringsmith.errors import ParameterError
from ringsmith.params import ParameterLimits
from ringsmith.platforms import NO_PLATFORM, load_platform

LANES = (2, 4, 8, 16)

MONTGOMERY, BARRETT = "montgomery", "barrett"
MULTIPLIERS = {
    MONTGOMERY: package.MULTIPLIER_MONTGOMERY,
    BARRETT: package.MULTIPLIER_BARRETT,
}
"""What multiplies -> its number in ``rs_stream_pkg``."""

_MOST_BITS = {MONTGOMERY: 62, BARRETT: 60}


ARCHITECTURE = "stream"
"""What files of these designs say."""
ASSUMED_MHZ = 200.0
"""The clock that is assumed, where the card is not slower."""


@dataclass(frozen=True)
class StreamDesign:
    """A checked design point.

    Attributes:
        name: What the design is called in reports and caches.
        log_n: log2 of the ring degree N.
        lanes: Words of each polynomial a cycle, w in the RPM paper.
        word_bits: Width of a residue word; every prime has at most this many bits, and with
            Barrett's multiplier exactly this many.
        multiplier: ``montgomery``, or ``barrett`` with a reciprocal as in NFLlib, which the RPM
            paper takes.
        platform: The card that it is built for, by its name or the path of its file: its part and
            clock are in scripts and constraints; ``none``: none is named.
    """

    architecture: ClassVar[str] = ARCHITECTURE

    name: str
    log_n: int
    lanes: int
    word_bits: int
    multiplier: str = MONTGOMERY
    platform: str = NO_PLATFORM

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.platform != NO_PLATFORM:
            load_platform(self.platform)
        if not 8 <= self.log_n <= 15:
            raise ParameterError(f"log_n = {self.log_n} is outside 8 … 15: choose a degree in it")
        if self.lanes not in LANES:
            raise ParameterError(f"lanes = {self.lanes} is not one of {LANES}: choose one")
        if self.multiplier not in MULTIPLIERS:
            raise ParameterError(
                f"multiplier = {self.multiplier!r} is not one of {tuple(MULTIPLIERS)}: choose one"
            )
        least, most = max(16, self.log_n + 3), _MOST_BITS[self.multiplier]
        if not least <= self.word_bits <= most:
            raise ParameterError(
                f"word_bits = {self.word_bits} is outside {least} … {most} at N = {self.n}: words "
                f"must hold a prime that is 1 modulo 2N, and {self.multiplier} multipliers have at "
                f"most {most} bits"
            )
        least = max(64, 2 << package.log_ring(self.cfg))
        if self.period < least:
            loop = package.generator_loop(self.cfg)
            raise ParameterError(
                f"N / lanes = {self.period} is below {least}: a frame must have 64 cycles, and "
                "twice the twiddle generator's ring, which covers a pipeline of "
                f"{loop} cycles; take fewer lanes or a larger N"
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
    def cfg(self) -> package.StreamCfg:
        """What latencies depend on."""
        number = MULTIPLIERS[self.multiplier]
        return package.StreamCfg(self.log_n, self.log_lanes, self.word_bits, number)

    @property
    def period(self) -> int:
        """Cycles of a frame, and between the starts of two products: N / lanes."""
        return self.n // self.lanes

    @property
    def slots(self) -> int:
        """Frames whose factors are generated at once: the fewest with which none waits."""
        return generator.slots(self.cfg)

    def exchange_distance(self, stage: int) -> int:
        """Cycles between words that a stage exchanges between two lanes; 0: it exchanges none."""
        return 0 if stage < self.log_lanes else 1 << package.log_distance(self.log_n, stage)


def named_stream_designs() -> list[str]:
    """Names of the stream designs that come with Ringsmith."""
    return design_files.named(ARCHITECTURE)


def load_stream_design(name: str) -> StreamDesign:
    """Loads a stream design by its name, or the path of its TOML file.

    Raises:
        ParameterError: If there is no such design, or it is of another architecture.
    """
    return design_files.load(name, ARCHITECTURE, StreamDesign)


# ---- What HE parameters a design of the stream architecture takes --------------------------------


BFV_MULTIPLICATIONS = ("hps",)
"""The extension primes of ``behz`` have 61 bits, more than a design's words."""


def parameter_limits(design: StreamDesign) -> ParameterLimits:
    """Returns the ring and primes of a design; the host does everything but its products."""
    barrett = design.multiplier == BARRETT
    return ParameterLimits(
        design=design.name,
        min_n=design.n,
        max_n=design.n,
        min_prime_bits=design.word_bits if barrett else 2,
        max_prime_bits=design.word_bits,
        bfv_multiplications=BFV_MULTIPLICATIONS,
    )
