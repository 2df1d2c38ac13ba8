"""Pages of benches: equal to their records, complete, and honest where a paper is better."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.page import page
from bench.papers import Figure, figures, papers
from bench.record import Measurement, Record, check_quiet, merged, read_records, write_records
from bench.run import ROOT, Bench, load, names
from ringsmith.errors import InteropError, ParameterError, ToolError
from ringsmith.files import Target

RECORDS = sorted((ROOT / "bench" / "records").glob("*.jsonl"))
LAYOUT = {
    "title": "A page",
    "learns": "numbers",
    "sections": [{"title": "Numbers", "rows": ["operation"], "columns": ["metric"]}],
}
BENCH = Bench("nano", (), {}, LAYOUT)


def number(metric: str, value: float, theirs: float | None = None, **changes: str) -> Record:
    """A number, and a paper's."""
    own = {"design": "d", "params": "p", "operation": "o", "source": "model", "conditions": "c"}
    record = Record(**{**own, **changes}, metric=metric, value=value)
    where = "" if theirs is None else "Table 1"
    return replace(record, paper="rpm", paper_value=theirs, where=where)


def written(*records: Record, bench: Bench = BENCH) -> str:
    """The page of records."""
    return page(bench, Measurement("nano", "ringsmith bench nano", records))


def test_every_bench_has_records() -> None:
    assert {path.stem.partition("-")[0] for path in RECORDS} == {*names()}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_page_is_what_its_records_say(path: Path) -> None:
    """Otherwise write it again: ``ringsmith bench NAME --only none --update``."""
    bench = load(path.stem.partition("-")[0])
    text = page(bench, read_records(path, bench.name))
    assert (ROOT / "docs" / "results" / f"{path.stem}.md").read_text() == text


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_papers_numbers_in_records_are_those_of_the_list(path: Path) -> None:
    bench = load(path.stem.partition("-")[0])
    known = {(f.paper, f.params, f.operation, f.metric, f.baseline, f.value) for f in all_figures()}
    for r in read_records(path, bench.name).records:
        what = (r.paper, r.params, r.operation, r.metric, r.baseline, r.paper_value)
        assert not r.where or ": " in r.operation or what in known


def all_figures() -> list[Figure]:
    """The numbers of all papers."""
    return [figure for paper in papers() for figure in figures(paper)]


def test_a_number_that_a_paper_has_better_is_bold_and_all_are_counted(
    rng: np.random.Generator,
) -> None:
    lower, higher = ("cycles", "dsp", "milliseconds", "ff"), ("per_second", "speedup")
    rows, worse = [], set()
    for each in range(200):
        metric = str(rng.choice([*lower, *higher]))
        ratio = float(np.exp(rng.normal()))
        rows.append(number(metric, 1000 * ratio, 1000, operation=f"op{each}"))
        if (ratio if metric in higher else 1 / ratio) < 0.99:
            worse.add(f"op{each}")
    lines = written(*rows).splitlines()
    assert {line.split("|")[1].strip() for line in lines if "| **" in line} == worse
    assert f"Of 200 numbers of our designs, {200 - len(worse)}" in "\n".join(lines) or worse
    assert f"{len(worse)} are worse" in "\n".join(lines)


def test_what_is_a_variant_or_of_a_processor_is_not_judged() -> None:
    rows = [
        number("milliseconds", 2, 1, source="cpu"),
        number("speedup", 1, 2, conditions="over SEAL on this CPU", operation="a"),
        number("cycles", 2, 1, design="medha: no dyadic cores"),
        number("rotations", 2, 1),
    ]
    assert "| **" not in "\n".join(written(row) for row in rows)
    assert "| **2** (1; 2) |" in written(number("cycles", 2, 1))


def test_numbers_of_different_things_in_one_cell_are_refused() -> None:
    rows = [number("cycles", 1), number("cycles", 2, design="other")]
    with pytest.raises(ParameterError, match="design is 'd' and 'other' in one cell: name it in"):
        written(*rows)


def test_a_record_that_no_section_takes_is_refused() -> None:
    section = {**LAYOUT["sections"][0], "where": {"metric": ["dsp"]}}
    bench = replace(BENCH, page={**LAYOUT, "sections": [section]})
    with pytest.raises(ParameterError, match="no section of the page takes o cycles of d"):
        written(number("cycles", 1), bench=bench)
    left_out = {**LAYOUT, "sections": [section], "left_out": [{"metric": ["cyc*"]}]}
    assert "| o |" not in written(number("cycles", 1), bench=replace(bench, page=left_out))


def test_conditions_stand_once_with_their_number_at_rows_columns_or_above() -> None:
    rows = [number("cycles", 1, conditions="one"), number("dsp", 2, conditions="two")]
    assert "| operation | cycles [1] | dsp [2] |" in written(*rows)
    rows = [replace(row, metric="cycles", operation=row.conditions) for row in rows]
    assert "| one | 1 | [1] |" in written(*rows)
    assert "; conditions [1]." in written(rows[0])
    assert written(*rows, *rows).count("1. one.") == 1


# ---- Files of records: exact, small, and refused where they are damaged or another bench's -------


FILES = sorted((ROOT / "bench" / "records").iterdir())


def record(value: float, conditions: str, source: str = "rtl", operation: str = "add") -> Record:
    """A record of a number."""
    return Record("nano", "nano", operation, "cycles", value, source, conditions)


def file_of(tmp_path: Path, *records: Record) -> Path:
    """A written file of records of the bench ``nano``."""
    path = tmp_path / "nano.jsonl"
    write_records(Measurement("nano", "ringsmith bench nano", records), Target(path, True))
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_in_the_repository_is_what_is_written_of_its_records(
    path: Path, tmp_path: Path
) -> None:
    measurement = read_records(path, path.stem.partition("-")[0])
    assert len(measurement.records) > 10
    write_records(measurement, Target(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_records_are_read_as_they_were_written_to_the_last_digit(tmp_path: Path) -> None:
    records = (
        record(1, "here"),
        record(0.0006320075000001424, "there; µs"),
        Record("a", "b", "c", "speedup", 0.1 + 0.2, "cpu", "here", "SEAL", "medha", 0.0, "Table 2"),
    )
    found = read_records(file_of(tmp_path, *records), "nano")
    assert found == Measurement("nano", "ringsmith bench nano", records)
    assert list(map(repr, found.records)) == list(map(repr, records))


def test_a_row_more_with_a_text_more_changes_no_other_line(tmp_path: Path) -> None:
    few = [record(1, "one"), record(2, "two")]
    before = file_of(tmp_path, *few).read_text().splitlines()
    after = file_of(tmp_path, record(3, "three"), *few).read_text().splitlines()
    assert len(after) == len(before) + 2
    assert set(before) <= set(after)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (1, "[]"),
        (1, '{"bench": "nano"}'),
        (2, "no JSON"),
        (3, '{"design": "nano"}'),
        (3, '{"design": "nano", "conditions": "000000"}'),
        (3, "[1]"),
    ],
)
def test_a_damaged_file_is_refused_with_the_line(place: int, line: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, record(1, "here"))
    lines = path.read_text().splitlines()
    lines[place - 1] = line
    path.write_text("\n".join(lines))
    with pytest.raises(InteropError, match=rf"nano.jsonl, line {place}: no record can be read: .*"):
        read_records(path)


@pytest.mark.parametrize("text", ["", "[\n {}\n]\n"])
def test_a_file_without_records_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(InteropError, match="give a file that 'ringsmith bench … --json' wrote"):
        read_records(path)


def test_a_row_of_an_unknown_metric_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, record(1, "here"))
    path.write_text(path.read_text().replace('"cycles"', '"bicycles"'))
    with pytest.raises(InteropError, match=r"line 3: .*metric 'bicycles': choose from cycles"):
        read_records(path)
    with pytest.raises(ParameterError, match="source 'guess': choose from rtl, model"):
        record(1, "here", "guess")


def test_records_of_another_bench_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, record(1, "here"))
    assert json.loads(path.read_text().splitlines()[0])["bench"] == "nano"
    with pytest.raises(InteropError, match=r"are of the bench 'nano': .*bench cpu --json' wrote"):
        read_records(path, "cpu")


def test_what_is_measured_again_takes_the_place_of_the_earlier_number() -> None:
    earlier = [record(1, "then"), record(2, "then", operation="rotate"), record(3, "", "estimate")]
    again, new = record(4, "now", "model"), record(5, "now", operation="rescale")
    assert merged(earlier, [new, again]) == [again, *earlier[1:], new]


def test_times_of_a_busy_machine_are_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.6, 9.0, 9.0))
    check_quiet()
    monkeypatch.setattr("os.getloadavg", lambda: (3.25, 0.1, 0.1))
    with pytest.raises(
        ToolError, match=r"load average is 3\.2, and times are published below 0\.7"
    ):
        check_quiet()
