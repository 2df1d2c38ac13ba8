"""The latencies that Python knows are those of the SystemVerilog packages, as elaborated."""

import pyslang
import pytest
from pyslang import ast, syntax

from ringsmith.backends.rpau import cost as rpau_cost
from ringsmith.backends.rpau.debug.area_in_part import LUT_RAM_WORDS
from ringsmith.backends.stream import latency as stream_latency
from ringsmith.hdl import latencies
from ringsmith.hdl.sources import rtl_sources


def elaborated(expressions: list[str]) -> list[int]:
    """Values of constant expressions over the packages of ``rtl/``."""
    compilation = ast.Compilation()
    for path in rtl_sources("arith", "prng", "rpau", "stream"):
        if path.stem.endswith("_pkg"):
            compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path)))
    names = [f"V{number}" for number in range(len(expressions))]
    lines = [f"localparam int {n} = {e};" for n, e in zip(names, expressions, strict=True)]
    text = "module asked;\n" + "\n".join(lines) + "\nendmodule"
    compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text))
    errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
    assert not errors, pyslang.DiagnosticEngine.reportAll(compilation.sourceManager, errors)
    (module,) = (each for each in compilation.getRoot().topInstances if each.name == "asked")
    return [int(module.body.lookupName(name).value.value) for name in names]


WIDTHS = [(log_n, width) for log_n in (8, 12, 16) for width in (17, 30, 48, 60)]

CASES = [
    ("rs_arith_pkg::mul_latency()", latencies.MUL_LATENCY),
    ("rs_arith_pkg::mul_low_latency()", latencies.MUL_LOW_LATENCY),
    ("rs_arith_pkg::mod_addsub_latency()", latencies.MOD_ADDSUB_LATENCY),
    ("rs_arith_pkg::mod_halve_latency()", latencies.MOD_HALVE_LATENCY),
    ("rs_arith_pkg::sparse_times_latency()", latencies.SPARSE_TIMES_LATENCY),
    ("rs_arith_pkg::scale_step_latency()", latencies.SCALE_STEP_LATENCY),
    ("rs_arith_pkg::mod_mul_barrett_latency()", latencies.MOD_MUL_LATENCY["barrett"]),
    ("rs_arith_pkg::mod_mul_sparse_latency()", latencies.MOD_MUL_LATENCY["sparse"]),
    ("rs_arith_pkg::pair_latency()", latencies.PAIR_LATENCY),
    ("rs_arith_pkg::mod_mul_folded_latency()", latencies.MOD_MUL_LATENCY["folded"]),
    ("rs_arith_pkg::mod_shorten_latency()", latencies.MOD_SHORTEN_LATENCY),
    ("rs_arith_pkg::DspShort", latencies.DSP_SHORT),
    ("rs_rpau_pkg::RamLatency", latencies.RAM_LATENCY),
    ("rs_rpau_pkg::LutRamWords", LUT_RAM_WORDS),
    ("rs_stream_pkg::RamLatency", latencies.RAM_LATENCY),
    *(
        (f"rs_arith_pkg::scale_step_bits({log_n})", latencies.scale_step_bits(log_n))
        for log_n in range(8, 18)
    ),
    *(
        (
            f"rs_arith_pkg::mod_mul_montgomery_latency({width}, {latencies.scale_step_bits(n)})",
            latencies.montgomery_cycles(n, width),
        )
        for n, width in WIDTHS
    ),
]


def test_latencies_are_those_of_the_packages() -> None:
    assert elaborated([expression for expression, _ in CASES]) == [value for _, value in CASES]


def test_architectures_take_them_from_one_place() -> None:
    """Where an architecture says a number of its own, the two could differ."""
    for module in (rpau_cost, stream_latency):
        own = {name for name in vars(module) if name.endswith("_LATENCY")}
        assert {name: getattr(module, name) for name in own} == {
            name: getattr(latencies, name) for name in own
        }


def test_a_wrong_expression_is_no_number() -> None:
    with pytest.raises(AssertionError, match="mul_latenci"):
        elaborated(["rs_arith_pkg::mul_latenci()"])
