"""The longest paths of a timing graph."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ringsmith.errors import ToolError
from ringsmith.hdl.timing.graph import ANY_CLOCK, Arc, Bit, End, Graph, Node, Start

CONSTANT = Start("constant", "", 0, ANY_CLOCK)

_SHOWN = 8
"""Signals of a loop that an error names."""


@dataclass(frozen=True)
class Step:
    """A cell on a path.

    Attributes:
        cell: Its type.
        bit: Its output.
        arrival: When the output is there, in ps after the clock.
    """

    cell: str
    bit: Bit
    arrival: int


@dataclass(frozen=True)
class Found:
    """The longest path to a clocked input.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        steps: The start and every cell between, in order.
        delay: From clock to clock, in ps: clock to out, cells, nets and setup.
        levels: Levels on it.
        deepest: The most levels of any path to this input, which may be another one.
    """

    start: Start
    end: End
    steps: tuple[Step, ...]
    delay: int
    levels: int
    deepest: int


class Arrivals:
    """When each bit of a graph is there, and how many levels lie before it.

    Args:
        graph: The graph.
        name: Names a bit in an error.

    Raises:
        ToolError: If the graph has a combinational loop.
    """

    def __init__(self, graph: Graph, name: Callable[[Bit], str] = str) -> None:
        self._graph, self._name = graph, name
        self.times: dict[Bit, int] = {bit: s.clock_to_out for bit, s in graph.starts.items()}
        self.deepest: dict[Bit, int] = dict.fromkeys(graph.starts, 0)
        self._before: dict[Bit, Arc] = {}
        self._evaluate()

    def longest(self) -> Iterator[Found]:
        """The longest path to each clocked input that a register or port reaches."""
        for end in self._graph.ends:
            if end.bit in self.times and (found := self._found(end)).start is not CONSTANT:
                yield found

    def _found(self, end: End) -> Found:
        bit, levels = end.bit, 0
        steps = []
        while bit not in self._graph.starts:
            steps.append(Step(self._graph.nodes[bit].cell, bit, self.times[bit]))
            arc = self._before[bit]
            levels += arc.levels
            bit = arc.source
        start = self._graph.starts[bit]
        steps.append(Step(start.cell, bit, start.clock_to_out))
        delay = self.times[end.bit] + end.setup
        return Found(start, end, tuple(reversed(steps)), delay, levels, self.deepest[end.bit])

    def _evaluate(self) -> None:
        """Evaluates every node after all that it waits for, depth first, without recursion."""
        nodes, done = self._graph.nodes, self.times
        open_bits: dict[Bit, None] = {}  # the way to where the walk is
        for root in nodes:
            stack = [root]
            while stack:
                bit = stack[-1]
                if bit in done:
                    stack.pop()
                    continue
                sources = {arc.source for arc in nodes[bit].arcs}
                waiting = [each for each in sources if each in nodes and each not in done]
                if not waiting:
                    self._finish(bit, nodes[bit])
                    open_bits.pop(bit, None)
                    stack.pop()
                elif bit in open_bits:
                    way = list(open_bits)
                    raise ToolError(_loop(self._graph, way[way.index(bit) :], self._name))
                else:
                    open_bits[bit] = None
                    stack.extend(waiting)

    def _finish(self, bit: Bit, node: Node) -> None:
        """Takes the latest of what a node waits for; a node of constants is there at once."""
        latest, before, deepest = 0, None, 0
        arrivals = [
            (self.times[arc.source] + arc.delay, arc)
            for arc in node.arcs
            if arc.source in self.times
        ]
        if node.pins:
            arrivals.sort(key=lambda each: -each[0])
            arrivals = [
                (time + pin, arc) for (time, arc), pin in zip(arrivals, node.pins, strict=False)
            ]
        for time, arc in arrivals:
            if before is None or time > latest:
                latest, before = time, arc
            deepest = max(deepest, self.deepest[arc.source] + arc.levels)
        if before is None:
            self._graph.starts[bit] = CONSTANT
        else:
            self._before[bit] = before
        self.times[bit], self.deepest[bit] = latest, deepest


def _loop(graph: Graph, bits: list[Bit], name: Callable[[Bit], str]) -> str:
    """Says which signals wait for each other."""
    cells = [f"{name(bit)} ({graph.nodes[bit].cell})" for bit in bits]
    more = f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
    return (
        f"the netlist has a combinational loop of {len(cells)} cells, so its paths have no end: "
        f"{', '.join(cells[:_SHOWN])}{more}: put a register into it"
    )
