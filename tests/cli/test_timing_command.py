"""`ringsmith timing`: what it prints, writes and refuses, on timing that is made up here.

`test_whole_commands.py` runs it with Yosys, and `tests/hdl/test_timing_paths.py` holds the timing
itself.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from typer.testing import CliRunner, Result

from ringsmith.backends.inspector import Inspector
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.cli.main import app
from ringsmith.errors import ProgramError
from ringsmith.hdl.record import Record, Values
from ringsmith.hdl.timing.graph import WHOLE, Family, Wider, delays
from ringsmith.hdl.timing.report import KEPT_PATHS, Block, TimedPath, Timing

CLOCK, SLOW, FAST = "clk_i", "FDRE LUT6 FDRE", "FDRE LUT2 FDRE"
PATHS = (
    TimedPath("rs_slow", "u_a.command_q", "u_b.gen_x[3].sum_q", 9, 7250, CLOCK, 364, 32, SLOW),
    TimedPath("rs_fast", "u_a.word_q", "u_c.word_q CE", 4, 3100, CLOCK, 12, 1, FAST),
    TimedPath("rs_slow", "u_a.step_q", "u_b.sum_q", 2, 2500, CLOCK, 2, 1, FAST),
)
MADE_UP = Timing((Block("rs_slow", 120, 9, 7250), Block("rs_fast", 7, 4, 3100)), PATHS)


class Asked(NamedTuple):
    """What a netlist is made of."""

    top: str
    parameters: Values
    boxes: tuple[str, ...]
    family: Family
    wider: Wider


@pytest.fixture(autouse=True)
def synthesized(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Makes up the timing of every netlist; returns what was asked for."""
    asked: list[Asked] = []

    def timed(
        top: str,
        folders: object,
        parameters: dict[str, int],
        boxes: Sequence[str] = (),
        family: Family = Family.ULTRASCALE_PLUS,
        wider: Wider = WHOLE,
    ) -> Timing:
        asked.append(Asked(top, parameters, tuple(boxes), family, wider))
        return MADE_UP if len(asked) == 1 else Timing((), ())

    for architecture in ("rpau", "stream", "vector"):
        monkeypatch.setattr(f"ringsmith.backends.{architecture}.debug.area.timed", timed)
    monkeypatch.setattr("ringsmith.debug.timing.yosys", lambda: SimpleNamespace(version="0.0"))
    return asked


def run(*words: object, status: int = 0) -> Result:
    done = CliRunner().invoke(app, ["timing", *map(str, words)], env={"COLUMNS": "240"})
    assert done.exit_code == status, done.output
    return done


def test_blocks_and_worst_paths_are_printed_with_what_they_are() -> None:
    text = run("nano").stdout
    assert "one RPAU with 4 of 4 butterfly cores and 2 of 2 dyadic cores" in text
    assert "nothing was placed or routed" in " ".join(text.split())
    assert delays()[Family.ULTRASCALE_PLUS]["source"] in " ".join(text.split())
    lines = [line for line in text.splitlines() if "rs_slow" in line]
    assert "120" in lines[0]
    assert "7.25" in lines[0]
    assert "u_b.gen_x[3].sum_q" in lines[1]
    # Paths of one block stand together.
    assert [
        line.split()[1] for line in text.splitlines() if ".sum_q" in line or "word_q" in line
    ] == [*("rs_slow", "rs_slow", "rs_fast")]


def test_as_many_paths_are_shown_as_asked_for() -> None:
    text = run("nano", "--paths", 1).stdout
    assert "u_b.gen_x[3].sum_q" in text
    assert "u_c.word_q" not in text
    run("nano", "--paths", 0, status=2)
    run("nano", "--paths", KEPT_PATHS)
    run("nano", "--paths", KEPT_PATHS + 1, status=2)


def test_json_and_page_are_written_and_only_replaced_by_force(tmp_path: Path) -> None:
    data, page = tmp_path / "timing.json", tmp_path / "timing.md"
    words = ("nano", "--json", data, "--page", page)
    done = run(*words)
    assert f"wrote {page}" in done.stdout.replace("\n", "")
    found = json.loads(data.read_text())
    assert (found["format"], found["version"], found["design"]) == ("ringsmith-timing", 1, "nano")
    assert found["delays"] == delays()
    assert [each["delay_ps"] for each in found["paths"]] == [7250, 3100, 2500]
    assert found["blocks"][0] == {"name": "rs_slow", "inputs": 120, "levels": 9, "delay_ps": 7250}
    text = page.read_text()
    assert "`ringsmith timing nano --paths 10 --json" in text
    assert (
        "| `rs_slow` | `clk_i` | 9 | 7.25 | 364 | 32 | `u_a.command_q` | `u_b.gen_x[3].sum_q` |"
        in text
    )
    assert "nothing was placed or routed" in text
    run(*words, status=2)
    run(*words, "--force")


def own(asked: Asked) -> dict[str, int]:
    """The record of what was synthesized."""
    record = asked.parameters["Cfg"]
    assert isinstance(record, Record)
    return record.values


def test_an_rpau_of_each_width_is_timed_and_the_device_without_them(
    synthesized: list[Asked],
) -> None:
    medha = load_design("medha")
    text = run("medha", "--in-part").stdout
    assert "one RPAU with 4 of 16 butterfly cores and 2 of 8 dyadic cores" in text
    assert "60 and 54 bits" in text
    assert "nets to 8 lanes and more count for all" in " ".join(text.split())
    wide, narrow, device, outside = synthesized
    assert [wide.top, narrow.top, device.top] == ["rs_rpau", "rs_rpau", "rs_rpau_top"]
    assert {each.wider for each in synthesized} == {Wider(lanes=8, times=4)}
    assert (outside.top, outside.boxes) == ("rs_rpau_axil", ("rs_rpau_top",))
    for unit, width in ((wide, 60), (narrow, 54)):
        assert (own(unit)["Cores"], own(unit)["Width"]) == (4, width)
        assert unit.parameters["LinkWidth"] == 60
    assert device.boxes == ("rs_rpau",)
    assert (own(device)["Rpaus"], own(device)["Cores"]) == (medha.rpaus, 4)
    assert own(device)["ProgramWords"] == medha.program_words


def test_rpaus_of_one_width_are_timed_once(synthesized: list[Asked]) -> None:
    run("nano")
    assert [each.top for each in synthesized] == ["rs_rpau", "rs_rpau_top", "rs_rpau_axil"]
    assert {each.wider for each in synthesized} == {WHOLE}


def test_a_card_is_timed_with_its_dma(synthesized: list[Asked]) -> None:
    assert "registers, DMA and crossings" in " ".join(run("heaws6").stdout.split())
    assert (synthesized[-1].top, synthesized[-1].boxes) == ("rs_rpau_card", ("rs_rpau_top",))


def test_a_streaming_multiplier_is_timed_whole(synthesized: list[Asked]) -> None:
    assert "the whole device, 2 words of 30 bits a cycle" in run("rpm").stdout
    assert [each.top for each in synthesized] == ["rs_stream_axis"]
    assert synthesized[0].family == Family.SERIES_7
    assert "leave --in-part out" in run("rpm", "--in-part", status=2).stderr.replace("\n", " ")


def test_a_vector_array_is_timed_in_four_parts(synthesized: list[Asked]) -> None:
    text = run("framework-512", "--in-part").stdout
    assert "a unit of 16 lanes, the network, a cluster without both" in text
    lanes = "with 16 of 256 lanes; nets to 16 lanes and more count for all"
    assert lanes in " ".join(text.split())
    unit, network, cluster, shell = synthesized
    assert (shell.top, shell.boxes) == ("rs_vector_shell", ("rs_vector_core",))
    assert [each.wider for each in synthesized] == [WHOLE, *[Wider(lanes=16, times=16)] * 3]
    assert "crossings" in " ".join(run("vector-1024", "--in-part").stdout.split())
    assert [unit.top, network.top, cluster.top] == [
        *("rs_vector_unit", "rs_vector_permute", "rs_vector_core")
    ]
    assert network.parameters == {"Width": 32, "LogLanes": 4, "LogRadix": 4}
    assert cluster.boxes == (unit.top, network.top)
    assert own(cluster)["BankRows"] == 65536


def test_what_cannot_be_timed_is_refused_by_name() -> None:
    assert "nothing" in run("nothing", status=2).stderr
    assert (
        "dyadic_cores = 2, and a part of it one in 4" in run("nano", "--in-part", status=2).stderr
    )

    class Other(Inspector):
        architecture = "abacus"

    with pytest.raises(ProgramError, match="architecture abacus is not timed"):
        Other().timing(load_design("nano"), in_part=False)
