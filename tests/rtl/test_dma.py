"""The DMA: lists of descriptors between a host's memory and devices, driven by cocotb.

The bench itself is bus/dma_bench.py; what it drives the DMA with, bus/dma_model.py.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block

FOLDER = Path(__file__).parent
BENCH = FOLDER / "bus" / "dma_bench.py"
FULL = pytest.mark.full

BUS, DEVICE = 4000, 5000
"""Picoseconds of the clocks of a card: 250 and 200 MHz."""


# channels, bits of the bus, words of a row, bits of a word, log2 of lines, periods, turn;
# cycles from a start to busy
@pytest.mark.parametrize(
    "shape",
    [
        (1, 128, 4, 30, 7, BUS, DEVICE, 0),
        (2, 512, 4, 30, 6, BUS, DEVICE, 0),
        *(
            pytest.param((1, *row, 7, BUS, DEVICE, 1), marks=FULL)
            for row in (
                *((bits, 4, 30) for bits in (32, 64, 128, 256, 512)),
                *((bits, 8, 60) for bits in (32, 128, 256, 512)),
                *((128, 1, 30), (512, 2, 33)),
            )
        ),
        pytest.param((2, 128, 4, 30, 7, BUS, DEVICE, 2), marks=FULL),
        pytest.param((6, 128, 4, 30, 6, 3000, 7000, 3, 5), marks=FULL),
        pytest.param((6, 512, 8, 54, 6, DEVICE, BUS, 4), marks=FULL),
        pytest.param((3, 64, 4, 30, 5, 10_000, 1700, 5, 12), marks=FULL),
    ],
    ids=lambda shape: "{0}-channels-{1}-bits-rows-{2}x{3}-turn-{7}".format(*shape),
)
def test_lists_of_descriptors_move_and_start_what_they_say(
    run_bench: Callable[..., None], shape: tuple[int, ...]
) -> None:
    channels, bits, words, width, log_depth, _, _, _, *start = shape
    run_bench(
        BENCH,
        "rs_dma_bench",
        [*rtl_sources("arith", "mem", "dma"), FOLDER / "blocks" / "rs_dma_bench.sv"],
        {
            "Channels": channels,
            "DataBits": bits,
            "HostWords": words,
            "Width": width,
            "LogDepth": log_depth,
            "StartCycles": start[0] if start else 1,
        },
        ["bus_*", "*_i", "*_o", "m_axi_*"],
        {"RINGSMITH_BENCH": json.dumps(shape)},
    )


@pytest.mark.parametrize("channels", [1, 2, 6])
def test_the_channel_whose_turn_ended_longest_ago_goes_first(
    channels: int, rng: np.random.Generator
) -> None:
    """Of those that ask, in every cycle; turns end at random."""
    asks = rng.integers(0, 1 << channels, 3000)
    turn = rng.integers(0, 1 << channels, 3000) & rng.integers(0, 1 << channels, 3000)
    reset = np.ones(3000, dtype=np.int64)
    reset[:2] = 0
    sources = rtl_sources("dma")
    with Block(build_block("rs_dma_order", sources, {"Channels": channels})) as block:
        found = block.run({"asks_i": asks, "turn_i": turn, "rst_ni": reset})["chosen_o"].ravel()
    order = list(range(channels))
    for cycle in range(2, 3000):
        wanted = [c for c in order if asks[cycle] >> c & 1]
        assert found[cycle] == (wanted[0] if wanted else 0)
        order.sort(key=lambda c, ends=int(turn[cycle]): ends >> c & 1)
