"""The longest paths of every named design, and the command that times them anew.

``python -m tests.rtl.timing_record`` synthesizes all designs, hours of processor time, and writes
``timing_record.json`` and ``docs/results/timing.md``. With names of designs it times those alone,
and with ``--page`` it writes the page from what was found before.
"""

import datetime
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.hdl import timing_calibration as calibration

from ringsmith import design_files
from ringsmith.backends.inspector import timing_family
from ringsmith.backends.registry import backend_of, named_design
from ringsmith.backends.rpau.debug.area import SHARE
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.types import Design
from ringsmith.backends.vector.debug.area import LEAST_LOG_LANES
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.files import write_whole
from ringsmith.hdl.sources import ECP5
from ringsmith.hdl.timing.graph import Family, delays
from ringsmith.hdl.timing.report import TimedPath
from ringsmith.hdl.yosys import yosys
from ringsmith.markdown import table_lines

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("timing_record.json")
PAGE = ROOT / "docs" / "results" / "timing.md"
PLACED = ROOT / "docs" / "results" / "pico.md"
COMMAND = ".venv/bin/python -m tests.rtl.timing_record"

AGAIN = ("nano", "rpm", "vector-small")
"""Designs that ``make test-full`` times again."""

ABOVE: Mapping[str, tuple[str, ...]] = {"rpm": ("clk_i",), "vector-small": ("clk_i",)}
"""Designs, and the clocks whose period is shorter than their longest path: the page says so."""

_STEP_PS = 100
"""A block's ceiling is what was found, rounded up to a multiple of this."""

_MOST_CORES = 8
"""An RPAU with more cores is timed in part."""

TEXT = """\
<!-- Written by `{command}`; do not edit. -->
# Timing of the named designs

After reading this page you know the longest path of each named design, by the report of
`ringsmith timing`, and how far that report is from place and route on an ECP5.
[Timing](../guide/timing.md) says what the report does.

## Longest paths

**Nothing of this table but `pico` was placed or routed.** A design is assumed to run at its clock;
the longest path between registers of that clock should take no longer than its period. A test
holds that for the designs that were timed, but for those in **bold**: their assumed clock is not
supported by the report.

Delays of cells are those of {ultrascale};
of the 7 series, those of {series_7}.
Nets are estimated by the inputs that they drive. Yosys {yosys}.

{paths}

`tests/rtl/timing_record.json` has the same of each module. `make test-full` times {again} again.

What was timed:

{what}

## Calibration

Small blocks, placed and routed by nextpnr on an ECP5-85F of speed grade 6, and the same netlists by
the report, with the delays of that family. Above 1 the report is faster than the device would be.
Paths between registers alone; written by `{calibrate}`. The longest path is the same one in
both of `pico`: its placement is of a slightly older netlist (24 November 2026).

{calibration}

The ratios are of nets in small blocks on an FPGA that is mostly free. In a device that fills
several dies of a card, nets are longer; no open tool places one.
"""
"""The page, with places to fill."""


class Ceiling(NamedTuple):
    """The most that a block may have."""

    levels: int
    delay_ps: int


def clocks(design: Design) -> dict[str, float]:
    """The clocks that a design is assumed to have, in MHz."""
    return dict(backend_of(design).exporter().hardware(design).clocks)


def values(design: Design) -> dict[str, str]:
    """What a design is synthesized with: parameters of its top module."""
    found = backend_of(design).exporter().hardware(design).parameters
    return {name: str(value) for name, value in found.items()}


def in_part(design: Design) -> bool:
    """Whether a design is too wide to be timed whole."""
    if isinstance(design, RpauDesign):
        return design.cores >= _MOST_CORES and design.dyadic_cores >= SHARE
    return isinstance(design, VectorDesign) and design.log_lanes > LEAST_LOG_LANES


def is_placed(design: Design) -> bool:
    """Whether its clock is known from place and route."""
    return isinstance(design, RpauDesign) and design.target == ECP5


def timed_designs() -> list[str]:
    """The named designs that are timed by the report."""
    return [name for name in design_files.named() if not is_placed(named_design(name))]


def placed_mhz() -> float:
    """The clock of ``pico`` after place and route, from its page."""
    (found,) = re.findall(r"\(`make bitstream`\) .*\*\*([\d.]+)\*\*", PLACED.read_text())
    return float(found)


def measure(name: str) -> dict[str, Any]:
    """Times a design."""
    design = named_design(name)
    inspector = backend_of(design).inspector()
    assert inspector is not None, "an architecture of ours"
    found = inspector.timing(design, in_part=in_part(design))
    return {
        "what": found.what,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "values": values(design),
        "clocks": {
            clock: _longest(path)
            for clock in clocks(design)
            if (path := found.timing.worst(clock)) is not None
        },
        "blocks": {
            block.name: Ceiling(
                block.levels, math.ceil(block.delay_ps / _STEP_PS) * _STEP_PS
            )._asdict()
            for block in sorted(found.timing.blocks, key=lambda block: block.name)
        },
    }


def _longest(path: TimedPath) -> dict[str, object]:
    return {
        "delay_ps": path.delay_ps,
        "levels": path.levels,
        "fanout": path.fanout,
        "block": path.block,
        "from": path.start,
        "to": path.end,
    }


def kept() -> dict[str, Any]:
    """The record: design -> what was found."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def ceilings(found: Mapping[str, Any]) -> dict[str, Ceiling]:
    """The ceilings of a design's blocks."""
    return {name: Ceiling(**each) for name, each in found["blocks"].items()}


def differences(most: Mapping[str, Ceiling], now: Mapping[str, Ceiling]) -> list[str]:
    """What is above its ceiling or has none, a sentence each."""
    reported = []
    for name, block in now.items():
        ceiling = most.get(name)
        if ceiling is None:
            reported.append(f"{name}: has no ceiling")
        elif block.levels > ceiling.levels or block.delay_ps > ceiling.delay_ps:
            reported.append(
                f"{name}: {block.levels} levels and {block.delay_ps} ps, above its ceiling of "
                f"{ceiling.levels} levels and {ceiling.delay_ps} ps"
            )
    return reported


def above_period(found: Mapping[str, Any], mhz: Mapping[str, float]) -> list[str]:
    """Clocks whose longest path takes longer than their period, a sentence each."""
    return [
        f"{clock}: {path['delay_ps']} ps from {path['from']} to {path['to']}, and a period of "
        f"{period} ps"
        for clock, path in found["clocks"].items()
        if path["delay_ps"] > (period := round(1e6 / mhz[clock]))
    ]


def _path_rows(record: Mapping[str, Any]) -> Iterator[list[str]]:
    for name in design_files.named():
        design = named_design(name)
        if is_placed(design):
            period = f"{1e3 / placed_mhz():.2f}"
            yield [f"`{name}`", "`clk_i`", f"{clocks(design)['clk_i']:g}", period, *["–"] * 5]
            continue
        if name not in record:
            yield [f"`{name}`", "`clk_i`", f"{clocks(design)['clk_i']:g}", "not timed", *["–"] * 5]
            continue
        for clock, path in record[name]["clocks"].items():
            delay = f"{path['delay_ps'] / 1000:.2f}"
            yield [
                f"`{name}`",
                f"`{clock}`",
                f"{clocks(design)[clock]:g}",
                f"**{delay}**" if clock in ABOVE.get(name, ()) else delay,
                f"{1e6 / path['delay_ps']:.0f}",
                str(path["levels"]),
                f"{path['fanout']:,}",
                f"`{path['block']}`",
                record[name]["date"],
            ]


def page(record: Mapping[str, Any]) -> str:
    """The page of a record."""
    headings = (
        *("design", "clock", "MHz assumed", "longest path (ns)", "MHz by the report"),
        *("levels", "fan-out", "module", "date"),
    )
    words = ("design", "clock", "module")
    names = [name for name in timed_designs() if name in record]
    series_7 = [name for name in names if _family(name) is Family.SERIES_7]
    compared = [
        [row["block"], f"{row['cells']:,}"]
        + [f"{row[key] / 1000:.2f}" for key in ("reported_ps", "placed_ps")]
        + [f"{calibration.ratio(row):.2f}", row["date"]]
        for row in calibration.kept()
    ]
    return TEXT.format(
        command=COMMAND,
        calibrate=calibration.COMMAND,
        yosys=yosys().version,
        ultrascale=delays()[Family.ULTRASCALE_PLUS]["source"],
        series_7=f"{delays()[Family.SERIES_7]['source']} ({', '.join(series_7)})",
        paths="\n".join(table_lines(headings, list(_path_rows(record)), words)),
        again=", ".join(f"`{name}`" for name in AGAIN),
        what="\n".join(f"- `{name}`: {record[name]['what']}." for name in names),
        calibration="\n".join(
            table_lines(
                ("block", "cells", "report (ns)", "placed (ns)", "ratio", "date"),
                compared,
                ("block",),
            )
        ),
    )


def _family(name: str) -> Family:
    design = named_design(name)
    return timing_family(backend_of(design).exporter().hardware(design).platform)


def _main(arguments: list[str]) -> None:
    record = kept() if KEPT.exists() else {}
    names = [each for each in arguments if each != "--page"]
    for name in names or (timed_designs() if "--page" not in arguments else []):
        record[name] = measure(name)
        ordered = {each: record[each] for each in timed_designs() if each in record}
        write_whole(KEPT, (json.dumps(ordered, indent=1) + "\n").encode(), overwrite=True)
        print(name, record[name]["clocks"], flush=True)
    write_whole(PAGE, (page(kept())).encode(), overwrite=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
