"""The coverage campaign: random programs on the model and on RTL that counts its coverage.

Programs are chosen among many random ones so that every situation of the instruction set occurs
with as few programs as possible: what a program brings about follows from the timeline alone.
Then they run on the RTL and on the model, which must agree, and the RTL's counts are collected.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from ringsmith.backends.rpau.compiler.timeline import Timing
from ringsmith.backends.rpau.debug.compare import Compared, compare
from ringsmith.backends.rpau.debug.isa_coverage import (
    Situation,
    by_kind,
    every_situation,
    situations,
)
from ringsmith.backends.rpau.debug.random_program import random_program, ring_in_turn
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design.design import ARCHITECTURE, RpauDesign, load_design
from ringsmith.backends.rpau.device.recording import CoverageCoprocessor
from ringsmith.errors import DeviceError
from ringsmith.hdl.coverage import CoverageReport, Exclusion, Point, read_counts

LENGTH = 60
"""Instructions of a program."""

CANDIDATES = 1600
"""Random programs to choose from."""

QUICK_CANDIDATES = 2
"""The same with --quick: what they cover misses the goals."""


def campaign_design() -> RpauDesign:
    """The design to cover: as small as can be with everything used.

    Three RPAUs, so that a mask can name some of them and a source lie between; rows so few that
    the stages of an NTT must wait for the pipeline, and in the smallest ring for the first factors
    too; polynomials shorter than N, and in two and four sub-polynomials; narrow words, since every
    bit counts.
    """
    return replace(
        load_design("nano"),
        name="covered",
        log_n=9,
        word_bits=30,
        rpaus=3,
        cores=8,
        dyadic_cores=1,
        work_polys=8,
        key_polys=4,
        constants=8,
        program_words=64,
        prng="trivium",
        seeds=4,
        link=True,
        larger_rings=2,
        smaller_rings=1,
        converters=2,
        conversions=2,
        host_bits=64,
    )


def quick_design() -> RpauDesign:
    """The design of --quick: with the same units, as small as each can be."""
    return replace(
        campaign_design(),
        name="covered-quick",
        log_n=8,
        rpaus=2,
        cores=1,
        larger_rings=0,
        smaller_rings=0,
    )


@dataclass(frozen=True)
class Campaign:
    """What a campaign covered.

    Attributes:
        design: The design that it ran on.
        situations: How often each situation of the instruction set occurred.
        counts: Counts of the RTL's points.
        compared: What was found equal to the model.
    """

    design: RpauDesign
    situations: Counter[Situation]
    counts: Counter[Point]
    compared: Compared


def choose_seeds(design: RpauDesign, candidates: int, length: int) -> list[int]:
    """Seeds of random programs that together bring about what all candidates do.

    Greedy: the program with the most situations that are still missing comes next.
    """
    found = {seed: set(_situations(design, seed, length)) for seed in range(candidates)}
    missing = set().union(*found.values())
    chosen = []
    while missing:
        best = max(found, key=lambda seed: (len(found[seed] & missing), -seed))
        chosen.append(best)
        missing -= found.pop(best)
    return chosen


def run_campaign(
    design: RpauDesign, *, candidates: int = CANDIDATES, length: int = LENGTH
) -> Campaign:
    """Runs a campaign.

    Args:
        design: The design to run on.
        candidates: Random programs to choose from.
        length: Instructions of a program.

    Raises:
        DeviceError: If model and RTL differ.
        ToolError: If the RTL cannot be built.
    """
    seeds = choose_seeds(design, candidates, length)
    seen: Counter[Situation] = Counter()
    for seed in seeds:
        seen.update(_situations(design, seed, length))
    coprocessor = CoverageCoprocessor(design)
    try:
        compared = compare(coprocessor, design, seeds, length)
        _give_up(coprocessor)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "coverage.dat"
            coprocessor.write_coverage(path)
            counts = read_counts(path)
    finally:
        coprocessor.close()
    return Campaign(design, seen, counts, compared)


def _situations(design: RpauDesign, seed: int, length: int) -> Counter[Situation]:
    ring = ring_in_turn(design, seed)
    program = random_program(design, seed, length, log_degree=ring)
    words = [int(word) for word in program.words]
    return situations(Trace.of_run(design, words, program.starts, timing=Timing.of(design, ring)))


def _give_up(coprocessor: CoverageCoprocessor) -> None:
    """Lets the last program run out of time, so that the device is reset in its midst."""
    try:
        coprocessor.run(max_cycles=100)
    except DeviceError:
        return
    raise DeviceError("a program that takes thousands of cycles ended within 100")


def missing_situations(campaign: Campaign) -> list[Situation]:
    """Situations of the instruction set that did not occur."""
    return sorted(every_situation() - campaign.situations.keys())


GOALS: Mapping[str, float] = MappingProxyType({"line": 1.0, "toggle": 0.995, "situation": 1.0})
"""Least share of each kind of point that a campaign must cover.

One campaign elaborates one design: what only others have (stored twiddle factors, …) does not
count, and bits that its one modulus bank, its primes and its sizes never move are excused by rules.
"""


def report(campaign: Campaign, exclusions: Sequence[Exclusion]) -> CoverageReport:
    """What a campaign covered, but for points that none can reach."""
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
        ARCHITECTURE, GOALS, campaign.counts, exclusions, situations, missing, ran
    )
