"""The levels of a serial line, 8N1, as samples: what a sender makes and what a receiver finds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ringsmith.hdl.block import Words
from ringsmith.hdl.sources import COMMON, rtl_root

BENCHES = Path(__file__).parent / "blocks"
RATIO = 8
"""Cycles of the blocks' clock a bit, in most tests: the fewest that the receiver takes."""


def uart_sources() -> list[Path]:
    """The bridge, and the bench around it."""
    shell = rtl_root() / "shell"
    names = ("shell_pkg", "uart_pkg", "uart_rx", "uart_tx", "uart_bridge")
    modules = [shell / f"rs_{name}.sv" for name in names]
    memory = [rtl_root() / "mem" / "rs_mem_pkg.sv", rtl_root() / "mem" / "rs_ram_1r1w.sv"]
    headers = sorted((rtl_root() / COMMON).glob("*.svh"))
    return [*headers, *memory, *modules, BENCHES / "rs_uart_bench.sv"]


def bits_of(data: bytes, gap: float = 0.0) -> list[tuple[int, float]]:
    """Levels of bytes, each with its time in bits; ``gap`` bits pass after each byte."""
    bits: list[tuple[int, float]] = []
    for byte in data:
        bits += [(0, 1.0), *((byte >> i & 1, 1.0) for i in range(8)), (1, 1.0 + gap)]
    return bits


def samples(
    bits: Sequence[tuple[int, float]], ratio: float = RATIO, quiet: int = 0, phase: float = 0.0
) -> Words:
    """Levels as a block sees them, a sample a cycle, and then a quiet line for some cycles.

    Args:
        bits: Levels and their times in bits.
        ratio: Cycles a bit of the sender.
        quiet: Cycles of level 1 at the end.
        phase: What part of a cycle the sender begins late.
    """
    ends = phase + ratio * np.cumsum([time for _, time in bits])
    cycles = np.arange(int(np.ceil(ends[-1])))
    levels = np.array([level for level, _ in bits])[
        np.minimum(np.searchsorted(ends, cycles, "right"), len(bits) - 1)
    ]
    if phase:
        levels[: int(np.ceil(phase))] = 1
    return np.concatenate([levels, np.ones(quiet, dtype=int)]).astype(np.uint64)


class Receiver:
    """Finds bytes in samples, as an adapter at the other end does: each bit in its middle."""

    def __init__(self, ratio: float = RATIO) -> None:
        self._ratio = ratio
        self._held = np.zeros(0, dtype=np.uint64)
        self.errors = 0

    def take(self, levels: Words) -> bytes:
        """The bytes that are whole with these samples."""
        held, found = np.concatenate([self._held, levels]), bytearray()
        while (start := np.flatnonzero(held == 0)).size:
            held = held[start[0] :]
            middles = ((np.arange(10) + 0.5) * self._ratio).astype(int)
            if held.size <= middles[-1]:
                break
            bits = held[middles].astype(int)
            self.errors += int(bits[0] != 0 or bits[9] != 1)
            found.append(int((bits[1:9] << np.arange(8)).sum()))
            held = held[middles[-1] :]
            held = held[np.flatnonzero(held == 1)[:1].sum() :]
        else:
            held = held[:0]
        self._held = held
        return bytes(found)
