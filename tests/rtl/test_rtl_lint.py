"""Verilator's warnings, all of them, on every module of rtl/ as a top of its own.

Linting only the accelerator's top would pass over a module that no design uses yet, and over the
parameter defaults that people try first.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyslang
import pytest
from pyslang import analysis, ast, syntax

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.rtl import VERILATOR_FLAGS
from ringsmith.backends.vector.design import rtl as vector_rtl
from ringsmith.backends.vector.design.design import MONTGOMERY, VectorDesign
from ringsmith.errors import ParameterError, ToolError
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import include_folders, macros, rtl_root, rtl_sources, sim_root
from ringsmith.hdl.toolchain import run_verilator
from ringsmith.hdl.verilate import lint

FOLDERS = sorted(
    (folder.name for folder in rtl_root().iterdir() if any(folder.glob("*.sv"))),
    key=lambda name: (name != "mem", name),  # a package behind those that it imports
)
SOURCES = rtl_sources(*FOLDERS)
NAMED = {
    path.stem: set(re.findall(r"\brs_\w+", path.read_text())) & {each.stem for each in SOURCES}
    for path in SOURCES
}
"""By module or package, the others that its source names."""
NEEDS_PRIMES = "rs_mod_mul_sparse"
"""Has no legal default for its list of primes; rs_mod_mul hands it one."""

FEW = rtl.parameters(replace(load_design("nano"), rpaus=2, cores=2, dyadic_cores=1))
SMALLER: Mapping[str, Values] = {
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

VECTOR = vector_rtl.configuration(
    VectorDesign("small", 12, 4, 2, 32, MONTGOMERY, bank_rows=1024, table_rows=1024)
)

SMALL = replace(load_design("nano"), rpaus=3, cores=2, dyadic_cores=1, work_polys=6)

MODULES = [path.stem for path in SOURCES if path.suffix == ".sv" and not path.stem.endswith("_pkg")]
INSIDE = {"rs_rpau_top", "rs_rpau_shell", "rs_rpau_uart", rtl.BUS_TOP, rtl.CARD_TOP}
"""Large tops that others hold with the same parameters, or that are checked as other designs."""


def needed(module: str) -> list[Path]:
    """The sources of a top: its own, and those of all modules and packages that it names."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= NAMED[name] - found
    return [path for path in SOURCES if path.stem in found]


@pytest.mark.parametrize("module", sorted(set(MODULES) - {NEEDS_PRIMES} - INSIDE))
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
        {"cores": 1, "dyadic_cores": 2, "twiddles": "stored", "work_uram_polys": 3, "link": True},
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
        {"Cfg": VECTOR.changed(LogRadix=4, Reduction=0, Clusters=2, Ports=1)},
        {"Cfg": VECTOR.changed(Width=60, Ports=4), "ReadPause": 0},
    ],
    ids=str,
)
def test_verilator_has_no_warning_about_the_simulation_of_vector(values: Values) -> None:
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


# ---- No variable of an accelerator is written by two processes, by the letter of IEEE 1800 -------

# There the index of a loop inside a process is no constant: such a process drives the whole array.
# Verilator and Yosys unroll the loop and accept it; other tools report several drivers.


SEVERAL = {"MultipleAlwaysAssigns", "MixedVarAssigns", "MultipleContAssigns"}

TWO = """
module two (input logic clk_i, input logic d_i [4], output logic q_o [4]);
  for (genvar g = 0; g < 2; g++) begin : gen_half
    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < 2; i++) q_o[2*g+i] <= d_i[2*g+i];
    end
  end
endmodule
"""


def driven_twice(trees: Sequence[syntax.SyntaxTree], top: str, values: Sequence[str]) -> set[str]:
    """Files in which a variable below a top module has several drivers."""
    options = ast.CompilationOptions()
    options.topModules = {top}
    options.paramOverrides = list(values)
    compilation = ast.Compilation(pyslang.Bag([options]))
    for tree in trees:
        compilation.addSyntaxTree(tree)
    errors = [each for each in compilation.getAllDiagnostics() if each.isError()]
    manager = compilation.sourceManager
    assert not errors, pyslang.DiagnosticEngine.reportAll(manager, errors)
    strictly = analysis.AnalysisOptions()
    strictly.maxLoopAnalysisSteps = 1  # no loop is unrolled
    analyzed = analysis.AnalysisManager(strictly)
    analyzed.analyze(compilation)
    return {
        Path(manager.getFileName(each.location)).name
        for each in analyzed.getDiagnostics()
        if str(each.code).removeprefix("DiagCode(").removesuffix(")") in SEVERAL
    }


def as_options(values: Values) -> list[str]:
    """Parameters as ``Name=value``."""
    return [f"{name}={value}" for name, value in values.items()]


LARGE = replace(load_design("nano"), word_bits=60, prng="trivium", seeds=2, link=True)
RPAUS = [
    as_options(rtl.parameters(replace(LARGE, reduction=name, family=family, twiddles=twiddles)))
    for name, family in (("barrett", "none"), ("sparse", "medha"), ("folded", "none"))
    for twiddles in ("generated", "stored")
]
STREAMED = replace(load_design("nano"), coprocessors=3, host_bits=128)


VECTORS = [
    [f"Cfg={VECTOR.changed(LogRadix=radix, Reduction=kind)}"] for radix in (2, 4) for kind in (0, 1)
]
DMAS = [[f"Cfg='{{3, {bits}, 4, 30, 9, 1, 4}}"] for bits in (32, 128, 256, 512)]
"""Three channels, on buses of four widths."""


@pytest.mark.parametrize(
    ("top", "values"),
    [
        *(("rs_rpau_axil", values) for values in RPAUS),
        ("rs_stream_axis", []),
        *(("rs_dma", values) for values in DMAS),
        ("rs_rpau_card", as_options(rtl.card_parameters(STREAMED))),
        *(("rs_vector_array", values) for values in VECTORS),
        *(("rs_vector_core", values) for values in VECTORS),
        ("rs_vector_table", []),
    ],
)
def test_no_variable_has_two_drivers(top: str, values: list[str]) -> None:
    manager = pyslang.SourceManager()
    for folder in include_folders(SOURCES):
        manager.addUserDirectories(str(folder))
    trees = [syntax.SyntaxTree.fromFile(str(path), manager) for path in SOURCES]
    assert driven_twice(trees, top, values) == set()


def test_a_loop_over_a_shared_array_is_two_drivers() -> None:
    assert driven_twice([syntax.SyntaxTree.fromText(TWO)], "two", [])


# ---- RPAUs of one device, and their multipliers, are one sub-polynomial of simulated code --------


SHARED_SMALL = replace(
    load_design("nano"), name="small", log_n=8, rpaus=2, cores=2, dyadic_cores=1, work_polys=4
)
OPTIONS = ("--cc", "-O3", "--no-timing", "--quiet", "--noassert", *VERILATOR_FLAGS)


def code_of(kind: str, design: RpauDesign, folder: Path) -> int:
    """Bytes of C++ that Verilator writes for the modules of one kind."""
    values = [f"-G{name}={value}" for name, value in rtl.parameters(design).items()]
    sources = rtl_sources(*rtl.FOLDERS)
    include = [f"-I{each}" for each in include_folders(sources)]
    files = [*include, rtl_root() / "verilator.vlt", *sources]
    target = folder / design.name
    target.mkdir()
    run_verilator([*OPTIONS, "--top-module", rtl.TOP, *values, *files, "-Mdir", target], folder)
    written = [file for file in target.glob("*.cpp") if f"_{kind}__" in file.name]
    assert written
    return sum(file.stat().st_size for file in written)


@pytest.mark.parametrize("interconnect", ["ring", "gather"])
def test_more_rpaus_are_hardly_more_code(tmp_path: Path, interconnect: str) -> None:
    few = replace(SHARED_SMALL, name="few", interconnect=interconnect)
    many = replace(few, name="many", rpaus=6)
    assert code_of("rs_rpau", many, tmp_path) < 1.1 * code_of("rs_rpau", few, tmp_path)


@pytest.mark.parametrize(("reduction", "family"), [("barrett", "none"), ("sparse", "word48")])
def test_more_lanes_are_no_more_code_of_multipliers(
    tmp_path: Path, reduction: str, family: str
) -> None:
    kind = f"rs_mod_mul_{reduction}"
    small = replace(SHARED_SMALL, reduction=reduction, family=family)
    wide = replace(small, name="wide", cores=4)
    assert code_of(kind, wide, tmp_path) < 1.1 * code_of(kind, small, tmp_path)
