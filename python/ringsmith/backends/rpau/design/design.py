"""Design points of the RPAU architecture: parameters, legal values, and their reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from ringsmith import design_files
from ringsmith.backends.rpau.design.sparse import FAMILIES, fits
from ringsmith.errors import ParameterError
from ringsmith.hdl.sources import ECP5, TARGETS, XILINX
from ringsmith.platforms import NO_PLATFORM, load_platform
from ringsmith.short_repr import short_repr

ARCHITECTURE = "rpau"
"""What files of these designs say."""
ASSUMED_MHZ = 200.0
"""The clock that is assumed, where the card is not slower."""

REDUCTIONS = ("barrett", "sparse", "folded")
INTERCONNECTS = ("ring", "gather")
TWIDDLES = ("generated", "stored")
NO_PRNG = "none"
RAM_STYLES = ("block", "ultra")
MIN_WORD_BITS = 30
MAX_NARROW_BITS = 54
"""Maximum bits of a narrow word: then one DSP slice reduces a received word."""
MAX_HOP_CYCLES = 3
"""Cycles of a hop, at most: an RPAU that sent stays still as long before another one sends."""
MAX_SHORTENED_BITS = 16
"""By how many bits it is shortened, at most: docs/reference/arithmetic.md, "Shorter words"."""
MIN_LOG_DEGREE = 8
MAX_LOG_DEGREE = 16
MAX_CONVERSIONS = 32
"""Loaded conversions that the 5 bits of an instruction's operand can address."""
BUS_WIDTHS = (32, 64, 128, 256, 512)
"""Bits of the bus to the host's memory."""
MAX_COPROCESSORS = 8
MAX_WORK_POLYS = 128
"""Work polynomials that the 7 bits of an instruction's operand can address."""
URAM_WORDS = 4096
"""Words of an UltraRAM: a lane's words of as many polynomials as fit share one."""
READ_PORTS = 3
"""Work polynomials that an instruction reads at once, at most."""
PRNGS = (NO_PRNG, "trivium")
MAX_PRNG_LANES = 16
"""Streams from which a seed-compressed key is expanded: docs/reference/arithmetic.md."""
LOG_SEEDED_BLOCK = 14
"""log2 of the coefficients after which these streams begin anew."""
NO_FAMILY = "none"
FAMILY_NAMES = (NO_FAMILY, *FAMILIES)
MAX_CORES = 32

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "log_n": (MIN_LOG_DEGREE, MAX_LOG_DEGREE),
        "larger_rings": (0, 2),
        "smaller_rings": (0, MAX_LOG_DEGREE - MIN_LOG_DEGREE),
        "word_bits": (MIN_WORD_BITS, 60),
        "rpaus": (2, 16),
        "cores": (1, MAX_CORES),
        "core_multipliers": (1, 2),
        "dyadic_cores": (0, 2 * MAX_CORES),
        "work_polys": (4, MAX_WORK_POLYS),
        "key_polys": (1, 4096),
        "constants": (4, 128),
        "program_words": (16, 65536),
        "modulus_banks": (1, 8),
        "hop_cycles": (1, MAX_HOP_CYCLES),
        "work_uram_polys": (0, MAX_WORK_POLYS),
        "work_block_banks": (0, MAX_WORK_POLYS),
        "seeds": (0, 4096),
        "coprocessors": (1, MAX_COPROCESSORS),
        "narrow_rpaus": (0, 15),
        "narrow_bits": (0, MAX_NARROW_BITS),
        "converters": (0, 2 * MAX_CORES),
        "conversions": (0, MAX_CONVERSIONS),
    }
)
"""The widest range of each number of a design: other fields of a design make some narrower."""


@short_repr
@dataclass(frozen=True)
class RpauDesign:
    """A checked design point.

    Attributes:
        name: The design's name in reports, caches and program files.
        log_n: log2 of the ring degree N that the device is built for.
        word_bits: Width of a residue word; every prime has at most this many bits.
        rpaus: Number of RPAUs.
        cores: Unified butterfly cores per RPAU; a memory row has 2*cores words.
        dyadic_cores: Lanes of the dyadic (multiply-accumulate) unit: none (0: there is no
            dyadic unit) to 2*cores, which is a row a cycle.
        work_polys: Work polynomials per RPAU.
        key_polys: Polynomials in the key store of an RPAU.
        constants: Words in the constant file of an RPAU.
        program_words: Instructions that the program store holds.
        reduction: Modular reduction of the multipliers: ``barrett``, any NTT prime; ``sparse``,
            those of a family; ``folded``, pseudo-Mersenne primes, by
            :mod:`ringsmith.backends.rpau.design.folded`.
        modulus_banks: Modulus banks per RPAU, one for each of its primes. Limb l of a residue
            polynomial is in RPAU l mod ``rpaus`` and uses modulus bank l div ``rpaus``. Each bank
            has its own modulus, twiddle tables and constant file.
        interconnect: The topology for broadcasts: ``ring``, from RPAU to RPAU, or ``gather``,
            through the device's centre in two hops.
        twiddles: ``generated``: products of two small tables' words; ``stored``: a table of N
            words per prime.
        work_uram_polys: How many of the work polynomials, the first ones, are kept in UltraRAM, in
            banks of :attr:`uram_bank_polys`. A bank has one read and one write port. The others are
            kept in block RAM.
        work_block_banks: Banks of those in block RAM, which they share evenly; 0: one for each.
        key_ram: The memory of the key store: ``block`` (BRAM) or ``ultra`` (URAM).
        family: The sparse primes for which ``sparse`` multipliers are elaborated, by their name in
            :data:`ringsmith.backends.rpau.design.sparse.FAMILIES`; ``none`` with others.
        prng: The generator that expands the a parts of seed-compressed keys: ``trivium``
            or ``none``.
        seeds: Entries in the seed store of an RPAU: one for each key and modulus bank; 0 without a
            PRNG.
        link: Whether there is a link unit, which sends polynomials to other RPAUs in parallel to
            the main unit.
        larger_rings: Doublings of N: the device runs rings of degree up to 2^larger_rings * N,
            whose polynomials consist of that many sub-polynomials of N words.
        smaller_rings: Halvings of N: it runs rings of degree down to N / 2^smaller_rings, whose
            polynomials use the first rows of a polynomial's memory.
        target: The FPGA family of multipliers, memories and long delays: ``xilinx`` or ``ecp5``.
            Results and cycles are the same.
        narrow_rpaus: How many RPAUs, the last ones, have words of ``narrow_bits``; 0: none. Words
            from other RPAUs are reduced on arrival.
        narrow_bits: Width of a word in those; 0: there are none.
        hop_cycles: Cycles, and rows of registers, from one RPAU of a ring to the next, or to and
            from the centre of ``gather``. Two for RPAUs on several dies.
        converters: Base converters of the device, which all RPAUs share. They convert as many words
            of a row at once. None (0: there is no coefficient unit) to 2*cores.
        conversions: Conversions that are loaded at once; 0 without a converter.
        core_multipliers: Modular multipliers of a butterfly core. Two: pointwise instructions take
            one cycle per row. One, for stored twiddle factors: two cycles per row.
        host_bits: Width of the bus to the host's memory, one of :data:`BUS_WIDTHS`. Keys arrive on
            it while a program runs and waits for them; 0: they are written before.
        coprocessors: Accelerators of this design behind one link to the host, each with its own
            programs. All other fields describe one of them.
        platform: The card that it is built for, by its name or the path of its file: its part and
            clocks are in scripts and constraints; ``none``: none is named.
    """

    architecture: ClassVar[str] = ARCHITECTURE

    name: str
    log_n: int
    word_bits: int
    rpaus: int
    cores: int
    dyadic_cores: int
    work_polys: int
    key_polys: int
    constants: int
    program_words: int
    reduction: str
    modulus_banks: int = 1
    interconnect: str = "ring"
    twiddles: str = "generated"
    work_uram_polys: int = 0
    work_block_banks: int = 0
    key_ram: str = "ultra"
    family: str = NO_FAMILY
    prng: str = NO_PRNG
    seeds: int = 0
    link: bool = False
    larger_rings: int = 0
    smaller_rings: int = 0
    target: str = XILINX
    narrow_rpaus: int = 0
    narrow_bits: int = 0
    hop_cycles: int = 1
    converters: int = 0
    conversions: int = 0
    core_multipliers: int = 2
    host_bits: int = 0
    coprocessors: int = 1
    platform: str = NO_PLATFORM

    def __post_init__(self) -> None:
        design_files.check_name(self.name)
        _check_range(self, "log_n")
        _check_range(self, "larger_rings", 0, min(2, MAX_LOG_DEGREE - self.log_n))
        _check_range(self, "smaller_rings", 0, self.log_n - MIN_LOG_DEGREE)
        _check_range(self, "word_bits")
        _check_range(self, "rpaus")
        _check_power_of_two(self, "cores", *RANGES["cores"])
        _check_choice(self, "twiddles", TWIDDLES)
        if self.twiddles == "generated" and self.cores > self.twiddle_hi_words:
            raise ParameterError(
                f"design {self.name}: cores = {self.cores} at N = {self.n} is more than "
                f"{self.twiddle_hi_words}, the words of the upper twiddle table: take "
                "fewer cores, a larger N, or twiddles = 'stored'"
            )
        _check_range(self, "core_multipliers")
        if self.core_multipliers == 1 and self.twiddles != "stored":
            raise ParameterError(
                f"design {self.name}: core_multipliers = 1 with twiddles = {self.twiddles!r}: a "
                "second multiplier generates a core's factors; take core_multipliers = 2, or "
                "twiddles = 'stored'"
            )
        _check_power_of_two(self, "dyadic_cores", 0, 2 * self.cores)
        _check_range(self, "work_polys")
        _check_range(self, "key_polys")
        _check_range(self, "constants")
        _check_range(self, "program_words")
        _check_range(self, "modulus_banks")
        _check_choice(self, "interconnect", INTERCONNECTS)
        _check_range(self, "hop_cycles")
        _check_range(self, "work_uram_polys", 0, self.work_polys)
        _check_range(self, "work_block_banks", 0, self.work_polys - self.work_uram_polys)
        _check_choice(self, "key_ram", RAM_STYLES)
        _check_choice(self, "target", TARGETS)
        if self.target == ECP5 and (self.key_ram == "ultra" or self.work_uram_polys):
            raise ParameterError(
                f"design {self.name}: key_ram = {self.key_ram!r} and work_uram_polys = "
                f"{self.work_uram_polys} with target = {ECP5!r}, which has no UltraRAM: take "
                "key_ram = 'block' and work_uram_polys = 0"
            )
        self._check_platform()
        self._check_read_ports()
        if self.reduction not in REDUCTIONS:
            raise ParameterError(
                f"reduction = {self.reduction!r} is not one of {', '.join(REDUCTIONS)}: "
                "choose 'barrett', which takes any NTT prime up to word_bits"
            )
        _check_choice(self, "family", FAMILY_NAMES)
        self._check_family()
        _check_choice(self, "prng", PRNGS)
        _check_range(self, "seeds")
        self._check_prng()
        if type(self.link) is not bool:
            raise ParameterError(
                f"design {self.name}: link = {self.link!r} is not true or false: choose true for a "
                "unit that sends in parallel with the main unit"
            )
        _check_choice(self, "host_bits", (0, *BUS_WIDTHS))
        _check_range(self, "coprocessors")
        self._check_narrow()
        _check_power_of_two(self, "converters", 0, self.lanes)
        _check_range(self, "conversions")
        if (self.converters == 0) != (self.conversions == 0):
            raise ParameterError(
                f"design {self.name}: conversions = {self.conversions} with converters = "
                f"{self.converters}: a converter needs at least one conversion, and without one "
                "conversions must be 0"
            )

    def _check_narrow(self) -> None:
        _check_range(self, "narrow_rpaus", 0, self.rpaus - 1)
        if not self.narrow_rpaus:
            _check_range(self, "narrow_bits", 0, 0)
            return
        for name, wanted in (("reduction", "folded"), ("modulus_banks", 1)):
            if getattr(self, name) != wanted:
                raise ParameterError(
                    f"design {self.name}: {name} = {getattr(self, name)!r} with narrow_rpaus = "
                    f"{self.narrow_rpaus}: words that arrive are shortened with a modulus of "
                    "reduction 'folded', and an RPAU has one multiplier of this kind; choose "
                    f"{name} = {wanted!r}, or narrow_rpaus = 0"
                )
        lowest = max(MIN_WORD_BITS, self.word_bits - MAX_SHORTENED_BITS)
        highest = min(MAX_NARROW_BITS, self.word_bits - 1)
        if lowest > highest:
            raise ParameterError(
                f"design {self.name}: word_bits = {self.word_bits} with narrow_rpaus = "
                f"{self.narrow_rpaus} leave no width for narrow words, which have at least "
                f"{MIN_WORD_BITS} bits and fewer than word_bits: choose narrow_rpaus = 0"
            )
        _check_range(self, "narrow_bits", lowest, highest)

    def _check_platform(self) -> None:
        if self.platform == NO_PLATFORM:
            return
        family = load_platform(self.platform).family
        if (family == ECP5) != (self.target == ECP5):
            raise ParameterError(
                f"design {self.name}: platform = {self.platform!r} of family {family} with "
                f"target = {self.target!r}: choose the target of the platform's family, or another "
                "platform"
            )

    def _check_read_ports(self) -> None:
        ports = len(self.banks)
        if ports < READ_PORTS:
            raise ParameterError(
                f"design {self.name}: work_uram_polys = {self.work_uram_polys} of work_polys = "
                f"{self.work_polys}, {self.uram_bank_polys} a bank, with work_block_banks = "
                f"{self.work_block_banks} leave {ports} read ports, and an instruction reads up to "
                f"{READ_PORTS} polynomials at once: take fewer work_uram_polys, or more work_polys "
                "or work_block_banks"
            )

    def _check_prng(self) -> None:
        if (self.prng == NO_PRNG) != (self.seeds == 0):
            raise ParameterError(
                f"design {self.name}: seeds = {self.seeds} with prng = {self.prng!r}: a PRNG needs "
                "at least one seed, and without one seeds must be 0"
            )
        if self.prng != NO_PRNG and not 1 <= self.dyadic_cores <= MAX_PRNG_LANES:
            raise ParameterError(
                f"design {self.name}: dyadic_cores = {self.dyadic_cores} with prng = "
                f"{self.prng!r}: key expanders work with 1 … {MAX_PRNG_LANES} dyadic cores; "
                "choose a number in this range, or prng = 'none'"
            )

    def _check_family(self) -> None:
        if (self.reduction == "sparse") == (self.family == NO_FAMILY):
            raise ParameterError(
                f"design {self.name}: family = {self.family!r} with reduction = "
                f"{self.reduction!r}: 'sparse' needs one of {', '.join(FAMILIES)}, and another "
                f"reduction, whose primes are loaded, needs {NO_FAMILY!r}"
            )
        if self.family != NO_FAMILY and not self.sparse_primes:
            widths = sorted({prime.bit_length() for prime in FAMILIES[self.family]})
            raise ParameterError(
                f"design {self.name}: no prime of family {self.family} fits word_bits = "
                f"{self.word_bits}: its primes have {' and '.join(map(str, widths))} bits; choose "
                "such a width, or another family"
            )

    @property
    def n(self) -> int:
        """Ring degree N."""
        return 1 << self.log_n

    @property
    def key_stream(self) -> bool:
        """Whether keys may come while a program runs."""
        return self.host_bits > 0

    def bits_of(self, rpau: int) -> int:
        """Bits of a word in an RPAU."""
        return self.narrow_bits if rpau >= self.rpaus - self.narrow_rpaus else self.word_bits

    def rpaus_of(self, width: int) -> list[int]:
        """The RPAUs whose words have a width."""
        return [rpau for rpau in range(self.rpaus) if self.bits_of(rpau) == width]

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths that words of RPAUs have, the widest first."""
        return (self.word_bits, self.narrow_bits) if self.narrow_rpaus else (self.word_bits,)

    @property
    def all_bits(self) -> int:
        """Bits of a word of each RPAU, added up."""
        return sum(map(self.bits_of, range(self.rpaus)))

    @property
    def lanes(self) -> int:
        """Words in a memory row: 2*cores."""
        return 2 * self.cores

    @property
    def twiddle_lo_bits(self) -> int:
        """Bits of a twiddle exponent that the low table resolves: half of them, rounded up.

        Exponents have as many bits as the largest ring's.
        """
        return (self.max_log_n + 1) // 2

    @property
    def twiddle_hi_words(self) -> int:
        """Words of the upper twiddle table."""
        return 1 << self.max_log_n - self.twiddle_lo_bits

    @property
    def max_log_n(self) -> int:
        """log2 of the degree of the largest ring that the device runs."""
        return self.log_n + self.larger_rings

    @property
    def min_log_n(self) -> int:
        """log2 of the degree of the smallest ring that the device runs."""
        return self.log_n - self.smaller_rings

    def sub_polys(self, log_degree: int) -> int:
        """Sub-polynomials that a polynomial of a ring lies in, each in a work polynomial.

        Raises:
            ParameterError: If the device does not run the ring.
        """
        self.check_ring(log_degree)
        return 1 << max(0, log_degree - self.log_n)

    def expands(self, log_degree: int) -> bool:
        """Whether it expands seed-compressed keys of a ring.

        In a larger ring only if sub-polynomials begin at blocks.
        """
        begins = log_degree <= self.log_n or self.log_n >= LOG_SEEDED_BLOCK
        return self.prng != NO_PRNG and begins

    def in_ring(self, log_degree: int | None) -> "RpauDesign":
        """The design of a ring whose polynomials or sub-polynomials are as long as this one's.

        Args:
            log_degree: log2 of the ring's degree; None for N's own.

        Raises:
            ParameterError: If the device does not run the ring.
        """
        if log_degree is None:
            return self
        self.check_ring(log_degree)
        if log_degree >= self.log_n:
            return self
        larger, smaller = min(2, self.max_log_n - log_degree), log_degree - self.min_log_n
        return replace(self, log_n=log_degree, larger_rings=larger, smaller_rings=smaller)

    def check_ring(self, log_degree: int) -> None:
        """Checks that the device runs a ring.

        Raises:
            ParameterError: If it does not.
        """
        if not self.min_log_n <= log_degree <= self.max_log_n:
            raise ParameterError(
                f"design {self.name} runs rings of degree 2^{self.min_log_n} to "
                f"2^{self.max_log_n}, not 2^{log_degree}: take a design with other larger_rings "
                "or smaller_rings"
            )

    @property
    def sparse_primes(self) -> dict[int, int]:
        """The primes that a ``sparse`` design takes, with their indices in its family."""
        family = FAMILIES.get(self.family, ())
        return {q: index for index, q in enumerate(family) if fits(q, self.word_bits)}

    @property
    def limbs(self) -> int:
        """Limbs that the device holds of one residue polynomial: a modulus bank of an RPAU each."""
        return self.rpaus * self.modulus_banks

    @property
    def rows(self) -> int:
        """Rows of a polynomial: N / lanes."""
        return self.n // self.lanes

    @property
    def uram_bank_polys(self) -> int:
        """Work polynomials in a bank of UltraRAM: as many as its words hold, or one."""
        return max(1, URAM_WORDS // self.rows)

    @cached_property
    def banks(self) -> tuple[range, ...]:
        """The work polynomials of each bank: first the banks in UltraRAM, then in block RAM."""
        ultra, size = self.work_uram_polys, self.uram_bank_polys
        found = [range(first, min(first + size, ultra)) for first in range(0, ultra, size)]
        blocks = self.work_polys - ultra
        count = self.work_block_banks or blocks
        first = ultra
        for bank in range(count):
            held = blocks // count + (bank < blocks % count)
            found.append(range(first, first + held))
            first += held
        return tuple(found)

    @property
    def uram_banks(self) -> int:
        """Banks of work polynomials in UltraRAM, the first ones; the last one may not be full."""
        return -(-self.work_uram_polys // self.uram_bank_polys)

    @cached_property
    def bank_of_poly(self) -> tuple[int, ...]:
        """The bank of each work polynomial."""
        return tuple(bank for bank, polys in enumerate(self.banks) for _ in polys)

    @property
    def shares_ports(self) -> bool:
        """Whether some work polynomials share the ports of a bank."""
        return len(self.banks) < self.work_polys


def _check_range(
    design: RpauDesign, name: str, low: int | None = None, high: int | None = None
) -> None:
    """Refuses a number outside a range, which is that of ``RANGES`` unless told."""
    value = getattr(design, name)
    low = RANGES[name][0] if low is None else low
    high = RANGES[name][1] if high is None else high
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(
            f"design {design.name}: {name} = {value!r} is outside {low} … {high}: choose a value "
            f"in that range"
        )


def _check_power_of_two(design: RpauDesign, name: str, low: int, high: int) -> None:
    _check_range(design, name, low, high)
    value = getattr(design, name)
    if value & (value - 1):
        zero = "0 or " if low == 0 else ""
        raise ParameterError(
            f"design {design.name}: {name} = {value} is not a power of two: choose {zero}one from "
            f"{max(low, 1)} to {high}"
        )


def _check_choice(design: RpauDesign, name: str, choices: Sequence[str] | Sequence[int]) -> None:
    value = getattr(design, name)
    if value not in choices:
        raise ParameterError(
            f"design {design.name}: {name} = {value!r} is not one of {', '.join(map(str, choices))}"
        )


def parse_design(text: str, origin: str) -> RpauDesign:
    """Reads a design from TOML text; ``origin`` names it in errors.

    Raises:
        ParameterError: If a key is missing, unknown or has an illegal value.
    """
    return design_files.parse(text, origin, ARCHITECTURE, RpauDesign)


def named_designs() -> list[str]:
    """Names of the designs of this architecture that come with Ringsmith."""
    return design_files.named(ARCHITECTURE)


def load_design(name: str) -> RpauDesign:
    """Loads a design by its name, or the path of its TOML file.

    Raises:
        ParameterError: If there is no such design, or it is of another architecture.
    """
    return design_files.load(name, ARCHITECTURE, RpauDesign)
