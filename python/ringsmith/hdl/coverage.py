"""Line and toggle coverage of the RTL, from the files that Verilator's coverage writes.

A point is a place in a source file: a line or branch that can run, or a bit that can rise or fall.
Counts of all instances, runs and designs are added up: what matters is whether the source was
exercised, not each of its copies. Points that no program can reach are excused, each by a rule
that says why; a point that is covered always counts.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata, resources
from pathlib import Path
from typing import TypeAlias

from ringsmith import __version__
from ringsmith.errors import ToolError

_KINDS = {"v_line": "line", "v_branch": "line", "v_toggle": "toggle"}


@dataclass(frozen=True, order=True)
class Point:
    """One place to cover.

    Attributes:
        file: Source below ``rtl/``, such as ``mem/rs_ram.sv``.
        line: Its line.
        column: Its column; distinguishes points of one line.
        kind: ``line`` (branches included) or ``toggle``.
        detail: The branch, or the bit and its direction, such as ``sum[3]:0->1``.
    """

    file: str
    line: int
    column: int
    kind: str
    detail: str

    @property
    def signal(self) -> str:
        """The signal of a toggle, without its indices."""
        return re.sub(r"\[\d+\]|:[01]->[01]", "", self.detail)

    @property
    def bit(self) -> int | None:
        """The last index of a toggle's bit; None where it has none."""
        indices = re.findall(r"\[(\d+)\]", self.detail)
        return int(indices[-1]) if indices else None


@dataclass(frozen=True)
class Exclusion:
    """Points that no program reaches.

    Attributes:
        files: Pattern of the file's name, matched as a whole.
        details: Pattern of the detail, matched as a whole.
        reason: Why.
        kind: ``line`` or ``toggle``.
    """

    files: str
    details: str
    reason: str
    kind: str = "toggle"

    def covers(self, point: Point) -> bool:
        """Whether the point is one of them."""
        return (
            point.kind == self.kind
            and re.fullmatch(self.files, point.file) is not None
            and re.fullmatch(self.details, point.detail) is not None
        )


Value: TypeAlias = int | str | Sequence[int]
"""What a name in a rule stands for; several numbers are indices."""

_EDGE = ":(0->1|1->0)"
"""Pattern of the end of a toggle's detail."""


def read_exclusions(package: str, values: Mapping[str, Value]) -> tuple[Exclusion, ...]:
    """Reads the rules in a package's ``exclusions.toml``.

    In braces stand: ``{edge}``, that a bit rises or falls; ``{3..11}``, the last index of a bit is
    one of these, where an end can be a name; ``{2,3}``, it is one of these; ``{name}``, a value.

    Args:
        package: The package that has the file.
        values: What the names stand for.
    """
    text = (resources.files(package) / "exclusions.toml").read_text(encoding="utf-8")
    rules = tomllib.loads(text)["rules"]
    return tuple(
        Exclusion(**{name: _filled("".join(rule[name].splitlines()), values) for name in rule})
        for rule in rules
    )


def _filled(text: str, values: Mapping[str, Value]) -> str:
    """A rule's text with what stands in braces."""
    known = {"edge": _EDGE, **values}

    def number(word: str) -> int:
        return int(word if word.isdecimal() else str(known[word]))

    def filled(match: re.Match[str]) -> str:
        first, dots, last = match[1].partition("..")
        if dots:
            return _one_of(range(number(first), number(last) + 1))
        if "," in first:
            return _one_of(map(int, first.split(",")))
        value = known[first]
        return str(value) if isinstance(value, int | str) else _one_of(value)

    return re.sub(r"\{([\w.,]+)\}", filled, text)


def _one_of(bits: Iterable[int]) -> str:
    """Pattern of the last index of a toggle's bit."""
    return rf"\[({'|'.join(map(str, bits))})\]"


@dataclass(frozen=True)
class FileCoverage:
    """What was covered of one source file.

    Attributes:
        file: Source below ``rtl/``.
        hit: By kind, points covered.
        total: By kind, points that are not excused.
        missed: Points not covered.
    """

    file: str
    hit: Mapping[str, int]
    total: Mapping[str, int]
    missed: tuple[Point, ...]


def read_counts(path: Path) -> Counter[Point]:
    """Counts of a file of Verilator's, for sources below ``rtl/``; points of one place add up.

    Raises:
        ToolError: If the file is of another format than Verilator 5's.
    """
    return points(read_records(path))


def read_records(path: Path) -> Counter[str]:
    """Counts of a file of Verilator's by the point as it is written there; these add up quickly.

    Raises:
        ToolError: If the file has no record of a source below ``rtl/``.
    """
    counts: Counter[str] = Counter()
    with path.open(encoding="latin-1") as lines:
        for line in lines:
            # C '<point>' <count>
            point, _, count = line.rstrip("\n").rpartition("' ")
            if point.startswith("C '") and "/rtl/" in point:  # not a simulation's own source
                counts[point] += int(count)
    if not counts:
        raise ToolError(f"{path} holds no coverage records: is it a coverage file of Verilator's?")
    return counts


def points(records: Mapping[str, int]) -> Counter[Point]:
    """Counts by places in the sources; those of one place add up.

    Raises:
        ToolError: If a record is of another format than Verilator 5's.
    """
    counts: Counter[Point] = Counter()
    for record, count in records.items():
        fields = dict(item.split("\x02", 1) for item in record[3:].split("\x01") if item)
        try:
            point = _point(fields)
        except KeyError as error:
            raise ToolError(
                f"a coverage record has no field {error}: this reads the format of Verilator 5"
            ) from error
        counts[point] += count
    return counts


def _point(fields: Mapping[str, str]) -> Point:
    return Point(
        file=fields["f"].rpartition("/rtl/")[2],
        line=int(fields["l"]),
        column=int(fields["n"]),
        kind=_KINDS[fields["page"].partition("/")[0]],
        detail=fields["o"],
    )


def by_file(counts: Mapping[Point, int], exclusions: Iterable[Exclusion]) -> list[FileCoverage]:
    """Coverage of each file, without the missed points that a rule excuses."""
    rules = list(exclusions)
    points: dict[str, list[Point]] = {}
    for point in sorted(counts):
        if counts[point] or not any(rule.covers(point) for rule in rules):
            points.setdefault(point.file, []).append(point)
    return [
        FileCoverage(
            file,
            hit=Counter(point.kind for point in of_file if counts[point]),
            total=Counter(point.kind for point in of_file),
            missed=tuple(point for point in of_file if not counts[point]),
        )
        for file, of_file in points.items()
    ]


def excused(counts: Mapping[Point, int], rule: Exclusion) -> int:
    """How many missed points a rule excuses; a rule that excuses none should be taken out."""
    return sum(not count and rule.covers(point) for point, count in counts.items())


def share(files: Iterable[FileCoverage], kind: str) -> float:
    """Covered share of all points of a kind."""
    coverages = list(files)
    total = sum(each.total[kind] for each in coverages)
    return sum(each.hit[kind] for each in coverages) / total if total else 1.0


# ---- What ``ringsmith coverage`` says of an architecture: RTL, situations, and the goals ---------


_MISSES = 10


@dataclass(frozen=True)
class CoverageReport:
    """What a campaign of random programs covered.

    Attributes:
        architecture: The architecture's name.
        goals: The least share by kind of point: ``line``, ``toggle``, ``situation``.
        counts: Counts of the RTL's points.
        exclusions: Points that no program reaches.
        situations: By kind of situation: those that occurred, and all.
        missing: Situations that did not occur, a line of text each.
        ran: What ran and was compared, for the page.
    """

    architecture: str
    goals: Mapping[str, float]
    counts: Mapping[Point, int] = field(repr=False)
    exclusions: Sequence[Exclusion] = field(repr=False)
    situations: Mapping[str, tuple[int, int]]
    missing: Sequence[str]
    ran: str

    @cached_property
    def files(self) -> list[FileCoverage]:
        """Coverage by source file."""
        return by_file(self.counts, self.exclusions)

    def shares(self) -> dict[str, float]:
        """Covered share of each kind of point, those left out that a rule excuses."""
        hit, total = map(sum, zip(*self.situations.values(), strict=True))
        return {
            "line": share(self.files, "line"),
            "toggle": share(self.files, "toggle"),
            "situation": hit / total,
        }

    def misses(self) -> Iterator[str]:
        """What was not covered, as lines of text; bits of one signal together."""
        together: dict[tuple[str, int, str], int] = {}
        for coverage in self.files:
            for point in coverage.missed:
                place = (point.file, point.line, point.signal)
                together[place] = together.get(place, 0) + 1
        for (file, line, signal), count in together.items():
            yield f"rtl/{file}:{line}: {signal}" + (f" ({count} points)" if count > 1 else "")
        yield from self.missing

    def idle_rules(self) -> list[Exclusion]:
        """Rules that excuse nothing, and so should be taken out."""
        return [rule for rule in self.exclusions if not excused(self.counts, rule)]

    def section(self, command: str) -> str:
        """The architecture's section of the page, in Markdown.

        Args:
            command: What was typed to make it.
        """
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        return f"""## Architecture `{self.architecture}`

Written on {date} by `{command}` (Ringsmith {__version__}, Verilator
{metadata.version("verilator")}).

| points | goal | covered |
| --- | ---: | ---: |
{"".join(self._goal_lines())}
{self.ran}

### RTL of `{self.architecture}`

Lines (branches included) and bits that rise or fall, all instances together. Blocks that the
design does not contain are covered by their own tests in `tests/rtl`.

| file | lines | covered | bits | covered |
| --- | ---: | ---: | ---: | ---: |
{"".join(self._file_lines())}
The other files' lines and bits are covered to 100.0%: {self._whole_files()}.

Points that no program can reach are excused, by the {len(self.exclusions)} rules in
`backends/{self.architecture}/debug/exclusions.toml`.

### Instruction set of `{self.architecture}`

| situations | all | covered |
| --- | ---: | ---: |
{"".join(self._situation_lines())}
### Not covered of `{self.architecture}`

{"".join(self._miss_lines())}"""

    def _goal_lines(self) -> Iterator[str]:
        for kind, found in self.shares().items():
            yield f"| {kind}s | {self.goals[kind]:.1%} | {found:.2%} |\n"

    def _situation_lines(self) -> Iterator[str]:
        for kind, (hit, total) in self.situations.items():
            yield f"| {kind} | {total} | {hit} |\n"

    def _file_lines(self) -> Iterator[str]:
        for each in self.files:
            if _is_whole(each):
                continue
            cells = [
                f"{each.total[kind]:,} | {_percent(each.hit[kind], each.total[kind])}"
                for kind in ("line", "toggle")
            ]
            yield f"| `rtl/{each.file}` | {' | '.join(cells)} |\n"

    def _whole_files(self) -> str:
        names = [f"`rtl/{each.file}`" for each in self.files if _is_whole(each)]
        return ",\n".join(names) or "there are none"

    def _miss_lines(self) -> Iterator[str]:
        lines = list(self.misses())
        if not lines:
            yield "Nothing.\n"
        for line in lines[:_MISSES]:
            yield f"- {line}\n"
        if len(lines) > _MISSES:
            yield f"- and {len(lines) - _MISSES} more\n"


def _is_whole(of: FileCoverage) -> bool:
    return all(_percent(of.hit[kind], of.total[kind]) in ("–", "100.0%") for kind in of.total)


def _percent(hit: int, total: int) -> str:
    return f"{hit / total:.1%}" if total else "–"
