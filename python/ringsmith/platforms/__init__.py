"""FPGA cards: what they have, die by die, one TOML file each.

To add a card, add its file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate
from pathlib import Path

from ringsmith.caching import cached
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files.toml_text import parse_toml, read_toml
from ringsmith.short_repr import short_repr


@dataclass(frozen=True)
class Resources:
    """What an FPGA, or a die of one, has.

    Attributes:
        luts: LUTs of six inputs.
        flip_flops: Flip-flops.
        dsps: DSP slices.
        brams: Block RAMs of 36 Kbit; half of one is 18 Kbit.
        urams: UltraRAMs of 288 Kbit.
    """

    luts: int
    flip_flops: int
    dsps: int
    brams: float
    urams: int


@short_repr
@dataclass(frozen=True)
class Memory:
    """Memory behind AXI ports of a card, as the model and the simulated RTL take it.

    A port serves bursts one after another, a beat a cycle each way, but in pauses. The model has no
    other effects: none of addresses, and none of one port on another. Cycles are the ports'.

    Attributes:
        bytes: Its size.
        ports: Ports that it has in the FPGA; each one's own part of it is as large as any other's.
        port_bits: Data bits of a port, each way.
        megahertz: The clock of the ports that the figures are for.
        latency: Cycles from an address to its first beat, and from the last beat that is written to
            the answer.
        interval: Cycles from one pause to the next.
        read_pause: Cycles at the begin of each interval in which no port hands out a beat.
        write_pause: Cycles at the begin of each interval in which no port takes one.
        source: Where the figures are from, and how they were read.
    """

    bytes: int
    ports: int
    port_bits: int
    megahertz: float
    latency: int
    interval: int
    read_pause: int
    write_pause: int
    source: str

    @property
    def port_bytes(self) -> int:
        """Bytes of a port's own part."""
        return self.bytes // self.ports

    @property
    def gigabytes_per_second(self) -> float:
        """What all ports carry together, each way, outside of pauses."""
        return self.ports * self.port_bits / 8 * self.megahertz / 1e3


@short_repr
@dataclass(frozen=True)
class Platform:
    """A card.

    Attributes:
        card: Its name, for people.
        fpga: The FPGA on it.
        part: What its vendor's tools call the FPGA, with package and speed grade.
        family: The FPGA's family, as Yosys calls it.
        source: Where the numbers are from.
        bus_megahertz: The clock of the buses that lead to the host.
        most_megahertz: The fastest clock that a design is assumed to reach.
        dies: How many dies the FPGA has, in a row; wires between them are few.
        die: What each die has.
        lut_share: Share of a die's LUTs that a design may take.
        reserved: What the card's own platform, its shell, takes of all dies together.
        reserved_source: Where that is from.
        die_wires: Wires from a die to the next one; 0: there is one die.
        hbm_gigabytes_per_second: Peak bandwidth of its high-bandwidth memory; 0: it has none.
        ddr_gigabytes_per_second: Peak bandwidth of its other memory; 0: it has none.
        memory: Where architecture ``vector`` keeps operands, keys and results; None: not known.
        crossed_memory: The same memory behind ports that cross to its own clock.
        list_memory: Where it keeps programs.
        lists_in_memory: Whether programs lie behind ports of ``memory``: each that reads them is
            one port fewer for rows.
        memory_megahertz: The memory's own clock, behind ports that cross to it; 0: not known.
        board: Vivado's name of the card, without a version; empty: Vivado has no file of it.
    """

    card: str
    fpga: str
    part: str
    family: str
    source: str
    bus_megahertz: float
    most_megahertz: float
    dies: int
    die: Resources
    lut_share: float
    reserved: Resources
    reserved_source: str
    die_wires: int
    hbm_gigabytes_per_second: float
    ddr_gigabytes_per_second: float
    memory: Memory | None = None
    crossed_memory: Memory | None = None
    list_memory: Memory | None = None
    lists_in_memory: bool = False
    memory_megahertz: float = 0
    board: str = ""

    @property
    def whole(self) -> Resources:
        """What all dies have together."""
        die = self.die
        return Resources(
            self.dies * die.luts,
            self.dies * die.flip_flops,
            self.dies * die.dsps,
            self.dies * die.brams,
            self.dies * die.urams,
        )


@dataclass(frozen=True)
class Placement:
    """Units on the dies of a card, none across a boundary.

    Attributes:
        units: Units on each die.
        excess: What there is too little of, in words; empty: they fit.
    """

    units: tuple[int, ...]
    excess: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the units fit, die by die, together with the card's platform."""
        return not self.excess


NOTHING = Resources(0, 0, 0, 0, 0)

RESOURCES = {
    "LUT": "luts",
    "FF": "flip_flops",
    "DSP": "dsps",
    "BRAM": "brams",
    "URAM": "urams",
}
"""What people call a resource -> its field."""


def place(
    platform: Platform, units: Sequence[Resources], rest: Resources = NOTHING, wires: int = 0
) -> Placement:
    """Places units in their order, as evenly as they go, and counts what each die has for them.

    The first dies have the fewest. A die gives ``lut_share`` of its LUTs and all else that it has.
    What is left of all dies must hold the card's platform.

    Args:
        platform: The card.
        units: What each unit takes.
        rest: What else there is; it stands on the first die.
        wires: Wires across each boundary between dies.
    """
    fewest, more = divmod(len(units), platform.dies)
    counts = (*[fewest] * (platform.dies - more), *[fewest + 1] * more)
    ends = [*accumulate(counts)]
    dies = [units[end - count : end] for end, count in zip(ends, counts, strict=True)]
    excess = []
    for name, field in RESOURCES.items():
        there = getattr(platform.die, field)
        if field == "luts":
            there = int(platform.lut_share * there)
        more_on = [getattr(rest, field), *[0] * (platform.dies - 1)]
        sums = [
            (sum(getattr(unit, field) for unit in die) + other, len(die))
            for die, other in zip(dies, more_on, strict=True)
        ]
        taken, count = max(sums)
        if taken > there:
            excess.append(f"{count} units take {taken:,.12g} {name} of a die's {there:,}")
        left = max(platform.dies * there - sum(taken for taken, _ in sums), 0)
        if left < (shell := getattr(platform.reserved, field)):
            excess.append(f"{left:,.12g} {name} are left of all dies for the platform's {shell:,}")
    if platform.dies > 1 and wires > platform.die_wires:
        excess.append(f"{wires:,} wires between two dies, which have {platform.die_wires:,}")
    return Placement(counts, tuple(excess))


def platform_names() -> list[str]:
    """Names of the cards, sorted."""
    entries = resources.files("ringsmith.platforms").iterdir()
    return sorted(Path(entry.name).stem for entry in entries if entry.name.endswith(".toml"))


NO_PLATFORM = "none"
"""What designs say that are built for no card."""
SUFFIX = ".toml"
"""What ends with it is the path of a card's file, and no name."""
MAX_FILE_BYTES = 1 << 16

_PARTS = {
    "die": Resources,
    "reserved": Resources,
    "memory": Memory,
    "crossed_memory": Memory,
    "list_memory": Memory,
}


@cached
def load_platform(name: str) -> Platform:
    """A card by its name, such as ``u250``, or by the path of its TOML file.

    Raises:
        ParameterError: If there is none of that name, or the file does not describe a card.
    """
    if not name.endswith(SUFFIX) and name not in platform_names():
        raise ParameterError(
            f"there is no platform {name!r}: choose one of {', '.join(platform_names())}, or give "
            f"the path of a file that ends with {SUFFIX}"
        )
    own = resources.files("ringsmith.platforms") / f"{name}{SUFFIX}"

    def refuse(why: object) -> ParameterError:
        return ParameterError(f"platform {name}: not a card's file: {why}")

    try:
        if name.endswith(SUFFIX):
            table = read_toml(Path(name), MAX_FILE_BYTES, refuse)
        else:
            table = parse_toml(own.read_text(encoding="utf-8"), refuse)
        parts = {key: kind(**table[key]) for key, kind in _PARTS.items() if key in table}
        return Platform(**{**table, **parts})
    except (InteropError, TypeError) as error:
        raise refuse(error) from None
