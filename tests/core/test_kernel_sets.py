"""Every kernel set computes the words of the scalar one, and is chosen as it should be."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ringsmith import _core

PROGRAM = Path(__file__).with_name("kernel_digests.py")


def run(kernel: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, with that kernel asked for."""
    environment = {**os.environ, "RINGSMITH_KERNEL": kernel}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
    )


@cache
def digests(kernel: str) -> dict[str, str]:
    """What kernel_digests.py computes with one kernel set."""
    result = run(kernel, str(PROGRAM), os.environ["RINGSMITH_TEST_SEED"])
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["kernel"] == kernel
    return answer["digests"]


@pytest.mark.parametrize("kernel", [name for name in _core.kernel_names() if name != "scalar"])
def test_every_kernel_equals_the_scalar_one(kernel: str) -> None:
    ours, scalar = digests(kernel), digests("scalar")
    assert len(ours) > 1000
    assert [case for case in scalar if ours[case] != scalar[case]] == []


@pytest.mark.parametrize("kernel", _core.kernel_names())
def test_every_kernel_computes_the_same_by_a_precomputed_key(kernel: str) -> None:
    ours, form = digests(kernel), "precomputed "
    cases = [case for case in ours if case.startswith(form)]
    assert len(cases) > 100
    assert [case for case in cases if ours[case] != ours[case.removeprefix(form)]] == []


def test_the_scalar_kernel_is_everywhere_and_first() -> None:
    assert _core.kernel_names()[0] == "scalar"


def test_the_fastest_kernel_is_the_default() -> None:
    result = run("", "-c", "from ringsmith import _core; print(_core.kernel_name())")
    assert result.stdout.strip() == _core.kernel_names()[-1]


def test_an_unknown_kernel_is_refused_with_the_ones_there_are() -> None:
    result = run("abacus", "-c", "from ringsmith import _core; _core.kernel_name()")
    assert result.returncode != 0
    assert "RINGSMITH_KERNEL is 'abacus'" in result.stderr
    assert all(name in result.stderr for name in _core.kernel_names())
