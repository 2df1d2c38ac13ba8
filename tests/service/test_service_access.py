"""Who may use a server: with tokens, without them, and after the last one was removed."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from tests.service.served import Server
from tests.service.test_service_clients import command

from ringsmith.service.access import Access
from ringsmith.service.database import LOCAL, Client, Database
from ringsmith.service.protocol import ProblemError
from ringsmith.service.storage import Storage

Open = Callable[[bool], Access]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Makes the check of a server that serves ``tmp_path`` and needs tokens or not."""
    return lambda tokens: Access(Storage(tmp_path / "service.sqlite3"), tokens=tokens)


def client(access: Access, asked: Request) -> Client:
    return asyncio.run(access.client(asked))


def request(address: str = "127.0.0.1", **headers: str) -> Request:
    """A request from ``address``; ``host`` is that of the server's own address."""
    headers = {"host": "127.0.0.1:8000", **headers}
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/v1/programs",
            "query_string": b"",
            "scheme": "http",
            "server": ("127.0.0.1", 8000),
            "client": (address, 50000),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )


def denied(access: Access, asked: Request) -> tuple[int, str]:
    with pytest.raises(ProblemError) as error:
        client(access, asked)
    return error.value.status, str(error.value)


@pytest.mark.parametrize("tokens", [True, False], ids=["exposed", "on loopback"])
@pytest.mark.parametrize("restarted", [True, False], ids=["restarted", "running"])
def test_removing_the_last_token_opens_no_server(
    tmp_path: Path, opened: Open, *, tokens: bool, restarted: bool
) -> None:
    database = Database(tmp_path / "service.sqlite3")
    token = database.add_client("alice")
    access = opened(tokens)
    known = request(authorization=f"Bearer {token}")
    assert client(access, known).name == "alice"
    database.remove_client("alice")
    if restarted:
        access = opened(tokens or database.needs_tokens())
    for asked in (request(), request("10.1.2.3"), known):
        assert denied(access, asked)[0] == 401
    assert client(access, request(authorization=f"Bearer {database.add_client('bob')}")).id


def test_a_client_whose_token_is_not_there_gets_nothing_from_an_exposed_server(
    opened: Open,
) -> None:
    """A folder whose last moments were lost: it has no client at all."""
    access = opened(True)
    assert denied(access, request())[0] == 401


def test_without_tokens_only_this_machine_is_served(opened: Open) -> None:
    access = opened(False)
    for address in ("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"):
        assert client(access, request(address)).name == LOCAL
    for address in ("10.1.2.3", "192.168.0.9", "::ffff:10.1.2.3", "fe80::1", "testclient", ""):
        status, text = denied(access, request(address))
        assert (status, "this machine alone" in text) == (403, True)


@pytest.mark.parametrize(
    ("origin", "served"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.0.0.1:3000", False),
        ("http://localhost:8000", False),
        ("https://127.0.0.1:8000", False),
        ("http://evil.example", False),
        ("null", False),
        ("http://[", False),
    ],
)
def test_without_tokens_only_pages_of_the_server_itself_are_served(
    opened: Open, origin: str, *, served: bool
) -> None:
    access = opened(False)
    asked = request(origin=origin)
    if served:
        assert client(access, asked).operator
    else:
        assert denied(access, asked)[0] == 403


def own_address() -> str | None:
    """An address of this machine that is no loopback address; None: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found: str = line.getsockname()[0]
        return found


def test_an_exposed_server_stays_closed_when_its_last_token_is_removed(
    programs: list[Path], tmp_path: Path
) -> None:
    """``token remove`` while ``serve --host 0.0.0.0`` runs."""
    data = str(tmp_path / "data")
    token = command("token", "add", "alice", "--data", data).strip()
    head = {"Authorization": f"Bearer {token}"}
    with Server(tmp_path, programs[:1], "--workers", "1", "--host", "0.0.0.0") as server:  # noqa: S104
        port = server.url.rpartition(":")[2]
        urls = [f"http://{host}:{port}" for host in ("127.0.0.1", own_address()) if host]
        assert {httpx.get(f"{url}/v1/jobs", headers=head).status_code for url in urls} == {200}
        assert "still need one" in command("token", "remove", "alice", "--data", data)
        for path in ("jobs", "status", "programs"):
            for url in urls:
                assert httpx.get(f"{url}/v1/{path}").status_code == 401
                assert httpx.get(f"{url}/v1/{path}", headers=head).status_code == 401
