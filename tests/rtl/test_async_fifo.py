"""The FIFO between two clocks, with clocks that really differ and resets in the middle.

The bench itself is bus/fifo_bench.py; test_proofs.py proves the FIFO for clocks of any kind.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ringsmith.errors import ToolError
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block

BENCH = Path(__file__).parent / "bus" / "fifo_bench.py"
SIGNALS = ("*_i", "*_ni", "*_o")
SOURCES = rtl_sources("arith", "mem", "dma")

RATIOS = [(4000, 5000), (5000, 4000), (1000, 7000), (7000, 1000), (6002, 9998), (4000, 4000)]
"""Periods of the two clocks in picoseconds; of the fifth pair, twice two primes."""


@pytest.mark.parametrize("periods", RATIOS, ids=str)
@pytest.mark.parametrize(
    ("log_depth", "width"),
    [(4, 30), *(pytest.param(d, 64, marks=pytest.mark.full) for d in (1, 9))],
)
def test_words_cross_between_clocks_of_any_ratio(
    run_bench: Callable[..., None], periods: tuple[int, int], log_depth: int, width: int
) -> None:
    run_bench(
        BENCH,
        "rs_async_fifo",
        SOURCES,
        {"LogDepth": log_depth, "Width": width},
        SIGNALS,
        {"RINGSMITH_BENCH": json.dumps([*periods, width, log_depth])},
    )


@pytest.mark.parametrize(("port", "other"), [("w", "read"), ("r", "write")])
def test_a_port_that_is_reset_alone_stops_the_simulation(
    run_bench: Callable[..., None], tmp_path: Path, port: str, other: str
) -> None:
    with pytest.raises((RuntimeError, SystemExit)):
        run_bench(
            BENCH.with_name("fifo_alone_bench.py"),
            "rs_async_fifo",
            SOURCES,
            {"LogDepth": 4, "Width": 30},
            SIGNALS,
            {"RINGSMITH_BENCH": port},
        )
    assert f"was reset without its {other} port" in (tmp_path / "log.txt").read_text()


def test_a_memory_of_two_clocks_is_no_ultra_ram() -> None:
    with pytest.raises(ToolError, match="RamStyle is neither block nor distributed"):
        build_block("rs_ram_2clk", SOURCES, {"RamStyle": "ultra"})
