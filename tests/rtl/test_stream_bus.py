"""The streaming multiplier's AXI4-Streams under stalls and bursts, driven by cocotb.

The bench itself is bus/stream_bench.py.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ringsmith.arch.stream import rtl
from ringsmith.arch.stream.design import StreamDesign
from ringsmith.devices.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "stream_bench.py"


@pytest.mark.parametrize("lanes", [2, pytest.param(4, marks=pytest.mark.full)])
def test_streams_lose_and_reorder_nothing(run_bench: Callable[..., None], lanes: int) -> None:
    design = StreamDesign("bus", 8, lanes, 30)
    run_bench(
        BENCH,
        rtl.TOP,
        rtl_sources(*rtl.ROOMS),
        rtl.parameters(design),
        ["s_axis_*", "m_axis_*", "fault_o"],
        {"RINGSMITH_BENCH": json.dumps([design.log_n, design.lanes, design.word_bits])},
        rtl.SIMULATION,
    )
