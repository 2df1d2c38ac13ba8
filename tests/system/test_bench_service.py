"""The bench of the service, at its smallest, and a short run with everything killed."""

from pathlib import Path

from typer.testing import CliRunner

from ringsmith.bench.records import read_records
from ringsmith.bench.service.measure import part_of
from ringsmith.bench.service.page import page
from ringsmith.bench.service.soak import OPERATION, Plan
from ringsmith.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "service.jsonl"


def run(*words: object) -> None:
    done = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_the_bench_loads_a_service_and_writes_its_page(tmp_path: Path) -> None:
    target, text = tmp_path / "records.jsonl", tmp_path / "page.md"
    run("bench", "service", "--quick", "--json", target, "--page", text)
    found = read_records(target, "service").records
    assert {one.operation for one in found} >= {"alone", "2 clients", "added", "server's CPU"}
    assert all(one.value > 0 for one in found if "between lists" not in one.operation)
    assert "of the device alone" in text.read_text()
    run(
        *("bench", "service", "--quick", "--soak", 4, "--soak-device", "cpu", "--clients", 2),
        *("--keep", target, "--json", target, "--page", text, "--force"),
    )
    after = read_records(target, "service").records
    assert {*found} < {*after}, "what was measured before is kept"
    (wrong,) = [one for one in after if one.operation == "wrong, lost or doubled"]
    assert (wrong.value, wrong.params) == (0, OPERATION)
    assert "1 × client, 1 × server" in wrong.conditions
    assert "## A long run" in text.read_text()


def test_one_part_is_measured_anew_and_the_others_stay(tmp_path: Path) -> None:
    target = tmp_path / "records.jsonl"
    words = ("bench", "service", "--quick", "--parts", "added", "--keep", RECORDS)
    run(*words, "--json", target)
    before, after = (set(read_records(path, "service").records) for path in (RECORDS, target))
    assert {part_of(one) for one in before - after} <= {"added"}
    assert {part_of(one) for one in after} == {"loads", "added", "cards", "soak"}
    done = CliRunner().invoke(app, ["bench", "service", "--quick", "--parts", "rates"])
    assert done.exit_code == 2
    assert "--parts rates: choose of loads, added, cards" in done.output


def test_a_long_run_kills_as_often_as_its_plan_says() -> None:
    events = Plan().events()
    kinds = [kind for _, kind in events]
    assert (kinds.count("client"), kinds.count("server"), kinds.count("card")) == (10, 2, 1)
    assert [at for at, _ in events] == sorted(at for at, _ in events)
    assert all(0 < at < Plan().seconds for at, _ in events)


def test_the_page_is_what_the_records_say() -> None:
    assert (ROOT / "docs" / "results" / "service.md").read_text() == page(
        read_records(RECORDS, "service")
    )
