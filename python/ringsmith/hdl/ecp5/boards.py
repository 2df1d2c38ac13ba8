"""Boards with an ECP5: their FPGA, their clock, and which pin is which port of their top module."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ringsmith.errors import ParameterError

RESOURCES_85: Mapping[str, int] = MappingProxyType(
    {"LUT4": 83_640, "TRELLIS_FF": 83_640, "DP16KD": 208, "MULT18X18D": 156}
)
"""What an LFE5U-85F has: LUTs, flip-flops, EBR of 18 Kbit, multipliers of 18 x 18 bits."""


@dataclass(frozen=True)
class Pin:
    """A pin of the FPGA.

    Attributes:
        port: The port of the top module.
        site: The pin's name in the package.
        options: Of its buffer, as the constraints have them.
    """

    port: str
    site: str
    options: str = "IO_TYPE=LVCMOS33"


@dataclass(frozen=True)
class Board:
    """A board.

    Attributes:
        name: What commands call it.
        title: What people call it.
        fpga: The FPGA on it.
        top: The top module for it, whose clock is the first pin.
        size: The FPGA's size, as nextpnr calls it.
        package: Its package.
        speed: Its speed grade; 6 is the slowest.
        clock_mhz: The clock that the board brings.
        pins: The clock first.
        source: Where the pins are from.
        resources: What the FPGA has, by kind of cell.
    """

    name: str
    title: str
    fpga: str
    top: str
    size: str
    package: str
    speed: int
    clock_mhz: int
    pins: tuple[Pin, ...]
    source: str
    resources: Mapping[str, int] = field(default_factory=lambda: RESOURCES_85)


_OUTPUT = "IO_TYPE=LVCMOS33 DRIVE=4"

BOARDS: Mapping[str, Board] = MappingProxyType(
    {
        "ulx3s": Board(
            name="ulx3s",
            title="ULX3S 85F",
            fpga="LFE5U-85F-6BG381C",
            top="rs_board_ulx3s",
            size="85k",
            package="CABGA381",
            speed=6,
            clock_mhz=25,
            pins=(
                Pin("clk_25mhz_i", "G2", "PULLMODE=NONE IO_TYPE=LVCMOS33"),
                Pin("ftdi_txd_i", "M1", "PULLMODE=UP IO_TYPE=LVCMOS33"),
                Pin("ftdi_rxd_o", "L4", f"PULLMODE=UP {_OUTPUT}"),
                Pin("wifi_gpio0_o", "L2", f"PULLMODE=NONE {_OUTPUT}"),
                Pin("led_o", "B2", f"PULLMODE=NONE {_OUTPUT}"),
            ),
            source="doc/constraints/ulx3s_v20.lpf of github.com/emard/ulx3s",
        )
    }
)


def board_named(name: str) -> Board:
    """The board of a name.

    Raises:
        ParameterError: If there is none.
    """
    if name not in BOARDS:
        raise ParameterError(f"board {name!r:.40} is not known: choose one of {', '.join(BOARDS)}")
    return BOARDS[name]


def constraints(board: Board) -> str:
    """The board's pins and clock, as nextpnr reads them (LPF)."""
    lines = [f"# Pins of {board.title}: {board.source}", "BLOCK RESETPATHS;", "BLOCK ASYNCPATHS;"]
    for pin in board.pins:
        lines.append(f'LOCATE COMP "{pin.port}" SITE "{pin.site}";')
        lines.append(f'IOBUF PORT "{pin.port}" {pin.options};')
    lines.append(f'FREQUENCY PORT "{board.pins[0].port}" {board.clock_mhz} MHZ;')
    return "\n".join(lines) + "\n"
