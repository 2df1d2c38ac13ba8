"""Pages of benches: equal to their records, complete, and honest where a paper is better."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.page import page
from bench.papers import Figure, figures, papers
from bench.record import Measurement, Record, read_records
from bench.run import ROOT, Bench, load, names
from ringsmith.errors import ParameterError

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
    left_out = {**LAYOUT, "sections": [section], "left_out": {"metric": ["cyc*"]}}
    assert "| o |" not in written(number("cycles", 1), bench=replace(bench, page=left_out))


def test_conditions_stand_once_with_their_number_at_rows_columns_or_above() -> None:
    rows = [number("cycles", 1, conditions="one"), number("dsp", 2, conditions="two")]
    assert "| operation | cycles [1] | dsp [2] |" in written(*rows)
    rows = [replace(row, metric="cycles", operation=row.conditions) for row in rows]
    assert "| one | 1 | [1] |" in written(*rows)
    assert "; conditions [1]." in written(rows[0])
    assert written(*rows, *rows).count("1. one.") == 1
