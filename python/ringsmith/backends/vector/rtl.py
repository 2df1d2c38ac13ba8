"""The RTL of a cluster: its top module, its sources, and what it is elaborated with."""

from ringsmith.backends.vector.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.latency import step_bits

TOP = "rs_vector_core"
"""A cluster."""

FOLDERS = ("arith", "mem", "vector")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""


def parameters(design: VectorDesign) -> dict[str, int]:
    """Values of the parameters of one cluster of a design."""
    return {
        **array_parameters(design),
        "Banks": design.banks,
        "BankRows": design.bank_rows,
        "TableRows": design.table_rows,
        "StreamRows": design.stream_rows,
    }


def array_parameters(design: VectorDesign) -> dict[str, int]:
    """Values of the parameters of its array."""
    return {
        "LogLanes": design.log_lanes,
        **unit_parameters(design),
    }


def unit_parameters(design: VectorDesign) -> dict[str, int]:
    """Values of the parameters of a unit of its array."""
    return {
        "Width": design.word_bits,
        "Reduction": int(design.reduction == MONTGOMERY),
        "StepBits": step_bits(design),
        "LogRadix": design.log_radix,
    }
