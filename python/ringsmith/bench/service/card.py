"""A simulated card at saturation: how much of its time coprocessors compute, and one job's parts.

Times of the card are the simulation's own, by the model of its bus and its host, and do not depend
on how fast it is simulated. Parts of a job on the host are in seconds of the host.
"""

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from ringsmith.backends.base import Machine
from ringsmith.backends.registry import named_design
from ringsmith.bench.records import Found
from ringsmith.bench.service.processes import Card
from ringsmith.bench.service.soak_programs import DESIGN, program
from ringsmith.params import SecurityWarning
from ringsmith.runtime import RunResult, compile_program, open_device

BUSY, STAGE = "coprocessors busy", "stage"
_PICOSECONDS = 1e12
_WARM = 4
"""Jobs of each coprocessor before anything is counted: they load tables, programs and keys."""


def measure(jobs: int, say: Callable[[str], None]) -> Iterator[Found]:
    """Saturates a card with jobs of one program and one client's keys.

    Args:
        jobs: Of each coprocessor.
        say: Takes lines for people.
    """
    design = named_design(DESIGN)
    count = int(getattr(design, "coprocessors", 1))
    with tempfile.TemporaryDirectory(prefix="ringsmith-card-") as text:
        path = Path(text) / "card.sock"
        card = Card(DESIGN, path)
        try:
            machine = open_device("card", design, port=str(path))
            for name in ("product", "turned"):
                yield from _program(name, machine, count, jobs, say)
        finally:
            card.kill()


def _program(
    name: str,
    machine: Machine,
    count: int,
    jobs: int,
    say: Callable[[str], None],
) -> Iterator[Found]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        made = program(name)
        compiled = compile_program(made, DESIGN)
        _, public_key, keys = made.generate_keys(seeded=True)
        inputs = made.encrypt(public_key, {key: [1, 2, 3] for key in made.inputs})

    def run(_: int) -> RunResult:
        return compiled.run(machine, inputs, keys)

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
    busy = computed / _PICOSECONDS / (count * elapsed)
    cycles = results[-1].cycles
    assert cycles is not None
    what = (
        f"BFV at N = 2^12, four primes of 30 bits and a special one, seeded keys; {count} "
        f"coprocessors at 200 MHz, assumed; {jobs} jobs of each after {_WARM} others; bus of 128 "
        "bits at 250 MHz; host with 12 GB/s each way, 10 µs a transfer and 10 µs between lists"
    )

    def row(operation: str, metric: str, value: float, source: str = "model") -> Found:
        return Found(DESIGN, f"card, {name}", operation, metric, value, source, what)

    yield row("program", "cycles", cycles)
    yield row(BUSY, "percent", 100 * busy)
    yield row("jobs", "per_second", jobs * count / elapsed)
    yield row("jobs, if coprocessors never waited", "per_second", count * 200e6 / cycles)
    yield row("to the card, a job", "bytes", median(one.bytes_to_card for one in results))
    yield row("to the host, a job", "bytes", median(one.bytes_to_host for one in results))
    yield row("card's memory to and from, a job", "bytes", median(_streamed(results)))
    yield row(
        "host software and simulation, a job", "milliseconds", 1e3 * cpu / (jobs * count), "cpu"
    )
    say(f"card, {name}: {100 * busy:.1f} % busy, {jobs * count / elapsed:.0f} jobs a second")
    alone = [run(0) for _ in range(9)]
    for stage in alone[0].stages:
        value = 1e3 * median(one.stages.get(stage, 0.0) for one in alone)
        yield row(f"one job alone, {STAGE} {stage}", "milliseconds", value, "cpu")


def _report(machine: Machine) -> dict[str, Any]:
    """What the simulated card counts."""
    found: list[dict[str, Any]] = machine.reports()  # type: ignore[attr-defined]
    return found[0]


def _streamed(results: Sequence[RunResult]) -> list[int]:
    return [one.bytes_streamed for one in results]
