"""Writes docs/reference/commands.md: ``python -m ringsmith.cli.commands_page``, in a checkout."""

import re
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from ringsmith.cli.main import app

PAGE = Path("docs") / "reference" / "commands.md"
_OPENING = """<!-- Generated from the commands' own help by `python -m ringsmith.cli.commands_page`;
do not edit. -->

# Commands

After reading this page you can look up every command of `ringsmith`, its arguments and its options.

A command replaces a file only with `--force`, and never a key or a file that it reads. A file
appears whole or not at all. `--design` takes the name of a design or the path of a TOML file. An
error ends a command with exit code 2 and one line: the value, the limit and what to do. Every
command has `--help`.
"""


def page() -> str:
    """Returns the page."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="ringsmith")
    text = get_docs_for_click(obj=command, ctx=context, name="ringsmith")
    text = re.sub(r"(?m)^(#+) ", r"#\1 ", text)  # the page has a title of its own
    text = re.sub(r"(?m)^\*\*(.+)\*\*:$", r"\1:", text)
    text = re.sub(r"(?m)^\* `--help`: .*\n", "", text)  # the opening says it once
    text = re.sub(r"(?m)^Commands:\n\n((?:\* .*\n)+)", _names, text)
    text = re.sub(r"(?m)^Options:\n\n(?=\n|\Z)", "", text)
    return f"{_OPENING}\n{text.strip()}\n"


def _names(listed: re.Match[str]) -> str:
    """The commands below by name: their sections say what they do."""
    return f"Commands: {', '.join(re.findall(r'`[^`]+`', listed[1]))}.\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
