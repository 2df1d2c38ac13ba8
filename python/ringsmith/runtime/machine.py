"""What every machine does with a compiled subroutine graph, and the CPU, which interprets it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from ringsmith import _core
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.stream.design import StreamDesign
from ringsmith.backends.stream.executable import StreamExecutable
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.lower import SubroutineGraph
from ringsmith.objects import CompactKey, KeySwitchKey, Residues
from ringsmith.runtime.compile_cache import compile_cached
from ringsmith.runtime.prepared_keys import AnyKey


@dataclass(frozen=True)
class CompiledGraph:
    """A subroutine graph, and its executable for a design if it was compiled for one.

    ``executable`` is one for a design of architecture ``rpau``, ``stream`` one for a design of
    ``stream``; a graph for the CPU has neither.

    An executable is made for keys of one kind: of those that it says are ``seeded`` the device
    expands half 1. ``for_keys`` is the graph compiled for the keys that there are.
    """

    graph: SubroutineGraph
    executable: Executable | None
    stream: StreamExecutable | None = None
    _others: dict[frozenset[str], "CompiledGraph"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def design(self) -> RpauDesign | StreamDesign | None:
        """The design that the graph was compiled for."""
        compiled = self.executable or self.stream
        return None if compiled is None else compiled.design

    def check_made_for(self, design: RpauDesign | StreamDesign, device: str) -> None:
        """Refuses a device of another design than the graph was compiled for.

        Args:
            design: The device's design.
            device: The device's name: ``model`` or ``rtl``.

        Raises:
            DeviceError: If the graph was compiled for another design.
            ProgramError: If the graph was compiled for no design.
        """
        if self.design is None:
            raise ProgramError(
                f"the program was compiled for no design and this {device} device is a "
                f"{design.name}: compile it with design={design.name!r}, or run it on the cpu"
            )
        if self.design != design:
            raise DeviceError(
                f"the program was compiled for design {self.design.name} and this {device} device "
                f"is a {design.name}: compile for the device's design, or open another device"
            )

    @property
    def expands_keys(self) -> bool:
        """Whether the device expands half of a key: then make keys with seeds."""
        return self.executable is not None and bool(self.executable.seeded)

    def for_keys(self, keys: Mapping[str, KeySwitchKey]) -> "CompiledGraph":
        """This, or where a key that is to be expanded has no seed, the graph compiled anew.

        That is done once for each choice of keys with seeds.

        Raises:
            ProgramError: If the graph with more whole keys does not fit the design.
        """
        seeded = frozenset(name for name in self.graph.keys if keys[name].seed is not None)
        if self.executable is None or self.executable.seeded <= seeded:
            return self
        if seeded not in self._others:
            executable = compile_cached(self.graph, self.executable.design, seeded)
            self._others[seeded] = CompiledGraph(self.graph, executable)
        return self._others[seeded]

    @cached_property
    def core(self) -> _core.Graph:
        """The reference interpreter's copy of the graph."""
        return self.graph.to_core()


@dataclass(frozen=True)
class GraphResult:
    """What a run handed out.

    Attributes:
        outputs: Output name -> residues (limbs, N).
        cycles: Clock cycles from start to completion, data resident; None on the CPU. Of a stream
            device those of its batches.
        instructions: Instructions issued; None on the CPU. Of a stream device products.
        host_transfers: Limbs of N words, and seeds, that crossed to or from the host while the
            program was under way, because it did not fit on the device at once; the inputs that
            the first run takes and the outputs of the last are not counted. Of a stream device
            all operands that are no key's, and all products.
        spilled_words: Words of these transfers, those of keys apart.
        key_words: Words of keys that the host wrote, before the program or under way: N for a
            limb, five for a seed; 0 where all keys were on the device already.
    """

    outputs: dict[str, Residues]
    cycles: int | None = None
    instructions: int | None = None
    host_transfers: int = 0
    spilled_words: int = 0
    key_words: int = 0


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
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """Executes a graph.

        Args:
            compiled: The graph.
            inputs: Input name -> residues (limbs, N), canonical, checked by the caller.
            keys: Key name -> key-switching key, checked by the caller; compact and prepared ones
                are refused by all machines but the CPU.
        """
        ...


class Cpu:
    """The reference interpreter on this machine's CPU."""

    name = "cpu"

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """Interprets the graph; see ``Machine.execute``."""
        forms = {name: _for_core(key) for name, key in keys.items()}
        return GraphResult(compiled.core.run(dict(inputs), forms))


def _for_core(key: AnyKey) -> Residues | _core.CompactKey | _core.PreparedKey:
    if isinstance(key, CompactKey):
        return _core.CompactKey(key.half, key.seed)
    return key.data if isinstance(key, KeySwitchKey) else key
