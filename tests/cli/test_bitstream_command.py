"""`ringsmith bitstream`: what it prints, writes and refuses, on a netlist that is made up here.

`test_whole_commands.py` runs it with Yosys and nextpnr.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ringsmith.backends.registry import named_design
from ringsmith.backends.rpau.design import rtl
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ToolError
from ringsmith.hdl.ecp5 import flow
from ringsmith.hdl.ecp5.boards import BOARDS, Board, constraints
from ringsmith.hdl.ecp5.flow import Hierarchy
from ringsmith.hdl.ecp5.pll import pll_for
from ringsmith.hdl.ecp5.report import Implemented

ULX3S = BOARDS["ulx3s"]


def report(reached: float) -> str:
    """A report as nextpnr writes it."""
    step = {"type": "logic", "delay": 1.5, "to": {"cell": "u_x.sum_q", "port": "DI"}}
    paths = [{"from": "posedge clk", "to": "posedge clk", "path": [step, step]}]
    clocks = {
        "clk": {"achieved": reached, "constraint": 75.0},
        "in": {"achieved": 500.0, "constraint": 25.0},
    }
    used = {"DP16KD": {"used": 190, "available": 208}, "DCCA": {"used": 0, "available": 56}}
    return json.dumps({"fmax": clocks, "utilization": used, "critical_paths": paths})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Hierarchy, int]]:
    """Makes up every netlist and its place and route; returns what was asked for."""
    made: list[tuple[Hierarchy, int]] = []
    (tmp_path / flow.BITSTREAM).write_bytes(b"bits")

    def bitstream(design: Hierarchy, board: Board, seed: int) -> tuple[Implemented, Path]:
        made.append((design, seed))
        return Implemented.of(report(80.5 if seed != 3 else 70.5)), tmp_path

    monkeypatch.setattr(flow, "netlist", lambda _: tmp_path)
    monkeypatch.setattr(flow, "cells", lambda _: Counter({"DP16KD": 190}))
    monkeypatch.setattr(flow, "bitstream", bitstream)
    return made


def run(*words: object, status: int = 0) -> Result:
    given = ["bitstream", *map(str, words)]
    done = CliRunner().invoke(app, given, env={"COLUMNS": "160"})
    assert done.exit_code == status, done.output
    return done


def test_the_command_writes_bitstream_constraints_and_timing(
    asked: list[tuple[Hierarchy, int]], tmp_path: Path
) -> None:
    out = tmp_path / "made" / "here"
    text = run("pico", "--board", "ulx3s", "-o", out).stdout
    assert "80.5" in text
    assert "190" in text
    assert {file.name for file in out.iterdir()} == {
        "pico-ulx3s.bit",
        "pico-ulx3s.lpf",
        "pico-ulx3s-timing.txt",
    }
    assert (out / "pico-ulx3s.bit").read_bytes() == b"bits"
    assert (out / "pico-ulx3s.lpf").read_text() == constraints(ULX3S)
    timing = (out / "pico-ulx3s-timing.txt").read_text()
    assert "clk  75.00  80.50" in timing
    assert "u_x.sum_q.DI" in timing
    assert "3.000  in all" in timing
    ((whole, seed),) = asked
    design = rtl.parameters(named_design("pico"))
    assert seed == 1
    assert whole.top == "rs_board_ulx3s"
    assert design.items() <= whole.parameters.items()
    assert whole.parameters["ClockHz"] == 50_000_000


def test_files_that_exist_are_not_replaced_unasked(
    asked: list[tuple[Hierarchy, int]], tmp_path: Path
) -> None:
    run("pico", "--board", "ulx3s", "-o", tmp_path)
    again = run("pico", "--board", "ulx3s", "-o", tmp_path, status=2)
    assert "exists and is not overwritten" in again.stderr
    assert len(asked) == 1
    run("pico", "--board", "ulx3s", "-o", tmp_path, "--force")


def test_a_clock_that_is_not_reached_writes_nothing(
    asked: list[tuple[Hierarchy, int]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("pico", "--board", "ulx3s", "-o", out, "--seed", 3, status=2)
    assert "clock clk reaches 70.5 of 75.0 MHz: nothing is written: lower --clock" in done.stderr
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pico", "--board", "ulx4"], "board 'ulx4' is not known: choose one of ulx3s"),
        (["pico", "--board", "ulx3s", "--clock", "80"], "80 MHz cannot be made.*take 75 or 87.5"),
        (["nano", "--board", "ulx3s"], "target = 'xilinx', and board ulx3s has an ECP5"),
        (["rpm", "--board", "ulx3s"], "architecture stream is built for no board"),
    ],
)
def test_what_cannot_be_built_is_refused(words: list[str], message: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    error = run(*words, "-o", out, status=2).stderr
    assert re.search(message, error)
    assert not out.exists()


def test_a_netlist_that_is_too_large_is_refused_by_name() -> None:
    flow.check_fits("pico", {"DP16KD": 208}, ULX3S)
    with pytest.raises(ToolError, match=r"design big does not fit .*: it takes 209 DP16KD of 208"):
        flow.check_fits("big", {"DP16KD": 209, "MULT18X18D": 156}, ULX3S)


def test_cells_are_counted_of_the_top_alone(tmp_path: Path) -> None:
    netlist = tmp_path / "netlist.json"
    kinds = ["LUT4", "LUT4", "CCU2C", "TRELLIS_DPR16X4", "DP16KD"]
    modules = {
        "top": {
            "attributes": {"top": "00000000000000000000000000000001"},
            "cells": {str(number): {"type": kind} for number, kind in enumerate(kinds)},
        },
        "LUT4": {"attributes": {"blackbox": "1"}, "cells": {}},
    }
    netlist.write_text(json.dumps({"modules": modules}))
    found = flow.cells(netlist)
    assert (found["LUT4"], found["DP16KD"]) == (2 + 2 + 4, 1)


def test_a_report_that_cannot_be_read_is_refused() -> None:
    for text in ("", "[]", '{"fmax": {}}', '{"fmax": {"clk": {}}, "utilization": {}}'):
        with pytest.raises(ToolError, match="nextpnr's report cannot be read"):
            Implemented.of(text)


@pytest.mark.parametrize("mhz", [50, 62.5, 75, 87.5, 100, 112.5, 125])
def test_dividers_make_the_clock_within_the_plls_limits(mhz: float) -> None:
    pll = pll_for(25, mhz)
    assert 25 / pll.input_divider * pll.feedback_divider == mhz
    assert pll.hertz == mhz * 1_000_000
    assert 25 / pll.input_divider >= 10
    assert 400 <= mhz * pll.output_divider <= 800


def test_a_clock_between_those_of_the_pll_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"take 62\.5 or 75"):
        pll_for(25, 70)


def test_every_pin_of_a_board_is_a_port_of_its_top_module() -> None:
    for board in BOARDS.values():
        source = next(f for f in flow.rtl_sources(*rtl.BOARD_FOLDERS) if f.stem == board.top)
        header = source.read_text().partition(") (")[2].partition(");")[0]
        ports = [line.split()[2].rstrip(",") for line in header.splitlines() if " logic " in line]
        assert sorted(pin.port for pin in board.pins) == sorted(ports)
        assert len({pin.site for pin in board.pins}) == len(board.pins)
