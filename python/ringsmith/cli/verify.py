"""``ringsmith verify``: random programs on a design's RTL and on the model, by many workers."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.options import Force, target


def verify(
    design: Annotated[str, typer.Argument(help="The design: a name, or a TOML file.")],
    programs: Annotated[int, typer.Option(min=1, help="Random programs, numbered from 0 on.")] = 10,
    only: Annotated[
        int | None,
        typer.Option(min=0, metavar="NUMBER", help="Run the program of this number alone."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="What all programs follow from, with their numbers.")
    ] = 1,
    device: Annotated[
        str, typer.Option(help="What is compared: rtl; axi-lite, by its register block; model.")
    ] = "rtl",
    engine: Annotated[
        str,
        typer.Option(help="What runs programs: processes, or ray (pip install ringsmith[ray])."),
    ] = "processes",
    workers: Annotated[int, typer.Option(help="Worker processes; 0: one for each processor.")] = 0,
    record: Annotated[
        Path | None,
        typer.Option(help="Keep what was found here, and go on from what is there already."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write what was found as JSON.")
    ] = None,
    force: Force = False,
) -> None:
    """Run random programs on a design's simulated RTL; status 1 when one is not as on the model.

    What differs is printed with the number of its program, which --only runs again alone.
    """
    from ringsmith.backends.registry import named_design
    from ringsmith.errors import ParameterError
    from ringsmith.files import check_targets
    from ringsmith.verify.campaign import Campaign, run_campaign, to_json

    result = target(json, force)
    check_targets(result, target(record, force=True), inputs=[Path(design)])
    if only is not None and record is not None:
        raise ParameterError("--only with --record: a record is of a campaign; leave one out")
    report = run_campaign(
        Campaign(named_design(design), device, seed),
        range(programs) if only is None else [only],
        engine_name=engine,
        workers=workers or len(os.sched_getaffinity(0)),
        record=record,
    )
    for line in report.lines(design):
        print(line)
    if result is not None:
        result.write(to_json(report).encode())
        print(f"wrote {result.path}")
    if report.failures:
        raise typer.Exit(code=1)
