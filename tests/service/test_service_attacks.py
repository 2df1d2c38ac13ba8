"""Attacks on the service that hold connections or storage, or ask what others have."""

import hashlib
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import Someone, someone
from tests.service.served import Server, alive, in_the_clear, limited, until

from ringsmith.interop import encode_object
from ringsmith.objects import Ciphertext
from ringsmith.remote import Service
from ringsmith.remote.form import write_form
from ringsmith.service.database import Database

LIMITS = """[limits]
header_seconds = 0.5
idle_seconds = 2
[quota]
waiting_jobs = 2
"""
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def strict(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with little patience."""
    folder = tmp_path_factory.mktemp("attacked")
    with limited(folder, programs, LIMITS) as server:
        yield server


@pytest.fixture(scope="module")
def own(strict: Server) -> Iterator[Someone]:
    """A client whose keys are on the server."""
    with Service(strict.url) as service:
        found = someone(service)
        service.run(found.program, found.inputs, found.keys)
        yield found


def connect(server: Server) -> socket.socket:
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port or 80), timeout=20)


def works(server: Server, own: Someone) -> None:
    """A normal job gives the right result."""
    with Service(server.url) as service:
        outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)


def open_jobs(server: Server) -> list[str]:
    """Ids of jobs that have not ended."""
    found = httpx.get(f"{server.url}/v1/jobs").json()["jobs"]
    return [job["id"] for job in found if job["state"] in ("waiting", "running")]


def form_of(own: Someone, data: bytes) -> tuple[bytes, str]:
    """A run of ``score`` on some bytes."""
    keys = hashlib.sha256(encode_object(own.keys, own.program.kit.parameters)).hexdigest()
    return write_form({"keys": keys.encode()}, {"x": data})


def post_head(kind: str, length: int, more: str = "") -> bytes:
    text = (
        "POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n"
    )
    return text.encode()


def closed_within(line: socket.socket, seconds: float, drip: bytes) -> bool:
    """Sends bytes one at a time; returns whether the server closes the connection."""
    line.settimeout(0.1)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            line.sendall(drip)
            if line.recv(4096) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


# ---- connections ---------------------------------------------------------------------------------


def test_a_body_that_trickles_is_cut_off(strict: Server, own: Someone) -> None:
    with connect(strict) as line:
        part = b'--b\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\n'
        line.sendall(post_head("multipart/form-data; boundary=b", 10_000) + part)
        assert closed_within(line, 30, b"x"), "a byte at a time keeps no connection"
    works(strict, own)


@pytest.mark.parametrize("drip", [b"x", b"\r\n"], ids=["unread body", "empty lines"])
def test_an_answered_connection_is_not_kept_by_bytes_that_say_nothing(
    strict: Server, drip: bytes
) -> None:
    body = b"Content-Length: 100000\r\n" if drip == b"x" else b""
    with connect(strict) as line:
        line.sendall(HEALTH + body + b"\r\n")
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
        assert closed_within(line, 30, drip)


def test_a_connection_is_kept_for_the_next_request(strict: Server) -> None:
    with connect(strict) as line:
        for _ in range(3):
            line.sendall(HEALTH + b"\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += line.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(0.7)  # longer than a header may take


def test_pipelined_requests_are_answered_in_order(strict: Server) -> None:
    with connect(strict) as line:
        other = b"GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n"
        line.sendall(
            (HEALTH + b"\r\n" + other + b"\r\n") * 20 + HEALTH + b"Connection: close\r\n\r\n"
        )
        answer = b""
        while chunk := line.recv(1 << 16):
            answer += chunk
    assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"200", b"404"] * 20 + [b"200"]


def test_expect_continue_is_answered_before_the_body(strict: Server, own: Someone) -> None:
    body, kind = form_of(own, encode_object(own.inputs["x"], own.program.kit.parameters))
    with connect(strict) as line:
        line.sendall(post_head(kind, len(body), "Expect: 100-continue\r\n"))
        assert line.recv(4096).startswith(b"HTTP/1.1 100 ")
        line.sendall(body)
        assert line.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("name", ["[", "[::1", "localhost:x", "evil.example", "", "@", "a b"])
def test_a_host_that_is_no_address_is_refused(strict: Server, name: str) -> None:
    with connect(strict) as line:
        line.sendall(
            f"GET /v1/programs HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = line.recv(4096)
    status = int(answer.split(b" ")[1])
    assert status == (200 if name == "localhost:x" else 403), answer
    origin = httpx.get(f"{strict.url}/v1/programs", headers={"Origin": f"http://{name}"})
    assert origin.status_code == 403


def test_more_jobs_at_once_than_a_quota_allows_are_not_taken(strict: Server) -> None:
    with Service(strict.url) as service, ExitStack() as stack:
        long = someone(service, "slow")
        service.put_keys(long.program, long.keys)
        data = encode_object(long.inputs["x"], long.program.kit.parameters)
        body, kind = form_of(long, data)
        head = post_head(kind, len(body), "Prefer: respond-async\r\n").replace(
            b"/score/", b"/slow/"
        )
        lines = [stack.enter_context(connect(strict)) for _ in range(6)]
        for line in lines:  # each is let in while no job is there yet
            line.sendall(head + body[:-1])
        time.sleep(0.2)
        for line in lines:
            line.sendall(body[-1:])
        statuses = sorted(line.recv(1 << 16).split(b" ")[1] for line in lines)
        for job in open_jobs(strict):
            httpx.delete(f"{strict.url}/v1/jobs/{job}").raise_for_status()
        until(lambda: not open_jobs(strict), "cancelled jobs end")
    assert statuses == [b"202"] * 2 + [b"429"] * 4


# ---- bodies --------------------------------------------------------------------------------------


def test_ciphertexts_that_do_not_fit_are_refused_by_name(strict: Server, own: Someone) -> None:
    parameters, x = own.program.kit.parameters, own.inputs["x"]
    with Service(strict.url) as service:
        other = someone(service)
    good = encode_object(x, parameters)
    scale = struct.pack("<d", x.scale)
    bodies = {
        "other key pair": encode_object(other.inputs["x"], parameters),
        "residues": encode_object(Ciphertext(x.data, x.scale, key_tag=x.key_tag), parameters)[:-8]
        + b"\xff" * 8,
    }
    if scale in good:
        bodies["NaN scale"] = good.replace(scale, struct.pack("<d", float("nan")))
    for what, data in bodies.items():
        body, kind = form_of(own, data)
        answer = httpx.post(
            f"{strict.url}/v1/programs/score/runs",
            content=body,
            headers={"Content-Type": kind},
            timeout=60,
        )
        assert 400 <= answer.status_code < 500, (what, answer.text)
        assert "x" in answer.text
    assert all(map(alive, strict.worker_ids))
    works(strict, own)


def test_chunks_that_lie_about_their_place_change_nothing(strict: Server, own: Someone) -> None:
    parameters = own.program.kit.parameters
    data = encode_object(own.keys, parameters)
    digest = hashlib.sha256(data).hexdigest()
    address = f"{strict.url}/v1/programs/score/keys/{digest}"
    # Keys that are ready stay so, whatever size another upload of the same address declares.
    for size in (len(data) - 1, len(data) + 1, 10):
        head = {"Content-Range": f"bytes 0-9/{size}"}
        answer = httpx.put(address, content=b"0123456789", headers=head)
        assert answer.status_code in (200, 409, 413), answer.text
        assert httpx.get(address).json()["state"] == "ready"
    works(strict, own)
    fresh = data[:-1]
    address = f"{strict.url}/v1/programs/score/keys/{hashlib.sha256(fresh).hexdigest()}"

    def put(first: int, last: int, size: int = len(fresh)) -> int:
        head = {"Content-Range": f"bytes {first}-{last}/{size}"}
        return httpx.put(address, content=fresh[first : last + 1], headers=head).status_code

    assert put(0, 99) == 202
    assert put(50, 149) == 409  # overlaps
    assert put(200, 299) == 409  # leaves a gap
    assert httpx.get(address).json()["received"] == 100
    assert httpx.delete(address).status_code == 204


def test_of_two_uploads_at_once_one_is_told_to_wait(strict: Server, own: Someone) -> None:
    data = encode_object(own.keys, own.program.kit.parameters) + b"more"
    digest = hashlib.sha256(data).hexdigest()
    head = (
        f"PUT /v1/programs/score/keys/{digest} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Length: {1000}\r\nContent-Range: bytes 0-999/5000\r\n\r\n"
    ).encode()
    statuses = []

    def send() -> None:
        with connect(strict) as line:
            line.sendall(head + data[:500])
            time.sleep(0.2)
            with suppress(OSError):
                line.sendall(data[500:1000])
            statuses.append(line.recv(4096).split(b" ")[1])

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [b"202", b"409"]


# ---- isolation -----------------------------------------------------------------------------------


def test_anothers_objects_are_answered_as_if_they_were_not_there(
    programs: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    with Server(tmp_path, programs[:1], "--workers", "1") as server:
        database = Database(server.data / "service.sqlite3")
        tokens = {name: database.add_client(name) for name in ("a", "b")}
        database.close()
        with Service(server.url, tokens["a"]) as service:
            own = someone(service)
            service.run(own.program, own.inputs, own.keys, request="the-same")
        heads = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
        (job,) = httpx.get(f"{server.url}/v1/jobs", headers=heads["a"]).json()["jobs"]
        keys = hashlib.sha256(encode_object(own.keys, own.program.kit.parameters)).hexdigest()
        there, absent = (job["id"], keys), ("0" * 32, "0" * 64)

        def asked(method: str, path: str, ids: tuple[str, str]) -> tuple[object, ...]:
            url = f"{server.url}/v1/{path.format(*ids)}"
            answer = httpx.request(method, url, headers=heads["b"])
            kept = {k: v for k, v in answer.headers.items() if k != "date"}
            text = answer.text.replace(ids[1], "KEYS").replace(ids[0], "JOB")
            return answer.status_code, text, sorted(kept.items())

        for method, path in (
            ("GET", "jobs/{}"),
            ("GET", "jobs/{}?wait=1"),
            ("GET", "jobs/{}/events"),
            ("GET", "jobs/{}/results"),
            ("GET", "jobs/{}/outputs/result"),
            ("DELETE", "jobs/{}"),
            ("GET", "programs/score/keys/{1}"),
            ("DELETE", "programs/score/keys/{1}"),
        ):
            found = asked(method, path, there)
            assert found == asked(method, path, absent), (method, path)
            assert found[0] == 404
        assert httpx.get(f"{server.url}/v1/jobs", headers=heads["b"]).json() == {"jobs": []}
        with Service(server.url, tokens["b"]) as service:  # the same name is another request
            other = someone(service, seed=2)
            outputs = service.run(other.program, other.inputs, other.keys, request="the-same")
            assert other.read(outputs) == pytest.approx(in_the_clear(other.numbers), abs=1e-4)
        assert not any(text in server.log for text in (*tokens.values(), keys))
