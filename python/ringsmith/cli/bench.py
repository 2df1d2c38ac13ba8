"""``ringsmith bench``: measurements compared with papers and other libraries, in a clone."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.options import Force
from ringsmith.errors import ParameterError
from ringsmith.progress import note

_CLONE = Path(__file__).resolve().parents[3]
"""The clone that this file lies in, where it lies in one."""


def bench(
    name: Annotated[
        str, typer.Argument(help="The bench: a file of `bench/cases`, such as nano or cpu.")
    ],
    only: Annotated[
        str | None,
        typer.Option(
            metavar="PARTS",
            help="Measure these parts of the bench, by commas; without it all that do not take "
            "long. `none` measures no part.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A value in place of that of the bench's file, such as device=rtl; lists by "
            "commas. May be repeated.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Each kind of step, at its smallest: shows that all of it works here, and no "
            "numbers to quote.",
        ),
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Records of an earlier run: what is not measured now stays."
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the records here, too: JSON Lines, which --keep reads again.",
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a Markdown page here, too.")
    ] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update", help="Keep and write the repository's records, and write its page."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Measure Ringsmith, compared with papers and other libraries; runs in a clone alone.

    Benches are not in the installed package. Their records and pages are in the repository.
    """
    if not (_CLONE / "bench" / "command.py").exists():
        raise ParameterError(
            "benches are in no installed package: clone the repository, 'make setup', and call "
            f"'.venv/bin/ringsmith bench {name}' there"
        )
    if str(_CLONE) not in sys.path:
        sys.path.insert(0, str(_CLONE))
    command = import_module("bench.command")
    files = command.Files(keep, json, page, force)
    command.bench(name, only, values or [], files, note, quick=quick, update=update)
