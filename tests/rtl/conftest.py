"""What the tests of RTL blocks share: built blocks, and the measured latency of a pipeline."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from ringsmith.devices.block import Block, Words
from ringsmith.devices.sources import rtl_sources
from ringsmith.devices.verilate import build_block

BENCHES = Path(__file__).parent / "blocks"

MakeBlock = Callable[..., Block]


@pytest.fixture
def make_block() -> Iterator[MakeBlock]:
    """Builds (once, in the cache) and opens a block of rtl/arith, rtl/mem or tests/rtl/blocks."""
    with ExitStack() as opened:

        def make(top: str, assertions: bool = False, **parameters: int | str) -> Block:
            bench = BENCHES / f"{top}.sv"
            sources = [*rtl_sources("arith", "mem", "prng"), *([bench] if bench.exists() else [])]
            library = build_block(top, sources, parameters, assertions=assertions)
            return opened.enter_context(Block(library))

        yield make


@pytest.fixture
def latency_of() -> Callable[[Words, Words], int]:
    """Finds by how many cycles an output stream lags behind the expected results."""

    def find(output: Words, expected: Words) -> int:
        lags = [
            lag
            for lag in range(64)
            if np.array_equal(output[lag:], expected[: len(expected) - lag], equal_nan=False)
        ]
        assert len(lags) == 1, f"the output equals the expected stream at lags {lags}"
        return lags[0]

    return find
