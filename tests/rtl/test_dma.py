"""The DMA: lists of descriptors between a host's memory and devices, driven by cocotb.

The bench itself is bus/dma_bench.py; what it drives the DMA with, bus/dma_model.py.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_read_cycles
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import instruction
from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block

FOLDER = Path(__file__).parent
BENCH = FOLDER / "bus" / "dma_bench.py"
FULL = pytest.mark.full
RUNS = os.environ.get("RINGSMITH_BUS_RUNS", "")
"""Runs of each campaign; if it is not set, 10 of a quick one and 300 of one of the full pass."""

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
    channels, bits, words, width, log_depth, _, _, turn, *start = shape
    run_bench(
        BENCH,
        "rs_dma_bench",
        [
            *rtl_sources("mem", "arith", "dma"),
            FOLDER / "blocks" / "rs_axi_checker.sv",
            FOLDER / "blocks" / "rs_dma_bench.sv",
        ],
        {
            "Channels": channels,
            "DataBits": bits,
            "HostWords": words,
            "Width": width,
            "LogDepth": log_depth,
            "StartCycles": start[0] if start else 1,
        },
        ["bus_*", "*_i", "*_o", "m_axi_*"],
        {
            "RINGSMITH_BENCH": json.dumps(shape),
            "RINGSMITH_BENCH_RUNS": RUNS or str(300 if turn else 10),
        },
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


# ---- The FIFO between two clocks, with clocks that really differ and resets in the middle --------

# The bench itself is bus/fifo_bench.py; test_proofs.py proves the FIFO for clocks of any kind.


FIFO_BENCH = Path(__file__).parent / "bus" / "fifo_bench.py"
SIGNALS = ("*_i", "*_ni", "*_o")
SOURCES = rtl_sources("mem", "arith", "dma")

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
        FIFO_BENCH,
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
            FIFO_BENCH.with_name("fifo_alone_bench.py"),
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


# ---- The buses of an accelerator under random stalls and back-pressure, driven by cocotb ---------

# The benches are bus/data_bench.py and bus/registers_bench.py. With two cores two rows make a beat
# of the data path, with eight two beats a row.


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
