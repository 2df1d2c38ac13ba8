"""Traces of programs: issue reasons, the critical path, busy shares, gaps, and their pictures."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.timings import BY_HAND
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.executable import Executable, read_executable
from ringsmith.backends.rpau.debug.perfetto import perfetto_json
from ringsmith.backends.rpau.debug.picture import timeline_picture
from ringsmith.backends.rpau.debug.random_program import random_program
from ringsmith.backends.rpau.debug.report import listing
from ringsmith.backends.rpau.debug.summary import (
    FETCH,
    busy_cycles,
    busy_share,
    critical_path,
    gaps,
    shares,
)
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.isa.assembler import assemble, parse_instruction
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.backends.timeline.views import (
    COLOURS,
    NO_OPERATION,
    ink,
    tick_distance,
    timeline_page,
)
from ringsmith.cli.main import app
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

SMALL = replace(load_design("nano"), name="small", log_n=8, rpaus=3, cores=2, dyadic_cores=1)

#            start  end  waits for
# 0 ntt          4  104  its fetch
# 1 dmul         8  258  its fetch
# 2 intt       104  204  #0, whose unit it needs
# 3 ntt @2     108  208  its fetch, after #2
# 4 add        258  358  #1, by its wait bit
# 5 halt       358       #4
PROGRAM = """
ntt p0, p0 @0-1
dmul p1, p2, p3 @0
intt p0, p0 @0-1
ntt p0, p0 @2
add p4, p1, p1 @0 wait(dyadic)
halt
"""
STARTS = (4, 8, 104, 108, 258, 358)
ORIGINS = ("rotate:1", "multiply:2", "rotate:1", "rotate:3", "add:4", "halt")


@pytest.fixture
def by_hand() -> Trace:
    words = assemble(PROGRAM, SMALL)
    return Trace.of_run(SMALL, words, STARTS, origins=ORIGINS, timing=BY_HAND)


@pytest.fixture(scope="module")
def rotation() -> Executable:
    parameters = parameter_set("nano")
    graph = lower_operation("rotate", parameters, parameters.limbs)
    executable = runtime.compile_graph(graph, "nano").executable
    assert executable is not None
    return executable


def random_trace(seed: int) -> Trace:
    program = random_program(SMALL, seed, 60)
    words = [int(word) for word in program.words]
    return Trace.of_run(SMALL, words, program.starts)


def test_a_trace_says_when_each_instruction_ends_and_what_it_waited_for(by_hand: Trace) -> None:
    assert [event.end for event in by_hand.events] == [104, 258, 204, 208, 358, 358]
    assert [event.blocker for event in by_hand.events] == [None, None, 0, None, 1, 4]
    assert by_hand.cycles == 358
    assert [event.index for event in by_hand.lane(0, "main")] == [0, 2, 4]
    assert [event.index for event in by_hand.lane(2, "main")] == [3]
    assert by_hand.operations() == ["rotate", "multiply", "add"]


def test_the_critical_path_of_a_program_worked_out_by_hand(by_hand: Trace) -> None:
    steps = [(s.begin, s.end, s.event.index, s.fetching) for s in critical_path(by_hand)]
    assert steps == [
        (0, 4, 0, True),
        (4, 8, 1, True),
        (8, 258, 1, False),
        (258, 358, 4, False),
    ]
    found = {share.operation: share for share in shares(by_hand)}
    assert {name: share.critical_cycles for name, share in found.items()} == {
        "multiply": 250,
        "add": 100,
        "rotate": 0,
        FETCH: 8,
    }
    assert (found["rotate"].count, found["rotate"].instructions) == (2, 3)
    assert found["rotate"].unit_cycles == 2 * 100 + 2 * 100 + 100


def test_busy_shares_and_gaps_of_a_program_worked_out_by_hand(by_hand: Trace) -> None:
    assert [busy_cycles(by_hand, rpau, "main") for rpau in range(3)] == [300, 200, 100]
    assert busy_share(by_hand, "dyadic") == pytest.approx(250 / 3 / 358)
    found = {(gap.unit, gap.rpaus): gap for gap in gaps(by_hand) if gap.begin not in (0, 4)}
    waiting = found["main", (0,)]
    assert (waiting.begin, waiting.end, waiting.before) == (204, 258, by_hand.events[4])
    assert waiting.reason == "waits for #1 dmul (multiply:2)"
    last = found["dyadic", (0,)]
    assert (last.begin, last.end, last.before, last.reason) == (258, 358, None, "no work left")
    start = next(gap for gap in gaps(by_hand) if gap.rpaus == (2,) and gap.unit == "main")
    assert (start.begin, start.end) == (208, 358)
    queue = next(gap for gap in gaps(by_hand) if gap.before == by_hand.events[3])
    assert queue.reason == "queues behind #2 intt (rotate:1), which waits for #0 ntt (rotate:1)"


def test_gaps_come_with_the_greatest_waste_first(by_hand: Trace) -> None:
    wasted = [gap.cycles * len(gap.rpaus) for gap in gaps(by_hand)]
    assert wasted == sorted(wasted, reverse=True)
    idle = sum(wasted)
    busy = sum(
        busy_cycles(by_hand, rpau, unit) for rpau in range(3) for unit in ISA.units_of(SMALL)
    )
    assert idle + busy == 2 * 3 * by_hand.cycles


@pytest.mark.parametrize("seed", range(30))
def test_every_cycle_of_a_random_program_is_attributed_exactly_once(seed: int) -> None:
    trace = random_trace(seed)
    steps = critical_path(trace)
    assert (steps[0].begin, steps[-1].end) == (0, trace.cycles)
    assert all(one.end == other.begin for one, other in pairwise(steps))
    assert sum(share.critical_cycles for share in shares(trace)) == trace.cycles
    for step in steps:  # nothing on the path is longer than what it waits for
        assert step.end - step.begin <= max(step.event.end - step.event.start, trace.fetch_cycles)


def test_the_models_run_gives_the_schedulers_trace(rotation: Executable) -> None:
    assert Trace.of_model(rotation) == Trace.of_executable(rotation)
    assert Trace.of_executable(rotation).cycles == rotation.cycles


def test_starts_that_break_the_issue_rule_are_refused() -> None:
    words = assemble(PROGRAM, SMALL)
    late = (4, 8, 105, *STARTS[3:])
    with pytest.raises(
        ProgramError, match=r"instruction 2 \(intt p0, p0 .* in cycle 105, .* in 104"
    ):
        Trace.of_run(SMALL, words, late, timing=BY_HAND)
    with pytest.raises(ProgramError, match="6 instructions have 5 starts and 6 origins"):
        Trace.of_run(SMALL, words, STARTS[:-1], timing=BY_HAND)


def test_a_listing_has_a_line_for_every_instruction_that_reads_back(rotation: Executable) -> None:
    trace = Trace.of_executable(rotation)
    heading, *lines = listing(trace)
    assert heading.split()[:4] == ["#", "cycle", "end", "unit"]
    assert len(lines) == len(rotation.words)
    column = heading.index("instruction")
    for line, event in zip(lines, trace.events, strict=True):
        assert line.split()[:2] == [str(event.index), str(event.start)]
        assert parse_instruction(line[column:], rotation.design) == event.instruction


def test_a_picture_has_a_bar_for_every_instruction_in_every_rpau(rotation: Executable) -> None:
    trace = Trace.of_executable(rotation)
    picture = ElementTree.fromstring(timeline_picture(trace, "a < b").svg())  # noqa: S314 - our own
    space = {"s": "http://www.w3.org/2000/svg"}
    bars = picture.findall(".//s:g[@class='bar']", space)
    hovers = [bar.findtext("s:title", "", space) for bar in bars]
    for event in trace.events[:-1]:
        mine = [h for h in hovers if h.startswith(f"#{event.index} ")]
        assert len(mine) == len(event.instruction.rpaus())
        assert all(event.text in hover and f"{event.start:,} to" in hover for hover in mine)
    text = " ".join(picture.itertext())
    assert "a < b on nano" in text
    assert f"{trace.cycles:,} cycles" in text
    assert f"main {busy_share(trace, 'main'):.1%}" in text


def test_bars_of_a_picture_lie_where_the_cycles_do(by_hand: Trace) -> None:
    picture = timeline_picture(by_hand).svg()
    place = re.compile(r'>#4  add.*?<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', re.DOTALL)
    found = place.search(picture)
    assert found is not None
    scale = (1600 - 150 - 70) / 358
    assert float(found[1]) == pytest.approx(150 + 258 * scale, abs=0.01)
    assert float(found[2]) == pytest.approx(100 * scale, abs=0.01)


def test_the_page_holds_the_picture_and_reaches_nothing_outside(rotation: Executable) -> None:
    trace = Trace.of_executable(rotation)
    picture = timeline_picture(trace, "rotate")
    page = timeline_page(picture)
    assert picture.svg() in page
    links = set(re.findall(r"https?://[^\"' )]+", page))
    assert links == {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert not re.search(r"<(link|img|iframe|script)[^>]+(src|href)", page)
    assert f"CYCLES = {trace.cycles}" in page


def test_the_perfetto_file_keeps_to_the_trace_event_format(rotation: Executable) -> None:
    """The fields that the format requires of each phase, and bars of a thread never overlap."""
    trace = Trace.of_executable(rotation)
    file = json.loads(perfetto_json(trace, "rotate"))
    assert file["displayTimeUnit"] in ("ms", "ns")
    required = {"ph": str, "pid": int, "tid": int, "ts": int, "name": str, "args": dict}
    threads: dict[tuple[int, int], list[tuple[int, int]]] = {}
    named = set()
    for event in file["traceEvents"]:
        assert all(isinstance(event[field], kind) for field, kind in required.items())
        assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] > 0
            assert isinstance(event["cat"], str)
            place = (event["pid"], event["tid"])
            threads.setdefault(place, []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "M":
            assert event["name"].endswith(("_name", "_sort_index"))
            (key,) = event["args"]
            assert key == event["name"].split("_", 1)[1]
            if event["name"] == "thread_name":
                named.add((event["pid"], event["tid"]))
        else:
            assert event["ph"] == "C"
            assert all(0 <= value <= trace.design.rpaus for value in event["args"].values())
    assert named >= threads.keys()
    for spans in threads.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))
    bars = sum(len(event.instruction.rpaus()) for event in trace.events if event.unit != "control")
    assert sum(map(len, threads.values())) == bars + len(critical_path(trace))
    last = [event for event in file["traceEvents"] if event["ph"] == "C"][-1]
    assert set(last["args"].values()) == {0}


def test_every_he_operation_has_a_colour_of_its_own() -> None:
    operations = set(Op) - {Op.INPUT, Op.OUTPUT}
    assert operations <= COLOURS.keys()
    assert len({*COLOURS.values(), NO_OPERATION}) == len(COLOURS) + 1
    assert ink("#ffffff") != ink("#000000")


@pytest.mark.parametrize(
    ("cycles", "distance"), [(1, 1), (9, 1), (100, 10), (101, 20), (911440, 100000), (358, 50)]
)
def test_an_axis_has_round_numbers(cycles: int, distance: int) -> None:
    assert tick_distance(cycles) == distance


def test_the_trace_command_writes_all_its_files(tmp_path: Path, rotation: Executable) -> None:
    names = ("html", "svg", "perfetto", "save")
    paths = {name: str(tmp_path / f"trace.{name}") for name in names}
    options = [word for name in names for word in (f"--{name}", paths[name])]
    done = CliRunner().invoke(app, ["trace", "--operation", "rotate", *options])
    assert done.exit_code == 0, done.output
    assert f"{rotation.cycles:,}" in done.output
    saved = read_executable(Path(paths["save"]).read_text())
    assert saved == rotation
    again = CliRunner().invoke(app, ["trace", paths["save"], "--model", "--listing"])
    assert again.exit_code == 0, again.output
    assert again.output.splitlines() == list(listing(Trace.of_executable(rotation)))


@pytest.mark.parametrize("arguments", [[], ["--logreg", "--operation", "rotate"]])
def test_the_trace_command_wants_exactly_one_program(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["trace", *arguments])
    assert done.exit_code == 2
    assert "name one program" in done.output


def test_random_programs_keep_every_unit_of_the_mask_busy() -> None:
    """Lanes and instructions tell the same story."""
    trace = random_trace(5)
    for rpau in range(SMALL.rpaus):
        for unit in ISA.execution_units:
            lane = trace.lane(rpau, unit)
            assert all(one.end <= other.start for one, other in pairwise(lane))
    total = sum(
        busy_cycles(trace, rpau, unit)
        for rpau in range(SMALL.rpaus)
        for unit in ISA.execution_units
    )
    assert total == sum(share.unit_cycles for share in shares(trace))
    assert np.isclose(
        total / trace.cycles / SMALL.rpaus,
        sum(busy_share(trace, unit) for unit in ISA.execution_units),
    )
