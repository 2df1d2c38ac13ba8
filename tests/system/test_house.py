"""The rules that keep Ringsmith one house: which room may import which, and what files look like.

The import rules are the table "Packages" of docs/reference/packages.md, which is read here.
Imports are read from the syntax tree, so one inside a function or under TYPE_CHECKING counts as
well. The checker is tested on small offending sources of its own.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "ringsmith"

SECRET_KEY_CODE = "_core.secret"  # noqa: S105 - a module, not a password
"""What touches the secret key; even a room that may import everything may not import this."""

PAGE = ROOT / "docs" / "reference" / "packages.md"
EVERYTHING = frozenset({"everything"})


def import_rules(page: str) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Reads the table "Packages" of a page.

    Returns:
        Room -> what it may import of ours, besides itself, "" being ``ringsmith/__init__.py``; and
        what every room may import.
    """
    table = page.partition("## Packages")[2].partition("| `rtl/` |")[0]
    rules: dict[str, frozenset[str]] = {}
    anybodys: set[str] = set()
    for rooms, _, cell in re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$", table, re.M):
        if cell == "the same":  # a folder of the row above
            continue
        named = re.findall(r"`(?:python/ringsmith/)?([\w/]+?)(?:\.py|/)?`", rooms)
        allowed = EVERYTHING if cell == "everything" else re.findall(r"`([\w.]+)`", cell)
        rules |= dict.fromkeys(("" if n == "__init__" else n for n in named), frozenset(allowed))
        if cell.endswith("every package may import it"):
            anybodys.update(named)
    return rules, frozenset(anybodys)


MAY_IMPORT, _ANYBODYS = import_rules(PAGE.read_text())
ANYBODYS = _ANYBODYS | {"__version__"}

FOR_EVERY_BACKEND = frozenset(
    f"backends.{name}"
    for name in (
        *("base", "explorer", "cards", "exporter", "fair_queue", "inspector", "jobs", "keys"),
        *("random_operands", "timeline", "types"),
    )
)
"""What lies in ``backends/`` itself and is no backend's; the registry is not among it."""

EXCEPTIONS = {"program.kit": "client", "program": "schemes"}
"""Module -> what it alone of its package may import.

A client kit uses the client's functions. It does so inside functions only, so that nothing is
imported until a client calls them: ``test_secret_key.py`` runs a program in a process of its own
and looks. ``program/__init__.py`` shows type checkers which names of the schemes can be imported
from it; at run time they come by ``program/late.py``."""


def room_of(name: str) -> str:
    """Room of a dotted name below ``ringsmith``; each architecture is a room of its own.

    >>> room_of("graph.subroutines"), room_of("backends.rpau.isa.kinds"), room_of("_core.secret.d")
    ('lower', 'backends.rpau', '_core.secret')
    """
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "backends" or name.startswith(SECRET_KEY_CODE) else 1])


def our_imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name below ``ringsmith``) of everything of ours that a source reaches.

    Attributes of the compiled core count too, since ``secret`` is one. A relative import is
    yielded as it is written, dots and all.
    """
    names: list[tuple[int, str]] = []
    core_names = {"ringsmith._core"}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            dots = "." * getattr(node, "level", 0)
            origin = f"{dots}{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                names.append((node.lineno, origin + alias.name))
                if origin + alias.name == "ringsmith._core":
                    core_names.add(alias.asname or alias.name)
        elif isinstance(node, ast.Call) and node.args:
            called, first = ast.unparse(node.func), node.args[0]
            if called.endswith(("import_module", "__import__")) and isinstance(first, ast.Constant):
                names.append((node.lineno, str(first.value)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in core_names:
            names.append((node.lineno, f"ringsmith._core.{node.attr}"))
    for line, name in names:
        if name.startswith(("ringsmith.", ".")):
            yield line, name.removeprefix("ringsmith.")


def offences(source: str, module: str) -> list[str]:
    """Imports in a source that the house forbids, as sentences; empty when there are none.

    Args:
        source: Python source text.
        module: Dotted name of the source's module below ``ringsmith``; "" for
            ``ringsmith/__init__.py``.
    """
    room = room_of(module)
    allowed = MAY_IMPORT.get(module.split(".")[0])
    if allowed is None:
        return [f"{room}: not in the table of docs/reference/packages.md; add it there"]
    found = []
    for line, name in our_imports(source):
        target = room_of(name)
        if target in {room, *ANYBODYS}:
            continue
        general = "backends" if target.startswith("backends.") else target
        if room.startswith("backends.") and target in FOR_EVERY_BACKEND:
            continue
        if EXCEPTIONS.get(module) == target:
            continue
        if general in allowed or (allowed == EVERYTHING and target != SECRET_KEY_CODE):
            continue
        found.append(f"line {line}: {module or 'ringsmith'} may not import {name}")
    return found


def test_rules_are_read_from_the_page_s_table() -> None:
    assert MAY_IMPORT["params"] == {"_core"}
    assert MAY_IMPORT["hdl"] == MAY_IMPORT["core"] == frozenset()
    assert MAY_IMPORT["apps"] == EVERYTHING
    assert MAY_IMPORT[""] >= {"tracing", "params"}
    assert {"errors", "files"} <= ANYBODYS <= {*MAY_IMPORT, "__version__"}
    assert [room for room, names in MAY_IMPORT.items() if SECRET_KEY_CODE in names] == ["client"]
    named = frozenset().union(*MAY_IMPORT.values()) - {*EVERYTHING, "_core", SECRET_KEY_CODE}
    assert named <= {*MAY_IMPORT, *ANYBODYS}
    there = {path.stem for path in PACKAGE.glob("*.py")} | {p.name for p in PACKAGE.iterdir()}
    assert MAY_IMPORT.keys() - {"", "core"} <= there


def python_files() -> list[Path]:
    """Every Python source and stub of the package but the compiled core's own stubs."""
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]
    return sorted(path for path in files if PACKAGE / "_core" not in path.parents)


def module_of(path: Path) -> str:
    """Dotted name below ``ringsmith`` of a file's module."""
    return (
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip(".")
    )


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    assert not offences(path.read_text(), module_of(path))


def test_rooms_import_each_other_in_no_circle() -> None:
    reached: dict[str, set[str]] = {}
    for path in python_files():
        room = room_of(module_of(path))
        if room:  # ringsmith/__init__.py hands out everybody's names
            found = {room_of(name) for _, name in our_imports(path.read_text())}
            found -= {room, EXCEPTIONS.get(module_of(path)), *ANYBODYS}
            reached.setdefault(room, set()).update(found)
    assert list(TopologicalSorter(reached).static_order())


FLOOR = ("isa", "design", "model", "compiler", "device", "card", "debug", "export")
"""The folders of an architecture, each above those that it may import; ``isa`` and ``design`` are
on one level, in an order of each architecture."""


@pytest.mark.parametrize("architecture", ["rpau", "stream", "vector"])
def test_folders_of_an_architecture_import_one_way(architecture: str) -> None:
    folder = PACKAGE / "backends" / architecture
    reached: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        for _, name in our_imports(path.read_text()):
            if name.startswith(f"backends.{architecture}.") and name.split(".")[2] != own:
                reached.setdefault(own, set()).add(name.split(".")[2])
    assert list(TopologicalSorter(reached).static_order())
    upward = {
        (own, other)
        for own, others in reached.items()
        for other in others & set(FLOOR)
        if own in FLOOR and FLOOR.index(other) > max(1, FLOOR.index(own))
    }
    assert upward == set()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("program", "from ringsmith.backends.rpau import design"),
        ("lower", "def f():\n    import ringsmith.backends"),
        ("backends.rpau", "from ringsmith.backends.vector.design.design import VectorDesign"),
        ("backends.rpau.design", "import ringsmith.backends.vector.design.design"),
        ("backends.rpau", "from ringsmith.program import trace"),
        ("backends.rpau", "from ringsmith.backends.registry import backend"),
        ("backends.base", "from ringsmith.backends.rpau.design.design import RpauDesign"),
        ("hdl", "from ringsmith.graph.subroutines import SubroutineGraph"),
        ("hdl", "from ringsmith import params"),
        ("program", "from ringsmith.tracing import trace"),
        ("hdl", "import importlib\nimportlib.import_module('ringsmith.client')"),
        ("client", "from ringsmith.runtime import run"),
        ("runtime", "from ringsmith.client import SecretKey"),
        ("runtime", "from ringsmith._core import secret"),
        ("runtime", "from ringsmith._core.secret import decrypt"),
        ("cli", "import ringsmith._core.secret"),
        ("apps.logreg", "import ringsmith._core as core\ncore.secret.decrypt()"),
        ("apps.logreg", "from ringsmith import _core\n_core.secret.decrypt()"),
        ("objects", "from .params import CkksParameters"),  # relative: written in full here
        ("errors", "if TYPE_CHECKING:\n    from ringsmith.params import CkksParameters"),
        ("program.graph", "from ringsmith.client import SecretKey"),
        ("program.kit", "from ringsmith._core import secret"),
        ("attic", "import numpy"),
    ],
)
def test_the_checker_sees_a_forbidden_import(module: str, source: str) -> None:
    assert len(offences(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("client", "from ringsmith._core import secret\nsecret.decrypt()"),
        ("backends.rpau", "from ringsmith.backends.rpau.design.design import RpauDesign"),
        ("backends.rpau.isa.instruction_set", "from ringsmith.backends.rpau import design"),
        ("backends.rpau", "from ringsmith.graph.subroutines import SubroutineGraph"),
        ("backends.rpau", "from ringsmith.backends.base import Backend"),
        ("runtime", "import ringsmith.backends.rpau.device.rtl\nfrom ringsmith import __version__"),
        ("cli", "from ringsmith.client import generate_keys"),
        ("program", "import numpy\nfrom ringsmith.errors import ProgramError"),
        ("program.kit", "def f():\n    from ringsmith.client import encrypt_vector"),
        ("", "from ringsmith.program import trace"),
    ],
)
def test_the_checker_lets_an_allowed_import_pass(module: str, source: str) -> None:
    assert offences(source, module) == []


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


@pytest.mark.parametrize("name", ["build", "run", "service", "dev", "full", "docs"])
def test_a_lock_file_pins_versions_by_hash_and_names_no_registry(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    entries = re.split(r"\n(?=\S)", text)
    pinned = [entry for entry in entries if not entry.startswith("#")]
    assert pinned
    assert all("==" in entry and "--hash=sha256:" in entry for entry in pinned)
    assert not re.search(r"://|--index|--extra-index|--find-links", text)


SCHEME_QUESTION = re.compile(
    r"isinstance\([^()]*, *\(?[^()]*\b(?:Auto)?(?:Bfv|Ckks)?Parameters\b(?<!Rlwe)|"
    r"scheme *[=!]= *[\"']|[\"'](?:ckks|bfv)[\"'] *[=!]=|isinstance\([^()]*\b(?:Bfv|Ckks)\w+"
)
"""What asks which scheme it is."""

MAY_ASK = ("params", "schemes", "client/checks.py", "apps/gmdh")
"""The schemes themselves, their parameters, the client's check of a scheme's own functions, and an
application that is written for each scheme."""


def test_only_schemes_ask_which_scheme_it_is() -> None:
    found = {
        str(path.relative_to(PACKAGE)): SCHEME_QUESTION.findall(path.read_text())
        for path in python_files()
        if not str(path.relative_to(PACKAGE)).startswith(MAY_ASK)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


ARCHITECTURE_WORDS = re.compile(
    r"rpau|StreamDesign|StreamExecutable|StreamMachine|[=!]= *[\"']cpu[\"']|[\"']cpu[\"'] *[=!]=",
    re.IGNORECASE,
)
"""What names an architecture, or asks for the reference by its name."""

MAY_NAME = (
    "backends/rpau",
    "backends/stream",
    "backends/registry.py",
)
"""An architecture's own folder, and the list of them."""


def named_architectures(path: Path) -> list[str]:
    """Lines of a source, comments included, that name an architecture or import one."""
    own = re.compile(r"ringsmith\.backends\.(rpau|stream|cpu)\b")
    lines = path.read_text().splitlines()
    return [line for line in lines if ARCHITECTURE_WORDS.search(line) or own.search(line)]


def test_an_architecture_is_named_in_its_folder_alone() -> None:
    found = {
        str(path.relative_to(PACKAGE)): named_architectures(path)
        for path in python_files()
        if not str(path.relative_to(PACKAGE)).startswith(MAY_NAME)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_named_architecture_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "x = 1\n# of an RPAU\nif device == 'cpu':\n    import ringsmith.backends.cpu\n"
    )
    assert len(named_architectures(source)) == 3


def test_results_are_remembered_by_the_decorator_that_keeps_signatures() -> None:
    hidden = re.compile(r"functools import .*\bcache\b|functools\.cache\b")
    users = [p for p in python_files() if hidden.search(p.read_text()) and p.stem != "caching"]
    assert users == []


def test_commands_print_by_print_which_every_terminal_can_show() -> None:
    """``typer.echo`` writes UTF-8 where a terminal says that it shows ASCII alone."""
    assert [p for p in python_files() if "typer.echo" in p.read_text()] == []


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if "://" not in target
    ]
    assert links
    assert [pair for pair in links if not (pair[0].parent / pair[1]).exists()] == []


def test_the_table_of_pages_has_every_page() -> None:
    docs = ROOT / "docs"
    table = (docs / "README.md").read_text()
    pages = {str(path.relative_to(docs)) for path in docs.glob("**/*.md")} - {"README.md"}
    assert pages == set(re.findall(r"^\| \[[^\]]+\]\(([a-z].+?\.md)\) \|", table, re.M))
