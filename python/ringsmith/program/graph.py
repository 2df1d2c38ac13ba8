"""The HE graph as a whole: a planned program, readable and runnable in the clear."""

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.program.evaluate import evaluate
from ringsmith.program.explain import describe_keys, describe_node, explain
from ringsmith.program.forecast import Forecast, forecast
from ringsmith.program.nodes import Node, Op
from ringsmith.program.plain import PlainValues


@dataclass(frozen=True, eq=False)
class Program:
    """An encrypted program with everything planned; made by ``trace``.

    Attributes:
        name: Name of the traced function.
        parameters: The parameter set that it was planned for.
        nodes: The HE graph, operands before users.
        lengths: Numbers that each input holds, by name; the slots after them are zero.
        choice: Why the parameters are what they are, where they were chosen automatically.
    """

    name: str
    parameters: CkksParameters
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
            if node.op is Op.RELINEARIZE:
                needs |= KeyNeeds(relin=node.limbs)
            elif node.element is not None:
                needs |= KeyNeeds(galois={node.element: node.limbs})
        return needs

    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, PlainValues]:
        """Runs the program in the clear, on floats: what the decrypted result should be close to.

        Args:
            inputs: A vector for each input, at most as long as it was declared; zeros follow.

        Returns:
            All slots of each output: float64, or complex128 where a number is complex.

        Raises:
            ProgramError: When an input is missing, unknown, too long or not numeric.
        """
        return evaluate(self.nodes, self.parameters.slots, self.lengths, inputs)

    def forecast(self, bounds: Mapping[str, ArrayLike] | float = 1.0) -> Forecast:
        """Forecasts how far decrypted results will be from ``evaluate``'s.

        Args:
            bounds: What the magnitudes of the encrypted numbers stay within: one number for all
                inputs; or for each input a number, or a vector with a bound for each of its
                numbers.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """
        return forecast(self.parameters, self.nodes, self.lengths, bounds)

    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, log2 of the scale, size and source."""
        lines = [
            self._title(),
            f"keys: {describe_keys(self.key_needs)}",
            f"{'node':>6}  {'operation':<34} limbs  scale    size  line",
        ]
        lines += [f"{describe_node(node)}  {node.source}" for node in self.nodes]
        return "\n".join(lines)

    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
    ) -> str:
        """Returns the listing with costs and the precision to expect, for people.

        Args:
            bounds: Bounds of the inputs' magnitudes, as for ``forecast``.
            cycles: Clock cycles by node id; ``ringsmith.explain`` finds them for a design.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """
        title = self._title() + (f"\nparameters were chosen:\n{self.choice}" if self.choice else "")
        forecast = self.forecast(bounds)
        return explain(title, self.parameters, self.nodes, self.key_needs, forecast, cycles)

    def _title(self) -> str:
        return (
            f"program {self.name}: parameters {self.parameters.name}, "
            f"N = {self.parameters.n}, {self.parameters.limbs} data primes"
        )

    def __str__(self) -> str:
        return self.describe()
