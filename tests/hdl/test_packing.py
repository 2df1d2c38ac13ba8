"""What is counted as packed: LUTs that share a site, and registers of RAMs and DSPs."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from ringsmith.hdl.netlist import Netlist, count_cells, memory_of, share_modules
from ringsmith.hdl.packing import ABSORBED, LUT_PAIR, packed, with_wrappers
from ringsmith.hdl.synthesis import block_rams, ultra_rams

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


# ---- The arithmetic behind an area: equal modules found, cells counted, RAMs by shape ------------


def yosys_module(cells: dict[str, Any], width: int = 1) -> dict[str, Any]:
    """A module with one input."""
    return {
        "attributes": {},
        "ports": {"a": {"direction": "input", "bits": [2] * width}},
        "cells": cells,
        "netnames": {},
    }


def yosys_cell(kind: str, bit: int = 2, **parameters: str) -> dict[str, Any]:
    """A cell on one bit of its module."""
    return {"type": kind, "parameters": parameters, "attributes": {}, "connections": {"A": [bit]}}


def design() -> Netlist:
    """Two rows of three lanes, a module for every instance, as Yosys elaborates them."""
    modules = {}
    for row in range(2):
        lanes = [f"lane$top.row[{row}].lane[{number}]" for number in range(3)]
        for number, lane in enumerate(lanes):
            modules[lane] = yosys_module({f"add${row}{number}": yosys_cell("$add", WIDTH="1")})
        modules[f"row$top.row[{row}]"] = yosys_module({lane: yosys_cell(lane) for lane in lanes})
    modules["top"] = yosys_module(
        {f"row{row}": yosys_cell(f"row$top.row[{row}]") for row in range(2)}
    )
    return {"creator": "Yosys", "modules": modules}


def test_equal_modules_become_one_from_the_bottom_up() -> None:
    shared = share_modules(design(), "top")["modules"]
    assert set(shared) == {"top", "row.0", "lane.0"}
    assert [cell["type"] for cell in shared["row.0"]["cells"].values()] == ["lane.0"] * 3
    assert [cell["type"] for cell in shared["top"]["cells"].values()] == ["row.0"] * 2


@pytest.mark.parametrize(
    ("what", "value"),
    [("parameters", {"WIDTH": "10"}), ("connections", {"A": ["0"]}), ("type", "$sub")],
)
def test_modules_that_differ_stay_apart_and_so_do_their_users(what: str, value: object) -> None:
    netlist = design()
    netlist["modules"]["lane$top.row[1].lane[2]"]["cells"]["add$12"][what] = value
    shared = share_modules(netlist, "top")["modules"]
    assert set(shared) == {"top", "row.0", "row.1", "lane.0", "lane.1"}
    assert [cell["type"] for cell in shared["row.1"]["cells"].values()] == [
        *("lane.0", "lane.0", "lane.1")
    ]


def test_modules_whose_memories_differ_stay_apart() -> None:
    netlist = design()
    memory = {"width": 48, "size": 1024, "attributes": {"ram_style": "block"}}
    for number in range(3):
        lane = netlist["modules"][f"lane$top.row[0].lane[{number}]"]
        lane["memories"] = {"mem": deepcopy(memory)}
    netlist["modules"]["lane$top.row[0].lane[1]"]["memories"]["mem"]["size"] = 512
    shared = share_modules(netlist, "top")["modules"]
    assert memory_of(shared["lane.0"]) == (48, 1024, "block")
    assert memory_of(shared["lane.1"]) == (48, 512, "block")
    assert memory_of(shared["lane.2"]) is None


def test_cells_are_counted_through_all_instances() -> None:
    statistics = {
        "modules": {
            "\\top": {"num_cells_by_type": {"row.0": 2, "LUT2": 1}},
            "\\row.0": {"num_cells_by_type": {"lane.0": 3, "ram.0": 4}},
            "\\lane.0": {"num_cells_by_type": {"LUT2": 5, "FDRE": 7}},
        }
    }
    cells = count_cells(statistics, "top", {"ram.0": Counter({"URAM288": 2})})
    assert cells == {"LUT2": 2 * 3 * 5 + 1, "FDRE": 2 * 3 * 7, "URAM288": 2 * 4 * 2}


@pytest.mark.parametrize(
    ("width", "depth", "blocks"),
    [(36, 512, 0.5), (60, 512, 1), (72, 512, 1), (48, 1024, 1.5), (1, 32768, 1), (60, 4096, 7)],
)
def test_block_rams_follow_from_the_shape(width: int, depth: int, blocks: float) -> None:
    assert block_rams(width, depth) == blocks


@pytest.mark.parametrize(
    ("width", "depth", "blocks"), [(72, 4096, 1), (60, 4097, 2), (73, 4096, 2), (48, 49152, 12)]
)
def test_ultra_rams_follow_from_the_shape(width: int, depth: int, blocks: int) -> None:
    assert ultra_rams(width, depth) == blocks
