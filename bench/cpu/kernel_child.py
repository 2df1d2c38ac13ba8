"""The program that measures under one kernel set: ``peers.asked`` says what it reads and prints."""

import sys
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console

from bench.cpu import ours
from bench.cpu.peers import READY
from bench.cpu.sets import SETS, Operands
from bench.cpu.timing import Timed, timed
from ringsmith import runtime
from ringsmith.apps.session import Session
from ringsmith.apps.stages import Stages
from ringsmith.caching import cached
from ringsmith.params import ckks_set

LOGREG: Final = "logreg"
GMDH: Final = "gmdh"
CNN: Final = "cnn"

PACKAGES: Final = MappingProxyType({LOGREG: "sklearn", GMDH: "sktime", CNN: "sklearn"})
"""What brings an application's data."""


def name_of(params: str, operation: str) -> str:
    """What the program is asked for."""
    return f"{params}/{operation}"


@cached
def work_of(name: str) -> Timed:
    """Prepares an operation of a set, or an application, asked for by ``name_of``.

    Of applications it is what the server computes for one batch, without the client's part.
    """
    params, _, operation = name.partition("/")
    if operation in PACKAGES:
        return timed(application(params, operation))
    return timed(ours.works(Operands.of(SETS[params]))[operation])


def application(params: str, name: str) -> Callable[[], Sequence[runtime.RunResult]]:
    """The server's computation of an application for one batch, prepared.

    Args:
        params: A size of the logistic regression, a scheme of the forecast, or a parameter set.
        name: One of ``PACKAGES``.
    """
    current = _session(params, name)
    machine, keys = runtime.open_device("cpu"), current.client.evaluation_keys
    return lambda: current.server.run(machine, current.inputs, keys)


def _session(params: str, name: str) -> Session[Any, Any, Any, Any, Any]:
    """Client and server of an application."""
    stages = Stages(Console(quiet=True))
    if name == LOGREG:
        from ringsmith.apps.logreg import session as logreg
        from ringsmith.apps.logreg.sizes import SIZES

        return logreg.begin(stages, SIZES[params], None)
    if name == GMDH:
        from ringsmith.apps.gmdh import session as gmdh

        return gmdh.begin(stages, params)
    from ringsmith.apps.cnn import session as cnn

    return cnn.begin(stages, ckks_set(params), None, images=1)


def main() -> None:
    """Answers until its input ends."""
    print(READY, flush=True)
    for line in sys.stdin:
        print(work_of(line.strip())(), flush=True)


if __name__ == "__main__":
    main()
