"""A service whose workers are Ray actors on a cluster of several nodes, one of which is lost."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.engines.test_ray_cluster import Nodes, nodes
from tests.service.conftest import someone
from tests.service.served import Server, in_the_clear, until

from ringsmith.remote import Service

__all__ = ["nodes"]

pytestmark = pytest.mark.full


def test_actors_run_jobs_and_those_of_a_lost_node_are_run_again(
    nodes: Nodes, programs: list[Path], tmp_path: Path
) -> None:
    assert os.environ["RAY_ADDRESS"]
    options = ("--engine", "ray", "--workers", "2")
    with Server(tmp_path, programs, *options) as server, Service(server.url) as service:
        people = [someone(service, seed=number) for number in range(4)]
        for one in people:
            outputs = service.run(one.program, one.inputs, one.keys)
            assert one.read(outputs) == pytest.approx(in_the_clear(one.numbers), abs=1e-4)
        slow = someone(service, "slow")
        service.put_keys(slow.program, slow.keys)
        jobs = [service.submit(slow.program, slow.inputs, slow.keys) for _ in range(6)]
        until(lambda: sum(job.poll().state == "running" for job in jobs) == 2, "both actors work")
        nodes.lose()
        results = [job.wait(300)["result"].data.tobytes() for job in jobs]
        assert len(set(results)) == 1
        attempts = [job.poll().attempts for job in jobs]
        assert max(attempts) > 1, attempts
        with ThreadPoolExecutor(4) as pool:
            for one, found in zip(
                people,
                pool.map(lambda one: service.run(one.program, one.inputs, one.keys), people),
                strict=True,
            ):
                assert one.read(found) == pytest.approx(in_the_clear(one.numbers), abs=1e-4)
        health = httpx.get(f"{server.url}/v1/health").json()
        assert health["workers_ready"] >= 1


def test_keys_that_do_not_fit_are_said_so_by_an_actor_too(
    nodes: Nodes, programs: list[Path], tmp_path: Path
) -> None:
    options = ("--engine", "ray", "--workers", "1")
    with Server(tmp_path, programs, *options) as server, Service(server.url) as service:
        own, other = someone(service), someone(service)
        with pytest.raises(Exception, match="another key pair"):
            service.run(own.program, own.inputs, other.keys)
        service.run(own.program, own.inputs, own.keys)
