"""A minute of coverage-guided fuzzing of the readers of SEAL's files (``tests/fuzz``)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TARGET = Path(__file__).resolve().parents[1] / "fuzz" / "seal_files.py"
SECONDS = 60
RUNS = 400_000
"""The engine itself keeps some 400 bytes of every run; the readers keep nothing."""
RSS_LIMIT_MB = 1024
IN_BETWEEN = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
"""A child's peak memory is counted from its parent's own, and this process may have grown large."""


@pytest.mark.full
def test_a_minute_of_fuzzing_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="no atheris here: it has wheels for Linux x86-64 alone")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    limits = [
        f"-max_total_time={SECONDS}",
        f"-runs={RUNS}",
        f"-rss_limit_mb={RSS_LIMIT_MB}",
        "-timeout=10",
        "-max_len=65536",
        "-len_control=0",
        f"-artifact_prefix={tmp_path}/",
    ]
    done = subprocess.run(
        [sys.executable, "-c", IN_BETWEEN, sys.executable, TARGET, corpus, *limits],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    covered = re.findall(r"cov: (\d+)", done.stderr)
    assert int(covered[-1]) > int(covered[0])  # it looked further than the good files
    print(done.stderr.splitlines()[-1])
