"""The data path: polynomials over AXI4 under random stalls and back-pressure, driven by cocotb.

The bench itself is bus/data_bench.py. In the narrow design two rows make a beat, in the wide one
two beats a row.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.arch.rpau import rtl
from ringsmith.arch.rpau.assembler import encode
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import instruction
from ringsmith.devices.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "data_bench.py"
FETCH_CYCLES = 7  # from a row's request to the next one's, where nobody stalls
NARROW = RpauDesign(
    name="narrow",
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
WIDE = replace(NARROW, name="wide", cores=8)


@pytest.mark.parametrize(
    "design", [NARROW, pytest.param(WIDE, marks=pytest.mark.full)], ids=lambda design: design.name
)
def test_polynomials_cross_the_data_path_under_random_stalls(
    run_bench: Callable[..., None], design: RpauDesign
) -> None:
    everyone = (1 << design.rpaus) - 1
    steps = [instruction("add", everyone, dst=0, a=1, b=2)] * (design.program_words - 1)
    program = [encode(step) for step in (*steps, instruction("halt", everyone))]
    run_bench(
        BENCH,
        rtl.BUS_TOP,
        rtl_sources(*rtl.BUS_ROOMS),
        rtl.parameters(design),
        ["s_axi*"],
        {
            "RINGSMITH_BENCH": json.dumps(rtl.facts(design)),
            "RINGSMITH_BENCH_PROGRAM": json.dumps(program),
            "RINGSMITH_BENCH_FETCH": str(FETCH_CYCLES),
        },
    )
