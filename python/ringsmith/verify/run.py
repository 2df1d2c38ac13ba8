"""A campaign from its programs' numbers to its report."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ringsmith import progress
from ringsmith.engines import check, engine
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files.lines import Lines
from ringsmith.verify.campaign import Campaign, Ran, Report, work_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMAT = "ringsmith-verify"
VERSION = 1
_HEAD = {"format": FORMAT, "version": VERSION}


def run_campaign(
    campaign: Campaign,
    numbers: Sequence[int],
    *,
    engine_name: str = "processes",
    workers: int = 1,
    record: Path | None = None,
) -> Report:
    """Runs programs of a campaign, those that a record has not.

    The first one runs here: it builds the simulation, which workers of this machine then find.

    Args:
        campaign: The campaign.
        numbers: The programs.
        engine_name: What runs programs.
        workers: Worker processes.
        record: A file of what programs found, which is gone on from; None: none is kept.

    Raises:
        DeviceError: If the design has no such device.
        ProgramError: If the design's architecture has no random programs.
        ParameterError: If an option is wrong.
        InteropError: If the record is another campaign's.
        ToolError: If a tool or an engine is missing or fails, or workers die.
    """
    if not numbers:
        raise ParameterError("no programs: give --programs N, at least 1")
    check(engine_name, workers)
    verification = campaign.verification()
    lines = _record(record, campaign)
    known = {each.number: each for each in map(Ran.of_row, lines.rows)}
    left = [number for number in numbers if number not in known]
    what = f"verifying {campaign.design.name} on {campaign.device}"
    with progress.task(what, len(left), verification.programs) as task:

        def found(each: Ran) -> None:
            known[each.number] = each
            lines.add(each.to_row())
            task.advance()

        work = work_of(campaign)
        own = work.start(campaign)
        if left:
            found(own(left.pop(0)))
        if left:
            started = engine(engine_name, work, min(workers, len(left)), own)
            try:
                for _, each in started.run(left):
                    found(each)
            finally:
                started.close()
    ran = tuple(known[number] for number in sorted(numbers))
    return Report(campaign, verification.programs, ran)


def _record(path: Path | None, campaign: Campaign) -> Lines:
    """Opens the file of a campaign's programs; writes its header if it is new."""
    lines = Lines(path, _HEAD, "verified programs")
    if (head := lines.head) is not None:
        if head.get("identity") != campaign.identity:
            raise InteropError(
                f"{path} is a record of another campaign (seed {head.get('seed')} of "
                f"{head.get('name')} on {head.get('device')}): give another file, or the same "
                "options"
            )
        if head.get("sources") != campaign.sources:
            raise InteropError(
                f"{path} is of another version of the RTL, model or compiler: give another file"
            )
    elif path is not None:
        lines.begin(
            {
                "identity": campaign.identity,
                "sources": campaign.sources,
                "name": campaign.design.name,
                "device": campaign.device,
                "seed": campaign.seed,
            }
        )
    return lines


def to_json(report: Report) -> str:
    """A report as JSON."""
    campaign = report.campaign
    values = asdict(cast("DataclassInstance", campaign.design))
    content = {
        **_HEAD,
        "design": {"architecture": campaign.design.architecture, **values},
        "device": campaign.device,
        "seed": campaign.seed,
        "programs": len(report.ran),
        "equal": report.equal,
        "failures": [each.to_row() for each in report.failures],
    }
    return json.dumps(content, indent=1) + "\n"
