"""A planned BFV program: exact, with a lower bound of the remaining noise budget."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ringsmith.graph.operations import Values
from ringsmith.params import BfvParameters
from ringsmith.program.evaluate import evaluate
from ringsmith.program.graph import Program
from ringsmith.program.listing import cost, table
from ringsmith.program.nodes import Node
from ringsmith.program.plain import Space
from ringsmith.schemes.bfv.forecast import NoiseForecast, forecast
from ringsmith.short_repr import short_repr


def space(n: int) -> Space:
    """Returns the slots of ring degree n: n numbers modulo t in two rows of n/2."""
    return Space(n, n // 2, exact=True)


@short_repr
@dataclass(frozen=True, eq=False)
class BfvProgram(Program):
    """An encrypted program on integers modulo t; made by ``trace``."""

    parameters: BfvParameters

    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, Values]:
        """Runs the program in the clear, modulo t: exactly what is decrypted.

        Args:
            inputs: A vector of integers for each input, at most as long as declared and padded
                with zeros.

        Returns:
            All N slots of each output, centred modulo t as ``ringsmith.client.decode`` gives them:
            -(t - 1)/2 … (t - 1)/2, int64.

        Raises:
            ProgramError: When an input is missing, unknown, too long or not of whole numbers.
        """
        t = self.parameters.plain_modulus
        found = evaluate(
            self.nodes, space(self.parameters.n), self.lengths, self._vectors(inputs), t
        )
        signed = {name: np.where(v > t // 2, v - t, v) for name, v in found.items()}
        return self._tensors({name: values.astype(np.int64) for name, values in signed.items()})

    def forecast(self) -> NoiseForecast:
        """Forecasts a lower bound of the noise budget of every value, in bits.

        The true budget is larger, by a few bits and some more for each product in a row. It is
        smaller with a negligible probability only, by the heuristics of docs/guide/programs.md.
        """
        return forecast(self.parameters, self.nodes)

    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, size and source."""
        return "\n".join([*self._heading(), *table(self.nodes, _HEADS, _columns)])

    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
    ) -> str:
        """Returns the listing with costs and the noise budget to expect, for people.

        Args:
            bounds: Ignored: noise does not depend on messages.
            cycles: Clock cycles by node id; ``ringsmith.explain`` computes them for a design.
        """
        found = self.forecast()

        def columns(node: Node) -> str:
            return f"{_columns(node)}  {found.budgets[node.id]:>6}"

        lines = self._heading(with_choice=True)
        lines.append(f"plain modulus t = {self.parameters.plain_modulus}")
        lines += table(self.nodes, f"{_HEADS}  budget", columns, cycles)
        lines += ["", cost(self.parameters, self.nodes, cycles), ""]
        lines.append(
            "noise budget: bits that are left at least, by the noise model of "
            "docs/guide/programs.md; "
            "with one or more, results are exact modulo t"
        )
        lines += [f"  {name}: {bits} bits" for name, bits in found.outputs.items()]
        return "\n".join(lines)


_HEADS = "limbs  size"


def _columns(node: Node) -> str:
    """A node's limbs and size."""
    return f"{node.limbs:>5}  {node.size:>4}"
