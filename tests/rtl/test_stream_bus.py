"""The streaming multiplier's AXI4-Streams under stalls and bursts, driven by cocotb.

The bench itself is bus/stream_bench.py.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design import rtl
from ringsmith.backends.stream.design.design import BARRETT, MONTGOMERY, StreamDesign
from ringsmith.backends.stream.design.rtl import FOLDERS
from ringsmith.backends.stream.isa.descriptor import descriptor
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block

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


# ---- The streaming multiplier's descriptors: each is answered, and taken only where it holds -----


TAKEN, MODULUS, SIZE, RANGE, LENGTH = range(5)


@pytest.mark.parametrize("multiplier", [MONTGOMERY, BARRETT])
def test_a_descriptor_is_answered_with_its_reason(multiplier: str) -> None:
    design = StreamDesign("queue", 8, 2, 30, multiplier)
    [q], [small] = (_core.prime_search(bits, design.n, 1) for bits in (30, 29))
    good = list(descriptor(q, _core.smallest_root(q, design.n), design).words)
    one_size = multiplier == BARRETT
    cases = [
        (good, TAKEN),
        ([q - design.n, *good[1:]], MODULUS),
        ([1, *good[1:]], SIZE),
        ([(1 << 30) + 1, *good[1:]], SIZE),
        ([small, 1, 1, 1, 1], SIZE if one_size else TAKEN),
        ([q, (1 << 30) - 1, *good[2:]], TAKEN if one_size else RANGE),
        ([q, 1 << 30, *good[2:]], RANGE),
        ([q, good[1], q, *good[3:]], RANGE),
        ([*good[:-1], q], RANGE),
        (good[:-1], LENGTH),
        ([*good, 1], LENGTH),
        (good, TAKEN),
    ]
    library = build_block("rs_stream_queue", rtl_sources(*FOLDERS), rtl.parameters(design))
    pause = [0] * 3  # the answer, and the handing on
    words = [word for given, _ in cases for word in (*given, *pause)]
    valid = [bit for given, _ in cases for bit in ([1] * len(given) + pause)]
    last = [bit for given, _ in cases for bit in ([0] * (len(given) - 1) + [1] + pause)]
    inputs = {"word_i": words, "valid_i": valid, "last_i": last}
    with Block(library) as block:
        block.step(4)
        for name in ("rst_ni", "answer_ready_i", "ready_i"):
            block.poke(name, 1)
        out = block.run(
            {name: np.array(values, dtype=np.uint64) for name, values in inputs.items()},
            ["answer_valid_o", "answer_o", "valid_o", "q_o", "unit_o", "scale_o", "powers_o"],
            cycles=len(words),
        )
    answers = out["answer_o"][out["answer_valid_o"] == 1].tolist()
    assert answers == [answer for _, answer in cases]
    handed = np.flatnonzero(out["valid_o"])
    taken = [given for given, answer in cases if answer == TAKEN]
    rows = [
        [int(out[name][cycle]) for name in ("q_o", "unit_o", "scale_o")]
        + out["powers_o"][cycle].tolist()
        for cycle in handed
    ]
    assert rows == taken
