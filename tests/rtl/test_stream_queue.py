"""The streaming multiplier's descriptors: each is answered, and taken only where it holds."""

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT, MONTGOMERY, MULTIPLIERS
from ringsmith.backends.stream.design.rtl import FOLDERS
from ringsmith.backends.stream.isa.descriptor import descriptor
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_block

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
    parameters = {"LogN": 8, "Width": 30, "Multiplier": MULTIPLIERS.index(multiplier)}
    library = build_block("rs_stream_queue", rtl_sources(*FOLDERS), parameters)
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
