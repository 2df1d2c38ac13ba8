"""Operations and a program on more threads than one, by the clock on the wall."""

import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from ringsmith import _core
from ringsmith.bench.cpu import kernel_child, ours
from ringsmith.bench.cpu.core_functions import Work
from ringsmith.bench.cpu.operands import Operands
from ringsmith.bench.cpu.sets import SETS, Extent
from ringsmith.bench.cpu.timing import Timed
from ringsmith.errors import ToolError
from ringsmith.objects import Residues
from ringsmith.runtime import RunResult


def counts(most: int) -> list[int]:
    """Powers of two below ``most``, and ``most``.

    >>> counts(1), counts(2), counts(12)
    ([1], [1, 2], [1, 2, 4, 8, 12])
    """
    return [*(1 << k for k in range((most - 1).bit_length())), most]


def missing() -> list[str]:
    """Lines about what is left out."""
    package = kernel_child.PACKAGES[kernel_child.LOGREG]
    if importlib.util.find_spec(package) is not None:
        return []
    return [f"{kernel_child.LOGREG} is left out: pip install 'ringsmith[apps]'"]


def works(extent: Extent) -> Iterator[tuple[str, str, Work]]:
    """Parameters, operation and the work of all that is measured."""
    for name in extent.thread_sets:
        operations = ours.works(Operands.of(SETS[name]))
        for operation in ("multiply_relinearize", "rotate"):
            yield name, operation, operations[operation]
    if not missing():
        for size in extent.thread_sizes:
            served = kernel_child.application(size, kernel_child.LOGREG)
            yield size, kernel_child.LOGREG, partial(_outputs, served)


def checked(work: Work, most: int, what: str) -> dict[int, Timed]:
    """The work by number of threads, timed by the wall's clock.

    Args:
        work: What is computed.
        most: The largest number.
        what: What errors call it.

    Raises:
        ToolError: If the words depend on the number of threads.
    """
    _core.set_threads(1)
    expected = work()
    for count in counts(most)[1:]:
        _core.set_threads(count)
        if not all(map(np.array_equal, work(), expected)):
            raise ToolError(f"{what} has other words with {count} threads than with one")
    return {count: partial(_wall_seconds, work, count) for count in counts(most)}


def _wall_seconds(work: Work, count: int) -> float:
    _core.set_threads(count)
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _outputs(work: Callable[[], Sequence[RunResult]]) -> list[Residues]:
    return [output.data for result in work() for output in result.outputs.values()]
