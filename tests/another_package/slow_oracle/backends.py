"""Two architectures: ``slow-oracle`` runs graphs as they are; ``tally`` has designs and cycles."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from ringsmith.backends.base import (
    Backend,
    Capabilities,
    CompiledGraph,
    Design,
    Executable,
    Explanation,
    GraphResult,
    RunReport,
)
from ringsmith.backends.jobs import Device, Work
from ringsmith.design_files import load
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import KeySwitchKey
from ringsmith.params import ParameterLimits
from slow_oracle.integers import Interpreter


def interpreted(compiled: CompiledGraph, inputs: Mapping, keys: Mapping) -> dict:
    """Outputs of a graph, by name."""
    words = {name: _by_prime(key) for name, key in keys.items()}
    found = Interpreter(compiled.graph, inputs, words).run()
    return {name: np.array(limbs, dtype=np.uint64) for name, limbs in found.items()}


def _by_prime(key: KeySwitchKey) -> np.ndarray:
    """The words of a key, which has maybe fewer primes, with a row for every prime."""
    digits, _, _, n = key.data.shape
    words = np.zeros((digits, 2, key.base[-1] + 1, n), dtype=np.uint64)
    for row, prime in enumerate(key.base):
        words[:, :, prime] = key.data[:, :, row]
    return words


class Oracle(Device):
    """Interprets graphs."""

    name = "slow-oracle"
    capabilities = Capabilities()

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping,
        keys: Mapping,
    ) -> Work:
        """Interprets a graph."""
        return lambda _: GraphResult(interpreted(compiled, inputs, keys))


class OracleBackend(Backend):
    """An architecture without designs."""

    name = Oracle.name
    capabilities = Oracle.capabilities
    kinds = (Oracle.name,)

    def open(
        self,
        kind: str,
        design: Design | None,
        via: str = "ports",
    ) -> Oracle:
        """The interpreter."""
        return Oracle()


@dataclass(frozen=True)
class TallyDesign:
    """How many residues a cycle takes."""

    architecture: ClassVar[str] = "tally"

    name: str
    residues: int

    @property
    def n(self) -> int:
        """The largest ring."""
        return 1 << 12

    def __post_init__(self) -> None:
        if self.residues < 1:
            raise ParameterError(f"residues = {self.residues} is not positive: choose 1 or more")


@dataclass(frozen=True)
class TallyExecutable:
    """How many cycles each node takes."""

    design: TallyDesign
    spans: tuple[tuple[str, int], ...]

    seeded: ClassVar[frozenset[str]] = frozenset()
    host_transfers: ClassVar[int] = 0
    spilled_words: ClassVar[int] = 0

    @property
    def cycles(self) -> int:
        """All cycles."""
        return sum(cycles for _, cycles in self.spans)

    @property
    def instructions(self) -> int:
        """Nodes."""
        return len(self.spans)


class TallyDevice(Device):
    """Interprets graphs and counts."""

    name = "model"
    capabilities = Capabilities(designs=True, cycles=True)

    def __init__(self, design: TallyDesign) -> None:
        super().__init__()
        self.design = design

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping,
        keys: Mapping,
    ) -> Work:
        """Interprets a graph that was compiled for this design."""
        compiled.check_made_for(self.design, self.name)
        executable = cast("TallyExecutable", compiled.executable)
        cycles, nodes = executable.cycles, executable.instructions
        return lambda _: GraphResult(interpreted(compiled, inputs, keys), RunReport(cycles, nodes))


class TallyBackend(Backend):
    """An architecture with designs, one of them its own."""

    name = "tally"
    capabilities = TallyDevice.capabilities
    kinds = ("model",)
    field = "tally"
    file_record = TallyExecutable

    def designs(self) -> list[str]:
        """Its named design."""
        return ["abacus"]

    def load_design(self, name: str) -> TallyDesign:
        """``abacus``, or one of a file."""
        return TallyDesign(name, 1000) if name == "abacus" else load(name, self.name, TallyDesign)

    def limits(self, design: Design) -> ParameterLimits:
        """Everything up to 2^12."""
        return ParameterLimits(
            design=design.name, min_n=256, max_n=1 << 12, min_prime_bits=2, max_prime_bits=61
        )

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> TallyExecutable:
        """Counts."""
        point = cast("TallyDesign", design)
        spans = []
        for node in graph.nodes:
            cycles = -(-graph.n * len(node.type.base) // point.residues)
            origin = "" if node.origin is None else f"{node.origin.op}:{node.origin.node}"
            spans.append((origin, cycles))
        return TallyExecutable(point, tuple(spans))

    def explain(self, executable: Executable) -> Explanation:
        """Cycles by HE node."""
        cycles: Counter[int] = Counter()
        for origin, spent in executable.spans:
            cycles[int(origin.partition(":")[2] or 0)] += spent
        return Explanation(f"tallied on {executable.design.name}", dict(cycles))

    def open(self, kind: str, design: Design | None, via: str = "ports") -> TallyDevice:
        """The device."""
        return TallyDevice(cast("TallyDesign", design))

    def write(self, executable: Executable) -> TallyExecutable:
        """The executable itself is a record."""
        return cast("TallyExecutable", executable)

    def read(self, content: object, graph: SubroutineGraph) -> TallyExecutable:
        """The record, if it is the graph's."""
        found = cast("TallyExecutable", content)
        if found != self.compile(graph, found.design):
            raise ProgramError("the tally is not the graph's: compile it again")
        return found


ORACLE = OracleBackend()
TALLY = TallyBackend()
