"""Planning: the walk over a trace that both schemes share, and how inputs arrive."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ringsmith.graph.operations import Op
from ringsmith.program.emitter import Emitter
from ringsmith.program.nodes import Node
from ringsmith.program.recorder import TraceNode


@dataclass(frozen=True)
class InputSpec:
    """How an input arrives.

    Attributes:
        length: The shape of an array, a tuple (``EncryptedArray``). Or the numbers of a vector of
            slots, which zeros follow; None: it is all slots (``EncryptedVector``).
        limbs: Data primes that it is encrypted over; None: all. In BFV always all.
        scale: Scale that it is encrypted at; None: the ladder's at its limbs. CKKS only.
        bound: The range of its numbers, as for ``bounded``: encryption refuses others. None: CKKS
            plans for [-1, 1]. Encryption accepts larger ones as far as no result can overflow.
        complex_numbers: Whether its numbers may be complex. CKKS only.
    """

    length: int | tuple[int, ...] | None = None
    limbs: int | None = None
    scale: float | None = None
    bound: object = None
    complex_numbers: bool = False


@dataclass(frozen=True)
class Cipher:
    """A planned ciphertext.

    Attributes:
        node: Its node.
        pending: Whether it is a product, or a sum of products, that still lacks what is done to a
            product once: relinearization, and in CKKS rescaling.
    """

    node: int
    pending: bool = False


V = TypeVar("V")
"""What a scheme's planner keeps of a value: a ``Cipher``, or more."""


class Planner(ABC, Generic[V]):
    """Plans the nodes of one trace.

    Args:
        emitter: Writes the nodes.
        trace: The traced nodes, operands before users.
    """

    def __init__(self, emitter: Emitter, trace: Sequence[TraceNode]) -> None:
        self._nodes_of = emitter
        self._trace = trace

    def plan(
        self, inputs: Mapping[str, InputSpec], outputs: Mapping[str, int], used: Sequence[int]
    ) -> tuple[Node, ...]:
        """Returns the planned nodes.

        Args:
            inputs: How each input arrives.
            outputs: Traced nodes of the outputs, by name.
            used: The traced nodes that the outputs depend on, ascending.

        Raises:
            ProgramError: When the modulus does not suffice; names the user's line.
        """
        emitter = self._nodes_of
        values = self._planned(inputs, {}, outputs.values(), used)
        for name, index in outputs.items():
            emitter.source = self._trace[index].source
            emitter.output(self._ready(values[index]), name)
        return tuple(emitter.nodes)

    def _planned(
        self,
        inputs: Mapping[str, InputSpec],
        given: Mapping[int, V],
        outputs: Iterable[int],
        used: Sequence[int],
    ) -> dict[int, V]:
        """Plans the traced nodes; returns their values.

        Args:
            inputs: How each input arrives.
            given: The values of nodes that are planned already.
            outputs: Traced nodes that are used after these.
            used: The traced nodes that these depend on, ascending.
        """
        uses = Counter(i for index in used for i in self._trace[index].operands)
        uses.update(outputs)
        values: dict[int, V] = dict(given)
        for index in used:
            if index in given:
                continue
            node = self._trace[index]
            self._nodes_of.source, self._nodes_of.stage = node.source, node.stage
            if node.op is Op.INPUT and node.name is not None:
                value = self._input(node.name, inputs[node.name])
            else:
                value = self._operation(node, [values[i] for i in node.operands])
            if node.bound is not None or node.approximation:
                value = self._annotated(value, node)
            values[index] = value if uses[index] == 1 else self._settled(value)
        return values

    @abstractmethod
    def _input(self, name: str, spec: InputSpec) -> V:
        """Plans an input."""

    @abstractmethod
    def _operation(self, node: TraceNode, operands: list[V]) -> V:
        """Plans any other operation."""

    def _annotated(self, value: V, node: TraceNode) -> V:
        """Records a range or an approximation of a value, also of a product that is not rescaled.

        A value that has no node yet gets one, unless the range follows from the inputs' alone.
        """
        if not isinstance(value, Cipher):
            if not node.approximation and (node.bound is None or node.bound.computed):
                return value
            value = self._settled(value)
        assert isinstance(value, Cipher), "it is settled"
        self._nodes_of.annotate(value.node, node.bound, node.approximation, node.approximated)
        return value

    @abstractmethod
    def _settled(self, value: V) -> V:
        """Returns a value that several users can share, with nothing left to be done to it."""

    @abstractmethod
    def _ready(self, value: V) -> int:
        """Returns the value's node, of two polynomials, with nothing left to be done to it."""


def multiplicative_depth(trace: Sequence[TraceNode], used: Iterable[int]) -> int:
    """Returns the most multiplications that follow one another: as many levels or more are needed.

    Products with plain operands that follow one another directly count once: they are planned as
    one, and so is a negative between them; but not where one's range is promised. After a
    bootstrapping, levels are counted anew.

    Args:
        trace: The traced nodes, operands before users.
        used: Indices of the nodes that count, ascending, each with all it depends on.
    """
    depths: dict[int, int] = {}
    plain: set[int] = set()  # products with plain operands, and negatives of them
    for index in used:
        node = trace[index]
        before = max((depths[i] for i in node.operands), default=0)
        again = bool(node.operands) and node.operands[0] in plain
        folds = node.op is Op.MULTIPLY_PLAIN or (node.op is Op.NEGATE and again)
        if folds and node.bound is None and not node.approximation:
            plain.add(index)
        counts = node.op is Op.MULTIPLY or (node.op is Op.MULTIPLY_PLAIN and not again)
        depths[index] = 0 if node.op is Op.BOOTSTRAP else before + counts
    return max(depths.values(), default=0)
