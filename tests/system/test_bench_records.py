"""Files of records of benches: exact, small, and refused where they are damaged or another's."""

import json
from pathlib import Path

import numpy as np
import pytest

from ringsmith.apps.conditions import check_quiet
from ringsmith.bench.records import Measurement, Record, read_records, write_records
from ringsmith.bench.tables import ahead
from ringsmith.errors import InteropError, ParameterError, ToolError
from ringsmith.files import Target

FILES = sorted((Path(__file__).resolve().parents[2] / "bench" / "records").iterdir())


def record(value: float, conditions: str) -> Record:
    """A record of a number."""
    return Record("nano", "nano", "add", "cycles", value, "rtl", conditions)


def file_of(tmp_path: Path, *records: Record) -> Path:
    """A written file of records of the bench ``nano``."""
    path = tmp_path / "nano.jsonl"
    write_records(Measurement("nano", "ringsmith bench nano", records), Target(path, True))
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_in_the_repository_is_what_is_written_of_its_records(
    path: Path, tmp_path: Path
) -> None:
    measurement = read_records(path, path.stem)
    assert path.suffix == ".jsonl"
    assert len(measurement.records) > 50
    write_records(measurement, Target(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_records_are_read_as_they_were_written_to_the_last_digit(tmp_path: Path) -> None:
    records = (
        record(1, "here"),
        record(0.0006320075000001424, "there; µs"),
        record(0, "here"),
        Record("a", "b", "c", "speedup", 0.1 + 0.2, "cpu", "here", "SEAL", "medha", 0.0, "Table 2"),
    )
    found = read_records(file_of(tmp_path, *records), "nano")
    assert found == Measurement("nano", "ringsmith bench nano", records)
    assert list(map(repr, found.records)) == list(map(repr, records))


def test_each_text_of_conditions_stands_in_a_file_once(tmp_path: Path) -> None:
    text = file_of(tmp_path, *(record(value, "one text of all") for value in range(9))).read_text()
    assert text.count("one text of all") == 1
    assert len(text.splitlines()) == 1 + 1 + 9


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


def test_a_row_of_no_known_metric_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, record(1, "here"))
    path.write_text(path.read_text().replace('"cycles"', '"bicycles"'))
    with pytest.raises(InteropError, match=r"line 3: .*metric 'bicycles': choose from cycles"):
        read_records(path)
    with pytest.raises(ParameterError, match="source 'guess': choose from rtl, model"):
        Record("nano", "nano", "add", "cycles", 1, "guess", "here")


def test_records_of_another_bench_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, record(1, "here"))
    assert json.loads(path.read_text().splitlines()[0])["bench"] == "nano"
    with pytest.raises(InteropError, match=r"are of the bench 'nano': .*bench cpu --json' wrote"):
        read_records(path, "cpu")


def test_times_of_a_busy_machine_are_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.6, 9.0, 9.0))
    check_quiet()
    monkeypatch.setattr("os.getloadavg", lambda: (3.25, 0.1, 0.1))
    with pytest.raises(
        ToolError, match=r"load average is 3\.2, and times are published below 0\.7"
    ):
        check_quiet()


def beside_paper(metric: str, value: float, theirs: float, **changes: str) -> Record:
    """A number beside a paper's."""
    own = {"design": "d", "params": "p", "operation": "o", "source": "model", "conditions": "c"}
    return Record(**{**own, **changes}, metric=metric, value=value, paper="rpm", paper_value=theirs)


def test_every_comparison_that_a_paper_wins_is_listed_and_the_others_are_counted(
    rng: np.random.Generator,
) -> None:
    lower, higher = ("cycles", "dsp", "milliseconds", "ff"), ("per_second", "speedup")
    rows, worse = [], set()
    for number in range(200):
        metric = str(rng.choice([*lower, *higher]))
        ratio = float(np.exp(rng.normal()))
        rows.append(beside_paper(metric, 1000 * ratio, 1000, operation=f"op{number}"))
        gain = ratio if metric in higher else 1 / ratio
        if gain < 0.99:
            worse.add(f"op{number}")
    lines = ahead(rows)
    assert {line.split("|")[3].strip() for line in lines if line.startswith("| `d`")} == worse
    assert f"{len(worse)} worse" in "\n".join(lines)
    assert "200 numbers of our designs stand beside a paper's" in "\n".join(lines)


def test_what_is_no_design_here_or_of_a_processor_is_not_judged() -> None:
    assert ahead([]) == []
    cpu = beside_paper("milliseconds", 2, 1, source="cpu")
    here = beside_paper("speedup", 1, 2, conditions="over SEAL on this CPU in the same run")
    variant = beside_paper("cycles", 2, 1, design="medha: no dyadic cores")
    count = beside_paper("rotations", 2, 1)
    assert ahead([cpu, here, variant, count]) == []
    assert len(ahead([cpu, beside_paper("cycles", 2, 1)])) > 4
