"""The program that measures under one kernel set: see ``asked`` for what it reads and prints."""

import sys
from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.stages import Stages
from ringsmith.bench.cpu import asked, ours
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
    if operation == LOGREG:
        return timed(logreg(params))
    if operation == GMDH:
        return timed(_gmdh(params))
    if operation == CNN:
        return timed(_cnn(params))
    return ours.operations(SETS[params])[operation]


def logreg(size: str) -> Callable[[], runtime.RunResult]:
    """What the server of the logistic regression computes, prepared."""
    from ringsmith.apps.logreg import session
    from ringsmith.apps.logreg.sizes import SIZES

    current = session.begin(Stages(Console(quiet=True)), SIZES[size], None)
    machine, keys = runtime.open_device("cpu"), current.client.evaluation_keys
    return lambda: current.server.classify(machine, current.ciphertext, keys)


def _gmdh(scheme: str) -> Callable[[], object]:
    from ringsmith.apps.gmdh import session

    current = session.begin(Stages(Console(quiet=True)), scheme)
    machine, keys = runtime.open_device("cpu"), current.client.evaluation_keys
    return lambda: current.server.forecast(machine, current.inputs, keys)


def _cnn(parameters: str) -> Callable[[], object]:
    from ringsmith.apps.cnn import session

    stages = Stages(Console(quiet=True))
    current = session.begin(stages, ckks_set(parameters), None, images=1)
    machine, keys = runtime.open_device("cpu"), current.client.evaluation_keys
    return lambda: current.server.classify(machine, current.batches, keys)


def main() -> None:
    """Answers until its input ends."""
    print(asked.READY, flush=True)
    for line in sys.stdin:
        print(work_of(line.strip())(), flush=True)


if __name__ == "__main__":
    main()
