"""The queue that is fair over clients and groups work by keys."""

from collections import Counter

import numpy as np
import pytest

from ringsmith.backends.fair_queue import FairQueue, QueueFullError
from ringsmith.errors import ParameterError


def taken(queue: FairQueue[str], count: int, held: tuple[str, ...] = ()) -> list[str]:
    found = [queue.take(held) for _ in range(count)]
    return [one.item for one in found if one is not None]


def test_one_client_is_served_in_its_order() -> None:
    queue = FairQueue[str]()
    for item in "abc":
        queue.put(item)
    assert taken(queue, 4) == ["a", "b", "c"]
    assert len(queue) == 0
    assert queue.take() is None


def test_a_client_that_asks_much_does_not_delay_one_that_asks_little() -> None:
    queue = FairQueue[str](capacity=200)
    for number in range(100):
        queue.put(f"much {number}", "much")
    queue.put("little 0", "little")
    assert "little 0" in taken(queue, 2)


def test_clients_get_equal_cost_and_not_equally_many_items() -> None:
    queue = FairQueue[str](capacity=500, per_client=300)
    for number in range(200):
        queue.put(f"{number}", "large", cost=4)
        queue.put(f"{number}", "small", cost=1)
    served = Counter()
    for _ in range(100):
        ticket = queue.take()
        assert ticket is not None
        served[ticket.client] += ticket.cost
    assert abs(served["large"] - served["small"]) <= 4


def test_who_comes_back_has_not_saved_up_turns() -> None:
    queue = FairQueue[str]()
    for number in range(10):
        queue.put(f"a{number}", "a")
    taken(queue, 8)
    for number in range(5):
        queue.put(f"b{number}", "b")
    assert sorted(taken(queue, 2)) == ["a8", "b0"]


def test_who_leaves_and_comes_back_at_once_gains_nothing() -> None:
    queue = FairQueue[str]()
    served = Counter()
    for number in range(40):
        queue.put(f"{number}", "patient")
    for _ in range(20):
        queue.put("again", "hasty")  # never has more than one, so it always leaves
        for _ in range(2):
            ticket = queue.take()
            assert ticket is not None
            served[ticket.client] += 1
    assert abs(served["patient"] - served["hasty"]) <= 2


def test_items_whose_keys_are_held_go_first_within_the_patience() -> None:
    queue = FairQueue[str](patience=3)
    for number in range(6):
        queue.put(f"x{number}", "x", group="key x")
        queue.put(f"y{number}", "y", group="key y")
    order = taken(queue, 8, ("key y",))
    assert order[:4] == ["y0", "y1", "y2", "y3"]  # ahead by 0, 1, 2 and 3
    assert order[4] == "x0"


def test_without_patience_keys_decide_only_between_equals() -> None:
    queue = FairQueue[str](patience=0)
    for number in range(3):
        queue.put(f"x{number}", "x", group="key x")
        queue.put(f"y{number}", "y", group="key y")
    assert taken(queue, 4, ("key y",)) == ["y0", "x0", "y1", "x1"]


def test_a_clients_old_item_is_not_passed_over_for_ever() -> None:
    queue = FairQueue[str](capacity=100, per_client=100, patience=4)
    queue.put("old", "a", group="key 1")
    for number in range(20):
        queue.put(f"new {number}", "a", group="key 2")
    assert "old" in taken(queue, 5, ("key 2",))


def test_an_item_can_be_taken_back_once() -> None:
    queue = FairQueue[str]()
    first, _ = queue.put("first"), queue.put("second")
    assert queue.remove(first)
    assert not queue.remove(first)
    assert taken(queue, 2) == ["second"]
    other = queue.put("third")
    assert queue.take() is other
    assert not queue.remove(other)


def test_a_full_queue_says_so_and_takes_nothing() -> None:
    queue = FairQueue[str](capacity=3, per_client=2)
    queue.put("1", "a")
    queue.put("2", "a")
    with pytest.raises(QueueFullError, match="2 jobs of this client wait"):
        queue.put("3", "a")
    queue.put("3", "b")
    with pytest.raises(QueueFullError, match="3 jobs wait, the most"):
        queue.put("4", "c")
    assert [one.item for one in queue] == ["1", "2", "3"]
    assert queue.waiting("a") == 2


@pytest.mark.parametrize("values", [{"capacity": 0}, {"per_client": 0}, {"patience": -1}])
def test_a_queue_without_capacity_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(values))} = "):
        FairQueue[str](**values)


@pytest.mark.parametrize("cost", [0, -1, float("nan")])
def test_an_item_without_cost_is_refused(cost: float) -> None:
    with pytest.raises(ParameterError, match="above 0"):
        FairQueue[str]().put("x", cost=cost)


def test_random_work_is_all_served_and_no_client_falls_behind(rng: np.random.Generator) -> None:
    patience, largest = 3.0, 2.0
    queue = FairQueue[int](capacity=10_000, per_client=10_000, patience=patience)
    clients = [f"client {number}" for number in range(5)]
    for number in range(2000):
        cost = float(rng.choice([0.5, 1, largest]))
        queue.put(number, str(rng.choice(clients)), f"key {rng.integers(4)}", cost)
    served, seen = Counter(dict.fromkeys(clients, 0.0)), set()
    while (ticket := queue.take([f"key {rng.integers(4)}"])) is not None:
        seen.add(ticket.item)
        served[ticket.client] += ticket.cost
        waiting = [client for client in clients if queue.waiting(client)]
        if len(waiting) == len(clients):
            assert max(served.values()) - min(served.values()) <= patience + 2 * largest
    assert seen == set(range(2000))
