"""Rules of sources, pages and lock files: what breaks one is seen.

The rules themselves are in tests/rules.py and, for imports, in pyproject.toml.
"""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from tests.rules import ROOT, broken_by, broken_links, broken_words, unlisted_pages, wide_blocks

import ringsmith


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
