"""What designs are estimated to take, compared with their RTL and its synthesis.

``python tests/backends/estimates.py`` measures all of it anew, which takes half an hour of
processor time, and writes ``tests/backends/estimates.json`` and ``docs/results/estimates.md``. With
names of designs it measures those alone, and with ``--page`` it writes the page from what was
measured before.
"""

import datetime
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith import design_files
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.exporter import Estimate
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.registry import backend_of, named_design
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.sample_parameters import sample_parameters
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.types import Design
from ringsmith.backends.vector.debug.costs import filled_parameters
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.files import write_whole
from ringsmith.generate import generate_design
from ringsmith.generate.synthesis import TITLES, synthesize
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.toolchain import verilator
from ringsmith.hdl.yosys import yosys
from ringsmith.lower import lower_operation
from ringsmith.markdown import DASH, table_lines
from ringsmith.params import RlweParameters

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("estimates.json")
PAGE = ROOT / "docs" / "results" / "estimates.md"
COMMAND = ".venv/bin/python tests/backends/estimates.py"

LATENCY_LIMIT, AREA_LIMIT = 0.03, 0.15
"""The most that an estimate may be apart: of cycles; of LUTs and flip-flops."""
EXACT = ("dsps", "brams", "urams")
"""Resources whose estimate must be equal."""

_RPAU = """\
architecture = "rpau"
work_polys = 8
key_polys = 8
constants = 32
program_words = 256
"""
_VECTOR = """\
architecture = "vector"
bank_rows = 1024
table_rows = 1024
stream_rows = 512
"""

DESIGNS: Mapping[str, str] = {
    "rpau-1": _RPAU
    + 'log_n = 10\nword_bits = 40\nrpaus = 3\ncores = 1\ndyadic_cores = 1\nreduction = "barrett"\n',
    "rpau-2": _RPAU
    + "log_n = 11\nsmaller_rings = 1\nword_bits = 48\nrpaus = 4\ncores = 2\ndyadic_cores = 2\n"
    'reduction = "barrett"\n',
    "rpau-4": _RPAU + "log_n = 11\nword_bits = 54\nrpaus = 3\ncores = 4\ndyadic_cores = 2\n"
    'reduction = "folded"\n',
    "stream-2": 'architecture = "stream"\nlog_n = 10\nlanes = 2\nword_bits = 30\n',
    "stream-2-long": 'architecture = "stream"\nlog_n = 12\nlanes = 2\nword_bits = 36\n',
    "stream-4": 'architecture = "stream"\nlog_n = 11\nlanes = 4\nword_bits = 45\n'
    'multiplier = "barrett"\n',
    "vector-1": _VECTOR + "log_n = 12\nlog_lanes = 4\nlog_radix = 2\nword_bits = 32\n",
    "vector-2": _VECTOR
    + "log_n = 12\nlog_lanes = 4\nlog_radix = 2\nword_bits = 28\nclusters = 2\n",
    "vector-4": _VECTOR
    + 'log_n = 12\nlog_lanes = 4\nlog_radix = 4\nword_bits = 32\nreduction = "montgomery"\n',
}
"""Name -> the text of its file, the name left out."""

OPERATIONS = {
    "rpau": ("add", "multiply", "multiply_relinearize", "rotate", "rescale"),
    "stream": ("multiply", "multiply_relinearize", "rotate"),
    "vector": ("add", "multiply", "multiply_relinearize", "rotate", "rescale"),
}

TEXT = """\
<!-- Written by `{command}`; do not edit. -->
# Estimates compared with RTL and synthesis

After reading this page you know how far to trust what `ringsmith explore` and the manifest of a
[generated folder](../guide/generate.md) say of a design before there is RTL.

Measured on {date} by `{command}` (Verilator {verilator}, Yosys {yosys}), which has the designs.
`tests/backends/test_estimates.py` measures again and holds the limits: cycles within
{latency_limit}; DSP slices, block RAMs and UltraRAMs equal; LUTs and flip-flops within
{area_limit}. The Framework paper claims 5% for its latency (section VI-B).

## Latency

{points} operations, the largest difference {worst}. The estimate is the compiler's schedule: the
cycles of a generated folder's manifest, and of the front that `explore` prints. (The search for a
`vector` design begins with a faster estimate: [Exploring designs](explore.md).) The RTL counts its
own cycles; of `stream`, products must end in the cycles that the schedule says. Memory of `vector`
designs is simulated as the U280's. Results are the interpreter's, bit for bit.

{latency}

## Resources

A cell has the estimate, Yosys's count and how far they are apart; one number where both are equal.
Devices with their registers and buses, as generated folders hold them. `rpau` and `vector` are
synthesized for UltraScale+, `stream` for the 7 series. `rpau-1` and `stream-2` are among the
designs that the estimates were made from; the others are not. Larger designs have been compared
part by part: RPAUs in [Named designs](designs.md), multipliers in [RPM results](rpm.md), clusters
by `tests/rtl/test_area.py`.

{area}
"""
"""The page, with places to fill."""

Row = dict[str, object]


def design_of(name: str) -> Design:
    """A design of ``DESIGNS``."""
    with tempfile.TemporaryDirectory() as folder:
        return named_design(str(_written(name, Path(folder))))


def _written(name: str, folder: Path) -> Path:
    file = folder / f"{name}{design_files.SUFFIX}"
    file.write_text(f'name = "{name}"\n{DESIGNS[name]}', encoding="utf-8")
    return file


# ---- latency -----------------------------------------------------------------------------------


def _parameters(design: Design) -> Iterator[RlweParameters]:
    """Every ring of a design from 2^10 on, that of N = 2^11 left out where there are more."""
    if isinstance(design, RpauDesign):
        for log_n in range(design.min_log_n, design.max_log_n + 1):
            yield sample_parameters(design, "estimated", log_degree=log_n)
    elif isinstance(design, VectorDesign):
        for log_n in (10, 12):
            yield filled_parameters(design, 1 << log_n, 3, 1, 3)
    else:
        assert isinstance(design, StreamDesign)
        yield backend_of(design).exporter().parameters(design)


def points(name: str) -> Iterator[tuple[str, SubroutineGraph, Row]]:
    """Operations of a design: the operation, its graph, and what says which point it is."""
    design = design_of(name)
    architecture = backend_of(design).name
    for of in _parameters(design):
        for operation in OPERATIONS[architecture]:
            graph = lower_operation(operation, of, of.limbs)
            reported: Row = {
                "design": name,
                "n": graph.n,
                "limbs": of.limbs,
                "operation": operation,
            }
            yield operation, graph, reported


def estimated_cycles(design: Design, graph: SubroutineGraph) -> int:
    """What is said before there is RTL: by ``explore``, and by a generated folder's manifest."""
    found = backend_of(design).compile(graph, design).cycles
    assert found is not None
    return found


def latencies(name: str) -> Iterator[Row]:
    """Runs operations on the RTL of a design; results are the interpreter's."""
    design, random = design_of(name), np.random.default_rng(26)
    backend = backend_of(design)
    device = backend.open("rtl", design)
    for _, graph, reported in points(name):
        inputs, keys = random_operands(graph, random)
        compiled = CompiledGraph(graph, backend.compile(graph, design))
        found = device.execute(compiled, inputs, keys)
        wanted = graph.to_core().run(inputs, {each: core_key(key) for each, key in keys.items()})
        for output, residues in wanted.items():
            assert np.array_equal(found.outputs[output], residues), (reported, output)
        yield {**reported, "estimated": estimated_cycles(design, graph), "rtl": found.cycles}


# ---- area --------------------------------------------------------------------------------------


def estimate_of(name: str) -> Estimate:
    """What a design is estimated to take."""
    design = design_of(name)
    return backend_of(design).exporter().estimate(design)


def areas(name: str) -> Row:
    """Synthesizes the whole of a generated folder."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "made"
        generate_design(str(_written(name, Path(work))), folder, operation="add", verilog=False)
        found = synthesize(folder)
    return {
        "design": name,
        "family": found.family,
        "yosys": dict(found.counts),
    }


# ---- the page ----------------------------------------------------------------------------------


def deviation(estimated: float, found: float) -> float:
    """How far an estimate is from what was found."""
    return abs(estimated - found) / max(found, 1)


def kept() -> dict[str, Any]:
    """What was measured: lists of rows, date and versions; nothing before it was."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return found


def _resources(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """A design's line of the table of resources."""
    estimate = estimate_of(row["design"]).resources
    cells = [f"`{row['design']}`"]
    for name in names:
        if name not in row["yosys"]:
            cells.append(DASH)
            continue
        guess, found = estimate[name], row["yosys"][name]
        if guess == found:
            cells.append(f"{found:,g}")
        else:
            cells.append(f"{guess:,g} / {found:,g} ({guess / found - 1:+.1%})")
    return cells


def page(record: Mapping[str, Any]) -> str:
    """The page, from what was measured."""
    latency, area = record["latency"], record["area"]
    worst = max(deviation(row["estimated"], row["rtl"]) for row in latency)
    head = ("design", "N", "primes", "operations", "cycles of RTL", "apart")
    rings: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    for row in latency:
        rings.setdefault((row["design"], row["n"], row["limbs"]), []).append(row)
    rows = [
        (
            f"`{design}`",
            f"{n:,}",
            str(limbs),
            str(len(found)),
            f"{min(row['rtl'] for row in found):,} … {max(row['rtl'] for row in found):,}",
            f"{max(deviation(row['estimated'], row['rtl']) for row in found):.1%}",
        )
        for (design, n, limbs), found in rings.items()
    ]
    names = [name for name in TITLES if any(name in row["yosys"] for row in area)]
    of_area = [_resources(row, names) for row in area]
    area_head = ("design", *(TITLES[name] for name in names))
    reported = {
        "command": COMMAND,
        "latency_limit": f"{LATENCY_LIMIT:.0%}",
        "area_limit": f"{AREA_LIMIT:.0%}",
        "points": len(latency),
        "worst": f"{worst:.1%}",
        "latency": "\n".join(table_lines(head, rows, ("design",))),
        "area": "\n".join(table_lines(area_head, of_area, ("design",))),
        **{name: record[name] for name in ("date", "verilator", "yosys")},
    }
    return TEXT.format(**reported)


def measure(kind: str, name: str) -> None:
    """Measures a design, and writes the record anew.

    Args:
        kind: ``latency`` or ``area``.
        name: The design.
    """
    record = kept()
    found = list(latencies(name)) if kind == "latency" else [areas(name)]
    others = [row for row in record.get(kind, []) if row["design"] != name]
    order = list(DESIGNS)
    record[kind] = sorted([*others, *found], key=lambda row: order.index(str(row["design"])))
    record |= {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "verilator": verilator().version,
        "yosys": yosys().version,
    }
    write_whole(KEPT, (json.dumps(record, indent=1) + "\n").encode(), overwrite=True)


def main(names: list[str]) -> None:
    """Measures designs, all where none is named, and writes record and page."""
    if names != ["--page"]:
        for name in names or DESIGNS:
            print(f"measuring {name}", flush=True)
            measure("latency", name)
            measure("area", name)
    write_whole(PAGE, page(kept()).encode(), overwrite=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # small rings hold no security
    main(sys.argv[1:])
