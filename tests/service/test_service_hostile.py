"""An unfriendly network: fuzzed requests, damaged bodies, slow and half-open connections."""

import hashlib
import json
import os
import re
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.conftest import SEED
from tests.service.conftest import Someone, someone
from tests.service.served import Server, alive, in_the_clear, limited, until

from ringsmith.interop import encode_object
from ringsmith.objects import Ciphertext
from ringsmith.remote import Service
from ringsmith.remote.form import write_form
from ringsmith.service.folder import Folder
from ringsmith.service.protocol import KEY_MEDIA


@schemathesis.serializer(*KEY_MEDIA)
def _binary(_: object, value: object) -> bytes:
    """Bodies of keys, as made-up bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
"""What every answer keeps to: the description names its status, its type and its content."""

LIMITS = "[limits]\nheader_seconds = 1\nidle_seconds = 1\nconnections = 40\n"
MEMORY = 300 << 20
"""That a server or worker may grow by under all of this."""


@pytest.fixture(scope="module")
def strict(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with little patience."""
    folder = tmp_path_factory.mktemp("strict")
    with limited(folder, programs, LIMITS) as server:
        yield server


def memory(process: int) -> int:
    """Bytes that a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def works(server: Server) -> None:
    """A job of somebody else's comes out right."""
    with Service(server.url) as service:
        own = someone(service)
        outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)


def refused(answer: httpx.Response, status: int | None = None) -> str:
    """The detail of an answer with an error."""
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] in ("application/problem+json", "application/json")
    found = answer.json()
    if status is not None:
        assert answer.status_code == status, answer.text
    text = str(found.get("detail") or found.get("message"))
    assert found["code"]
    assert "/tmp" not in text  # noqa: S108 - no path of the server's
    return text


# ---- the description -----------------------------------------------------------------------------


OPEN = {"/v1/health", "/v1/openapi.json", "/", "/metrics"}
"""Paths that may answer without a token."""


def _cases(server: Server, examples: int, *, locked: bool = False) -> int:
    """Calls every operation with made-up values; returns how many calls there were.

    Args:
        server: The server.
        examples: Calls of each operation.
        locked: Whether the server wants a token, which no call has.
    """
    description = httpx.get(f"{server.url}/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(description)
    calls = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        assert operation is not None
        if operation.path.endswith("/events"):
            continue  # it streams

        @seeded(SEED)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=[*HealthCheck],
        )
        @given(case=operation.as_strategy())
        def check(case: schemathesis.Case) -> None:
            nonlocal calls
            calls += 1
            answer = case.call(base_url=server.url, timeout=60)
            case.validate_response(answer, checks=CHECKS)
            assert answer.status_code < 500, (case.as_curl_command(), answer.text)
            declared = case.operation.definition.raw["responses"]
            assert str(answer.status_code) in declared, (answer.status_code, case.path)
            assert not locked or case.path in OPEN or answer.status_code == 401, case.path
            if answer.status_code >= 400:
                assert {"code", "detail"} <= json.loads(answer.content).keys()

        check()
    return calls


def test_made_up_requests_are_answered_as_the_description_says(server: Server) -> None:
    assert _cases(server, 8) > 50
    works(server)


def test_made_up_requests_without_a_token_learn_nothing(
    programs: list[Path], tmp_path: Path
) -> None:
    folder = Folder(tmp_path / "data")
    folder.database.add_client("somebody")
    folder.close()
    with Server(tmp_path, programs, "--workers", "1") as locked:
        assert _cases(locked, 4, locked=True) > 25


@pytest.mark.full
def test_many_made_up_requests_are_answered_as_the_description_says(server: Server) -> None:
    assert _cases(server, 300) > 2000
    works(server)


# ---- bodies --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own(server: Server) -> Iterator[Someone]:
    """Somebody whose keys are on the server."""
    with Service(server.url) as service:
        found = someone(service)
        service.run(found.program, found.inputs, found.keys)
        yield found


def post(server: Server, own: Someone, data: bytes, **more: object) -> httpx.Response:
    """Runs ``score`` on bytes that are to be its input."""
    keys = hashlib.sha256(encode_object(own.keys, own.program.kit.parameters)).hexdigest()
    body, kind = write_form({"keys": keys.encode()}, {"x": data})
    return httpx.post(
        f"{server.url}/v1/programs/score/runs",
        content=body,
        headers={"Content-Type": kind},
        timeout=60,
        **more,  # type: ignore[arg-type]
    )


def seal_bomb(size: int, mode: int) -> bytes:
    """A SEAL object whose compressed payload expands to so many zeros."""
    if mode == 1:
        packed = zlib.compress(bytes(size), 9)
    else:
        import zstandard

        packed = zstandard.ZstdCompressor(level=19).compress(bytes(size))
    header = struct.pack("<HBBBBHQ", 0xA15E, 0x10, 4, 4, mode, 0, 16 + len(packed))
    return header + packed


def test_inputs_that_are_none_are_refused_by_name(server: Server, own: Someone) -> None:
    good = encode_object(own.inputs["x"], own.program.kit.parameters)
    x = own.inputs["x"]
    wrong = np.array(x.data)
    wrong[0, 0, 0] = (1 << 63) - 1
    rng = np.random.default_rng(SEED)
    bodies = [
        b"",
        b"x",
        good[:-1],
        good[: len(good) // 2],
        good + b"trailing",
        rng.bytes(1000),
        good[:40] + rng.bytes(len(good) - 40),
        encode_object(own.public_key, own.program.kit.parameters),
        encode_object(
            Ciphertext(x.data[:, :1], x.scale, key_tag=x.key_tag), own.program.kit.parameters
        ),
        encode_object(
            Ciphertext(x.data, x.scale * 2, key_tag=x.key_tag), own.program.kit.parameters
        ),
        seal_bomb(1 << 28, 1),
        seal_bomb(1 << 28, 2),
        b"\x89RSMITH\n" + struct.pack("<IIQQ32s", 1, 0, 1 << 60, 8, bytes(32)) + bytes(8),
    ]
    before = {one: memory(one) for one in (server.process_id, *server.worker_ids)}
    for data in bodies:
        text = refused(post(server, own, data))
        assert "input 'x'" in text or "x" in text
    for one, size in before.items():
        assert alive(one), "no process died"
        assert memory(one) < size + MEMORY
    works(server)


def test_forms_that_are_none_are_refused(server: Server, own: Someone) -> None:
    address = f"{server.url}/v1/programs/score/runs"
    good, kind = write_form({"keys": b"0" * 64}, {"x": b"data"})
    boundary = kind.partition("boundary=")[2]

    def send(content: bytes, kind: str = kind) -> str:
        return refused(httpx.post(address, content=content, headers={"Content-Type": kind}))

    assert "multipart/form-data" in send(good, "application/json")
    for cut in range(0, len(good) - 4, 7):
        send(good[:cut])
    send(good, kind + "x")
    send(os.urandom(10_000))
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="keys"\r\n\r\n'.encode()
    assert "two parts" in send(part + b"a\r\n" + part + b"b\r\n" + f"--{boundary}--\r\n".encode())
    assert "more than 4096" in send(part + bytes(5000) + f"\r\n--{boundary}--\r\n".encode())
    huge = f"--{boundary}\r\nX-Huge: {'x' * 5000}\r\n\r\n".encode()
    send(huge + b"a\r\n" + f"--{boundary}--\r\n".encode())
    many = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="k{i}"\r\n\r\n\r\n'.encode()
        for i in range(2000)
    )
    send(many)
    works(server)


def test_bodies_that_are_too_large_are_not_read(server: Server, own: Someone) -> None:
    most = httpx.get(f"{server.url}/v1/programs/score").json()["inputs"]["x"]["max_bytes"]
    assert f"more than {most} bytes" in refused(post(server, own, bytes(most + 1)), 413)
    kind = "multipart/form-data; boundary=b"

    def endless() -> Iterator[bytes]:  # sent in chunks, without a length
        yield b'--b\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\n'
        for _ in range(4000):
            yield bytes(1 << 16)

    before = memory(server.process_id)
    try:
        answer = httpx.post(
            f"{server.url}/v1/programs/score/runs",
            content=endless(),
            headers={"Content-Type": kind},
            timeout=60,
        )
    except httpx.HTTPError:  # the connection was closed while the body was on its way
        pass
    else:
        refused(answer, 413)
    with socket.create_connection((httpx.URL(server.url).host, httpx.URL(server.url).port)) as line:
        line.sendall(
            b"POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999999999\r\n\r\n"
        )
        assert b" 413 " in line.recv(4096)
    assert memory(server.process_id) < before + MEMORY
    works(server)


def test_keys_that_are_none_are_refused(server: Server, own: Someone) -> None:
    data = encode_object(own.keys, own.program.kit.parameters)
    kind = {"Content-Type": "application/x-ringsmith-object"}

    def put(data: bytes, name: str | None = None, **headers: str) -> httpx.Response:
        digest = hashlib.sha256(data).hexdigest() if name is None else name
        address = f"{server.url}/v1/programs/score/keys/{digest}"
        return httpx.put(address, content=data, headers={**kind, **headers}, timeout=60)

    assert "SHA-256" in refused(put(data, "0" * 64), 422)
    assert "evaluation keys" in refused(put(data[:-1]), 422)
    refused(put(b"x" * 100), 422)
    refused(put(seal_bomb(1 << 28, 2), **{"Content-Type": "application/x-seal-relin-keys"}), 422)
    refused(put(data, **{"Content-Type": "text/plain"}), 415)
    refused(put(data, "ab"), 422)
    for text in ("bytes 5-4/10", "bytes 0-9/5", "bytes 0-9", "9-0", "bytes 0-1/" + "9" * 30):
        refused(put(b"0123456789", "1" * 64, **{"Content-Range": text}), 400)
    refused(put(b"01", "2" * 64, **{"Content-Range": f"bytes 0-1/{10**17}"}), 413)
    refused(put(b"01", "3" * 64, **{"Content-Range": "bytes 5-6/100"}), 409)
    works(server)


# ---- connections ---------------------------------------------------------------------------------


def connect(server: Server) -> socket.socket:
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port or 80), timeout=20)


def test_slow_headers_bodies_and_readers_are_cut_off(strict: Server) -> None:
    begin = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: "
    with ExitStack() as stack:
        slow = [stack.enter_context(connect(strict)) for _ in range(10)]
        for line in slow:
            line.sendall(begin)
        ended = time.monotonic() + 30
        while slow and time.monotonic() < ended:
            for line in [*slow]:
                try:
                    line.sendall(b"a")
                    time.sleep(0.02)
                except OSError:
                    slow.remove(line)
        assert not slow, "connections with slow headers are closed"
    with connect(strict) as line:
        line.sendall(
            b"POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n--b"
        )
        assert b" 408 " in line.recv(4096)
    with connect(strict) as line:  # nothing at all
        assert line.recv(1) == b""
    works(strict)


def test_many_connections_and_half_open_ones_give_their_files_back(strict: Server) -> None:
    files = Path(f"/proc/{strict.process_id}/fd")
    before = len([*files.iterdir()])
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(strict)) for _ in range(30)]
        for line in lines[::2]:
            line.sendall(b"POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\n")
        works(strict)
    until(lambda: len([*files.iterdir()]) <= before + 4, "descriptors come back")
    body = b"Content-Length: 10\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n"
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(strict)) for _ in range(60)]  # the limit is 40
        for line in lines:
            with suppress(OSError):  # closed, as the one that was idle for longest
                line.sendall(b"POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\n" + body)
        statuses = set()
        for line in lines:
            with suppress(OSError):
                statuses.add(line.recv(4096)[9:12])
        assert statuses <= {b"", b"408", b"503"}
        assert statuses & {b"408", b"503"}
    until(lambda: len([*files.iterdir()]) <= before + 4, "descriptors come back")
    works(strict)


def test_requests_that_are_no_http_are_refused(strict: Server) -> None:
    host = b"Host: localhost\r\n"
    for text in (
        b"GET / HTTP/9.9\r\n" + host + b"\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n" + host + b"X: " + b"a" * (1 << 20) + b"\r\n\r\n",
        b"POST /v1/programs/score/runs HTTP/1.1\r\n"
        + host
        + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET " + b"/a" * (1 << 16) + b" HTTP/1.1\r\n" + host + b"\r\n",
        b"GET /v1/programs/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n" + host + b"\r\n",
        b"GET /v1/programs/score%00 HTTP/1.1\r\n" + host + b"\r\n",
        b"GET /v1/jobs/../../secret HTTP/1.1\r\n" + host + b"\r\n",
    ):
        with connect(strict) as line:
            try:
                line.sendall(text)
                answer = line.recv(4096)
            except ConnectionError:
                continue
            assert not answer or answer.split(b" ")[1][:1] == b"4", text[:80]
    works(strict)


def test_the_log_has_no_payload(server: Server, own: Someone) -> None:
    data = encode_object(own.inputs["x"], own.program.kit.parameters)
    post(server, own, data)
    keys = hashlib.sha256(encode_object(own.keys, own.program.kit.parameters)).hexdigest()
    assert keys not in server.log
    assert re.search(r"POST /v1/programs/\{name\}/runs 200 .* job=[0-9a-f]{32}", server.log)
    assert str(own.numbers[0])[:8] not in server.log
