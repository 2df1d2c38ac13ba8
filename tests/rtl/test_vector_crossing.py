"""The crossing of a port to memory's clock, with clocks that really differ.

The bench itself is bus/crossing_bench.py; test_async_fifo.py has the FIFOs between the clocks.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ringsmith.backends.vector.design.rtl import accelerator_sources

BENCH = Path(__file__).parent / "bus" / "crossing_bench.py"
PORT_BITS = 64

PERIODS = [(4000, 2222), (2222, 4000), (4000, 2000), (6002, 9998)]
"""Of cluster and memory in picoseconds: 250 and 450 MHz; of the last pair, twice two primes."""


@pytest.mark.parametrize("periods", PERIODS, ids=str)
def test_bursts_cross_between_clocks_of_any_ratio(
    run_bench: Callable[..., None], periods: tuple[int, int]
) -> None:
    run_bench(
        BENCH,
        "rs_vector_crossing",
        accelerator_sources(),
        {"PortBits": PORT_BITS},
        ("*_i", "*_ni", "*_o"),
        {"RINGSMITH_BENCH": json.dumps([*periods, PORT_BITS])},
    )
