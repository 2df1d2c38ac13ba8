"""``requirements/audit.py``: advisories for locked packages, where a registry answers."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parents[2]
VULNERABLE = "starlette"
ADVISORY = {
    "id": "PYSEC-0000-1",
    "summary": "made up for this test",
    "affected": [
        {
            "package": {"name": VULNERABLE, "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "999"}]}],
        }
    ],
}


def locked(end: str) -> set[str]:
    """The packages of the audited locks, in lines that end so behind the version."""
    texts = [(ROOT / "requirements" / f"{name}.lock").read_text() for name in ("build", "run")]
    line = rf"^([\w.-]+)==[^ ]+{end}$"
    return {name for text in texts for name in re.findall(line, text, re.M)}


class Advisories(BaseHTTPRequestHandler):
    """Answers as an OSV service: one package has an advisory."""

    asked: set[str] = set()  # noqa: RUF012

    def do_POST(self) -> None:
        """Answers a query."""
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = query["package"]["name"]
        self.asked.add(name)
        body = json.dumps({"vulns": [ADVISORY]} if name == VULNERABLE else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def advisories() -> Iterator[str]:
    """The address of a service of advisories."""
    Advisories.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Advisories) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def audit(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "requirements/audit.py", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def test_an_advisory_for_a_locked_package_fails_lint_and_is_named(advisories: str) -> None:
    service = ("--vulnerability-service=osv", f"--osv-url={advisories}")
    done = audit(*service)
    version = re.search(
        rf"^{VULNERABLE}==(\S+)", (ROOT / "requirements/run.lock").read_text(), re.M
    )
    assert version is not None
    first, last = done.stdout.splitlines()
    assert first == f"{VULNERABLE} {version[1]} has PYSEC-0000-1: fixed in 999"
    assert last.startswith("Advisories: 1 found: make lock takes newer versions")
    assert done.returncode == 1
    assert locked(r" \\") <= Advisories.asked <= locked(".*")  # some are for other systems only
    accepted = audit(*service, "--ignore-vuln=PYSEC-0000-1")
    assert accepted.returncode == 0, accepted.stderr
    assert re.fullmatch(
        r"Advisories: none for (\d+) of \1 packages that are known\n", accepted.stdout
    )


def test_without_a_network_one_line_says_so_and_lint_passes() -> None:
    done = audit(HTTPS_PROXY="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9")
    assert done.stdout == "Advisories: not checked, the registry does not answer\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_a_registry_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        done = audit(HTTPS_PROXY=proxy, https_proxy=proxy)
    assert done.stdout.startswith("Advisories: not checked, ")
    assert done.returncode == 0
    assert time.monotonic() - begun < 70


def test_an_audit_that_fails_by_itself_is_an_error() -> None:
    done = audit("--no-such-option")
    assert done.returncode == 1
    assert "no-such-option" in done.stdout


def test_lint_asks_for_advisories() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (rule,) = re.findall(r"^lint-sources:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert "requirements/audit.py" in rule
