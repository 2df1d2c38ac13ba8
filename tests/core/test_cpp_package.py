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


@pytest.mark.parametrize(
    "source",
    [
        "examples/cpp/ckks_basics.cpp",
        "examples/cpp/bfv_basics.cpp",
        "tests/core/scheme_test.cpp",
        "tests/core/bfv_scheme_test.cpp",
    ],
)
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
def test_the_examples_build_against_the_installed_package_and_are_right(
    prefix: Path, tmp_path: Path
) -> None:
    source = ROOT / "examples" / "cpp"
    run("cmake", "-G", "Ninja", "-S", source, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    printed = run(tmp_path / "ckks_basics")
    assert printed.startswith("limbs 2, scale 2^40")
    assert run(tmp_path / "bfv_basics").endswith("wrong slots 0\n")


def built_against(prefix: Path, source: str, program: Path) -> Path:
    """A test program, linked with the installed library."""
    (library,) = prefix.glob("lib*/libringsmith_core.a")
    path = ROOT / "tests" / "core" / source
    run(CXX, "-std=c++20", "-O1", "-I", prefix / "include", path, library, "-o", program)
    return program


@pytest.mark.full
def test_every_ckks_operation_of_the_installed_package_is_right(
    prefix: Path, tmp_path: Path
) -> None:
    program = built_against(prefix, "scheme_test.cpp", tmp_path / "scheme_test")
    n = 2048
    narrow = _core.prime_search(30, n, 2)
    expected = [*_core.prime_search(40, n, 1), narrow[1], narrow[0], *_core.prime_search(41, n, 1)]
    run(program, *expected)


@pytest.mark.full
def test_every_bfv_operation_of_the_installed_package_is_right(
    prefix: Path, tmp_path: Path
) -> None:
    run(built_against(prefix, "bfv_scheme_test.cpp", tmp_path / "bfv_scheme_test"))
