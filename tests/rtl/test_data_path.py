"""The buses of an accelerator under random stalls and back-pressure, driven by cocotb.

The benches are bus/data_bench.py and bus/registers_bench.py. With two cores two rows make a beat of
the data path, with eight two beats a row.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_read_cycles
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import instruction

RunBusBench = Callable[[Path, RpauDesign, Mapping[str, str]], None]

BENCHES = Path(__file__).parent / "bus"


@pytest.mark.parametrize("cores", [2, pytest.param(8, marks=pytest.mark.full)])
def test_polynomials_cross_the_data_path_under_random_stalls(
    run_bus_bench: RunBusBench, bus_design: RpauDesign, cores: int
) -> None:
    design = replace(bus_design, cores=cores)
    everyone = (1 << design.rpaus) - 1
    steps = [instruction("add", everyone, dst=0, a=1, b=2)] * (design.program_words - 1)
    program = [encode(step) for step in (*steps, instruction("halt", everyone))]
    settings = {"PROGRAM": json.dumps(program), "LATENCY": str(host_read_cycles(design))}
    run_bus_bench(BENCHES / "data_bench.py", design, settings)


def test_registers_keep_their_promises_under_random_stalls(
    run_bus_bench: RunBusBench, bus_design: RpauDesign
) -> None:
    halt = encode(instruction("halt", (1 << bus_design.rpaus) - 1))
    run_bus_bench(BENCHES / "registers_bench.py", bus_design, {"HALT": str(halt)})
