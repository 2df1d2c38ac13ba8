"""Coprocessors behind a card's DMA: whole runs from host memory to host memory, and what may fail.

The bench itself is bus/card_bench.py; the host that drives the card, bus/card_host.py.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.registry import inspector_of
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.netlist import kind
from ringsmith.hdl.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "card_bench.py"
SMALL = {"log_n": 10, "work_uram_polys": 0, "key_ram": "block"}


@pytest.mark.full
@pytest.mark.parametrize("bits", [32, 64, 128, 256, 512])
def test_yosys_reads_a_card(tmp_path: Path, bits: int) -> None:
    """As synthesis does; what is inside the accelerators is read with their own tops."""
    values = rtl.card_parameters(replace(load_design("heaws6"), host_bits=bits, coprocessors=2))
    found = elaborated(
        rtl.CARD_TOP,
        rtl_sources(*rtl.CARD_FOLDERS),
        [f"{name}={value}" for name, value in values.items()],
        tmp_path,
        boxes=[rtl.TOP],
    )
    assert rtl.CARD_TOP in found["modules"]
    assert {"rs_dma", "rs_rpau_shell", rtl.TOP} <= {*map(kind, found["modules"])}


@pytest.mark.full
def test_a_design_of_several_coprocessors_is_written_as_a_card() -> None:
    design = replace(load_design("heaws6"), **{**SMALL, "coprocessors": 2, "name": "card2-small"})
    text = inspector_of(design, "is not written as Verilog").verilog(design)
    assert f"module {rtl.CARD_TOP}(" in text
    assert f"module {rtl.BUS_TOP}(" not in text


@pytest.mark.parametrize(
    "coprocessors", [2, pytest.param(6, marks=pytest.mark.full)], ids="{}-coprocessors".format
)
def test_a_card_computes_and_fails_as_its_pages_say(
    run_bench: Callable[..., None], coprocessors: int
) -> None:
    rpaus = 4 if coprocessors == 2 else 7  # one more than primes
    name = f"card{coprocessors}-small"
    change = {**SMALL, "coprocessors": coprocessors, "rpaus": rpaus, "name": name}
    design = replace(load_design("heaws6"), **change)
    shape = (coprocessors, design.host_bits, 4, design.word_bits, 9, 4000, 5000, 0)
    run_bench(
        BENCH,
        rtl.CARD_TOP,
        rtl_sources(*rtl.CARD_FOLDERS),
        rtl.card_parameters(design),
        ["bus_*", "*_i", "*_o", "s_axil*", "m_axi*", "host_*", "start"],
        {"RINGSMITH_BENCH": json.dumps(shape), "RINGSMITH_CARD": json.dumps(change)},
    )
