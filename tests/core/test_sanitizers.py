"""Every operation with every kernel set, under the address and undefined-behaviour sanitizers."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind
import pytest

from ringsmith import _core

CORE_TESTS = Path(__file__).parent
ROOT = CORE_TESTS.parents[1]
CXX = os.environ.get("CXX", "g++")
FLAGS = "-O0 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
"""Without optimization: the compiler takes minutes to instrument kernels that it has unrolled."""

TESTS = (
    "test_arguments.py",
    "test_trivium.py",
    "test_graph.py",
    "test_graph_bfv.py",
    "test_hoisting.py",
    "test_hybrid.py",
    "test_key_switch_nodes.py",
    "test_keys.py",
    "test_lift_scale.py",
    "test_numbers.py",
    "test_precomputed_keys.py",
    "test_threads.py",
)
"""What tests operations on arrays at the edges, with one thread and with several."""

FUZZING_SECONDS = 5
"""Of damaged inputs for each reader of files."""

LEFT_OUT = "gives_no_more_threads"
"""A test that limits the address space, which the address sanitizer needs in terabytes."""


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with the tools of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def output(*command: object, **environment: str) -> str:
    """What a command prints; its errors show where it fails."""
    done = run(*command, **environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The instrumented extension, built from these sources."""
    folder = tmp_path_factory.mktemp("sanitized")
    options = {
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_CXX_FLAGS": FLAGS,
        "nanobind_DIR": nanobind.cmake_dir(),
        "Python_EXECUTABLE": sys.executable,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    output("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *definitions)
    output("cmake", "--build", folder, "--target", "_core")
    (built,) = (folder / "core").glob("_core*.so")
    return built


@pytest.fixture(scope="module")
def sanitizers() -> dict[str, str]:
    """What loads the sanitizers' libraries before Python; Python itself keeps memory at its end."""
    libraries = [
        output(CXX, f"-print-file-name={name}").strip() for name in ("libasan.so", "libubsan.so")
    ]
    return {"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"}


def check_kernel(kernel: str, extension: Path, sanitizers: Mapping[str, str]) -> dict[str, str]:
    """Runs all tests with one kernel set, and returns the digests that it computes."""
    program = [sys.executable, CORE_TESTS / "with_extension.py", extension]
    environment = {**sanitizers, "RINGSMITH_KERNEL": kernel}
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-k", f"not {LEFT_OUT}"]
    output(*program, "pytest", *quiet, *(CORE_TESTS / name for name in TESTS), **environment)
    seed = os.environ["RINGSMITH_TEST_SEED"]
    answer = json.loads(output(*program, CORE_TESTS / "kernel_digests.py", seed, **environment))
    assert answer["kernel"] == kernel
    return answer["digests"]


@pytest.mark.full
def test_no_kernel_set_is_objected_to_and_all_compute_the_same(
    extension: Path, sanitizers: Mapping[str, str]
) -> None:
    kernels = _core.kernel_names()
    with ThreadPoolExecutor(max_workers=2) as pool:
        digests = list(
            pool.map(lambda kernel: check_kernel(kernel, extension, sanitizers), kernels)
        )
    assert len(digests[0]) > 1000
    assert all(found == digests[0] for found in digests)


@pytest.mark.full
def test_damaged_files_are_no_trouble_to_the_extension(
    extension: Path, sanitizers: Mapping[str, str]
) -> None:
    """Every reader of foreign data, on damaged and crafted inputs (``tests/fuzz``)."""
    program = [sys.executable, CORE_TESTS / "with_extension.py", extension, "tests.fuzz.measure"]
    seed = os.environ["RINGSMITH_TEST_SEED"]
    printed = output(*program, seed, FUZZING_SECONDS, **sanitizers, PYTHONPATH=str(ROOT))
    found = [json.loads(line) for line in printed.splitlines()]
    assert len(found) > 10
    assert not [each["wrong"] for each in found if each["wrong"]]


@pytest.mark.full
def test_the_extension_is_instrumented(extension: Path) -> None:
    done = run(sys.executable, CORE_TESTS / "with_extension.py", extension, "this")
    assert done.returncode != 0
    assert "ASan runtime does not come first" in done.stderr
