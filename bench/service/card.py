"""A simulated card at saturation: for how much of its time coprocessors compute.

Times of the card are the simulation's own, by the model of its bus and its host, and do not depend
on how fast it is simulated.
"""

import tempfile
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.heaws import job_of
from bench.measure import compiled_for
from bench.record import Record
from bench.run import Run
from bench.service.processes import Card
from ringsmith.backends.base import Device, GraphResult
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.card.simulated import Pace
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.link import Link, share
from ringsmith.design_files import to_toml
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower, lower_operation
from ringsmith.params import SecurityWarning, parameter_set
from ringsmith.program import inner_product, polynomial
from ringsmith.program.vector import EncryptedVector
from ringsmith.runtime import compile_graph, open_device, run_graph
from ringsmith.tracing import trace

_PICOSECONDS = 1e12
_WARM = 4
"""Jobs of each coprocessor before anything is counted: they load tables, programs and keys."""


def cards(run: Run) -> Iterator[Record]:
    """Saturates cards with jobs of one program and one client's keys.

    Values of the part: ``cases``, tables with ``design``, ``bus_bits`` of its bus to the host, and
    ``programs``, an operation and a parameter set each, or ``score``; ``jobs`` of each coprocessor.
    """
    with tempfile.TemporaryDirectory(prefix="ringsmith-card-") as text:
        for case in run["cases"]:
            name = case["design"]
            design = replace(load_design(name), host_bits=case["bus_bits"])
            file = Path(text) / f"{name}.toml"
            file.write_text(to_toml(design, "rpau"))
            card = Card(str(file), file.with_suffix(".sock"))
            try:
                device = open_device("card", design, port=str(file.with_suffix(".sock")))
                for program, what in case["programs"].items():
                    run.say(f"{name}, {program}")
                    yield from _load(program, _graph(what), device, design, run["jobs"])
            finally:
                card.kill()


def _graph(what: str) -> SubroutineGraph:
    if what == "score":
        weights = np.linspace(-1, 1, 32)

        def score(x: EncryptedVector) -> EncryptedVector:
            return polynomial(inner_product(x, weights, 32) + 0.25, [0.5, 0.197, 0, -0.004])

        return lower(trace(score, parameter_set("medha-set1"), {"x": 32})).graph
    operation, params = what.split(", ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        of = parameter_set(params)
    return lower_operation(operation, of, of.limbs)


def _load(
    name: str, graph: SubroutineGraph, device: Device, design: RpauDesign, jobs: int
) -> Iterator[Record]:
    count, rng = design.coprocessors, np.random.default_rng(1)
    inputs, keys = random_inputs(graph, rng), random_keys(graph, rng, seeded=graph.keys)
    compiled, executable = compile_graph(graph, design), compiled_for(graph, design)

    def run(_: int) -> GraphResult:
        return run_graph(compiled, device, inputs, keys)

    with ThreadPoolExecutor(3 * count) as pool:
        list(pool.map(run, range(_WARM * count)))
        before = _report(device)
        results = list(pool.map(run, range(jobs * count)))
        after = _report(device)
    elapsed = (after["now"] - before["now"]) / _PICOSECONDS
    channels = zip(before["channels"], after["channels"], strict=True)
    computed = sum(b["computed"] - a["computed"] for a, b in channels) / _PICOSECONDS
    last = results[-1]
    assert last.cycles is not None
    link, pace = Link(design.host_bits), Pace()
    text = (
        f"{count} × {design.name} at {link.device_hz / 1e6:.0f} MHz, assumed; {jobs} jobs of each "
        f"after {_WARM} others; bus of {design.host_bits} bits at {link.bus_hz / 1e6:.0f} MHz; "
        f"host with {pace.bytes_per_second / 1e9:g} GB/s each way, {pace.transfer / 1e6:g} µs a "
        f"transfer and {pace.answer / 1e6:g} µs between lists"
    )

    def row(operation: str, metric: str, value: float) -> Record:
        params = f"card, {design.name}, {name}"
        return Record(design.name, params, operation, metric, value, "model", text)

    yield row("program", "cycles", last.cycles)
    yield row("jobs", "per_second", jobs * count / elapsed)
    never = count * link.device_hz / last.cycles
    yield row("jobs, if coprocessors never waited", "per_second", never)
    yield row("coprocessors busy", "percent", 100 * computed / (count * elapsed))
    if len(executable.runs) == 1:
        bound = _bound(executable, jobs, resident=last.report.key_words == 0)
        yield row("the bus's bound: coprocessors busy", "percent", 100 * bound)
    moved = {
        "to the card, a job": [one.report.bytes_to_device for one in results],
        "to the host, a job": [one.report.bytes_to_host for one in results],
        "card's memory to and from, a job": [one.report.bytes_streamed for one in results],
    }
    for operation, values in moved.items():
        yield row(operation, "bytes", median(values))


def _bound(executable: Executable, jobs: int, *, resident: bool) -> float:
    """The share of time in which coprocessors compute when only their bus makes them wait."""
    design = executable.design
    job = job_of(executable, resident=resident)
    done = share(Link(design.host_bits), design, job, jobs)
    last = max(own[-1].end for own in done)
    return sum(each.cycles for own in done for each in own) / (design.coprocessors * last)


def _report(device: Device) -> Mapping[str, Any]:
    """What the simulated card counts."""
    found: list[dict[str, Any]] = device.reports()  # type: ignore[attr-defined]
    return found[0]
