"""How long lowering and scheduling take: products with plain matrices on a design."""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np

from ringsmith import matvec, trace
from ringsmith.apps.conditions import processor
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.cache import SWITCH
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.bench.empty_cache import empty_cache
from ringsmith.bench.nano.conditions import SCHEDULED, compiled_here
from ringsmith.bench.records import Record
from ringsmith.lower import lower
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.progress import task
from ringsmith.runtime import compile_graph

COLUMNS = (32, 128, 512)

MATVEC = "matvec"
"""What the operations begin with that compile times are of."""

SECONDS = ("lower_seconds", "compile_seconds", "found_seconds")
"""From the traced program to the subroutine graph, constants encoded; from there to the executable,
kept in the cache; the same where it lies in the cache."""

_REPETITIONS = 3

_Result = TypeVar("_Result")


def measure_compile_time(
    design: str, columns: Sequence[int], say: Callable[[str], None]
) -> list[Record]:
    """Measures lowering and scheduling.

    Args:
        design: Name of the design; a parameter set has the same name.
        columns: Sizes of the matrices.
        say: Takes lines for people: what is measured.
    """
    date = f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}"
    text = compiled_here(date, f"{processor()}, {os.cpu_count()} cores visible")
    records = []
    with task("measuring compile times", len(columns), "products") as measured:
        for size in columns:
            say(f"{design}: {matvec_of(size)} is compiled")
            records += _row(size, ckks_set(design), design, text)
            measured.advance()
    return records


def matvec_of(columns: int) -> str:
    """The operation of a product's numbers; the matrix has as many rows."""
    return f"{MATVEC}, {columns} columns"


def _row(size: int, parameters: CkksParameters, design: str, text: str) -> list[Record]:
    """What is counted of a product's program, and the seconds that its compilation takes."""
    weights = np.random.default_rng(1).uniform(-1, 1, (size, size))
    program = trace(lambda x: matvec(weights, x), parameters, {"x": size})
    lowered, lower_seconds = _fastest(lambda: lower(program))
    compile_seconds = []
    for _ in range(_REPETITIONS):
        with empty_cache():
            os.environ.pop(SWITCH, None)
            _, seconds = _timed(lambda: compile_graph(lowered.graph, design))
            compile_seconds.append(seconds)
            compiled, found_seconds = _fastest(lambda: compile_graph(lowered.graph, design))
    executable = compiled.executable
    assert isinstance(executable, Executable)
    counted = {
        "instructions": len(executable.words),
        "runs": len(executable.runs),
        "cycles": executable.cycles,
    }
    times = (lower_seconds, min(compile_seconds), found_seconds)
    what = (design, parameters.name, matvec_of(size))
    return [
        *(Record(*what, *count, "estimate", SCHEDULED) for count in counted.items()),
        *(
            Record(*what, metric, seconds, REFERENCE, text)
            for metric, seconds in zip(SECONDS, times, strict=True)
        ),
    ]


def _timed(do: Callable[[], _Result]) -> tuple[_Result, float]:
    begin = time.process_time()
    result = do()
    return result, round(time.process_time() - begin, 4)


def _fastest(do: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result, and the shortest of some times."""
    timed = [_timed(do) for _ in range(_REPETITIONS)]
    return timed[-1][0], min(seconds for _, seconds in timed)
