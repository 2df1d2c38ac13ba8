"""Nothing is lost: servers and workers that are killed, clients that ask again."""

import hashlib
import os
import shutil
import signal
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import someone
from tests.service.served import Server, in_the_clear, limited, until

from ringsmith.interop import encode_object
from ringsmith.remote import Service, ServiceError
from ringsmith.service.clock import now
from ringsmith.service.database import seconds_to_next_hour
from ringsmith.service.published import server_secret


def test_finished_results_and_unfinished_jobs_outlive_a_killed_server(own_server: Server) -> None:
    with Service(own_server.url) as service:
        own, slow = someone(service), someone(service, "slow")
        done = service.submit(own.program, own.inputs, own.keys)
        results = done.wait(60)
        running = service.submit(slow.program, slow.inputs, slow.keys)
        waiting = service.submit(own.program, own.inputs, own.keys)
        until(lambda: running.poll().state == "running", "the slow job runs")
        own_server.kill()
        assert waiting._status.state == "waiting"
        own_server.start()
        assert done.wait(60)["result"].data.tobytes() == results["result"].data.tobytes()
        assert waiting.wait(60)["result"].data.tobytes() == results["result"].data.tobytes()
        running.wait(60)
        assert [one.poll().attempts for one in (done, running)] == [1, 2]
        assert waiting.poll().attempts in (1, 2)  # the worker may have read its inputs already


def test_a_client_that_asks_while_the_server_is_down_gets_its_answer_once(
    own_server: Server,
) -> None:
    with Service(own_server.url) as service:
        own = someone(service)
        service.put_keys(own.program, own.keys)
        own_server.kill()
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(service.run, own.program, own.inputs, own.keys)
            own_server.start()
            outputs = answer.result(60)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        jobs = service._connection.json("GET", "/jobs")["jobs"]
        assert [job["state"] for job in jobs] == ["done"]


def test_a_killed_worker_is_replaced_and_its_job_started_again(own_server: Server) -> None:
    with Service(own_server.url) as service:
        slow = someone(service, "slow")
        job = service.submit(slow.program, slow.inputs, slow.keys)
        until(lambda: job.poll().state == "running", "the job runs")
        (worker,) = own_server.worker_ids
        os.kill(worker, signal.SIGKILL)
        job.wait(60)
        assert job.poll().attempts == 2
        assert own_server.worker_ids != [worker]
        health = httpx.get(f"{own_server.url}/v1/health").json()
        assert (health["status"], health["workers_ready"]) == ("ok", 1)


def test_a_worker_that_dies_idle_is_replaced(own_server: Server) -> None:
    (worker,) = own_server.worker_ids
    os.kill(worker, signal.SIGKILL)
    with Service(own_server.url) as service:
        own = someone(service)
        service.run(own.program, own.inputs, own.keys)


@pytest.mark.parametrize("busy", [True, False], ids=["with a job", "idle"])
def test_a_worker_that_stops_answering_is_replaced(
    programs: list[Path], tmp_path: Path, *, busy: bool
) -> None:
    """A process that is stopped, or hangs, is there for the system, and does nothing."""
    with (
        limited(tmp_path, programs, "[limits]\nsilent_seconds = 3\n") as server,
        Service(server.url) as service,
    ):
        name = "slow" if busy else "score"
        own = someone(service, name)
        service.put_keys(own.program, own.keys)
        (worker,) = server.worker_ids
        if busy:
            job = service.submit(own.program, own.inputs, own.keys)
            until(lambda: job.poll().state == "running", "the job runs")
        os.kill(worker, signal.SIGSTOP)
        if not busy:
            job = service.submit(own.program, own.inputs, own.keys)
        job.wait(60)
        assert job.poll().attempts == 2
        assert server.worker_ids != [worker]
        assert "did not answer for 3 seconds" in server.log
        (worker,) = server.worker_ids
        os.kill(server.process_id, signal.SIGSTOP)  # a server that stops kills no worker for it
        time.sleep(4)
        os.kill(server.process_id, signal.SIGCONT)
        service.run(own.program, own.inputs, own.keys)
        assert server.worker_ids == [worker]


def test_a_secret_that_is_empty_or_cut_off_is_replaced(tmp_path: Path) -> None:
    first = server_secret(tmp_path)
    assert len(first) == 32
    assert server_secret(tmp_path) == first
    for content in (b"", first[:31]):
        (tmp_path / "secret").write_bytes(content)
        again = server_secret(tmp_path)
        assert len(again) == 32
        assert again != first
        assert server_secret(tmp_path) == again
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_clock_that_is_set_changes_no_time_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    before = now()
    for jump in (-1e6, 3600.0, 1e9):
        monkeypatch.setattr(time, "time", lambda jump=jump: before + jump)
        assert before <= now() < before + 60
    assert 0 < seconds_to_next_hour() <= 3600


def test_a_job_at_which_workers_die_is_given_up(programs: list[Path], tmp_path: Path) -> None:
    with (
        limited(tmp_path, programs, "[limits]\nattempts = 2\n") as server,
        Service(server.url) as service,
    ):
        slow, own = someone(service, "slow"), someone(service)
        job = service.submit(slow.program, slow.inputs, slow.keys)
        for attempt in (1, 2):
            until(
                lambda attempt=attempt: (
                    job.poll().attempts == attempt and job.poll().state == "running"
                ),
                f"attempt {attempt} runs",
            )
            os.kill(server.worker_ids[0], signal.SIGKILL)
        with pytest.raises(ServiceError, match="started 2 times, and each time its worker"):
            job.wait(60)
        assert job.poll().code == "worker-lost"
        service.run(own.program, own.inputs, own.keys)


def test_a_job_that_runs_too_long_is_ended(programs: list[Path], tmp_path: Path) -> None:
    with (
        limited(tmp_path, programs, "[limits]\nrun_seconds = 0.05\n") as server,
        Service(server.url) as service,
    ):
        slow = someone(service, "slow")
        with pytest.raises(ServiceError, match=r"ran for 0\.05 seconds, the most") as error:
            service.run(slow.program, slow.inputs, slow.keys)
        assert (error.value.status, error.value.code) == (503, "run-time")
        until(lambda: len(server.worker_ids) == 1, "another worker")


def test_a_job_that_waits_too_long_is_ended(programs: list[Path], tmp_path: Path) -> None:
    with (
        limited(tmp_path, programs, "[limits]\nwait_seconds = 0.1\n") as server,
        Service(server.url) as service,
    ):
        slow = someone(service, "slow")
        service.put_keys(slow.program, slow.keys)
        jobs = [service.submit(slow.program, slow.inputs, slow.keys) for _ in range(3)]
        with pytest.raises(ServiceError, match=r"waited 0\.1 seconds for a device"):
            jobs[-1].wait(60)
        assert jobs[-1].poll().code == "queue-time"
        jobs[0].wait(60)


def test_keys_that_had_come_are_there_after_a_kill_and_chunks_go_on(own_server: Server) -> None:
    with Service(own_server.url) as service:
        own, other = someone(service), someone(service)
        service.put_keys(own.program, own.keys)
        data = encode_object(other.keys, other.program.kit.parameters)
        address = f"/v1/programs/score/keys/{hashlib.sha256(data).hexdigest()}"
        half = len(data) // 2
        headers = {
            "Content-Type": "application/x-ringsmith-object",
            "Content-Range": f"bytes 0-{half - 1}/{len(data)}",
        }
        sent = httpx.put(own_server.url + address, content=data[:half], headers=headers)
        assert sent.status_code == 202
        own_server.kill()
        own_server.start()
        assert httpx.get(own_server.url + address).json()["received"] == half
        before = own_server.log.count("PUT ")
        service.run(own.program, own.inputs, own.keys)
        assert own_server.log.count("PUT ") == before
        service.run(other.program, other.inputs, other.keys)


def test_keys_that_the_server_forgot_are_sent_again(own_server: Server) -> None:
    with Service(own_server.url) as service:
        own = someone(service)
        service.run(own.program, own.inputs, own.keys)
        (digest,) = service.put_keys(own.program, own.keys)
        answer = httpx.delete(f"{own_server.url}/v1/programs/score/keys/{digest}")
        assert answer.status_code == 204
        service.run(own.program, own.inputs, own.keys)


def test_what_a_killed_server_left_half_done_is_removed(own_server: Server) -> None:
    own_server.kill()
    stray = own_server.data / "jobs" / "stray"
    stray.mkdir()
    (stray / "0").write_bytes(b"half an input")
    key = own_server.data / "keys" / "1" / "00" / "stray.part"
    key.parent.mkdir(parents=True)
    key.write_bytes(b"half a key")
    own_server.start()
    assert not stray.exists()
    assert not key.exists()


def test_a_job_of_a_program_that_is_gone_says_so(programs: list[Path], tmp_path: Path) -> None:
    mine = tmp_path / "score.rsp"
    shutil.copy(programs[0], mine)
    server = Server(tmp_path, [mine, programs[1]], "--workers", "1")
    with server, Service(server.url) as service:
        slow, own = someone(service, "slow"), someone(service)
        service.submit(slow.program, slow.inputs, slow.keys)
        waiting = service.submit(own.program, own.inputs, own.keys)
        server.kill()
        shutil.copy(programs[1], mine)  # another program under the same name
        server.start()
        with pytest.raises(ServiceError, match="is not offered any more"):
            waiting.wait(60)


def test_results_are_removed_after_their_time(programs: list[Path], tmp_path: Path) -> None:
    with (
        limited(tmp_path, programs, "[limits]\nkeep_seconds = 2\n") as server,
        Service(server.url) as service,
    ):
        own = someone(service)
        service.run(own.program, own.inputs, own.keys)
        until(lambda: not [*(server.data / "jobs").iterdir()], "results are removed")


def test_two_servers_do_not_use_one_folder(own_server: Server, programs: list[Path]) -> None:
    second = Server(own_server.data.parent / "second", programs)
    second.data = own_server.data
    second.log_path.parent.mkdir()
    with pytest.raises(AssertionError, match="another server uses this folder"):
        second.start()


def test_ctrl_c_ends_a_server_and_its_workers(own_server: Server) -> None:
    workers = own_server.worker_ids
    assert own_server.stop() == 130  # what a shell says of a command that Ctrl-C ended
    until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), "workers end")
