"""No variable of an accelerator is written by two processes, by the letter of IEEE 1800.

There the index of a loop inside a process is no constant: such a process drives the whole array.
Verilator and Yosys unroll the loop and accept it; other tools report several drivers.
"""

from collections.abc import Sequence
from pathlib import Path

import pyslang
import pytest
from pyslang import analysis, ast, syntax

from ringsmith.hdl.sources import rtl_root, rtl_sources

FOLDERS = sorted(folder.name for folder in rtl_root().iterdir() if any(folder.glob("*.sv")))
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


RPAUS = [
    [
        *(f"Reduction={reduction}", f"Family={int(reduction == 1)}", f"Twiddles={stored}"),
        *("Width=60", "Prng=1", "Seeds=2", "Link=1"),
    ]
    for reduction in (0, 1, 2)
    for stored in (0, 1)
]


VECTORS = [[f"LogRadix={radix}", f"Reduction={kind}"] for radix in (2, 4) for kind in (0, 1)]
DMAS = [["Channels=3", f"DataBits={bits}"] for bits in (32, 128, 256, 512)]


@pytest.mark.parametrize(
    ("top", "values"),
    [
        *(("rs_rpau_axil", values) for values in RPAUS),
        ("rs_stream_axis", []),
        *(("rs_dma", values) for values in DMAS),
        ("rs_rpau_card", ["Coprocessors=3", "KeyStream=1"]),
        *(("rs_vector_array", values) for values in VECTORS),
        *(("rs_vector_core", values) for values in VECTORS),
        ("rs_vector_table", []),
    ],
)
def test_no_variable_has_two_drivers(top: str, values: list[str]) -> None:
    trees = [syntax.SyntaxTree.fromFile(str(path)) for path in rtl_sources(*FOLDERS)]
    assert driven_twice(trees, top, values) == set()


def test_a_loop_over_a_shared_array_is_two_drivers() -> None:
    assert driven_twice([syntax.SyntaxTree.fromText(TWO)], "two", [])
