"""What static timing says of small blocks, compared with their place and route on an ECP5.

``python tests/hdl/timing_calibration.py`` places and routes all blocks anew, minutes of processor
time, and writes ``timing_calibration.json``; ``tests/rtl/timing_record.py`` writes the page. With
names of blocks it measures those alone.
"""

import datetime
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringsmith.files import write_whole
from ringsmith.hdl.ecp5 import flow
from ringsmith.hdl.ecp5.flow import Hierarchy, timed_block
from ringsmith.hdl.timing.ecp5 import ecp5_graph
from ringsmith.hdl.timing.paths import Arrivals

KEPT = Path(__file__).with_name("timing_calibration.json")
COMMAND = ".venv/bin/python tests/hdl/timing_calibration.py"

WANTED_MHZ = 150
"""What nextpnr is asked for."""

LEAST, MOST = 0.8, 1.25
"""Limits of a block's ratio: the period after place and route, by what the report says."""


WHOLE = "`pico` with its board's parts"
"""The only design that was placed and routed, an hour: the record keeps its row. Its placement of
24 November 2026 has a slightly older netlist than the one that the report is of."""


def blocks() -> Mapping[str, Hierarchy]:
    """What is compared: what it is -> its RTL."""
    return {
        "modular multiplier, 30 bits": Hierarchy("rs_mod_mul", ("mem", "arith"), {"Width": 30}),
        "FIFO of 16 words of 32 bits": Hierarchy(
            "rs_dma_fifo", ("mem", "dma"), {"Width": 32, "LogDepth": 4}
        ),
        "NTT of one core, N = 2^10, 30 bits": Hierarchy(
            "rs_ntt", ("mem", "arith", "ntt"), {"LogN": 10, "Cores": 1, "Width": 30}
        ),
    }


def reported(block: Hierarchy) -> int:
    """The longest path between registers by the report, in ps; ports are not placed."""
    module = json.loads(flow.netlist(block).read_text())["modules"][block.top]
    longest = Arrivals(ecp5_graph(module)).longest()
    return max(each.delay for each in longest if "port" not in (each.start.cell, each.end.cell))


def measured(name: str) -> dict[str, object]:
    """Places and routes a block: its period, and what the report says of the same netlist."""
    block = blocks()[name]
    implemented = timed_block(block, WANTED_MHZ)
    return {
        "block": name,
        "cells": sum(flow.cells(flow.netlist(block)).values()),
        "reported_ps": reported(block),
        "placed_ps": round(1e6 / implemented.clocks[0].reached_mhz),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }


def kept() -> list[dict[str, Any]]:
    """The record."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def ratio(row: Mapping[str, Any]) -> float:
    """The placed period by the reported one; above 1 the report is too fast."""
    return float(row["placed_ps"]) / float(row["reported_ps"])


def _main(names: list[str]) -> None:
    rows = {row["block"]: row for row in (kept() if KEPT.exists() else [])}
    for name in names or blocks():
        rows[name] = measured(name)
        print(name, rows[name], flush=True)
        ordered = [rows[each] for each in (*blocks(), WHOLE) if each in rows]
        write_whole(KEPT, (json.dumps(ordered, indent=1) + "\n").encode(), overwrite=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
