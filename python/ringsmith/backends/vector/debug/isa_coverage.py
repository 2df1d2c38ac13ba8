"""Which situations of the instruction set some programs bring about.

What an instruction has: limbs, rings, sources, targets and options. Why it begins when it does: its
gap, what it waits for, what memory waits for. And which instruction it follows, in the first cycle
that is possible, or later. All of that follows from lists and schedule; nothing is simulated.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import NOTICE, Cycles, Schedule
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import (
    FACTOR_STREAMS,
    MAX_ENTRIES,
    STREAMS,
    Automorph,
    Computing,
    Constant,
    Load,
    Operation,
    Point,
    Result,
    Same,
    Slot,
    Source,
    Stream,
    Transform,
    sources,
    stores,
)
from ringsmith.backends.vector.isa.text import stream_name

NTT, INTT, POINT, AUTOMORPH = "ntt", "intt", "point", "automorph"
OPERATIONS = (NTT, INTT, POINT, AUTOMORPH)
_X, _FACTORS = "x", tuple(stream_name(number) for number in range(FACTOR_STREAMS))
_TARGETS = ("a bank", "memory", "a bank and memory")
_PLACES = ("over x", "over y", "over z", "elsewhere")


@dataclass(frozen=True, order=True)
class Situation:
    """One point to cover.

    Attributes:
        kind: What is varied, such as ``issues after``.
        name: The instruction's name.
        detail: The variant, such as ``a table``.
    """

    kind: str
    name: str
    detail: str


def every_situation(design: VectorDesign) -> frozenset[Situation]:
    """All points of the instruction set, on a design."""
    return frozenset(
        Situation(*each)
        for part in (_of_transforms, _of_points, _of_order, _of_memory)
        for each in part(design)
    )


def _of_transforms(design: VectorDesign) -> Iterator[tuple[str, str, str]]:
    for name in (NTT, INTT):
        for count in range(1, MAX_ENTRIES + 1):
            yield "limbs", name, str(count)
        for source in ("a bank", "stream x", "a bank twice"):
            yield "sources", name, source
        yield from (("targets", name, place) for place in ("over the source", "elsewhere"))
        for pause in ("at once", "when rows are written"):
            yield "passes follow", name, pause
    yield "sources", NTT, "below twice the prime"
    yield from (("targets", AUTOMORPH, bank) for bank in ("the same bank", "another bank"))
    for log_n in range(design.min_log_n, design.log_n + 1):
        yield from (("rings", name, f"N = {1 << log_n}") for name in OPERATIONS)


def _of_points(design: VectorDesign) -> Iterator[tuple[str, str, str]]:
    yield from (("sources", POINT, f"x: {each}") for each in ("a bank", "stream x"))
    for count in range(1, design.results + 1):
        yield "results", POINT, str(count)
    for number in range(design.results):
        own = f"result {number}"
        for y in ("a bank", *_FACTORS, "a constant", _X):
            yield "sources", POINT, f"{own}, y: {y}"
        yield "sources", POINT, f"{own}, z: nothing"
        for sign in "+-":
            yield from (
                ("sources", POINT, f"{own}, z: {sign} {z}") for z in ("a bank", "a constant", _X)
            )
        yield from (("targets", POINT, f"{own}: {target}") for target in _TARGETS)
        yield from (("targets", POINT, f"{own}: {place}") for place in _PLACES)
    if design.results > 1:
        yield "sources", POINT, "all streams"
        yield "results", POINT, "of two primes"


def _of_order(design: VectorDesign) -> Iterator[tuple[str, str, str]]:
    for name in OPERATIONS:
        yield from (("issues after", name, reason) for reason in ("its gap", "a table"))
        for before in OPERATIONS:
            yield "follows", name, f"{before} at once"
            yield "follows", name, f"{before} later"
    yield from (("issues after", name, "stream x") for name in (NTT, INTT, POINT))
    yield from (("issues after", POINT, f"stream {name}") for name in _FACTORS)
    yield from (
        ("issues after", POINT, f"space in stream r{number}") for number in range(design.results)
    )


def _of_memory(design: VectorDesign) -> Iterator[tuple[str, str, str]]:
    for target in (*_FACTORS, _X):
        for reason in ("memory", "space", "a store", "an instruction"):
            yield "begins after", f"load {target}", reason
    yield from (("begins after", "load table", reason) for reason in ("memory", "an instruction"))
    for number in range(design.results):
        yield from (("begins after", f"store r{number}", why) for why in ("memory", "a result"))


# ---- what a program brings about -----------------------------------------------------------------


def situations(executable: VectorExecutable) -> Counter[Situation]:
    """How often a program brings about each point."""
    [own], [times] = executable.programs, executable.schedules
    cycles = Cycles(executable.design, executable.shape)
    found: Counter[Situation] = Counter()
    for each in own.computing:
        name = operation_name(each.operation)
        found[Situation("rings", name, f"N = {executable.graph.n}")] += 1
        found.update(Situation(*point) for point in _of_operation(each.operation, cycles))
    found.update(_reasons(executable, times))
    found.update(_neighbours(own.computing, times, cycles))
    found.update(_loads(own.loads, times))
    for number, store in enumerate(own.stores):
        waited = number > 0 and times.stores[number].begin == times.stores[number - 1].free
        reason = "memory" if waited else "a result"
        found[Situation("begins after", f"store r{store.stream}", reason)] += 1
    return found


def operation_name(operation: Operation) -> str:
    """``ntt``, ``intt``, ``point`` or ``automorph``."""
    if isinstance(operation, Transform):
        return INTT if operation.inverse else NTT
    return AUTOMORPH if isinstance(operation, Automorph) else POINT


def _of_operation(operation: Operation, cycles: Cycles) -> Iterator[tuple[str, str, str]]:
    if isinstance(operation, Transform):
        yield from _of_transform(operation, cycles)
    elif isinstance(operation, Automorph):
        same = operation.source.bank == operation.target.bank
        yield "targets", AUTOMORPH, "the same bank" if same else "another bank"
    else:
        yield from _of_point(operation)


def _of_transform(operation: Transform, cycles: Cycles) -> Iterator[tuple[str, str, str]]:
    name, entries = operation_name(operation), operation.entries
    yield "limbs", name, str(len(entries))
    pause = cycles.period(operation) > len(entries) * cycles.rows
    yield "passes follow", name, "when rows are written" if pause else "at once"
    banks = [each.source for each in entries if isinstance(each.source, Slot)]
    if len(set(banks)) < len(banks):
        yield "sources", name, "a bank twice"
    for each in entries:
        yield "sources", name, "a bank" if isinstance(each.source, Slot) else "stream x"
        yield "targets", name, "over the source" if each.source == each.target else "elsewhere"
        if each.reduce:
            yield "sources", name, "below twice the prime"


def _of_point(operation: Point) -> Iterator[tuple[str, str, str]]:
    results = operation.results
    yield "sources", POINT, f"x: {_source(operation.x)}"
    yield "results", POINT, str(len(results))
    if len({each.prime for each in results}) > 1:
        yield "results", POINT, "of two primes"
    if len({each.number for each in sources(operation) if isinstance(each, Stream)}) == STREAMS:
        yield "sources", POINT, "all streams"
    for number, each in enumerate(results):
        own = f"result {number}"
        yield "sources", POINT, f"{own}, y: {_source(each.y)}"
        z = "nothing" if each.z is None else f"{'+-'[each.subtract]} {_source(each.z)}"
        yield "sources", POINT, f"{own}, z: {z}"
        target = 2 if each.store and each.target else 1 if each.store else 0
        yield "targets", POINT, f"{own}: {_TARGETS[target]}"
        if each.target is not None:
            yield "targets", POINT, f"{own}: {_place(operation.x, each)}"


def _source(source: Source) -> str:
    if isinstance(source, Slot):
        return "a bank"
    if isinstance(source, Stream):
        name = stream_name(source.number)
        return "stream x" if name == _X else name
    if isinstance(source, Constant):
        return "a constant"
    assert isinstance(source, Same)
    return _X


def _place(x: Slot | Stream, result: Result) -> str:
    parts = {_PLACES[2]: result.z, _PLACES[1]: result.y, _PLACES[0]: x}
    return next((name for name, part in parts.items() if part == result.target), _PLACES[3])


def _reasons(executable: VectorExecutable, times: Schedule) -> Iterator[Situation]:
    """Why instructions were issued when they were: the last thing that was there."""
    [own] = executable.programs
    tables = [
        span.end for load, span in zip(own.loads, times.loads, strict=True) if load.stream is None
    ]
    there = [
        iter(
            [
                span.end
                for load, span in zip(own.loads, times.loads, strict=True)
                if load.stream == s
            ]
        )
        for s in range(STREAMS)
    ]
    before = 0
    for each, span in zip(own.computing, times.computing, strict=True):
        reasons = [(before + each.gap, "its gap")]
        if each.tables:
            reasons.append((tables[each.tables - 1], "a table"))
        for source in sources(each.operation):
            if isinstance(source, Stream):
                reasons.append((next(there[source.number]), f"stream {stream_name(source.number)}"))
        last = max(time for time, _ in reasons)
        handed = stores(each.operation)
        name = operation_name(each.operation)
        if span.begin == last:
            reason = next(text for time, text in reasons if time == last)
            yield Situation("issues after", name, reason)
        elif len(handed) == 1:
            yield Situation("issues after", name, f"space in stream r{handed[0]}")
        before = span.begin


def _neighbours(
    computing: Iterable[Computing], times: Schedule, cycles: Cycles
) -> Iterator[Situation]:
    """Which instruction follows which, and whether as soon as the array can take it."""
    timed = zip(computing, times.computing, strict=True)
    for (before, earlier), (own, span) in pairwise(timed):
        free = earlier.begin + cycles.occupied(before.operation)
        one, other = operation_name(before.operation), operation_name(own.operation)
        if {one, other} == {NTT, INTT}:
            free += cycles.turn - 1
        when = "at once" if span.begin == free else "later"
        yield Situation("follows", other, f"{one} {when}")


def _loads(loads: Iterable[Load], times: Schedule) -> Iterator[Situation]:
    free = 0
    for load, span in zip(loads, times.loads, strict=True):
        target = "table" if load.stream is None else stream_name(load.stream)
        store, computing = -1, -1
        if load.after_store is not None:
            store = times.stores[load.after_store[1] - 1].end
        if load.after_computing:
            computing = times.computing[load.after_computing - 1].end + NOTICE
        reasons = {free: "memory", computing: "an instruction", store: "a store"}
        yield Situation("begins after", f"load {target}", reasons.get(span.begin, "space"))
        free = span.free


def by_kind(covered: Iterable[Situation], design: VectorDesign) -> dict[str, tuple[int, int]]:
    """Kind of situation -> (covered, all)."""
    seen, table = frozenset(covered), every_situation(design)
    return {
        kind: (
            sum(point.kind == kind for point in table & seen),
            sum(point.kind == kind for point in table),
        )
        for kind in sorted({point.kind for point in table})
    }
