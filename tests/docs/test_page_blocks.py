"""What pages show: Python that can be compiled, names that exist, commands with options that exist.

Pages with a test of their own run their programs; this one reads the blocks of every page.
"""

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from ringsmith.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_of_a_page_compiles_and_its_imports_exist(page: Path) -> None:
    for block in blocks(page, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ringsmith"):
                module = import_module(str(node.module))
                for name in node.names:
                    if not hasattr(module, name.name):
                        import_module(f"{node.module}.{name.name}")


def command_lines(page: Path) -> Iterator[list[str]]:
    """The commands ``ringsmith …`` of a page's shell blocks, without what is piped or commented."""
    for block in [*blocks(page, "sh"), *blocks(page, "console")]:
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"^\$? ?(?:\.venv/bin/)?ringsmith (.*)$", line.partition(" #")[0])
            if found and "OPTIONS" not in found[1]:
                yield shlex.split(re.split(r" [|>&] | && ", found[1])[0])


def unknown(words: list[str]) -> str:
    """What of a command line does not exist; empty: nothing."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        while rest and rest[0].startswith("--"):  # of all commands
            del rest[: 1 if "=" in rest[0] or rest[0] == "--version" else 2]
        if not rest:
            return ""
        known = command.commands.get(rest[0])
        if known is None:
            return f"{rest[0]} of {words}"
        command, rest = known, rest[1:]
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    wrong = [w for w in rest if re.match(r"^--?[a-z]", w) and w.partition("=")[0] not in options]
    return f"{', '.join(wrong)} of {words}" if {*wrong} - {"--help"} else ""


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_of_a_page_have_the_options_that_they_show(page: Path) -> None:
    assert [found for words in command_lines(page) if (found := unknown(words))] == []


def test_commands_are_found_and_wrong_ones_are_seen() -> None:
    assert sum(1 for page in PAGES for _ in command_lines(page)) > 40
    assert unknown(["bench", "medha", "--only", "x"]) == ""
    assert "--sun" in unknown(["bench", "medha", "--sun"])
    assert "moon" in unknown(["run", "moon"])
