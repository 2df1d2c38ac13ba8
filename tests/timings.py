"""Latencies that are easy to add up, for tests whose cycles are worked out by hand."""

from ringsmith.backends.rpau.compiler.timeline import Timing
from ringsmith.backends.rpau.isa.instruction_set import ISA

_CYCLES = {"control": 0, "main": 100, "dyadic": 250, "link": 30, "coefficient": 500}
BY_HAND = Timing(4, {each.name: _CYCLES[each.unit] for each in ISA.operations})
"""4 cycles a fetch, 100 on the main unit, 250 on the dyadic unit, 30 on the link unit,
500 on the coefficient unit."""
