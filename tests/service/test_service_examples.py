"""``examples/service``: both services as separate processes with real sockets, and their files."""

import configparser
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.service.served import Server
from tests.service.test_service_clients import command
from typer.core import TyperGroup
from typer.main import get_command

from ringsmith.cli.main import app
from ringsmith.service.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "service"
README = re.sub(r" \\\n\s*", " ", (EXAMPLES / "README.md").read_text())
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
    (words,) = re.findall(r"^openssl (req .*)$", README, re.M)
    subprocess.run(
        [openssl, *words.split()],
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
        with urllib.request.urlopen(address, context=trusted, timeout=60) as health:  # noqa: S310
            assert health.status == 200
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(address, timeout=60)  # noqa: S310


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


def test_images_run_as_users_of_their_own() -> None:
    for name in ("Dockerfile", "Dockerfile.client"):
        text = _read(name)
        (user,) = re.findall(r"^USER (\w+)$", text, re.M)
        assert user != "root"
        assert re.search(rf"useradd .*--uid \d+ {user}\b", text)
    (owned,) = re.findall(r"install -d -o ringsmith .* (/\w+)$", _read("Dockerfile"), re.M)
    assert f"\nVOLUME {owned}\n" in _read("Dockerfile")


def steps(name: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile."""
    for line in re.sub(r"^#.*\n", "", _read(name), flags=re.M).replace("\\\n", " ").splitlines():
        if line:
            instruction, _, words = line.partition(" ")
            yield instruction, words


def test_both_images_begin_with_one_base_image_that_its_digest_names() -> None:
    bases = set()
    for name in ("Dockerfile", "Dockerfile.client"):
        found = [words for instruction, words in steps(name) if instruction in ("ARG", "FROM")]
        assert found[1:] == ["${BASE} AS build", "${BASE}"], name
        bases.add(found[0])
    (base,) = bases
    assert re.fullmatch(r"BASE=debian:bookworm-slim@sha256:[0-9a-f]{64}", base)
    command = "docker buildx imagetools inspect debian:bookworm-slim"
    assert command in _read("Dockerfile")
    assert command in README


@pytest.mark.parametrize(
    ("name", "lock", "extra"),
    [("Dockerfile", "service", "service"), ("Dockerfile.client", "run", "apps,remote")],
)
def test_an_image_gets_locked_packages_by_hash_and_all_that_its_extras_need(
    name: str, lock: str, extra: str
) -> None:
    locked = {"PIP_REQUIRE_HASHES=1", "PIP_NO_DEPS=1", "PIP_ONLY_BINARY=:all:"}
    environment: set[str] = set()
    for instruction, words in steps(name):
        if instruction == "ENV":
            environment = {*environment, *words.split()}
        elif "pip install -r" in words:
            assert locked <= environment, words
        elif "pip" in words:
            assert {"PIP_NO_INDEX=1", "PIP_NO_DEPS=1"} <= environment, words
    assert f"COPY requirements/build.lock requirements/{lock}.lock /locks/" in _read(name)
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    there = {*re.findall(r"^([\w.-]+)==", text, re.M)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [project["dependencies"]]
    wanted += [project["optional-dependencies"][each] for each in extra.split(",")]
    assert {re.split(r"[>=<]", each)[0] for row in wanted for each in row} <= there


@pytest.mark.full
def test_the_steps_that_make_the_server_of_the_image_work(tmp_path: Path) -> None:
    """Without a container engine: each step with pip, in folders of this test."""
    moved = {each: str(tmp_path / each) for each in ("build", "locks", "wheels", "source", "opt")}
    ignored = [line.rstrip("/") for line in (ROOT / ".dockerignore").read_text().splitlines()[1:]]
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))},
        "PATH": os.pathsep.join(
            p for p in os.environ["PATH"].split(os.pathsep) if ".venv" not in p
        ),
        "PIP_REQUIRE_VIRTUALENV": "0",
        "CMAKE_BUILD_PARALLEL_LEVEL": "2",
        "SKBUILD_CMAKE_BUILD_TYPE": "Debug",  # compiles faster
        "CXXFLAGS": "-g0",
    }
    for instruction, words in steps("Dockerfile"):
        for folder, other in moved.items():
            words = re.sub(rf"(?<![\w.])/{folder}\b", other, words)
        if instruction == "ENV":
            environment |= dict(word.split("=", 1) for word in words.split())
        elif words == f". {moved['source']}":
            names = [each.removeprefix("**/") for each in ignored if "/" not in each[3:]]
            shutil.copytree(ROOT, moved["source"], ignore=shutil.ignore_patterns(*names))
        elif words.startswith("requirements/"):
            *locks, target = words.split()
            Path(target).mkdir()
            for each in locks:
                shutil.copy(ROOT / each, target)
        elif instruction == "RUN" and "pip" in words:
            done = subprocess.run(
                ["bash", "-c", words], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    made = tmp_path / "opt/ringsmith/bin/ringsmith"
    done = subprocess.run(
        [made, "serve", "--help"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "--key-memory" in done.stdout


MEMORY = 8 << 30
PROCESSES, FILES = 512, 8192


def test_containers_and_the_unit_have_equal_limits_of_memory_processes_and_files() -> None:
    server = COMPOSE["services"]["server"]
    assert _bytes(server["mem_limit"]) == _bytes(server["memswap_limit"]) == MEMORY
    assert server["pids_limit"] == PROCESSES
    assert server["ulimits"] == {"nofile": {"soft": FILES, "hard": FILES}, "core": 0}
    section = unit()["Service"]
    assert _bytes(section["MemoryMax"]) == MEMORY
    assert int(section["TasksMax"]) == PROCESSES
    assert int(section["LimitNOFILE"]) == FILES
    assert (section["MemorySwapMax"], section["LimitCORE"]) == ("0", "0")
    assert section["OOMPolicy"] == "continue"  # a killed worker is replaced
    assert 4 * Settings().limits.connections < FILES
    client = COMPOSE["services"]["client"]
    assert _bytes(client["mem_limit"]) == _bytes(client["memswap_limit"]) <= MEMORY / 4
    assert client["pids_limit"] <= PROCESSES / 4
    assert client["ulimits"]["nofile"]["hard"] <= FILES / 4
    for service in (server, client):
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert all(re.fullmatch(r"/\w+:size=\d+m", each) for each in service["tmpfs"])


def _bytes(text: str) -> int:
    return int(text[:-1]) << {"m": 20, "g": 30}[text[-1].lower()]


def test_the_server_stays_far_within_its_limits(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads of a worker and of the server by the numbers in compose.yaml; files and memory."""
    text = _read("compose.yaml")
    said = re.search(r"A worker has up to (\d+) threads, the server up to (\d+)\.", text)
    assert said is not None
    of_worker, of_server = int(said[1]), int(said[2])
    assert of_server + 64 * of_worker <= PROCESSES  # one worker for each of 64 processors
    (setting,) = re.findall(r"OPENBLAS_NUM_THREADS=\d+", _read("ringsmith.service"))
    assert setting in _read("Dockerfile")
    monkeypatch.setenv(*setting.split("="))
    with Server(tmp_path, programs_of(published), "--workers", "2") as server:
        clients = [
            subprocess.Popen(
                [sys.executable, EXAMPLES / client, server.url, published / "public"],
                stdout=subprocess.DEVNULL,
            )
            for client in ("classifier_client.py", "forecast_client.py") * 2
        ]
        most: dict[int, tuple[int, ...]] = {}
        serving = server.process_id
        while any(client.poll() is None for client in clients):
            for process in (serving, *server.worker_ids):
                found = threads_memory_files(process)
                most[process] = tuple(map(max, found, most.get(process, found)))
            time.sleep(0.02)
        assert [client.returncode for client in clients] == [0] * len(clients)
    assert most[serving][0] <= of_server
    workers = [found for process, found in most.items() if process != serving]
    assert len(workers) == 2
    assert max(threads for threads, _, _ in workers) <= of_worker
    assert sum(memory for _, memory, _ in most.values()) < MEMORY / 8
    assert max(files for _, _, files in most.values()) < FILES / 8


def threads_memory_files(process: int) -> tuple[int, int, int]:
    """Threads, the most memory in bytes so far, and open files of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    threads, kilobytes = (
        int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1])  # type: ignore[index]
        for name in ("Threads", "VmHWM")
    )
    return threads, kilobytes << 10, len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208


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
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=15", tmp_path / "ringsmith.service"],
        capture_output=True,
        text=True,
    )  # 1.5 of 10; a unit without protection has 9.6
    assert done.returncode == 0, done.stdout[-500:]


def test_the_files_say_that_they_were_not_run() -> None:
    for name in ("Dockerfile", "Dockerfile.client", "compose.yaml", "ringsmith.service"):
        assert re.search(r"Not (built|run) where Ringsmith", _read(name)), name


def _read(name: str) -> str:
    return (EXAMPLES / name).read_text()
