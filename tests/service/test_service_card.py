"""A service in front of a simulated card, whose process is killed while jobs are under way."""

from pathlib import Path

import numpy as np
from tests.service.served import Server

from bench.service.processes import Card
from bench.service.soak_programs import DESIGN, KINDS, numbers, program
from ringsmith.remote import Service

JOBS = 16


def test_a_card_that_is_killed_under_the_service_costs_no_job(tmp_path: Path) -> None:
    path = tmp_path / "product.rsp"
    program("product").save(path)
    socket = tmp_path / "card.sock"
    card = Card(DESIGN, socket, 0.1)
    options = ("--workers", "1", "--device", "card", "--design", DESIGN, "--card", str(socket))
    try:
        with (
            Server(tmp_path, [path], *options) as server,
            Service(server.url, security=None) as service,
        ):
            (worker,) = server.worker_ids
            remote = service.program("product")
            secret_key, public_key, keys = remote.generate_keys()
            rng = np.random.default_rng(4)
            given = [numbers("product", rng) for _ in range(JOBS)]
            inputs = [remote.encrypt(public_key, dict(each)) for each in given]
            service.submit(remote, inputs[0], keys).wait(60)  # the worker has opened the card
            jobs = [service.submit(remote, each, keys) for each in inputs]
            card.kill()
            assert jobs[-1].poll().state != "done", "the card was killed too late to be missed"
            card = Card(DESIGN, socket, 0.1)
            for job, clear in zip(jobs, given, strict=True):
                found = remote.decrypt(secret_key, job.wait(60))["result"]
                np.testing.assert_array_equal(found[:8], KINDS["product"].clear(clear))
            assert server.worker_ids == [worker], "the worker opened the card again by itself"
    finally:
        card.kill()
