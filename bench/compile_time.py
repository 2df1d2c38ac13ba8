"""How long lowering and scheduling take: products with plain matrices on a design."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from ringsmith import matvec, trace
from ringsmith.apps.conditions import conditions, processor
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.compiler.cache import SWITCH
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.lower import lower
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.runtime import compile_graph

COLUMNS = (32, 128, 512)
_REPETITIONS = 3

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class CompileTime:
    """Times of one program, in seconds of this process on all processors.

    Attributes:
        columns: Columns and rows of the matrix.
        instructions: Of the program.
        runs: Runs that it is cut into.
        cycles: Clock cycles of all runs.
        lower_seconds: From the traced program to the subroutine graph, constants encoded.
        compile_seconds: From there to the executable, kept in the cache.
        found_seconds: The same where it lies in the cache.
    """

    columns: int
    instructions: int
    runs: int
    cycles: int
    lower_seconds: float
    compile_seconds: float
    found_seconds: float


def measure_compile_time(
    stages: Stages, command: str, design: str, columns: Sequence[int] = COLUMNS
) -> dict[str, Any]:
    """Measures lowering and scheduling.

    Args:
        stages: Where progress is shown.
        command: What was typed.
        design: Name of the design; a parameter set has the same name.
        columns: Sizes of the matrices.

    Returns:
        Conditions and numbers, as JSON values.
    """
    parameters = parameter_set(design)
    assert isinstance(parameters, CkksParameters)
    around = conditions(command, parameters)
    rows = []
    for size in columns:
        with stages(f"Compile matvec of {size} columns"):
            rows.append(_row(size, parameters, design))
    return {
        "command": command,
        "date": around["date"],
        "cpu": f"{processor()}, {os.cpu_count()} cores visible",
        "rows": [asdict(row) for row in rows],
    }


def _row(size: int, parameters: CkksParameters, design: str) -> CompileTime:
    weights = np.random.default_rng(1).uniform(-1, 1, (size, size))
    program = trace(lambda x: matvec(weights, x), parameters, {"x": size})
    lowered, lower_seconds = _fastest(lambda: lower(program))
    compile_seconds = []
    for _ in range(_REPETITIONS):
        with _empty_cache():
            _, seconds = _timed(lambda: compile_graph(lowered.graph, design))
            compile_seconds.append(seconds)
            compiled, found_seconds = _fastest(lambda: compile_graph(lowered.graph, design))
    executable = compiled.executable
    assert isinstance(executable, Executable)
    return CompileTime(
        columns=size,
        instructions=len(executable.words),
        runs=len(executable.runs),
        cycles=executable.cycles,
        lower_seconds=lower_seconds,
        compile_seconds=min(compile_seconds),
        found_seconds=found_seconds,
    )


def _timed(do: Callable[[], _Result]) -> tuple[_Result, float]:
    begin = time.process_time()
    result = do()
    return result, round(time.process_time() - begin, 4)


def _fastest(do: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result, and the shortest of some times."""
    timed = [_timed(do) for _ in range(_REPETITIONS)]
    return timed[-1][0], min(seconds for _, seconds in timed)


@contextmanager
def _empty_cache() -> Iterator[None]:
    """Has executables kept in a folder of its own meanwhile."""
    before = dict(os.environ)
    with TemporaryDirectory() as folder:
        os.environ["RINGSMITH_CACHE"] = folder
        os.environ.pop(SWITCH, None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
