"""What ``ringsmith bench NAME`` does, in a clone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.page import page
from bench.record import Measurement, read_records, show, write_records
from bench.run import Choice, load, measure
from ringsmith.errors import ParameterError
from ringsmith.files import Target, check_targets

_WIDE = 140
"""Columns of a table of records, however narrow the terminal is."""


@dataclass(frozen=True)
class Files:
    """Files that a bench reads and writes.

    Attributes:
        keep: Records of an earlier run; None: none.
        json: Records to write, which may be the same file; None: none.
        page: The page to write; None: none.
        force: Whether files may be replaced.
    """

    keep: Path | None = None
    json: Path | None = None
    page: Path | None = None
    force: bool = False


def bench(
    name: str,
    only: str | None,
    values: list[str],
    files: Files,
    say: Callable[[str], None],
    *,
    quick: bool = False,
    update: bool = False,
) -> None:
    """Measures a bench, prints its records and writes its files.

    Raises ParameterError when a name or value is unknown, or options do not go together; ToolError
    when a tool is missing.

    Args:
        name: The bench.
        only: Parts by commas; None: the usual ones.
        values: ``NAME=VALUE`` in place of values of the bench's file.
        files: What is read and written.
        say: Takes lines for people.
        quick: Whether each kind of step is done at its smallest.
        update: Whether the repository's records are kept, and both of its files written.
    """
    of = load(name)
    if update:
        if quick or files != Files(force=files.force):
            raise ParameterError(
                "--update writes the repository's records and page: leave out --quick, --keep, "
                "--json and --page"
            )
        kept = of.records if of.records.exists() else None
        files = Files(kept, of.records, of.page_file, force=True)
    records, text = (
        None if path is None else Target(path, files.force) for path in (files.json, files.page)
    )
    check_targets(records, text, inputs=[] if files.keep == files.json else [files.keep])
    before = Measurement(name, "", ()) if files.keep is None else read_records(files.keep, name)
    parts = None if only is None else tuple(part.strip() for part in only.split(",") if part)
    choice = Choice(parts, _pairs(values), quick, records is not None or text is not None)
    found = measure(of, choice, before.records, say)
    console = Console()
    console.width = max(console.width, _WIDE)
    show(found, f"{name}: the papers' numbers and ours", console)
    words = _words(only, values, quick=quick, update=update)
    command = " ".join(["ringsmith bench", name, *words])
    if only == "none" and before.command:  # nothing but derived numbers is new
        command = before.command
    measurement = Measurement(name, command, tuple(found))
    if records is not None:
        write_records(measurement, records)
    if text is not None:
        text.write(page(of, measurement))


def _pairs(values: list[str]) -> Mapping[str, str]:
    """The values of --set. Raises ParameterError if one is not ``NAME=VALUE``."""
    found = {}
    for each in values:
        key, equals, value = each.partition("=")
        if not equals:
            raise ParameterError(f"--set {each}: write NAME=VALUE, such as device=rtl")
        found[key.strip()] = value
    return found


def _words(only: str | None, values: list[str], *, quick: bool, update: bool) -> list[str]:
    """Options as on a command line, but those of files that are not the repository's."""
    words = [] if only is None else [f"--only {only}"]
    words += [f"--set {each}" for each in values]
    return words + ["--quick"] * quick + ["--update"] * update
