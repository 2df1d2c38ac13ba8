"""The report's delays, compared with place and route on an ECP5: docs/results/timing.md."""

from typing import Any

import pytest
from tests.hdl.timing_calibration import COMMAND, LEAST, MOST, WHOLE, blocks, kept, measured, ratio

from ringsmith.hdl.timing.ecp5 import ecp5_graph
from ringsmith.hdl.timing.graph import Family, delays, net_delay
from ringsmith.hdl.timing.paths import Arrivals

D = delays()[Family.ECP5]


def test_the_record_has_every_block_within_the_limits() -> None:
    assert [row["block"] for row in kept()] == [*blocks(), WHOLE]
    for row in kept():
        assert LEAST <= ratio(row) <= MOST, f"{row}: change delays.toml and renew by {COMMAND}"


@pytest.mark.full
@pytest.mark.parametrize("name", blocks())
def test_the_report_is_that_near_to_place_and_route(name: str) -> None:
    assert LEAST <= ratio(measured(name)) <= MOST


def cell(kind: str, **pins: object) -> dict[str, Any]:
    connections = {name: bits if isinstance(bits, list) else [bits] for name, bits in pins.items()}
    return {"type": kind, "attributes": {}, "connections": connections}


def register(data: int | str, q: int) -> dict[str, Any]:
    return cell("TRELLIS_FF", CLK=2, DI=data, Q=q)


def longest(cells: dict[str, dict[str, Any]]) -> tuple[int, int]:
    graph = ecp5_graph({"ports": {}, "cells": cells, "netnames": {}})
    found = max(Arrivals(graph).longest(), key=lambda each: each.delay)
    return found.delay, found.levels


def test_a_lut_and_the_muxes_behind_it_are_one_level() -> None:
    cells = {"a": register("0", 10), "b": register(22, 23)}
    cells["l"] = cell("LUT4", A=10, B="0", C="0", D="0", Z=20)
    cells["m"] = cell("PFUMX", ALUT=20, BLUT="0", C0="0", Z=21)
    cells["n"] = cell("L6MUX21", D0=21, D1="0", SD="1", Z=22)
    muxes = D["mux"]["PFUMX"][0] + D["mux"]["L6MUX21"][0]
    start = D["flip_flop"]["clock_to_out"] + net_delay(D, 1)
    assert longest(cells) == (start + D["lut"]["pins"][0] + muxes, 1)


def test_a_carry_goes_from_pair_to_pair_without_a_net() -> None:
    cells = {"a": register("0", 10), "b": register(24, 25)}
    carry: object = "0"
    for n in range(3):
        cells[f"c{n}"] = cell(
            "CCU2C", CIN=carry, A0=10 if n == 0 else "0", A1="0", S0=30 + n, S1=24 - n, COUT=20 + n
        )
        carry = 20 + n
    cells["b"] = register(32, 40)
    d = D["carry"]
    start = D["flip_flop"]["clock_to_out"] + net_delay(D, 1)
    assert longest(cells) == (start + d["enter"] + d["through"] + d["sum_from_carry"], 1)


def test_block_rams_and_multipliers_are_clocked() -> None:
    for kind, out, table in (("DP16KD", "DOB0", "block_ram"), ("MULT18X18D", "P0", "dsp")):
        cells = {"r": cell(kind, CLKA=2, CLK0=2, **{out: 10}), "a": register(10, 11)}
        assert longest(cells) == (D[table]["clock_to_out"] + net_delay(D, 1), 0)
