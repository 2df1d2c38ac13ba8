"""The C++ library as a package: installed headers, find_package, the example, every operation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ringsmith import _core

ROOT = Path(__file__).parents[2]
CXX = os.environ.get("CXX", "g++")
TOOLS = Path(sys.executable).parent


def run(*command: object, cwd: Path = ROOT) -> str:
    """What a command prints; its errors show where it fails."""
    path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("source", ["examples/cpp/ckks_basics.cpp", "tests/core/scheme_test.cpp"])
def test_programs_compile_against_the_public_headers_alone(source: str) -> None:
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run(CXX, "-std=c++20", *warnings, "-fsyntax-only", "-I", "core/include", source)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed, built from these sources without Python."""
    folder = tmp_path_factory.mktemp("package")
    build, installed = folder / "build", folder / "prefix"
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DRINGSMITH_PYTHON=OFF")
    run("cmake", "--build", build, "--target", "ringsmith_core")
    run("cmake", "--install", build, "--prefix", installed)
    return installed


@pytest.mark.full
def test_the_example_builds_against_the_installed_package_and_is_right(
    prefix: Path, tmp_path: Path
) -> None:
    source = ROOT / "examples" / "cpp"
    run("cmake", "-G", "Ninja", "-S", source, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    printed = run(tmp_path / "ckks_basics")
    assert printed.startswith("limbs 2, scale 2^40")


@pytest.mark.full
def test_every_operation_of_the_installed_package_is_right(prefix: Path, tmp_path: Path) -> None:
    program = tmp_path / "scheme_test"
    (library,) = prefix.glob("lib*/libringsmith_core.a")
    source = ROOT / "tests" / "core" / "scheme_test.cpp"
    run(CXX, "-std=c++20", "-O1", "-I", prefix / "include", source, library, "-o", program)
    n = 2048
    narrow = _core.prime_search(30, n, 2)
    expected = [*_core.prime_search(40, n, 1), narrow[1], narrow[0], *_core.prime_search(41, n, 1)]
    run(program, *expected)
