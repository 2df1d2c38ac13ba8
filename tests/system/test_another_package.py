"""Somebody else's package adds architectures, and nothing here is edited for it.

``tests/another_package`` is installed into a folder of its own; a process that finds it there has
two more architectures: ``slow-oracle``, which runs the subroutine graph in plain Python integers
and so is an oracle for the core, and ``tally``, which has designs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.graph.random_graphs import every_op

from ringsmith.graph import to_json

HERE = Path(__file__)
PACKAGE = HERE.parents[1] / "another_package"
COMMAND = "from ringsmith.cli.main import main; main()"
INSTALL = ("install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("another")
    subprocess.run([sys.executable, "-m", "pip", *INSTALL, folder, PACKAGE], check=True)
    return folder


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs Python where the package in the folder is installed."""
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def checked(folder: Path, name: str, *arguments: str | Path) -> str:
    """What a script of ``tests/another_package`` prints."""
    done = run(folder, PACKAGE / name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "case", ["ckks", "hybrid", "bfv-hps", "bfv-behz", "bfv-word", "bfv-residue"]
)
def test_the_core_computes_what_plain_integers_do(installed: Path, case: str) -> None:
    told = checked(installed, "compare.py", case)
    assert told.count("equal") >= 6
    assert "differ" not in told


def test_the_core_computes_every_subroutine_as_plain_integers_do(
    installed: Path, tmp_path: Path
) -> None:
    graph = tmp_path / "every-op.jsonl"
    graph.write_text(to_json(every_op()))
    assert checked(installed, "compare.py", graph) == "graph equal\n"


def test_a_program_is_compiled_run_explained_and_kept_for_it(
    installed: Path, tmp_path: Path
) -> None:
    told = checked(installed, "use.py", tmp_path)
    assert "same bits on cpu, model of abacus and slow-oracle" in told
    assert "tallied on abacus" in told
    assert "parameters for abacus" in told


def test_the_commands_know_it(installed: Path) -> None:
    listed = run(installed, "-c", COMMAND, "designs")
    assert "| `abacus` | tally | residues 1000 |" in listed.stdout, listed.stderr
    refused = run(installed, "-c", "import ringsmith; ringsmith.open_device('attic')")
    assert "choose one of cpu, model, rtl, card, slow-oracle" in refused.stderr
    refused = run(installed, "-c", "import ringsmith; ringsmith.open_device('rtl', 'abacus')")
    assert "design abacus of architecture tally has no device 'rtl'" in refused.stderr


def test_a_package_that_cannot_be_imported_harms_nobody(installed: Path) -> None:
    broken = installed / "slow_oracle" / "integers.py"
    text = broken.read_text()
    broken.write_text("import attic")
    try:
        fine = run(installed, "-c", "import ringsmith; print(ringsmith.open_device('model').name)")
        assert fine.stdout == "model\n", fine.stderr
        assert "of package slow-oracle" in fine.stderr
        assert "uninstall it" in fine.stderr
    finally:
        broken.write_text(text)


def test_a_package_cannot_take_the_name_of_one_of_ours(installed: Path) -> None:
    (points,) = installed.glob("*.dist-info/entry_points.txt")
    text = points.read_text()
    points.write_text(text + "stream = slow_oracle.backends:ORACLE\n")
    try:
        fine = run(installed, "-c", "import ringsmith; ringsmith.open_device('attic')")
        assert "'stream' of package slow-oracle has the name of one of ours" in fine.stderr
        assert "choose one of cpu, model, rtl, card, slow-oracle" in fine.stderr
    finally:
        points.write_text(text)
