"""The streaming multiplier's AXI4-Streams under stalls and bursts, driven by cocotb.

The bench itself is bus/stream_bench.py.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ringsmith.backends.stream.design import rtl
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT, MONTGOMERY
from ringsmith.hdl.sources import rtl_sources

BENCH = Path(__file__).parent / "bus" / "stream_bench.py"


FULL = pytest.mark.full


# log2 N, lanes, bits of a word, multiplier; each turn pauses otherwise
@pytest.mark.parametrize(
    ("shape", "turn"),
    [
        ((8, 2, 30, MONTGOMERY), 0),
        *(pytest.param((8, 2, 30, MONTGOMERY), turn, marks=FULL) for turn in range(1, 6)),
        *(pytest.param((8, 4, 30, MONTGOMERY), turn, marks=FULL) for turn in range(2)),
        *(pytest.param((9, 8, 30, MONTGOMERY), turn, marks=FULL) for turn in range(2)),
        *(pytest.param((8, 2, 45, BARRETT), turn, marks=FULL) for turn in range(2)),
    ],
)
def test_streams_lose_and_reorder_nothing(
    run_bench: Callable[..., None], shape: tuple[int, int, int, str], turn: int
) -> None:
    run_bench(
        BENCH,
        rtl.TOP,
        rtl_sources(*rtl.FOLDERS),
        rtl.parameters(StreamDesign("bus", *shape)),
        ["s_axis_*", "m_axis_*", "fault_o"],
        {"RINGSMITH_BENCH": json.dumps([shape, turn])},
        rtl.SIMULATION,
    )
