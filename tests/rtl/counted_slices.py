"""Multipliers whose DSP slices are counted, and the same multipliers mapped by Yosys.

``python tests/rtl/counted_slices.py`` synthesizes them anew, minutes of processor time, and writes
``counted_slices.json`` and ``docs/results/slices.md``.
"""

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.files import write_whole
from ringsmith.hdl.elaboration import DSP_BOXES
from ringsmith.hdl.record import Values
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized
from ringsmith.hdl.yosys import yosys
from ringsmith.markdown import table_lines

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("counted_slices.json")
PAGE = ROOT / "docs" / "results" / "slices.md"
COMMAND = ".venv/bin/python tests/rtl/counted_slices.py"

TEXT = """\
<!-- Written by `{command}`; do not edit. -->
# DSP slices that are counted

After reading this page you know which multipliers count as DSP slices in the tables of areas
without being mapped to them, and what Yosys makes of them when it maps them.

Yosys packs no registers and no adders into DSP slices of UltraScale+. These modules are written
as such slices with their registers and adders. Every table of areas counts them as these numbers:
{boxes}.
Mapped by Yosys they take the same slices, and registers and adders in LUTs and flip-flops.
`tests/rtl/test_area.py` sees on the 7 series, where Yosys packs registers, that they fit.

{table}

Measured with Yosys {yosys} for UltraScale+. Two LUTs that may share a site count
once, and output registers of DSPs do not count. A vendor's tool was not tried: a cautious plan
takes the mapped numbers.
"""
"""The page, with places to fill."""


@dataclass(frozen=True)
class Multiplier:
    """A multiplier and the designs that have it."""

    name: str
    top: str
    parameters: Values
    designs: str
    folders: tuple[str, ...] = ("mem", "arith")


MULTIPLIERS = (
    Multiplier(
        "folded, 60 bits", "rs_mod_mul", {"Width": 60, "Reduction": 2}, "`medha`: 40 an RPAU"
    ),
    Multiplier(
        "folded, 54 bits", "rs_mod_mul", {"Width": 54, "Reduction": 2}, "`medha`: 40 an RPAU"
    ),
    Multiplier(
        "two steps, 32 bits",
        "rs_mod_mul_two_steps",
        {"Width": 32, "StepBits": 17},
        "`framework-512`, `vector-1024`: one an ALU",
    ),
)


def measured(each: Multiplier) -> dict[str, object]:
    """A multiplier's areas, counted and mapped."""

    def area(*, counted: bool) -> dict[str, float]:
        found: Area = synthesized(
            each.top, each.folders, each.parameters, (), ULTRASCALE_PLUS, counted=counted
        )[each.top]
        return {
            "dsps": found.dsps,
            "luts": found.lut_sites,
            "flip_flops": found.fabric_flip_flops,
        }

    return {
        "multiplier": each.name,
        "counted": area(counted=True),
        "mapped": area(counted=False),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }


def kept() -> list[dict[str, Any]]:
    """The record."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def page(record: list[dict[str, Any]]) -> str:
    """The page of a record."""
    designs: Mapping[str, str] = {each.name: each.designs for each in MULTIPLIERS}
    headings = ["multiplier", "designs"]
    headings += [f"{kind}, {how}" for how in ("counted", "mapped") for kind in ("DSP", "LUT", "FF")]
    rows = [
        [row["multiplier"], designs[row["multiplier"]]]
        + [
            f"{row[how][key]:,}"
            for how in ("counted", "mapped")
            for key in ("dsps", "luts", "flip_flops")
        ]
        + [row["date"]]
        for row in record
    ]
    return TEXT.format(
        command=COMMAND,
        boxes=", ".join(f"`{name}` ({number})" for name, number in DSP_BOXES.items()),
        table="\n".join(table_lines((*headings, "date"), rows, ("multiplier", "designs"))),
        yosys=yosys().version,
    )


if __name__ == "__main__":
    write_whole(
        KEPT,
        (json.dumps([measured(each) for each in MULTIPLIERS], indent=1) + "\n").encode(),
        overwrite=True,
    )
    write_whole(PAGE, (page(kept())).encode(), overwrite=True)
