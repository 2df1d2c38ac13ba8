"""Programs of the vector architecture in time: every cycle has a reason, every part its bars."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.backends.vector.test_programs import (
    RADIX_16,
    SETS,
    SLOW_CARD,
    TWO,
    parameters,
    random_graph,
)
from typer.testing import CliRunner

from ringsmith.backends.inspector import Wanted
from ringsmith.backends.timeline.views import timeline_page
from ringsmith.backends.vector.backend import BACKEND, VectorBackend
from ringsmith.backends.vector.compiler.compile import (
    compile_graph,
    executable_text,
    read_executable,
)
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import Transfer
from ringsmith.backends.vector.debug.designs import VectorRow, vector_area_table, vector_section
from ringsmith.backends.vector.debug.inspector import part_of
from ringsmith.backends.vector.debug.perfetto import busy_over_time, perfetto_json
from ringsmith.backends.vector.debug.picture import timeline_picture
from ringsmith.backends.vector.debug.report import listing
from ringsmith.backends.vector.debug.summary import DRAIN, RESULTS, WORKING, shares, waits
from ringsmith.backends.vector.debug.trace import COMPUTING, LOADS, PARTS, STORES, Trace
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.cli.main import app
from ringsmith.errors import ProgramError
from ringsmith.hdl.synthesis import Area
from ringsmith.lower import lower_operation

FAR = replace(RADIX_16, name="far", ports=1, platform=SLOW_CARD)
DESIGNS = [RADIX_16, TWO, FAR]


def executable_of(design: VectorDesign, operation: str = "rotate") -> VectorExecutable:
    of = parameters(design, SETS[1])
    return compile_graph(lower_operation(operation, of, of.limbs), design)


@pytest.fixture(scope="module", params=DESIGNS, ids=lambda design: design.name)
def traced(request: pytest.FixtureRequest) -> Trace:
    design = request.param
    random = np.random.default_rng(list(design.name.encode()))
    return Trace.of_executable(
        compile_graph(random_graph(parameters(design, SETS[1]), random), design)
    )


def test_every_instruction_is_an_event_in_the_cycle_of_the_schedule(traced: Trace) -> None:
    executable = traced.executable
    for cluster, (program, times) in enumerate(
        zip(executable.programs, executable.schedules, strict=True)
    ):
        for name, listed, spans in (
            (LOADS, program.loads, times.loads),
            (COMPUTING, program.computing, times.computing),
            (STORES, program.stores, times.stores),
        ):
            events = traced.listed(cluster, name)
            assert len(events) == len(listed)
            begins = [span.first if isinstance(span, Transfer) else span.begin for span in spans]
            assert [event.begin for event in events] == begins
            assert all(event.end <= span.end for event, span in zip(events, spans, strict=True))
            assert all(0 < event.busy <= event.end - event.begin for event in events)


def test_parts_do_one_thing_at_a_time_and_are_as_busy_as_the_executable_says(
    traced: Trace,
) -> None:
    clusters = range(len(traced.clusters))
    for cluster in clusters:
        for part in PARTS:
            lane = traced.lane(cluster, part)
            assert all(one.end <= other.begin for one, other in pairwise(lane))
    for part, share in traced.executable.busy.items():
        found = [traced.busy(cluster, part) for cluster in clusters]
        assert sum(found) / len(found) == pytest.approx(share)


def test_cycles_by_operation_and_by_wait_add_up_to_the_programs(traced: Trace) -> None:
    assert sum(share.cycles for share in shares(traced)) == traced.cycles
    assert sum(share.instructions for share in shares(traced)) == traced.instructions
    kinds = dict.fromkeys(name.partition(":")[0] for name, _ in traced.executable.spans)
    assert kinds.keys() <= {share.operation for share in shares(traced)}
    for cluster in range(len(traced.clusters)):
        found = waits(traced, cluster)
        assert sum(found.values()) == traced.cycles
        assert min(found.values()) >= 0
        assert found[WORKING] == pytest.approx(traced.busy(cluster, "scratchpad") * traced.cycles)


def test_operations_have_the_cycles_of_the_executables_spans() -> None:
    executable = executable_of(RADIX_16, "multiply_relinearize")
    counted: Counter[str] = Counter()
    for name, cycles in executable.spans:
        counted[name.partition(":")[0]] += cycles
    found = {share.operation: share.cycles for share in shares(Trace.of_executable(executable))}
    assert counted.items() <= found.items()


def test_explain_counts_every_cycle_for_one_node(traced: Trace) -> None:
    by_node = BACKEND.explain(traced.executable).by_node
    assert by_node is not None
    assert sum(by_node.values()) == traced.executable.cycles
    assert by_node.keys() == {int(name.partition(":")[2]) for name, _ in traced.executable.spans}


def test_a_slow_memory_is_what_a_program_waits_for() -> None:
    near, far = (waits(Trace.of_executable(executable_of(each)), 0) for each in (RADIX_16, FAR))
    assert far[WORKING] == near[WORKING]
    memory = ("operands from memory", "factors of transforms")
    assert sum(far.get(name, 0) for name in memory) > 4 * sum(near.get(name, 0) for name in memory)
    assert far[DRAIN] > near[DRAIN]
    assert RESULTS in far


def test_each_load_belongs_to_the_operation_that_takes_it(traced: Trace) -> None:
    for cluster in range(len(traced.clusters)):
        operations = {event.origin for event in traced.listed(cluster, COMPUTING)}
        assert {event.origin for event in traced.listed(cluster, LOADS)} <= operations
        assert {event.origin for event in traced.listed(cluster, STORES)} <= operations


def test_a_listing_has_a_line_for_every_instruction(traced: Trace) -> None:
    heading, *lines = listing(traced)
    assert heading.split()[:5] == ["cluster", "#", "cycle", "end", "list"]
    assert len(lines) == traced.instructions
    begins = [int(line.split()[2]) for line in lines]
    assert begins == sorted(begins)


def test_a_picture_has_a_lane_for_every_part_and_all_busy_cycles(traced: Trace) -> None:
    picture = timeline_picture(traced, "a < b")
    names = [lane.name for group in picture.groups for lane in group]
    assert names == [f"{c}: {part}" for c in range(len(traced.clusters)) for part in PARTS]
    legend = {key.operation for key in picture.legend}
    for cluster, group in enumerate(picture.groups):
        for part, lane in zip(PARTS, group, strict=True):
            assert {bar.operation for bar in lane.bars} <= legend
            covered = {(bar.begin, bar.end) for bar in lane.bars}
            begins, ends = ({each[i] for each in covered} for i in (0, 1))
            events = traced.lane(cluster, part)
            assert begins <= {event.begin for event in events}
            assert ends <= {event.end for event in events}
            assert sum(end - begin for begin, end in covered) >= sum(e.busy for e in events)
    drawn = " ".join(ElementTree.fromstring(picture.svg()).itertext())  # noqa: S314 - our own
    assert f"a < b on {traced.executable.design.name}" in drawn
    assert f"{traced.cycles:,} cycles" in drawn
    assert picture.svg() in timeline_page(picture)


def test_bars_too_narrow_to_see_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace.of_executable(executable_of(RADIX_16))
    single = timeline_picture(trace)
    monkeypatch.setattr("ringsmith.backends.vector.debug.picture._NARROW", 40)
    joined = timeline_picture(trace)
    counts = []
    for before, after in zip(single.groups[0], joined.groups[0], strict=True):
        counts.append((len(before.bars), len(after.bars)))
        assert before.bars[0].begin == after.bars[0].begin
        assert before.bars[-1].end == after.bars[-1].end
    assert all(after <= before for before, after in counts)
    assert sum(after for _, after in counts) < sum(before for before, _ in counts) / 2
    assert any("instructions" in bar.hover for bar in joined.groups[0][1].bars)


def test_the_perfetto_file_has_parts_that_never_overlap_and_busy_shares_over_time(
    traced: Trace,
) -> None:
    file = json.loads(perfetto_json(traced, "random"))
    threads: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in file["traceEvents"]:
        if event["ph"] == "X":
            place = (event["pid"], event["tid"])
            threads.setdefault(place, []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "C":
            assert all(0 <= value <= 100 for value in event["args"].values())
    for spans in threads.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))
    assert sum(map(len, threads.values())) == sum(
        len(event.parts) for cluster in traced.clusters for event in cluster
    )
    for part in PARTS:
        over_time = busy_over_time(traced, 0, part, 100)
        assert over_time.mean() == pytest.approx(traced.busy(0, part))


# ---- the command, and files of executables -----------------------------------------------------


def test_the_trace_command_writes_all_its_files_and_reads_its_own(tmp_path: Path) -> None:
    names = ("html", "svg", "perfetto", "save")
    paths = {name: str(tmp_path / f"trace.{name}") for name in names}
    options = [word for name in names for word in (f"--{name}", paths[name])]
    words = ["trace", "--operation", "rotate", "--design", "vector-small"]
    done = CliRunner().invoke(app, [*words, *options])
    assert done.exit_code == 0, done.output
    saved = read_executable(Path(paths["save"]).read_text())
    assert f"{saved.scheduled:,}" in done.output
    again = CliRunner().invoke(app, ["trace", paths["save"], "--model", "--listing"])
    assert again.exit_code == 0, again.output
    assert again.output.splitlines() == list(listing(Trace.of_executable(saved)))


def test_a_saved_executable_is_read_as_it_was() -> None:
    executable = executable_of(TWO)
    found = read_executable(executable_text(executable))
    assert found == executable
    assert found.cycles == executable.cycles


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"version": 1', '"version": 2', "not a ringsmith-vector-executable file of version 1"),
        ("ringsmith-vector-executable", "else", "not a ringsmith-vector-executable file"),
        ('"log_n": [12]', '"log_n": [7]', "damaged executable .*log_n = 7 is outside 8 … 16"),
        ('"log_n": [12]', '"log_m": [12]', "damaged executable .*lacks 'log_n'"),
        ('"op": "key_switch"', '"op": "else"', "damaged executable .*'else'"),
        (
            '"word_bits": [32]',
            '"word_bits": [31]',
            "damaged executable .*more than the 31 of a word",
        ),
        ("{", "[", "not JSON"),
    ],
)
def test_a_damaged_file_of_an_executable_is_refused(before: str, after: str, message: str) -> None:
    text = executable_text(executable_of(RADIX_16))
    assert before in text
    with pytest.raises(ProgramError, match=message):
        read_executable(text.replace(before, after, 1))


# ---- Looking inside architecture vector: its part of the page of designs, and what is timed ------


def test_a_survey_has_a_row_for_each_named_design() -> None:
    survey = VectorBackend().inspector().survey(Wanted(lower_operation))
    assert survey is not None
    assert (survey.simulated, survey.synthesized) == (False, False)
    for table in survey.tables:
        for name in VectorBackend().designs():
            assert f"| `{name}` |" in table


def test_a_synthesized_area_is_shown_with_its_estimate() -> None:
    design = VectorBackend().load_design("framework")
    area = Area(2816, 627.0, 456, 500_000, 480_000, 100_000, 20_000)
    [*_, row] = vector_area_table([VectorRow(design, area)]).splitlines()
    assert "| 2,816 | 627 | 456 | 400,000 | 460,000 | 20" in row
    [*_, row] = vector_area_table([VectorRow(design)]).splitlines()
    assert row.endswith("| – | – | – | – | – | – |")
    assert vector_section([VectorRow(design)]).startswith("## Vector arrays")


def test_a_design_in_part_has_16_lanes_and_memories_of_as_many_words() -> None:
    design = VectorBackend().load_design("framework-512")
    part = part_of(design)
    assert part == replace(
        design, log_lanes=4, bank_rows=65536, table_rows=16384, stream_rows=8192, ports=2
    )
    assert part.scratchpad_bytes == design.scratchpad_bytes
    small = VectorBackend().load_design("vector-small")
    assert part_of(small) == small
