"""The layers of the C++ library are those of the table in docs/guide/cpp.md."""

import ast
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ringsmith
from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.backends.rpau.compiler import _scheduler
from ringsmith.backends.rpau.model import _model

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
PUBLIC = "ringsmith/"
WITHOUT_LAYER = "ringsmith/seal_bridge.h"
"""For programs that have Microsoft SEAL: it includes nothing of the library."""


@dataclass(frozen=True)
class Layer:
    """A row of the table: public headers, and the layers and single headers that it may use."""

    headers: frozenset[str]
    uses: frozenset[str]


def names(cell: str) -> frozenset[str]:
    """What a cell of the table has in backquotes."""
    return frozenset(re.findall(r"`([^`]+)`", cell))


def table() -> dict[str, Layer]:
    """The layers by name, in the order of the table."""
    page = (ROOT / "docs" / "guide" / "cpp.md").read_text().partition("## Layers")[2]
    layers = {}
    for row in re.findall(r"^\| `.*\|$", page, re.M):
        name, _, headers, uses = row.strip("|").split("|")
        own = frozenset(PUBLIC + header for header in names(headers))
        layers[name.strip(" `")] = Layer(own, names(uses))
    return layers


LAYERS = table()
LAYER_OF_HEADER = {header: name for name, layer in LAYERS.items() for header in layer.headers}


def files() -> Iterator[tuple[Path, str]]:
    """(file, layer) of every source and of every public header that is of a layer."""
    for path in sorted((CORE / "src").rglob("*.*")):
        yield path, path.parent.name
    for header, layer in LAYER_OF_HEADER.items():
        yield CORE / "include" / header, layer


def layer_of(header: str, includer: str) -> str:
    """The layer of a header as it is written in an #include of a file of layer `includer`."""
    if header.startswith(PUBLIC):
        return LAYER_OF_HEADER[header]
    folder, slash, _ = header.partition("/")
    return folder if slash else includer


def offences(source: str, layer: str) -> list[str]:
    """The headers that a source of a layer includes and may not."""
    uses = LAYERS[layer].uses
    return [
        header
        for header in re.findall(r'^#include "([^"]+)"', source, re.M)
        if layer_of(header, layer) not in {layer, *uses} and header.removeprefix(PUBLIC) not in uses
    ]


def test_every_folder_and_every_public_header_is_in_the_table_once() -> None:
    assert {path.name for path in (CORE / "src").iterdir()} == set(LAYERS)
    headers = {f"{PUBLIC}{path.name}" for path in (CORE / "include" / "ringsmith").iterdir()}
    assert headers - {WITHOUT_LAYER} == set(LAYER_OF_HEADER)
    assert sum(len(layer.headers) for layer in LAYERS.values()) == len(LAYER_OF_HEADER)


def test_a_source_lies_in_the_layer_of_its_header() -> None:
    wrong = [
        path
        for path, layer in files()
        if LAYER_OF_HEADER.get(f"{PUBLIC}{path.stem}.h", layer) != layer
    ]
    assert wrong == []


def test_layers_use_only_layers_that_stand_above_them() -> None:
    above: set[str] = set()
    for name, layer in LAYERS.items():
        assert {used for used in layer.uses if not used.endswith(".h")} <= above
        above.add(name)


def test_files_include_only_headers_of_layers_that_they_may_use() -> None:
    found = {str(path): offences(path.read_text(), layer) for path, layer in files()}
    assert {path: headers for path, headers in found.items() if headers} == {}


def test_an_include_of_another_layer_is_found() -> None:
    source = '#include "rlwe.h"\n#include "ringsmith/ckks.h"\n#include "graph/graph_plan.h"\n'
    assert offences(source, "rlwe") == ["ringsmith/ckks.h", "graph/graph_plan.h"]
    assert offences('#include "ringsmith/modulus.h"\n', "simd") == []
    assert offences('#include "ringsmith/ntt.h"\n', "simd") == ["ringsmith/ntt.h"]


# ---- The stubs of the compiled module say what the module has: names, arguments, their order -----


STUBS = Path(ringsmith.__file__).parent


def signature(function: object) -> list[str]:
    """Argument names of a compiled function, from the first line of its documentation."""
    first_line = function.__doc__.splitlines()[0]
    arguments = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", first_line))
    inside = arguments[arguments.index("(") + 1 : arguments.rindex(") ->")]
    return [part.split(":")[0].split("=")[0].strip() for part in inside.split(", ") if part]


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("_core/__init__.pyi", _core),
        ("_core/bfv.pyi", bfv),
        ("_core/secret.pyi", secret),
        ("backends/rpau/compiler/_scheduler.pyi", _scheduler),
        ("backends/rpau/model/_model.pyi", _model),
    ],
    ids=["core", "bfv", "secret", "scheduler", "model"],
)
def test_stub_and_module_agree(file: str, module: ModuleType) -> None:
    public = {name for name in dir(module) if not name.startswith("_")}
    declared = set()
    for node in ast.parse((STUBS / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            declared.add(node.name)
            names = [argument.arg for argument in node.args.args]
            if node.args.kwonlyargs:
                names += ["*", *(argument.arg for argument in node.args.kwonlyargs)]
            assert signature(getattr(module, node.name)) == names, node.name
        elif isinstance(node, ast.ClassDef):
            declared.add(node.name)
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            found = {n for n in vars(getattr(module, node.name)) if not n.startswith("_")}
            assert {name for name in methods if not name.startswith("_")} == found
        elif isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            declared.add(node.target.id)
    assert declared == public - {"bfv", "secret"}


# The C++ library as a package: installed headers, find_package, the example, every operation


CHECKOUT = Path(__file__).parents[2]
CXX = os.environ.get("CXX", "g++")
TOOLS = Path(sys.executable).parent


def run(*command: object, cwd: Path = CHECKOUT) -> str:
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
    run("cmake", "-G", "Ninja", "-S", CHECKOUT, "-B", build, "-DRINGSMITH_PYTHON=OFF")
    run("cmake", "--build", build, "--target", "ringsmith_core")
    run("cmake", "--install", build, "--prefix", installed)
    return installed


@pytest.mark.full
def test_the_examples_build_against_the_installed_package_and_are_right(
    prefix: Path, tmp_path: Path
) -> None:
    source = CHECKOUT / "examples" / "cpp"
    run("cmake", "-G", "Ninja", "-S", source, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    printed = run(tmp_path / "ckks_basics")
    assert printed.startswith("limbs 2, scale 2^40")
    assert run(tmp_path / "bfv_basics").endswith("wrong slots 0\n")


def built_against(prefix: Path, source: str, program: Path) -> Path:
    """A test program, linked with the installed library."""
    (library,) = prefix.glob("lib*/libringsmith_core.a")
    path = CHECKOUT / "tests" / "core" / source
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


# What errors are drawn from: SEAL's centred binomial distribution, or a rounded Gaussian one


N = 4096


def drawn(context: _core.Context, count: int) -> np.ndarray:
    """Errors of fresh encryptions of zero, as integers."""
    q, root = context.primes[0], context.roots[0]
    key = secret.generate_secret_key(context)
    zero = np.zeros((1, N), dtype=np.uint64)
    errors = []
    for _ in range(count):
        cipher = secret.encrypt_symmetric(context, key, zero)
        error = _core.ntt_inverse(secret.decrypt(context, key, cipher)[0], q, root)
        errors.append(np.where(error > q // 2, error.astype(np.int64) - q, error.astype(np.int64)))
    return np.concatenate(errors)


@pytest.mark.parametrize("deviation", [1.0, 3.2, 102.0, 1024.0])
def test_errors_of_a_deviation_are_rounded_gaussian_ones(deviation: float) -> None:
    context = _core.Context(N, _core.prime_search(40, N, 1), 0, 0, deviation)
    assert context.error_deviation == deviation
    assert 8.8 * deviation < context.error_bound < 9.1 * deviation + 1
    error = drawn(context, 20)
    assert np.abs(error).max() <= context.error_bound
    variance = deviation**2 + 1 / 12  # rounding adds a twelfth
    assert abs(error.mean()) < 6 * (variance / error.size) ** 0.5
    assert abs(error.var() / variance - 1) < 6 * (2 / error.size) ** 0.5
    for k in (0, 1, round(deviation), round(2 * deviation)):  # the distribution, point by point
        expected = math.erf((k + 0.5) / deviation / 2**0.5)
        spread = (expected * (1 - expected) / error.size) ** 0.5
        assert abs((np.abs(error) <= k).mean() - expected) <= 6 * spread


def test_errors_are_seals_unless_a_deviation_is_named() -> None:
    context = _core.Context(N, _core.prime_search(40, N, 1), 0)
    assert context.error_deviation == pytest.approx(10.5**0.5, abs=1e-15)
    assert context.error_bound == 21
    assert np.abs(drawn(context, 5)).max() <= 21


@pytest.mark.parametrize("deviation", [-1.0, 0.99, 1024.5, math.nan, math.inf])
def test_another_deviation_is_refused(deviation: float) -> None:
    with pytest.raises(_core.ParameterError, match=r"is outside 1 ... 1024: take one inside"):
        _core.Context(N, _core.prime_search(40, N, 1), 0, 0, deviation)
