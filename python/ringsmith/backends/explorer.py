"""The interface for design-space exploration: design points of a platform, and their costs.

A **point** gives each of an architecture's parameters a value. The search does not know the meaning
of parameters. It asks which points exist, whether a point is a design, which resources it needs,
and how long operations take on it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ringsmith.backends.types import Design
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.platforms import RESOURCES, Platform
from ringsmith.short_repr import short_repr

Value = int | str
Point = Mapping[str, Value]

ULTRASCALE_PLUS = "xcup"
"""The FPGA family for which most areas are known."""

FILL = 0.8
"""Share of a platform's resources up to which a design fits."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of design points.

    Attributes:
        name: Its name.
        values: Its values, cheapest first.
        doubling: The values of the doubling search.
    """

    name: str
    values: tuple[Value, ...]
    doubling: tuple[Value, ...]


@dataclass(frozen=True)
class Usage:
    """The FPGA resources of a design.

    Attributes:
        luts: LUTs, an estimate.
        flip_flops: Flip-flops, an estimate.
        dsps: DSP slices.
        brams: Block RAMs of 36 Kbit.
        urams: UltraRAMs.
    """

    luts: int
    flip_flops: int
    dsps: int
    brams: float
    urams: int

    @property
    def megabits(self) -> float:
        """The capacity of its RAMs, in 2^20 bits."""
        return (self.brams * 36 + self.urams * 288) / 1024


@short_repr
@dataclass(frozen=True)
class OperationCost:
    """The cost of an operation on a design.

    Attributes:
        cycles: Clock cycles from its start to its last result.
        milliseconds: Its time; includes the host's work, if any.
        exact: Whether the cycles are the model's, and not an estimate.
        bounds: Possible bottleneck -> the cycles that it takes alone: ``compute``,
            ``permutation``, ``memory`` (operands, keys, results), ``capacity`` (transfers of data
            that do not fit on the device), ``host``.
        parts: Subroutine -> cycles.
        moved: Bytes that memory or host link transfer.
    """

    cycles: int
    milliseconds: float
    exact: bool
    bounds: Mapping[str, int]
    parts: Mapping[str, int]
    moved: int

    @property
    def binds(self) -> str:
        """The bottleneck: the bound with most cycles; ``waiting`` if none takes half of all cycles.

        Memory includes the transfers of capacity. If these exceed operands, keys and results, the
        bottleneck is capacity.
        """
        bounds = dict(self.bounds)
        memory, capacity = bounds.get("memory", 0), bounds.pop("capacity", 0)
        bounds["memory"] = memory + capacity
        name = max(bounds, key=lambda each: bounds[each])
        if 2 * bounds[name] < self.cycles:
            return "waiting"
        return "capacity" if name == "memory" and capacity > memory else name


@dataclass(frozen=True)
class Bar:
    """An activity of a part of a device.

    Attributes:
        lane: The part.
        name: The activity.
        begin: First cycle.
        end: First cycle after it.
    """

    lane: str
    name: str
    begin: int
    end: int


@short_repr
@dataclass(frozen=True)
class Task:
    """The task of an exploration.

    Attributes:
        graphs: Operation -> its subroutine graph, all of one parameter set.
        platform: The card.
        platform_name: Its name, or the path of its file.
        megahertz: The clock, assumed.
        host_milliseconds: Operation -> measured time of the host for everything except products;
            for architectures whose host does the rest.
    """

    graphs: Mapping[str, SubroutineGraph] = field(repr=False)
    platform: Platform
    platform_name: str
    megahertz: float
    host_milliseconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def any_graph(self) -> SubroutineGraph:
        """One of the graphs: ring and primes are the same in all."""
        return next(iter(self.graphs.values()))

    @property
    def log_n(self) -> int:
        """log2 of the ring degree."""
        return self.any_graph.n.bit_length() - 1

    @property
    def primes(self) -> tuple[int, ...]:
        """All primes."""
        return tuple(self.any_graph.primes)

    @property
    def prime_bits(self) -> int:
        """Bits of the widest prime."""
        return max(prime.bit_length() for prime in self.primes)

    def milliseconds(self, cycles: float) -> float:
        """Time of cycles."""
        return cycles / self.megahertz / 1e3


class Explorer(ABC):
    """How an architecture is explored."""

    architecture: ClassVar[str]

    families: ClassVar[tuple[str, ...]] = (ULTRASCALE_PLUS,)
    """Families that its areas are known for; on another one they are lower bounds."""

    megahertz: ClassVar[float]
    """The clock that is assumed where none is given."""

    @abstractmethod
    def space(self, task: Task) -> tuple[Parameter, ...]:
        """The parameters of its points.

        Raises:
            ParameterError: If no design of the architecture can do the task; says why.
        """

    @abstractmethod
    def design(self, point: Point, task: Task) -> Design:
        """The design at a point.

        Raises:
            ParameterError: If it is not valid; says why.
        """

    @abstractmethod
    def usage(self, design: Design) -> Usage:
        """Returns all resources of a design."""

    def excess(self, design: Design, task: Task) -> tuple[str, ...]:
        """Returns the exceeded resources, the scarcest first; empty if the design fits.

        Each text gives the needed and the available amount.
        """
        return whole_excess(self.usage(design), task.platform)

    @abstractmethod
    def gigabytes_per_second(self, design: Design, task: Task) -> float:
        """Returns the peak rate of the design's ports to memory or host, both ways together."""

    @abstractmethod
    def cost(self, design: Design, operation: str, task: Task) -> OperationCost:
        """Returns the cost of an operation, by a cost function.

        Raises:
            ProgramError: If the design cannot do it; says why.
        """

    @abstractmethod
    def exact(self, design: Design, operation: str, task: Task) -> OperationCost:
        """The same, with the model's cycles."""

    @abstractmethod
    def timeline(self, design: Design, operation: str, task: Task) -> Iterator[Bar]:
        """An operation in time."""

    def with_host(self, graph: SubroutineGraph) -> float | None:
        """Measures the milliseconds of a host; None: the architecture needs none."""
        return None


def whole_excess(usage: Usage, platform: Platform) -> tuple[str, ...]:
    """Returns the resources that exceed ``FILL`` of a whole platform, the scarcest first."""
    whole, found = platform.whole, []
    for name, of in RESOURCES.items():
        taken, there = getattr(usage, of), getattr(whole, of)
        most = FILL * there - getattr(platform.reserved, of)
        if taken > most:
            text = f"{name}: {taken:,.0f} of {there:,.0f}, and a design may take {most:,.0f}"
            found.append((taken / most if most > 0 else float("inf"), text))
    return tuple(text for _, text in sorted(found, key=lambda each: -each[0]))


def refuse_conversions(graph: SubroutineGraph, architecture: str) -> None:
    """Refuses BFV's products, rotations and keys without special primes.

    Raises:
        ParameterError: If a graph has them.
    """
    found = next((each.op for each in graph.nodes if each.op in ("lift", "scale")), None)
    if found is not None:
        raise ParameterError(
            f"{architecture} is explored without {found}, which BFV's products need: explore CKKS, "
            "or name another architecture"
        )
