"""What is measured: designs, the parameter sets that they run, and HE operations as graphs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ringsmith.lower import RELIN_KEY, SubroutineGraph, lower_operation
from ringsmith.lower.operations import CkksWriter
from ringsmith.params import CkksParameters

MEDHA, MEDHA_2021 = "medha", "medha-2021"
PAPERS = (MEDHA, MEDHA_2021)


@dataclass(frozen=True)
class Case:
    """A design with a parameter set.

    Attributes:
        design: The design's name.
        params: The parameter set's name.
        papers: Whose numbers stand beside.
    """

    design: str
    params: str
    papers: tuple[str, ...]


CASES = (
    Case("medha", "medha-set1", PAPERS),
    Case("medha", "medha-set2", (MEDHA,)),
    Case("medha21-set1", "medha21-set1", (MEDHA_2021,)),
    Case("medha21-set2", "medha21-set2", (MEDHA_2021,)),
    Case("medha21-set3", "medha21-set3", (MEDHA_2021,)),
)


def graph_of(operation: str, parameters: CkksParameters) -> SubroutineGraph:
    """The graph of one of ``OPERATIONS`` at all limbs."""
    return OPERATIONS[operation](parameters)


def _multiply(parameters: CkksParameters, relinearize: str) -> SubroutineGraph:
    """Tensor product and relinearization in one program."""
    limbs = parameters.limbs
    graph = SubroutineGraph.for_parameters(parameters, {RELIN_KEY: limbs})
    writer = CkksWriter(graph, parameters)
    product = writer.multiply(writer.input("x", 2, limbs), writer.input("y", 2, limbs))
    writer.output(getattr(writer, relinearize)(product), "z")
    return graph


def _one(name: str) -> Callable[[CkksParameters], SubroutineGraph]:
    return lambda parameters: lower_operation(name, parameters, parameters.limbs)


OPERATIONS: Mapping[str, Callable[[CkksParameters], SubroutineGraph]] = MappingProxyType(
    {
        "add": _one("add"),
        "multiply_relinearize": lambda parameters: _multiply(parameters, "relinearize"),
        "multiply_relinearize_rescale": lambda parameters: _multiply(
            parameters, "relinearize_rescale"
        ),
        "rescale": _one("rescale"),
        "rotate": _one("rotate"),
    }
)
"""HE operations, each a program of its own. The fused one divides once, and has its own bits."""

INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "ntt": "ntt",
        "intt": "intt",
        "broadcast": "broadcast",
        "scale": "affine",
        "pointwise_main": "mac",
        "pointwise_dyadic": "dmac",
        "split": "split",
        "join": "join",
        "automorph": "automorph",
    }
)
"""The papers' instructions -> ours; those that a design does not have are left out."""
