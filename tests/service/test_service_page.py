"""The operator's page, in a real browser."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import someone
from tests.service.served import Server, until
from tests.service.test_service_clients import command

from ringsmith.remote import Service, ServiceError

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]

NAME = "<img src=x onerror=alert(1)>"


def shown(url: str, profile: Path, *flags: str) -> str:
    """The page as a browser has it after its scripts have asked the server."""
    assert BROWSER is not None
    usual = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync", "--virtual-time-budget=4000"),
    )
    done = subprocess.run(
        [BROWSER, *usual, f"--user-data-dir={profile}", *flags, "--dump-dom", url],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_the_page_shows_workers_clients_and_errors(programs: list[Path], tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    command("token", "add", NAME, "--data", data)
    command("token", "remove", NAME, "--data", data)  # the name stays, and no token is left
    with Server(tmp_path, programs, "--workers", "1") as server, Service(server.url) as service:
        own, other = someone(service), someone(service)
        service.run(own.program, own.inputs, own.keys)
        with pytest.raises(ServiceError):
            service.run(own.program, own.inputs, other.keys)
        os.kill(server.worker_ids[0], signal.SIGKILL)
        until(
            lambda: (
                httpx.get(f"{server.url}/v1/health").json()["status"] == "ok"
                and httpx.get(f"{server.url}/v1/status").json()["workers"][0]["restarts"] == 1
            ),
            "another worker",
        )
        for name, flags in (
            ("light", ("--window-size=1000,800",)),
            ("narrow", ("--window-size=400,800",)),
            ("dark", ("--blink-settings=preferredColorScheme=0",)),
        ):
            found = shown(server.url, tmp_path / name, *flags)
            assert (
                '<span id="state" role="status" aria-live="polite" class="good">ok</span>' in found
            )
            assert "<td>worker 0</td>" in found
            assert "<td>local</td>" in found
            assert "another key pair" in found
            assert "&lt;img src=x onerror=alert(1)&gt;" in found
            assert "<img" not in found


def test_the_page_asks_for_a_token(programs: list[Path], tmp_path: Path) -> None:
    command("token", "add", "watch", "--operator", "--data", str(tmp_path / "data"))
    with Server(tmp_path, programs, "--workers", "1") as server:
        found = shown(server.url, tmp_path / "profile")
        assert "a token is needed" in found
        assert '<form id="ask" style="display: flex;">' in found
        assert '<main id="all" hidden="">' in found
