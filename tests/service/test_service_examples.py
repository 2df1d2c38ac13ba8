"""``examples/service``: both services as separate processes with real sockets, and their files."""

import configparser
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.service.served import Server
from tests.service.test_service_clients import command
from typer.core import TyperGroup
from typer.main import get_command

from ringsmith.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "service"
README = (EXAMPLES / "README.md").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((EXAMPLES / "compose.yaml").read_text())
SAID = re.compile(
    r"(?s).*largest difference (\S+), forecast to be at most (\S+)\n(\d+) \w+, [^\d]*([\d.]+)"
)


def run(*words: object, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the models' owner writes: ``programs`` and ``public``."""
    for package in ("sklearn", "sktime"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("published")
    run(EXAMPLES / "publish.py", folder / "programs", folder / "public")
    return folder


def programs_of(folder: Path) -> list[Path]:
    return [folder / "programs" / f"{name}.rsp" for name in ("classifier", "forecast")]


@pytest.mark.parametrize(
    ("client", "count", "right"),
    [
        ("classifier_client.py", 114, lambda percent: percent > 95),
        ("forecast_client.py", 496, lambda error: error < 0.2),
    ],
)
def test_a_client_gets_the_clear_results_within_the_forecast_precision(
    published: Path,
    tmp_path: Path,
    client: str,
    count: int,
    right: Any,  # noqa: ANN401 - a function of a number
) -> None:
    with Server(tmp_path, programs_of(published), "--workers", "1") as server:
        text = run(EXAMPLES / client, server.url, published / "public")
    found = SAID.match(text)
    assert found is not None, text
    assert 0 < float(found[1]) <= float(found[2]) < 1e-4, text
    assert int(found[3]) == count
    assert right(float(found[4])), text


def test_clients_are_given_no_weights(published: Path) -> None:
    given = {path.name for path in (published / "public").iterdir()}
    assert given == {"public.json", "clear.json"}
    mounted = COMPOSE["services"]["client"]["volumes"]
    assert mounted == ["./public:/public:ro"]


def test_client_and_server_of_the_compose_file_speak_tls_with_a_token(
    published: Path, tmp_path: Path
) -> None:
    """As in compose.yaml and the README, but without containers: the same options and commands."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl is installed")
    (tmp_path / "secrets").mkdir()
    (words,) = re.findall(r"^openssl (req .*\\\n.*)$", README, re.M)
    subprocess.run(
        [openssl, *words.replace("\\\n", " ").split()],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    certificate, key = (tmp_path / "secrets" / f"{name}.pem" for name in ("certificate", "key"))
    token = command("token", "add", "hospital", "--data", str(tmp_path / "data")).strip()
    server = Server(
        *(tmp_path, programs_of(published), "--workers", "1"),
        *("--tls-certificate", str(certificate), "--tls-key", str(key)),
    )
    with server:
        assert server.url.startswith("https://127.0.0.1:")
        client = EXAMPLES / "forecast_client.py"
        known = {"SSL_CERT_FILE": str(certificate), "RINGSMITH_TOKEN": token}
        assert "496 meters" in run(client, server.url, published / "public", **known)
        address = f"{server.url}/v1/health"
        trusted = ssl.create_default_context(cafile=certificate)
        with urllib.request.urlopen(address, context=trusted, timeout=5) as health:  # noqa: S310
            assert health.status == 200
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(address, timeout=5)  # noqa: S310


# ---- files for containers and systemd ----------------------------------------------------------


def parse(words: list[str]) -> dict[str, Any]:
    """What a command line of ``ringsmith`` says, parsed and not run."""
    found, rest = get_command(app), words
    while isinstance(found, TyperGroup):
        with found.make_context(None, rest, resilient_parsing=True) as context:
            _, chosen, rest = found.resolve_command(context, rest)
        assert chosen is not None
        found = chosen
    with found.make_context(None, rest) as context:
        return context.params


def of_dockerfile(name: str, instruction: str) -> list[str]:
    """The words of an instruction in a Dockerfile that is a list in JSON's form."""
    text = (EXAMPLES / name).read_text().replace("\\\n", " ")
    (found,) = re.findall(rf"^{instruction} (\[.*\])$", text, re.M)
    words: list[str] = yaml.safe_load(found)
    return words


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(EXAMPLES / "ringsmith.service")
    return found


def test_the_commands_of_the_files_are_those_of_ringsmith() -> None:
    start = unit()["Service"]["ExecStart"].split()
    assert (
        start[0] == of_dockerfile("Dockerfile", "ENTRYPOINT")[0] == "/opt/ringsmith/bin/ringsmith"
    )
    for words in (
        start[1:],
        of_dockerfile("Dockerfile", "CMD"),
        COMPOSE["services"]["server"]["command"],
    ):
        names = [path.name for path in parse(words)["programs"]]
        assert names == ["classifier.rsp", "forecast.rsp"]
    for line in re.findall(r"(?:ringsmith|server) (token add .*?)(?: >|$)", README, re.M):
        assert parse(line.split())["name"] == "hospital"


def test_compose_names_files_secrets_and_volumes_that_there_are() -> None:
    for name, service in COMPOSE["services"].items():
        build = service["build"]
        assert (EXAMPLES / build["context"]).resolve() == ROOT, name
        assert (ROOT / build["dockerfile"]).is_file(), name
        assert {*service["secrets"]} <= {*COMPOSE["secrets"]}, name
        text = yaml.safe_dump(service)
        assert {*re.findall(r"/run/secrets/(\w+)", text)} <= {*service["secrets"]}, name
        mounts = [volume.split(":")[0] for volume in service["volumes"]]
        assert {each for each in mounts if each[0] != "."} <= {*COMPOSE["volumes"]}, name
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
    for secret in COMPOSE["secrets"].values():
        assert f"{secret['file'].removeprefix('./')}" in README
    client = COMPOSE["services"]["client"]["command"][0]
    copied = re.search(r"^COPY (examples.*) /examples/$", _read("Dockerfile.client"), re.M)
    assert copied is not None
    assert all((ROOT / path).is_file() for path in copied[1].split())
    assert f"examples/service/{client}" in copied[1].split()


def test_both_health_checks_ask_an_address_that_needs_no_token() -> None:
    server = COMPOSE["services"]["server"]["healthcheck"]["test"]
    for words in (of_dockerfile("Dockerfile", "HEALTHCHECK CMD"), server):
        assert re.search(r"https?://127\.0\.0\.1:8000/v1/health\b", words[-1])
        compile(words[-1], "health", "exec")


def test_images_run_as_users_of_their_own_and_take_the_extras_that_exist() -> None:
    extras = (ROOT / "pyproject.toml").read_text()
    for name in ("Dockerfile", "Dockerfile.client"):
        text = _read(name)
        (user,) = re.findall(r"^USER (\w+)$", text, re.M)
        assert user != "root"
        assert re.search(rf"useradd .*--uid \d+ {user}\b", text)
        (wanted,) = re.findall(r'"/source\[([\w,]+)\]"', text)
        for extra in wanted.split(","):
            assert re.search(rf"^{extra} = \[", extras, re.M), extra
    (owned,) = re.findall(r"install -d -o ringsmith .* (/\w+)$", _read("Dockerfile"), re.M)
    assert f"\nVOLUME {owned}\n" in _read("Dockerfile")


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    section = unit()["Service"]
    state = section["StateDirectory"]
    assert section["ExecStart"].endswith(f" --data /var/lib/{state}")
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze is installed")
    program = section["ExecStart"].split()[0]
    (tmp_path / "ringsmith.service").write_text(
        _read("ringsmith.service").replace(f"ExecStart={program}", f"ExecStart={sys.executable}")
    )
    done = subprocess.run(
        [analyze, "verify", tmp_path / "ringsmith.service"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_files_say_that_they_were_not_run() -> None:
    for name in ("Dockerfile", "Dockerfile.client", "compose.yaml", "ringsmith.service"):
        assert re.search(r"Not (built|run) where Ringsmith", _read(name)), name


def _read(name: str) -> str:
    return (EXAMPLES / name).read_text()
