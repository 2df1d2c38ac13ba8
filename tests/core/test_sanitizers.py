"""Every operation of both schemes with every kernel set, under the sanitizers of the compiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ringsmith import _core

ROOT = Path(__file__).parents[2]
CXX = os.environ.get("CXX", "g++")
FLAGS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
NARROW = _core.prime_search(30, 2048, 2)
PROGRAMS = {
    "scheme_test": [
        *_core.prime_search(40, 2048, 1),
        NARROW[1],
        NARROW[0],
        *_core.prime_search(41, 2048, 1),
    ],
    "bfv_scheme_test": [],
}
"""The C++ tests of the public headers, and their arguments."""


def run(*command: object, **environment: str) -> None:
    """Runs a command; its output shows where it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs, instrumented like the library that they are linked with."""
    folder = tmp_path_factory.mktemp("sanitized")
    options = ["-DRINGSMITH_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={FLAGS}"]
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *options)
    run("cmake", "--build", folder, "--target", "ringsmith_core")
    library = folder / "core" / "libringsmith_core.a"
    for name in PROGRAMS:
        source = ROOT / "tests" / "core" / f"{name}.cpp"
        include = ROOT / "core" / "include"
        options = ["-std=c++20", *FLAGS.split(), "-pthread", "-I", str(include)]
        run(CXX, *options, source, library, "-o", folder / name)
    return folder


@pytest.mark.full
@pytest.mark.parametrize("kernel", _core.kernel_names())
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_sanitizer_objects_to_any_operation(name: str, kernel: str, programs: Path) -> None:
    for threads in ("1", "3"):
        environment = {"RINGSMITH_KERNEL": kernel, "RINGSMITH_THREADS": threads}
        run(programs / name, *PROGRAMS[name], **environment)
