"""The search for designs as Python calls it, with rows for data frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.backends.types import Design
from ringsmith.errors import ParameterError, check_type
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.request import explorer
from ringsmith.explore.run import ALL, Options, chosen_point, point_rows, searched, to_json
from ringsmith.explore.search import DOUBLING, Found
from ringsmith.files import write_whole
from ringsmith.params import RlweParameters
from ringsmith.program import Program
from ringsmith.program.graph import check_program
from ringsmith.python_numbers import python_number
from ringsmith.short_repr import represented


@dataclass(frozen=True, eq=False)
class Exploration:
    """What a search found; made by ``explore_designs``.

    Attributes:
        found: All points and fronts.
        evaluator: What tried them.
    """

    found: Found
    evaluator: Evaluator

    @property
    def names(self) -> list[str]:
        """Names of the designs on the front, the fastest first."""
        return [each.name for each in self.found.front]

    def rows(self, *, front_only: bool = False) -> list[dict[str, Any]]:
        """Returns a flat dictionary for each point that was tried: ``pandas.DataFrame(rows)``.

        Every row has the same keys; what a point does not have is None.

        - ``architecture``, ``name``, ``front`` (on the front), ``reason`` and ``kind`` (why it
          cannot be taken), ``exact`` (cycles are the model's), ``milliseconds`` of all operations,
          ``gigabytes_per_second`` of its ports.
        - ``parameters.NAME``: the design's parameters.
        - ``usage.luts``, ``usage.dsps``, …: what it takes of the platform.
        - ``OPERATION.cycles``, ``.milliseconds``, ``.binds`` (its bottleneck): for each operation;
          a whole program is the operation ``program``.

        Args:
            front_only: Whether to leave out what is not on the front.
        """
        rows = [_flat(row) for row in point_rows(self.found) if row["front"] or not front_only]
        keys = dict.fromkeys(key for row in rows for key in row)
        return [{key: row.get(key) for key in keys} for row in rows]

    def design(self, name: str = "") -> Design:
        """Returns a design of the front, for ``compile_program`` and ``open_device``.

        Args:
            name: Its name; empty: the fastest.

        Raises:
            ParameterError: If no design of that name is on the front.
        """
        point = chosen_point(self.found, name)
        own = explorer(point.architecture)
        return own.design(dict(point.values), self.evaluator.task(point.architecture))

    def save_design(self, path: str | Path, name: str = "", *, overwrite: bool = False) -> None:
        """Writes a design of the front as a TOML file, for ``generate`` and every ``--design``.

        Raises:
            ParameterError: If no design of that name is on the front.
            InteropError: If the file exists and may not be overwritten, or cannot be written.
        """
        text = self.evaluator.design_file(chosen_point(self.found, name))
        write_whole(Path(path), text.encode(), overwrite=overwrite)

    def to_json(self) -> str:
        """Everything that was found, as ``ringsmith explore --json`` writes it."""
        return to_json(self.found)

    def __repr__(self) -> str:
        """Names what was explored for and the front."""
        request = self.found.request
        counts = {"points": len(self.found.points), "front": self.names}
        return represented(
            type(self), {"subject": request.subject, "platform": request.platform, **counts}
        )


def explore_designs(
    platform: str,
    *,
    program: Program | str | Path | None = None,
    params: RlweParameters | str | Path | None = None,
    operations: str | Sequence[str] = (),
    architectures: str | Sequence[str] = ALL,
    search: str = DOUBLING,
    limit: int = 0,
    megahertz: float = 0,
    record: str | Path | None = None,
    engine: str = "processes",
    workers: int = 1,
) -> Exploration:
    """Searches for the best designs for a program, or for operations, on a card.

    Args:
        platform: The card: a name, such as ``u280``, or the path of its TOML file.
        program: A program, or the path of its file.
        params: In place of a program: a parameter set, its name or the path of its TOML file.
        operations: HE operations of the parameter set, such as ``("rotate", "rescale")``.
        architectures: Architectures to search through; ``all``: every one.
        search: ``doubling``, or ``fine``, which goes on from it.
        limit: Points to try at most; 0: no limit.
        megahertz: The clock of all designs; 0: what each architecture assumes.
        record: Keeps what was tried in this file, and goes on from what is there already.
        engine: What tries points: ``processes`` or ``ray``.
        workers: Worker processes; one is this process. More import the script that runs again: call
            this below ``if __name__ == "__main__":``.

    Raises:
        ParameterError: If an argument is wrong, or no design does what is asked; says what it
            misses.
        ProgramError: If there is no such operation, or the file is no program's.
        InteropError: If the record's file is another one's.
        ToolError: If the engine is not there, or its workers die.
    """
    names = (operations,) if isinstance(operations, str) else tuple(map(str, operations))
    if (program is None) == (params is None):
        raise ParameterError(
            'give either program, or params with operations: explore_designs("u280", '
            'program=program), or explore_designs("u280", params="nano", operations="rotate")'
        )
    if program is None and not names:
        raise ParameterError('params without operations: name some: operations=("rotate", "add")')
    if program is not None and names:
        raise ParameterError("a program has its own operations: leave operations out")
    if program is not None and not isinstance(program, str | Path):
        check_program(program, "explore_designs")
    check_type("platform", platform, str, 'name a card, such as "u280", or the path of its file')
    limit, workers = (
        _whole(name, value) for name, value in (("limit", limit), ("workers", workers))
    )
    if isinstance(megahertz, bool) or not isinstance(megahertz, int | float):
        raise ParameterError(f"megahertz = {megahertz!r:.60} is no number: give the clock's, or 0")
    options = Options(
        platform=platform,
        architectures=(architectures,) if isinstance(architectures, str) else tuple(architectures),
        program=program if isinstance(program, Program) else str(program or ""),
        params=params if isinstance(params, RlweParameters) else str(params or ""),
        operations=names,
        megahertz=megahertz,
        search=search,
        limit=limit,
        record=None if record is None else Path(record),
        engine=engine,
        workers=workers,
    )
    return Exploration(*searched(options))


def _whole(name: str, value: object) -> int:
    """An argument that is a whole number."""
    found = python_number(value)
    if isinstance(found, bool) or not isinstance(found, int):
        raise ParameterError(f"{name} = {value!r:.60} is no whole number: write one")
    return found


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A point's row without anything nested."""
    nested = ("values", "usage", "operations", "binds")
    found = {key: value for key, value in row.items() if key not in nested}
    found |= {f"parameters.{name}": value for name, value in row["values"].items()}
    found |= {f"usage.{name}": value for name, value in (row["usage"] or {}).items()}
    for name, cost in row["operations"].items():
        found |= {f"{name}.{key}": cost[key] for key in ("cycles", "milliseconds")}
        found[f"{name}.binds"] = row["binds"][name]
    return found
