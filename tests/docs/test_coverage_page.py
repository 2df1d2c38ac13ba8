"""docs/results/coverage.md lists the files that make up today's accelerators."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from ringsmith.backends.rpau.debug import campaign as rpau_campaign
from ringsmith.backends.rpau.design import rtl as rpau
from ringsmith.backends.vector.debug import campaign as vector_campaign
from ringsmith.backends.vector.design import rtl as vector
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.toolchain import run_verilator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "coverage.md"

Build = tuple[str, list[Path], Mapping[str, int | str]]


def builds() -> dict[str, Build]:
    """What a campaign elaborates, by architecture: top, sources, parameters."""
    ours, others = vector_campaign.campaign_design(), rpau_campaign.campaign_design()
    accelerator = vector.accelerator_sources(), vector.accelerator_parameters(ours)
    return {
        "rpau": (rpau.TOP, rtl_sources(*rpau.FOLDERS), rpau.parameters(others)),
        "vector": (vector.ACCELERATOR, *accelerator),
    }


def counted_files(build: Build, folder: Path) -> set[str]:
    """Files of rtl/, packages apart, in which Verilator would count something; builds nothing."""
    top, files, parameters = build
    values = [f"-G{name}={value}" for name, value in parameters.items()]
    options = ["--cc", *Instrument.COVERAGE.value.verilator, "--top-module", top]
    sources = [rtl_root() / "verilator.vlt", *files]
    run_verilator([*options, *values, "-Mdir", folder, *sources], folder)
    generated = "".join(file.read_text() for file in folder.glob("*.cpp"))
    return set(re.findall(r'"[^"]*/rtl/(\w+/\w+(?<!_pkg)\.sv)"', generated))


@pytest.mark.parametrize("name", builds())
def test_the_page_lists_the_files_of_todays_rtl(name: str, tmp_path: Path) -> None:
    """Otherwise measure again: `make coverage`."""
    [section] = re.findall(
        rf"^## Architecture `{name}`\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S
    )
    listed = set(re.findall(r"^\| `rtl/([\w/.]+)` \|", section, re.MULTILINE))
    assert len(listed) > 10
    assert listed == counted_files(builds()[name], tmp_path) - {vector_campaign.REGISTERS}
