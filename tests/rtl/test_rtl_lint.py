"""Verilator's warnings, all of them, on every module of rtl/ as a top of its own.

Linting only the accelerator's top would pass over a module that no design uses yet, and over the
parameter defaults that people try first.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.vector.design import rtl as vector_rtl
from ringsmith.errors import ParameterError, ToolError
from ringsmith.hdl.sources import rtl_root, rtl_sources, sim_root
from ringsmith.hdl.target import macros
from ringsmith.hdl.verilate import lint

FOLDERS = sorted(folder.name for folder in rtl_root().iterdir() if any(folder.glob("*.sv")))
SOURCES = rtl_sources(*FOLDERS)
NAMED = {
    path.stem: set(re.findall(r"\brs_\w+", path.read_text())) & {each.stem for each in SOURCES}
    for path in SOURCES
}
"""By module or package, the others that its source names."""
NEEDS_PRIMES = "rs_mod_mul_sparse"
"""Has no legal default for its list of primes; rs_mod_mul hands it one."""

FEW = {"Rpaus": 2, "Cores": 2, "DyadicCores": 1}
SMALLER = {
    "rs_rpau_top": FEW,
    "rs_rpau_shell": FEW,
    "rs_rpau_axil": FEW,
    "rs_rpau_uart": FEW,
    "rs_board_ulx3s": FEW,
    "rs_rpau_card": FEW,
    "rs_vector_permute": {"LogLanes": 4},
    "rs_vector_affine": {"LogLanes": 4},
}
"""Sizes with which a large top is checked quickly."""

SMALL = replace(load_design("nano"), rpaus=3, cores=2, dyadic_cores=1)

MODULES = [path.stem for path in SOURCES if not path.stem.endswith("_pkg")]


def needed(module: str) -> list[Path]:
    """The sources of a top: its own, and those of all modules and packages that it names."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= NAMED[name] - found
    return [path for path in SOURCES if path.stem in found]


@pytest.mark.parametrize("module", sorted(set(MODULES) - {NEEDS_PRIMES}))
def test_verilator_has_no_warning_about(module: str) -> None:
    lint(needed(module), module, SMALLER.get(module))


@pytest.mark.full
@pytest.mark.parametrize("module", sorted(SMALLER))
def test_verilator_has_no_warning_about_the_defaults_of_a_large_top(module: str) -> None:
    lint(needed(module), module)


@pytest.mark.parametrize("width", [54, 60])
def test_verilator_has_no_warning_about_the_sparse_multiplier(width: int) -> None:
    assert NEEDS_PRIMES in MODULES
    lint(needed("rs_mod_mul"), "rs_mod_mul", {"Reduction": 1, "Width": width})


@pytest.mark.parametrize(
    "change",
    [
        {"modulus_banks": 3, "twiddles": "stored", "interconnect": "gather", "dyadic_cores": 0},
        {"core_multipliers": 1, "twiddles": "stored", "converters": 2, "conversions": 4},
        {"modulus_banks": 2, "reduction": "sparse", "family": "word48", "dyadic_cores": 4},
        {"cores": 1, "dyadic_cores": 2, "twiddles": "stored", "work_uram_polys": 9, "link": True},
        {
            "reduction": "folded",
            "word_bits": 60,
            "narrow_rpaus": 2,
            "narrow_bits": 54,
            "link": True,
        },
        {"larger_rings": 2, "smaller_rings": 1, "prng": "trivium", "seeds": 4, "link": True},
        {"target": "ecp5", "key_ram": "block", "word_bits": 30, "cores": 1, "dyadic_cores": 1},
        {"target": "ecp5", "key_ram": "block", "prng": "trivium", "seeds": 4},
    ],
    ids=str,
)
def test_verilator_has_no_warning_about_other_designs(change: dict[str, Any]) -> None:
    design = replace(SMALL, **change)
    lint(rtl_sources(*rtl.BUS_FOLDERS), rtl.BUS_TOP, rtl.parameters(design), macros(design.target))


@pytest.mark.parametrize(
    "change",
    [
        {"host_bits": 32},
        {"host_bits": 256, "coprocessors": 2, "larger_rings": 1, "smaller_rings": 1},
        {
            "host_bits": 512,
            "reduction": "folded",
            "word_bits": 60,
            "narrow_rpaus": 2,
            "narrow_bits": 54,
        },
    ],
    ids=str,
)
def test_verilator_has_no_warning_about_cards(change: dict[str, Any]) -> None:
    design = replace(SMALL, **change)
    lint(rtl_sources(*rtl.CARD_FOLDERS), rtl.CARD_TOP, rtl.card_parameters(design))


def test_a_card_without_a_bus_is_refused() -> None:
    with pytest.raises(ParameterError, match="host_bits = 0"):
        rtl.card_parameters(replace(load_design("nano"), coprocessors=2))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"LogRadix": 4, "Reduction": 0, "Clusters": 2, "Ports": 1},
        {"Width": 60, "Ports": 4, "ReadPause": 0},
    ],
    ids=str,
)
def test_verilator_has_no_warning_about_the_simulation_of_vector(values: dict[str, int]) -> None:
    own = sorted((sim_root() / "vector").glob("*.sv"))
    lint([*vector_rtl.accelerator_sources(), *own], "rs_vector_simulation", values)


def test_lint_reports_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "rs_wide.sv"
    source.write_text(
        "// Drops a bit.\n"
        "module rs_wide (input logic [7:0] a_i, output logic [6:0] p_o);\n"
        "  assign p_o = a_i;\n"
        "endmodule\n"
    )
    with pytest.raises(ToolError, match="WIDTHTRUNC"):
        lint([source], "rs_wide")
