"""Pages of docs/guide: their programs run as printed, and compute what the pages say."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.heir.make import text_of
from tests.service.served import Server

import ringsmith
from ringsmith import EncryptedVector, Program
from ringsmith.heir.module import VERSIONS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str) -> list[str]:
    """The programs of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def printed(block: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program of the page prints."""
    script = folder / "page.py"
    script.write_text(block)
    runpy.run_path(str(script))
    return capsys.readouterr().out


def test_the_pages_programs_print_their_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ckks, belongs, seeded, fewer, *more = blocks("guide/client.md")
    on_the_fly, precomputed, bfv, shared = more
    first, second = re.findall(r"-?[0-9.]+", printed(ckks, tmp_path, capsys))
    assert (round(float(first), 3), round(float(second), 3)) == (1.5, -2.25)
    same, error = printed(belongs, tmp_path, capsys).splitlines()
    assert same == "True True"
    assert error.startswith("the ciphertext: of another key pair (tag ")
    assert re.fullmatch(r"\(4, 2, 5, 8192\) [0-9a-f]{20}\n", printed(seeded, tmp_path, capsys))
    assert printed(fewer, tmp_path, capsys).splitlines() == [
        f"4 (0, 1, 2, 3, 4) {8 * 4 * 2 * 5 * 8192}",
        f"2 (0, 1, 4) {8 * 2 * 2 * 3 * 8192}",
        f"{8 * 2 * 2 * 3 * 8192}",
    ]
    whole, half = map(int, printed(on_the_fly, tmp_path, capsys).split())
    assert (whole, half) == (8 * 4 * 2 * 5 * 8192 + 10, 8 * 4 * 5 * 8192 + 10)
    assert printed(precomputed, tmp_path, capsys) == "(2, 4, 8192) True\n"
    first, second, budget = re.findall(r"-?[0-9.]+", printed(bfv, tmp_path, capsys))
    assert (float(first), float(second)) == (0.375, -3.125)
    assert int(budget) > 0
    bits, *numbers = re.findall(r"-?[0-9.]+", printed(shared, tmp_path, capsys))
    assert int(bits) == 8
    for found, exact in zip(map(float, numbers), (0.25, 1, 0.0625, 0), strict=True):
        assert abs(found - exact) <= 2**-8


def test_the_program_of_the_page_of_formats_writes_and_reads_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files,) = blocks("reference/formats.md")
    monkeypatch.chdir(tmp_path)
    assert printed(files, tmp_path, capsys) == "True\nSecretKey(hidden)\n"
    names = {path.name for path in tmp_path.iterdir()} - {"page.py"}
    assert names == {"secret_key.seal", "evaluation", "x.seal"}


# ---- The page docs/guide/client-server.md --------------------------------------------------------

# Its scripts are the examples, and run as processes that share files.


ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "client-server.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SCRIPTS = ROOT / "examples" / "python"
WATCHED = """
import runpy, sys
script = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(script, run_name="__main__")
print(*(name for name in ("ringsmith.client", "ringsmith._core.secret") if name in sys.modules))
"""


def test_the_page_shows_the_scripts_as_they_are() -> None:
    for block, name in zip(BLOCKS, ("server.py", "client.py"), strict=False):
        assert block in (SCRIPTS / name).read_text()


def test_the_page_hides_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hiding,) = BLOCKS[2:]
    script = tmp_path / "hiding.py"
    script.write_text(hiding)
    runpy.run_path(str(script))
    assert re.fullmatch(r"\[ 3  2 12  4\] \{'result': [1-9]\d*\}\n", capsys.readouterr().out)


def run(folder: Path, script: str, step: str) -> list[str]:
    """Runs a step as a process of its own; returns its lines and the modules it ended with."""
    command = [sys.executable, "-c", WATCHED, str(SCRIPTS / script), step]
    child = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout.splitlines()


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, str]]:
    return re.findall(r"^python (\w+\.py) (\w+)", PAGE.partition("## In order")[2], re.MULTILINE)


def test_client_and_server_exchange_only_files(
    tmp_path: Path, steps: list[tuple[str, str]]
) -> None:
    assert [script for script, _ in steps] == ["server.py", "client.py"] * 2
    server, client, exchange = (tmp_path / name for name in ("server", "client", "exchange"))
    for folder in (server, client, exchange):
        folder.mkdir()
    away = tmp_path / "away"
    for script, step in steps:
        hidden = client if script == "server.py" else server  # neither process sees the other's
        hidden.rename(away)
        *printed, modules = run(tmp_path, script, step)
        away.rename(hidden)
        assert bool(modules) == (script == "client.py")
    said = re.search(r"# (score: [0-9.]+)", PAGE)
    assert said is not None
    assert printed == [said[1]]
    weights = np.array([0.5, -1.25, 2, 0.75, -0.5, 1, 0.25, -1.5])
    logit = weights @ [0.5, -0.25, 0.125, 1, 0, -0.5, 0.75, 0.25] + 0.25
    expected = 0.5 + 0.197 * logit - 0.004 * logit**3
    assert abs(float(printed[0].split()[1]) - expected) < 1e-4
    assert (client / "secret_key.seal").stat().st_mode & 0o777 == 0o600
    names = {path.name for path in exchange.iterdir()}
    assert names == {"score.rsk", "evaluation", "x.seal", "result.seal"}


# What docs/guide/coming-from.md shows runs as it is printed there, and computes what it says


COMING_FROM = (
    Path(__file__).resolve().parents[2] / "docs" / "guide" / "coming-from.md"
).read_text()
FROM_BLOCKS = re.findall(r"^## (\w+):.*?```python\n(.*?)```", COMING_FROM, re.DOTALL | re.M)


@pytest.mark.parametrize(("library", "block"), FROM_BLOCKS)
def test_a_librarys_program_runs_here(library: str, block: str, tmp_path: Path) -> None:
    script = tmp_path / f"{library}.py"
    script.write_text(block)
    found = runpy.run_path(str(script))
    assert np.abs(found["answer"] - found["expected"]).max() < 2e-3


def test_the_page_has_a_program_of_each_library() -> None:
    assert [library for library, _ in FROM_BLOCKS] == ["TenSEAL", "SEAL", "OpenFHE"]


def test_every_call_that_the_table_names_exists() -> None:
    table = COMING_FROM.partition("## Common calls")[2].partition("**Not here")[0]
    ours = " ".join(row.split("|")[-2] for row in table.splitlines() if row.startswith("| "))
    names = set(re.findall(r"`(\w+)\(", ours))
    assert {"sum_slots", "conv2d", "chebyshev", "compare"} <= names
    assert [name for name in names if not hasattr(ringsmith, name)] == []
    for owner, name in re.findall(r"`(a|program)\.(\w+)", ours):
        assert hasattr({"a": EncryptedVector, "program": Program}[owner], name)


# ---- docs/guide/heir.md: its commands give the digit, its program prints its number --------------


HEIR_PAGE = (ROOT / "docs" / "guide" / "heir.md").read_text()


def test_the_pages_program_prints_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", HEIR_PAGE, re.DOTALL)
    (tmp_path / "dot.mlir").write_text(text_of("dot_f32", "vector"))
    (tmp_path / "page.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("page.py")
    assert capsys.readouterr().out.strip() == re.findall(r"It prints `([\d.]+)`", HEIR_PAGE)[0]


def test_the_page_names_the_versions_that_are_read() -> None:
    assert " and ".join(VERSIONS) in " ".join(HEIR_PAGE.split())


def printed_by(script: str, folder: Path) -> str:
    """What a script prints; in a process of its own, since importing ``heir`` replaces modules."""
    (folder / "page.py").write_text(script)
    command = [sys.executable, "page.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_pages_function_is_compiled_by_heir_and_runs_here_and_on_a_service(
    tmp_path: Path,
) -> None:
    local, remote = re.findall(r"```py\n(.*?)```", HEIR_PAGE, re.DOTALL)
    (expected,) = re.findall(r"It prints `(-?\d+ -?\d+)`", HEIR_PAGE)
    save, _, decorated = remote.partition("\n\n\n")
    assert printed_by(f"{local}\n{save}", tmp_path) == expected
    with Server(tmp_path, [tmp_path / "func.rsp"], "--workers", "1") as server:
        imports, _, function = local.partition("\n\n\n")
        (header,) = re.findall(r"def func.*:\n", function)
        called = decorated.replace("http://127.0.0.1:8000", server.url)
        called = called.replace(f"{header[:-1]} ...\n", function[function.index(header) :])
        assert "service=" in called
        assert printed_by(f"{imports}\n{called}", tmp_path) == expected


@pytest.mark.full
def test_the_pages_five_commands_read_an_encrypted_digit_on_vector(tmp_path: Path) -> None:
    block, _ = re.findall(r"```sh\n(.*?)```", HEIR_PAGE, re.DOTALL)
    install, *commands = block.splitlines()
    assert (install, len(commands)) == ("pip install 'ringsmith[heir]'", 4)
    for name in ("examples", "tests/images"):
        shutil.copytree(ROOT / name, tmp_path / name)
    bin_folder = Path(sys.executable).parent
    output = ""
    for command in commands:
        program, *words = shlex.split(command)
        done = subprocess.run(
            [bin_folder / program, *words], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        output += done.stdout
    assert "clock cycles" in output
    assert output.splitlines()[-1] == "7"
    scores = np.load(tmp_path / "scores" / "result.npy")
    assert scores.shape == (10,)


@pytest.mark.full
def test_the_page_of_bootstrapping_runs(tmp_path: Path) -> None:
    """All but the example's function, which has a test of its own."""
    script = tmp_path / "page.py"
    programs = blocks("guide/bootstrapping.md")
    script.write_text("\n".join(each for each in programs if "RATE" not in each))
    runpy.run_path(str(script))


def test_the_page_of_bootstrapping_shows_the_example() -> None:
    [shown] = [each for each in blocks("guide/bootstrapping.md") if "RATE" in each]
    example = DOCS.parent / "examples" / "bootstrapping" / "training.py"
    lines = [line.strip() for line in example.read_text().splitlines()]
    assert all(line.strip() in lines for line in shown.splitlines())
