"""The subcommands that look inside: ``trace``, ``waves``, ``designs`` and ``coverage``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.options import Force, target

if TYPE_CHECKING:
    from ringsmith.backends.base import Executable
    from ringsmith.backends.inspector import Inspector
    from ringsmith.files import Target


Program = Annotated[
    Path | None,
    typer.Argument(
        help="A program (.rsp, as Program.save writes it), a compiled program (.rsc, as "
        "Compiled.save does), or an executable, as --save writes it."
    ),
]
Logreg = Annotated[bool, typer.Option("--logreg", help="The logistic regression of the demo.")]
Operation = Annotated[
    str | None, typer.Option(help="One HE operation alone, such as `rotate`, at all limbs.")
]
Design = Annotated[
    str | None,
    typer.Option(
        help="The design to schedule for: a name, or a TOML file; else the smallest that runs the "
        "program, and `nano` for an operation or the logistic regression."
    ),
]
Parameters = Annotated[
    str | None,
    typer.Option(
        help="The parameter set, a name or a TOML file; else `nano` for an operation, and what the "
        "design runs the logistic regression with."
    ),
]


def trace(
    program: Program = None,
    logreg: Logreg = False,
    operation: Operation = None,
    design: Design = None,
    parameters: Parameters = None,
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

    from ringsmith.cli.traced import Wish, executable_of
    from ringsmith.files import check_targets

    results = [target(path, force) for path in (html, svg, perfetto, save)]
    check_targets(*results, inputs=[program])
    title, executable = executable_of(Wish(program, logreg, operation, design, parameters))
    inspector = _inspector(executable)
    found = inspector.timeline(executable, model=model)
    if listing:
        for line in found.listing():
            print(line)
    else:
        console = Console()
        for table in found.tables():
            console.print(table)
    writers: list[Callable[[], str]] = [
        lambda: found.html(title),
        lambda: found.svg(title),
        lambda: found.perfetto(title),
        lambda: inspector.text(executable),
    ]
    for result, text in zip(results, writers, strict=True):
        if result is not None:
            _write(result, text())


def waves(
    output: Annotated[Path, typer.Argument(dir_okay=False, help="The VCD file to write.")],
    program: Program = None,
    logreg: Logreg = False,
    operation: Operation = None,
    design: Design = None,
    parameters: Parameters = None,
    cycles: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="The window in cycles.")
    ] = None,
    instructions: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="The window in instructions.")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            help="Record this instance, such as u_controller of the top: TOP.<top>.u_controller."
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Levels of instances to record; all without it.")
    ] = None,
    force: Force = False,
) -> None:
    """Record the RTL's signals over a window of a program, on random data."""
    from ringsmith.cli.traced import Wish, executable_of
    from ringsmith.files import Target, check_targets

    if (cycles is None) == (instructions is None):
        raise typer.BadParameter(
            "name one window: --cycles FIRST:LAST or --instructions FIRST:LAST"
        )
    result = Target(output, force)
    check_targets(result, inputs=[program])
    _, executable = executable_of(Wish(program, logreg, operation, design, parameters))
    inspector = _inspector(executable)
    with result.whole() as path:
        text = inspector.waves(
            executable,
            path,
            cycles=None if cycles is None else _range("--cycles", cycles),
            instructions=None if instructions is None else _range("--instructions", instructions),
            scope=scope,
            depth=depth,
        )
    print(f"wrote {output}: {text}")


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
        int,
        typer.Option(
            min=0, help="Random programs, or HE operations, to run on the RTL of each design."
        ),
    ] = 0,
    verify: Annotated[
        list[str] | None, typer.Option(help="Simulate this design alone; can be repeated.")
    ] = None,
    products: Annotated[
        int, typer.Option(min=0, help="Random products through the RTL of each stream design.")
    ] = 0,
    area: Annotated[
        list[str] | None,
        typer.Option(
            help="Synthesize this design (one unit of it), minutes, or more than ten where it has "
            "16 cores; can be repeated."
        ),
    ] = None,
    area_in_part: Annotated[
        list[str] | None,
        typer.Option(
            help="Synthesize a unit with a quarter of this design's cores, minutes, and count in "
            "proportion; can be repeated."
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Keep areas and verification of the page that --table replaces, with their dates, "
            "where this run measures none.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """List the named designs: size, area, cycles of the main operations, what was verified."""
    from ringsmith.backends.inspector import Wanted
    from ringsmith.backends.registry import backends_with_designs, named_design
    from ringsmith.debug.pages import designs_page, parameters_table
    from ringsmith.files import check_targets
    from ringsmith.lower import lower_operation

    page_file = target(table, force)
    check_targets(page_file)
    kept = _kept_page(table) if keep else ""
    for name in (*(area or ()), *(verify or ()), *(area_in_part or ())):
        named_design(name)  # refuses an unknown name before the work starts
    wanted = Wanted(
        lower_operation, programs, products, verify or (), area or (), area_in_part or ()
    )
    surveys, others = [], []
    for backend in backends_with_designs():
        inspector = backend.inspector()
        survey = None if inspector is None else inspector.survey(wanted)
        if survey is None:
            others.append(parameters_table(backend))
        else:
            surveys.append(survey)
    tables = [text for survey in surveys for text in survey.tables]
    print("\n".join([*tables, *others]), end="")
    if page_file is not None:
        chosen = [f" --products {products}"] if products else []
        chosen += [f" --verify {name}" for name in verify or ()]
        chosen += [f" --area {name}" for name in area or ()]
        chosen += [f" --area-in-part {name}" for name in area_in_part or ()]
        chosen += [" --keep"] * keep + [" --force"] * force
        command = f"ringsmith designs --table {table} --programs {programs}{''.join(chosen)}"
        print()
        _write(page_file, designs_page(surveys, command, kept))


_MAX_PAGE = 1 << 20
"""Bytes of a page, at most."""


def _kept_page(table: Path | None) -> str:
    """The page that is replaced; empty where there is none yet."""
    from ringsmith.files import read_bounded

    if table is None:
        raise typer.BadParameter("--keep keeps rows of a page: name it by --table")
    return read_bounded(table, _MAX_PAGE).decode() if table.exists() else ""


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
    arch: Annotated[
        str | None,
        typer.Option(
            help="Measure this architecture alone; the page keeps what it says of others."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Run random programs on RTL that counts its coverage; status 1 when a goal is missed."""
    from ringsmith.backends.registry import inspectors
    from ringsmith.debug.pages import coverage_page
    from ringsmith.errors import ParameterError
    from ringsmith.files import check_targets, read_bounded

    page_file = target(report, force)
    check_targets(page_file)
    counting = {each.architecture: each for each in inspectors() if each.covers}
    if arch is not None and arch not in counting:
        raise ParameterError(
            f"architecture {arch!r} counts no coverage: choose one of {', '.join(counting)}"
        )
    kept = ""
    if report is not None and report.exists():
        kept = read_bounded(report, _MAX_PAGE).decode()
    chosen = "" if arch is None else f" --arch {arch}"
    flags = " --quick" * quick + " --force" * force
    command = f"ringsmith coverage --report {report}{chosen}{flags}"
    sections, missed = {}, False
    for name in counting if arch is None else [arch]:
        campaign = counting[name].coverage(quick=quick)
        for line in campaign.misses():
            print(f"{name}: not covered: {line}")
        for kind, share in campaign.shares().items():
            print(f"{name}: {kind}s: {share:.2%} covered, goal {campaign.goals[kind]:.1%}")
            missed |= share < campaign.goals[kind]
        sections[name] = campaign.section(command)
    if page_file is not None:
        _write(page_file, coverage_page(sections, list(counting), kept))
    if missed and not quick:
        raise typer.Exit(code=1)


def _write(target: "Target", text: str) -> None:
    target.write(text)
    print(f"wrote {target.path}")


def _inspector(executable: "Executable") -> "Inspector":
    """How the architecture of a program is looked into. Raises ProgramError if it is not."""
    from ringsmith.backends.registry import backend_of
    from ringsmith.errors import ProgramError

    backend = backend_of(executable.design)
    inspector = backend.inspector()
    if inspector is None:
        raise ProgramError(f"architecture {backend.name} has nothing to look into its programs by")
    return inspector
