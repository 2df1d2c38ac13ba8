"""Connections that do nothing, of one or many addresses, in plain HTTP and TLS, keep out nobody."""

import resource
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import someone
from tests.service.served import Server, in_the_clear, limited, until

from ringsmith.remote import Service
from ringsmith.service.connections import HEADER_BYTES
from ringsmith.service.gate import Gate, Listener, remote_of

HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
IDLE = 2000


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """Lets this process open enough sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * IDLE + 1000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl is installed")
    chain, key = folder / "certificate.pem", folder / "key.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    words += f" -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {chain}"
    subprocess.run([openssl, *words.split()], check=True, capture_output=True)
    return chain, key


def connect(url: str, source: str = "127.0.0.1") -> socket.socket:
    found = httpx.URL(url)
    return socket.create_connection((found.host, found.port or 80), 20, (source, 0))


def works(server: Server, runs: int) -> float:
    """Jobs of an honest client come out right, also over new connections; the slowest's seconds."""
    slowest = 0.0
    for _ in range(2):
        with Service(server.url, timeout_seconds=20) as service:
            own = someone(service)
            for _ in range(runs):
                started = time.monotonic()
                found = own.read(service.run(own.program, own.inputs, own.keys))
                slowest = max(slowest, time.monotonic() - started)
                assert found == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
    return slowest


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2"], ids=["same", "another"])
def test_two_thousand_idle_connections_of_one_address_keep_out_nobody(
    server: Server, source: str
) -> None:
    stopped = threading.Event()
    lines: list[socket.socket] = []

    def flood() -> None:
        """Opens connections, and new ones as they are closed."""
        while not stopped.is_set():
            if len(lines) >= IDLE:
                lines.pop(0).close()
            with suppress(OSError):
                lines.append(connect(server.url, source))
                if len(lines) % 3 == 0:
                    lines[-1].sendall(HEALTH)  # a header that does not end
            if len(lines) >= IDLE:
                time.sleep(0.005)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        until(lambda: len(lines) >= IDLE, "they are open")
        assert works(server, 5) < 10
        files = len([*Path(f"/proc/{server.process_id}/fd").iterdir()])
        assert files < 600
        for _ in range(20):
            assert httpx.get(f"{server.url}/v1/health").status_code == 200
    finally:
        stopped.set()
        thread.join()
        for line in lines:
            line.close()
    until(
        lambda: len([*Path(f"/proc/{server.process_id}/fd").iterdir()]) < 100,
        "descriptors come back",
    )


@pytest.fixture(scope="module")
def few(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of 20 connections."""
    limits = "[limits]\nconnections = 20\naddress_connections = 20\n"
    with limited(tmp_path_factory.mktemp("few"), programs[:1], limits) as server:
        yield server


def begun(stack: ExitStack, server: Server, count: int) -> list[socket.socket]:
    """Connections of uploads that the server is reading: it has asked each for its body."""
    lines = []
    for number in range(count):
        head = (
            f"PUT /v1/programs/score/keys/{number:064x} HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n"
        )
        lines.append(stack.enter_context(connect(server.url)))
        lines[-1].sendall(head.encode())
    for line in lines:
        assert line.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
    return lines


def ends_each(lines: list[socket.socket]) -> None:
    """Sends the bodies: each is read, and is none of the keys that its address names."""
    for line in lines:
        line.sendall(b"0123456789")
    assert {line.recv(4096)[9:12] for line in lines} == {b"422"}


def test_a_connection_in_use_is_not_closed_for_an_idle_one(few: Server) -> None:
    with ExitStack() as stack:
        used = begun(stack, few, 5)
        for _ in range(200):
            idle = stack.enter_context(connect(few.url))
            with suppress(OSError):
                idle.sendall(HEALTH)
        ends_each(used)


def test_a_request_beyond_the_limit_is_answered_while_every_connection_is_in_use(
    few: Server,
) -> None:
    with ExitStack() as stack:
        used = begun(stack, few, 20)
        for _ in range(10):
            more = stack.enter_context(connect(few.url))
            more.sendall(HEALTH + b"\r\n")
            assert more.recv(4096)[9:12] == b"503"
        ends_each(used)
    until(lambda: httpx.get(f"{few.url}/v1/health").status_code == 200, "it takes requests again")


@pytest.fixture(scope="module")
def secure(
    programs: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, ssl.SSLContext]]:
    """A server with TLS, and what its clients trust."""
    folder = tmp_path_factory.mktemp("secure")
    chain, key = certificate(folder)
    (folder / "limits.toml").write_text("[limits]\nheader_seconds = 1\nconnections = 100\n")
    options = ("--workers", "1", "--limits", str(folder / "limits.toml"))
    options += ("--tls-certificate", str(chain), "--tls-key", str(key))
    with Server(folder, programs[:1], *options) as server:
        yield server, ssl.create_default_context(cafile=str(chain))


def test_connections_without_a_tls_handshake_keep_out_nobody_and_are_closed(
    secure: tuple[Server, ssl.SSLContext],
) -> None:
    server, trusted = secure
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(server.url)) for _ in range(300)]
        for line in lines[::2]:
            with suppress(OSError):
                line.sendall(b"\x16\x03\x01")  # the first bytes of a handshake
        for _ in range(10):
            answer = httpx.get(f"{server.url}/v1/health", verify=trusted, timeout=60)
            assert answer.status_code == 200
        lines[-1].settimeout(30)  # asyncio's own limit of a handshake is 60 seconds
        with suppress(ConnectionError):
            assert lines[-1].recv(1) == b""


def test_a_header_that_is_too_large_is_refused_however_it_comes(server: Server) -> None:
    large = b"X: " + b"a" * (2 * HEADER_BYTES) + b"\r\n"
    many = b"".join(b"X%d: %s\r\n" % (i, b"a" * 1000) for i in range(2 * HEADER_BYTES // 1000))
    path = b"GET /v1/health?" + b"a" * (HEADER_BYTES + 1) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    texts = [HEALTH + large + b"\r\n", HEALTH + many + b"\r\n", path]
    for text in texts:
        for sizes in (len(text), 4096):
            with connect(server.url) as line:
                answer = b""
                with suppress(OSError):
                    for i in range(0, len(text), sizes):
                        line.sendall(text[i : i + sizes])
                    answer = line.recv(4096)
                assert b" 200 " not in answer, text[:40]
                assert not answer or b" 400 " in answer
    fits = HEALTH + b"X: " + b"a" * (HEADER_BYTES - 200) + b"\r\n\r\n"
    with connect(server.url) as line:
        line.sendall(fits)
        assert b" 200 " in line.recv(4096)


def test_the_limit_of_files_is_raised_and_a_low_one_takes_fewer_connections(
    programs: list[Path], tmp_path: Path
) -> None:
    script = (
        "import resource, sys\n"
        "from ringsmith.service.gate import raise_file_limit\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, int(sys.argv[1])))\n"
        "print(raise_file_limit(512), *resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )

    def found(hard: int) -> list[int]:
        done = subprocess.run(
            [sys.executable, "-c", script, str(hard)], capture_output=True, text=True, check=True
        )
        return [int(text) for text in done.stdout.split()]

    assert found(4096) == [512, 1024, 4096]
    assert found(800) == [288, 800, 800]
    assert found(300) == [16, 300, 300]


# ---- the gate itself -----------------------------------------------------------------------------


def test_connections_are_counted_by_address_or_network() -> None:
    assert remote_of(("10.0.0.1", 5)) == "10.0.0.1"
    assert remote_of(("::ffff:10.0.0.1", 5, 0, 0)) == "10.0.0.1"
    one, other = ("2001:db8:1:2:3::4", 5, 0, 0), ("2001:db8:1:2:ffff::1", 9, 0, 0)
    assert remote_of(one) == remote_of(other) == "2001:db8:1:2::/64"
    assert remote_of(("fe80::1%eth0", 5, 0, 2)) == "fe80::/64"
    assert remote_of("") == ""


def test_the_longest_idle_connection_of_the_address_with_most_is_closed() -> None:
    """Of 6 connections at most, and 5 of one address."""
    with Listener() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        gate = listener.gate = Gate(6, 5)

        def opened(source: str) -> tuple[socket.socket, socket.socket]:
            client = stack.enter_context(
                socket.create_connection(listener.getsockname(), 5, (source, 0))
            )
            return client, stack.enter_context(listener.accept()[0])

        def closed(client: socket.socket) -> bool:
            client.settimeout(0.2)
            try:
                return client.recv(1) == b""
            except TimeoutError:
                return False

        many = [opened("127.0.0.2") for _ in range(5)]
        few = opened("127.0.0.3")
        assert len(gate) == 6
        assert gate.begin(many[0][1].fileno())  # in use
        other = opened("127.0.0.4")
        assert len(gate) == 6
        assert [closed(client) for client, _ in many] == [False, True, False, False, False]
        assert not closed(few[0])
        assert not closed(other[0])
        gate.end(many[0][1].fileno())  # the last to become idle
        for _ in range(4):
            opened("127.0.0.5")
        assert [closed(client) for client, _ in many[2:]] == [True, True, True]
        assert not closed(few[0])
