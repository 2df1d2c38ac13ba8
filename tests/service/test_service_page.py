"""The operator's page, in a real browser."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.service.browser import CHROMIUM, DRIVER, Browser
from tests.service.conftest import someone
from tests.service.served import Server, until
from tests.service.test_service_clients import command

from ringsmith.remote import Service, ServiceError

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(DRIVER is None, reason="no chromedriver is installed"),
]

NAME = "<img src=x onerror=alert(1)>"
COLOURS = "const of = getComputedStyle(document.body); return [of.backgroundColor, of.color]"
FITS = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
UNNAMED = """
return [...document.querySelectorAll("table")].filter(one =>
  !one.caption || !one.caption.textContent || !one.querySelector("thead th[scope=col]") ||
  [...one.querySelectorAll("tbody tr")].some(row => row.cells.length > 1 &&
    row.cells[0].scope !== "row")).map(one => one.id)
"""


@pytest.fixture(scope="module")
def used(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without tokens: five jobs done, one failed, a worker killed."""
    folder = tmp_path_factory.mktemp("used")
    data = str(folder / "data")
    command("token", "add", NAME, "--data", data)
    command("token", "remove", NAME, "--data", data)  # the name stays, and no token is left
    with Server(folder, programs, "--workers", "1") as server, Service(server.url) as service:
        own, other = someone(service), someone(service)
        for _ in range(5):
            service.run(own.program, own.inputs, own.keys)
        with pytest.raises(ServiceError):
            service.run(own.program, own.inputs, other.keys)
        os.kill(server.worker_ids[0], signal.SIGKILL)
        status = f"{server.url}/v1/status"

        def anew() -> bool:
            (worker,) = httpx.get(status).json()["workers"]
            return worker["ready"] and worker["restarts"] == 1

        until(anew, "another worker")
        yield server


@pytest.mark.parametrize(
    ("width", "dark", "colours"),
    [
        (1000, False, ["rgb(251, 251, 250)", "rgb(26, 29, 33)"]),
        (1000, True, ["rgb(21, 24, 27)", "rgb(230, 232, 234)"]),
        (400, False, ["rgb(251, 251, 250)", "rgb(26, 29, 33)"]),
    ],
)
def test_the_page_shows_workers_clients_latency_and_errors(
    used: Server, tmp_path: Path, width: int, dark: bool, colours: list[str]
) -> None:
    with Browser(tmp_path / "profile", width=width, dark=dark) as browser:
        browser.open(used.url)
        browser.until("state", "^ok$")
        browser.until("workers", r"worker 0\s+ready\s+\d+ %\s+0 on 1\s+6\s+1\s")
        assert "1 of 1" in browser.text("figures")
        assert browser.run("return document.querySelectorAll('#latency tbody td').length") == 6
        assert "Of the last 5 jobs" in browser.text("latency")
        clients = browser.text("clients")
        assert "local\t0\t0\t5\t1\t0\t" in clients
        assert NAME in clients
        assert not browser.run("return document.querySelectorAll('img').length")
        assert "another key pair" in browser.text("failures")
        assert browser.run(UNNAMED) == []
        assert browser.run(FITS)
        assert browser.run(COLOURS) == colours
        (tmp_path / "page.png").write_bytes(browser.screenshot())


def test_the_page_takes_an_operators_token_alone(programs: list[Path], tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    operator = command("token", "add", "watch", "--operator", "--data", data).strip()
    client = command("token", "add", "client", "--data", data).strip()
    with (
        Server(tmp_path, programs, "--workers", "1") as server,
        Browser(tmp_path / "profile") as browser,
    ):
        browser.open(server.url)
        browser.until("state", "^a token is needed$")
        for token, said in (
            ("guess", "^this token is unknown$"),
            (client, "^this token is no operator's$"),
            ("naïve €", "^this token is unknown$"),
        ):
            browser.type("token", f"{token}\n")
            browser.until("state", said)
            assert browser.visible("ask")
            assert not browser.visible("all")
            assert browser.run("return sessionStorage.length") == 0
        (tmp_path / "page.png").write_bytes(browser.screenshot())
        browser.type("token", f"{operator}\n")
        browser.until("state", "^ok$")
        assert browser.visible("all")
        assert not browser.visible("ask")
        kept = "return [Object.values(sessionStorage), localStorage.length, document.cookie]"
        assert browser.run(kept) == [[operator], 0, ""]
        assert operator not in browser.run("return location.href + document.body.outerHTML")
        command("token", "remove", "watch", "--data", data)
        browser.until("state", "^this token is unknown$")
        assert not browser.visible("all")


def test_the_page_says_when_the_server_does_not_answer(
    programs: list[Path], tmp_path: Path
) -> None:
    with (
        Server(tmp_path, programs, "--workers", "1") as server,
        Browser(tmp_path / "profile") as browser,
    ):
        browser.open(server.url)
        browser.until("state", "^ok$")
        old = "return document.getElementById('all').className"
        os.kill(server.process_id, signal.SIGSTOP)
        try:
            said = browser.until("state", "does not answer")
        finally:
            os.kill(server.process_id, signal.SIGCONT)
        assert "(no answer in 5 s); the figures are of " in said
        browser.until("state", "^ok$")
        assert browser.run(old) == ""
        server.kill()
        browser.until("state", "does not answer")
        assert browser.run(old) == "old"
        assert "worker 0" in browser.text("workers")
        (tmp_path / "page.png").write_bytes(browser.screenshot())
        server.start()
        browser.until("state", "^ok$")


def test_without_tokens_the_page_is_for_this_machine_and_says_so(
    used: Server, tmp_path: Path
) -> None:
    with Browser(tmp_path / "profile") as browser:
        browser.open(used.url.replace("127.0.0.1", "elsewhere.localhost"))
        browser.until("state", "without tokens this server is for this machine alone")
        assert not browser.visible("ask")
        assert not browser.visible("all")
