"""What is counted as packed: LUTs that share a site, and registers of RAMs and DSPs."""

from typing import Any

import pytest

from ringsmith.hdl.packing import ABSORBED, LUT_PAIR, packed, with_wrappers

Cell = dict[str, Any]


def cell(kind: str, outputs: dict[str, list[int]], **inputs: int | str | list[int]) -> Cell:
    """A cell of a mapped netlist; an input is a net, a constant or several nets."""
    ins = {port: bits if isinstance(bits, list) else [bits] for port, bits in inputs.items()}
    directions = dict.fromkeys(ins, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "port_directions": directions, "connections": ins | outputs}


def lut(output: int, *inputs: int | str) -> Cell:
    return cell(
        f"LUT{len(inputs)}", {"O": [output]}, **{f"I{i}": bit for i, bit in enumerate(inputs)}
    )


def register(d: int, q: int) -> Cell:
    return cell("FDRE", {"Q": [q]}, C=1, CE="1", R="0", D=d)


def shift_register(q: int, d: int, length: str) -> Cell:
    taps = {f"A{i}": bit for i, bit in enumerate(length)}
    return cell("SRL16E", {"Q": [q]}, D=d, CLK=1, CE="1", **taps)


def module(*cells: Cell, outputs: tuple[int, ...] = ()) -> dict[str, Any]:
    return {
        "cells": {f"c{number}": each for number, each in enumerate(cells)},
        "ports": {"o": {"direction": "output", "bits": list(outputs)}},
    }


@pytest.mark.parametrize(
    ("cells", "pairs"),
    [
        ([lut(10, 1, 2, 3), lut(11, 3, 4, 5)], 1),  # five inputs together
        ([lut(10, 1, 2, 3), lut(11, 3, 4, 5), lut(12, 3, 4, 5)], 1),  # the third is alone
        ([lut(10, 1, 2, 3), lut(11, 4, 5, 6)], 0),  # six inputs
        ([lut(10, 1, 2), lut(11, 3, 4)], 0),  # nothing in common: no reason to lie together
        ([lut(10, 1, 2, "0"), lut(11, 1, 3, 4, 5)], 1),  # a constant is no input
        ([lut(10, 1, 2, 3, 4, 5, 6), lut(11, 1, 2)], 0),  # a LUT of six has no second output
        ([lut(10, 1, 2), lut(11, 1, 2), cell("CARRY4", {"CO": [20]}, S=[10])], 0),
        ([lut(10, 1, 2), lut(11, 1, 2), cell("MUXF7", {"O": [20]}, I0=10, I1=9, S=8)], 0),
    ],
)
def test_two_luts_of_five_inputs_share_a_site(cells: list[Cell], pairs: int) -> None:
    assert packed(module(*cells), ())[LUT_PAIR] == pairs


def test_shift_registers_of_one_length_share_a_site() -> None:
    three = [shift_register(10 + i, 2 + i, "1010") for i in range(3)]
    assert packed(module(*three, shift_register(20, 5, "1110")), ())[LUT_PAIR] == 1


def test_registers_behind_a_ram_are_the_rams_where_nothing_else_reads_it() -> None:
    ram = cell("ram", {"DO": [10, 11]}, ADDR=[1])
    both = [register(10, 20), register(11, 21)]
    assert packed(module(ram, *both), {"ram"})[ABSORBED] == 2
    assert packed(module(ram, *both), ())[ABSORBED] == 0
    assert packed(module(ram, *both, lut(30, 10)), {"ram"})[ABSORBED] == 0
    assert packed(module(ram, *both, outputs=(11,)), {"ram"})[ABSORBED] == 0
    assert packed(module(ram, both[0], lut(30, 11)), {"ram"})[ABSORBED] == 0


def test_a_module_that_only_passes_on_what_a_ram_reads_is_like_one() -> None:
    ram = cell("ram", {"DO": [10, 11]}, ADDR=[1])
    modules = {
        "bank": module(ram, lut(20, 1, 2), outputs=(10, 11)),
        "outer": module(cell("bank", {"q": [10]}), outputs=(10,)),
        "logic": module(ram, lut(20, 10), outputs=(20,)),
        "empty": module(),
    }
    assert with_wrappers(modules, {"ram"}) == {"ram", "bank", "outer"}


def test_registers_behind_a_dsp_are_the_dsps() -> None:
    dsp = cell("DSP48E2", {"P": [10, 11], "PCOUT": [12]}, A=[1])
    assert packed(module(dsp, register(10, 20), register(11, 21)), ())[ABSORBED] == 2
