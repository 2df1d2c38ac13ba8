"""Vivado's scripts and constraints: the part is the platform's, and clocks are what they run at."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.registry import backend_of, design_names, named_design
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.errors import ParameterError
from ringsmith.generate.packaging import Names
from ringsmith.generate.vivado import FAMILIES, vivado_files
from ringsmith.hdl.sources import rtl_root, sources_below
from ringsmith.platforms import load_platform, platform_names

PARTS = {
    "acu15eg": "xczu15eg-ffvb1156-2-i",
    "ecp5-85f": "LFE5U-85F-6BG381C",
    "f1": "xcvu9p-flgb2104-2-i",
    "u250": "xcu250-figd2104-2L-e",
    "u280": "xcu280-fsvh2892-2L-e",
    "u55c": "xcu55c-fsvh2892-2L-e",
    "v80": "xcv80-lsva4737-2MHP-e-S",
    "virtex7-690t": "xc7vx690tffg1157-2",
    "zcu102": "xczu9eg-ffvb1156-2-e",
}
CARDS = {
    **dict.fromkeys(("heaws", "heaws-seal", "heaws6"), "f1"),
    **dict.fromkeys(("medha", "medha21-set1", "medha21-set2", "medha21-set3", "octo"), "u250"),
    **dict.fromkeys(("framework", "framework-512", "vector-1024", "vector-small"), "u280"),
    "vector-zu15eg": "acu15eg",
    "rpm": "virtex7-690t",
    "pico": "ecp5-85f",
    "nano": "",
}


def scripts(name: str) -> dict[str, str]:
    design = named_design(name)
    hardware = backend_of(design).exporter().hardware(design)
    root = rtl_root()
    sources = [
        f"rtl/{file.relative_to(root).as_posix()}"
        for file in sources_below(hardware.top, hardware.folders)
    ]
    return vivado_files(Names.of(name, "1"), hardware, sources, name)


def test_parts_are_those_of_the_cards() -> None:
    assert {name: load_platform(name).part for name in platform_names()} == PARTS


@pytest.mark.parametrize("name", design_names())
def test_scripts_of_a_design_name_the_part_of_its_platform(name: str) -> None:
    found, card = scripts(name), CARDS[name]
    if card and load_platform(card).family not in FAMILIES:
        assert not found
        return
    text = "\n".join(found.values())
    assert set(re.findall(r"\bxc\w[\w-]+", found["vivado/part.tcl"])) == {
        *([PARTS[card]] if card else [])
    }
    assert ('? [lindex $argv 0] : ""}]' in text) == (card == "")
    for path in ("vivado/project.tcl", "vivado/package_ip.tcl"):
        assert "create_project -force -part $part" in found[path]
        assert "source [file join $root vivado part.tcl]" in found[path]


@pytest.mark.skipif(not shutil.which("tclsh"), reason="no tclsh, a system package")
def test_a_script_without_a_part_stops_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "part.tcl").write_text(scripts("nano")["vivado/part.tcl"])
    (tmp_path / "run.tcl").write_text("source part.tcl\nputs $part\n")
    words = ["tclsh", "run.tcl"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "design nano names no platform: give a part" in done.stderr
    done = subprocess.run([*words, "xc7"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "xc7\n"


def test_clocks_are_constrained_to_what_they_run_at() -> None:
    """Out of context alone; a card's buses run at 250 MHz."""
    card = scripts("heaws6")
    assert (
        "-name bus_clk_i -period 4.000 [get_ports bus_clk_i]" in card["vivado/ringsmith_heaws6.xdc"]
    )
    assert "-name clk_i -period 5.000 [get_ports clk_i]" in card["vivado/ringsmith_heaws6.xdc"]
    assert (
        "set_property used_in {synthesis implementation out_of_context}" in card["vivado/files.tcl"]
    )
    assert "-period 4.000" in scripts("vector-zu15eg")["vivado/ringsmith_vector_zu15eg.xdc"]


@pytest.mark.parametrize("name", design_names())
def test_no_constraint_overrides_the_limits_of_crossings(name: str) -> None:
    for text in scripts(name).values():
        commands = re.sub(r"^#.*$", "", text, flags=re.M)
        assert "set_clock_groups" not in commands
        assert "set_false_path" not in commands


def test_constraints_of_crossings_are_scoped_to_their_modules() -> None:
    card = scripts("heaws6")
    modules = ["rs_async_fifo", "rs_dma_reset", "rs_axil_cross"]
    (line,) = re.findall(r"foreach module \{(.*)\}", card["vivado/crossings.tcl"])
    assert sorted(line.split()) == sorted(modules)
    assert "set_property SCOPED_TO_REF $module" in card["vivado/crossings.tcl"]
    for module in modules:
        assert "set_max_delay -datapath_only" in card[f"vivado/{module}.xdc"]
    assert "source [file join $root vivado crossings.tcl]" in card["vivado/files.tcl"]
    one_clock = scripts("vector-zu15eg")  # its sources have the crossings, and no instance of them
    assert "foreach module {}" in one_clock["vivado/crossings.tcl"]
    assert "vivado/rs_async_fifo.xdc" not in one_clock


def test_a_platform_of_another_family_than_the_target_is_refused() -> None:
    pico = named_design("pico")
    assert isinstance(pico, RpauDesign)
    with pytest.raises(ParameterError, match="platform = 'u250' of family xcup with target"):
        replace(pico, platform="u250")
    with pytest.raises(ParameterError, match="there is no platform 'attic'"):
        replace(pico, platform="attic")
    rpm = named_design("rpm")
    with pytest.raises(ParameterError, match="there is no platform 'attic'"):
        replace(rpm, platform="attic")  # type: ignore[type-var]
