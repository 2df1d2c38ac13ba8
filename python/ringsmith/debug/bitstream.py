"""What place and route found, as tables and as text."""

from collections.abc import Iterator

from rich.table import Table

from ringsmith.hdl.ecp5.report import Implemented

_NAMES = {
    "TRELLIS_COMB": "LUT4, carries and LUT memory",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAM of 18 Kbit (DP16KD)",
    "MULT18X18D": "multipliers of 18 x 18 bits (MULT18X18D)",
    "EHXPLLL": "PLL",
    "TRELLIS_IO": "pins",
}


def tables(found: Implemented) -> Iterator[Table]:
    """Clocks and utilisation, for a terminal."""
    clocks = Table("clock", "MHz wanted", "MHz reached", title="Clocks, after place and route")
    for clock in found.clocks:
        clocks.add_row(clock.name, f"{clock.wanted_mhz:.1f}", f"{clock.reached_mhz:.1f}")
    used = Table("cells", "used", "of", "%", title="What the FPGA has, and what is used")
    for kind, each in found.used.items():
        share = f"{100 * each.used / each.available:.0f}" if each.available else ""
        used.add_row(_NAMES.get(kind, kind), f"{each.used:,}", f"{each.available:,}", share)
    yield clocks
    yield used


def text(found: Implemented) -> str:
    """The report as a file has it: clocks, utilisation, the worst path step by step."""
    lines = ["clock, MHz wanted, MHz reached"]
    lines += [
        f"  {clock.name}  {clock.wanted_mhz:.2f}  {clock.reached_mhz:.2f}" for clock in found.clocks
    ]
    lines += ["", "cells, used, available"]
    lines += [f"  {kind}  {each.used}  {each.available}" for kind, each in found.used.items()]
    lines += ["", "worst path between registers: ns, what, where it ends"]
    lines += [
        f"  {step.delay_ns:6.3f}  {step.kind:8}  {step.cell}.{step.port}"
        for step in found.worst_path
    ]
    total = sum(step.delay_ns for step in found.worst_path)
    return "\n".join([*lines, f"  {total:6.3f}  in all", ""])


def shortfall(found: Implemented) -> str:
    """Which clocks place and route did not reach, and what to do."""
    slow = [clock for clock in found.clocks if not clock.reached]
    named = ", ".join(
        f"clock {clock.name} reaches {clock.reached_mhz:.1f} of {clock.wanted_mhz:.1f} MHz"
        for clock in slow
    )
    return (
        f"{named or 'no clock was found'}: nothing is written: lower --clock, or try another --seed"
    )
