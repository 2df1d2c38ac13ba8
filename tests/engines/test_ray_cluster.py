"""Engines on a Ray cluster of several nodes; one is lost while it works."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.explore.test_explore import REQUEST, jobs
from tests.verify.test_verify import design_file

from ringsmith.backends.registry import named_design
from ringsmith.engines import Work, engine
from ringsmith.explore.evaluate import Evaluator, work_of
from ringsmith.explore.points import Record, Tried
from ringsmith.explore.search import Search
from ringsmith.files.json_text import Lines
from ringsmith.verify.campaign import Campaign, run_campaign

pytestmark = pytest.mark.full

BYTES = 80 << 20
"""Of a node's object store: the least that Ray takes, and a little."""


class Nodes:
    """A cluster of a head, which does nothing, and two nodes of one processor each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        options = {"object_store_memory": BYTES, "include_dashboard": False}
        self.cluster = Cluster(True, head_node_args={"num_cpus": 0, **options})
        self._nodes = [
            self.cluster.add_node(num_cpus=1, object_store_memory=BYTES) for _ in range(2)
        ]
        self.ids = [each.node_id for each in self._nodes]

    def lose(self) -> str:
        """Kills the first node's processes, all at once; returns its id."""
        self.cluster.remove_node(self._nodes.pop(0), allow_graceful=False)
        return str(self.ids[0])


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    ray: Any = pytest.importorskip("ray", reason="not installed: pip install 'ringsmith[ray]'")
    found = Nodes()
    monkeypatch.setenv("RAY_ADDRESS", found.cluster.address)
    yield found
    ray.shutdown()
    found.cluster.shutdown()


def logged(folder: str) -> Callable[[int], int]:
    """Jobs: their squares; each notes its node when it begins, and its end."""
    import ray

    node = ray.get_runtime_context().get_node_id()

    def square(job: int) -> int:
        with (Path(folder) / "log").open("a") as file:
            file.write(f"{node} {job} begins\n")
        time.sleep(0.3)
        with (Path(folder) / "log").open("a") as file:
            file.write(f"{node} {job} ends\n")
        return job * job

    return square


def test_jobs_of_a_lost_node_are_done_by_another(nodes: Nodes, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def lose_one_at_work() -> None:
        while True:
            lines = log.read_text().splitlines() if log.exists() else []
            ours = [line for line in lines if line.startswith(nodes.ids[0])]
            if len(ours) > 4 and ours[-1].endswith("begins"):
                nodes.lose()
                return
            time.sleep(0.01)

    own = engine("ray", Work(str(tmp_path), logged), 2)
    killer = Thread(target=lose_one_at_work, daemon=True)
    killer.start()
    try:
        found = list(own.run(range(40)))
    finally:
        own.close()
    killer.join(30)
    assert not killer.is_alive()
    assert sorted(found) == [(job, job * job) for job in range(40)]
    begun = [line.split() for line in log.read_text().splitlines() if line.endswith("begins")]
    again = {job for job, times in Counter(job for _, job, _ in begun).items() if times > 1}
    assert again  # what the lost node was at
    assert {node for node, job, _ in begun if job in again} == {*nodes.ids}


class Losing:
    """A record that loses a node when this many lines are written."""

    def __init__(self, nodes: Nodes, after: int) -> None:
        self.nodes, self.after, self.lost = nodes, after, ""

    def count(self) -> None:
        """Counts a line."""
        self.after -= 1
        if not self.after:
            self.lost = self.nodes.lose()


def test_a_search_ends_whole_though_a_node_is_lost(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing, add = Losing(nodes, 40), Record.add

    def counted(record: Record, point: Tried) -> None:
        add(record, point)
        losing.count()

    evaluator = Evaluator(REQUEST)
    alone = Search(evaluator, engine("processes", work_of(evaluator), 1), Record(None, REQUEST))
    expected = alone.run()
    monkeypatch.setattr(Record, "add", counted)
    own, record = engine("ray", work_of(evaluator), 2), Record(None, REQUEST)
    try:
        found = Search(evaluator, own, record).run()
    finally:
        own.close()
    assert losing.lost
    assert found.front == expected.front
    assert len(found.points) == len(expected.points) > len(jobs(200))
    assert Counter(each.key for each in record.points if not each.exact).most_common(1)[0][1] == 1


def test_a_campaign_ends_whole_though_a_node_is_lost(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing, add = Losing(nodes, 12), Lines.add

    def counted(lines: Lines, row: Mapping[str, Any]) -> None:
        add(lines, row)
        losing.count()

    own = Campaign(named_design(str(design_file("rpau", tmp_path))), "rtl", 3)
    expected = run_campaign(own, range(40), workers=2)
    monkeypatch.setattr(Lines, "add", counted)
    record = tmp_path / "ran"
    found = run_campaign(own, range(40), engine_name="ray", workers=2, record=record)
    assert losing.lost
    assert found == expected
    assert len(record.read_text().splitlines()) == 1 + 40
    assert os.environ["RAY_ADDRESS"]  # the cluster's nodes ran it, and no other cluster
