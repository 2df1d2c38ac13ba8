"""``ringsmith explore``: the best designs of architectures for a program and a card."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.options import Force, target

if TYPE_CHECKING:
    from ringsmith.explore.search import Found


def explore(
    platform: Annotated[
        str, typer.Option(help="The card: a name, such as u280, or the path of its TOML file.")
    ],
    arch: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Architectures to search through, by commas; or all."),
    ] = "all",
    program: Annotated[
        Path | None, typer.Option(help="A program's file, as Program.save writes.")
    ] = None,
    params: Annotated[
        str,
        typer.Option(
            help="A parameter set in place of a program: a name, such as framework-set1, or the "
            "path of its TOML file."
        ),
    ] = "",
    ops: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="HE operations of the parameter set, by commas: multiply_relinearize, rotate; the "
            "Framework paper's ctctmult, ptctmult, ctctadd, too.",
        ),
    ] = "",
    search: Annotated[
        str,
        typer.Option(help="doubling, as the paper's Algorithm 2; or fine, which goes on from it."),
    ] = "doubling",
    limit: Annotated[int, typer.Option(help="Points to try at most; 0: no limit.")] = 0,
    mhz: Annotated[
        float, typer.Option(help="The clock of all designs; 0: what each architecture assumes.")
    ] = 0,
    point: Annotated[
        str,
        typer.Option(
            help="The design of the front that --save-design writes, and whose timeline --page "
            "has; the fastest."
        ),
    ] = "",
    record: Annotated[
        Path | None,
        typer.Option(help="Keep what was tried here, and go on from what is there already."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the points as JSON.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page to look at in a browser.")] = None,
    save_design: Annotated[
        Path | None,
        typer.Option(help="Write a design of the front as a design's file (TOML): see --point."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write what was found as a section of this Markdown page; with --force other "
            "sections of a page that exists stay."
        ),
    ] = None,
    compare: Annotated[
        str, typer.Option(metavar="NAMES", help="Named designs to compare with in the report.")
    ] = "",
    engine: Annotated[
        str, typer.Option(help="What tries points: processes, or ray (pip install ringsmith[ray]).")
    ] = "processes",
    workers: Annotated[int, typer.Option(help="Worker processes; 0: one for each processor.")] = 0,
    rows: Annotated[int, typer.Option(min=1, help="Points of the front to print.")] = 20,
    force: Force = False,
) -> None:
    """Search for the best designs for a program, or for operations, on a card."""
    from ringsmith.explore.run import Options, explored
    from ringsmith.files import check_targets

    results = [target(path, force) for path in (json, page, save_design, report)]
    check_targets(*results, target(record, force=True), inputs=[program])
    options = Options(
        platform=platform,
        architectures=_names(arch),
        program="" if program is None else str(program),
        params=params,
        operations=_names(ops),
        megahertz=mhz,
        search=search,
        limit=limit,
        record=record,
        engine=engine,
        workers=workers or len(os.sched_getaffinity(0)),
        point=point,
        compare=_names(compare),
    )
    command = "" if report is None else shlex.join(["ringsmith", *sys.argv[1:]])
    found, texts = explored(
        options,
        json=json is not None,
        page=page is not None,
        design=save_design is not None,
        report=command,
    )
    _show(found, rows)
    if report is not None and report.exists():
        from ringsmith.explore.report import placed_in

        texts = (*texts[:-1], placed_in(report.read_text(encoding="utf-8"), texts[-1] or ""))
    for result, text in zip(results, texts, strict=True):
        if result is not None and text is not None:
            result.write(text.encode())
            print(f"wrote {result.path}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _show(found: "Found", rows: int) -> None:
    from rich.console import Console

    from ringsmith.explore.tables import lines, tables

    console = Console()
    for table in tables(found, rows):
        console.print(table)
    for line in lines(found):
        print(line)
