"""Design points of the vector architecture: parameters, their legal values, and why."""

from dataclasses import dataclass
from typing import ClassVar

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.word_layout import Shape, table_rows
from ringsmith.backends.vector.isa.instruction_set import ISA
from ringsmith.design_files import check_name
from ringsmith.errors import ParameterError
from ringsmith.hdl.packages import arith
from ringsmith.params import ParameterLimits
from ringsmith.platforms import Memory, Platform, load_platform
from ringsmith.short_repr import short_repr

ARCHITECTURE = "vector"
"""What files of these designs say."""

BARRETT, MONTGOMERY = "barrett", "montgomery"
REDUCTIONS = {BARRETT: package.VECTOR_BARRETT, MONTGOMERY: package.VECTOR_MONTGOMERY}
"""What the multipliers reduce by -> its number in ``rs_vector_pkg``."""

PAGE_BYTES = 4096
"""No burst crosses a multiple of it."""

_LISTED_CYCLES, _LISTED_BEATS = 256, 35
"""Cycles that what is read ahead of a list lasts at least; beats of lists that are on their way
before one that is asked for."""

_LIST_SHARE = 27 / 64
"""Of the cycles, those in which a port of lists hands out a beat at the most."""

_ON_THE_WAY = 8
"""Cycles of a burst's address and beats between a cluster and its ports, or more."""

_MOST_BITS = {BARRETT: 60, MONTGOMERY: 62}


def row_ports(platform: Platform, memory: Memory, clusters: int) -> int:
    """The ports for rows that each of some clusters can have on a card."""
    return memory.ports // clusters - platform.lists_in_memory


@short_repr
@dataclass(frozen=True)
class VectorDesign:
    """A checked design point; ``docs/reference/vector.md`` has the parameters in a picture.

    Attributes:
        name: What the design is called in reports and caches.
        log_n: log2 of the largest ring degree N.
        log_lanes: log2 of the words of a row, of each cluster.
        log_radix: Stages of a transform in one pass: 2 or 4; divides ``log_lanes``.
        word_bits: Width of a residue word.
        reduction: ``barrett``: any prime; ``montgomery``: primes that are 1 modulo 2N of the
            largest ring.
        clusters: Arrays, each with a network and memories of its own.
        banks: Banks of a cluster's scratchpad.
        bank_rows: Rows of a bank.
        table_rows: Rows of a cluster's twiddle memory.
        stream_rows: Rows of each stream's FIFO; a cluster has three.
        platform: The card, by its name or the path of its file: how fast its memory is, and how
            large.
        ports: Memory's ports of a cluster; each has a slice of every row.
        burst_beats: Beats of a port's bursts, whole rows; the last burst of rows may be shorter.
        crossed_ports: Whether ports cross to the memory's own clock, as the platform's
            ``crossed_memory`` says.
    """

    architecture: ClassVar[str] = ARCHITECTURE

    name: str
    log_n: int
    log_lanes: int
    log_radix: int
    word_bits: int
    reduction: str = BARRETT
    clusters: int = 1
    banks: int = 4
    bank_rows: int = 4096
    table_rows: int = 1024
    stream_rows: int = 512
    platform: str = "u280"
    ports: int = 2
    burst_beats: int = 16
    crossed_ports: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        self._check("log_n", 8, 16)
        self._check("log_lanes", 2, 9)
        if self.log_radix not in (2, 4):
            raise ParameterError(f"log_radix = {self.log_radix} is neither 2 nor 4: choose one")
        if self.reduction not in REDUCTIONS:
            raise ParameterError(
                f"reduction = {self.reduction!r} is not one of {', '.join(REDUCTIONS)}: choose one"
            )
        self._check("word_bits", self.log_n + 3, _MOST_BITS[self.reduction])
        self._check("clusters", 1, ISA.value("max_clusters"))
        self._check("banks", 3, ISA.value("max_banks"))
        for name in ("bank_rows", "table_rows"):
            self._check(name, 1, 1 << ISA.value("row_width"))
        shape = self.shape(self.log_n)
        most, tables = self.stream_rows, table_rows(shape)
        if most < max(shape.rows, tables):
            raise ParameterError(
                f"stream_rows = {most} is below {max(shape.rows, tables)}: a stream holds a limb, "
                f"and a table of factors, of N = {self.n}"
            )
        if self.table_rows < 2 * tables:
            raise ParameterError(
                f"table_rows = {self.table_rows} is below {2 * tables}: two tables of factors"
            )
        if self.bank_rows < 2 * shape.rows:
            raise ParameterError(
                f"bank_rows = {self.bank_rows} is below {2 * shape.rows}: two limbs of N = {self.n}"
            )

        self._check_memory()

    def _check_memory(self) -> None:
        """Refuses ports that the platform has not, and rows that are no whole number of beats."""
        lists = self.list_memory
        if (found := lists.port_bits) != package.LIST_BITS:
            raise ParameterError(
                f"platform {self.platform}: list_memory has port_bits = {found}, and programs are "
                f"read by ports of {package.LIST_BITS} bits"
            )
        share = 1 - lists.read_pause / lists.interval
        longest = lists.latency + lists.read_pause + _LISTED_BEATS / max(share, _LIST_SHARE)
        if share < _LIST_SHARE or longest > _LISTED_CYCLES:
            raise ParameterError(
                f"platform {self.platform}: list_memory hands out beats in {share:.0%} of the "
                f"cycles, after {longest:.0f} cycles at the longest, and programs need "
                f"{_LIST_SHARE:.0%} after {_LISTED_CYCLES} at most: take a faster memory for lists"
            )
        if not isinstance(self.crossed_ports, bool):
            raise ParameterError(
                f"crossed_ports = {self.crossed_ports!r:.60} is neither true nor false: choose one"
            )
        self._check("ports", 1, 256)
        self._check("burst_beats", 1, 256)
        memory, row = self.memory, 8 * self.row_bytes
        if (most := row_ports(load_platform(self.platform), memory, self.clusters)) < self.ports:
            shared = load_platform(self.platform).lists_in_memory
            also = ", and one for programs," if shared else ""
            raise ParameterError(
                f"ports = {self.ports} of each of {self.clusters} clusters{also} are more than the "
                f"{memory.ports} of platform {self.platform}: take {most} or fewer"
            )
        if lists.ports < self.clusters:
            raise ParameterError(
                f"clusters = {self.clusters} read programs at a port each, and list_memory of "
                f"platform {self.platform} has {lists.ports}: take {lists.ports} or fewer"
            )
        if row % (self.ports * memory.port_bits):
            raise ParameterError(
                f"ports = {self.ports}: a row of {row} bits is no whole number of beats of "
                f"{self.ports} x {memory.port_bits} bits: take ports whose number divides "
                f"{row // memory.port_bits}"
            )
        beat = memory.port_bits // 8
        if self.burst_beats % self.row_cycles or PAGE_BYTES % (self.burst_beats * beat):
            raise ParameterError(
                f"burst_beats = {self.burst_beats}: a burst is of whole rows, {self.row_cycles} "
                f"beats each, and its bytes, {beat} a beat, divide {PAGE_BYTES}"
            )

    def _check(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or not least <= value <= most:
            raise ParameterError(f"{name} = {value!r:.60} is outside {least} … {most}")

    @property
    def n(self) -> int:
        """Largest ring degree N."""
        return 1 << self.log_n

    @property
    def min_log_n(self) -> int:
        """log2 of the smallest ring.

        A pass exchanges as many row bits as it has stages. Limbs of 8 rows or more, so that the
        lists are read faster than they are worked off.
        """
        return max(8, self.log_lanes + max(self.log_radix, 3))

    @property
    def lanes(self) -> int:
        """Words of a row."""
        return 1 << self.log_lanes

    @property
    def alus(self) -> int:
        """ALUs of all clusters, ``NumAlu`` in the paper."""
        return self.clusters * self.lanes // 2 * self.log_radix

    @property
    def results(self) -> int:
        """Results that a point instruction has for each lane."""
        return self.log_radix // 2

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of the scratchpads of all clusters, ``ScratchSize`` in the paper."""
        return self.clusters * self.banks * self.bank_rows * self.lanes * self.word_bits // 8

    @property
    def memory(self) -> Memory:
        """The figures of the memory that its ports lead to.

        Raises:
            ParameterError: If the platform has none.
        """
        found = load_platform(self.platform)
        if self.crossed_ports and not (found.crossed_memory and found.memory_megahertz):
            raise ParameterError(
                f"crossed_ports = true: platform {self.platform} has no figures of such ports: "
                "take crossed_ports = false, or add table [crossed_memory] and memory_megahertz "
                "to its file"
            )
        return self._figures(found.crossed_memory if self.crossed_ports else found.memory)

    @property
    def list_memory(self) -> Memory:
        """The figures of the memory that programs are read from.

        Raises:
            ParameterError: If the platform has none.
        """
        return self._figures(load_platform(self.platform).list_memory)

    def _figures(self, found: Memory | None) -> Memory:
        if found is None:
            raise ParameterError(
                f"platform {self.platform} has no figures of memory for architecture "
                f"{ARCHITECTURE}: choose u280, or give the path of a file that has them"
            )
        return found

    @property
    def step_bits(self) -> int:
        """Bits that a step of Montgomery's reduction removes."""
        return arith.scale_step_bits(self.log_n)

    @property
    def cfg(self) -> package.VectorCfg:
        """What latencies depend on."""
        return package.VectorCfg(
            width=self.word_bits,
            reduction=REDUCTIONS[self.reduction],
            step_bits=self.step_bits,
            log_lanes=self.log_lanes,
            log_radix=self.log_radix,
            ports=self.ports,
            port_bits=self.memory.port_bits,
        )

    @property
    def word_bytes(self) -> int:
        """Bytes of a word in memory."""
        return 4 if self.word_bits <= 32 else 8

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in memory."""
        return self.lanes * self.word_bytes

    @property
    def row_cycles(self) -> int:
        """Beats of a row at each of its cluster's ports."""
        return package.row_cycles(self.cfg)

    def read_cycles(self, rows: int) -> int:
        """Cycles in which memory hands a cluster rows, with its pauses, on average."""
        memory = self.memory
        beats = rows * self.row_cycles * memory.interval
        return -(-beats // (memory.interval - memory.read_pause))

    def write_cycles(self, rows: int) -> int:
        """Cycles in which memory takes rows of a cluster, as ``read_cycles``."""
        memory = self.memory
        beats = rows * self.row_cycles * memory.interval
        return -(-beats // (memory.interval - memory.write_pause))

    @property
    def outstanding(self) -> int:
        """Bursts that ports have on their way at most: more than are asked for in memory's latency.

        Each load and each store has one burst more than its beats fill: of the shortest ones too.
        """
        beats = self.memory.latency + _ON_THE_WAY
        shortest = self.row_cycles << (self.min_log_n - self.log_lanes)
        least = -(-beats // self.burst_beats) + -(-beats // shortest) + 4
        return 1 << (least - 1).bit_length()

    def shape(self, log_n: int) -> Shape:
        """The layout's parameters in a ring."""
        return Shape(log_n, self.log_lanes, self.log_radix)

    def factor(self, q: int) -> int:
        """What the multiplier divides a product by, modulo q: 1, or 2^W with Montgomery."""
        return 1 if self.reduction == BARRETT else (1 << self.word_bits) % q

    def prime_error(self, q: int) -> str:
        """Why the design does not take a prime; nothing where it does."""
        bits, least = q.bit_length(), (self.word_bits + 1) // 2
        if bits > self.word_bits:
            return f"prime {q} of {bits} bits, more than the {self.word_bits} of a word"
        if self.reduction == BARRETT and bits < least:
            return f"prime {q} of {bits} bits, fewer than half of the {self.word_bits} of a word"
        if self.reduction == MONTGOMERY and q % (2 * self.n) != 1:
            return (
                f"prime {q}, which is not 1 modulo {2 * self.n}, twice the largest ring's N, as "
                "Montgomery's reduction needs"
            )
        return ""


# ---- What HE parameters a design of the vector architecture takes --------------------------------


def parameter_limits(design: VectorDesign) -> ParameterLimits:
    """Returns the rings and primes of a design.

    BFV's products are made in variant ``hps``: extension primes of ``behz`` have 61 bits, more than
    words. Its conversions, and those of most keys in residue digits, have steps modulo powers of
    two, which Barrett's reduction alone can do.
    """
    barrett = design.reduction == BARRETT
    least = (design.word_bits + 1) // 2 if barrett else design.log_n + 2
    return ParameterLimits(
        design=design.name,
        min_n=1 << design.min_log_n,
        max_n=design.n,
        min_prime_bits=least,
        max_prime_bits=design.word_bits,
        reduction_error=design.prime_error,
        relinearizations=("special_prime", "residue") if barrett else ("special_prime",),
        bfv_multiplications=("hps",) if barrett else (),
    )
