"""Coprocessors behind a card's DMA: whole runs from host memory to host memory, and what may fail.

The bench itself is bus/card_bench.py; the host that drives the card, bus/card_host.py.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau import rtl
from ringsmith.backends.rpau.design import load_design
from ringsmith.hdl.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "card_bench.py"
SMALL = {"log_n": 10, "work_uram_polys": 0, "key_ram": "block"}


@pytest.mark.parametrize(
    "coprocessors", [2, pytest.param(6, marks=pytest.mark.full)], ids="{}-coprocessors".format
)
def test_a_card_computes_and_fails_as_its_pages_say(
    run_bench: Callable[..., None], coprocessors: int
) -> None:
    change = {**SMALL, "coprocessors": coprocessors, "name": f"card{coprocessors}-small"}
    design = replace(load_design("heaws6"), **change)
    shape = (coprocessors, design.host_bits, 4, design.word_bits, 9, 4000, 5000, 0)
    run_bench(
        BENCH,
        rtl.CARD_TOP,
        rtl_sources(*rtl.CARD_ROOMS),
        rtl.card_parameters(design),
        ["bus_*", "*_i", "*_o", "s_axil*", "m_axi*", "host_*", "start"],
        {"RINGSMITH_BENCH": json.dumps(shape), "RINGSMITH_CARD": json.dumps(change)},
    )
