"""SEAL and our cpu device on this CPU at the papers' parameters, and times at the papers' clock.

Both run in one process, so that a speedup over either is over the same machine.
"""

from collections.abc import Iterable, Sequence

from ringsmith.apps.conditions import ASSUMED_HZ, machine_state
from ringsmith.apps.seal_baseline import SealBaseline, seal_missing, seal_version
from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.medha.cases import PAPERS, graph_of
from ringsmith.bench.papers import SEAL, facts
from ringsmith.bench.programs import cpu_times
from ringsmith.bench.records import Found
from ringsmith.params import CkksParameters

_STEP = 1


def software_times(
    parameters: CkksParameters, operations: Sequence[str], repeats: int
) -> list[Found]:
    """Microseconds of SEAL and of our cpu device by operation, at all limbs.

    Args:
        parameters: The parameter set; SEAL takes the same primes.
        operations: Those of ``cases.OPERATIONS``.
        repeats: Calls of each operation; the median counts.
    """
    return [
        *_seal_times(parameters, operations, repeats),
        *cpu_times(parameters, {name: graph_of(name, parameters) for name in operations}, repeats),
    ]


def _seal_times(parameters: CkksParameters, operations: Sequence[str], repeats: int) -> list[Found]:
    """SEAL's; none where it cannot be measured."""
    if seal_missing() is not None:
        return []
    baseline = SealBaseline(parameters, [_STEP])
    seconds = dict(baseline.operation_seconds(parameters.limbs, _STEP, repeats))
    seconds["multiply_relinearize"] = seconds["multiply"] + seconds["relinearize"]
    seconds["multiply_relinearize_rescale"] = seconds["multiply_relinearize"] + seconds["rescale"]
    text = (
        f"seal-python {seal_version()}, portable build; one thread; {machine_state()}; median of "
        f"{repeats} calls; products, relinearization and rescaling in turn"
    )
    return [
        Found(
            REFERENCE, parameters.name, name, "microseconds", seconds[name] * 1e6, "cpu", text, SEAL
        )
        for name in operations
    ]


def times(cycles: Iterable[Found], measured: Iterable[Found]) -> list[Found]:
    """Microseconds at the assumed clock, and how much faster that is than others.

    Args:
        cycles: Cycles of operations.
        measured: What ``software_times`` found.

    Returns:
        For operations that a paper, or this CPU, has a time of. What the papers quote of other
        accelerators stands beside ours.
    """
    software: dict[tuple[str, str], dict[str, float]] = {}
    for each in measured:
        software.setdefault((each.params, each.operation), {})[each.peer] = each.value
    quoted = {
        (fact.params, fact.operation, fact.peer): fact.value
        for paper in PAPERS
        for fact in facts(paper)
        if fact.metric == "microseconds"
    }
    found = []
    for each in cycles:
        here = each.params, each.operation
        if here not in software and (*here, "") not in quoted:
            continue
        microseconds = each.value / ASSUMED_HZ * 1e6
        clock = f"{each.conditions}; at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"
        rows = [("microseconds", microseconds, "", clock)]
        for peer, value in software.get(here, {}).items():
            text = f"{clock}; over {peer} on this CPU in the same run"
            rows.append(("speedup", value / microseconds, peer, text))
        for (params, operation, peer), value in quoted.items():
            if (params, operation) == here and peer not in ("", SEAL):
                text = f"{clock}; over the paper's time of {peer}"
                rows.append(("speedup", value / microseconds, peer, text))
        found += [
            Found(each.design, each.params, each.operation, metric, value, each.source, text, peer)
            for metric, value, peer, text in rows
        ]
    return found
