"""The arithmetic behind an area: equal modules found, cells counted, RAMs by shape."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from ringsmith.hdl.netlist import Netlist, count_cells, memory_of, share_modules
from ringsmith.hdl.synthesis import block_rams, ultra_rams


def module(cells: dict[str, Any], width: int = 1) -> dict[str, Any]:
    """A module with one input."""
    return {
        "attributes": {},
        "ports": {"a": {"direction": "input", "bits": [2] * width}},
        "cells": cells,
        "netnames": {},
    }


def cell(kind: str, bit: int = 2, **parameters: str) -> dict[str, Any]:
    """A cell on one bit of its module."""
    return {"type": kind, "parameters": parameters, "attributes": {}, "connections": {"A": [bit]}}


def design() -> Netlist:
    """Two rows of three lanes, a module for every instance, as Yosys elaborates them."""
    modules = {}
    for row in range(2):
        lanes = [f"lane$top.row[{row}].lane[{number}]" for number in range(3)]
        for number, lane in enumerate(lanes):
            modules[lane] = module({f"add${row}{number}": cell("$add", WIDTH="1")})
        modules[f"row$top.row[{row}]"] = module({lane: cell(lane) for lane in lanes})
    modules["top"] = module({f"row{row}": cell(f"row$top.row[{row}]") for row in range(2)})
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
