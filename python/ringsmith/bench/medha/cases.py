"""What is measured: designs, the parameter sets that they run, and HE operations as graphs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
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
        rpaus: RPAUs, where they are fewer than the design's; None: the design's.
    """

    design: str
    params: str
    papers: tuple[str, ...]
    rpaus: int | None = None

    @property
    def hardware(self) -> RpauDesign:
        """The design, with as many RPAUs as the case says."""
        design = load_design(self.design)
        if self.rpaus is None:
            return design
        return replace(design, name=f"{design.name}, {self.rpaus} RPAUs", rpaus=self.rpaus)


CASES = (
    Case("medha", "medha-set1", (MEDHA,)),
    Case("medha", "medha-set1", PAPERS, rpaus=8),  # as many as primes, and as the paper of 2021 has
    Case("medha", "medha-set2", (MEDHA,)),
    Case("medha21-set1", "medha21-set1", (MEDHA_2021,)),
    Case("medha21-set2", "medha21-set2", (MEDHA_2021,)),
    Case("medha21-set3", "medha21-set3", (MEDHA_2021,)),
)


OPERATIONS = (
    "add",
    "multiply_relinearize",
    "multiply_relinearize_rescale",
    "rescale",
    "rotate",
)
"""HE operations, each a program of its own, as ``lower_operation`` knows them. The one that
relinearizes and rescales divides once, and has its own bits."""

IN_TURN = "multiply_relinearize_then_rescale"
"""Two of ``OPERATIONS`` one after the other, each with its own division, as in the papers."""


def graph_of(operation: str, parameters: CkksParameters) -> SubroutineGraph:
    """The graph of one of ``OPERATIONS`` at all limbs."""
    return lower_operation(operation, parameters, parameters.limbs)


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
