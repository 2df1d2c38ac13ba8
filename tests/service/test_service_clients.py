"""Tokens, quotas and settings: who may ask, for how much, and what others learn."""

import re
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import someone
from tests.service.served import Server, in_the_clear, limited, until

from ringsmith.errors import ParameterError
from ringsmith.remote import Service, ServiceError
from ringsmith.service.settings import Limits, Quota, load_settings

RINGSMITH = str(Path(sys.executable).with_name("ringsmith"))

LIMITS = """
[limits]
waiting_jobs = 6
answer_seconds = 0.2
patience_seconds = 0.01
[quota]
waiting_jobs = 3
[quota.small]
key_bytes = 100000
[quota.brief]
compute_seconds = 0.000001
[quota.forgetful]
job_bytes = 1000000
"""


def command(*arguments: str) -> str:
    """What a command prints. Raises AssertionError if it fails."""
    done = subprocess.run([RINGSMITH, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("known")
    (folder / "limits.toml").write_text(LIMITS)
    data = str(folder / "data")
    found = {
        name: command("token", "add", name, "--data", data).strip()
        for name in ("alice", "bob", "small", "brief", "forgetful", "late")
    }
    found["watch"] = command("token", "add", "watch", "--operator", "--data", data).strip()
    found["folder"] = str(folder)
    return found


@pytest.fixture(scope="module")
def known(tokens: dict[str, str], programs: list[Path]) -> Iterator[Server]:
    """A server that asks for tokens."""
    folder = Path(tokens["folder"])
    options = ("--workers", "1", "--limits", str(folder / "limits.toml"))
    with Server(folder, programs, *options) as server:
        yield server


def test_without_a_token_or_with_a_wrong_one_nothing_is_told(known: Server) -> None:
    for headers in ({}, {"Authorization": "Bearer rs_guess"}, {"Authorization": "Basic YTpi"}):
        for path in ("programs", "programs/score", "jobs", "status", "jobs/1"):
            answer = httpx.get(f"{known.url}/v1/{path}", headers=headers)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
    assert httpx.get(f"{known.url}/v1/health").status_code == 200


def test_a_client_with_a_token_runs_programs(known: Server, tokens: dict[str, str]) -> None:
    with Service(known.url, tokens["alice"]) as service:
        own = someone(service)
        outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)


def test_nobody_sees_anothers_jobs_or_keys(known: Server, tokens: dict[str, str]) -> None:
    with Service(known.url, tokens["alice"]) as alice, Service(known.url, tokens["bob"]) as bob:
        own = someone(alice)
        job = alice.submit(own.program, own.inputs, own.keys)
        job.wait(60)
        (digest,) = alice.put_keys(own.program, own.keys)
        for path in (
            *(f"jobs/{job.id}", f"jobs/{job.id}/results", f"jobs/{job.id}/outputs/result"),
            *(f"jobs/{job.id}/events", f"programs/score/keys/{digest}"),
        ):
            headers = {"Authorization": f"Bearer {tokens['bob']}"}
            theirs = httpx.get(f"{known.url}/v1/{path}", headers=headers)
            other = re.sub(r"[0-9a-f]{32,64}", lambda found: "0" * len(found[0]), path)
            nothing = httpx.get(f"{known.url}/v1/{other}", headers=headers)
            assert theirs.status_code == nothing.status_code == 404
            hide = re.compile(r"[0-9a-f]{32,64}")
            assert hide.sub("", theirs.text) == hide.sub("", nothing.text)
        assert not bob._connection.json("GET", "/jobs")["jobs"]
        with pytest.raises(ServiceError, match="are not here") as error:
            bob._connection.ask(
                "POST",
                "/programs/score/runs",
                content=(
                    b'--b\r\nContent-Disposition: form-data; name="keys"\r\n\r\n'
                    + digest.encode()
                    + b'\r\n--b\r\nContent-Disposition: form-data; name="x"\r\n\r\nx\r\n--b--\r\n'
                ),
                headers={"Content-Type": "multipart/form-data; boundary=b"},
            )
        assert error.value.code == "keys-missing"


def test_status_and_metrics_are_for_operators(known: Server, tokens: dict[str, str]) -> None:
    with Service(known.url, tokens["alice"]) as service:
        own = someone(service)
        service.run(own.program, own.inputs, own.keys)
    for path in ("v1/status", "metrics"):
        for name, status in (("alice", 403), ("watch", 200)):
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            answer = httpx.get(f"{known.url}/{path}", headers=headers)
            assert answer.status_code == status
    assert 'ringsmith_jobs_ended_total{code="",program="score",state="done"}' in answer.text


def test_a_removed_token_is_good_for_nothing(known: Server, tokens: dict[str, str]) -> None:
    data = f"{tokens['folder']}/data"
    token = command("token", "add", "guest", "--data", data).strip()
    assert "guest" in command("token", "list", "--data", data)
    with Service(known.url, token) as service:
        service.programs()
        command("token", "remove", "guest", "--data", data)
        with pytest.raises(ServiceError, match="this token is of no client"):
            service.programs()
    assert "guest" not in command("token", "list", "--data", data)


def test_tokens_are_stored_nowhere(known: Server, tokens: dict[str, str]) -> None:
    with Service(known.url, tokens["alice"]) as service:
        service.programs()
    stored = b"".join(
        path.read_bytes() for path in Path(tokens["folder"]).rglob("*") if path.is_file()
    )
    assert b"alice" in stored
    for name, token in tokens.items():
        if name != "folder":
            assert token.encode() not in stored
            assert token.removeprefix("rs_").encode() not in stored


def test_a_client_over_its_quota_is_told_which(known: Server, tokens: dict[str, str]) -> None:
    def over(
        name: str, match: str, *, fine: int, program: str = "score", wait: bool = True
    ) -> None:
        with Service(known.url, tokens[name], patience_seconds=0) as service:
            own = someone(service, program)
            ask = service.run if wait else service.submit
            for _ in range(fine):
                ask(own.program, own.inputs, own.keys)
            with pytest.raises(ServiceError, match=match) as error:
                ask(own.program, own.inputs, own.keys)
            assert (error.value.status, error.value.code) == (429, "quota")

    over("small", "this client may have 100000: DELETE keys", fine=0)
    over("brief", "seconds this hour", fine=1)
    over("forgetful", "bytes of jobs are kept", fine=2)
    most = "3 jobs arrive, wait or run, and this client may have 3"
    over("bob", most, program="slow", fine=3, wait=False)


def test_jobs_whose_inputs_arrive_count_for_the_quota(
    known: Server, tokens: dict[str, str]
) -> None:
    """Parallel requests that send slowly would otherwise fill the disk."""
    url = httpx.URL(known.url)
    begin = (
        "POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        f"Authorization: Bearer {tokens['late']}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b"
    ).encode()
    with ExitStack() as stack:
        address = (url.host, url.port)
        lines = [stack.enter_context(socket.create_connection(address, 30)) for _ in range(4)]
        for line in lines:
            line.sendall(begin)
        answered, _, _ = select.select(lines, [], [], 30)
        (line,) = answered
        answer = line.recv(4096)
        assert b" 429 " in answer
        while not answer.endswith(b"}"):
            chunk = line.recv(4096)
            assert chunk, answer
            answer += chunk
        assert b"3 jobs arrive, wait or run, and this client may have 3" in answer
    with Service(known.url, tokens["late"]) as service:
        own = someone(service)
        outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)


def test_a_full_queue_is_said_to_be_full(programs: list[Path], tmp_path: Path) -> None:
    with limited(tmp_path, programs, "[limits]\nwaiting_jobs = 2\n") as server:
        service = Service(server.url, patience_seconds=0)
        slow = someone(service, "slow")
        service.put_keys(slow.program, slow.keys)

        def fill() -> None:
            for _ in range(100):  # faster than they run, however busy the machine is
                service.submit(slow.program, slow.inputs, slow.keys)

        with pytest.raises(ServiceError, match="the most that this server takes") as error:
            fill()
        assert (error.value.status, error.value.code) == (503, "queue-full")
        service.close()


def test_a_client_with_many_jobs_does_not_delay_one_with_few(
    known: Server, tokens: dict[str, str]
) -> None:
    with Service(known.url, tokens["alice"]) as alice, Service(known.url, tokens["bob"]) as bob:
        until(lambda: not _open(alice) and not _open(bob), "other tests' jobs have ended")
        much, little = someone(alice, "slow"), someone(bob, "slow")
        alice.put_keys(much.program, much.keys)
        bob.put_keys(little.program, little.keys)
        many = [alice.submit(much.program, much.inputs, much.keys) for _ in range(3)]
        few = bob.submit(little.program, little.inputs, little.keys)
        few.wait(60)
        many[-1].wait(60)
        started = [job.poll().started for job in (few, many[-1])]
        assert started[0] is not None
        assert started[1] is not None
        assert started[0] < started[1]


def _open(service: Service) -> list[str]:
    jobs = service._connection.json("GET", "/jobs")["jobs"]
    return [job["id"] for job in jobs if job["state"] in ("waiting", "running")]


def test_a_long_job_is_answered_with_its_address(known: Server, tokens: dict[str, str]) -> None:
    with Service(known.url, tokens["alice"]) as service:
        slow = someone(service, "slow")
        outputs = service.run(slow.program, slow.inputs, slow.keys)  # asks again after 0.2 seconds
        assert outputs["result"].limbs == slow.program.kit.outputs["result"].limbs


def test_other_machines_are_let_in_with_tokens_alone(programs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="other machines reach this address, and there are no"):
        Server(tmp_path, programs, "--host", "0.0.0.0").start()  # noqa: S104


def test_browsers_may_not_ask_for_pages_from_elsewhere(server: Server) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = httpx.get(f"{server.url}/v1/programs", headers=headers)
        assert answer.status_code == 403, headers
    own = httpx.get(f"{server.url}/v1/programs", headers={"Origin": server.url})
    assert own.status_code == 200


def test_settings_are_read_and_wrong_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(LIMITS)
    found = load_settings(path)
    assert found.limits == Limits(waiting_jobs=6, answer_seconds=0.2, patience_seconds=0.01)
    assert found.of("alice") == Quota(waiting_jobs=3)
    assert found.of("small") == Quota(waiting_jobs=3, key_bytes=100_000)
    for text, match in (
        ("[limits]\nwaiting = 1", r"limits\.waiting is unknown: choose one of connections"),
        ("[limits]\nconnections = 0", r"limits\.connections = 0: give a whole number above 0"),
        ("[limits]\nconnections = 1.5", r"limits\.connections = 1\.5: give a whole number"),
        ("[limits]\nrun_seconds = nan", r"limits\.run_seconds = nan"),
        ("[limits]\nrun_seconds = true", r"limits\.run_seconds = True"),
        ("limits = 3", "limits is not a table"),
        ("[quotas]", "unknown table 'quotas'"),
        ("[quota.bob]\nkeys = 1", r"quota\.bob\.keys is unknown"),
        ("[", "not a TOML file"),
        ("a = " + "[" * 5000, "not a TOML file"),
        ("quota" + ".a" * 2000 + " = 1", "has 2000 points, and at most 1024 are read"),
        ("[limits]\nconnections = 0x" + "f" * 9000, "number of more than 4096 characters"),
        ("[limits]\nconnections = 0x" + "f" * 20, "an integer has more than 63 bits"),
    ):
        path.write_text(text)
        with pytest.raises(ParameterError, match=match):
            load_settings(path)


@pytest.mark.parametrize("name", ["", "x" * 65, "a\nb", "local"])
def test_a_client_without_a_proper_name_is_refused(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [RINGSMITH, "token", "add", name, "--data", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "take a name of 1 to 64 printable characters" in done.stderr
