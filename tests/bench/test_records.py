"""Files of records: exact, small, and refused where they are damaged or another bench's."""

import json
from pathlib import Path

import pytest

from bench.conditions import check_quiet
from bench.record import Measurement, Record, merged, read_records, write_records
from bench.run import ROOT
from ringsmith.errors import InteropError, ParameterError, ToolError
from ringsmith.files import Target

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
    assert len(measurement.records) > 25
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
