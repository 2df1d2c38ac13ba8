"""The register block's AXI4-Lite bus under random stalls and back-pressure, driven by cocotb.

The bench itself is bus/registers_bench.py.
"""

import json
from collections.abc import Callable
from pathlib import Path

from ringsmith.arch.rpau import rtl
from ringsmith.arch.rpau.assembler import encode
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import instruction
from ringsmith.devices.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "registers_bench.py"
DESIGN = RpauDesign(
    name="tiny",
    log_n=8,
    word_bits=40,
    rpaus=2,
    cores=2,
    dyadic_cores=1,
    work_polys=4,
    key_polys=2,
    constants=8,
    program_words=16,
    reduction="barrett",
)


def test_the_bus_keeps_its_promises_under_random_stalls(
    run_bench: Callable[..., None],
) -> None:
    halt = encode(instruction("halt", (1 << DESIGN.rpaus) - 1))
    run_bench(
        BENCH,
        rtl.BUS_TOP,
        rtl_sources(*rtl.BUS_ROOMS),
        rtl.parameters(DESIGN),
        ["s_axi*"],
        {
            "RINGSMITH_BENCH": json.dumps(rtl.facts(DESIGN)),
            "RINGSMITH_BENCH_HALT": str(halt),
        },
    )
