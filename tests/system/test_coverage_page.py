"""docs/coverage.md lists the files that make up today's accelerators."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ringsmith.backends.rpau import rtl as rpau
from ringsmith.backends.rpau.debug import campaign as rpau_campaign
from ringsmith.backends.vector import rtl as vector
from ringsmith.backends.vector.debug import campaign as vector_campaign
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.toolchain import run_verilator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"

Build = tuple[str, Sequence[str], Mapping[str, int | str]]
BUILDS: dict[str, Build] = {
    "rpau": (rpau.TOP, rpau.ROOMS, rpau.parameters(rpau_campaign.campaign_design())),
    "vector": (vector.TOP, vector.FOLDERS, vector.parameters(vector_campaign.campaign_design())),
}


def counted_files(build: Build, folder: Path) -> set[str]:
    """Files of rtl/, packages apart, in which Verilator would count something; builds nothing."""
    top, folders, parameters = build
    values = [f"-G{name}={value}" for name, value in parameters.items()]
    options = ["--cc", *Instrument.COVERAGE.value.verilator, "--top-module", top]
    sources = [rtl_root() / "verilator.vlt", *rtl_sources(*folders)]
    run_verilator([*options, *values, "-Mdir", folder, *sources], folder)
    generated = "".join(file.read_text() for file in folder.glob("*.cpp"))
    return set(re.findall(r'"[^"]*/rtl/(\w+/\w+(?<!_pkg)\.sv)"', generated))


@pytest.mark.parametrize("name", BUILDS)
def test_the_page_lists_the_files_of_todays_rtl(name: str, tmp_path: Path) -> None:
    """Otherwise measure again: `make coverage`."""
    [section] = re.findall(
        rf"^## Architecture `{name}`\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S
    )
    listed = set(re.findall(r"^\| `rtl/([\w/.]+)` \|", section, re.MULTILINE))
    assert len(listed) > 10
    assert listed == counted_files(BUILDS[name], tmp_path)
