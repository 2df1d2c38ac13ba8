"""Compiled graphs, executables and results of runs, as all architectures share them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ringsmith import _core
from ringsmith.backends.handles import Resident
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import Residues
from ringsmith.short_repr import short_repr

Output = TypeVar("Output")


class Design(Protocol):
    """A design point: a frozen dataclass with ``architecture`` as a class variable."""

    architecture: ClassVar[str]

    @property
    def name(self) -> str:
        """The design's name."""
        ...

    @property
    def n(self) -> int:
        """Degree N of the ring that it is built for."""
        ...


class Executable(Protocol):
    """A subroutine graph, compiled for a design."""

    @property
    def design(self) -> Design:
        """What it was compiled for."""
        ...

    @property
    def cycles(self) -> int:
        """Clock cycles from start to completion, data resident."""
        ...

    @property
    def host_transfers(self) -> int:
        """Limbs, and seeds, that cross to or from the host during a run; see ``RunReport``."""
        ...

    @property
    def spilled_words(self) -> int:
        """Words of these transfers, without those of keys."""
        ...

    @property
    def instructions(self) -> int:
        """Instructions, or what a device counts in their place."""
        ...

    @property
    def spans(self) -> Sequence[tuple[str, int]]:
        """HE operations and their clock cycles, in order: ``operation:node``; empty: none."""
        ...

    @property
    def seeded(self) -> frozenset[str]:
        """Keys whose a part the device expands from their seeds."""
        ...


@short_repr
@dataclass(frozen=True, eq=False)
class InputsOnDemand(Mapping[str, Residues]):
    """A graph's inputs by name; some are made whenever they are read.

    Attributes:
        given: Those that are there.
        made: The others, of the right shape and canonical; to be read one at a time, and not kept.
        shortened: Of these, the ones that are in memory, in NTT form and of shape (limbs, N / r):
            each word stands for r equal ones in a row.
    """

    given: dict[str, Residues]
    made: Mapping[str, Residues]
    shortened: Mapping[str, Residues] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Residues:
        return self.given[name] if name in self.given else self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.given or name in self.made

    def __iter__(self) -> Iterator[str]:
        yield from self.given
        yield from self.made

    def __len__(self) -> int:
        return len(self.given) + len(self.made)


@short_repr
@dataclass(eq=False)
class CompiledGraph:
    """A subroutine graph, and its executable for a design if it was compiled for one.

    An executable is made for one form of keys. The device expands the a parts of the keys that it
    lists as ``seeded``, and a run with keys that have no seeds is refused.
    """

    graph: SubroutineGraph
    executable: Executable | None = None

    @property
    def design(self) -> Design | None:
        """The design that the graph was compiled for."""
        return None if self.executable is None else self.executable.design

    def check_made_for(self, design: Design, device: str) -> None:
        """Refuses a device of another design than the graph was compiled for.

        Args:
            design: The device's design.
            device: What the device is called: ``model``, ``rtl``.

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

    @cached_property
    def core(self) -> _core.Graph:
        """The reference interpreter's copy of the graph."""
        return self.graph.to_core()


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do.

    Attributes:
        designs: It has designs, and programs are compiled for one; without, a device runs the
            subroutine graph itself.
        cycles: Its devices count clock cycles.
        any_keys: Its devices also accept keys expanded on the fly and precomputed keys. False:
            full keys only.
        fits: It makes a design for a graph if no design is named.
        scalars: Its devices take products with numbers and sums with them; False: a few only, so
            that programs write them as polynomials.
        checks_residues: Its devices refuse inputs, and words of keys that they read, that are not
            canonical, with ``ProgramError``: a run does not read them for that before.
    """

    designs: bool = False
    cycles: bool = False
    any_keys: bool = False
    fits: bool = False
    checks_residues: bool = False
    scalars: bool = True


@dataclass(frozen=True)
class Explanation:
    """What an executable costs, for people.

    Attributes:
        heading: Design and total, in words.
        by_node: Clock cycles by HE node, which together are the program's; None: not known.
    """

    heading: str
    by_node: Mapping[int, int] | None = None


@dataclass(frozen=True)
class RunReport:
    """What a run cost; 0, None or empty where a device does not count it.

    Attributes:
        cycles: Clock cycles from start to completion, data resident; None on the CPU. Of a stream
            device those of its batches.
        instructions: Instructions issued; None on the CPU. Of a stream device products.
        host_transfers: Limbs of N words, and seeds, moved to or from the host during the run; 0 if
            the program fits on the device. Inputs of the first segment and outputs of the last are
            not counted. Of a stream device all operands that are no key's, and all products.
        spilled_words: Words of these transfers, without those of keys.
        key_words: Words of keys that the host wrote for this run: N for a limb, five for a seed; 0
            if the device had them all.
        memory_read: Bytes that the device read from off-chip memory.
        memory_written: Bytes that it wrote there.
        busy: Parts of the device -> the share of the cycles in which they worked, 0 to 1.
        bytes_to_device: Bytes sent from the host to the device: inputs, and keys, tables, programs
            and lists that were not there; 0 on the CPU. A vector device counts inputs and keys
            only, and a stream device the factors of all products.
        bytes_to_host: Bytes sent back.
        input_bytes: Of ``bytes_to_device``, those of inputs: none of what lay on the device, but
            for what the host had to change or to copy.
        output_bytes: Of ``bytes_to_host``, those of outputs: none of what stays on the device, but
            for the same.
        bytes_streamed: Bytes between a card's memory and the coprocessor, both ways.
        stages: Parts of the run -> seconds of the host's clock.
    """

    cycles: int | None = None
    instructions: int | None = None
    host_transfers: int = 0
    spilled_words: int = 0
    key_words: int = 0
    memory_read: int = 0
    memory_written: int = 0
    busy: Mapping[str, float] = field(default_factory=dict)
    bytes_to_device: int = 0
    bytes_to_host: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    bytes_streamed: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def total(cls, reports: Iterable["RunReport"]) -> "RunReport":
        """Returns the sums of what several runs counted; shares and stages are left out."""
        found: dict[str, Any] = {}
        for report in reports:
            for name, value in report.counts().items():
                found[name] = found.get(name, 0) + value
        return cls(**found)

    def counts(self) -> dict[str, int]:
        """Returns what is counted, by name: neither shares nor stages, nor what is None."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}

    def numbers(self) -> dict[str, object]:
        """Returns all of it as JSON values, by name."""
        return vars(self) | {"busy": dict(self.busy), "stages": dict(self.stages)}


@short_repr
@dataclass(frozen=True)
class RunRecord(Generic[Output]):
    """The outputs of a run, and what it cost.

    Attributes:
        outputs: Output name -> residues (limbs, N), or a ciphertext.
        report: Cycles, transfers, bytes.
    """

    outputs: dict[str, Output]
    report: RunReport = RunReport()

    @property
    def cycles(self) -> int | None:
        """Clock cycles from start to completion, as in the report; None on the CPU."""
        return self.report.cycles


@short_repr
@dataclass(frozen=True)
class GraphResult(RunRecord[Residues]):
    """The residues and the report of a graph's run.

    Attributes:
        kept: Outputs that stay on the device, by name; they are not among ``outputs``.
    """

    kept: dict[str, Resident] = field(default_factory=dict)


@dataclass(frozen=True)
class OnDevice:
    """What of a run lies on the device before it, and stays there after it.

    Attributes:
        inputs: Inputs that lie there, by name; they are not among the run's other inputs.
        keep: Names of the outputs that stay there.
    """

    inputs: Mapping[str, Resident] = field(default_factory=dict)
    keep: Collection[str] = ()


NOTHING_ON_DEVICE = OnDevice()
