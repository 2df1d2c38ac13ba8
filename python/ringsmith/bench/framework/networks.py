"""The paper's networks (tables VI to VIII): what each takes, in HE operations and on designs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, cast

from ringsmith import runtime
from ringsmith.apps import cifar, mnist
from ringsmith.apps.cifar import PARAMETERS as CIFAR_SET
from ringsmith.apps.mnist import PARAMETERS as MNIST_SET
from ringsmith.apps.mnist import Order
from ringsmith.apps.report import Layer, layers
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.bench.framework.cases import DESIGNS, PAPER, parameters
from ringsmith.bench.papers import Fact, facts
from ringsmith.bench.records import Found
from ringsmith.lower import lower
from ringsmith.params import CkksParameters
from ringsmith.program import CkksProgram

NETWORK_DESIGNS: Final = (*DESIGNS, "vector-zu15eg")
"""Our designs for the paper's U280, and the one for its ACU15EG."""

PROGRAM: Final = "HE program"
"""Stands for the design where a number is the same on every design."""

EQUAL_COUNTS = 0.05
"""Share by which two numbers of operations differ at most whose networks' times are compared."""

EACH = "an operation"
"""What the time of an average operation of a network is marked with."""

_WORD = 4
"""Bytes of a residue of the networks' primes."""
_OPERATIONS_TEXT = "sums, products, squares, rotations, relinearizations and rescalings"
_SWITCHINGS_TEXT = "rotations and relinearizations, which switch keys"
_SIZE_TEXT = "different constants at the limbs that they are read at, a word of 32 bits each"
_SHARE_TEXT = "cycles from the issue of a layer's instructions to the next ones, over those of all"


@dataclass(frozen=True)
class Network:
    """A network of the paper's.

    Attributes:
        params: Its parameter set.
        layers: Names of its layers.
        plan: Plans its program.
        designs: What it is counted on.
    """

    params: str
    layers: Sequence[str]
    plan: Callable[[CkksParameters], CkksProgram]
    designs: tuple[str, ...] = NETWORK_DESIGNS


NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        "lola-mnist": Network(
            MNIST_SET,
            mnist.LAYERS,
            lambda of: mnist.plan(mnist.trained_network(), of, Order.DIAGONALS),
        ),
        "lola-mnist-rows": Network(
            MNIST_SET,
            mnist.LAYERS,
            lambda of: mnist.plan(mnist.trained_network(), of, Order.ROWS),
        ),
        "lola-cifar10": Network(
            CIFAR_SET,
            cifar.LAYERS,
            lambda of: cifar.plan(cifar.Network.random(), of),
            ("framework-512", "vector-zu15eg"),  # minutes each
        ),
    }
)
"""By the name of the operation in records; ``-rows``: dense layers row by row, as LoLa has them."""

NETWORK_SETS: Final = frozenset(network.params for network in NETWORKS.values())
"""Their parameter sets."""


class Planned:
    """A network's program, planned and lowered."""

    def __init__(self, name: str) -> None:
        """Plans one of ``NETWORKS``; the largest takes 1 GB of memory while it is there."""
        self._name, self._network = name, NETWORKS[name]
        self._program = self._network.plan(parameters(self._network.params))
        self._lowered = lower(self._program)

    def compiled(self, design: VectorDesign) -> VectorExecutable:
        """Returns the program compiled for a design."""
        executable = runtime.compile_graph(self._lowered.graph, design).executable
        return cast("VectorExecutable", executable)

    def counts(self) -> Iterator[Found]:
        """Returns what is the same on every design: operations by layer and of all, constants."""
        found = self._layers(None)
        for layer in found:
            yield from self._counted(f"{self._name}: {layer.name}", [layer])
        yield from self._counted(self._name, found)
        inputs, names = self._lowered.graph.inputs, self._lowered.plaintexts
        words = self._lowered.graph.n * sum(len(inputs[name].base) for name in names)
        size = self._found(self._name, "megabytes", _WORD * words / 1e6, _SIZE_TEXT)
        yield size

    def shares(self, executable: VectorExecutable) -> Iterator[Found]:
        """Returns each layer's share of a compiled program's cycles."""
        found = self._layers(executable)
        total = sum(layer.cycles or 0 for layer in found)
        for layer in found:
            share = 100 * (layer.cycles or 0) / total
            each = self._found(f"{self._name}: {layer.name}", "percent", share, _SHARE_TEXT)
            yield replace(each, design=executable.design.name, source="model")

    def _layers(self, executable: VectorExecutable | None) -> list[Layer]:
        return layers(self._network.layers, self._program, executable)

    def _counted(self, operation: str, found: Sequence[Layer]) -> Iterator[Found]:
        operations = sum(layer.operations for layer in found)
        switchings = sum(layer.key_switchings for layer in found)
        yield self._found(operation, "count", operations, _OPERATIONS_TEXT)
        yield self._found(operation, "key_switchings", switchings, _SWITCHINGS_TEXT)

    def _found(self, operation: str, metric: str, value: float, text: str) -> Found:
        return Found(PROGRAM, self._network.params, operation, metric, value, "program", text)


def each_operation(found: Sequence[Found], counts: Sequence[Found]) -> Found:
    """The time of an average operation: of a network's time, and its number of operations."""
    time = next(each for each in found if each.metric == "milliseconds")
    count = next(e for e in counts if (e.operation, e.metric) == (time.operation, "count"))
    return replace(
        time,
        operation=f"{time.operation}: {EACH}",
        metric="microseconds",
        value=1e3 * time.value / count.value,
        conditions=f"its time over its {count.value:,.0f} operations",
    )


def papers_each_operation() -> list[Fact]:
    """The same of the paper's networks; its smaller card runs the same operations."""
    own = [fact for fact in facts(PAPER) if not fact.peer and fact.operation in NETWORKS]
    counts = {fact.operation: fact.value for fact in own if fact.metric == "count"}
    return [
        replace(
            fact,
            operation=f"{fact.operation}: {EACH}",
            metric="microseconds",
            value=float(f"{1e3 * fact.value / counts[fact.operation]:.3g}"),
        )
        for fact in own
        if fact.metric == "milliseconds"
    ]
