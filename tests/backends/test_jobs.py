"""Jobs on devices of one slot and of two: in turn, at once, polled, waited for and cancelled."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from threading import Barrier, Event
from typing import ClassVar

import numpy as np
import pytest
from tests.backends.rpau.interpreted import switched
from tests.forks import forked

from ringsmith import _core, compile_program, open_device, progress, trace
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult, RunReport
from ringsmith.backends.fair_queue import FairQueue, QueueFullError
from ringsmith.backends.jobs import Device, JobState, Work
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.params import CkksParameters, KeyShape
from ringsmith.progress import Task
from ringsmith.runtime import compile_graph, run_graph, submit_graph

SECONDS = 60
"""Longer than anything takes here: who waits so long has found a fault."""


def graph() -> SubroutineGraph:
    n = 256
    primes = tuple(_core.prime_search(40, n, 2))
    found = SubroutineGraph(n, primes, tuple(_core.smallest_root(q, n) for q in primes), (1,))
    found.output(found.input("x", (0,)), "y")
    return found


class Fake(Device):
    """A device whose jobs say where they are, and go on when they are told to."""

    name = "fake"
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self.begun: list[int] = []
        self.going = {number: Event() for number in range(8)}
        self.started = {number: Event() for number in range(8)}

    def work(self, compiled: CompiledGraph, inputs: Mapping, keys: Mapping) -> Work[GraphResult]:
        """Does as it is told, in the slot that it is given."""
        number = int(inputs["x"][0, 0])
        if number == 7:
            raise ProgramError("7 is refused when it is submitted")

        def carry_out(slot: int) -> GraphResult:
            self.begun.append(number)
            self.started[number].set()
            with progress.task("faking", 3) as task:
                while not self.going[number].wait(0.005):
                    task.advance(0)
            if number == 6:
                raise DeviceError("6 fails")
            return GraphResult({"y": inputs["x"]}, RunReport(cycles=slot))

        return carry_out


def x(number: int) -> dict[str, np.ndarray]:
    return {"x": np.full((1, 256), number, np.uint64)}


def test_two_slots_run_two_jobs_and_the_third_waits() -> None:
    device, compiled = Fake(2), compile_graph(graph())
    jobs = [submit_graph(compiled, device, x(number), {}) for number in range(3)]
    assert device.started[0].wait(SECONDS)
    assert device.started[1].wait(SECONDS)
    assert [job.poll() for job in jobs] == ["running", "running", "waiting"]
    device.going[1].set()
    result = jobs[1].wait(SECONDS)
    assert result.outputs["y"][0, 0] == 1
    assert device.started[2].wait(SECONDS)
    assert [job.poll() for job in jobs] == ["running", "done", "running"]
    device.going[0].set()
    device.going[2].set()
    slots = [job.wait(SECONDS).cycles for job in jobs]
    assert sorted(slots[:2]) == [0, 1]
    assert slots[2] == slots[1]  # the slot that was free first


def test_one_slot_keeps_the_order() -> None:
    device, compiled = Fake(1), compile_graph(graph())
    jobs = [submit_graph(compiled, device, x(number), {}) for number in (3, 1, 2, 0)]
    for event in device.going.values():
        event.set()
    assert [int(job.wait(SECONDS).outputs["y"][0, 0]) for job in jobs] == [3, 1, 2, 0]
    assert device.begun == [3, 1, 2, 0]
    assert run_graph(compiled, device, x(5), {}).cycles == 0


def test_a_job_is_cancelled_while_it_waits_and_while_it_runs() -> None:
    device, compiled = Fake(1), compile_graph(graph())
    first, second, third = (submit_graph(compiled, device, x(n), {}) for n in range(3))
    assert device.started[0].wait(SECONDS)
    assert second.cancel()
    assert second.poll() is JobState.CANCELLED
    assert not second.cancel()
    with pytest.raises(DeviceError, match=r"waiting after 0\.01 seconds: wait longer, or cancel"):
        third.wait(0.01)
    assert first.cancel()
    with pytest.raises(DeviceError, match="the job was cancelled, and has no result"):
        first.wait(SECONDS)
    device.going[2].set()
    assert third.wait(SECONDS).outputs["y"][0, 0] == 2
    assert device.begun == [0, 2]
    assert not third.cancel()
    assert third.poll() is JobState.DONE


def test_what_a_job_fails_with_reaches_who_waits_and_the_slot_is_free_again() -> None:
    device, compiled = Fake(1), compile_graph(graph())
    for event in device.going.values():
        event.set()
    job = submit_graph(compiled, device, x(6), {})
    with pytest.raises(DeviceError, match="6 fails"):
        job.wait(SECONDS)
    assert job.poll() is JobState.FAILED
    with pytest.raises(DeviceError, match="6 fails"):
        run_graph(compiled, device, x(6), {})
    with pytest.raises(ProgramError, match="7 is refused"):
        submit_graph(compiled, device, x(7), {})
    assert run_graph(compiled, device, x(4), {}).outputs["y"][0, 0] == 4


def test_threads_of_the_cpu_run_at_once() -> None:
    cpu, together = open_device("cpu"), Barrier(2)
    jobs = [cpu._slots.submit(lambda _: together.wait(SECONDS)) for _ in range(2)]
    assert sorted(job.wait(SECONDS) for job in jobs) == [0, 1]


class Held:
    """A reporter that holds a run at its first step until it is let go."""

    def __init__(self) -> None:
        self.seen, self.go = Event(), Event()

    def started(self, task: Task) -> None:
        """Shows nothing."""

    def moved(self, task: Task) -> None:
        """Holds the run."""
        self.seen.set()
        self.go.wait(SECONDS)

    def ended(self, task: Task) -> None:
        """Shows nothing."""

    def noted(self, line: str) -> None:
        """Shows nothing."""


def test_a_simulated_accelerator_that_was_stopped_runs_the_next_job_right() -> None:
    nano = load_design("nano")
    design = replace(nano, name="small", log_n=8, rpaus=3, cores=2, dyadic_cores=2)
    primes = tuple(q for bits in (46, 41, 48) for q in _core.prime_search(bits, design.n, 1))
    roots = tuple(_core.smallest_root(q, design.n) for q in primes)
    switching = SubroutineGraph(design.n, primes, roots, (2,), {"relin": KeyShape(2)})
    for index, value in enumerate(switched(switching, switching.input("x", (0, 1)), "relin")):
        switching.output(value, f"y.{index}")
    random = np.random.default_rng(3)
    given = {"x": np.stack([random.integers(0, q, design.n, np.uint64) for q in primes[:2]])}
    keys = {
        "relin": random_key(primes, design.n, KeyShape.full(2, len(primes)), random, seeded=False)
    }
    compiled, model, held = compile_graph(switching, design), open_device("model", design), Held()
    with progress.reported_to(held):
        job = submit_graph(compiled, model, given, keys)
    assert held.seen.wait(SECONDS)
    assert job.cancel()
    held.go.set()
    with pytest.raises(DeviceError, match="the job was cancelled"):
        job.wait(SECONDS)
    found = submit_graph(compiled, model, given, keys).wait(SECONDS)
    wanted = run_graph(compiled, open_device("cpu"), given, keys)
    assert found.cycles == compiled.executable.cycles
    for name, limbs in wanted.outputs.items():
        assert np.array_equal(found.outputs[name], limbs)


def test_a_program_is_submitted_as_it_is_run() -> None:
    parameters = CkksParameters.create(
        n=1024, prime_bits=(36, 26), special_bits=37, scale_bits=26, security=None
    )
    program = trace(lambda x: (x * x).rotate(1), parameters, {"x": 4})
    _, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": [0.5, -1, 0.25, 1]})
    design = replace(load_design("nano"), name="tiny", log_n=10, rpaus=3)
    compiled, model = compile_program(program, design), open_device("model", design)
    jobs = [compiled.submit(model, inputs, keys) for _ in range(2)]
    results = [*(job.wait(SECONDS) for job in jobs), compiled.run(model, inputs, keys)]
    wanted = compiled.run(open_device("cpu"), inputs, keys)
    assert [job.poll() for job in jobs] == ["done", "done"]
    assert not jobs[0].cancel()
    for result in results:
        assert result.cycles == compiled.compiled_graph.executable.cycles
        assert np.array_equal(result.outputs["result"].data, wanted.outputs["result"].data)
    with pytest.raises(ProgramError, match="the program takes the inputs"):
        compiled.submit(model, {}, keys)


def test_a_streaming_multiplier_stops_between_two_batches() -> None:
    design = StreamDesign("stream", 8, 2, 30)
    primes = tuple(_core.prime_search(30, design.n, 2))
    roots = tuple(_core.smallest_root(q, design.n) for q in primes)
    product = SubroutineGraph(design.n, primes, roots, (1,))
    x = product.ntt(product.input("x", (0,), Form.COEFF))
    product.output(product.intt(product.mul(x, x)), "y")
    given = {"x": np.arange(design.n, dtype=np.uint64)[np.newaxis]}
    compiled, model, held = compile_graph(product, design), open_device("model", design), Held()
    with progress.reported_to(held):
        job = submit_graph(compiled, model, given, {})
    assert held.seen.wait(SECONDS)
    assert job.cancel()
    held.go.set()
    with pytest.raises(DeviceError, match="the job was cancelled"):
        job.wait(SECONDS)
    found = run_graph(compiled, model, given, {}).outputs["y"]
    assert np.array_equal(found, run_graph(compiled, open_device("cpu"), given, {}).outputs["y"])


def test_a_forked_child_begins_with_free_slots_and_no_held_lock() -> None:
    device, compiled = Fake(1), compile_graph(graph())
    for event in device.going.values():
        event.set()
    with device._slots._change:  # as another thread may, at the fork
        assert forked(lambda: run_graph(compiled, device, x(5), {})) == [0]
    cpu = open_device("cpu")
    with cpu._slots._change:
        assert forked(lambda: run_graph(compiled, cpu, x(5), {})) == [0]


def test_a_device_that_computed_at_the_fork_is_refused_in_the_child() -> None:
    device, compiled = Fake(1), compile_graph(graph())
    job = submit_graph(compiled, device, x(0), {})
    assert device.started[0].wait(SECONDS)

    def child() -> None:
        with pytest.raises(DeviceError, match=r"was computing in process \d+ .*: call open_device"):
            run_graph(compiled, device, x(1), {})

    assert forked(child) == [0]
    device.going[0].set()
    job.wait(SECONDS)


# ---- The queue that is fair over clients and groups work by keys ---------------------------------


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
