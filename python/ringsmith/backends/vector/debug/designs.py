"""The vector designs' part of the page of designs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.vector.debug.compare_operations import ComparedOperations
from ringsmith.backends.vector.debug.costs import DATA_PRIMES, OPERATIONS
from ringsmith.backends.vector.design.area import cluster_area
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.synthesis import Area
from ringsmith.markdown import DASH, MEASURED, comparison, measured, table

_AREA = ("DSP", "36 Kbit BRAM", "URAM", "LUT", "flip-flops")


@dataclass(frozen=True)
class VectorRow:
    """What is known of a vector design.

    Attributes:
        design: The design.
        area: Of one cluster; None: it was not synthesized.
        cycles: HE operation -> cycles; None where the design cannot run it.
        verified: What was compared with the RTL; None: the RTL did not run.
    """

    design: VectorDesign
    area: Area | None = None
    cycles: Mapping[str, int | None] = field(default_factory=dict)
    verified: ComparedOperations | None = None


def vector_table(rows: Sequence[VectorRow]) -> str:
    """Sizes as a Markdown table."""
    headings = (
        "design",
        "N",
        "clusters",
        "lanes",
        "stages a pass",
        "ALUs",
        "word bits",
        "reduction",
        "scratchpad (MiB)",
    )
    return table(
        headings,
        [
            [
                f"`{design.name}`",
                f"{design.n:,}",
                f"{design.clusters}",
                f"{design.lanes}",
                f"{design.log_radix}",
                f"{design.alus:,}",
                f"{design.word_bits}",
                design.reduction,
                f"{design.scratchpad_bytes / 2**20:.1f}",
            ]
            for design in (row.design for row in rows)
        ],
    )


def vector_area_table(rows: Sequence[VectorRow]) -> str:
    """Areas of one cluster, synthesized and estimated, as a Markdown table."""
    entries = []
    for row in rows:
        estimate = cluster_area(row.design)
        guessed = [f"{estimate.lut_sites:,}", f"{estimate.fabric_flip_flops:,}"]
        date = measured(row.area is not None)
        entries.append([f"`{row.design.name}`", *guessed, *_numbers(row.area), date])
    return table(("design", "LUT, estimated", "flip-flops, estimated", *_AREA, MEASURED), entries)


def _numbers(area: Area | None) -> list[str]:
    """What stands below ``_AREA``."""
    if area is None:
        return [DASH] * len(_AREA)
    found = (area.dsps, area.brams, area.urams, area.lut_sites, area.fabric_flip_flops)
    return [f"{number:,.1f}".removesuffix(".0") for number in found]


def vector_cycles_table(rows: Sequence[VectorRow]) -> str:
    """Cycles of the main operations as a Markdown table."""
    operations = ["ntt", *OPERATIONS]
    entries = []
    for row in rows:
        found = [row.cycles.get(operation) for operation in operations]
        cells = [DASH if cycles is None else f"{cycles:,}" for cycles in found]
        entries.append([f"`{row.design.name}`", f"{row.design.n:,}", *cells])
    return table(["design", "N", *operations], entries)


def vector_verification_table(rows: Sequence[VectorRow]) -> str:
    """What was compared with the RTL, as a Markdown table."""
    headings = ("design", "operations", "instructions", "cycles", "words compared", MEASURED)
    entries = []
    for row in rows:
        v = row.verified
        counts = None if v is None else (v.operations, v.instructions, v.cycles, v.words)
        entries.append([f"`{row.design.name}`", *comparison(counts), measured(v is not None)])
    return table(headings, entries)


def vector_section(rows: Sequence[VectorRow]) -> str:
    """The section of the page ``docs/results/designs.md``."""
    return f"""## Vector arrays

[The vector architecture](../reference/vector.md) describes them; [Framework results](framework.md)
compares their cycles with the paper's, and where they stand on the dies of its card.

{vector_table(rows)}
The area of one cluster, for UltraScale+, without what joins it to memory and host: synthesized by
Yosys as above, whole, and estimated from blocks that were synthesized before. A dash: not
synthesized.

{vector_area_table(rows)}
Clock cycles with {DATA_PRIMES} data primes, a digit of key switching each, and a special prime, in
the largest ring; operands, keys and results lie in memory, and every transfer is counted. `ntt` is
one limb of several that are transformed together. A dash: the design cannot run it.

{vector_cycles_table(rows)}
HE operations with random residues, and random numbers of limbs and digits, ran on the simulated RTL
in the smallest ring. Results were the interpreter's and cycles the schedule's, or this page would
not have been written.

{vector_verification_table(rows)}"""
