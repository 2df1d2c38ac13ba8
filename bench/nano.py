"""``ringsmith bench nano``: the demo's program, single operations and compile times on ``nano``."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
from rich.console import Console

from bench.measure import SEAL, empty_cache
from bench.record import Record
from bench.run import Run
from ringsmith import InputSpec, matvec, softmax, sort, trace
from ringsmith.apps.conditions import conditions, processor
from ringsmith.apps.logreg import DEMO, LogisticRegression, Predictions
from ringsmith.apps.operations import operation_rows
from ringsmith.apps.report import breakdown, refuse_different_bits
from ringsmith.apps.seal_baseline import SealBaseline, seal_missing
from ringsmith.apps.seal_program import rotation_steps
from ringsmith.apps.session import Session, begin, open_device, time_seal
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.cache import SWITCH
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.errors import ParameterError
from ringsmith.lower import lower
from ringsmith.program import Program
from ringsmith.runtime import compile_graph

DESIGN = "nano"
"""The design; its parameter set has the same name."""

LOGREG, MATVEC = "logreg", "matvec"
SECONDS = ("lower_seconds", "compile_seconds", "found_seconds")

_REPETITIONS = 3
_Result = TypeVar("_Result")


def program(run: Run) -> Iterator[Record]:
    """Yields how well the demo's program classifies on the RTL, and what it takes.

    Raises DeviceError when a device's residues are not the interpreter's; ToolError when a tool is
    missing.
    """
    current, rtl, seal = _begin(run)
    stages = Stages(Console(quiet=True))
    run.say(f"{DESIGN}: {LOGREG} on the RTL")
    answer = current.answer(stages, open_device(stages, "rtl", DESIGN))
    refuse_different_bits(answer.equal_bits)
    [result] = answer.results
    executable = current.server.executable
    assert executable is not None, "compiled for a design"
    assert result.report.instructions is not None, "an accelerator counts"
    assert result.cycles is not None, "an accelerator counts"
    counted = {"instructions": result.report.instructions, "cycles": result.cycles}
    yield from _records(LOGREG, {**answer.outcome.quality(), **counted}, "rtl", rtl)
    predicted = {"cycles": executable.cycles}
    yield from _records(LOGREG, predicted, "estimate", "predicted by the scheduler")
    times = time_seal(stages, current) if seal_missing() is None else None
    if times is not None:
        yield from _records(LOGREG, {"seconds": times[1]}, REFERENCE, seal, SEAL)
    shared = "scheduled; operations overlap, and a cycle belongs to the instruction issued last"
    for share in breakdown(executable):
        counts = asdict(share)
        name = f"{LOGREG}, {counts.pop('operation')}"
        yield from _records(name, counts, "estimate", shared)


def operations(run: Run) -> Iterator[Record]:
    """Yields single operations on the RTL, each alone, from ``limbs`` limbs to 2.

    Raises ParameterError if the parameter set has not as many limbs; DeviceError when a result is
    not the interpreter's; ToolError when a tool is missing.
    """
    parameters, most = DEMO.parameters, run["limbs"]
    if not 2 <= most <= parameters.limbs:
        raise ParameterError(f"limbs = {most}: take 2 … {parameters.limbs}")
    current, rtl, seal = _begin(run)
    steps = rotation_steps(current.server.program)[0]
    device = open_device(Stages(Console(quiet=True)), "rtl", DESIGN)
    baseline = SealBaseline(parameters, [steps]) if seal_missing() is None else None
    bound = {"cycles": ntt_bound(load_design(DESIGN))}
    text = "N/2 · log2 N butterflies over the cores"
    yield from _records("ntt_lower_bound", bound, "estimate", text)
    for limbs in range(most, 1, -1):
        run.say(f"{DESIGN}: single operations on the RTL, {limbs} limbs")
        times = baseline.operation_seconds(limbs, steps) if baseline else None
        for row in operation_rows(device, DESIGN, parameters, limbs, steps, times):
            name = f"{row.name}, {row.limbs} limbs"
            counted = {"instructions": row.instructions, "cycles": row.cycles}
            yield from _records(name, counted, "rtl", rtl)
            if row.seal_seconds is not None:
                yield from _records(name, {"seconds": row.seal_seconds}, REFERENCE, seal, SEAL)


def ntt_bound(design: RpauDesign) -> int:
    """Returns the fewest cycles of an NTT: its butterflies over the cores."""
    return design.n // 2 * design.log_n // design.cores


def compile_time(run: Run) -> Iterator[Record]:
    """Yields what lowering and scheduling take: products with plain matrices of ``columns``."""
    text = _timing()
    for size in run["columns"]:
        run.say(f"{DESIGN}: a product of {size} columns is compiled")
        yield from _compiled(size, text)


def planning_time(run: Run) -> Iterator[Record]:
    """Yields what choosing parameters and planning takes, of programs for any device.

    These are products with plain matrices of ``columns``, and ``functions`` of an array.
    """
    text = _timing()
    programs: dict[str, Callable[[], Program]] = {}
    for size in run["columns"]:
        weights = np.random.default_rng(1).uniform(-1, 1, (size, size))
        programs[f"{MATVEC}, {size} columns"] = partial(
            trace, partial(matvec, weights), "auto", {"x": size}
        )
        programs[f"array product, {size} columns"] = partial(
            trace, lambda x, weights=weights: weights @ x, "auto", {"x": (size,)}
        )
    if run["functions"]:
        programs["softmax of 10 numbers in ±4"] = partial(
            trace, softmax, "auto", {"x": InputSpec((10,), bound=4)}
        )
        programs["sort of 8 numbers in ±1"] = partial(trace, sort, "auto", {"x": (8,)})
    for name, plan in programs.items():
        run.say(f"parameters are chosen for {name}")
        planned, first = _timed(plan)
        _, seconds = _fastest(plan)
        yield _planned(name, "degree", planned.parameters.n, "program", "planned")
        yield _planned(name, "seconds", first, REFERENCE, text)
        yield _planned(name, "plan_seconds", seconds, REFERENCE, text)


def _planned(name: str, metric: str, value: float, source: str, text: str) -> Record:
    """A record of planning, which no design and no parameter set is part of."""
    return Record(REFERENCE, "auto", f"plan: {name}", metric, value, source, text)


def _timing() -> str:
    return (
        "seconds of processor time, all threads together, the fastest of three; "
        f"{datetime.now(UTC):%Y-%m-%d}, {processor()}, {os.cpu_count()} cores visible"
    )


def _compiled(size: int, text: str) -> Iterator[Record]:
    weights = np.random.default_rng(1).uniform(-1, 1, (size, size))
    traced = trace(lambda x: matvec(weights, x), DEMO.parameters, {"x": size})
    lowered, lower_seconds = _fastest(lambda: lower(traced))
    compile_seconds = []
    for _ in range(_REPETITIONS):
        with empty_cache():
            os.environ.pop(SWITCH, None)
            _, seconds = _timed(lambda: compile_graph(lowered.graph, DESIGN))
            compile_seconds.append(seconds)
            compiled, found_seconds = _fastest(lambda: compile_graph(lowered.graph, DESIGN))
    executable = compiled.executable
    assert isinstance(executable, Executable)
    counted = {
        "instructions": len(executable.words),
        "runs": len(executable.runs),
        "cycles": executable.cycles,
    }
    name = f"{MATVEC}, {size} columns"
    yield from _records(name, counted, "estimate", "scheduled")
    times = (lower_seconds, min(compile_seconds), found_seconds)
    yield from _records(name, dict(zip(SECONDS, times, strict=True)), REFERENCE, text)


def _begin(run: Run) -> tuple[Session[Predictions], str, str]:
    """The demo's session, and the conditions of what the RTL and SEAL take."""
    if (missing := seal_missing()) is not None:
        run.say(missing)
    current = begin(Stages(Console(quiet=True)), LogisticRegression(DEMO), DESIGN)
    seeded = current.server.seeded
    around: Mapping[str, Any] = conditions(
        "ringsmith bench nano", DEMO.parameters, seeded_keys=seeded
    )
    parameters, design = around["parameters"], load_design(DESIGN)
    security = parameters["security"].partition(";")[0]
    sizes = ", ".join(str(prime.bit_length()) for prime in parameters["primes"])
    rtl = (
        f"parameter set `{parameters['name']}`: RNS-CKKS, N = {parameters['n']}, primes of {sizes} "
        f"bits (the last one special), security of {security}; {design.rpaus} "
        f"RPAUs of {design.cores} butterfly cores and {design.dyadic_cores} dyadic cores, "
        f"{design.word_bits}-bit words; keys: {around['keys']}; host link: {around['host_link']}; "
        f"{around['date']}"
    )
    seal = (
        "Microsoft SEAL through seal-python (portable build, no HEXL), CPU time of one thread, "
        f"median; {around['cpu']}; load average {around['load_average']}; {around['date']}"
    )
    return current, rtl, seal


def _timed(do: Callable[[], _Result]) -> tuple[_Result, float]:
    begin = time.process_time()
    result = do()
    return result, round(time.process_time() - begin, 4)


def _fastest(do: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result, and the shortest of some times."""
    timed = [_timed(do) for _ in range(_REPETITIONS)]
    return timed[-1][0], min(seconds for _, seconds in timed)


def _records(
    operation: str, values: Mapping[str, float], source: str, text: str, baseline: str = ""
) -> Iterator[Record]:
    """A record for each metric of an operation."""
    for metric, value in values.items():
        yield Record(DESIGN, DESIGN, operation, metric, value, source, text, baseline)
