"""SEAL and our cpu device on this CPU at the papers' parameters, and times at the papers' clock.

Both run in one process, so that a speedup over either is over the same machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ringsmith.apps.conditions import ASSUMED_HZ, machine_state
from ringsmith.apps.seal_baseline import SealBaseline, seal_missing, seal_version
from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.medha.cases import IN_TURN, PAPERS, graph_of
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
    text = (
        f"seal-python {seal_version()}, portable build; one thread; {machine_state()}; median of "
        f"{repeats} calls; product and relinearization in turn"
    )
    return [
        Found(
            REFERENCE, parameters.name, name, "microseconds", seconds[name] * 1e6, "cpu", text, SEAL
        )
        for name in operations
        if name in seconds
    ]


def in_turn(found: Iterable[Found]) -> list[Found]:
    """A product with relinearization and a rescaling after it: ``IN_TURN``, by adding both."""
    values = {(each.operation, (each.metric, each.peer)): each for each in found}
    return [
        replace(
            product,
            operation=IN_TURN,
            value=product.value + rescaling.value,
            source=product.source if product.source == rescaling.source else "model",
            conditions=f"multiply_relinearize and rescale in turn; {product.conditions}",
        )
        for (operation, of), product in values.items()
        if operation == "multiply_relinearize" and (rescaling := values.get(("rescale", of)))
    ]


def best_over_software(found: Iterable[Found]) -> list[Found]:
    """The largest of the speedups over a library on a processor, as Table 5 has it."""
    speedups = [f for f in found if f.metric == "speedup" and f.peer.startswith(SEAL)]
    if not speedups:
        return []
    best = max(speedups, key=lambda each: each.value)
    text = f"{best.operation} over {best.peer}; {best.conditions}"
    return [replace(best, operation="best_over_software", peer="", conditions=text)]


def times(cycles: Iterable[Found], measured: Iterable[Found], run: str = "the same") -> list[Found]:
    """Microseconds at the assumed clock, and how much faster that is than others.

    Args:
        cycles: Cycles of operations.
        measured: What ``software_times`` found.
        run: Which run that was.

    Returns:
        For operations that a paper, or this CPU, has a time of. What the papers quote of other
        accelerators stands beside ours.
    """
    software: dict[tuple[str, str], dict[str, float]] = {}
    for each in measured:
        software.setdefault((each.params, each.operation), {})[each.peer] = each.value
    known = [fact for paper in PAPERS for fact in facts(paper)]
    quoted = {
        (fact.params, fact.operation, fact.peer): fact.value
        for fact in known
        if fact.metric == "microseconds"
    }
    rates = {(f.params, f.operation) for f in known if f.metric == "per_second"}
    found = []
    for each in cycles:
        here = each.params, each.operation
        if here not in software and (*here, "") not in quoted:
            continue
        microseconds = each.value / ASSUMED_HZ * 1e6
        clock = f"{each.conditions}; at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"
        rows = [("microseconds", microseconds, "", clock)]
        if here in rates:
            rows.append(("per_second", 1e6 / microseconds, "", f"one after another; {clock}"))
        for peer, value in software.get(here, {}).items():
            text = f"{clock}; over {peer} on this CPU in {run} run"
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
