"""The page of results says what was measured and nothing else."""

import json
from pathlib import Path

from bench.page import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_results_page_is_the_one_that_the_measured_numbers_make() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    assert (DOCS / "results.md").read_text() == page(numbers)


def test_the_measured_numbers_keep_what_they_promise() -> None:
    numbers = json.loads((DOCS / "results.json").read_text())
    program = numbers["program"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert sum(share["cycles"] for share in program["breakdown"]) == program["cycles"]
    ntt = [row["cycles"] for row in numbers["operations"] if row["name"] == "ntt"]
    assert ntt
    assert all(cycles <= 1.03 * numbers["ntt_lower_bound_cycles"] for cycles in ntt)
