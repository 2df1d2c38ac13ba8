"""The subcommands that look inside: ``trace``, ``waves``, ``designs`` and ``coverage``."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.files import Force, target

if TYPE_CHECKING:
    from ringsmith.backends.rpau.compiler.executable import Executable
    from ringsmith.files import Target


_ALL_LEVELS = 99
"""More levels than there are instances within each other."""


def add_to(app: typer.Typer) -> None:
    """Add the subcommands to the command line ``app``."""
    app.command()(trace)
    app.command()(waves)
    app.command()(designs)
    app.command()(coverage)


Program = Annotated[
    Path | None,
    typer.Argument(help="An executable, as --save writes it."),
]
Logreg = Annotated[bool, typer.Option("--logreg", help="The logistic regression of the demo.")]
Operation = Annotated[
    str | None, typer.Option(help="One HE operation alone, such as `rotate`, at all limbs.")
]
Design = Annotated[str, typer.Option(help="The design to schedule for: a name, or a TOML file.")]
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
    force: Force = False,
) -> None:
    """Show where the cycles of a program go: by operation, by unit, in idle gaps."""
    from rich.console import Console

    from ringsmith.backends.rpau.debug.listing import listing as listing_of
    from ringsmith.backends.rpau.debug.page import timeline_page
    from ringsmith.backends.rpau.debug.perfetto import perfetto_json
    from ringsmith.backends.rpau.debug.picture import timeline_svg
    from ringsmith.backends.rpau.debug.report import tables
    from ringsmith.backends.rpau.debug.trace import Trace
    from ringsmith.files import check_targets

    results = [target(path, force) for path in (html, svg, perfetto, save)]
    check_targets(*results, inputs=[program])
    title, executable = _executable(program, logreg, operation, design, parameters)
    found = Trace.of_model(executable) if model else Trace.of_executable(executable)
    if listing:
        for line in listing_of(found):
            print(line)
    else:
        console = Console()
        for table in tables(found):
            console.print(table)
    writers: list[Callable[[], str]] = [
        lambda: timeline_page(found, title),
        lambda: timeline_svg(found, title),
        lambda: perfetto_json(found, title),
        executable.to_json,
    ]
    for result, text in zip(results, writers, strict=True):
        if result is not None:
            _write(result, text())


def waves(
    output: Annotated[Path, typer.Argument(dir_okay=False, help="The VCD file to write.")],
    program: Program = None,
    logreg: Logreg = False,
    operation: Operation = None,
    design: Design = "nano",
    parameters: Parameters = "nano",
    cycles: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="The window in cycles.")
    ] = None,
    instructions: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="The window in instructions.")
    ] = None,
    scope: Annotated[
        str | None, typer.Option(help="Record this instance, such as TOP.rs_rpau_top.u_controller.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Levels of instances to record; all without it.")
    ] = None,
    force: Force = False,
) -> None:
    """Record the RTL's signals over a window of a program, on random data."""
    from ringsmith.backends.rpau.debug.trace import Trace
    from ringsmith.backends.rpau.debug.waves import record, window_of
    from ringsmith.backends.rpau.device.recording import TOP_SCOPE, WavesDevice
    from ringsmith.files import Target, check_targets

    if (cycles is None) == (instructions is None):
        raise typer.BadParameter(
            "name one window: --cycles FIRST:LAST or --instructions FIRST:LAST"
        )
    result = Target(output, force)
    check_targets(result, inputs=[program])
    _, executable = _executable(program, logreg, operation, design, parameters)
    if cycles is not None:
        window = _range("--cycles", cycles)
    else:
        bounds = _range("--instructions", instructions or "")
        window = window_of(Trace.of_executable(executable), *bounds)
    everything = scope is None and depth is None
    levels = 0 if everything else depth or _ALL_LEVELS
    with result.whole() as path:
        total = record(executable, path, window, scope=scope or TOP_SCOPE, depth=levels)
    print(
        f"wrote {output}: cycles {window[0]:,} to {window[1]:,} of {total:,}, "
        f"{WavesDevice.PERIOD_NS} ns each"
    )


def _range(option: str, text: str) -> tuple[int, int]:
    """``3:17`` as a pair."""
    first, colon, last = text.partition(":")
    if not colon or not (first.isdecimal() and last.isdecimal()):
        raise typer.BadParameter(f"{option} {text}: write FIRST:LAST, such as 100:250")
    return int(first), int(last)


def designs(
    table: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the page to this file.")
    ] = None,
    programs: Annotated[
        int, typer.Option(min=0, help="Random programs to run on the RTL of each design.")
    ] = 0,
    verify: Annotated[
        list[str] | None,
        typer.Option(help="Simulate this design alone; can be repeated."),
    ] = None,
    products: Annotated[
        int, typer.Option(min=0, help="Random products through the RTL of each stream design.")
    ] = 0,
    area: Annotated[
        list[str] | None,
        typer.Option(
            help="Synthesize this design (an RPAU of it), minutes, or more than ten where it has "
            "16 cores; can be repeated.",
        ),
    ] = None,
    area_in_part: Annotated[
        list[str] | None,
        typer.Option(
            help="Synthesize an RPAU with a quarter of this design's cores, minutes, and count in "
            "proportion; can be repeated.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """List the named designs: size, area, cycles of the main operations, what was verified."""
    from ringsmith.backends.registry import backends_with_designs, named_design
    from ringsmith.backends.rpau.debug.area import rpau_area
    from ringsmith.backends.rpau.debug.area_in_part import area_from_part, part_of
    from ringsmith.backends.rpau.debug.compare import compare
    from ringsmith.backends.rpau.design import load_design, named_designs
    from ringsmith.backends.rpau.device.rtl import RtlDevice
    from ringsmith.backends.rpau.isa.instruction_set import ISA
    from ringsmith.backends.stream.debug.area import stream_area
    from ringsmith.backends.stream.debug.compare import compare_products
    from ringsmith.backends.stream.debug.table import StreamRow, stream_table
    from ringsmith.backends.stream.device.rtl import StreamRtl
    from ringsmith.backends.stream.named import load_stream_design, named_stream_designs
    from ringsmith.debug.designs import (
        DesignRow,
        area_table,
        cycles_table,
        operation_costs,
        other_table,
        page,
        size_table,
    )
    from ringsmith.files import check_targets

    page_file = target(table, force)
    check_targets(page_file)
    for name in (*(area or ()), *(verify or ())):
        named_design(name)  # refuses an unknown name before the work starts
    parts = {name: part_of(load_design(name)) for name in area_in_part or ()}
    length = 2 * len(ISA.operations)
    rows = []
    for design in map(load_design, named_designs()):
        simulated = programs and design.name in (verify or named_designs())
        verified = (
            compare(RtlDevice(design), design, range(programs), length) if simulated else None
        )
        found, cores = None, design.cores
        if design.name in (area or ()):
            found = rpau_area(design)
        elif design.name in parts:
            found, cores = area_from_part(design), parts[design.name].cores
        rows.append(DesignRow(design, operation_costs(design), verified, found, cores))
    streams = []
    for stream in map(load_stream_design, named_stream_designs()):
        simulated = products and stream.name in (verify or named_stream_designs())
        same = compare_products(StreamRtl(stream), stream, products) if simulated else None
        whole = stream_area(stream) if stream.name in (area or ()) else None
        streams.append(StreamRow(stream, same, whole))
    tables = (size_table(rows), area_table(rows), cycles_table(rows), stream_table(streams))
    shown = {row.design.name for row in rows} | {row.design.name for row in streams}
    others = [other_table(e) for e in backends_with_designs() if not shown & {*e.designs()}]
    print("\n".join([*tables, *others]), end="")
    if page_file is not None:
        chosen = [f" --products {products}"] if products else []
        chosen += [f" --verify {name}" for name in verify or ()]
        chosen += [f" --area {name}" for name in area or ()]
        chosen += [f" --area-in-part {name}" for name in parts]
        chosen += [" --force"] * force
        command = f"ringsmith designs --table {table} --programs {programs}{''.join(chosen)}"
        print()
        _write(page_file, page(rows, streams, command))


def coverage(
    report: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the page to this file.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Two programs on a smaller design: shows that all of it works here. What they "
            "miss of the goals is said, and the status is 0.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Run random programs on RTL that counts its coverage; status 1 when a goal is missed."""
    from ringsmith.backends.rpau.debug.campaign import (
        QUICK_CANDIDATES,
        campaign_design,
        quick_design,
        run_campaign,
    )
    from ringsmith.backends.rpau.debug.coverage_report import GOALS, misses, page, shares
    from ringsmith.files import check_targets

    page_file = target(report, force)
    check_targets(page_file)
    if quick:
        campaign = run_campaign(quick_design(), candidates=QUICK_CANDIDATES)
    else:
        campaign = run_campaign(campaign_design())
    for line in misses(campaign):
        print(f"not covered: {line}")
    found = shares(campaign)
    for kind, share in found.items():
        print(f"{kind}s: {share:.2%} covered, goal {GOALS[kind]:.1%}")
    if page_file is not None:
        flags = " --quick" * quick + " --force" * force
        command = f"ringsmith coverage --report {report}{flags}"
        _write(page_file, page(campaign, command))
    if not quick and any(share < GOALS[kind] for kind, share in found.items()):
        raise typer.Exit(code=1)


def _write(target: "Target", text: str) -> None:
    target.write(text)
    print(f"wrote {target.path}")


def _executable(
    program: Path | None, logreg: bool, operation: str | None, design: str, parameters: str
) -> "tuple[str, Executable]":
    """The program that the options name, with a title for it."""
    if (program is not None) + logreg + (operation is not None) != 1:
        raise typer.BadParameter("name one program: a file, --logreg or --operation NAME")
    if program is not None:
        return program.stem, _read_executable(program)
    from ringsmith import runtime
    from ringsmith.backends.rpau.compiler.executable import Executable
    from ringsmith.params import ckks_set

    chosen = ckks_set(parameters)
    if operation is not None:
        from ringsmith.backends.rpau.design import load_design
        from ringsmith.lower import lower_operation

        graph = lower_operation(operation, chosen, chosen.limbs)
        compiled, title = runtime.compile_graph(graph, load_design(design)), operation
    else:
        from ringsmith.apps.logreg.model import train
        from ringsmith.apps.logreg.records import load_records
        from ringsmith.apps.logreg.server import Server
        from ringsmith.apps.logreg.sizes import size_for

        size = replace(size_for(None, design), parameter_set=parameters)
        server = Server(train(load_records(size.held_out)[0], size), size, design)
        compiled, title = server.compiled.compiled_graph, "logistic regression"
    executable = compiled.executable
    if not isinstance(executable, Executable):
        raise typer.BadParameter(f"--design {design}: only designs of RPAUs run instructions")
    return title, executable


def _read_executable(program: Path) -> "Executable":
    from ringsmith.backends.rpau.compiler.executable_file import MAX_FILE_BYTES, read_executable
    from ringsmith.errors import ProgramError
    from ringsmith.files import read_bounded

    data = read_bounded(program, MAX_FILE_BYTES)
    try:
        return read_executable(data.decode())
    except UnicodeDecodeError:
        raise ProgramError(f"{program}: not a text file, and so no executable") from None
    except ProgramError as error:
        raise ProgramError(f"{program}: {error}") from error
