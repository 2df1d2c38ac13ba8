"""Whatever a reader of foreign data is given, it refuses or reads, in bounded memory."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.measure import LEAST
from tests.fuzz.readers import READERS

ROOT = Path(__file__).resolve().parents[2]
QUICK_SECONDS, LONG_SECONDS = 0.25, 15
"""Of damaged inputs for each reader, in addition to those that are made to take memory."""
GUIDED_SECONDS, SEAL_FILES_SECONDS = 20, 60
RUNS = 400_000
"""The engine itself keeps some 400 bytes of every run; the readers keep nothing."""
RSS_LIMIT_MB = 1024
IN_BETWEEN = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
"""A child's peak memory is counted from its parent's own, and this process may have grown large."""


def examined(seconds: float, *names: str) -> Mapping[str, Any]:
    """What readers did, all or some, with inputs that follow from the seed of the tests."""
    command = [sys.executable, "-m", "tests.fuzz.measure", os.environ["RINGSMITH_TEST_SEED"]]
    done = subprocess.run(
        [sys.executable, "-c", IN_BETWEEN, *command, str(seconds), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = map(json.loads, done.stdout.splitlines())
    return {line["name"]: line for line in lines}


@pytest.fixture(scope="module")
def quickly() -> Mapping[str, Any]:
    """All readers, in one process."""
    return examined(QUICK_SECONDS)


def check(found: Mapping[str, Any]) -> None:
    """Checks that nothing but our errors came out, and how much memory was taken."""
    print(found)
    assert not found["wrong"], found["wrong"]
    assert found["most"]["share"] <= 1, found["most"]
    assert found["read"] + found["refused"] >= LEAST


@pytest.mark.parametrize("name", [reader.name for reader in READERS])
def test_damaged_and_crafted_inputs_are_read_or_refused_in_bounded_memory(
    name: str, quickly: Mapping[str, Any]
) -> None:
    check(quickly[name])


@pytest.mark.full
@pytest.mark.parametrize("name", [reader.name for reader in READERS])
def test_more_damage_finds_nothing(name: str) -> None:
    check(examined(LONG_SECONDS, name)[name])


def fuzz(command: list[str], seconds: int, folder: Path) -> None:
    """Runs a target of atheris, and checks that nothing was found and that it got further."""
    pytest.importorskip("atheris", reason="no atheris here: it has wheels for Linux x86-64 alone")
    corpus = folder / "corpus"
    corpus.mkdir()
    limits = [
        f"-max_total_time={seconds}",
        f"-runs={RUNS}",
        f"-rss_limit_mb={RSS_LIMIT_MB}",
        "-timeout=10",
        "-max_len=65536",
        "-len_control=0",
        f"-artifact_prefix={folder}/",
    ]
    done = subprocess.run(
        [sys.executable, "-c", IN_BETWEEN, sys.executable, *command, str(corpus), *limits],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    covered = re.findall(r"cov: (\d+)", done.stderr)
    assert int(covered[-1]) > int(covered[0])  # it looked further than the good inputs
    print(done.stderr.splitlines()[-1])


@pytest.mark.full
@pytest.mark.parametrize("name", [reader.name for reader in READERS])
def test_fuzzing_that_is_guided_by_coverage_finds_nothing(name: str, tmp_path: Path) -> None:
    fuzz(["-m", "tests.fuzz.guided", name], GUIDED_SECONDS, tmp_path)


@pytest.mark.full
def test_a_minute_of_fuzzing_seal_files_finds_nothing(tmp_path: Path) -> None:
    fuzz(["tests/fuzz/seal_files.py"], SEAL_FILES_SECONDS, tmp_path)
