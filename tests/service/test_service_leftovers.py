"""What uploads, checks and attempts leave: nothing is thrown away, kept for ever, or in the way."""

import asyncio
import hashlib
import itertools
import sqlite3
import sys
import threading
from collections import Counter
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import someone
from tests.service.inside import DIGEST, KEYS, Inside, inside, jobs_of
from tests.service.served import Server, in_the_clear, limited

from ringsmith.objects import EvaluationKeys
from ringsmith.remote import Service, ServiceError
from ringsmith.remote.form import write_form
from ringsmith.service.database import Database
from ringsmith.service.published import Publication
from ringsmith.service.settings import Limits, Quota, Settings
from ringsmith.service.tasks import DeviceChoice, Setup
from ringsmith.service.worker import Runner


def address(content: bytes) -> str:
    return f"/v1/programs/score/keys/{hashlib.sha256(content).hexdigest()}"


async def part_of(server: Inside, number: int) -> httpx.Response:
    """Uploads the first byte of two."""
    content = b"%d of many" % number
    headers = {"Content-Range": f"bytes 0-0/{len(content)}"}
    return await server.http.put(address(content), content=content[:1], headers=headers)


# ---- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("losses", [1, 2])
def test_keys_whose_check_loses_its_worker_are_checked_again(
    data: Path, offered: dict[str, Publication], losses: int
) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            server.replicas[0].losses = losses
            answer = await server.http.put(address(KEYS), content=KEYS)
            assert (answer.status_code, answer.json()["state"]) == (201, "ready"), answer.text
            await server.run("one", b"1")

    asyncio.run(rounds())


def test_keys_at_which_workers_die_each_time_are_refused(
    data: Path, offered: dict[str, Publication]
) -> None:
    async def rounds() -> None:
        limits = Limits(attempts=2)
        async with inside(data, offered, limits) as server:
            server.replicas[0].losses = 2
            answer = await server.http.put(address(KEYS), content=KEYS)
            assert answer.status_code == 422
            assert "started 2 times, and each time its worker was lost" in answer.json()["detail"]
            await server.put_keys()  # and may be sent again
            await server.run("one", b"1")

    asyncio.run(rounds())


def test_unfinished_uploads_are_counted_and_expire(
    data: Path, offered: dict[str, Publication]
) -> None:
    async def rounds() -> None:
        limits, quota = Limits(keep_seconds=3.0), Quota(key_files=5)
        settings = Settings(quota=quota)
        async with inside(data, offered, limits, settings=settings) as server:
            await server.put_keys()
            answers = [await part_of(server, number) for number in range(8)]
            statuses = Counter(answer.status_code for answer in answers)
            assert statuses == {202: 4, 429: 4}
            assert "5 uploads of keys are here" in answers[-1].json()["detail"]
            assert (
                await part_of(server, 0)
            ).status_code == 409  # it is there: ask where it goes on
            async with asyncio.timeout(20):
                while len([path for path in (data / "keys").rglob("*") if path.is_file()]) > 1:
                    await asyncio.sleep(0.05)
            assert (await server.http.get(address(b"0 of many"))).status_code == 404
            assert (await server.http.get(address(KEYS))).json()["state"] == "ready"
            assert (await part_of(server, 8)).status_code == 202
            await server.run("one", b"1")

    asyncio.run(rounds())


def test_keys_of_a_client_without_its_token_are_removed(
    data: Path, offered: dict[str, Publication]
) -> None:
    """``token remove``: its keys served nobody, and stayed for ever."""
    database = Database(data / "service.sqlite3")
    heads = {name: {"Authorization": f"Bearer {database.add_client(name)}"} for name in ("a", "b")}

    async def rounds() -> None:
        async with inside(data, offered, Limits(keep_seconds=1.0)) as server:
            for head in heads.values():
                answer = await server.http.put(address(KEYS), content=KEYS, headers=head)
                assert answer.status_code == 201
            assert len([*(data / "keys").glob("*/*/*")]) == 2
            server.replicas[0].seconds = 1.5
            body, kind = write_form({"keys": DIGEST.encode()}, {"x": b"x"})
            more = {"Content-Type": kind, "Prefer": "respond-async", **heads["a"]}
            answer = await server.http.post("/v1/programs/score/runs", content=body, headers=more)
            assert answer.status_code == 202
            database.remove_client("a")
            async with asyncio.timeout(20):
                while len([*(data / "keys").glob("*/*/*")]) == 2:
                    await asyncio.sleep(0.05)
            assert server.replicas[0].runs[answer.json()["id"]] == 1, "its job had its keys"
            found = await server.http.get(address(KEYS), headers=heads["b"])
            assert found.json()["state"] == "ready"

    asyncio.run(rounds())
    database.close()


# ---- jobs ----------------------------------------------------------------------------------------


def test_bodies_of_a_request_that_is_here_count_for_the_quota(
    data: Path, offered: dict[str, Publication]
) -> None:
    """Else a name that was used once lets any number of bodies in."""

    async def rounds() -> None:
        settings = Settings(quota=Quota(waiting_jobs=3))
        async with inside(data, offered, settings=settings) as server:
            await server.put_keys()
            server.replicas[0].seconds = 2
            for name in ("a", "b", "c"):
                assert (await server.post(name, b"1", at_once=True)).status_code == 202
            assert (await server.post("d", b"1", at_once=True)).status_code == 429
            # A client that asks for its job again gets it all the same.
            assert (await server.post("a", b"1", at_once=True)).status_code == 202
            server.replicas[0].seconds = 0
            arriving = asyncio.Event()
            body, kind = write_form({"keys": DIGEST.encode()}, {"x": b"1"})

            async def slowly():  # noqa: ANN202 - an asynchronous generator
                yield body[:10]
                await arriving.wait()
                yield body[10:]

            headers = {"Content-Type": kind, "Idempotency-Key": "a", "Prefer": "respond-async"}
            asked = [
                asyncio.create_task(
                    server.http.post("/v1/programs/score/runs", content=slowly(), headers=headers)
                )
                for _ in range(10)
            ]
            await asyncio.sleep(0.2)
            assert len([*(data / "jobs").iterdir()]) <= 6  # three jobs, three bodies
            arriving.set()
            statuses = Counter(answer.status_code for answer in await asyncio.gather(*asked))
            assert statuses[429] == 7
            assert statuses[202] + statuses[200] == 3
            for name in ("a", "b", "c"):
                await server.run(name, b"1")

    asyncio.run(rounds())
    assert jobs_of(data) == {(name, "done"): 1 for name in ("a", "b", "c")}


def test_an_attempt_that_the_database_has_forgotten_is_in_nobodys_way(own_server: Server) -> None:
    """A machine that lost power: the outputs' folder is there, and the attempt is not recorded."""
    with Service(own_server.url) as service:
        own = someone(service)
        job = service.submit(own.program, own.inputs, own.keys)
        job.wait(60)
        own_server.kill()
        folders = [*(own_server.data / "jobs" / job.id).glob("attempt-1*")]
        assert folders
        (own_server.data / "jobs" / job.id / "attempt-1").mkdir(exist_ok=True)
        tables = sqlite3.connect(own_server.data / "service.sqlite3", isolation_level=None)
        tables.execute(
            "UPDATE jobs SET state = 'waiting', attempts = 0, started = NULL, ended = NULL, "
            "outcome = '{}'"
        )
        tables.close()
        own_server.start()
        again = service.submit(own.program, own.inputs, own.keys, request=job.poll().request)
        assert again.id == job.id
        assert own.read(again.wait(60)) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)


def test_a_job_that_fails_costs_its_client_what_it_took(
    programs: list[Path], tmp_path: Path
) -> None:
    with (
        limited(tmp_path, programs[:1], "[quota]\ncompute_seconds = 0.000001\n") as server,
        Service(server.url) as service,
    ):
        own = someone(service)
        (digest,) = service.put_keys(own.program, own.keys)
        body, kind = write_form({"keys": digest.encode()}, {"x": b"no ciphertext"})

        def post() -> httpx.Response:
            url = f"{server.url}/v1/programs/score/runs"
            return httpx.post(url, content=body, headers={"Content-Type": kind}, timeout=60)

        assert post().status_code == 422
        again = post()
        assert (again.status_code, again.json()["code"]) == (429, "quota")
        used = httpx.get(f"{server.url}/v1/status").json()["clients"][0]["seconds_this_hour"]
        assert 0 < used < 10
        with pytest.raises(ServiceError, match="seconds this hour"):
            service.put_keys(own.program, own.program.generate_keys()[2])


def test_a_worker_counts_its_keys_while_it_reads_others() -> None:
    """Each job that ended counted them, in a thread, and failed when another added some."""
    runner, stopped = Runner(Setup(DeviceChoice(), (), 1 << 20)), threading.Event()
    keys = EvaluationKeys(None)

    def add() -> None:
        for number in itertools.count():
            if stopped.is_set():
                return
            runner._keys[str(number)] = keys
            if len(runner._keys) > 50:
                runner._keys.popitem(last=False)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=add)
    thread.start()
    try:
        for _ in range(3000):
            assert runner._key_bytes() == 0
            assert len(runner._held()) <= 51
    finally:
        stopped.set()
        thread.join()
        sys.setswitchinterval(interval)
