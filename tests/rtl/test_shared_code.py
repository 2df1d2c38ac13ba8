"""RPAUs of one device, and their multipliers, are one sub-polynomial of simulated code."""

from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.rtl import VERILATOR_FLAGS
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.toolchain import run_verilator

SMALL = replace(
    load_design("nano"), name="small", log_n=8, rpaus=2, cores=2, dyadic_cores=1, work_polys=4
)
OPTIONS = ("--cc", "-O3", "--no-timing", "--quiet", "--noassert", *VERILATOR_FLAGS)


def code_of(kind: str, design: RpauDesign, folder: Path) -> int:
    """Bytes of C++ that Verilator writes for the modules of one kind."""
    values = [f"-G{name}={value}" for name, value in rtl.parameters(design).items()]
    files = [rtl_root() / "verilator.vlt", *rtl_sources(*rtl.FOLDERS)]
    target = folder / design.name
    target.mkdir()
    run_verilator([*OPTIONS, "--top-module", rtl.TOP, *values, *files, "-Mdir", target], folder)
    written = [file for file in target.glob("*.cpp") if f"_{kind}__" in file.name]
    assert written
    return sum(file.stat().st_size for file in written)


@pytest.mark.parametrize("interconnect", ["ring", "gather"])
def test_more_rpaus_are_hardly_more_code(tmp_path: Path, interconnect: str) -> None:
    few = replace(SMALL, name="few", interconnect=interconnect)
    many = replace(few, name="many", rpaus=6)
    assert code_of("rs_rpau", many, tmp_path) < 1.1 * code_of("rs_rpau", few, tmp_path)


@pytest.mark.parametrize(("reduction", "family"), [("barrett", "none"), ("sparse", "word48")])
def test_more_lanes_are_no_more_code_of_multipliers(
    tmp_path: Path, reduction: str, family: str
) -> None:
    kind = f"rs_mod_mul_{reduction}"
    small = replace(SMALL, reduction=reduction, family=family)
    wide = replace(small, name="wide", cores=4)
    assert code_of(kind, wide, tmp_path) < 1.1 * code_of(kind, small, tmp_path)
