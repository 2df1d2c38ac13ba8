"""What ``ringsmith coverage`` says of this architecture, and its goals."""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.backends.vector.debug.campaign import LENGTH, Campaign, missing_situations
from ringsmith.backends.vector.debug.exclusions import EXCLUSIONS
from ringsmith.backends.vector.debug.isa_coverage import by_kind
from ringsmith.backends.vector.design.design import ARCHITECTURE
from ringsmith.hdl.coverage_report import CoverageReport

GOALS: Mapping[str, float] = MappingProxyType({"line": 1.0, "toggle": 0.995, "situation": 1.0})
"""Least share of each kind of point that a campaign must cover.

One campaign elaborates one design: what only others have (Barrett's reduction, a radix of 4) does
not count, and bits that its primes and sizes never move are excused by rules.
"""


def report(campaign: Campaign) -> CoverageReport:
    """What a campaign covered."""
    design, equal = campaign.design, campaign.compared
    ran = f"""\
{equal.programs} programs of {LENGTH} random instructions and those that store what is left
({equal.cycles:,} cycles), among them some that together have every situation, ran on the RTL and
on the model. The cycles in which all {equal.instructions:,} instructions of the lists began and all
words of {equal.limbs:,} outputs were equal. A reset ended each run. The design has rings of N =
{1 << design.min_log_n} to {design.n}, {design.lanes} lanes, {design.alus} ALUs, {design.banks}
banks, and {design.word_bits}-bit words. The registers' file is generated, and does not count."""
    missing = [f"{each.name}: {each.kind} {each.detail}" for each in missing_situations(campaign)]
    situations = by_kind(campaign.situations, design)
    return CoverageReport(
        ARCHITECTURE, GOALS, campaign.counts, EXCLUSIONS, situations, missing, ran
    )
