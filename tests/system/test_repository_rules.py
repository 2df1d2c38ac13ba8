"""Rules of sources, pages and lock files: what breaks one is seen.

The rules themselves are in tests/rules.py and, for imports, in pyproject.toml.
"""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
import pytest
import yaml
from tests.rules import ROOT, broken_by, broken_links, broken_words, unlisted_pages, wide_blocks

import ringsmith
from ringsmith.backends.base import Design
from ringsmith.backends.registry import named_design
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.errors import RingsmithError
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters
from ringsmith.runtime import compile_graph


@pytest.mark.parametrize(
    ("name", "source", "line"),
    [
        ("runtime/x.py", "from ringsmith._core import secret", 1),
        ("runtime/x.py", "import ringsmith._core as core", 1),
        ("program/kit.py", "\nfrom ringsmith import _core\n_core.secret.decrypt()", 3),
        ("runtime/x.py", "if isinstance(given, CkksParameters):", 1),
        ("lower/x.py", "x = 1\nif scheme == 'bfv':", 2),
        ("runtime/x.py", "# of an RPAU", 1),
        ("cli/x.py", "if device == 'cpu':", 1),
        ("explore/x.py", "import ringsmith.backends.stream", 1),
        ("backends/vector/x.py", "all(user.op == 'ksk_inner_product' for user in users)", 1),
        ("backends/rpau/x.py", 'x = 1\nif node.op != "ksk_inner_product":', 2),
        ("backends/rpau/x.py", 'if user.op in {"mod_up", "ksk_inner_product"}:', 1),
        ("backends/rpau/x.py", 'SUMS = frozenset(\n    {"ksk_inner_product", "mul"}\n)', 2),
        ("schemes/x.py", "total = graph.ksk_inner_product(digits, key, half, numbers)", 1),
    ],
)
def test_a_source_that_breaks_a_rule_is_seen(name: str, source: str, line: int) -> None:
    (found,) = broken_by(source, name)
    assert found.startswith(f"python/ringsmith/{name}:{line}: ")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("client/x.py", "from ringsmith._core import secret\nsecret.decrypt()"),
        ("schemes/x.py", "if isinstance(given, CkksParameters):"),
        ("runtime/x.py", "isinstance(given, RlweParameters)"),
        ("backends/rpau/x.py", "from ringsmith.backends.rpau.design import RpauDesign"),
        ("backends/rpau/x.py", 'RULES = {"ksk_inner_product": _Selector.ksk_inner_product}'),
        ("backends/vector/x.py", "def _ksk_inner_product(self, node: SubroutineNode) -> None:"),
        ("graph/x.py", "first = graph.ksk_inner_product(digits, key, 0, numbers)"),
    ],
)
def test_a_source_that_breaks_no_rule_passes(name: str, source: str) -> None:
    assert list(broken_by(source, name)) == []


def test_pages_that_break_a_rule_are_seen(tmp_path: Path) -> None:
    table, page = tmp_path / "README.md", tmp_path / "a.md"
    table.write_text(
        "| [A](a.md) | x |\n| [B](b.md) | y |\n[web](https://example.org) [gone](z.md)"
    )
    page.write_text("[table](README.md)")
    (tmp_path / "c.md").write_text("")
    assert [line.split()[-3] for line in broken_links(table)] == ["b.md", "z.md"]
    assert list(broken_links(page)) == []
    titled = tmp_path / "titled.md"
    titled.write_text("# Cycles of `ntt`\n\n[here](#cycles-of-ntt), [gone](#memory)\n")
    assert [line.split()[-1] for line in broken_links(titled)] == ["#memory"]
    titled.unlink()
    assert [line.split()[-1] for line in unlisted_pages(tmp_path)] == ["b.md", "c.md"]
    block = f"text {'x' * 79}\n```sh\n{'x' * 78}\n{'x' * 79}\n```\n{'x' * 79}\n"
    assert [line.partition(": ")[0] for line in wide_blocks("a.md", block)] == ["a.md:4"]
    long = " ".join(["word"] * 60)
    assert len(list(broken_words({"page": f"Whoever reads it. {long}."}))) == 2
    assert list(broken_words({"page": "Short words. " * 60})) == []


FORBIDDEN = [
    ("program", "backends"),
    ("backends.rpau", "backends.vector"),
    ("backends.rpau", "program"),
    ("backends.rpau", "backends.registry"),
    ("backends.base", "backends.rpau"),
    ("hdl", "graph"),
    ("runtime", "client"),
    ("errors", "params"),
]

LINT = "lint_imports_command(['--no-cache'])"


def test_forbidden_imports_are_seen(tmp_path: Path) -> None:
    """In a copy of the package, whose modules import one more each."""
    shutil.copytree(
        ROOT / "python" / "ringsmith", tmp_path / "ringsmith", ignore=shutil.ignore_patterns("*.so")
    )
    for importer, imported in FORBIDDEN:
        path = tmp_path / "ringsmith" / importer.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        path.write_text(f"{path.read_text()}\nimport ringsmith.{imported}\n")
    # -S: without the finder of the editable installation, which would find the original
    found = [str(tmp_path), str(Path(grimp.__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {found}; from importlinter.cli import *; {LINT}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    for importer, imported in FORBIDDEN:
        line = rf"ringsmith\.{importer} (?:->|is not allowed to import) ringsmith\.{imported}\b"
        assert re.search(line, done.stdout), (importer, imported)


def included_headers(folder: str) -> Iterator[tuple[Path, str]]:
    """(file, header) of each #include in the C++ sources below a folder of the repository."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".cpp", ".h"}:
            for header in re.findall(r'^\s*#\s*include\s+["<]([^">]+)', path.read_text(), re.M):
                yield path, header


def test_core_includes_nothing_of_the_hardware() -> None:
    headers = list(included_headers("core"))
    hardware = re.compile(r"verilated|svdpi|^(\.\./)*(sim|model|rpau|rtl|harness)/")
    assert headers
    assert [pair for pair in headers if hardware.search(pair[1])] == []


def test_build_group_holds_what_the_build_system_requires() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) <= set(project["dependency-groups"]["build"])


@pytest.mark.parametrize("name", ["build", "run", "dev", "full"])
def test_a_lock_file_pins_versions_by_hash_and_names_no_registry(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    entries = re.split(r"\n(?=\S)", text)
    pinned = [entry for entry in entries if not entry.startswith("#")]
    assert pinned
    assert all("==" in entry and "--hash=sha256:" in entry for entry in pinned)
    assert not re.search(r"://|--index|--extra-index|--find-links", text)


def test_type_checkers_see_the_public_names() -> None:
    tree = ast.parse((ROOT / "python" / "ringsmith" / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        name.asname
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert seen == set(ringsmith.__all__) - {"__version__"}


# ---- The files that a forge, a citation and a hook read are as their schemas say -----------------


CHECKOUT = Path(__file__).resolve().parents[2]
SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.citation-file-format": "CITATION.cff",
}
MAKEFILE = (CHECKOUT / "Makefile").read_text()


def complaints(schema: str, files: list[Path]) -> str:
    """What check-jsonschema says of files; empty: nothing."""
    command = [Path(sys.prefix) / "bin" / "check-jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(("schema", "pattern"), SCHEMAS.items())
def test_the_forges_files_follow_their_schemas(schema: str, pattern: str, tmp_path: Path) -> None:
    files = sorted(CHECKOUT.glob(pattern))
    assert files
    assert complaints(schema, files) == ""
    wrong = tmp_path / files[0].name
    wrong.write_text("jobs: 1\nbody: 1\nauthors: 1\nblank_issues_enabled: 3\n")
    assert complaints(schema, [wrong]) != ""


def test_the_forges_files_call_tasks_that_the_makefile_has() -> None:
    files = [*CHECKOUT.glob(".github/workflows/*.yml"), CHECKOUT / ".pre-commit-config.yaml"]
    text = "\n".join(file.read_text() for file in files)
    tasks = {*re.findall(r"make ([a-z-]+)", text)} - {"perl"}
    assert {"check", "test", "test-full", "demo", "release"} <= tasks
    assert [task for task in tasks if not re.search(rf"^{task}:", MAKEFILE, re.M)] == []


def test_one_version_is_cited_built_and_released() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert yaml.safe_load((CHECKOUT / "CITATION.cff").read_text())["version"] == project["version"]
    assert f"version, {project['version']}," in (CHECKOUT / "CHANGELOG.md").read_text()


# ---- The README's table of schemes, operations and devices says what the compilers do ------------


README = Path(__file__).resolve().parents[2] / "README.md"
COLUMNS: Mapping[str, str] = {
    "`rpau`": "nano",
    "`rpau` with converters": "heaws-seal",
    "`stream`": "rpm",
    "`vector`": "vector-small",
}
BITS = {"nano": 40, "heaws-seal": 40, "rpm": 30, "vector-small": 30}
"""Of the primes of a set for each design."""


def table() -> list[tuple[str, str, list[str]]]:
    """Scheme, operations, and cells of each row."""
    part = README.read_text().partition("## What runs where")[2].partition("\n\n")[2]
    rows = re.findall(r"^\| (CKKS|BFV) \| (.+?) \| (.+) \|$", part, re.MULTILINE)
    return [(scheme, text, cells.split(" | ")) for scheme, text, cells in rows]


def parameters(scheme: str, design: Design, *, several: bool) -> RlweParameters:
    """A set that a design can hold; ``several``: with two primes a digit."""
    bits, n = BITS[design.name], 1 << design.log_n
    special = (bits, bits) if several else (bits,)
    if scheme == "CKKS":
        return CkksParameters.create(
            n=n,
            prime_bits=(bits,) * 4,
            special_bits=special,
            scale_bits=bits - 4,
            security=None,
        )
    return BfvParameters.create(
        n=n,
        prime_bits=(bits,) * 4,
        special_bits=special,
        plain_bits=17,
        security=None,
        multiplication="hps",
    )


def answer(scheme: str, operation: str, design: Design, *, several: bool) -> str:
    """What a design does with an operation: yes, no, products, or CPU."""
    of = parameters(scheme, design, several=several)
    graph = lower_operation(operation, of, of.limbs)
    try:
        executable = compile_graph(graph, design).executable
    except RingsmithError:
        return "no"
    if isinstance(executable, StreamExecutable):
        return "products" if executable.products else "CPU"
    return "yes"


@pytest.mark.parametrize("column", COLUMNS)
def test_the_table_says_what_a_design_computes(column: str) -> None:
    heads = re.search(r"^\| scheme \| operation \| (.+) \|$", README.read_text(), re.MULTILINE)
    assert heads is not None
    place = heads[1].split(" | ").index(column)
    design = named_design(COLUMNS[column])
    wrong = []
    for scheme, text, cells in table():
        for operation in re.findall(r"`(\w+)`", text):
            found = answer(scheme, operation, design, several="several primes" in text)
            if found != cells[place]:
                wrong.append((scheme, operation, found))
    assert wrong == []


def test_the_cpu_computes_all() -> None:
    assert {cells[0] for _, _, cells in table()} == {"yes"}
    assert len(table()) >= 8
