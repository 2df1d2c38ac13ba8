"""What a graph asks of the array, limb by limb, before anything has its place.

A **value** is one limb of a node of the graph, or something between. Tasks are in an order in which
each finds its operands there.
"""

from dataclasses import dataclass

from ringsmith.backends.vector.isa.instructions import Constant, Limb


@dataclass(eq=False, slots=True)
class Value:
    """A limb.

    Attributes:
        number: In the order of their naming.
        prime: Index of the prime that it is a residue modulo.
        memory: Its initial address in memory; None: it is computed.
    """

    number: int
    prime: int
    memory: Limb | None = None


@dataclass(frozen=True)
class Turn:
    """One limb of a transform: ``instructions.Entry`` without places."""

    prime: int
    source: Value
    target: Value
    reduce: bool = False


@dataclass(frozen=True)
class TransformTask:
    """Transforms of several limbs at once."""

    inverse: bool
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class ResultTask:
    """One result of a point task: ``instructions.Result`` without places."""

    prime: int
    y: Value | Limb | Constant
    z: Value | Constant | None
    subtract: bool
    target: Value


@dataclass(frozen=True)
class PointTask:
    """Pointwise results that share x."""

    x: Value
    results: tuple[ResultTask, ...]


@dataclass(frozen=True)
class AutomorphTask:
    """X -> X^element."""

    element: int
    source: Value
    target: Value


@dataclass(frozen=True)
class OutputTask:
    """A limb of an output."""

    source: Value
    limb: Limb


Action = TransformTask | PointTask | AutomorphTask | OutputTask


@dataclass(frozen=True)
class Step:
    """Where in a phase a task is.

    Attributes:
        phase: The phase.
        group: The group of primes.
        first: Whether it is of the group's first part, conversions and transforms. Those need
            nothing that the phase makes of other groups.
    """

    phase: int
    group: int
    first: bool


@dataclass(frozen=True)
class Task:
    """An action of a cluster.

    Attributes:
        cluster: Its number.
        action: What it does.
        origin: The HE node that it belongs to; -1: none.
        step: Where in a phase it is; None: before all groups of one.
    """

    cluster: int
    action: Action
    origin: int
    step: Step | None = None

    @property
    def reads(self) -> list[Value]:
        """Values that it needs, without those of keys."""
        action = self.action
        if isinstance(action, TransformTask):
            return [turn.source for turn in action.turns]
        if isinstance(action, PointTask):
            factors = (part for each in action.results for part in (each.y, each.z))
            return [action.x, *(part for part in factors if isinstance(part, Value))]
        return [action.source]

    @property
    def writes(self) -> list[Value]:
        """Values that it makes."""
        action = self.action
        if isinstance(action, TransformTask):
            return [turn.target for turn in action.turns]
        if isinstance(action, PointTask):
            return [each.target for each in action.results]
        return [action.target] if isinstance(action, AutomorphTask) else []
