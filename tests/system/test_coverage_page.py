"""docs/coverage.md lists the files that make up today's accelerator."""

import re
from pathlib import Path

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.debug.campaign import campaign_design
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.toolchain import run_verilator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"


def counted_files(folder: Path) -> set[str]:
    """Files of rtl/, packages apart, in which Verilator would count something; builds nothing."""
    values = [f"-G{name}={value}" for name, value in rtl.parameters(campaign_design()).items()]
    sources = [rtl_root() / "verilator.vlt", *rtl_sources(*rtl.ROOMS)]
    options = ["--cc", *Instrument.COVERAGE.value.verilator, "--top-module", rtl.TOP]
    run_verilator([*options, *values, "-Mdir", folder, *sources], folder)
    generated = "".join(file.read_text() for file in folder.glob("*.cpp"))
    return set(re.findall(r'"[^"]*/rtl/(\w+/\w+(?<!_pkg)\.sv)"', generated))


def test_the_page_lists_the_files_of_todays_rtl(tmp_path: Path) -> None:
    """Otherwise measure again: `make coverage`."""
    listed = set(re.findall(r"^\| `rtl/([\w/.]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert "rpau/rs_rpau_top.sv" in listed
    assert listed == counted_files(tmp_path)
