"""``make check``: the tests of what a change touches and of its direct users, nearest first.

``python tests/check.py [PATH ...]`` takes the files below the paths; without paths, the files that
differ from the branch ``main`` or are not committed. A module's tests import it; its users are the
modules that import it or, if it has the name from there, its package. A file of another kind has
the tests and the users that contain its name, the tests that rtl/README.md lists, and ``TESTS_OF``.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
TESTS_OF = {
    "core/": "tests/core",
    "sim/rpau/": "tests/backends/rpau",
    "sim/vector/": "tests/backends/vector",
    "sim/hdl/": "tests/hdl",
    "docs/": "tests/docs",
    "README.md": "tests/docs",
    "examples/": "tests/docs",
    "python/ringsmith/designs/": "tests/debug/test_debug_designs.py",
    "pyproject.toml": "tests/system/test_repository_rules.py",
}
"""Start of a file's path -> the folder or file of its tests."""

PROCESSES = 2
SECONDS = 30.0
"""What the tests may take together; the rest of a minute is lint and the start of processes."""
UNKNOWN = 0.5
"""Seconds of a function of tests that has not run yet."""


def changed_files(paths: list[str]) -> list[str]:
    """Files below paths, or those that differ from main, from the repository's root on."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    others = ["ls-files", "--others", "--exclude-standard"]
    if paths:
        return git(*others, "--cached", "--", *(str(Path(path).resolve()) for path in paths))
    main = git("branch", "--list", "main", "--format=%(refname)")
    base = git("merge-base", "HEAD", main[0])[0] if main else "HEAD"
    return git("diff", "--name-only", base) + git(*others)


def module_of(file: str) -> str:
    """The dotted name of a Python file's module."""
    path = file.removeprefix("python/").removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


def file_of(module: str) -> Path:
    """The file of a module, unless it is a package."""
    return ROOT / ("python" if module.startswith("ringsmith") else "") / module.replace(".", "/")


class Selection:
    """Tests by their distance from changed files: 0 changed, 1 tests of a change, 2 of a user."""

    def __init__(self, files: Iterable[str]) -> None:
        sys.path.insert(0, str(ROOT))  # where grimp looks for the package "tests"
        self.graph = grimp.build_graph("ringsmith", "tests", cache_dir=None)
        self.distance: dict[str, int] = {}
        self.mirrors: tuple[str, ...] = ()
        for file in files:
            self._add_file(file)

    def ordered(self) -> list[str]:
        """Files of tests, nearest first.

        Of equals, those in the folder that mirrors a change, then those with the fewest imports.
        """
        imports = self.graph.find_modules_directly_imported_by
        tests = [each for each in self.distance if Path(each).match("test_*.py")]
        mirrored = {each: each.startswith(self.mirrors) for each in tests}
        key = {t: (self.distance[t], not mirrored[t], len(imports(module_of(t)))) for t in tests}
        return sorted(tests, key=key.__getitem__)

    def _add_file(self, file: str) -> None:
        self._note(file, 0)
        if Path(file).name in ("conftest.py", "fixtures.py"):
            self._note(str(Path(file).parent), 1)
        if module_of(file) in self.graph.modules:
            return self._add_module(module_of(file))
        name = Path(file).stem if file.endswith(".sv") else Path(file).name
        named = re.compile(rf"\b{re.escape(name)}\b")
        for module in self.graph.modules:
            source = file_of(module).with_suffix(".py")
            if source.exists() and named.search(source.read_text()):
                self._note(str(source.relative_to(ROOT)), 1)
                self._add_module(module)
        mirror = Path(file.replace("python/ringsmith", "tests", 1)).parent
        near = [str(each) for each in (mirror, *mirror.parents) if (ROOT / each).is_dir()][:1]
        tests = near if file.startswith("python/") and near != ["tests"] else []
        for test in [*tests, *(t for start, t in TESTS_OF.items() if file.startswith(start))]:
            self._note(test, 1)
        for test in block_tests(Path(file).stem) if file.startswith("rtl/") else ():
            self._note(test, 1)

    def _add_module(self, module: str) -> None:
        users = self.graph.find_modules_that_directly_import(module)
        package = module.rpartition(".")[0]
        if package in users and package != "ringsmith":
            users |= self.graph.find_modules_that_directly_import(package)
        self._note_importers(module, 1)
        for user in users:
            if user.startswith("ringsmith."):
                self._note_importers(user, 2)
        if package.startswith("ringsmith."):
            self.mirrors += (package.replace("ringsmith", "tests", 1).replace(".", "/"),)

    def _note_importers(self, module: str, distance: int) -> None:
        """Notes the tests that import a module, or import it through a helper of the tests."""
        for user in self.graph.find_modules_that_directly_import(module):
            file = user.replace(".", "/") + ".py"
            if user.startswith("tests.") and self.distance.get(file, 3) > distance:
                self._note(file, distance)
                self._note_importers(user, distance)

    def _note(self, test: str, distance: int) -> None:
        below = [str(each.relative_to(ROOT)) for each in (ROOT / test).rglob("test_*.py")]
        for each in below if (ROOT / test).is_dir() else [test]:
            self.distance[each] = min(distance, self.distance.get(each, distance))


def block_tests(block: str) -> set[str]:
    """Tests of a block, or of the blocks that have it inside, as rtl/README.md lists them."""
    row = re.search(rf"^\| \[`{block}`\].*\| (.*) \|$", (ROOT / "rtl/README.md").read_text(), re.M)
    around = re.findall(r"`(rs_\w+)`", row[1]) if row else []
    found = {test for each in around for test in block_tests(each)}
    return found | set(re.findall(r"\(\.\./(tests/[\w/]+\.py)\)", row[1] if row else ""))


def within(seconds: float, tests: list[str]) -> list[str]:
    """What pytest is given: files, and tests to leave out, by the seconds that they took last."""
    kept = ROOT / ".pytest_cache/v/ringsmith/seconds"
    times: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    words: list[str] = []
    for file in tests:
        functions = (ROOT / file).read_text().count("def test_")
        known = {name: took for name, took in times.items() if name.startswith(f"{file}::")}
        known = known or {file: UNKNOWN * functions}
        over = []
        for name, took in known.items():
            over += [name] if took > seconds else []
            seconds -= took if took <= seconds else 0
        if over:
            left = sum(known[name] for name in over)
            print(f"left out: {file}, {len(over)} of {len(known)} tests, {left:.0f} s")
        words += [file, *(f"--deselect={name}" for name in over)] if len(over) < len(known) else []
    return words


def main(paths: list[str]) -> int:
    """Runs the tests; returns pytest's exit status."""
    files = changed_files(paths)
    tests = Selection(files).ordered()
    selected = within(PROCESSES * SECONDS, tests)
    print(f"changed: {len(files)} files; near them: {len(tests)} files of tests", flush=True)
    words = [sys.executable, "-m", "pytest", "-q", f"-n{PROCESSES}", "--dist=worksteal", *selected]
    return subprocess.run(words, cwd=ROOT, check=False).returncode if selected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
