"""The measurement: ours and every peer that is there, set by set."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack

from ringsmith import _core
from ringsmith.apps.conditions import machine_state
from ringsmith.bench.cpu import kernel_sets, lattigo_peer, ours, seal_peer, tfhe_peer, thread_counts
from ringsmith.bench.cpu.floor import Work, floor_seconds, operation_work, transform_work
from ringsmith.bench.cpu.kernel_child import name_of
from ringsmith.bench.cpu.sets import (
    HOISTED,
    HOISTED_COUNT,
    NTT_BITS,
    NTT_DEGREES,
    SETS,
    BenchSet,
)
from ringsmith.bench.cpu.timing import Timed, interleaved
from ringsmith.bench.records import Record
from ringsmith.errors import ParameterError

NTT = "ntt"
"""How the bare transforms are asked for, beside the sets."""

KERNELS = "kernels"
"""How the kernel sets beside each other are asked for."""

THREADS = "threads"
"""How more threads than one are asked for."""

DESIGN = "cpu"
"""What all records are of."""

CHOICES = (*SETS, NTT, KERNELS, THREADS)
"""What can be measured."""


def measure(chosen: Collection[str], budget: float, say: Callable[[str], None]) -> list[Record]:
    """Measures on one thread, but for what compares numbers of threads.

    Args:
        chosen: Names of sets, ``ntt`` for bare transforms, ``kernels`` for the kernel sets beside
            each other, ``threads`` for as many threads as are set now beside one.
        budget: Seconds for each operation with all its peers.
        say: Takes lines for people: what is measured, which peers are missing.

    Raises:
        ParameterError: When a name is none of ``CHOICES``.
        ToolError: When a peer whose tools are there cannot be built, or words depend on the number
            of threads or the form of a key.
    """
    for name in chosen:
        if name not in CHOICES:
            raise ParameterError(f"no set is called {name}: choose from {', '.join(CHOICES)}")
    for peer, tool in (
        (seal_peer.version(), "Microsoft SEAL is left out: pip install 'ringsmith[seal]'"),
        (lattigo_peer.version(), "Lattigo is left out: there is no go on PATH"),
        (tfhe_peer.version(), "tfhe-ntt is left out: there is no cargo on PATH"),
    ):
        if peer is None:
            say(tool)
    records: list[Record] = []
    threads = _core.threads()
    _core.set_threads(1)
    try:
        for name in chosen:
            if name == NTT:
                records += _transforms(budget, say)
            elif name == KERNELS:
                records += _kernel_sets(budget, say)
            elif name == THREADS:
                records += _thread_counts(threads, budget, say)
            else:
                records += _operations(SETS[name], budget, say)
                records += _hoisted(SETS[name], budget)
                records += _key_forms(SETS[name], budget)
    finally:
        _core.set_threads(threads)
    return records


def with_kept(records: Sequence[Record], kept: Sequence[Record]) -> list[Record]:
    """Adds the rows of an earlier run that were not measured again.

    Args:
        records: What ``measure`` returned.
        kept: What it returned earlier; a row is what has the same parameters, operation and peer.

    Raises:
        ParameterError: When records to keep are none of ``measure``.
    """
    if foreign := {record.design for record in kept} - {DESIGN}:
        raise ParameterError(
            f"the records to keep are of {', '.join(sorted(foreign))}: give a file that "
            "'ringsmith bench cpu --json' wrote"
        )
    measured = {_row(record) for record in records}
    return [*(record for record in kept if _row(record) not in measured), *records]


def _row(record: Record) -> tuple[str, str, str]:
    return record.params, record.operation, record.peer


_CPU_TIME = "one thread, CPU time"
"""The clock of everything but ``threads``."""


def conditions(clock: str) -> str:
    """Returns how a time was taken, and the machine.

    Args:
        clock: Which time was taken, of how many threads.
    """
    return f"{clock}, medians of interleaved rounds, {machine_state()}"


def _operations(item: BenchSet, budget: float, say: Callable[[str], None]) -> Iterator[Record]:
    say(f"set {item.name}: {item.text}")
    mine = ours.operations(item)
    works = {operation: operation_work(item, operation) for operation in mine}
    peers: dict[str, Mapping[str, Timed]] = {}
    if seal := seal_peer.version():
        peers[seal] = seal_peer.operations(item)
    if lattigo := lattigo_peer.version():
        with lattigo_peer.operations(item) as theirs:
            peers[lattigo] = theirs
            yield from _compare(item.name, mine, peers, budget, works)
    else:
        yield from _compare(item.name, mine, peers, budget, works)


def _hoisted(item: BenchSet, budget: float) -> Iterator[Record]:
    many, singles = ours.hoisted(item)
    peers = {f"{HOISTED_COUNT} of ours, one by one": {HOISTED: singles}}
    works = {HOISTED: operation_work(item, HOISTED)}
    return _compare(item.name, {HOISTED: many}, peers, budget, works)


def _key_forms(item: BenchSet, budget: float) -> Iterator[Record]:
    """Other forms of a key beside the prepared one: time, and memory."""
    peer = "ours, prepared key"
    for forms in ours.key_forms(item):
        name = forms.operation
        works = {name: operation_work(item, name)}
        yield from _compare(
            item.name, {name: forms.other}, {peer: {name: forms.prepared}}, budget, works
        )
        for metric, value in (
            ("key_bytes", forms.other_bytes),
            ("peer_key_bytes", forms.prepared_bytes),
        ):
            yield _record(item.name, name, peer, (metric, "bytes", value), conditions(_CPU_TIME))


def _thread_counts(most: int, budget: float, say: Callable[[str], None]) -> Iterator[Record]:
    """As many threads as are set, and fewer, beside one, by the wall's clock."""
    say(f"threads: {most}, the words compared with those of one thread")
    if most == 1:
        say("threads are left out: this process may use one processor (or --threads is 1)")
        return
    for line in thread_counts.missing():
        say(line)
    for params, operation, work in thread_counts.works():
        one, *more = thread_counts.checked(work, most, f"{params}: {operation}").items()
        for count, timed in more:
            name = f"{operation}, {count} threads"
            peers = {"ours, one thread": {name: one[1]}}
            yield from _compare(params, {name: timed}, peers, budget, {}, "wall-clock time")


def _transforms(budget: float, say: Callable[[str], None]) -> Iterator[Record]:
    peer = tfhe_peer.version()
    if peer is None:
        return
    say("bare transforms")
    for bits in NTT_BITS:
        for n in NTT_DEGREES:
            [q] = _core.prime_search(bits, n, 1)
            mine, theirs = ours.transforms(n, q), tfhe_peer.transforms(n, q)
            works = dict.fromkeys(mine, transform_work(n, bits))
            params = f"N=2^{n.bit_length() - 1}, {bits} bits"
            yield from _compare(params, mine, {peer: theirs}, budget, works)


def _kernel_sets(budget: float, say: Callable[[str], None]) -> Iterator[Record]:
    """The kernel set in use beside every other, each in a process of its own."""
    say("kernel sets, in operations and applications")
    for line in kernel_sets.missing():
        say(line)
    used, others = kernel_sets.names()
    with ExitStack() as children:
        mine = children.enter_context(kernel_sets.operations(used))
        theirs = {name: children.enter_context(kernel_sets.operations(name)) for name in others}
        for params, operation in kernel_sets.works():
            name = name_of(params, operation)
            peers = {f"ours, kernels {k}": {operation: ask[name]} for k, ask in theirs.items()}
            yield from _compare(params, {operation: mine[name]}, peers, budget, {})


def _compare(
    params: str,
    mine: Mapping[str, Timed],
    peers: Mapping[str, Mapping[str, Timed]],
    budget: float,
    works: Mapping[str, Work],
    clock: str = _CPU_TIME,
) -> Iterator[Record]:
    """Records of every operation beside every peer; a floor where its work is known."""
    text = conditions(clock)
    for operation, work in mine.items():
        there = {name: peer[operation] for name, peer in peers.items() if operation in peer}
        for peer, found in interleaved(work, there, budget).items():
            values = [
                ("speedup", "", found.speedup),
                ("milliseconds", "ms", found.seconds * 1e3),
                ("peer_milliseconds", "ms", found.peer_seconds * 1e3),
            ]
            if operation in works:
                floor = floor_seconds(works[operation])
                values.append(("floor_milliseconds", "ms", floor * 1e3))
            for value in values:
                yield _record(params, operation, peer, value, text)


def _record(
    params: str, operation: str, peer: str, measured: tuple[str, str, float], text: str
) -> Record:
    """A record of a metric, its unit and its value."""
    metric, unit, value = measured
    return Record(
        paper="",
        design=DESIGN,
        params=params,
        operation=operation,
        metric=metric,
        unit=unit,
        paper_value=None,
        value=value,
        source="cpu",
        conditions=text,
        peer=peer,
    )
