"""The coverage campaign: random programs on the model and on RTL that counts its coverage.

Programs are chosen among many random ones so that every situation of the instruction set occurs:
what a program brings about follows from its schedule alone. Some more run for the bits of words and
addresses. On RTL and model, which must agree; the RTL's counts are added up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from ringsmith import progress
from ringsmith.backends.vector.debug.compare import Compared, compare
from ringsmith.backends.vector.debug.isa_coverage import (
    Situation,
    by_kind,
    every_situation,
    situations,
)
from ringsmith.backends.vector.debug.random_program import random_program
from ringsmith.backends.vector.design.design import ARCHITECTURE, MONTGOMERY, VectorDesign
from ringsmith.hdl.coverage import CoverageReport, Exclusion, Point, points, read_records

LENGTH = 40
"""Random instructions of a program, without those that store what is left."""

CANDIDATES = 300
"""Random programs to choose from."""

PROGRAMS = 10
"""Programs that run at least."""

REGISTERS = "vector_axi/rs_vector_registers.sv"
"""PeakRDL's file, which does not count: it is generated, and has tests of its own."""

QUICK_CANDIDATES = 2
"""Candidates and programs with --quick: what they cover misses the goals."""


def campaign_design() -> VectorDesign:
    """The design to cover: as small as can be with everything used.

    Two results of a point instruction; three rings; so few rows that a transform of one limb waits
    for its passes; memories so small that streams and tables make instructions wait; one port of
    memory, so that stores do.
    """
    return VectorDesign(
        name="covered",
        log_n=10,
        log_lanes=4,
        log_radix=4,
        word_bits=30,
        reduction=MONTGOMERY,
        banks=5,
        bank_rows=256,
        table_rows=256,
        stream_rows=96,
        ports=1,
    )


def quick_design() -> VectorDesign:
    """The design of --quick: with the same blocks, as small as each can be."""
    return replace(
        campaign_design(), name="covered-quick", log_n=8, log_radix=2, word_bits=20, bank_rows=64
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

    design: VectorDesign
    situations: Counter[Situation]
    counts: Counter[Point]
    compared: Compared


def choose_seeds(design: VectorDesign, candidates: int, programs: int) -> list[int]:
    """Seeds of random programs that together bring about what all candidates do.

    Greedy: the program with the most situations a cycle that are still missing comes next. The
    shortest of the others follow, until there are enough.
    """
    found = {seed: random_program(design, seed, LENGTH).executable for seed in range(candidates)}
    cycles = {seed: executable.cycles for seed, executable in found.items()}
    brought = {seed: set(situations(executable)) for seed, executable in found.items()}
    missing = set().union(*brought.values())
    chosen = []
    while missing:
        best = max(brought, key=lambda seed: len(brought[seed] & missing) / cycles[seed])
        chosen.append(best)
        missing -= brought.pop(best)
    others = sorted(brought, key=cycles.__getitem__)
    return chosen + others[: max(0, programs - len(chosen))]


def run_campaign(
    design: VectorDesign, *, candidates: int = CANDIDATES, programs: int = PROGRAMS
) -> Campaign:
    """Runs a campaign.

    Args:
        design: The design to run on.
        candidates: Random programs to choose from.
        programs: How many run at least.

    Raises:
        DeviceError: If model and RTL differ.
        ToolError: If the RTL cannot be built.
    """
    seeds = choose_seeds(design, candidates, programs)
    seen: Counter[Situation] = Counter()
    records: Counter[str] = Counter()
    compared = Compared()
    with (
        TemporaryDirectory() as folder,
        progress.task(f"random programs on {design.name}", len(seeds), "programs") as task,
    ):
        path = Path(folder) / "coverage.dat"
        for seed in seeds:
            program = random_program(design, seed, LENGTH)
            seen.update(situations(program.executable))
            compared = compared.plus(compare(program.executable, program.fetch, counts=path))
            records.update(read_records(path))
            task.advance(1)
    counts = Counter({p: count for p, count in points(records).items() if p.file != REGISTERS})
    return Campaign(design, seen, counts, compared)


def missing_situations(campaign: Campaign) -> list[Situation]:
    """Situations of the instruction set that did not occur."""
    return sorted(every_situation(campaign.design) - campaign.situations.keys())


GOALS: Mapping[str, float] = MappingProxyType({"line": 1.0, "toggle": 0.995, "situation": 1.0})
"""Least share of each kind of point that a campaign must cover.

One campaign elaborates one design: what only others have (Barrett's reduction, a radix of 4) does
not count, and bits that its primes and sizes never move are excused by rules.
"""


def report(campaign: Campaign, exclusions: Sequence[Exclusion]) -> CoverageReport:
    """What a campaign covered, but for points that none can reach."""
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
        ARCHITECTURE, GOALS, campaign.counts, exclusions, situations, missing, ran
    )
