"""What the client does with proxies of its environment, and with servers that answer too much."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.service.conftest import someone
from tests.service.served import Server, in_the_clear
from tests.service.test_service_clients import command

from ringsmith.errors import ParameterError
from ringsmith.remote import Service, ServiceError, connection

Answer = Callable[[socket.socket], None]
TOKEN = "rs_a-token-that-no-proxy-may-see"  # noqa: S105 - of these tests
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@contextmanager
def listening(answer: Answer, host: str = "127.0.0.1") -> Iterator[tuple[str, list[bytes]]]:
    """Something that gets requests and answers each connection; its address, and what it got."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family)
    got: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                with line, suppress(OSError):
                    got.append(line.recv(1 << 16))
                    answer(line)

    threading.Thread(target=serve, daemon=True).start()
    name = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{name}:{listener.getsockname()[1]}", got
    finally:
        listener.close()


def whole(body: bytes, *headers: str) -> Answer:
    """An answer of some bytes."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "Connection: close"]
    return lambda line: line.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


PROGRAMS = whole(json.dumps({"api": 1, "version": "", "programs": []}).encode())


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """A proxy that the environment names for everything; what it got."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with listening(whole(b"")) as (url, got):
        for name in VARIABLES:
            monkeypatch.setenv(name, url)
        yield got


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_no_proxy_gets_what_is_sent_to_this_machine(proxy: list[bytes], host: str) -> None:
    try:
        with listening(PROGRAMS, "::1" if "[" in host else "127.0.0.1") as (url, got):
            port = url.rpartition(":")[2]
            with Service(f"http://{host}:{port}", TOKEN) as service:
                assert service.programs() == {}
    except OSError as error:
        pytest.skip(f"{host}: {error}")
    assert TOKEN.encode() in got[0]
    assert proxy == []


def test_a_proxy_is_used_for_other_machines_and_gets_no_token(proxy: list[bytes]) -> None:
    with (
        Service("http://he.example.org", patience_seconds=0) as service,
        pytest.raises(ServiceError),
    ):
        service.programs()
    assert proxy
    assert proxy[0].startswith(b"GET http://he.example.org/v1/programs")
    with (
        Service("https://he.example.org", TOKEN, patience_seconds=0) as service,
        pytest.raises(ServiceError),
    ):
        service.programs()
    assert proxy[-1].startswith(b"CONNECT he.example.org:443")
    assert not any(TOKEN.encode() in text for text in proxy)


def test_the_command_and_a_job_go_past_the_proxy(
    proxy: list[bytes], server: Server, tmp_path: Path
) -> None:
    assert "score" in command("remote", "programs", server.url)
    with Service(server.url) as service:
        own = someone(service)
        found = own.read(service.run(own.program, own.inputs, own.keys))
    assert found == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
    assert proxy == []


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost@he.example.org",
        "http://127.0.0.1:80@he.example.org",
        "HTTP://he.example.org",
        "http://10.0.0.1",
        "http://[::2]:8000",
    ],
)
def test_a_token_goes_to_no_address_that_looks_like_this_machine(url: str) -> None:
    with pytest.raises(ParameterError, match=r"does not travel in the clear"):
        Service(url, TOKEN)


@pytest.mark.parametrize("url", ["", "score", "localhost:8000", "ftp://localhost", "http://", 5])
def test_what_is_no_url_is_refused(url: object) -> None:
    with pytest.raises(ParameterError, match=r"is no URL of a service"):
        Service(url)  # type: ignore[arg-type]


def endless(line: socket.socket) -> None:
    """Answers for ever."""
    line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"%x\r\n" % (1 << 20) + bytes(1 << 20) + b"\r\n"
    while True:
        line.sendall(chunk)


def dripping(line: socket.socket) -> None:
    """Answers a byte at a time."""
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        line.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (endless, "too-large"),
        (whole(bytes((1 << 24) + 1)), "too-large"),
        (whole(gzip.compress(bytes(1 << 28)), "Content-Encoding: gzip"), "compressed"),
        (whole(b"[" * (1 << 20)), "no-json"),
    ],
    ids=["endless", "large", "compressed", "nested"],
)
def test_an_answer_has_a_size_limit(answer: Answer, code: str) -> None:
    with listening(answer) as (url, _), Service(url, patience_seconds=0) as service:
        with pytest.raises(ServiceError) as error:
            service.programs()
        assert error.value.code == code


def test_an_answer_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(dripping) as (url, _), Service(url, patience_seconds=0) as service:
        monkeypatch.setattr(service._connection, "_timeout", 0.5)
        started = time.monotonic()
        with pytest.raises(ServiceError, match="the answer is too slow"):
            service.programs()
    assert time.monotonic() - started < 5


def test_results_are_as_large_as_their_kit_allows(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Service(server.url) as service:
        own = someone(service)
        service.put_keys(own.program, own.keys)
        asked: list[int] = []
        ask = connection.Connection.ask

        def limited(self: connection.Connection, *words: str, **more: object) -> object:
            if "most" in more:
                asked.append(int(more["most"]))  # type: ignore[call-overload]
                more["most"] = 1000
            return ask(self, *words, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(connection.Connection, "ask", limited)
        with pytest.raises(ServiceError, match="more than 1000 bytes") as error:
            service.run(own.program, own.inputs, own.keys)
        assert error.value.code == "too-large"
        (port,) = own.program.kit.outputs.values()
        size = 16 * port.limbs * own.program.kit.parameters.n
        assert size < asked[-1] < 1.1 * size + (1 << 19)
