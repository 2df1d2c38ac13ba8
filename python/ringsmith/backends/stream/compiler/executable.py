"""A subroutine graph on a stream device: the host's work and the products, in turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ringsmith import _core
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.model.batch import batch_cycles
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.short_repr import short_repr


@dataclass(frozen=True)
class KeyPolynomial:
    """An operand that is a key's: digit and half of it, over the product's base."""

    key: str
    digit: int
    half: int


Factor = str | KeyPolynomial
"""An operand: the name of a value, or a polynomial of a key."""


@dataclass(frozen=True)
class Task:
    """A product of polynomials, which the device makes limb by limb.

    Attributes:
        result: Name of its value.
        a: The first operand.
        b: The second.
        base: Indices of the graph's primes that it is made modulo.
    """

    result: str
    a: Factor
    b: Factor
    base: tuple[int, ...]


@short_repr
@dataclass(frozen=True)
class Round:
    """What the host computes, and the products that it then hands over.

    Attributes:
        host: A graph whose inputs are values there already and whose outputs are new ones, all by
            name; None: the operands of the products are there.
        tasks: The products, in the order in which the device makes them; none in the last round.
    """

    host: SubroutineGraph | None
    tasks: tuple[Task, ...]

    @cached_property
    def core(self) -> _core.Graph | None:
        """The interpreter's copy of the host's graph."""
        return None if self.host is None else self.host.to_core()

    @property
    def products(self) -> int:
        """Residue polynomial products: one a limb."""
        return sum(len(task.base) for task in self.tasks)


@short_repr
@dataclass(frozen=True)
class StreamExecutable:
    """A graph cut into rounds for a design.

    Attributes:
        design: The design.
        rounds: What is done, in order.
        outputs: The graph's outputs -> names of their values.
    """

    design: StreamDesign
    rounds: tuple[Round, ...]
    outputs: Mapping[str, str]

    @property
    def products(self) -> int:
        """Residue polynomial products of all rounds."""
        return sum(each.products for each in self.rounds)

    @property
    def instructions(self) -> int:
        """Descriptors: one a product."""
        return self.products

    @property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """Not reported: products of several operations are made in one batch."""
        return ()

    @property
    def seeded(self) -> frozenset[str]:
        """No key: the host has whole ones."""
        return frozenset()

    @property
    def key_limbs(self) -> int:
        """Limbs of keys that are operands."""
        tasks = (task for each in self.rounds for task in each.tasks)
        return sum(len(task.base) for task in tasks if not isinstance(task.b, str))

    @property
    def host_transfers(self) -> int:
        """Limbs that cross: all operands that are no key's, and all products."""
        return 3 * self.products - self.key_limbs

    @property
    def spilled_words(self) -> int:
        """Words of these limbs."""
        return self.host_transfers * self.design.n

    @property
    def cycles(self) -> int:
        """Cycles of the device: each round's batch, from its first descriptor to its last word."""
        return sum(batch_cycles(self.design, each.products) for each in self.rounds)
