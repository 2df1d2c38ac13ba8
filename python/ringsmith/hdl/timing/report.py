"""What static timing found: blocks, and the worst paths by the registers' names."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby

from ringsmith.hdl.netlist import Module, kind
from ringsmith.hdl.timing.graph import Bit, End, Graph, Start
from ringsmith.hdl.timing.paths import Arrivals, Found

KEPT_PATHS = 200
"""Worst paths that are kept of a clock, the worst bit of each pair of registers."""

_INDEX = re.compile(r"\[\d+\]")
"""The number of an instance of several."""


@dataclass(frozen=True)
class Block:
    """A module of the RTL, all its instances together, by the paths that end in its registers.

    Attributes:
        name: The module.
        inputs: Clocked inputs, bit by bit.
        levels: The most levels of any path.
        delay_ps: The longest delay from clock to clock.
    """

    name: str
    inputs: int
    levels: int
    delay_ps: int


@dataclass(frozen=True)
class TimedPath:
    """The longest path between two registers.

    Attributes:
        block: Module of the register where it ends.
        start: The register where it starts, with its instance.
        end: The register where it ends, and the input, where that is not its data.
        levels: Levels on it.
        delay_ps: From clock to clock: clock to out, cells, nets and setup.
        clock: The clock of both registers; empty where both are outside.
        fanout: The most inputs that one net on it drives.
        alike: Pairs of registers that differ in the numbers of instances alone, this one included;
            it is the one with the longest path.
        cells: The cells on it, in order, equal neighbours counted.
    """

    block: str
    start: str
    end: str
    levels: int
    delay_ps: int
    clock: str
    fanout: int
    alike: int
    cells: str


@dataclass(frozen=True)
class Timing:
    """Static timing of synthesized RTL.

    Attributes:
        blocks: By module.
        paths: The worst paths, the longest first; of each clock at most ``KEPT_PATHS``.
    """

    blocks: tuple[Block, ...]
    paths: tuple[TimedPath, ...]

    def worst(self, clock: str) -> TimedPath | None:
        """The longest path of a clock; None: it has none."""
        return next((path for path in self.paths if path.clock == clock), None)

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def of(text: str) -> "Timing":
        """From ``text``."""
        found = json.loads(text)
        return Timing(
            tuple(Block(**each) for each in found["blocks"]),
            tuple(TimedPath(**each) for each in found["paths"]),
        )


def merged(timings: Iterable[Timing]) -> Timing:
    """The timing of several netlists together; a module of several is as bad as the worst."""
    every = list(timings)
    blocks = sorted((block for each in every for block in each.blocks), key=lambda b: b.name)
    together = [
        Block(
            name,
            sum(block.inputs for block in same),
            max(block.levels for block in same),
            max(block.delay_ps for block in same),
        )
        for name, group in groupby(blocks, key=lambda b: b.name)
        for same in (list(group),)
    ]
    return Timing(
        _worst_first(together), _longest_first(path for each in every for path in each.paths)
    )


def _worst_first(blocks: Iterable[Block]) -> tuple[Block, ...]:
    return tuple(sorted(blocks, key=lambda block: (-block.delay_ps, block.name)))


def _longest_first(paths: Iterable[TimedPath]) -> tuple[TimedPath, ...]:
    ordered = sorted(paths, key=lambda path: (-path.delay_ps, path.end, path.start))
    kept, of_clock = [], Counter[str]()
    for path in ordered:
        of_clock[path.clock] += 1
        if of_clock[path.clock] <= KEPT_PATHS:
            kept.append(path)
    return tuple(kept)


def report(graph: Graph, names: "Names") -> Timing:
    """Finds the longest paths of a graph, from a clock to the same clock, and names them."""
    return merged(_of_clock(graph.of_clock(clock), names, clock) for clock in graph.clocks)


def _of_clock(graph: Graph, names: "Names", clock: Bit) -> Timing:
    blocks: dict[str, list[Found]] = {}
    worst: dict[tuple[str, str], _Ends] = {}
    for found in Arrivals(graph, names.net).longest():
        block, end = names.end(found.end)
        blocks.setdefault(block, []).append(found)
        start = names.start(found.start, found.steps[0].bit)
        key = _INDEX.sub("[]", start), _INDEX.sub("[]", end)
        worst.setdefault(key, _Ends()).add(start, end, block, found)
    return Timing(
        _worst_first(
            Block(name, len(every), max(f.deepest for f in every), max(f.delay for f in every))
            for name, every in blocks.items()
        ),
        _longest_first(ends.path(graph, names.clock(clock)) for ends in worst.values()),
    )


@dataclass
class _Ends:
    """Pairs of registers that differ in the numbers of their instances alone."""

    pairs: set[tuple[str, str]] = field(default_factory=set)
    worst: tuple[str, str, str, Found] | None = None

    def add(self, start: str, end: str, block: str, found: Found) -> None:
        """Adds the longest path to one bit."""
        self.pairs.add((start, end))
        if self.worst is None or found.delay > self.worst[3].delay:
            self.worst = start, end, block, found

    def path(self, graph: Graph, clock: str) -> TimedPath:
        """The longest of them."""
        assert self.worst is not None, "there is one"
        start, end, block, found = self.worst
        fanout = max(graph.fanout[step.bit] for step in found.steps)
        cells = _cells(found)
        return TimedPath(
            block, start, end, found.levels, found.delay, clock, fanout, len(self.pairs), cells
        )


def _cells(found: Found) -> str:
    """``FDRE LUT4 CARRY4×3 LUT2 FDRE``."""
    cells = [*(step.cell for step in found.steps if step.bit > 0), found.end.cell]
    counted = [(cell, len(list(group))) for cell, group in groupby(cells)]
    return " ".join(cell if number == 1 else f"{cell}×{number}" for cell, number in counted)


class Names:
    """Names of registers and of the modules that they are in, in a flat netlist.

    Yosys names a flip-flop by a number, and leaves the register's name to the net that it drives,
    and the source file of its module to itself. It leaves the module of each instance to
    ``$scopeinfo`` cells.

    Args:
        module: The flat netlist.
        top: The module that it was made of.
    """

    def __init__(self, module: Module, top: str) -> None:
        self._cells = module["cells"]
        self._top = top
        self._modules = {
            name: kind(cell["attributes"]["module"])
            for name, cell in self._cells.items()
            if cell["type"] == "$scopeinfo" and "module" in cell["attributes"]
        }
        self._outputs = {
            name: next((b for b in bits if isinstance(b, int)), 0)
            for name, cell in self._cells.items()
            for bits in (_first_output(cell["connections"]),)
        }
        self._nets = _names_of_bits(module["netnames"])

    def start(self, start: Start, bit: Bit) -> str:
        """The register that drives a bit; of a RAM, its instance."""
        if start.cell == "port":
            return f"input {start.name}"
        return self._register(start.name, bit)

    def end(self, end: End) -> tuple[str, str]:
        """The module of a clocked input, and the register with the input, where it is no data."""
        if end.cell == "port":
            return self._top, f"output {end.name}"
        name = self._register(end.name, self._outputs[end.name])
        block = self._source_module(end.name) or self._instance_module(name)
        return block, name if end.pin == "D" else f"{name} {end.pin}"

    def net(self, bit: Bit) -> str:
        """The innermost name of a bit."""
        named = self._nets.get(bit, [])
        return max(named, key=lambda name: (name.count("."), name), default=f"bit {bit}")

    def clock(self, bit: Bit) -> str:
        """The outermost name of a clock; empty of none."""
        return min(self._nets.get(bit, [""]), key=lambda name: (name.count("."), name))

    def _register(self, cell: str, bit: Bit) -> str:
        """The net of a bit that a person named, in the module of the cell if one is there."""
        if not cell.startswith("$"):
            return cell  # a black box keeps its instance's name
        names = self._nets.get(abs(bit), [])
        block = self._source_module(cell)
        own = [name for name in names if self._instance_module(name) == block]
        return max(own or names, key=lambda name: (name.count("."), name), default=cell)

    def _source_module(self, cell: str) -> str:
        """The module in whose file a cell was written; empty where Yosys does not say."""
        source = self._cells[cell]["attributes"].get("src", "").partition(".sv:")
        return source[0] if source[1] and "/" not in source[0] else ""

    def _instance_module(self, name: str) -> str:
        """The module of the innermost instance that a name lies in."""
        scope = name
        while scope:
            if scope in self._modules:
                return self._modules[scope]
            scope = scope.rpartition(".")[0]
        return self._top


def _first_output(connections: Mapping[str, Sequence[object]]) -> Sequence[object]:
    for pin in ("Q", "P", "rdata_o", "DOA", "O", "DPO", "SPO"):
        if pin in connections:
            return connections[pin]
    return ()


def _names_of_bits(nets: Mapping[str, Mapping[str, Sequence[object]]]) -> dict[Bit, list[str]]:
    """Bit -> the names of its nets that no tool made up."""
    names: dict[Bit, list[str]] = {}
    for name, net in nets.items():
        if "$" not in name:
            for bit in net["bits"]:
                if isinstance(bit, int):
                    names.setdefault(bit, []).append(name)
    return names
