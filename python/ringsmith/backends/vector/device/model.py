"""The instruction-level model: contents of scratchpad and memory, instruction by instruction."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.word_layout import table_rows
from ringsmith.backends.vector.device.residues import Words, added, multiplied, subtracted
from ringsmith.backends.vector.isa.instructions import (
    STREAMS,
    Automorph,
    Computing,
    Constant,
    Limb,
    Load,
    Point,
    Program,
    Result,
    Same,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
    sources,
)
from ringsmith.errors import DeviceError
from ringsmith.objects import KeySwitchKey


class Memory:
    """The device's memory, limb by limb; what a host puts there is fetched when it is read.

    Args:
        fetch: Returns N words of an input or a key.
    """

    def __init__(self, fetch: Callable[[Limb], Words]) -> None:
        self._fetch = fetch
        self.written: dict[Limb, Words] = {}

    def read(self, limb: Limb) -> Words:
        """A limb's words."""
        return self.written[limb] if limb in self.written else self._fetch(limb)


class Model:
    """A device of a design, with the contents of its memories.

    Args:
        executable: What it runs.
        memory: Its memory.
    """

    def __init__(self, executable: VectorExecutable, memory: Memory) -> None:
        self._executable, self._memory = executable, memory
        self._stores = [0] * len(executable.programs)
        self._transforms: dict[int, _core.Ntt] = {}

    def run(self) -> Iterator[int]:
        """Runs all programs; yields how many instructions were computed since it last did."""
        clusters = [_Cluster(program) for program in self._executable.programs]
        while not all(cluster.ended for cluster in clusters):
            moved = 0
            for number, cluster in enumerate(clusters):
                while not cluster.ended and self._can_load(cluster):
                    self._compute(number, cluster, cluster.next())
                    moved += 1
                    yield 1
            if not moved:
                raise DeviceError("the clusters wait for each other: this program cannot run")

    def _can_load(self, cluster: "_Cluster") -> bool:
        """Whether all that the next instruction takes from streams is in memory."""
        loads = cluster.ahead()
        return all(
            load.after_store is None or self._stores[load.after_store[0]] >= load.after_store[1]
            for load in loads
        )

    def _compute(self, number: int, cluster: "_Cluster", own: Computing) -> None:
        cluster.load_tables(own.tables)
        operation = own.operation
        if isinstance(operation, Transform):
            self._transform(cluster, operation)
        elif isinstance(operation, Automorph):
            words = self._read(cluster, operation.source)
            cluster.slots[operation.target] = words[_automorph(words.size, operation.element)]
        else:
            self._point(number, cluster, operation)

    def _read(self, cluster: "_Cluster", source: Slot | Stream) -> Words:
        if isinstance(source, Stream):
            return self._memory.read(cluster.streams[source.number].popleft().limb)
        if source not in cluster.slots:
            raise DeviceError(f"{source} is read, and nothing was written there")
        return cluster.slots[source]

    def _part(self, cluster: "_Cluster", part: Source, x: Words) -> Words | int:
        """A point instruction's y or z."""
        if isinstance(part, Same):
            return x
        return part.word if isinstance(part, Constant) else self._read(cluster, part)

    def _transform(self, cluster: "_Cluster", operation: Transform) -> None:
        graph, rows = self._executable.graph, table_rows(self._executable.shape)
        found = []
        for entry in operation.entries:
            prime = entry.prime
            q = graph.primes[prime]
            if cluster.tables.get(entry.table) != (prime, int(operation.inverse)):
                raise DeviceError(
                    f"rows {entry.table} … {entry.table + rows - 1} of the twiddle memory are not "
                    f"prime {q}'s"
                )
            words = self._read(cluster, entry.source).copy()
            if entry.reduce:
                words = np.where(words >= q, words - np.uint64(q), words)
            if prime not in self._transforms:
                self._transforms[prime] = _core.Ntt(graph.n, q, graph.roots[prime])
            if operation.inverse:
                self._transforms[prime].inverse(words)
                words = multiplied(words, graph.n, q)
            else:
                self._transforms[prime].forward(words)
            found.append((entry.target, words))
        cluster.slots.update(found)

    def _point(self, number: int, cluster: "_Cluster", operation: Point) -> None:
        x = self._read(cluster, operation.x)
        found: list[tuple[Result, Words]] = []
        for each in operation.results:
            q = self._executable.moduli[each.prime]
            y = self._part(cluster, each.y, x)
            product = multiplied(x, y, q)
            factor = self._executable.design.factor(q)
            if factor != 1:
                product = multiplied(product, pow(factor, -1, q), q)
            if each.z is not None:
                z = self._part(cluster, each.z, x)
                product = (subtracted if each.subtract else added)(product, z, q)
            found.append((each, product))
        for result, words in found:
            if result.target is not None:
                cluster.slots[result.target] = words
            if result.store:
                self._memory.written[cluster.stores.popleft().limb] = words
                self._stores[number] += 1


class _Cluster:
    """A cluster's scratchpad and twiddle memory, and how far its lists are."""

    def __init__(self, program: Program) -> None:
        self.slots: dict[Slot, Words] = {}
        self.tables: dict[int, tuple[int, int]] = {}
        self.streams: list[deque[Load]] = [
            deque(load for load in program.loads if load.stream == number)
            for number in range(STREAMS)
        ]
        self.stores: deque[Store] = deque(program.stores)
        self._table_loads = deque(load for load in program.loads if load.stream is None)
        self._computing = deque(program.computing)
        self._loaded = 0

    @property
    def ended(self) -> bool:
        return not self._computing

    def next(self) -> Computing:
        return self._computing.popleft()

    def ahead(self) -> list[Load]:
        """Loads that the next instruction takes."""
        taken = [0] * STREAMS
        for source in sources(self._computing[0].operation):
            if isinstance(source, Stream):
                taken[source.number] += 1
        return [
            load
            for stream, count in zip(self.streams, taken, strict=True)
            for load in list(stream)[:count]
        ]

    def load_tables(self, count: int) -> None:
        """Loads the twiddle memory until this many loads have been made."""
        while self._loaded < count:
            load = self._table_loads.popleft()
            prime, inverse = load.limb.index
            self.tables[load.row] = (prime, inverse)
            self._loaded += 1


def _automorph(n: int, element: int) -> NDArray[np.uint64]:
    """Where each position of the result comes from, in NTT form."""
    bits = n.bit_length() - 1
    index = np.arange(n, dtype=np.uint64)
    reversed_bits = np.zeros_like(index)
    for bit in range(bits):
        reversed_bits |= (index >> np.uint64(bit) & np.uint64(1)) << np.uint64(bits - 1 - bit)
    source = (reversed_bits * np.uint64(element) + np.uint64(element // 2)) % np.uint64(n)
    found: NDArray[np.uint64] = reversed_bits[source]
    return found


def host_limb(
    executable: VectorExecutable,
    inputs: Mapping[str, Words],
    keys: Mapping[str, KeySwitchKey],
) -> Callable[[Limb], Words]:
    """What a host puts into memory: inputs and keys, times the design's factor where it is said.

    A key's limb with an element e is its automorphism X -> X^(1/e).
    """

    def fetch(limb: Limb) -> Words:
        words: Words
        if limb.kind == "key":
            digit, half, prime, *moved = limb.index
            words = keys[limb.name].limb(digit, half, prime)
            for element in moved:
                words = words[_automorph(words.size, pow(element, -1, 2 * words.size))]
        else:
            words = inputs[limb.name][limb.index[0]]
            prime = executable.graph.inputs[limb.name].base[limb.index[0]]
        if not limb.scaled:
            return words
        q = executable.graph.primes[prime]
        factor = executable.design.factor(q)
        return words if factor == 1 else multiplied(words, factor, q)

    return fetch
