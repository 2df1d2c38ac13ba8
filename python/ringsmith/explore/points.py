"""Points that were tried, and the front of those that nothing beats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ringsmith.backends.explorer import OperationCost, Usage, Value
from ringsmith.errors import InteropError
from ringsmith.explore.request import Request
from ringsmith.files.json_text import Lines
from ringsmith.short_repr import short_repr

Values = tuple[tuple[str, Value], ...]

OBJECTIVES = ("milliseconds", "DSP", "LUT", "RAM Mbit", "GB/s")
"""What a front has less of than any point that it leaves out has of all."""


@dataclass(frozen=True)
class Job:
    """A point to try.

    Attributes:
        architecture: Its architecture.
        values: Its parameters' values.
        exact: Whether the model's cycles are asked for.
    """

    architecture: str
    values: Values
    exact: bool = False

    @property
    def key(self) -> tuple[str, Values]:
        """The point, whichever cycles are asked for."""
        return self.architecture, self.values

    def __str__(self) -> str:
        return f"{self.architecture} {dict(self.values)}"


@short_repr
@dataclass(frozen=True)
class Tried:
    """What was found at a point.

    Attributes:
        architecture: Its architecture.
        values: Its parameters' values.
        name: The design's name; empty: the point is no design.
        reason: Why it cannot be taken; empty: it can.
        kind: What is wrong with it: ``illegal``, ``capacity`` or ``refused``; empty: nothing.
        usage: What it takes of the platform; None: it is no design.
        gigabytes_per_second: What its ports carry at most.
        operations: Operation -> what it costs.
    """

    architecture: str
    values: Values
    name: str = ""
    reason: str = ""
    kind: str = ""
    usage: Usage | None = None
    gigabytes_per_second: float = 0
    operations: Mapping[str, OperationCost] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, Values]:
        """The point."""
        return self.architecture, self.values

    @property
    def feasible(self) -> bool:
        """Whether it can be taken."""
        return not self.reason

    @property
    def exact(self) -> bool:
        """Whether all cycles are the model's."""
        return all(each.exact for each in self.operations.values())

    @property
    def milliseconds(self) -> float:
        """The time of all operations, one after another."""
        return sum(each.milliseconds for each in self.operations.values())

    @property
    def objectives(self) -> tuple[float, ...]:
        """Its values of ``OBJECTIVES``."""
        assert self.usage is not None
        used = self.usage
        return (
            self.milliseconds,
            used.dsps,
            used.luts,
            round(used.megabits, 3),
            self.gigabytes_per_second,
        )

    def to_row(self) -> dict[str, Any]:
        """The point as JSON has it."""
        row = asdict(self)
        row["values"] = dict(self.values)
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Tried":
        """The point of a row.

        Raises:
            InteropError: If it is not valid.
        """
        try:
            usage = row["usage"]
            return cls(
                row["architecture"],
                tuple(row["values"].items()),
                row["name"],
                row["reason"],
                row["kind"],
                None if usage is None else Usage(**usage),
                row["gigabytes_per_second"],
                {name: OperationCost(**each) for name, each in row["operations"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InteropError(f"a row of a record is no point: {error}") from None


def front(points: Iterable[Tried]) -> list[Tried]:
    """Points that no other one is at least as good as in everything, the fastest first.

    Of points with the same numbers the first one counts.
    """
    feasible = [each for each in points if each.feasible]
    ordered = sorted(feasible, key=lambda each: each.objectives)
    found: list[Tried] = []
    for each in ordered:  # what dominates a point stands before it
        if not any(_as_good(other.objectives, each.objectives) for other in found):
            found.append(each)
    return found


def _as_good(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


# What was tried, in a file of lines that a later run goes on from; see ``files/lines.py``


FORMAT = "ringsmith-explore"
VERSION = 1


class Record:
    """A file of what was tried.

    Args:
        path: The file; None: nothing is kept.
        request: What is explored for.

    Raises:
        InteropError: If the file belongs to another request; says what to do.
    """

    def __init__(self, path: Path | None, request: Request) -> None:
        self._request = request
        head = {"format": FORMAT, "version": VERSION}
        self._lines = Lines(path, head, "explored points")
        self.host: dict[str, dict[str, float]] = {}
        if (found := self._lines.head) is not None:
            if found.get("identity") != request.identity:
                raise InteropError(
                    f"{path} is a record of another request ({found.get('subject')} on "
                    f"{found.get('platform')}): give another file, or the same options"
                )
            if found.get("sources") != request.sources:
                raise InteropError(
                    f"{path} is of another version of {', '.join(request.architectures)} or of "
                    f"{request.platform}, which may have other numbers: give another file"
                )
            self.host = found["host"]
        self.points = [Tried.of_row(row) for row in self._lines.rows]

    def begin(self, host: dict[str, dict[str, float]]) -> None:
        """Writes the first line, if the file is new."""
        self.host = host
        request = self._request
        self._lines.begin(
            {
                "identity": request.identity,
                "sources": request.sources,
                "subject": request.subject,
                **request.recorded,
                "host": host,
            }
        )

    def add(self, point: Tried) -> None:
        """Adds a point."""
        self.points.append(point)
        self._lines.add(point.to_row())
