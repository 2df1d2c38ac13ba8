"""A subroutine graph as the programs of a vector design's clusters."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ringsmith.backends.vector.compiler.quotients import moduli_of
from ringsmith.backends.vector.compiler.timeline import (
    Cycles,
    Schedule,
    read_ahead,
    schedule,
    total,
)
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import Shape
from ringsmith.backends.vector.isa.instructions import Operation, Program, Transform
from ringsmith.graph import SubroutineGraph
from ringsmith.short_repr import short_repr


@dataclass(frozen=True)
class Use:
    """How busy parts of a device were, in cycles of all clusters.

    Attributes:
        transforms: In which the array took a row of a transform.
        points: In which it took one of a point instruction.
        automorphs: In which the network took one of an automorphism.
        reading: In which memory handed out rows.
        writing: In which memory took rows.
    """

    transforms: int
    points: int
    automorphs: int
    reading: int
    writing: int


@short_repr
@dataclass(frozen=True)
class VectorExecutable:
    """A graph compiled for a design.

    Attributes:
        design: The design.
        graph: The graph.
        programs: The lists of each cluster.
    """

    design: VectorDesign
    graph: SubroutineGraph = field(repr=False, compare=False)
    programs: tuple[Program, ...] = field(repr=False)

    @property
    def shape(self) -> Shape:
        """The array in the graph's ring."""
        return self.design.shape(self.graph.n.bit_length() - 1)

    @cached_property
    def moduli(self) -> tuple[int, ...]:
        """What instructions are modulo: the graph's primes, and more for quotients."""
        return moduli_of(self.graph, self.design)

    @cached_property
    def schedules(self) -> list[Schedule]:
        """When instructions begin and end."""
        return schedule(self.programs, self.design, Cycles(self.design, self.shape))

    @property
    def cycles(self) -> int:
        """Clock cycles from the start until the last result is in memory."""
        return self.read_ahead + self.scheduled

    @cached_property
    def scheduled(self) -> int:
        """Cycles of the schedules: from their cycle 0 until the last result is in memory."""
        return total(self.schedules)

    @cached_property
    def read_ahead(self) -> int:
        """Cycles from the start to cycle 0 of the schedules, to read the first list entries."""
        return read_ahead(self.programs, self.design)

    @property
    def instructions(self) -> int:
        """Instructions of all lists."""
        return sum(
            len(each) for own in self.programs for each in (own.loads, own.computing, own.stores)
        )

    @property
    def host_transfers(self) -> int:
        """None: operands, keys and results lie in the device's memory."""
        return 0

    @property
    def spilled_words(self) -> int:
        """None, as ``host_transfers``."""
        return 0

    @property
    def seeded(self) -> frozenset[str]:
        """No key: memory has whole ones."""
        return frozenset()

    @cached_property
    def operation_names(self) -> dict[int, str]:
        """HE operations by their nodes, such as ``rotate:12``."""
        return {
            node.origin.node: f"{node.origin.op}:{node.origin.node}"
            for node in self.graph.nodes
            if node.origin is not None
        }

    @cached_property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """HE operations by the cycles from an instruction's issue to the next, in cluster 0."""
        names, counted = self.operation_names, self._cycles_by_origin
        return tuple((names[node], count) for node, count in counted.items() if node in names)

    @property
    def cycles_by_node(self) -> dict[int, int]:
        """Clock cycles by HE node, as ``spans`` counts them; together they are the program's.

        Those before the first instruction are counted for its node, and what serves no node for
        the node before it.
        """
        found: Counter[int] = Counter()
        node = next((node for node in self._cycles_by_origin if node in self.operation_names), 0)
        found[node] += self.cycles - sum(self._cycles_by_origin.values())
        for origin, count in self._cycles_by_origin.items():
            node = origin if origin in self.operation_names else node
            found[node] += count
        return dict(found)

    @cached_property
    def _cycles_by_origin(self) -> Counter[int]:
        counted: Counter[int] = Counter()
        own, times = self.programs[0].computing, self.schedules[0].computing
        for index, each in enumerate(own):
            following = times[index + 1].begin if index + 1 < len(own) else self.scheduled
            counted[each.origin] += following - times[index].begin
        return counted

    @property
    def operations(self) -> Iterator[Operation]:
        """What all clusters compute."""
        return (each.operation for own in self.programs for each in own.computing)

    @cached_property
    def use(self) -> Use:
        """How busy the device's parts are."""
        cycles, design = Cycles(self.design, self.shape), self.design
        counted: Counter[str] = Counter()
        for operation in self.operations:
            counted[type(operation).__name__] += cycles.busy(operation)
        return Use(
            counted["Transform"],
            counted["Point"],
            counted["Automorph"],
            sum(each.rows for own in self.programs for each in own.loads) * design.row_cycles,
            sum(each.rows for own in self.programs for each in own.stores) * design.row_cycles,
        )

    @cached_property
    def busy(self) -> dict[str, float]:
        """Parts of the device -> the share of the schedules' cycles in which they worked.

        Every row but a point instruction's needs the network; a scratchpad works when one of its
        banks is read or written.
        """
        use, cycles = self.use, max(1, self.scheduled * self.design.clusters)
        rows = use.transforms + use.points + use.automorphs
        return {
            "array": (use.transforms + use.points) / cycles,
            "network": (use.transforms + use.automorphs) / cycles,
            "scratchpad": rows / cycles,
            "memory, reading": use.reading / cycles,
            "memory, writing": use.writing / cycles,
        }

    @property
    def transforms(self) -> int:
        """Limbs transformed."""
        return sum(len(each.entries) for each in self.operations if isinstance(each, Transform))

    @property
    def bytes_read(self) -> int:
        """Bytes read from memory."""
        rows = sum(each.rows for own in self.programs for each in own.loads)
        return self.design.row_bytes * rows

    @property
    def bytes_written(self) -> int:
        """Bytes written to memory."""
        rows = sum(each.rows for own in self.programs for each in own.stores)
        return self.design.row_bytes * rows
