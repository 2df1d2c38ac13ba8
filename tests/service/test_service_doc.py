"""docs/guide/service.md: its program runs as it stands, and what it says of limits is so."""

import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
from tests.service.served import Server

from ringsmith import polynomial, trace
from ringsmith.service.settings import Limits, Quota, Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/guide/service.md").read_text()


def test_the_client_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    weights = np.array([0.5, -1.25, 2, 0.75, -0.5, 1, 0.25, -1.5])

    def score(x):  # noqa: ANN001, ANN202 - as in examples/python/server.py
        logit = x @ weights + 0.25
        return polynomial(logit, [0.5, 0.197, 0, -0.004])

    trace(score, "auto", {"x": (8,)}).save(tmp_path / "score.rsp")
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "remote" in text)
    with Server(tmp_path, [tmp_path / "score.rsp"], "--workers", "1") as server:
        program = block.replace("http://127.0.0.1:8000", server.url)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
        )
    said = re.search(r"# ([\d.]+)…", block)
    assert said is not None
    assert done.stdout.startswith(said[1])


def test_the_limits_of_the_page_are_all_and_as_they_are(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    table = tomllib.loads(block)
    told = (*table["limits"], *(name for name in table["quota"] if name != "alice"))
    also = ("wait_seconds",)  # in a comment
    assert {*told, *also} == {each.name for kind in (Limits, Quota) for each in fields(kind)}
    path = tmp_path / "limits.toml"
    path.write_text(block)
    found = load_settings(path)
    assert (found.limits, found.quota) == (Settings().limits, Settings().quota)
    assert found.of("alice").compute_seconds == 36_000


def test_the_requests_of_the_page_are_those_of_the_server() -> None:
    from ringsmith.service.app import plain, router

    known = {route.path for each in (router, plain) for route in each.routes}  # type: ignore[attr-defined]
    names = {"NAME": "{name}", "SHA256": "{digest}", "ID": "{identifier}"}
    section = PAGE.partition("## The interface")[2].partition("## Clients")[0]
    told = set()
    for path in re.findall(r"`(?:GET|PUT|POST|DELETE)?,? ?(/[\w/]*)(?:\?[\w=]+)?`", section):
        for word, pattern in names.items():
            path = re.sub(rf"(?<=/){word}(?=/|$)", pattern, path)
        told.add(path.replace("/outputs/{name}", "/outputs/{name}"))
    assert known - told <= {"/v1/openapi.json"}, known - told
