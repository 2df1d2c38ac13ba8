"""The subcommands that look inside: ``trace`` and ``designs``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ringsmith.arch.rpau.executable import Executable


def add_to(app: typer.Typer) -> None:
    """Add the subcommands to the command line ``app``."""
    app.command()(trace)
    app.command()(designs)


Program = Annotated[
    Path | None,
    typer.Argument(exists=True, dir_okay=False, help="An executable, as --save writes it."),
]
Logreg = Annotated[bool, typer.Option("--logreg", help="The logistic regression of the demo.")]
Operation = Annotated[
    str | None, typer.Option(help="One HE operation alone, such as `rotate`, at all limbs.")
]
Design = Annotated[str, typer.Option(help="The design to schedule for.")]
Parameters = Annotated[str, typer.Option(help="The parameter set.")]


def trace(
    program: Program = None,
    logreg: Logreg = False,
    operation: Operation = None,
    design: Design = "nano",
    parameters: Parameters = "nano",
    model: Annotated[
        bool, typer.Option("--model", help="Take the cycles of a run on the model instead.")
    ] = False,
    listing: Annotated[bool, typer.Option("--listing", help="Print every instruction.")] = False,
    html: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the timeline as a page to zoom in.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the timeline as a picture.")
    ] = None,
    perfetto: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write a file for ui.perfetto.dev.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the executable itself.")
    ] = None,
) -> None:
    """Show where the cycles of a program go: by operation, by unit, in idle gaps."""
    from rich.console import Console

    from ringsmith.debug.listing import listing as listing_of
    from ringsmith.debug.page import timeline_page
    from ringsmith.debug.perfetto import perfetto_json
    from ringsmith.debug.picture import timeline_svg
    from ringsmith.debug.report import tables
    from ringsmith.debug.trace import Trace

    title, executable = _executable(program, logreg, operation, design, parameters)
    found = Trace.of_model(executable) if model else Trace.of_executable(executable)
    if listing:
        for line in listing_of(found):
            typer.echo(line)
    else:
        console = Console()
        for table in tables(found):
            console.print(table)
    writers: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: timeline_page(found, title)),
        (svg, lambda: timeline_svg(found, title)),
        (perfetto, lambda: perfetto_json(found, title)),
        (save, executable.to_json),
    ]
    for path, text in writers:
        if path is not None:
            path.write_text(text(), encoding="utf-8")
            typer.echo(f"wrote {path}")


def designs(
    table: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the page to this file.")
    ] = None,
    programs: Annotated[
        int, typer.Option(min=0, help="Random programs to run on the RTL of each design.")
    ] = 0,
) -> None:
    """List the named designs: size, cycles of the main operations, what was verified."""
    from ringsmith.arch.rpau.design import load_design, named_designs
    from ringsmith.arch.rpau.isa import ISA
    from ringsmith.debug.compare import compare
    from ringsmith.debug.designs import DesignRow, cycles_table, operation_cycles, page, size_table
    from ringsmith.devices.rtl import RtlDevice

    length = 2 * len(ISA.operations)
    rows = []
    for design in map(load_design, named_designs()):
        verified = compare(RtlDevice(design), design, range(programs), length) if programs else None
        rows.append(DesignRow(design, operation_cycles(design), verified))
    typer.echo(f"{size_table(rows)}\n{cycles_table(rows)}", nl=False)
    if table is not None:
        command = f"ringsmith designs --table {table} --programs {programs}"
        table.write_text(page(rows, command), encoding="utf-8")
        typer.echo(f"\nwrote {table}")


def _executable(
    program: Path | None, logreg: bool, operation: str | None, design: str, parameters: str
) -> "tuple[str, Executable]":
    """The program that the options name, with a title for it."""
    from ringsmith.arch.rpau.executable import Executable

    if (program is not None) + logreg + (operation is not None) != 1:
        raise typer.BadParameter("name one program: a file, --logreg or --operation NAME")
    if program is not None:
        return program.stem, Executable.from_json(program.read_text(encoding="utf-8"))
    from ringsmith import runtime
    from ringsmith.params import parameter_set

    chosen = parameter_set(parameters)
    if operation is not None:
        from ringsmith.lower import lower_operation

        graph = lower_operation(operation, chosen, chosen.limbs)
        compiled, title = runtime.compile_graph(graph, design), operation
    else:
        from ringsmith.apps.logreg.model import train
        from ringsmith.apps.logreg.records import load_records
        from ringsmith.apps.logreg.server import Server

        server = Server(train(load_records()[0]), chosen, design)
        compiled, title = server.compiled.compiled_graph, "logistic regression"
    assert compiled.executable is not None
    return title, compiled.executable
