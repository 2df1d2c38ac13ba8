"""FPGA cards: what they have, die by die, one TOML file each.

To add a card, add its file.
"""

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from ringsmith.caching import cached
from ringsmith.errors import ParameterError


@dataclass(frozen=True)
class Resources:
    """What an FPGA, or a die of one, has.

    Attributes:
        luts: LUTs of six inputs.
        flip_flops: Flip-flops.
        dsps: DSP slices.
        brams: Block RAMs of 36 Kbit.
        urams: UltraRAMs of 288 Kbit.
    """

    luts: int
    flip_flops: int
    dsps: int
    brams: int
    urams: int


@dataclass(frozen=True)
class Platform:
    """A card.

    Attributes:
        card: Its name, for people.
        fpga: The FPGA on it.
        family: The FPGA's family, as Yosys calls it.
        source: Where the numbers are from.
        dies: How many dies the FPGA has, side by side in a row; wires between them are few.
        die: What each die has.
        hbm_gigabytes_per_second: Peak bandwidth of its high-bandwidth memory; 0: it has none.
        ddr_gigabytes_per_second: Peak bandwidth of its other memory; 0: it has none.
    """

    card: str
    fpga: str
    family: str
    source: str
    dies: int
    die: Resources
    hbm_gigabytes_per_second: float
    ddr_gigabytes_per_second: float

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


def platform_names() -> list[str]:
    """Names of the cards, sorted."""
    entries = resources.files("ringsmith.platforms").iterdir()
    return sorted(Path(entry.name).stem for entry in entries if entry.name.endswith(".toml"))


@cached
def load_platform(name: str) -> Platform:
    """A card by its name, such as ``u250``.

    Raises:
        ParameterError: If there is none of that name.
    """
    if name not in platform_names():
        raise ParameterError(
            f"there is no platform {name!r}: choose one of {', '.join(platform_names())}"
        )
    file = resources.files("ringsmith.platforms") / f"{name}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Platform(**{**table, "die": Resources(**table["die"])})
