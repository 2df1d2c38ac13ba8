"""Microsoft SEAL on this CPU at the papers' parameters, and times at the papers' clock."""

from collections.abc import Iterable

from ringsmith.apps.conditions import ASSUMED_HZ, machine_state
from ringsmith.apps.seal_baseline import SealBaseline, seal_missing, seal_version
from ringsmith.bench.medha.cases import OPERATIONS, PAPERS
from ringsmith.bench.papers import SEAL, facts
from ringsmith.bench.records import Found
from ringsmith.params import CkksParameters

_STEP = 1


def seal_times(parameters: CkksParameters, repeats: int) -> list[Found]:
    """SEAL's microseconds by operation, at all limbs; none where it cannot be measured.

    Args:
        parameters: The parameter set; SEAL takes the same primes.
        repeats: Calls of each operation; the median counts.
    """
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
        Found("cpu", parameters.name, name, "microseconds", seconds[name] * 1e6, "cpu", text, SEAL)
        for name in OPERATIONS
    ]


def times(cycles: Iterable[Found], seal: Iterable[Found]) -> list[Found]:
    """Microseconds at the assumed clock, and how much faster that is than others.

    Args:
        cycles: Cycles of operations.
        seal: What ``seal_times`` found.

    Returns:
        For operations that a paper, or SEAL here, has a time of. What the papers quote of other
        accelerators stands beside ours.
    """
    software = {(each.params, each.operation): each.value for each in seal}
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
        if here in software:
            text = f"{clock}; over SEAL on this CPU in the same run"
            rows.append(("speedup", software[here] / microseconds, SEAL, text))
        for (params, operation, peer), value in quoted.items():
            if (params, operation) == here and peer not in ("", SEAL):
                rows.append(("microseconds", microseconds, peer, f"{clock}; beside {peer}"))
                text = f"{clock}; over the paper's time of {peer}"
                rows.append(("speedup", value / microseconds, peer, text))
        found += [
            Found(each.design, each.params, each.operation, metric, value, each.source, text, peer)
            for metric, value, peer, text in rows
        ]
    return found
