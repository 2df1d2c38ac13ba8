"""The HE graph as a whole: a planned program, readable and runnable in the clear."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.program.listing import describe_keys
from ringsmith.program.nodes import Node, Op


@dataclass(frozen=True, eq=False)
class Program(ABC):
    """An encrypted program with everything planned; made by ``trace``.

    A scheme's own is a ``CkksProgram`` or a ``BfvProgram``.

    Attributes:
        name: Name of the traced function.
        parameters: The parameter set that it was planned for.
        nodes: The HE graph, operands before users.
        lengths: Numbers that each input holds, by name; the slots after them are zero.
        choice: Why the parameters are what they are, where they were chosen automatically.
    """

    name: str
    parameters: RlweParameters
    nodes: tuple[Node, ...]
    lengths: Mapping[str, int]
    choice: str = ""

    @property
    def inputs(self) -> dict[str, Node]:
        """The input nodes by name: at which limbs and scale to encrypt."""
        return {node.name or "": node for node in self.nodes if node.op is Op.INPUT}

    @property
    def outputs(self) -> dict[str, Node]:
        """The output nodes by name: at which limbs and scale results arrive."""
        return {node.name or "": node for node in self.nodes if node.op is Op.OUTPUT}

    @property
    def key_needs(self) -> KeyNeeds:
        """The evaluation keys that a run needs, each with the most limbs it is used at."""
        needs = KeyNeeds()
        for node in self.nodes:
            if node.op in (Op.RELINEARIZE, Op.RELINEARIZE_RESCALE):
                needs |= KeyNeeds(relin=self.nodes[node.operands[0]].limbs)
            elif node.element is not None:
                needs |= KeyNeeds(galois={node.element: node.limbs})
        return needs

    @abstractmethod
    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Runs the program in the clear: what the decrypted result is to be.

        Args:
            inputs: A vector for each input, at most as long as it was declared; zeros follow.

        Returns:
            All slots of each output.

        Raises:
            ProgramError: When an input is missing, unknown, too long or not of the scheme's
                numbers.
        """

    @abstractmethod
    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, size and source."""

    @abstractmethod
    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
    ) -> str:
        """Returns the listing with costs and a forecast, for people.

        Args:
            bounds: Bounds of the inputs' magnitudes, which a forecast of precision rests on; one of
                noise rests on none.
            cycles: Clock cycles by node id; ``ringsmith.explain`` finds them for a design.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """

    def _heading(self, *, with_choice: bool = False) -> list[str]:
        """The first lines of listings: name, parameters, why these, keys."""
        parameters = self.parameters
        lines = [
            f"program {self.name}: parameters {parameters.name}, "
            f"N = {parameters.n}, {parameters.limbs} data primes"
        ]
        if with_choice and self.choice:
            lines += ["parameters were chosen:", self.choice]
        return [*lines, f"keys: {describe_keys(self.key_needs)}"]

    def __str__(self) -> str:
        return self.describe()
