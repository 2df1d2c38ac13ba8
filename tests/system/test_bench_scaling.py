"""``ringsmith bench scaling``: the simulation beside formulas, its records and its page."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from ringsmith.bench.records import Found, Measurement, Record, read_records
from ringsmith.bench.scaling.fleet import (
    CARDS,
    DISPATCHERS,
    FRONT_IN,
    FRONT_OUT,
    HOSTS_IN,
    HOSTS_OUT,
    LINKS,
    PROCESSORS,
    RESOURCES,
    STORES,
    Fleet,
    Workload,
    bound,
    held,
    misses,
)
from ringsmith.bench.scaling.measure import Options, swept
from ringsmith.bench.scaling.page import FIGURES, FOLDER, figures, page
from ringsmith.bench.scaling.scenarios import CARDS as SWEPT
from ringsmith.bench.scaling.simulate import Simulated, simulate
from ringsmith.bench.scaling.workloads import PRODUCT, WORKLOADS, product, workload_of
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "records" / "scaling.jsonl"
QUICK = tuple(count for count in SWEPT if count <= 16)

WORK = Workload("work", "card", "set", 2, 1e-3, 1e-3, 10**5, 10**5, 10**7, 10**7, 10**5, 10**7)
"""Every resource has work of a request, and no one much more than another."""

MACHINES = Fleet(cards=16, dispatch_seconds=1e-4, host_key_bytes=10**10, card_key_bytes=10**9)

BOUND = {
    DISPATCHERS: replace(MACHINES, dispatch_seconds=1e-3),
    FRONT_IN: replace(MACHINES, front_bytes=1e8),
    FRONT_OUT: replace(MACHINES, front_bytes=1e8),
    STORES: replace(MACHINES, store_bytes=1e9, session_requests=2),
    HOSTS_IN: replace(MACHINES, host_bytes=1e8, host_key_bytes=10**12),
    HOSTS_OUT: replace(MACHINES, host_bytes=1e8),
    PROCESSORS: replace(MACHINES, host_cores=1),
    LINKS: replace(MACHINES, link_bytes=5e7),
    CARDS: replace(MACHINES, dispatchers=8),
}
"""Machines on which each resource is the bound."""


def work_bound_by(resource: str) -> Workload:
    """A request whose way back is as long as its way there, but for one of them."""
    back = resource in (FRONT_OUT, HOSTS_OUT)
    return replace(WORK, result_bytes=2 * 10**5) if back else WORK


@cache
def measured() -> Measurement:
    return read_records(RECORDS, "scaling")


def simulated(records: list[Found] | tuple[Record, ...]) -> dict[tuple[str, str, str], float]:
    """What was simulated, and what formulas gave."""
    sources = ("simulation", "formula")
    return {(r.operation, r.metric, r.source): r.value for r in records if r.source in sources}


# ---- the simulation -----------------------------------------------------------------------------


@pytest.mark.parametrize("resource", RESOURCES)
def test_each_resource_binds_at_the_rate_of_its_formula(resource: str) -> None:
    work, fleet = work_bound_by(resource), BOUND[resource]
    name, most = bound(work, fleet)
    assert name == resource
    found = simulate(work, fleet)
    assert found.busiest == resource
    assert found.per_second == pytest.approx(most, rel=0.06)
    assert all(0 <= share < 1.0001 for share in found.busy.values())
    assert found.busy[resource] > 0.93


@pytest.mark.parametrize(
    "fleet",
    [
        replace(MACHINES, host_key_bytes=2 * 10**10, session_requests=4),
        replace(MACHINES, host_key_bytes=6 * 10**10, session_requests=1),
        replace(MACHINES, host_key_bytes=10**12),
        replace(MACHINES, host_key_bytes=2 * 10**10, affinity=False),
    ],
)
def test_keys_are_loaded_as_often_as_the_formula_says(fleet: Fleet) -> None:
    expected, _ = misses(WORK, fleet)
    assert simulate(WORK, fleet).loads == pytest.approx(expected, rel=0.12)


def test_no_keys_are_loaded_where_all_fit() -> None:
    fits = replace(MACHINES, host_key_bytes=10**12, card_key_bytes=10**12)
    assert held(WORK.key_memory_bytes, fits.host_key_bytes) >= fits.clients * 8
    assert misses(WORK, fits) == (0, 0)
    assert simulate(WORK, fits).loads == 0


def test_a_request_alone_takes_the_sum_of_its_times() -> None:
    fleet = replace(MACHINES, cards=1, sessions=1, host_key_bytes=10**12, card_key_bytes=10**12)
    found = simulate(WORK, fleet)
    bodies = WORK.request_bytes + WORK.result_bytes
    seconds = fleet.dispatch(WORK) + bodies / fleet.front_bytes + bodies / fleet.host_bytes
    seconds += WORK.host_seconds + WORK.card_bytes / fleet.link_bytes + WORK.card_seconds
    assert found.median_seconds == pytest.approx(seconds)
    assert found.late_seconds == pytest.approx(seconds)
    assert found.per_second == pytest.approx(1 / seconds)


def test_bodies_that_go_past_the_dispatcher_take_none_of_its_time() -> None:
    through = simulate(WORK, replace(MACHINES, cards=2))
    past = simulate(WORK, replace(MACHINES, cards=2, direct=True))
    assert through.busy[FRONT_IN] > 0
    assert past.busy[FRONT_IN] == past.busy[FRONT_OUT] == 0
    assert past.busy[DISPATCHERS] / past.per_second < through.busy[DISPATCHERS] / through.per_second


def test_the_same_simulation_gives_the_same_numbers() -> None:
    def run(**changes: int) -> Simulated:
        return simulate(WORK, replace(MACHINES, **changes))

    assert run() == run()
    assert run() != run(session_requests=99)


# ---- records and page ----------------------------------------------------------------------------


def test_the_quick_part_of_the_records_is_simulated_anew_exactly() -> None:
    found = simulated([*swept(measured().records, QUICK)])
    known = simulated(measured().records)
    assert len(found) > 5 * len(QUICK) * 9
    assert found.items() <= known.items()


@pytest.mark.full
def test_all_records_are_simulated_anew_exactly() -> None:
    assert simulated([*swept(measured().records)]) == simulated(measured().records)


def test_the_page_is_that_of_its_records() -> None:
    """Otherwise write it again: ``make bench``, or the command that the page names."""
    text = (ROOT / "docs" / "results" / "scaling.md").read_text()
    assert text == page(measured())
    for name, picture in figures(measured()).items():
        assert (ROOT / "docs" / "results" / FOLDER / name).read_text() == picture
        ElementTree.fromstring(picture)  # noqa: S314 - our own picture
        assert name in FIGURES
    assert max(SWEPT) == 1000
    assert {work.name for name in WORKLOADS if (work := workload_of(measured().records, name))} == {
        *WORKLOADS
    }


def test_a_product_takes_today_what_the_records_say() -> None:
    """Files differ by some bytes: keys are drawn anew, and compressed."""
    found = workload_of([Record(**vars(each)) for each in product(print)], PRODUCT)
    known = workload_of(measured().records, PRODUCT)
    assert found is not None
    assert known is not None
    assert found.card_seconds == known.card_seconds
    for name in ("request_bytes", "result_bytes", "key_bytes", "key_memory_bytes"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-3)


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0, 1, -1e-3])
def test_a_time_of_a_dispatcher_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ParameterError, match="give more than 0 and less than 1,000"):
        Options(dispatch_seconds=seconds)


def test_records_of_one_of_two_benches_are_refused() -> None:
    words = ["bench", "scaling", "--heaws", str(ROOT / "bench" / "records" / "heaws.jsonl")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "give both, --heaws FILE and --framework FILE, or neither" in done.stderr
