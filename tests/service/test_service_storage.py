"""A database that fails, is full, locked or slow, and clocks that jump: nothing is lost."""

import asyncio
import errno
import hashlib
import os
import random
import shutil
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.conftest import SEED
from tests.service.conftest import someone
from tests.service.inside import DIGEST, KEYS, Faults, Inside, faulty, inside, jobs_of
from tests.service.served import Server, until

from ringsmith.remote import Service
from ringsmith.service import app, state
from ringsmith.service import storage as storage_module
from ringsmith.service.database import Database, JobRecord, RunState
from ringsmith.service.published import Publication
from ringsmith.service.settings import Limits
from ringsmith.service.storage import Storage
from ringsmith.service.tasks import DeviceChoice, Outcome, Setup, Task
from ringsmith.service.worker import Runner

WRITES = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    monkeypatch.setattr(storage_module, "PATIENCE_SECONDS", 0.3)
    return faulty(monkeypatch)


def settled(server: Inside) -> bool:
    """Whether no slot is taken and no job is open."""
    dispatcher = server.state.dispatcher
    return (
        not any(worker.running for worker in dispatcher.workers)
        and not dispatcher._known
        and not dispatcher.waiting
    )


def at_once(waits: list[float]) -> bool:
    """Whether answers do not wait for the database; some may have waited for this machine."""
    return statistics.median(waits) < 0.5


async def settles(server: Inside) -> None:
    async with asyncio.timeout(20):
        while not settled(server):
            await asyncio.sleep(0.02)


async def all_written(server: Inside) -> None:
    """Waits until every write has ended, also those of requests that were refused."""
    async with asyncio.timeout(20):
        while server.state.storage._writes.open:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("code", WRITES, ids=["failing", "full", "locked"])
def test_jobs_go_on_when_writes_succeed_again(
    data: Path, offered: dict[str, Publication], faults: Faults, code: int
) -> None:
    """A job was started or has ended while nothing could be written."""

    async def rounds() -> None:
        async with inside(data, offered) as server:
            (replica,) = server.replicas
            await server.put_keys()
            replica.seconds = 0.3
            jobs = [asyncio.create_task(server.run(str(i), bytes([i]))) for i in range(4)]
            await asyncio.sleep(0.15)  # two run, and one is read ahead
            faults.code, faults.rate = code, 1.0
            await server.becomes("down", "failing")
            answer = await server.post("new", b"new")
            assert answer.status_code == (507 if code == sqlite3.SQLITE_FULL else 503), answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            assert int(answer.headers["retry-after"]) > 0
            assert (await server.health())["status"] == "down"
            faults.clear()
            await server.becomes("ok", "ok")
            await asyncio.gather(*jobs)
            await server.run("new", b"new")
            await settles(server)
            assert max(replica.runs.values()) == 1

    asyncio.run(rounds())
    assert jobs_of(data) == {(name, "done"): 1 for name in ("0", "1", "2", "3", "new")}


def test_health_finds_a_disk_that_fails_while_nobody_asks_for_anything(
    data: Path, offered: dict[str, Publication], faults: Faults
) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.becomes("ok", "ok")
            faults.rate = 1.0
            await server.becomes("down", "failing")
            faults.clear()
            await server.becomes("ok", "ok")

    asyncio.run(rounds())


def test_questions_are_answered_at_once_while_the_database_is_slow(
    data: Path, offered: dict[str, Publication], faults: Faults
) -> None:
    async def rounds() -> list[float]:
        waits = []
        async with inside(data, offered) as server:
            await server.put_keys()
            server.replicas[0].seconds = 0.2
            job = (await server.post("one", b"1", at_once=True)).json()
            faults.seconds = 1.5
            others = [asyncio.create_task(server.post(str(i), b"2")) for i in range(3)]
            await server.becomes("degraded", "slow")
            for path in ("health", "programs", f"jobs/{job['id']}", "jobs", "status") * 4:
                started = time.perf_counter()
                assert (await server.http.get(f"/v1/{path}")).status_code == 200
                waits.append(time.perf_counter() - started)
            faults.clear()
            assert {answer.status_code for answer in await asyncio.gather(*others)} == {503}
            await settles(server)
        return waits

    assert at_once(asyncio.run(rounds()))


def test_a_lock_of_ten_seconds_delays_writes_alone(
    data: Path, offered: dict[str, Publication]
) -> None:
    """Another process holds the lock of the real database, as a backup does."""

    async def rounds() -> tuple[list[float], Counter[int]]:
        waits = []
        async with inside(data, offered) as server:
            await server.put_keys()
            server.replicas[0].seconds = 3
            job = (await server.post("one", b"1", at_once=True)).json()
            other = sqlite3.connect(data / "service.sqlite3", isolation_level=None)
            async with asyncio.timeout(20):
                while (await server.http.get(f"/v1/jobs/{job['id']}")).json()["state"] != "running":
                    await asyncio.sleep(0.02)
            other.execute("BEGIN EXCLUSIVE")
            locked = time.perf_counter()
            late = asyncio.create_task(server.run("late", b"3"))
            while time.perf_counter() - locked < 10:
                started = time.perf_counter()
                found = (await server.http.get(f"/v1/jobs/{job['id']}")).json()
                assert found["state"] == "running"  # its end is not stored yet
                await server.health()
                waits.append(time.perf_counter() - started)
                await asyncio.sleep(0.05)
            assert (await server.health())["status"] != "ok"
            other.execute("ROLLBACK")
            other.close()
            await server.becomes("ok", "ok")
            seen = await late
            await settles(server)
        return waits, seen

    waits, seen = asyncio.run(rounds())
    assert at_once(waits)
    assert seen[503] > 0
    assert jobs_of(data) == {("one", "done"): 1, ("late", "done"): 1}


def test_events_come_within_half_a_second_while_the_database_is_locked(own_server: Server) -> None:
    with Service(own_server.url) as service, httpx.Client(timeout=30) as http:
        slow = someone(service, "slow")
        job = service.submit(slow.program, slow.inputs, slow.keys)
        until(lambda: job.poll().state == "running", "the job runs")
        other = sqlite3.connect(own_server.data / "service.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waits = []
        for _ in range(10):
            started = time.perf_counter()
            with http.stream("GET", f"{own_server.url}/v1/jobs/{job.id}/events") as answer:
                assert next(answer.iter_lines()) == "event: state"
                waits.append(time.perf_counter() - started)
            time.sleep(0.2)
        until(
            lambda: http.get(f"{own_server.url}/v1/health").json()["status"] != "ok", "it is told"
        )
        assert job.poll().state == "running"
        other.close()
        job.wait(60)
    assert at_once(waits)


def test_a_full_disk_is_reported_and_jobs_go_on_when_it_has_space(
    data: Path, offered: dict[str, Publication], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite itself says that the disk is full."""
    monkeypatch.setattr(storage_module, "PATIENCE_SECONDS", 0.3)

    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()

            def free(pages: int) -> None:
                database = server.state.storage._writes.database
                (used,) = database._connection.execute("PRAGMA page_count").fetchone()
                database._connection.execute(f"PRAGMA max_page_count = {used + pages}")

            statuses = Counter[int]()
            opened = server.state.storage._writes.database.reopen
            monkeypatch.setattr(
                server.state.storage._writes.database, "reopen", lambda: (opened(), free(0))
            )
            free(0)
            name = 0
            while statuses[507] < 3:
                name += 1
                assert name < 5000, "it becomes full"
                answer = await server.post(str(name), b"x" * 10, at_once=True)
                statuses[answer.status_code] += 1
            assert (await server.health())["status"] == "down"
            monkeypatch.undo()
            free(1 << 20)
            await server.becomes("ok", "ok")
            await server.run("more", b"more")
            await settles(server)
        assert statuses.keys() <= {202, 429, 507}

    asyncio.run(rounds())
    assert {state for _, state in jobs_of(data)} == {"done"}


def test_a_disk_without_space_for_files_is_reported(
    data: Path, offered: dict[str, Publication], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def cut_off(*_: object) -> AsyncIterator[bytes]:
        yield KEYS[:10]
        full()

    async def rounds() -> None:
        async with inside(data, offered) as server:
            with monkeypatch.context() as patch:
                patch.setattr(app, "chunks", cut_off)
                answer = await server.http.put(f"/v1/programs/score/keys/{DIGEST}", content=KEYS)
                assert (answer.status_code, answer.json()["code"]) == (507, "disk-full")
            path = f"/v1/programs/score/keys/{DIGEST}"
            assert (await server.http.get(path)).json()["received"] == 10  # and goes on from there
            headers = {"Content-Range": f"bytes 10-{len(KEYS) - 1}/{len(KEYS)}"}
            answer = await server.http.put(path, content=KEYS[10:], headers=headers)
            assert answer.json()["state"] == "ready"
            with monkeypatch.context() as patch:
                patch.setattr(server.state.folder, "make_job", full)
                answer = await server.post("one", b"1")
                assert (answer.status_code, answer.json()["code"]) == (507, "disk-full")
            await server.run("one", b"1")

    asyncio.run(rounds())


def test_a_worker_whose_disk_is_full_or_whose_files_are_lost_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner = Runner(Setup(DeviceChoice(), (), 1 << 20))
    task = Task("job", "score", "", (), {"x": "0"}, "folder")
    for number, code in ((errno.ENOSPC, "disk-full"), (errno.ENOENT, "lost-files")):

        def fails(*_: object, number: int = number) -> Outcome:
            raise OSError(number, os.strerror(number), "/a/path/of/the/server")

        monkeypatch.setattr(runner, "_run", fails)
        outcome = runner.carry_out(task)
        assert outcome.code == code
        assert "/a/path" not in outcome.message


def test_a_write_that_succeeds_after_its_request_was_refused_is_undone(
    data: Path, offered: dict[str, Publication], faults: Faults
) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            faults.seconds = 1.5
            assert (await server.post("late", b"late")).status_code == 503
            faults.clear()
            await all_written(server)
            assert not jobs_of(data)
            await server.run("late", b"late")

    asyncio.run(rounds())
    assert jobs_of(data) == {("late", "done"): 1}


def test_a_write_that_fails_after_it_was_stored_is_stored_once(
    data: Path, offered: dict[str, Publication], faults: Faults
) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            faults.rate, faults.after = 0.2, True
            for i in range(10):
                await server.run(str(i), bytes([i]))
            faults.clear()
            await settles(server)
            assert set(server.replicas[0].runs.values()) == {1}

    asyncio.run(rounds())
    assert jobs_of(data) == {(str(i), "done"): 1 for i in range(10)}


def test_a_job_that_was_stored_though_its_request_was_refused_is_run_at_the_next_request(
    data: Path, offered: dict[str, Publication], faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try stores the job and fails after that, until the request is refused."""
    add_job = Database.add_job

    def stores_and_fails(self: Database, job: JobRecord) -> JobRecord:
        add_job(self, job)
        raise sqlite3.OperationalError("a fault on purpose")

    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            with monkeypatch.context() as patch:
                patch.setattr(Database, "add_job", stores_and_fails)
                assert (await server.post("one", b"1")).status_code == 503
            assert jobs_of(data) == {("one", "waiting"): 1}
            answer = await server.post("one", b"another input")
            assert (answer.status_code, answer.json()["code"]) == (422, "other-request")
            await server.run("one", b"1", seconds=5)
            await settles(server)
            assert set(server.replicas[0].runs.values()) == {1}

    asyncio.run(rounds())
    assert jobs_of(data) == {("one", "done"): 1}


def _fault_rounds(
    data: Path,
    offered: dict[str, Publication],
    faults: Faults,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
) -> None:
    """Rounds of a few clients each, under faults that change; some last until all see them."""
    print("seed", SEED)
    rng = random.Random(SEED)
    clock = time.time
    jump = 0.0
    monkeypatch.setattr(time, "time", lambda: clock() + jump)

    async def rounds() -> Counter[int]:
        nonlocal jump
        seen: Counter[int] = Counter()
        limits = Limits(answer_seconds=0.2, wait_seconds=600, keep_seconds=900)
        async with inside(data, offered, limits, replicas=2) as server:
            await server.put_keys()
            asked = asyncio.create_task(asks(server))
            for number in range(count):
                faults.code, faults.after = rng.choice(WRITES), rng.random() < 0.3
                lasts = number % 6 == 5
                faults.rate = rng.choice([0.6, 1.0] if lasts else [0, 0, 0.1, 0.3, 0.6, 1.0])
                faults.seconds = rng.choice([0, 0, 0, 0.01])
                jump = rng.uniform(-10, 10) * 3600 if rng.random() < 0.5 else 0.0
                server.replicas[number % 2].losses = int(rng.random() < 0.05)
                clients = [
                    asyncio.create_task(server.run(f"{number}-{i}", rng.randbytes(20)))
                    for i in range(rng.randint(1, 4))
                ]
                await asyncio.sleep(0.5 if lasts else rng.choice([0, 0.01, 0.05]))
                if lasts and faults.rate == 1:
                    await server.becomes("down", "failing")
                faults.clear()
                for each in await asyncio.gather(*clients):
                    seen += each
                if lasts:
                    await server.becomes("ok", "ok")
            await settles(server)
            await server.becomes("ok", "ok")
            asked.cancel()
        return seen

    waits: list[float] = []

    async def asks(server: Inside) -> None:
        """Asks all the time, as a monitor does."""
        while True:
            started = time.perf_counter()
            await server.health()
            waits.append(time.perf_counter() - started)
            await asyncio.sleep(0.02)

    seen = asyncio.run(rounds())
    waits.sort()
    print("other answers", dict(seen), f"health: {len(waits)} answers, slowest {waits[-1]:.3f} s")
    assert seen[503] + seen[507] > count / 30  # faults lasted longer than the server's patience
    assert waits[len(waits) * 95 // 100] < 0.5  # the slowest may have waited for this machine
    found = jobs_of(data)
    assert {state for _, state in found} == {"done"}
    assert set(found.values()) == {1}
    assert {name.partition("-")[0] for name, _ in found} == {str(i) for i in range(count)}


def test_nothing_is_lost_doubled_or_stuck_under_faults(
    data: Path, offered: dict[str, Publication], faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fault_rounds(data, offered, faults, monkeypatch, 60)


@pytest.mark.full
def test_nothing_is_lost_doubled_or_stuck_in_many_rounds_of_faults(
    data: Path, offered: dict[str, Publication], faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fault_rounds(data, offered, faults, monkeypatch, 1000)


def _after_power_failure(data: Path, target: Path, rng: random.Random) -> Path:
    """A folder as a machine may have it that lost power: the last writes are missing."""
    shutil.copytree(data, target)
    log = target / "service.sqlite3-wal"
    if log.exists():
        with log.open("r+b") as file:
            file.truncate(int(log.stat().st_size * rng.random()))
    (target / "service.sqlite3-shm").unlink(missing_ok=True)
    files = [path for path in (target / "jobs").rglob("*") if path.is_file()]
    files += [path for path in (target / "keys").rglob("*") if path.is_file()]
    for path in files:
        if rng.random() < 0.2:
            path.unlink()
    return target


def test_a_truncated_log_and_lost_files_leave_no_job_stuck(
    data: Path, offered: dict[str, Publication], tmp_path: Path
) -> None:
    print("seed", SEED)
    rng = random.Random(SEED)

    async def rounds() -> None:
        folder = data
        for number in range(12):
            names = {f"{number}-{i}": rng.randbytes(20) for i in range(6)}
            async with inside(folder, offered) as server:
                server.replicas[0].seconds = 0.02
                await server.put_keys()
                for name, content in names.items():
                    answer = await server.post(name, content, at_once=True)
                    assert answer.status_code in (200, 202)
                    await asyncio.sleep(rng.choice([0, 0.03]))
                folder = _after_power_failure(folder, tmp_path / str(number), rng)
            async with inside(folder, offered) as server:
                await server.put_keys()
                for name, content in names.items():
                    async with asyncio.timeout(20):
                        while True:
                            answer = await server.post(name, content)
                            assert answer.status_code in (200, 202, 409, 410, 500), answer.text
                            if answer.status_code not in (202, 409):
                                break
                            await server.put_keys()
                    if answer.status_code != 200:  # told, and a new request gives the result
                        assert answer.json()["code"] == "lost-files", answer.text
                        await server.run(f"{name}-again", content)
                await settles(server)
            assert {state for _, state in jobs_of(folder)} <= {"done", "failed"}

    asyncio.run(rounds())


def test_what_is_given_up_does_not_block_what_follows(tmp_path: Path, faults: Faults) -> None:
    """A thread that hangs in one statement: others are refused in time, and go on later."""
    job = JobRecord("0", 1, "score", "", (), "a", "", RunState.WAITING, 0, 0, 0.0)

    async def rounds() -> None:
        storage = Storage(tmp_path / "service.sqlite3")
        await storage.write(lambda database: database.local_client())
        faults.seconds = 1.5
        started = time.perf_counter()
        tries = [
            storage.write(lambda database: database.add_job(job), lambda d: d.remove_job("0"))
            for _ in range(20)
        ]
        refused = await asyncio.gather(*tries, return_exceptions=True)
        assert all(isinstance(error, Exception) for error in refused)
        assert time.perf_counter() - started < 3  # one after the other: 6 seconds
        assert storage.is_slow or not storage.trouble
        faults.clear()
        started = time.perf_counter()
        while True:
            try:
                stored = await storage.write(lambda database: database.add_job(job))
                break
            except Exception:
                assert time.perf_counter() - started < 5
        assert stored == job
        storage.close()

    asyncio.run(rounds())


def test_uploads_end_well_after_faults_at_any_moment(
    data: Path, offered: dict[str, Publication], faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In parts, as the client sends them: it asks where it goes on after each failure."""
    print("seed", SEED)
    rng = random.Random(SEED)
    monkeypatch.setattr(state, "PATIENCE_SECONDS", 0.3)

    async def upload(server: Inside, content: bytes) -> None:
        path = f"/v1/programs/score/keys/{hashlib.sha256(content).hexdigest()}"
        async with asyncio.timeout(30):
            while True:
                found = await server.http.get(path)
                assert found.status_code in (200, 404, 503, 507), found.text
                if found.status_code >= 503 or found.json().get("state") == "checking":
                    await asyncio.sleep(0.02)
                    continue
                if found.json().get("state") == "ready":
                    return
                first = found.json().get("received", 0) if found.status_code == 200 else 0
                last = min(first + rng.randint(1, 40), len(content)) - 1
                headers = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
                body = content[first : last + 1]
                answer = await server.http.put(path, content=body, headers=headers)
                assert answer.status_code in (200, 201, 202, 409, 503, 507), answer.text

    async def rounds() -> None:
        async with inside(data, offered) as server:
            for number in range(40):
                faults.code, faults.after = rng.choice(WRITES), rng.random() < 0.3
                faults.rate = rng.choice([0.1, 0.3, 0.6, 1.0])
                sent = asyncio.create_task(upload(server, rng.randbytes(100)))
                await asyncio.sleep(rng.choice([0.01, 0.05, 0.5] if number % 8 else [0.5]))
                faults.clear()
                await sent

    asyncio.run(rounds())


def test_a_check_that_was_recorded_too_late_is_started_again(
    data: Path, offered: dict[str, Publication], faults: Faults
) -> None:
    """Its request was refused; the record says that keys are checked, and nothing checks them."""
    path, last = f"/v1/programs/score/keys/{DIGEST}", len(KEYS) - 1
    headers = {"Content-Range": f"bytes {last}-{last}/{len(KEYS)}"}

    async def rounds() -> None:
        async with inside(data, offered) as server:
            first = {"Content-Range": f"bytes 0-{last - 1}/{len(KEYS)}"}
            assert (
                await server.http.put(path, content=KEYS[:last], headers=first)
            ).status_code == 202

            async def slow(*words: object) -> object:
                faults.seconds = 1.5
                return await checked(*words)  # type: ignore[arg-type]

            checked = server.state._checked
            server.state._checked = slow  # type: ignore[assignment, method-assign]
            answer = await server.http.put(path, content=KEYS[last:], headers=headers)
            assert answer.status_code == 503
            server.state._checked = checked  # type: ignore[method-assign]
            faults.clear()
            await all_written(server)
            (record,) = await server.state.storage.read(lambda database: database.all_keys())
            assert record.state == "checking"
            found = (await server.http.get(path)).json()
            assert (found["state"], found["received"]) == ("partial", last)
            answer = await server.http.put(path, content=KEYS[last:], headers=headers)
            assert answer.json()["state"] == "ready"
            await server.run("one", b"1")

    asyncio.run(rounds())


def test_errors_do_not_wait_for_each_other(
    data: Path, offered: dict[str, Publication], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests of one client, one after the other, while nothing can be written."""
    faults = faulty(monkeypatch)

    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            faults.rate = 1.0
            await server.becomes("down", "failing")
            started = time.perf_counter()
            asked = [server.post(str(number), b"1") for number in range(10)]
            statuses = {answer.status_code for answer in await asyncio.gather(*asked)}
            assert statuses == {503}
            assert time.perf_counter() - started < 10 * 0.25 + 2
            faults.clear()
            await server.becomes("ok", "ok")
            await server.run("0", b"1")

    asyncio.run(rounds())


def test_events_of_a_job_that_is_removed_end(data: Path, offered: dict[str, Publication]) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            await server.run("one", b"1")
            (job,) = (await server.http.get("/v1/jobs")).json()["jobs"]
            record = await server.state.storage.read(lambda database: database.job(job["id"]))
            assert record is not None
            await server.http.delete(f"/v1/jobs/{job['id']}")
            assert await server.state.dispatcher.wait(record, 5) is None

    asyncio.run(rounds())


def test_keys_whose_file_is_lost_are_asked_for_again(
    data: Path, offered: dict[str, Publication]
) -> None:
    async def rounds() -> None:
        async with inside(data, offered) as server:
            await server.put_keys()
            await server.run("one", b"1")
            (path,) = (path for path in (data / "keys").rglob("*") if path.is_file())
            assert path.read_bytes() == KEYS
            path.unlink()
            answer = await server.post("two", b"2")
            assert (answer.status_code, answer.json()["code"]) == (409, "keys-missing")
            await server.put_keys()
            assert path.read_bytes() == KEYS
            await server.run("two", b"2")

    asyncio.run(rounds())
