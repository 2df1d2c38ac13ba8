"""``ringsmith bench nano``: its page, its records, and what is measured anew."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.backends.rpau.design.design import load_design
from ringsmith.bench.nano import measure as bench
from ringsmith.bench.nano.compile_time import SECONDS, matvec_of, measure_compile_time
from ringsmith.bench.nano.measure import (
    DESIGN,
    LOGREG,
    NTT_BOUND,
    PARTS,
    Options,
    ntt_bound,
    part_of,
    with_kept,
)
from ringsmith.bench.nano.page import page
from ringsmith.bench.records import Record, read_records
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set
from ringsmith.runtime import compile_graph

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "nano.jsonl"


def written() -> tuple[Record, ...]:
    """The records in the repository."""
    return read_records(RECORDS, "nano").records


def values(records: tuple[Record, ...] | list[Record]) -> dict[tuple[str, str, str], float]:
    """Values by operation, metric and source."""
    return {(r.operation, r.metric, r.source): r.value for r in records}


def test_the_page_is_the_one_that_its_records_make() -> None:
    assert (ROOT / "docs" / "results" / "nano.md").read_text() == page(read_records(RECORDS))


def test_the_measured_cycles_are_those_of_todays_schedules() -> None:
    design, parameters = load_design(DESIGN), ckks_set(DESIGN)
    found = values(written())
    assert found[NTT_BOUND, "cycles", "estimate"] == ntt_bound(design)
    rows = {
        operation: value
        for (operation, metric, source), value in found.items()
        if (metric, source) == ("cycles", "rtl")
        and operation != LOGREG
        and not operation.startswith("ntt, ")
    }
    assert len(rows) == 6 * (parameters.limbs - 1)
    for operation, cycles in rows.items():
        name, limbs = operation.removesuffix(" limbs").split(", ")
        executable = compile_graph(lower_operation(name, parameters, int(limbs)), DESIGN).executable
        assert executable is not None
        assert executable.cycles == cycles, operation


def test_the_pages_conditions_are_those_of_todays_design() -> None:
    design, parameters = load_design(DESIGN), ckks_set(DESIGN)
    (text,) = {record.conditions for record in written() if record.source == "rtl"}
    assert f"N = {parameters.n}, primes of 47, 41, 41, 41, 48 bits" in text
    assert f"{design.rpaus} RPAUs of {design.cores} butterfly cores" in text
    assert f"{design.word_bits}-bit words, {design.reduction} reduction" in text


def test_the_measured_numbers_keep_what_they_promise() -> None:
    found = values(written())
    assert found[LOGREG, "cycles", "rtl"] == found[LOGREG, "cycles", "estimate"]
    shares = [
        value
        for (operation, metric, _), value in found.items()
        if operation.startswith(f"{LOGREG}, ") and metric == "cycles"
    ]
    assert len(shares) == 8
    assert sum(shares) == found[LOGREG, "cycles", "rtl"]
    bound = found[NTT_BOUND, "cycles", "estimate"]
    ntt = [found[f"ntt, {limbs} limbs", "cycles", "rtl"] for limbs in (2, 3, 4)]
    assert all(bound <= cycles <= 1.03 * bound for cycles in ntt)


def test_compile_time_is_measured_anew_and_the_other_numbers_stay(tmp_path: Path) -> None:
    target, text = tmp_path / "nano.jsonl", tmp_path / "nano.md"
    files = ["--keep", str(RECORDS), "--json", str(target), "--page", str(text)]
    options = ["--only", "compile-time", "--columns", "4", *files]
    done = CliRunner().invoke(app, ["bench", "nano", *options])
    assert done.exit_code == 0, done.output
    now = read_records(target, "nano")
    assert now.command == f"ringsmith bench nano {' '.join(options)}"
    before = [record for record in written() if part_of(record) != "compile-time"]
    assert list(now.records[: len(before)]) == before
    anew = now.records[len(before) :]
    assert {record.operation for record in anew} == {"matvec, 4 columns"}
    found = values(anew)
    assert all(found[matvec_of(4), metric, "cpu"] > 0 for metric in SECONDS)
    assert text.read_text() == page(now)
    assert "| 4 | " in text.read_text()


def test_a_page_has_the_sections_of_what_was_measured() -> None:
    whole = read_records(RECORDS)
    for part, title in zip(
        PARTS, ("An encrypted program", "Single operations", "Compile time"), strict=True
    ):
        alone = tuple(record for record in whole.records if part_of(record) == part)
        headings = [
            line
            for line in page(replace(whole, records=alone)).splitlines()
            if line.startswith("## ")
        ]
        assert len(headings) == 1
        assert headings[0].startswith(f"## {title}")


def test_what_is_measured_again_replaces_its_part_of_the_kept_records() -> None:
    records = written()
    (first, *_) = [record for record in records if part_of(record) == "operations"]
    anew = replace(first, value=1.0)
    found = with_kept([anew], records)
    assert [record for record in found if part_of(record) == "operations"] == [anew]
    assert [part_of(record) for record in found] == sorted(map(part_of, found), key=PARTS.index)
    assert len(found) == 1 + sum(part_of(record) != "operations" for record in records)


def test_without_seal_its_times_are_dashes() -> None:
    whole = read_records(RECORDS)
    without = tuple(record for record in whole.records if not record.peer)
    assert page(replace(whole, records=without)).count("| – |\n") == 22


def test_the_compiled_products_have_the_recorded_cycles() -> None:
    found = values(measure_compile_time(DESIGN, [32], lambda _: None))
    recorded = values(written())
    facts = [(matvec_of(32), metric, "estimate") for metric in ("instructions", "runs", "cycles")]
    assert [found[fact] for fact in facts] == [recorded[fact] for fact in facts]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--only", "program,area"], "part 'area': choose from program, operations, compile-time"),
        (["--columns", "32,x"], "'x' is no whole number: give some by commas"),
        (["--columns", "5000"], "columns = 5000: take 1 … 4096"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    words: list[str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "measure", lambda *_: pytest.fail("must not be measured"))
    done = CliRunner().invoke(app, ["bench", "nano", *words])
    assert done.exit_code == 2
    assert text in done.stderr.replace("\n", " ")


def test_single_operations_have_two_limbs_at_least() -> None:
    with pytest.raises(ParameterError, match="limbs = 1: take 2 … 4"):
        Options(limbs=1)
