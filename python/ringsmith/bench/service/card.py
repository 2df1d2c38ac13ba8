"""A simulated card at saturation: how much of its time coprocessors compute, and one job's parts.

Times of the card are the simulation's own, by the model of its bus and its host, and do not depend
on how fast it is simulated. Parts of a job on the host are in seconds of the host.
"""

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ringsmith.backends.base import GraphResult, Machine
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.card.simulated import Pace
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.link import Link
from ringsmith.backends.rpau.device.shared_link import share
from ringsmith.bench.heaws.coprocessors import job_of
from ringsmith.bench.programs import compiled_for
from ringsmith.bench.records import Found
from ringsmith.bench.service.processes import Card
from ringsmith.bench.service.programs import Load
from ringsmith.design_files import to_toml
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower, lower_operation
from ringsmith.params import RlweParameters, SecurityWarning, parameter_set
from ringsmith.program import inner_product, polynomial
from ringsmith.program.vector import EncryptedVector
from ringsmith.runtime import compile_graph, open_device, run_graph
from ringsmith.tracing import trace

BUSY = "coprocessors busy"
BOUND = "the bus's bound: coprocessors busy"
_PICOSECONDS = 1e12
_WARM = 4
"""Jobs of each coprocessor before anything is counted: they load tables, programs and keys."""


def _operation(name: str, of: str) -> Callable[[], SubroutineGraph]:
    def graph() -> SubroutineGraph:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)
            parameters: RlweParameters = parameter_set(of)
        return lower_operation(name, parameters, parameters.limbs)

    return graph


def _score() -> SubroutineGraph:
    weights = np.linspace(-1, 1, 32)

    def score(x: EncryptedVector) -> EncryptedVector:
        return polynomial(inner_product(x, weights, 32) + 0.25, [0.5, 0.197, 0, -0.004])

    return lower(trace(score, parameter_set("medha-set1"), {"x": 32})).graph


CARDS: Mapping[str, tuple[int, tuple[Load[SubroutineGraph], ...]]] = {
    "heaws6": (
        128,
        (
            Load(
                "product", "BFV product at HEAWS's set", _operation("multiply_relinearize", "heaws")
            ),
            Load("rotation", "BFV rotation at HEAWS's set", _operation("rotate", "heaws")),
        ),
    ),
    "medha": (
        512,
        (
            Load(
                "product",
                "CKKS product at Medha's Set-1",
                _operation("multiply_relinearize", "medha-set1"),
            ),
            Load("score", "inner product of 32 slots and a cubic polynomial at Set-1", _score),
        ),
    ),
}
"""For each design the width of its bus to the host, and the programs."""


def measure(names: Sequence[str], jobs: int, say: Callable[[str], None]) -> Iterator[Found]:
    """Saturates cards with jobs of one program and one client's keys.

    Args:
        names: Designs of ``CARDS``.
        jobs: Of each coprocessor.
        say: Takes lines for people.
    """
    with tempfile.TemporaryDirectory(prefix="ringsmith-card-") as text:
        for name in names:
            bits, loads = CARDS[name]
            design = replace(load_design(name), host_bits=bits)
            file = Path(text) / f"{name}.toml"
            file.write_text(to_toml(design, "rpau"))
            card = Card(str(file), file.with_suffix(".sock"))
            try:
                machine = open_device("card", design, port=str(file.with_suffix(".sock")))
                for load in loads:
                    yield from _load(load, machine, design, jobs, say)
            finally:
                card.kill()


def _load(
    load: Load[SubroutineGraph],
    machine: Machine,
    design: RpauDesign,
    jobs: int,
    say: Callable[[str], None],
) -> Iterator[Found]:
    graph, count, rng = load.make(), design.coprocessors, np.random.default_rng(1)
    inputs, keys = random_inputs(graph, rng), random_keys(graph, rng, seeded=graph.keys)
    compiled, executable = compile_graph(graph, design), compiled_for(graph, design)

    def run(_: int) -> GraphResult:
        return run_graph(compiled, machine, inputs, keys)

    with ThreadPoolExecutor(3 * count) as pool:
        list(pool.map(run, range(_WARM * count)))
        before, cpu = _report(machine), time.process_time()
        results = list(pool.map(run, range(jobs * count)))
        cpu = time.process_time() - cpu
        after = _report(machine)
    elapsed = (after["now"] - before["now"]) / _PICOSECONDS
    computed = sum(
        b["computed"] - a["computed"]
        for a, b in zip(before["channels"], after["channels"], strict=True)
    )
    rate = jobs * count / elapsed
    busy = computed / _PICOSECONDS / (count * elapsed)
    last = results[-1]
    assert last.cycles is not None
    link, pace = Link(design.host_bits), Pace()
    what = (
        f"{load.text}, seed-compressed keys; {count} × {design.name} "
        f"at {link.device_hz / 1e6:.0f} MHz, assumed; {jobs} jobs of each after {_WARM} others; "
        f"bus of {design.host_bits} bits at {link.bus_hz / 1e6:.0f} MHz; "
        f"host with {pace.bytes_per_second / 1e9:g} GB/s each way, "
        f"{pace.transfer / 1e6:g} µs a transfer and {pace.answer / 1e6:g} µs between lists"
    )

    def row(operation: str, metric: str, value: float, source: str = "model") -> Found:
        params = f"card, {design.name}, {load.name}"
        return Found(design.name, params, operation, metric, value, source, what)

    yield row("program", "cycles", last.cycles)
    yield row("jobs", "per_second", rate)
    yield row(
        "jobs, if coprocessors never waited", "per_second", count * link.device_hz / last.cycles
    )
    yield row(BUSY, "percent", 100 * busy)
    if len(executable.runs) == 1:
        bound = _bound(executable, jobs, resident=last.key_words == 0)
        yield row(BOUND, "percent", 100 * bound)
    yield row("to the card, a job", "bytes", median(one.bytes_to_card for one in results))
    yield row("to the host, a job", "bytes", median(one.bytes_to_host for one in results))
    streamed = median(one.bytes_streamed for one in results)
    yield row("card's memory to and from, a job", "bytes", streamed)
    yield row(
        "host software and simulation, a job", "milliseconds", 1e3 * cpu / (jobs * count), "cpu"
    )
    say(f"{design.name}, {load.name}: {100 * busy:.1f} % busy, {rate:.0f} a second")
    before = _report(machine)
    run(0)
    for part, picoseconds in _parts(before, _report(machine)).items():
        yield row(f"one job alone, card time, {part}", "microseconds", picoseconds / 1e6)
    alone = [run(0) for _ in range(9)]
    for stage in alone[0].stages:
        value = 1e3 * median(one.stages.get(stage, 0.0) for one in alone)
        yield row(f"one job alone, host time, {stage}", "milliseconds", value, "cpu")


def _bound(executable: Executable, jobs: int, *, resident: bool) -> float:
    """The share of time in which coprocessors compute when only their bus makes them wait."""
    design = executable.design
    job = job_of(executable, resident=resident)
    done = share(Link(design.host_bits), design, job, jobs)
    last = max(own[-1].end for own in done)
    return sum(each.cycles for own in done for each in own) / (design.coprocessors * last)


def _parts(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int]:
    """Picoseconds of the parts of the one job between two reports, by name."""
    begin, sent = max(before["now"], before["host_free"]), after["host_free"]
    count = sum(
        b["lists"] - a["lists"] for a, b in zip(before["channels"], after["channels"], strict=True)
    )
    lists = sorted(after["times"], key=lambda one: one["end"])[-count:]
    operands = sum(one["start"] - max(one["began"], sent) for one in lists)
    programs = sum(one["computed"] for one in lists)
    results = sum(one["end"] - one["start"] - one["computed"] for one in lists)
    received = after["card_free"] - lists[-1]["end"]
    whole = after["card_free"] - begin
    return {
        "whole": whole,
        "host to the card's memory": sent - begin,
        "operands to the coprocessor": operands,
        "programs": programs,
        "results to the card's memory": results,
        "host between lists": whole - (sent - begin) - operands - programs - results - received,
        "card's memory to the host": received,
    }


def _report(machine: Machine) -> dict[str, Any]:
    """What the simulated card counts."""
    found: list[dict[str, Any]] = machine.reports()  # type: ignore[attr-defined]
    return found[0]
