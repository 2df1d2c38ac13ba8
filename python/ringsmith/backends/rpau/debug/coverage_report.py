"""What ``ringsmith coverage`` says of this architecture, and its goals."""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.backends.rpau.debug.campaign import LENGTH, Campaign, missing_situations
from ringsmith.backends.rpau.debug.exclusions import EXCLUSIONS
from ringsmith.backends.rpau.debug.isa_coverage import by_kind
from ringsmith.backends.rpau.design.design import ARCHITECTURE
from ringsmith.hdl.coverage_report import CoverageReport

GOALS: Mapping[str, float] = MappingProxyType({"line": 1.0, "toggle": 0.995, "situation": 1.0})
"""Least share of each kind of point that a campaign must cover.

One campaign elaborates one design: what only others have (stored twiddle factors, …) does not
count, and bits that its one modulus bank, its primes and its sizes never move are excused by rules.
"""


def report(campaign: Campaign) -> CoverageReport:
    """What a campaign covered."""
    design, equal = campaign.design, campaign.compared
    ran = f"""\
{equal.programs} programs of {LENGTH} random instructions ({equal.cycles:,} cycles), chosen so that
every situation occurs, ran on the RTL and on the model: cycles and {equal.polynomials:,}
polynomials were equal. Then a reset stopped a program in its midst. The design has
N = {design.n}, {design.rpaus} RPAUs of {design.cores} butterfly and {design.dyadic_cores} dyadic
cores, and {design.word_bits}-bit words."""
    missing = [f"{each.name}: {each.kind} {each.detail}" for each in missing_situations(campaign)]
    situations = by_kind(campaign.situations)
    return CoverageReport(
        ARCHITECTURE, GOALS, campaign.counts, EXCLUSIONS, situations, missing, ran
    )
