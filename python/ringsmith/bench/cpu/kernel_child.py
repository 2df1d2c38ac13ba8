"""The program that measures under one kernel set: see ``asked`` for what it reads and prints."""

import sys
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.session import Session, begin
from ringsmith.apps.stages import Stages
from ringsmith.bench.cpu import asked, ours
from ringsmith.bench.cpu.operands import Operands
from ringsmith.bench.cpu.sets import SETS
from ringsmith.bench.cpu.timing import Timed, timed
from ringsmith.caching import cached
from ringsmith.params import ckks_set

LOGREG: Final = "logreg"
GMDH: Final = "gmdh"
CNN: Final = "cnn"

PACKAGES: Final = MappingProxyType({LOGREG: "sklearn", GMDH: "sktime", CNN: "sklearn"})
"""What brings an application's data."""

WORKS: Final = (
    *((name, "multiply_relinearize") for name in ("A", "A50", "B", "D")),
    ("demo", LOGREG),
    ("paper", LOGREG),
    ("bfv", GMDH),
    ("ckks", GMDH),
    ("medha21-set1", CNN),
)
"""Parameters and operation: sets, sizes of the logistic regression, the forecast's schemes, the
convolutional network's parameter set. Of applications it is what the server computes for one batch,
without the client's part."""


def name_of(params: str, operation: str) -> str:
    """What the program is asked for."""
    return f"{params}/{operation}"


@cached
def work_of(name: str) -> Timed:
    """Prepares one of ``WORKS``, asked for by ``name_of``."""
    params, _, operation = name.partition("/")
    if operation in PACKAGES:
        return timed(application(params, operation))
    return timed(ours.works(Operands.of(SETS[params]))[operation])


def application(params: str, name: str) -> Callable[[], Sequence[runtime.RunResult]]:
    """The server's computation of an application for one batch, prepared.

    Args:
        params: As in ``WORKS``.
        name: One of ``PACKAGES``.
    """
    current = _session(params, name)
    machine, keys = runtime.open_device("cpu"), current.client.evaluation_keys
    return lambda: current.server.run(machine, current.inputs, keys)


def _session(params: str, name: str) -> Session[Any]:
    """Client and server of an application."""
    stages = Stages(Console(quiet=True))
    if name == LOGREG:
        from ringsmith.apps import logreg
        from ringsmith.apps.logreg import SIZES

        return begin(stages, logreg.LogisticRegression(SIZES[params]))
    if name == GMDH:
        from ringsmith.apps.gmdh import Forecast

        return begin(stages, Forecast(params))
    from ringsmith.apps.cnn import Cnn

    return begin(stages, Cnn(1, parameters=ckks_set(params)))


def main() -> None:
    """Answers until its input ends."""
    print(asked.READY, flush=True)
    for line in sys.stdin:
        print(work_of(line.strip())(), flush=True)


if __name__ == "__main__":
    main()
