"""The measurement: Ringsmith and every available baseline, one parameter set after another."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ringsmith import _core
from ringsmith.apps.conditions import machine_state
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.cpu import (
    core_functions,
    kernel_sets,
    lattigo_peer,
    ours,
    seal_peer,
    tfhe_peer,
    thread_counts,
)
from ringsmith.bench.cpu.floor import Work, floor_seconds, operation_work, transform_work
from ringsmith.bench.cpu.kernel_child import name_of
from ringsmith.bench.cpu.operands import Operands
from ringsmith.bench.cpu.sets import (
    HOISTED,
    HOISTED_COUNT,
    NTT_BITS,
    SETS,
    WHOLE,
    BenchSet,
    Extent,
)
from ringsmith.bench.cpu.timing import Timed, interleaved, timed
from ringsmith.bench.records import Record
from ringsmith.errors import ParameterError
from ringsmith.progress import task

NTT = "ntt"
"""How the bare transforms are asked for, beside the sets."""

KERNELS = "kernels"
"""How the kernel sets beside each other are asked for."""

THREADS = "threads"
"""How more threads than one are asked for."""

DESIGN = REFERENCE
"""What all records are of."""

CORE = "core"
"""What the names of operations begin with that are functions of the C++ core, and no programs."""

PROGRAM = "ours, by a program"
"""What these functions are compared with."""

CHOICES = (*SETS, NTT, KERNELS, THREADS)
"""What can be measured."""

USUAL = (NTT, "A", "B", "A50", "D", "E", "F", KERNELS, THREADS)
"""What is measured where nothing is named."""

QUICK_CHOICES = (NTT, "quick", "D", KERNELS, THREADS)
"""The same with --quick: a set of each scheme."""


@dataclass(frozen=True)
class Peers:
    """Names of the baselines that work here; None for one that does not."""

    seal: str | None
    lattigo: str | None
    tfhe: str | None

    @classmethod
    def here(cls, say: Callable[[str], None]) -> "Peers":
        """Tries them, which builds those that are built here; says which are left out, and why."""
        names = seal_peer.name(), lattigo_peer.VERSION, tfhe_peer.VERSION
        why = seal_missing(), lattigo_peer.missing(), tfhe_peer.missing()
        for line in filter(None, why):
            say(line)
        return cls(*(None if line else name for name, line in zip(names, why, strict=True)))


def measure(
    chosen: Collection[str],
    budget: float,
    say: Callable[[str], None],
    extent: Extent = WHOLE,
) -> list[Record]:
    """Measures on one thread, but for what compares numbers of threads.

    Args:
        chosen: Names of sets, ``ntt`` for bare transforms, ``kernels`` for the kernel sets beside
            each other, ``threads`` for as many threads as are set now beside one.
        budget: Seconds for each operation with all its baselines.
        say: Takes lines for people: what is measured, which baselines are left out.
        extent: How much is measured of what is no set.

    Raises:
        ParameterError: When a name is none of ``CHOICES``.
        ToolError: When words depend on the number of threads or the form of a key, or a process
            that measures stops.
    """
    for name in chosen:
        if name not in CHOICES:
            raise ParameterError(f"no set is called {name}: choose from {', '.join(CHOICES)}")
    peers = Peers.here(say)
    records: list[Record] = []
    threads = _core.threads()
    _core.set_threads(1)
    try:
        with task("measuring the cpu device", len(chosen), "sets") as sets:
            for name in chosen:
                records += _chosen(name, budget, say, peers, (threads, extent))
                sets.advance()
    finally:
        _core.set_threads(threads)
    return records


def _chosen(
    name: str,
    budget: float,
    say: Callable[[str], None],
    peers: Peers,
    given: tuple[int, Extent],
) -> Iterator[Record]:
    """Records of one of ``CHOICES``; ``given``: the threads to compare with one, and how much."""
    threads, extent = given
    if name == NTT:
        yield from _transforms(budget, say, peers.tfhe, extent.ntt_degrees)
    elif name == KERNELS:
        yield from _kernel_sets(budget, say, extent.kernel_works)
    elif name == THREADS:
        yield from _thread_counts(threads, budget, say, extent)
    else:
        yield from _operations(SETS[name], budget, say, peers)
        yield from _key_forms(SETS[name], budget)


def with_kept(records: Sequence[Record], kept: Sequence[Record]) -> list[Record]:
    """Adds the rows of an earlier run that were not measured again.

    Args:
        records: What ``measure`` returned.
        kept: What it returned earlier; a row is what has the same parameters, operation and
            baseline.
    """
    measured = {_row(record) for record in records}
    return [*(record for record in kept if _row(record) not in measured), *records]


def _row(record: Record) -> tuple[str, str, str]:
    return record.params, record.operation, record.peer


_CPU_TIME = "one thread, CPU time"
"""The clock of everything but ``threads``."""

_PROGRAMS = f"programs run by Compiled.run, {_CPU_TIME}"
"""The same, where ours are programs: records of earlier versions say only the clock, and are of
functions of the core."""


def conditions(clock: str) -> str:
    """Returns how a time was taken, and the machine.

    Args:
        clock: Which time was taken, of how many threads.
    """
    return f"{clock}, medians of interleaved rounds, {machine_state()}"


def _operations(
    item: BenchSet, budget: float, say: Callable[[str], None], there: Peers
) -> Iterator[Record]:
    """Measures single operations against baselines, and core functions against the programs."""
    say(f"set {item.name}: {item.text}")
    operands = Operands.of(item, HOISTED_COUNT)
    mine = {name: timed(work) for name, work in ours.works(operands).items()}
    works = {operation: operation_work(item, operation) for operation in mine}
    peers: dict[str, Mapping[str, Timed]] = {
        f"{HOISTED_COUNT} of ours, one by one": {HOISTED: timed(ours.singles(operands))}
    }
    if there.seal:
        peers[there.seal] = seal_peer.operations(item)
    with ExitStack() as children:
        if there.lattigo:
            peers[there.lattigo] = children.enter_context(lattigo_peer.operations(item))
        yield from _compare(item.name, mine, peers, budget, works, _PROGRAMS)
    functions = core_functions.works(operands)
    core = {f"{CORE} {name}": timed(work) for name, work in functions.items()}
    programs = {f"{CORE} {name}": mine[name] for name in functions}
    floors = {f"{CORE} {name}": works[name] for name in functions}
    yield from _compare(item.name, core, {PROGRAM: programs}, budget, floors)


def _key_forms(item: BenchSet, budget: float) -> Iterator[Record]:
    """Compares other forms of a key with the precomputed one: time and memory."""
    peer = "ours, prepared key"
    for forms in ours.key_forms(item):
        name = forms.operation
        works = {name: operation_work(item, name)}
        yield from _compare(
            item.name, {name: forms.other}, {peer: {name: forms.prepared}}, budget, works, _PROGRAMS
        )
        for metric, value in (
            ("key_bytes", forms.other_bytes),
            ("peer_key_bytes", forms.prepared_bytes),
        ):
            yield _record(item.name, name, peer, (metric, value), conditions(_PROGRAMS))


def _thread_counts(
    most: int, budget: float, say: Callable[[str], None], extent: Extent
) -> Iterator[Record]:
    """As many threads as are set, and fewer, beside one, by the wall's clock."""
    say(f"threads: {most}, the words compared with those of one thread")
    if most == 1:
        say("threads are left out: this process may use one processor (or --threads is 1)")
        return
    for line in thread_counts.missing():
        say(line)
    for params, operation, work in thread_counts.works(extent):
        one, *more = thread_counts.checked(work, most, f"{params}: {operation}").items()
        for count, several in more:
            name = f"{operation}, {count} threads"
            peers = {"ours, one thread": {name: one[1]}}
            yield from _compare(params, {name: several}, peers, budget, {}, "wall-clock time")


def _transforms(
    budget: float, say: Callable[[str], None], peer: str | None, degrees: Iterable[int]
) -> Iterator[Record]:
    if peer is None:
        return
    say("bare transforms")
    for bits in NTT_BITS:
        for n in degrees:
            [q] = _core.prime_search(bits, n, 1)
            mine, theirs = core_functions.transforms(n, q), tfhe_peer.transforms(n, q)
            works = dict.fromkeys(mine, transform_work(n, bits))
            params = f"N=2^{n.bit_length() - 1}, {bits} bits"
            yield from _compare(params, mine, {peer: theirs}, budget, works)


def _kernel_sets(
    budget: float, say: Callable[[str], None], wanted: Sequence[tuple[str, str]]
) -> Iterator[Record]:
    """The kernel set in use beside every other, each in a process of its own."""
    say("kernel sets, in operations and applications")
    for line in kernel_sets.missing():
        say(line)
    used, others = kernel_sets.names()
    works = kernel_sets.works(wanted)
    with ExitStack() as children:
        mine = children.enter_context(kernel_sets.operations(used, works))
        theirs = {k: children.enter_context(kernel_sets.operations(k, works)) for k in others}
        for params, operation in works:
            name = name_of(params, operation)
            peers = {f"ours, kernels {k}": {operation: ask[name]} for k, ask in theirs.items()}
            yield from _compare(params, {operation: mine[name]}, peers, budget, {}, _PROGRAMS)


def _compare(
    params: str,
    mine: Mapping[str, Timed],
    peers: Mapping[str, Mapping[str, Timed]],
    budget: float,
    works: Mapping[str, Work],
    clock: str = _CPU_TIME,
) -> Iterator[Record]:
    """Records of every operation and baseline; with a roofline bound where the work is known."""
    text = conditions(clock)
    with task(f"measuring {params}", len(mine), "operations") as measured:
        for operation, work in mine.items():
            there = {name: peer[operation] for name, peer in peers.items() if operation in peer}
            compared = interleaved(work, there, budget) if there else {}
            for peer, found in compared.items():
                values = [
                    ("speedup", found.speedup),
                    ("milliseconds", found.seconds * 1e3),
                    ("peer_milliseconds", found.peer_seconds * 1e3),
                ]
                if operation in works:
                    values.append(("floor_milliseconds", floor_seconds(works[operation]) * 1e3))
                for value in values:
                    yield _record(params, operation, peer, value, text)
            measured.advance()


def _record(
    params: str, operation: str, peer: str, measured: tuple[str, float], text: str
) -> Record:
    """A record of a metric and its value."""
    return Record(DESIGN, params, operation, *measured, REFERENCE, text, peer)
