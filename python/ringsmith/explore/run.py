"""A search from the command line's options to its texts."""

import json as json_format
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith import progress
from ringsmith.engines import engine
from ringsmith.errors import ParameterError
from ringsmith.explore.evaluate import Evaluator, work_of
from ringsmith.explore.page import page_of
from ringsmith.explore.points import FORMAT, OBJECTIVES, VERSION, Record, Tried
from ringsmith.explore.report import section
from ringsmith.explore.request import Request, architectures, explorer
from ringsmith.explore.search import Found, Search
from ringsmith.params import RlweParameters, SecurityWarning, parameter_set
from ringsmith.params.files import SUFFIX
from ringsmith.program import Program

ALL = "all"
"""In place of architectures: every one that can be explored."""


@dataclass(frozen=True)
class Options:
    """What the command is asked; see its help.

    Attributes:
        platform: The card.
        architectures: Architectures.
        program: Path of a program's file, or the program; empty: none.
        params: Parameter set: its name, the path of its TOML file, or the set; empty: none.
        operations: HE operations.
        megahertz: The clock; 0: each architecture's.
        search: Kind of search.
        limit: Points at most; 0: no limit.
        record: The record's file; None: none is kept.
        engine: What tries points.
        workers: Worker processes.
        point: The design that is written, and of the page's timeline; empty: the fastest.
        compare: Named designs to compare with.
    """

    platform: str
    architectures: tuple[str, ...]
    program: str | Program = ""
    params: str | RlweParameters = ""
    operations: tuple[str, ...] = ()
    megahertz: float = 0
    search: str = "doubling"
    limit: int = 0
    record: Path | None = None
    engine: str = "processes"
    workers: int = 1
    point: str = ""
    compare: tuple[str, ...] = ()

    @property
    def request(self) -> Request:
        """What is explored for."""
        program, params = self.program, self.params
        return Request(
            self.platform,
            tuple(architectures()) if self.architectures == (ALL,) else self.architectures,
            _read(params) if isinstance(params, str) else params,
            self.operations,
            program if isinstance(program, str) else program.name,
            self.megahertz,
            b"" if isinstance(program, str) else program.to_bytes(),
        )


def _read(params: str) -> str | RlweParameters:
    """A parameter set by its name, or the one of a file: the request holds its content."""
    if not params.endswith(SUFFIX):
        return params
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return parameter_set(params)


def explored(
    options: Options,
    *,
    json: bool = False,
    page: bool = False,
    design: bool = False,
    report: str = "",
) -> tuple[Found, tuple[str | None, ...]]:
    """Searches, and writes JSON, page, design and report where they are asked for.

    Args:
        options: What is asked.
        json: Whether JSON is.
        page: Whether a page is.
        design: Whether the design of ``options.point`` is.
        report: The command, where a report is.

    Raises:
        ParameterError: If an option is wrong, or no design does what is asked; says what it misses.
        ProgramError: If there is no such operation or program.
        InteropError: If the record's file is another one's.
        ToolError: If the engine is not there, or its workers die.
    """
    found, evaluator = searched(options)
    chosen = chosen_point(found, options.point)
    named = [evaluator.named(name) for name in options.compare]
    return found, (
        to_json(found) if json else None,
        page_of(found, chosen, evaluator) if page else None,
        evaluator.design_file(chosen) if design else None,
        section(found, report, named) if report else None,
    )


def searched(options: Options) -> tuple[Found, Evaluator]:
    """Searches; returns what was found, and what tried it.

    Raises:
        ParameterError, ProgramError, InteropError, ToolError: As ``explored``.
    """
    evaluator = Evaluator(options.request)
    record = Record(options.record, options.request)
    evaluator.host.update(record.host)
    _measure_hosts(evaluator)
    work = work_of(evaluator)
    started = engine(options.engine, work, options.workers, evaluator.tried)
    try:
        search = Search(evaluator, started, record, options.search, options.limit)
        record.begin(evaluator.host)
        found = search.run()
    finally:
        started.close()
    if not found.front:
        scarcest = found.scarcest or "no point was tried"
        if found.left:
            scarcest += f"; {found.left} points were not tried: raise the limit"
        raise ParameterError(
            f"no design for {options.request.subject} fits {options.platform}: {scarcest}"
        )
    return found, evaluator


def _measure_hosts(evaluator: Evaluator) -> None:
    for name in evaluator.request.architectures:
        if name in evaluator.host:
            continue
        try:
            evaluator.task(name)
            explorer(name).space(evaluator.task(name))
        except ParameterError:
            continue  # the search says why
        with progress.task(f"measuring the host of {name}"):
            evaluator.measure_host(name)


def chosen_point(found: Found, name: str) -> Tried:
    """The point of the front that is called so; without a name, the fastest.

    Raises:
        ParameterError: If there is none.
    """
    for each in found.front:
        if name in ("", each.name):
            return each
    some = ", ".join(each.name for each in found.front[:5])
    raise ParameterError(f"no design {name!r} is on the front: choose one of it, such as {some}")


def to_json(found: Found) -> str:
    """Everything that was found, as JSON."""
    request = found.request
    content = {
        "format": FORMAT,
        "version": VERSION,
        "subject": request.subject,
        "platform": request.platform,
        "megahertz": request.megahertz,
        "objectives": OBJECTIVES,
        "refused": dict(found.refused),
        "left": found.left,
        "host_milliseconds": {name: dict(each) for name, each in found.host.items()},
        "points": point_rows(found),
    }
    return json_format.dumps(content, indent=1) + "\n"


def point_rows(found: Found) -> list[dict[str, Any]]:
    """All points that were tried, as JSON has them."""
    on_front = {each.key for each in found.front}
    return [
        {
            **each.to_row(),
            "front": each.key in on_front,
            "exact": each.feasible and each.exact,
            "milliseconds": each.milliseconds if each.feasible else None,
            "binds": {name: own.binds for name, own in each.operations.items()},
        }
        for each in found.points
    ]
