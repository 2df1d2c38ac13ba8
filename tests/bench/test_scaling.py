"""The simulation of fleets, compared with formulas, and its records."""

from dataclasses import replace

import pytest

from bench.record import read_records
from bench.run import Choice, load, measure
from bench.scaling.fleet import (
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
    misses,
)
from bench.scaling.measure import PRODUCT, workload_of
from bench.scaling.simulate import simulate
from ringsmith.errors import ParameterError

BENCH = load("scaling")
RECORDS = read_records(BENCH.records, "scaling").records

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
    ],
)
def test_keys_are_loaded_as_often_as_the_formula_says(fleet: Fleet) -> None:
    expected, _ = misses(WORK, fleet)
    assert simulate(WORK, fleet).loads == pytest.approx(expected, rel=0.12)


def test_no_keys_are_loaded_where_all_fit() -> None:
    fits = replace(MACHINES, host_key_bytes=10**12, card_key_bytes=10**12)
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
    assert simulate(WORK, MACHINES) == simulate(WORK, MACHINES)
    assert simulate(WORK, MACHINES) != simulate(WORK, replace(MACHINES, session_requests=99))


def test_fleets_of_the_records_are_simulated_anew_exactly() -> None:
    choice = Choice(only=("fleets",), values={"cards": "1, 64"})
    assert measure(BENCH, choice, RECORDS, print) == [*RECORDS]


def test_a_product_takes_today_what_the_records_say() -> None:
    """Files differ by some bytes: keys are drawn anew, and compressed."""
    anew = measure(BENCH, Choice(only=("requests",)), RECORDS, print)
    found, known = (workload_of(records, PRODUCT) for records in (anew, RECORDS))
    assert found is not None
    assert known is not None
    assert found.card_seconds == known.card_seconds
    for name in ("request_bytes", "result_bytes", "key_bytes", "key_memory_bytes"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-3)


@pytest.mark.parametrize("milliseconds", ["0", "1000", "-1"])
def test_a_dispatcher_that_takes_no_time_is_refused(milliseconds: str) -> None:
    choice = Choice(only=("requests",), values={"dispatch_ms": milliseconds})
    with pytest.raises(ParameterError, match="give more than 0, below 1,000"):
        measure(BENCH, choice, RECORDS, print)
