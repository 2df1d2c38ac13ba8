"""Ports of buses: every output, READY too, comes from registers.

AXI allows no path without a register between inputs and outputs of an interface: two blocks that
both have one may make a loop.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.rtl.crossings import elaborate

from ringsmith.backends.rpau.design import rtl as rpau
from ringsmith.backends.stream.design import rtl as stream
from ringsmith.backends.vector.design import rtl as vector
from ringsmith.generate.contents import sources_below

TOPS = {
    rpau.CARD_TOP: (rpau.CARD_FOLDERS, ["rs_rpau_shell"]),
    rpau.BUS_TOP: (rpau.BUS_FOLDERS, ["rs_rpau_top"]),
    stream.TOP: (stream.FOLDERS, ["rs_stream_core"]),
    vector.SHELL: (vector.SHELL_FOLDERS, ["rs_vector_core"]),
}
"""Top modules with buses: their folders, and the modules inside that no bus goes to."""

RESETS = {"rst_ni", "bus_rst_ni", "mem_rst_ni"}
STATE = ("$_DFF", "$_SDFF", "$_DLATCH", "$mem", "\\rs_", "rs_")
"""What types of cells that keep state begin with; modules that are left out count as such."""


def reached(module: dict[str, Any]) -> dict[str, set[str]]:
    """The input ports that each output port depends on in the same cycle.

    Args:
        module: A flat module of single-bit cells.
    """
    waits: dict[int, list[int]] = defaultdict(list)
    for cell in module["cells"].values():
        if not cell["type"].startswith(STATE) or _reads_at_once(cell):
            ends = defaultdict(list)
            for port, bits in cell["connections"].items():
                ends[cell["port_directions"].get(port)] += [b for b in bits if isinstance(b, int)]
            for bit in ends["output"]:
                waits[bit] += ends["input"]
    ports = module["ports"].items()
    inputs = {b: name for name, port in ports if port["direction"] == "input" for b in port["bits"]}
    found = {}
    for name, port in ports:
        if port["direction"] == "output":
            todo, seen = list(port["bits"]), set()
            while todo:
                bit = todo.pop()
                if bit not in seen:
                    seen.add(bit)
                    todo += waits.get(bit, [])
            found[name] = {inputs[bit] for bit in seen if bit in inputs}
    return found


def _reads_at_once(cell: dict[str, Any]) -> bool:
    """Whether a cell is a port of a memory that is read without a clock."""
    clocked = str(cell["parameters"].get("CLK_ENABLE", "1"))
    return bool(cell["type"].startswith("$memrd") and int(clocked, 2) == 0)


@pytest.mark.full
@pytest.mark.parametrize("top", TOPS)
def test_outputs_of_buses_come_from_registers(top: str, tmp_path: Path) -> None:
    folders, boxes = TOPS[top]
    found = reached(
        elaborate(top, sources_below(top, folders), tmp_path, "opt -fast; simplemap", boxes)
    )
    assert sum(name.endswith("ready") for name in found) >= 3
    assert not {name: waits for name, waits in found.items() if waits - RESETS}


@pytest.mark.full
def test_a_ready_that_waits_for_a_valid_is_seen(tmp_path: Path) -> None:
    text = """
module slave (input logic clk_i, aw_valid, ar_valid, output logic aw_ready, ar_ready);
  logic busy_q;
  always_ff @(posedge clk_i) busy_q <= aw_valid;
  assign aw_ready = !busy_q;
  assign ar_ready = !busy_q && !aw_valid;
endmodule
"""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "slave.sv").write_text(text)
    found = reached(elaborate("slave", [tmp_path / "in" / "slave.sv"], tmp_path, "simplemap"))
    assert found == {"aw_ready": set(), "ar_ready": {"aw_valid"}}
