"""The HE graph as a whole: a planned program, readable and runnable in the clear."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.program.evaluate import evaluate
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
    """

    name: str
    parameters: CkksParameters
    nodes: tuple[Node, ...]
    lengths: Mapping[str, int]

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
        needs = self.key_needs
        lines = [
            f"program {self.name}: parameters {self.parameters.name}, "
            f"N = {self.parameters.n}, {self.parameters.limbs} data primes",
            f"keys: {_describe_keys(needs)}",
            f"{'node':>6}  {'operation':<34} limbs  scale    size  line",
        ]
        lines += [
            f"{'%' + str(node.id):>6}  {_expression(node):<34} {node.limbs:>5}  "
            f"2^{math.log2(node.scale):<6.2f} {node.size:>4}  {node.source}"
            for node in self.nodes
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def _describe_keys(needs: KeyNeeds) -> str:
    parts = [] if needs.relin is None else [f"relinearization at up to {needs.relin} limbs"]
    parts += [f"Galois element {e} at up to {limbs} limbs" for e, limbs in needs.galois.items()]
    return "; ".join(parts) or "none"


def _expression(node: Node) -> str:
    arguments = [f"%{i}" for i in node.operands]
    if node.name is not None:
        arguments.append(repr(node.name))
    if node.steps is not None:
        arguments.append(str(node.steps))
    if node.plain is not None:
        scalar = node.plain.values.ndim == 0
        what = f"{node.plain.values:.6g}" if scalar else "vector"
        arguments.append(f"{what} * 2^{math.log2(node.plain.scale):.2f}")
    return f"{node.op}({', '.join(arguments)})"
