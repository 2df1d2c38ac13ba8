"""The named streaming multipliers' part of the page of designs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.stream.debug.compare import ComparedProducts
from ringsmith.backends.stream.design.area import dsps, latency_cycles, memories
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.hdl.synthesis import Area
from ringsmith.markdown import DASH, MEASURED, comparison, measured, table


@dataclass(frozen=True)
class StreamRow:
    """What is known of a stream design.

    Attributes:
        design: The design.
        verified: What was compared with the RTL; None: the RTL did not run.
        area: Of the whole device; None: it was not synthesized.
    """

    design: StreamDesign
    verified: ComparedProducts | None = None
    area: Area | None = None


def stream_table(rows: Sequence[StreamRow]) -> str:
    """Sizes, cycles and resources as a Markdown table."""
    headings = (
        "design",
        "N",
        "words a cycle",
        "word bits",
        "reduction",
        "cycles between products",
        "cycles of a product",
        "DSP",
        "36 Kbit BRAM",
        "LUT",
        "flip-flops",
        MEASURED,
    )
    entries = []
    for row in rows:
        design, area = row.design, row.area
        brams = memories(design).total if area is None else area.brams
        entries.append(
            [
                f"`{design.name}`",
                f"{design.n:,}",
                f"{design.lanes}",
                f"{design.word_bits}",
                design.multiplier,
                f"{design.period:,}",
                f"{latency_cycles(design):,}",
                f"{dsps(design) if area is None else area.dsps:,}",
                f"{brams:,.1f}".removesuffix(".0"),
                DASH if area is None else f"{area.lut_sites:,}",
                DASH if area is None else f"{area.fabric_flip_flops:,}",
                measured(area is not None),
            ]
        )
    return table(headings, entries)


def stream_verification_table(rows: Sequence[StreamRow]) -> str:
    """What was compared with the RTL, as a Markdown table."""
    headings = ("design", "random products", "primes", "cycles", "words compared", MEASURED)
    entries = []
    for row in rows:
        v = row.verified
        counts = None if v is None else (v.products, v.primes, v.cycles, v.words)
        entries.append([f"`{row.design.name}`", *comparison(counts), measured(v is not None)])
    return table(headings, entries)


def stream_section(rows: Sequence[StreamRow]) -> str:
    """The section of the page ``docs/results/designs.md``."""
    return f"""## Streaming multipliers

[The streaming multiplier](../reference/stream.md) describes them; [RPM results](rpm.md) compares
`rpm` with its paper. A product of two polynomials modulo x^N + 1 and a prime begins as often as the
table says, of any prime, and its first word leaves this many cycles after its operands' first.
Resources are those of the 7 series: DSPs and block RAMs are counted, LUTs and flip-flops
synthesized by Yosys as above. A dash: not synthesized.

{stream_table(rows)}
Random products of mixed primes, back to back, ran on the simulated RTL and on the model: every
word, and the cycle in which each product began, were equal, or this page would not have been
written.

{stream_verification_table(rows)}"""
