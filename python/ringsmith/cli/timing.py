"""The subcommand ``timing``: logic levels and the worst paths between registers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.options import Force, target

if TYPE_CHECKING:
    from ringsmith.backends.inspector import TimedDesign

_MOST_PATHS = 200


def timing(
    design: Annotated[str, typer.Argument(help="The design: a name, or a TOML file.")],
    in_part: Annotated[
        bool,
        typer.Option(
            "--in-part",
            help="Synthesize a part of the design's lanes at the true word width, and scale the "
            "fan-out of nets to all lanes: minutes, where the whole takes more than ten.",
        ),
    ] = False,
    paths: Annotated[
        int, typer.Option(min=1, max=_MOST_PATHS, help="How many of the worst paths to show.")
    ] = 10,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json", dir_okay=False, help="Write all blocks, 200 paths and the delays as JSON."
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write a Markdown page to this file.")
    ] = None,
    force: Force = False,
) -> None:
    """Show logic levels and the worst paths between registers, by synthesis for UltraScale+.

    The whole device: cores, memory's and host's side, crossings. Delays of cells and an estimate
    for each net: nothing is placed or routed.
    """
    from rich.console import Console

    from ringsmith.debug import timing as shown
    from ringsmith.files import check_targets

    json_file, page_file = target(json, force), target(page, force)
    check_targets(json_file, page_file, inputs=[Path(design)])
    found = _timed(design, in_part)
    console = Console()
    console.print(f"Synthesized: {found.what}.", markup=False, highlight=False)
    console.print(shown.conditions(), markup=False, highlight=False)
    for table in shown.tables(found, paths):
        console.print(table)
    files = [f" --json {json}"] if json else []
    files += [f" --page {page}"] if page else []
    flags = f"{' --in-part' * in_part} --paths {paths}{''.join(files)}{' --force' * force}"
    command = f"ringsmith timing {design}{flags}"
    texts: list[Callable[[], str]] = [
        lambda: shown.to_json(found, command),
        lambda: shown.page(found, paths, command),
    ]
    for file, text in zip((json_file, page_file), texts, strict=True):
        if file is not None:
            file.write(text())
            print(f"wrote {file.path}")


def _timed(design: str, in_part: bool) -> "TimedDesign":
    """Times a design by its architecture's inspector.

    Raises ProgramError if the architecture has none.
    """
    from ringsmith.backends.registry import inspector_of, named_design

    point = named_design(design)
    return inspector_of(point, "is not timed").timing(point, in_part=in_part)
