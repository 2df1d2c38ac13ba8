"""The RTL of an RPAU design: its top module, its sources, and what it is elaborated with."""

from ringsmith.arch.rpau.design import REDUCTIONS, RpauDesign

TOP = "rs_rpau_top"
"""The top module."""

ROOMS = ("arith", "mem", "ntt", "rpau")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""

FACTS = (
    "LogN",
    "Width",
    "Rpaus",
    "Cores",
    "DyadicCores",
    "WorkPolys",
    "KeyPolys",
    "Constants",
    "ProgramWords",
    "Reduction",
)
"""The top's parameters, in the order in which a device tells them (``rs_rpau_pkg::fact_e``)."""


def parameters(design: RpauDesign) -> dict[str, int]:
    """Values of the top's parameters for a design."""
    values = (
        design.log_n,
        design.word_bits,
        design.rpaus,
        design.cores,
        design.dyadic_cores,
        design.work_polys,
        design.key_polys,
        design.constants,
        design.program_words,
        REDUCTIONS.index(design.reduction),
    )
    return dict(zip(FACTS, values, strict=True))
