"""``examples/service``: both services as separate processes with real sockets, and their files."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.service.served import Server
from typer.main import get_command

from ringsmith.cli.main import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "service"


def run(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_services_answer_their_clients(tmp_path: Path) -> None:
    for package in ("sklearn", "sktime"):
        pytest.importorskip(package)
    run("-W", "ignore", EXAMPLES / "publish.py", tmp_path)
    programs = [tmp_path / "classifier.rsp", tmp_path / "forecast.rsp"]
    with Server(tmp_path, programs, "--workers", "1") as server:
        given = (server.url, tmp_path / "public.json")
        patients = run("-W", "ignore", EXAMPLES / "classifier_client.py", *given)
        meters = run("-W", "ignore", EXAMPLES / "forecast_client.py", *given)
    right = re.fullmatch(r"\d+ patients, ([\d.]+)% classified right\n", patients)
    assert right is not None
    assert float(right[1]) > 90
    error = re.fullmatch(r"\d+ meters, mean error ([\d.]+) of a standard deviation\n", meters)
    assert error is not None
    assert float(error[1]) < 0.5


def test_the_files_for_containers_and_systemd_name_what_there_is() -> None:
    command = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    compose = yaml.safe_load((EXAMPLES / "compose.yaml").read_text())
    build = compose["services"]["server"]["build"]
    assert (EXAMPLES / build["context"]).resolve() == EXAMPLES.parents[1]
    assert (EXAMPLES.parents[1] / build["dockerfile"]).is_file()
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(EXAMPLES / "ringsmith.service")
    start = unit["Service"]["ExecStart"].split()
    docker = (EXAMPLES / "Dockerfile").read_text()
    for words in (start, re.findall(r'"([^"]+)"', docker.partition('CMD ["serve"')[2])):
        assert {word for word in words if word.startswith("--")} <= options
    for name in ("Dockerfile", "Dockerfile.client", "compose.yaml", "ringsmith.service"):
        text = (EXAMPLES / name).read_text()
        assert re.search(r"Not (built|run) where Ringsmith", text), name
