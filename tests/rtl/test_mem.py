"""Memory wrappers, selectors and delays against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ringsmith.errors import DeviceError, ToolError
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import ECP5, XILINX, rtl_root, rtl_sources
from ringsmith.hdl.verilate import build_block

MakeBlock = Callable[..., Block]
Words = npt.NDArray[Any]


def traffic(rng: np.random.Generator, depth: int, cycles: int) -> tuple[Words, Words, Words, Words]:
    """Random reads and writes that never meet in one address; at first the memory is filled."""
    waddr = np.concatenate([np.arange(depth), rng.integers(0, depth, cycles - depth)])
    raddr = rng.integers(0, depth, cycles)
    we = (rng.random(cycles) < 0.7) | (np.arange(cycles) < depth)
    re = (rng.random(cycles) < 0.7) & (np.arange(cycles) >= depth)
    return we, waddr, re, raddr


def expected_reads(
    we: Words, waddr: Words, wdata: Words, re: Words, raddr: Words, depth: int
) -> list[int | None]:
    """What an output register without reset holds after each edge; None before the first read."""
    contents, held, results = [None] * depth, None, []
    for write, to, data, read, source in zip(we, waddr, wdata, re, raddr, strict=True):
        if read:
            held = contents[source]
        if write:
            contents[to] = int(data)
        results.append(held)
    return results


@pytest.mark.parametrize(
    ("latency", "style"),
    [
        (1, "ultra"),
        (2, "block"),
        pytest.param(2, "distributed", marks=pytest.mark.full),
        pytest.param(1, "block", marks=pytest.mark.full),
    ],
)
def test_memory_returns_what_was_written(
    make_block: MakeBlock, rng: np.random.Generator, latency: int, style: str
) -> None:
    depth = {"block": 64, "ultra": 48, "distributed": 1}[style]
    block = make_block(
        "rs_ram_1r1w", True, Width=60, Depth=depth, ReadLatency=latency, RamStyle=style, ReadOld=1
    )
    cycles = 4_000
    we, waddr, re, raddr = traffic(rng, depth, cycles)
    wdata = rng.integers(0, 1 << 60, cycles, np.uint64)
    out = block.run({"we_i": we, "waddr_i": waddr, "wdata_i": wdata, "re_i": re, "raddr_i": raddr})[
        "rdata_o"
    ]
    expected = expected_reads(we, waddr, wdata, re, raddr, depth)
    known = [t for t, word in enumerate(expected[: cycles - latency]) if word is not None]
    assert len(known) > cycles // 2
    assert [int(out[t + latency]) for t in known] == [expected[t] for t in known]


def test_memory_without_read_old_agrees_where_addresses_differ(
    make_block: MakeBlock, rng: np.random.Generator
) -> None:
    block = make_block("rs_ram_1r1w", True, Width=48, Depth=64)
    we, waddr, re, raddr = traffic(rng, 64, 4_000)
    re &= waddr != raddr
    wdata = rng.integers(0, 1 << 48, 4_000, np.uint64)
    out = block.run({"we_i": we, "waddr_i": waddr, "wdata_i": wdata, "re_i": re, "raddr_i": raddr})[
        "rdata_o"
    ]
    expected = expected_reads(we, waddr, wdata, re, raddr, 64)
    known = [t for t, word in enumerate(expected[:-1]) if word is not None]
    assert [int(out[t + 1]) for t in known] == [expected[t] for t in known]


def test_a_read_that_meets_a_write_stops_the_simulation(make_block: MakeBlock) -> None:
    block = make_block("rs_ram_1r1w", True, Width=48, Depth=64)
    block.run({"we_i": [1, 1], "waddr_i": [3, 4], "re_i": [0, 1], "raddr_i": [3, 3]})
    with pytest.raises(DeviceError, match=r"assertion.*rs_ram_1r1w"):
        block.run({"we_i": [1], "waddr_i": [3], "re_i": [1], "raddr_i": [3]})
    with pytest.raises(DeviceError, match="closed"):
        block.step()


@pytest.mark.parametrize("port", ["w", "r"])
def test_an_address_beyond_the_depth_stops_the_simulation(make_block: MakeBlock, port: str) -> None:
    block = make_block(
        "rs_ram_1r1w", True, Width=60, Depth=48, ReadLatency=1, RamStyle="ultra", ReadOld=1
    )
    block.run({f"{port}e_i": [1, 0], f"{port}addr_i": [47, 63]})
    with pytest.raises(DeviceError, match="assertion"):
        block.run({f"{port}e_i": [1], f"{port}addr_i": [48]})


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"ReadLatency": 3}, "ReadLatency = 3 is neither 1 nor 2"),
        ({"RamStyle": "huge"}, "RamStyle is not block"),
    ],
)
def test_a_memory_that_cannot_be_is_refused(
    make_block: MakeBlock, parameters: dict[str, int | str], text: str
) -> None:
    with pytest.raises(ToolError, match=text):
        make_block("rs_ram_1r1w", **parameters)


def test_an_ultra_ram_is_refused_on_ecp5(make_block: MakeBlock) -> None:
    with pytest.raises(ToolError, match="ECP5 has no UltraRAM: RamStyle must be block"):
        make_block("rs_ram_1r1w", target=ECP5, RamStyle="ultra")


@pytest.mark.parametrize(
    ("depth", "target"),
    [
        *((depth, XILINX) for depth in (0, 1, 5)),
        *((depth, ECP5) for depth in (6, 7, 16, 17, 31, 32, 33)),
    ],
)
def test_delay_delays_by_its_depth(
    make_block: MakeBlock, rng: np.random.Generator, depth: int, target: str
) -> None:
    block = make_block("rs_delay", assertions=True, target=target, Width=62, Depth=depth)
    words = rng.integers(0, 1 << 62, 200, np.uint64)
    out = block.run({"d_i": words})["d_o"]
    assert np.array_equal(out[depth:], words[: len(words) - depth])


@pytest.mark.parametrize(
    "words", [1, 5, 16, 17, *(pytest.param(n, marks=pytest.mark.full) for n in (4, 13, 64))]
)
def test_select_takes_one_of_its_words(
    make_block: MakeBlock, rng: np.random.Generator, words: int
) -> None:
    block = make_block("rs_select", Width=60, Words=words)
    choice = rng.integers(0, words, 200)
    given = rng.integers(0, 1 << 60, (200, words), np.uint64)
    out = block.run({"index_i": choice, "word_i": given})["word_o"]
    assert np.array_equal(out[1:], given[np.arange(199), choice[:-1]])


@pytest.mark.parametrize(
    "banks", [3, 14, 17, *(pytest.param(n, marks=pytest.mark.full) for n in (5, 7, 13, 16))]
)
def test_a_bank_multiplexer_takes_the_word_of_each_bank(
    rng: np.random.Generator, banks: int
) -> None:
    sources = [*rtl_sources("mem", "arith"), rtl_root() / "rpau" / "rs_rpau_bank_mux.sv"]
    choice = np.arange(4 * banks) % banks
    given = rng.integers(0, 1 << 60, (4 * banks, banks), np.uint64)
    with Block(build_block("rs_rpau_bank_mux", sources, {"Width": 60, "Banks": banks})) as block:
        out = block.run({"bank_i": choice, "word_i": given})["word_o"]
    assert np.array_equal(out, given[np.arange(4 * banks), choice])
