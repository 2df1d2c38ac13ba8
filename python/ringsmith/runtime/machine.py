"""What every machine does with a compiled subroutine graph, and the CPU, which interprets it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ringsmith import _core
from ringsmith.arch.rpau.executable import Executable
from ringsmith.lower import SubroutineGraph
from ringsmith.objects import Residues


@dataclass(frozen=True)
class CompiledGraph:
    """A subroutine graph, and its executable for a design if it was compiled for one."""

    graph: SubroutineGraph
    executable: Executable | None

    @cached_property
    def core(self) -> _core.Graph:
        """The reference interpreter's copy of the graph."""
        return self.graph.to_core()


@dataclass(frozen=True)
class GraphResult:
    """What a run handed out.

    Attributes:
        outputs: Output name -> residues (limbs, N).
        cycles: Clock cycles from start to completion, data resident; None on the CPU.
        instructions: Instructions issued; None on the CPU.
        host_transfers: Limbs of N words that crossed to or from the host while the program was
            under way, because it did not fit on the device at once; the inputs that the first run
            takes and the outputs of the last are not counted.
    """

    outputs: dict[str, Residues]
    cycles: int | None = None
    instructions: int | None = None
    host_transfers: int = 0


class Machine(Protocol):
    """Whatever can execute a compiled graph."""

    @property
    def name(self) -> str:
        """``cpu``, ``model`` or ``rtl``."""
        ...

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, Residues],
    ) -> GraphResult:
        """Executes a graph.

        Args:
            compiled: The graph.
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller.
            keys: Key name -> key-switching key (digits, 2, K, N), checked by the caller.
        """
        ...


class Cpu:
    """The reference interpreter on this machine's CPU."""

    name = "cpu"

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, Residues],
    ) -> GraphResult:
        """Interprets the graph; see ``Machine.execute``."""
        return GraphResult(compiled.core.run(dict(inputs), dict(keys)))
