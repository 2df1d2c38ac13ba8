"""The package as somebody installs it: into an empty environment, used far from any checkout.

What pip installs with it comes from whatever registry pip is set to use, in the versions of
requirements/run.lock. Only designs that are built already are taken from the cache.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".git", ".venv", "build", ".*_cache", "__pycache__", ".hypothesis")
WHERE = """
import ringsmith
from ringsmith.design_files import named
from ringsmith.hdl.sources import rtl_root, sim_root
print(ringsmith.__file__, rtl_root(), sim_root(), *named(), sep="\\n")
"""


def run(command: list[str | Path], folder: Path) -> str:
    """Runs a command with nothing of this environment but the path to the system's tools."""
    own = Path(sys.prefix).resolve()
    inherited = [p for p in os.environ["PATH"].split(os.pathsep) if Path(p).parent.resolve() != own]
    unwanted = ("PYTHON", "VIRTUAL_ENV", "PIP_REQUIRE", "RINGSMITH_TEST")
    environment = {name: v for name, v in os.environ.items() if not name.startswith(unwanted)}
    environment["PATH"] = os.pathsep.join([str(Path(command[0]).parent), *inherited])
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def release(copy: Path) -> Path:
    """Makes a release in a copy of the checkout, once its changes are named; returns the wheel."""
    make, git = (Path(shutil.which(name) or name) for name in ("make", "git"))
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "-m", "x"]):
        run([git, *words], copy)
    refused = subprocess.run([make, "release"], cwd=copy, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "CHANGELOG.md has no entry for" in refused.stdout
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    with (copy / "CHANGELOG.md").open("a") as file:
        file.write(f"\n## [{project['version']}]\n")
    run([git, *author, "commit", "--quiet", "--all", "-m", "y"], copy)
    run([make, "release"], copy)
    [wheel], [bill] = ((copy / "dist").glob(pattern) for pattern in ("*.whl", "*.cdx.json"))
    parts = {part["name"] for part in json.loads(bill.read_text())["components"]}
    assert {"numpy", "typer"} <= parts
    run([Path("/usr/bin/sha256sum"), "--check", "--quiet", "SHA256SUMS"], copy / "dist")
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that holds the package alone."""
    folder = tmp_path_factory.mktemp("install")
    copy = folder / "copy"  # the wheel is built in its source folder: not in the one in use
    shutil.copytree(CHECKOUT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (copy / ".venv").symlink_to(Path(sys.prefix))
    wheel = release(copy)
    locked = (CHECKOUT / "requirements" / "run.lock").read_text()
    versions = re.findall(r"^[a-z0-9][^ ]*==[^\\\n]*", locked, re.M)
    assert versions
    (folder / "constraints.txt").write_text("\n".join(versions))
    run([Path(sys.executable), "-m", "venv", folder / "venv"], folder)
    python = folder / "venv" / "bin" / "python"
    constraints = ["--constraint", folder / "constraints.txt"]
    run(
        [python, "-m", "pip", "install", "--quiet", *constraints, f"{wheel}[sim,apps,seal]"], folder
    )
    shutil.rmtree(copy)
    return python.parent


def test_the_source_distribution_has_every_source_of_the_package_and_no_records(
    tmp_path: Path,
) -> None:
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=CHECKOUT, check=True)
    [path] = tmp_path.iterdir()
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kinds = ("*.py", "*.cpp", "*.h", "CMakeLists.txt")
    found = (each for kind in kinds for each in CHECKOUT.glob(f"python/**/{kind}"))
    sources = {str(each.relative_to(CHECKOUT)) for each in found}
    assert "python/ringsmith/backends/rpau/model/rpau.cpp" in sources
    assert "python/ringsmith/cli/bench.py" in sources
    assert sources - names == set()
    assert not [name for name in names if name.startswith(("bench/", "tests/"))]


@pytest.mark.full
def test_rtl_simulation_sources_and_designs_travel_inside_the_package(
    installed: Path, tmp_path: Path
) -> None:
    *folders, designs = run([installed / "python", "-c", WHERE], tmp_path).split("\n", 3)
    environment = installed.parent.resolve()
    assert all(environment in Path(folder).resolve().parents for folder in folders)
    own = (path.stem for path in (CHECKOUT / "python/ringsmith/designs").glob("*.toml"))
    assert sorted(designs.split()) == sorted(own)


@pytest.mark.full
def test_compiled_sources_of_architectures_stay_out_of_the_wheel(
    installed: Path, tmp_path: Path
) -> None:
    where = "import ringsmith.backends; print(ringsmith.backends.__path__[0])"
    folder = Path(run([installed / "python", "-c", where], tmp_path).strip())
    assert [*folder.rglob("_model*.so")]
    assert [
        each for kind in ("*.cpp", "*.h", "CMakeLists.txt") for each in folder.rglob(kind)
    ] == []


@pytest.mark.full
def test_the_demo_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    run([installed / "ringsmith", "demo", "--output", tmp_path / "numbers.json"], tmp_path)
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["program"]["equal_bits_with_cpu"] is True
    assert numbers["program"]["cycles"] == numbers["program"]["predicted_cycles"]
    assert numbers["quality"]["same_class_as_polynomial"] == numbers["quality"]["patients"] == 114
    told = run([installed / "ringsmith", "doctor"], tmp_path)
    assert "Everything that the demo needs is here." in told


@pytest.mark.full
def test_the_bus_is_built_from_what_was_installed(installed: Path, tmp_path: Path) -> None:
    script = (
        "from ringsmith.runtime import open_device\n"
        "print(open_device('rtl', 'nano', via='axi-lite').coprocessor.design.name)"
    )
    assert run([installed / "python", "-c", script], tmp_path).split() == ["nano"]


# ---- ``requirements/audit.py``: advisories for locked packages, where a registry answers ---------


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
        start = time.monotonic()
        done = audit(HTTPS_PROXY=proxy, https_proxy=proxy)
    assert done.stdout.startswith("Advisories: not checked, ")
    assert done.returncode == 0
    assert time.monotonic() - start < 70


def test_an_audit_that_fails_by_itself_is_an_error() -> None:
    done = audit("--no-such-option")
    assert done.returncode == 1
    assert "no-such-option" in done.stdout


def test_lint_asks_for_advisories() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (rule,) = re.findall(r"^lint-sources:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert "requirements/audit.py" in rule
