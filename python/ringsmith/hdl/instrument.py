"""What a simulation can record while it computes: each is a build of its own, and costs speed."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class _Build:
    """How an instrumented design is built.

    Attributes:
        verilator: Verilator's options.
        macros: Of Verilator's ``VM_...`` macros, those that are 1.
        runtime: More files of Verilator's run-time library.
        optimization: The compiler's, for what runs every cycle. ``-O2`` takes half as long again
            as ``-Og`` to build, and makes no simulation faster: measured on all architectures.
    """

    verilator: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    optimization: str = "-Og"


class Instrument(Enum):
    """What a build records."""

    NONE = _Build()
    BRIEF = _Build(("--output-split", "0"), optimization="-O0")
    """Nothing, and the build takes a fraction of the time: for runs of few cycles."""
    WAVES = _Build(
        ("--trace-vcd", "--trace-structs", "--no-trace-params", "--trace-max-width", "4096"),
        ("TRACE", "TRACE_VCD"),
        ("verilated_vcd_c.cpp",),
    )
    """Every signal in every cycle of a window, except memories of more than 32 words."""
    COVERAGE = _Build(
        ("--coverage-line", "--coverage-toggle", "-Wno-UNOPTFLAT"),
        ("COVERAGE",),
        ("verilated_cov.cpp",),
    )
    """How often each line ran and each bit changed.

    Counters keep Verilator from splitting arrays, so that a chain of elements looks circular to it:
    that warning is of speed alone.
    """
