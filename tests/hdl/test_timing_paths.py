"""Static timing of small netlists made by hand, whose delays are added up here."""

from typing import Any

import pytest

from ringsmith.errors import ToolError
from ringsmith.hdl import netlist
from ringsmith.hdl.timing.graph import (
    BLOCK_RAM,
    DSP_PAIR,
    REGISTERED_BOX,
    Family,
    Graph,
    Wider,
    delays,
    net_delay,
    timing_graph,
)
from ringsmith.hdl.timing.paths import Arrivals, Found
from ringsmith.hdl.timing.report import KEPT_PATHS, Names, Timing, merged, report

D = delays()[Family.ULTRASCALE_PLUS]
NET, NET_OF_TWO, NET_OF_THREE = (net_delay(D, inputs) for inputs in (1, 2, 3))
OUT = D["flip_flop"]["clock_to_out"]
SETUP = D["flip_flop"]["setup_data"]
PINS = D["lut"]["pins"]
CARRY = D["carry"]
CLOCK = 2

Cells = dict[str, dict[str, Any]]


def cell(kind: str, source: str = "rs_block.sv:1.1", **pins: object) -> dict[str, Any]:
    """A cell; a pin is a bit, a constant or a list of them."""
    connections = {name: bits if isinstance(bits, list) else [bits] for name, bits in pins.items()}
    return {"type": kind, "attributes": {"src": source}, "connections": connections}


def flip_flop(d: object, q: int, **pins: object) -> dict[str, Any]:
    return cell("FDRE", C=CLOCK, D=d, Q=q, CE=pins.pop("CE", "1"), R=pins.pop("R", "0"), **pins)


def module(cells: Cells, nets: dict[str, list[int]] | None = None) -> dict[str, Any]:
    names = {name: {"bits": bits} for name, bits in (nets or {}).items()}
    return {"ports": {}, "cells": cells, "netnames": names}


def worst(cells: Cells, black_boxes: dict[str, str] | None = None) -> Found:
    return max(Arrivals(timing_graph(module(cells), black_boxes)).longest(), key=lambda f: f.delay)


def test_a_registered_path_is_clock_to_out_a_net_and_setup() -> None:
    found = worst({"a": flip_flop("0", 10), "b": flip_flop(10, 11)})
    assert (found.delay, found.levels) == (OUT + NET + SETUP, 0)
    assert (found.start.name, found.end.name) == ("a", "b")


def test_enable_and_reset_have_their_setup() -> None:
    cells = {"a": flip_flop("0", 10), "b": flip_flop("1", 11, CE=10)}
    assert worst(cells).delay == OUT + NET + D["flip_flop"]["setup_enable"]
    cells["b"] = flip_flop("1", 11, R=10)
    found = worst(cells)
    assert found.delay == OUT + NET + D["flip_flop"]["setup_reset"]
    assert found.end.pin == "R"


def test_a_lut_that_only_feeds_a_flip_flop_is_in_its_slice() -> None:
    cells = {
        "a": flip_flop("0", 10),
        "l": cell("LUT1", I0=10, O=11),
        "b": flip_flop(11, 12),
    }
    assert (worst(cells).delay, worst(cells).levels) == (OUT + NET + PINS[0] + SETUP, 1)
    cells["c"] = flip_flop(11, 13)
    assert worst(cells).delay == OUT + NET + PINS[0] + NET_OF_TWO + SETUP


def test_the_latest_input_of_a_lut_gets_its_fastest_pin() -> None:
    for late, early in (("I0", "I1"), ("I1", "I0")):
        cells = {
            "a": flip_flop("0", 10),
            "l": cell("LUT1", I0=10, O=11),
            "m": cell("LUT2", **{late: 11, early: 10}, O=12),
            "b": flip_flop(12, 13),
        }
        assert worst(cells).delay == OUT + NET_OF_TWO + PINS[0] + NET + PINS[0] + SETUP


def adder(cells: Cells, name: str, a: list[int], b: list[int], first: int) -> list[int]:
    """Adds two words: a LUT a bit and a carry chain; returns the sum's bits."""
    total = []
    carry: object = "0"
    for at in range(0, len(a), 4):
        propagate = [first + at * 3 + k for k in range(4)]
        sums, carries = ([first + at * 3 + n * 4 + k for k in range(4)] for n in (1, 2))
        for k in range(4):
            cells[f"{name}_lut{at + k}"] = cell("LUT2", I0=a[at + k], I1=b[at + k], O=propagate[k])
        cells[f"{name}_carry{at}"] = cell(
            "CARRY4",
            CI=carry,
            CYINIT="0",
            DI=a[at : at + 4],
            S=propagate,
            O=sums,
            CO=carries,
        )
        carry = carries[3]
        total += sums
    return total


@pytest.mark.parametrize("adders", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [8, 12])
def test_a_chain_of_n_adders_takes_n_times_two_levels(adders: int, width: int) -> None:
    cells: Cells = {}
    words = [list(range(100 + 100 * n, 100 + 100 * n + width)) for n in range(adders + 1)]
    for word in words:
        cells |= {f"in{bit}": flip_flop("0", bit) for bit in word}
    total = words[0]
    for n, word in enumerate(words[1:]):
        total = adder(cells, f"add{n}", total, word, 2000 + 1000 * n)
    cells |= {f"out{bit}": flip_flop(bit, 9000 + bit) for bit in total}
    found = max(Arrivals(timing_graph(module(cells))).longest(), key=lambda each: each.deepest)
    assert found.deepest == 2 * adders
    # The last adder's result waits for the first bit of the first: a LUT and a chain each.
    graph = timing_graph(module(cells))
    least = PINS[0] + CARRY["own_sum"]  # of an adder, through one bit
    chain = CARRY["enter"] + CARRY["sum_from_carry"]
    slowest = max(each.delay for each in Arrivals(graph).longest())
    assert slowest >= OUT + adders * (NET + least) + chain - CARRY["own_sum"]
    if adders == 1:
        through = (width // 4 - 2) * CARRY["through"]
        chain = CARRY["enter"] + through + CARRY["sum_from_carry"]
        assert slowest == OUT + NET + PINS[1] + chain + SETUP


def test_a_carry_chain_is_one_level_however_long() -> None:
    for width in (8, 64):
        cells: Cells = {}
        a, b = list(range(100, 100 + width)), list(range(200, 200 + width))
        cells |= {f"in{bit}": flip_flop("0", bit) for bit in (*a, *b)}
        total = adder(cells, "add", a, b, 1000)
        cells |= {f"out{bit}": flip_flop(bit, 9000 + bit) for bit in total}
        assert worst(cells).levels == 2


def dsp(p: list[int]) -> dict[str, Any]:
    return cell("DSP48E2", A=[10], B=[11], P=p)


def test_a_product_that_goes_to_registers_alone_ends_in_the_dsp() -> None:
    cells = {
        "a": flip_flop("0", 10),
        "b": flip_flop("0", 11),
        "dsp": dsp([20, 21, 22]),
        "m": flip_flop(20, 30),
        "n": cell("SRL16E", CLK=CLOCK, D=21, Q=31, CE="1", A0="1"),
    }
    found = worst(cells)
    assert found.delay == OUT + NET + D["dsp"]["setup_product"]
    assert (found.end.cell, found.levels) == ("DSP48E2", 0)


def test_logic_waits_for_a_product_without_a_register() -> None:
    cells = {
        "a": flip_flop("0", 10),
        "b": flip_flop("0", 11),
        "dsp": dsp([20, 21, 22]),
        "l": cell("LUT2", I0=20, I1=21, O=40),
        "m": flip_flop(40, 30),
    }
    found = worst(cells)
    product = OUT + NET + D["dsp"]["product"]
    assert found.delay == product + NET + PINS[1] + SETUP
    assert found.levels == 2
    cells["n"] = flip_flop(21, 31)  # one bit that logic reads is enough: there is no register M
    assert worst(cells).delay == product + NET + PINS[1] + SETUP


def ram(out: int) -> dict[str, Any]:
    pins = {"clk_i": CLOCK, "raddr_i": 10, "wdata_i": 10, "we_i": 10, "rdata_o": out}
    return cell("rs_ram.0", **pins)


def test_a_ram_is_clocked_and_takes_a_register_behind_it_as_its_own() -> None:
    d = D["block_ram"]
    cells = {"a": flip_flop("0", 10), "ram": ram(20), "b": flip_flop(20, 21)}
    cells |= {"l": cell("LUT1", I0=21, O=22), "c": flip_flop(22, 23)}
    ends = list(Arrivals(timing_graph(module(cells), {"rs_ram.0": BLOCK_RAM})).longest())
    delays_of = {(each.end.name, each.end.pin): each.delay for each in ends}
    assert delays_of == {
        ("ram", "raddr_i"): OUT + NET_OF_THREE + d["setup_address"],
        ("ram", "wdata_i"): OUT + NET_OF_THREE + d["setup_data"],
        ("ram", "we_i"): OUT + NET_OF_THREE + d["setup_enable"],
        ("c", "D"): d["clock_to_registered_out"] + NET + PINS[0] + SETUP,
    }
    cells["b"] = cell("LUT1", I0=20, O=21)
    found = worst(cells, {"rs_ram.0": BLOCK_RAM})
    assert found.delay == d["clock_to_out"] + 2 * NET + 2 * PINS[0] + SETUP


def test_a_pair_of_dsp_slices_is_clocked() -> None:
    cells = {
        "a": flip_flop("0", 10),
        "pair": cell("rs_pair.0", clk_i=CLOCK, x_i=10, high_o=20),
        "l": cell("LUT1", I0=20, O=21),
        "b": flip_flop(21, 22),
    }
    found = {each.end.name: each.delay for each in Arrivals(graph_of(cells)).longest()}
    assert found == {
        "pair": OUT + NET + D["dsp"]["setup_operand"],
        "b": D["dsp"]["clock_to_out"] + NET + PINS[0] + SETUP,
    }


def graph_of(cells: Cells) -> Graph:
    return timing_graph(module(cells), {"rs_pair.0": DSP_PAIR})


def test_a_module_that_is_left_out_begins_and_ends_with_registers() -> None:
    cells = {
        "b": cell("rs_unit.0", clk_i=CLOCK, d_i=[10, 11], q_o=[12, 13]),
        "l": cell("LUT2", I0=12, I1=13, O=10),
        "m": cell("LUT1", I0=10, O=11),
    }
    found = worst(cells, {"rs_unit.0": REGISTERED_BOX})
    assert found.delay == OUT + NET + PINS[1] + NET_OF_TWO + PINS[0] + NET + SETUP
    assert (found.levels, found.start.cell, found.start.name[:3]) == (2, "rs_unit", "b.q")
    assert (found.end.cell, found.end.name, found.end.pin) == ("rs_unit", "b", "d_i")


def test_ports_of_a_left_out_module_are_as_wide_as_what_is_connected() -> None:
    ports = {
        "d_i": {"direction": "input", "bits": [2]},
        "q_o": {"direction": "output", "bits": [3]},
    }
    unit = {"attributes": {}, "ports": ports, "cells": {}, "netnames": {}}
    top = {"cells": {}}
    for number, width in enumerate((2, 3, 2)):
        own = cell("rs_unit", d_i=["0"] * width, q_o=[9])
        top["cells"][f"u{number}"] = {**own, "parameters": {"Width": width}}
    found = {"modules": {"rs_unit": unit, "top": top}}
    netlist.fit_boxes(found, ["rs_unit"])
    types = [each["type"] for each in top["cells"].values()]
    assert types == ["rs_unit$0", "rs_unit$1", "rs_unit$0"]
    assert set(found["modules"]) == {"top", "rs_unit$0", "rs_unit$1"}
    for name, width in (("rs_unit$0", 2), ("rs_unit$1", 3)):
        made = found["modules"][name]["ports"]
        assert [len(made[port]["bits"]) for port in ("d_i", "q_o")] == [width, 1]
        assert len({bit for port in made.values() for bit in port["bits"]}) == width + 1


def test_a_mux_behind_luts_is_no_level_but_its_select_is() -> None:
    data, select = D["mux"]["MUXF7"]
    cells = {"a": flip_flop("0", 10), "b": flip_flop("0", 11)}
    cells["l"] = cell("LUT1", I0=10, O=20)
    cells["m"] = cell("MUXF7", I0=20, I1="0", S="1", O=22)
    cells["c"] = flip_flop(22, 23)
    assert (worst(cells).delay, worst(cells).levels) == (OUT + NET + PINS[0] + data + SETUP, 1)
    cells["m"] = cell("MUXF7", I0="0", I1="1", S=11, O=22)
    del cells["l"]
    assert (worst(cells).delay, worst(cells).levels) == (OUT + NET + select + SETUP, 1)


def test_a_ram_of_luts_is_read_by_address_and_written_at_the_clock() -> None:
    d = D["lut_ram"]
    cells = {
        "a": flip_flop("0", 10),
        "w": flip_flop("0", 11),
        "ram": cell(
            "RAM32M", WCLK=CLOCK, WE=11, ADDRA=[10], ADDRD=[11], DIA=[10], DOA=[20], DOD=[21]
        ),
        "b": flip_flop(20, 22),
    }
    found = {
        (each.start.name, each.end.name, each.end.pin): (each.delay, each.levels)
        for each in Arrivals(timing_graph(module(cells))).longest()
    }
    assert found == {
        ("a", "b", "D"): (OUT + NET_OF_TWO + d["read"] + NET + SETUP, 1),
        ("w", "ram", "WE"): (OUT + NET_OF_TWO + d["setup_enable"], 0),
        ("w", "ram", "ADDRD"): (OUT + NET_OF_TWO + d["setup_address"], 0),
        ("a", "ram", "DIA"): (OUT + NET_OF_TWO + d["setup_data"], 0),
    }
    cells["a"] = flip_flop("0", 12)  # nothing moves the address: what is stored is waited for
    del cells["w"]
    del cells["a"]
    cells["ram"] = cell("RAM32M", WCLK=CLOCK, WE="1", ADDRA=["0"], ADDRD=["0"], DOA=[20], DOD=[21])
    assert worst(cells).delay == d["clock_to_out"] + NET + SETUP


def test_ports_are_registers_outside() -> None:
    netlist = module({"l": cell("INV", I=10, O=11)})
    netlist["ports"] = {
        "in_i": {"direction": "input", "bits": [10]},
        "out_o": {"direction": "output", "bits": [11]},
    }
    (found,) = Arrivals(timing_graph(netlist)).longest()
    assert found.delay == OUT + NET + PINS[0] + NET + SETUP
    assert (found.start.cell, found.end.cell) == ("port", "port")


def test_the_clock_is_no_path() -> None:
    netlist = module(
        {
            "ram": cell("rs_ram.0", clk_i=CLOCK, rdata_o=20),
            "lut_ram": cell("RAM32M", WCLK=CLOCK, ADDRA=["0"], DOA=[21]),
            "shift": cell("SRL16E", CLK=CLOCK, Q=22, A0="0"),
            "a": flip_flop("0", 23),
        }
    )
    netlist["ports"] = {"clk_i": {"direction": "input", "bits": [CLOCK]}}
    graph = timing_graph(netlist, {"rs_ram.0": BLOCK_RAM})
    assert list(Arrivals(graph).longest()) == []
    assert graph.fanout[CLOCK] == 0


def test_a_constant_starts_no_path() -> None:
    cells = {"l": cell("LUT1", I0="1", O=11), "b": flip_flop(11, 12)}
    assert list(Arrivals(timing_graph(module(cells))).longest()) == []


def test_a_combinational_loop_is_refused_and_named() -> None:
    cells = {
        "l": cell("LUT2", I0=12, I1=13, O=10),
        "m": cell("LUT1", I0=10, O=11),
        "n": cell("LUT1", I0=11, O=12),
        "o": cell("LUT1", I0=14, O=13),
        "a": flip_flop(10, 14),
    }
    nets = {"u_block.grant": [11], "grant": [11]}
    netlist = module(cells, nets)
    refused = r"combinational loop of 3 cells.*u_block\.grant \(LUT1\).*put a register into it"
    with pytest.raises(ToolError, match=refused) as failure:
        report(timing_graph(netlist), Names(netlist, "top"))
    assert "bit 13" not in str(failure.value)


def test_a_cell_without_stated_delays_is_refused() -> None:
    with pytest.raises(ToolError, match=r"cell x of the netlist is a LATCH, .*delays\.toml"):
        timing_graph(module({"x": cell("LATCH", D=10, Q=11)}))


# ---- names -------------------------------------------------------------------------------------


def named_netlist() -> dict[str, Any]:
    """Two instances of a block between registers of the top."""
    cells: Cells = {}
    nets: dict[str, list[int]] = {"command_q": [10]}
    cells["$ff$0"] = flip_flop("0", 10)
    cells["$ff$0"]["attributes"]["src"] = "rs_top.sv:9.1|/share/ff_map.v:1.1"
    for n in range(2):
        bit = 100 * (n + 1)
        scope = cell("$scopeinfo")
        scope["attributes"] = {"module": "rs_unit.0"}
        cells[f"gen_unit[{n}].u_unit"] = scope
        cells[f"$lut${n}"] = cell("LUT1", I0=10, O=bit)
        register = flip_flop(bit, bit + 1)
        register["attributes"]["src"] = "rs_unit.sv:5.5"
        cells[f"$ff${n + 1}"] = register
        nets |= {f"gen_unit[{n}].u_unit.sum_q": [bit + 1], f"sum_{n}": [bit + 1]}
        nets[f"gen_unit[{n}].u_unit.command_i"] = [10]
    return module(cells, nets)


def test_registers_are_named_by_instance_and_blocks_by_module() -> None:
    netlist = named_netlist()
    found = report(timing_graph(netlist), Names(netlist, "rs_top"))
    (path,) = found.paths
    assert path.block == "rs_unit"
    assert (path.start, path.end) == ("command_q", "gen_unit[0].u_unit.sum_q")
    assert (path.alike, path.fanout, path.levels) == (2, 2, 1)
    assert path.cells == "FDRE LUT1 FDRE"
    (block,) = found.blocks
    assert (block.name, block.inputs, block.levels) == ("rs_unit", 2, 1)
    assert block.delay_ps == path.delay_ps == OUT + NET_OF_TWO + PINS[0] + SETUP


def test_a_report_comes_back_from_its_text_and_reports_merge() -> None:
    netlist = named_netlist()
    found = report(timing_graph(netlist), Names(netlist, "rs_top"))
    assert Timing.of(found.text()) == found
    both = merged([found, found])
    assert [block.inputs for block in both.blocks] == [4]
    assert both.paths == found.paths * 2
    assert len(merged([found] * (KEPT_PATHS + 1)).paths) == KEPT_PATHS


def test_a_net_takes_the_longer_the_more_inputs_it_drives() -> None:
    base, root = D["net"]["base"], D["net"]["root"]
    delays_of = []
    for inputs in (1, 4, 100):
        cells = {"a": flip_flop("0", 10)}
        cells |= {f"b{n}": flip_flop(10, 20 + n) for n in range(inputs)}
        delays_of.append(worst(cells).delay - OUT - SETUP)
    assert delays_of == [base + root, base + 2 * root, base + 10 * root]


def test_a_net_to_all_lanes_of_a_part_counts_as_of_the_whole() -> None:
    cells = {"a": flip_flop("0", 10), "l": flip_flop(10, 11), "m": flip_flop("0", 12)}
    cells |= {f"b{n}": flip_flop(12, 20 + n) for n in range(4)}
    graph = timing_graph(module(cells), wider=Wider(lanes=4, times=25))
    found = {each.end.name: each.delay for each in Arrivals(graph).longest()}
    assert found["l"] == OUT + NET + SETUP
    assert found["b0"] == OUT + net_delay(D, 100) + SETUP


def test_families_have_delays_of_their_own() -> None:
    cells = {"a": flip_flop("0", 10), "b": flip_flop(10, 11)}
    older = delays()[Family.SERIES_7]
    graph = timing_graph(module(cells), family=Family.SERIES_7)
    (found,) = (each for each in Arrivals(graph).longest())
    assert found.delay == older["flip_flop"]["clock_to_out"] + net_delay(older, 1)
    assert found.delay > worst(cells).delay


def test_paths_between_clocks_are_not_timed_and_each_clock_has_its_worst() -> None:
    cells = {
        "a": flip_flop("0", 10),
        "b": flip_flop(10, 11),
        "c": flip_flop(11, 12),
        "d": flip_flop(12, 13),
    }
    for name in ("c", "d"):
        cells[name]["connections"]["C"] = [3]
    cells["l"] = cell("LUT1", I0=12, O=14)
    cells["d"]["connections"]["D"] = [14]
    whole = module(cells, {"clk_i": [CLOCK], "bus_clk_i": [3]})
    found = report(timing_graph(whole), Names(whole, "top"))
    assert {(path.clock, path.start, path.end) for path in found.paths} == {
        ("clk_i", "a", "b"),
        ("bus_clk_i", "c", "d"),
    }
    assert found.worst("bus_clk_i") == found.paths[0]
    assert found.worst("none") is None
