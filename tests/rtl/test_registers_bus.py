"""The register block's AXI4-Lite bus under random stalls and back-pressure, driven by cocotb.

The bench itself is bus/registers_bench.py.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import instruction

RunBusBench = Callable[[Path, RpauDesign, Mapping[str, str]], None]

BENCH = Path(__file__).parent / "bus" / "registers_bench.py"


def test_the_bus_keeps_its_promises_under_random_stalls(
    run_bus_bench: RunBusBench, bus_design: RpauDesign
) -> None:
    halt = encode(instruction("halt", (1 << bus_design.rpaus) - 1))
    run_bus_bench(BENCH, bus_design, {"HALT": str(halt)})
