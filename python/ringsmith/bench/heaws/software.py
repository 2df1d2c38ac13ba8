"""Our cpu device and Microsoft SEAL on this CPU, at the paper's parameters and at SEAL's.

SEAL has neither the paper's digits of several primes nor its product. So both libraries also run a
set as large, with a special prime, on which our cpu device gives SEAL's bits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ringsmith.apps.conditions import machine_state
from ringsmith.apps.seal_baseline import SealExact, seal_missing, seal_version
from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.heaws.cases import graph_of, parameters, seals_parameters
from ringsmith.bench.papers import SEAL
from ringsmith.bench.programs import cpu_times
from ringsmith.bench.records import Found

_STEP = 1
_SET = "six primes of 30 bits and a special one, N = 2^12, t = 65537"


def software_times(operations: Sequence[str], repeats: int) -> Iterator[Found]:
    """Microseconds of operations: our cpu device on both sets, and SEAL where it is installed.

    Args:
        operations: Those of ``cases.OPERATIONS``.
        repeats: Calls of each; the median counts.
    """
    of, seals = parameters(), seals_parameters()
    yield from cpu_times(of, {name: graph_of(name, of) for name in operations}, repeats)
    for each in cpu_times(seals, {name: graph_of(name, seals) for name in operations}, repeats):
        known = each.conditions.partition("; the graph")[0]
        yield replace(each, conditions=f"{known}; {_SET}, full keys")
    if seal_missing() is None:
        yield from _seal_times(operations, repeats)


def _seal_times(operations: Sequence[str], repeats: int) -> Iterator[Found]:
    of = seals_parameters()
    seconds = dict(SealExact(of, [_STEP]).operation_seconds(_STEP, repeats))
    seconds["multiply_relinearize"] = seconds["multiply"] + seconds["relinearize"]
    text = (
        f"seal-python {seal_version()}, portable build; one thread; {machine_state()}; median of "
        f"{repeats} calls; product and relinearization in turn; {_SET}"
    )
    for name in operations:
        value = seconds[name] * 1e6
        yield Found(REFERENCE, of.name, name, "microseconds", value, "cpu", text, SEAL)
