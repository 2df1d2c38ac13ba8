"""A planned BFV program: exact, with a lower bound of the remaining noise budget."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.graph.operations import Op
from ringsmith.params import BfvParameters
from ringsmith.program.graph import Program
from ringsmith.program.listing import by_line, cost, table
from ringsmith.program.nodes import Node
from ringsmith.program.overflow import (
    DEFAULT_BOUND,
    RangeError,
    check_outputs,
    input_spans,
)
from ringsmith.program.packing import Port
from ringsmith.program.plain import Space
from ringsmith.program.spans import magnitudes
from ringsmith.schemes.bfv.forecast import NoiseForecast, forecast
from ringsmith.short_repr import short_repr


def space(n: int) -> Space:
    """Returns the slots of ring degree n: n numbers modulo t in two rows of n/2."""
    return Space(n, n // 2, exact=True)


@short_repr
@dataclass(frozen=True, eq=False)
class BfvProgram(Program):
    """An encrypted program on integers; made by ``trace``."""

    parameters: BfvParameters

    @property
    def _space(self) -> Space:
        return space(self.parameters.n)

    @property
    def _modulus(self) -> int:
        return self.parameters.plain_modulus

    @property
    def _largest_bound(self) -> float:
        return self.parameters.plain_modulus // 2

    def _shown(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return values.astype(np.int64)

    def check_ranges(self, bound: float = DEFAULT_BOUND) -> None:
        """Refuses a program whose results may leave the integers that t holds.

        Between results, integers may leave them: computing modulo t is exact.

        Args:
            bound: The magnitude of inputs without a declared range.

        Raises:
            RangeError: Names the user's line.
            ConstantOutputError: When an output is the same for all inputs.
        """
        given = input_spans(self.nodes, self.filled, (), bound)
        found, constant = magnitudes(self.nodes, self._space, given, self.output_lengths)
        check_outputs(self.nodes, constant)
        limit = self.parameters.plain_modulus // 2
        if limit > 1 << 40:  # ranges are in double precision: the last integers are left out
            limit = int(limit * (1 - 2.0**-40))
        if self.unchecked:
            return
        for node in self.nodes:
            if node.op is Op.OUTPUT and found[node.id] > limit:
                first = next(each for each in self.nodes if found[each.id] > limit)
                raise RangeError(
                    f"{first.source}: output {node.name!r} may reach {found[node.id]:.6g} for "
                    f"inputs in their ranges, and t = {self.parameters.plain_modulus} holds "
                    f"integers up to {limit}: declare tighter ranges (InputSpec(bound=…)), take a "
                    "greater t (AutoBfvParameters finds one), or allow_overflow=True if results "
                    "are meant modulo t",
                    float(np.log2(found[node.id] / limit)),
                )

    def forecast(self) -> NoiseForecast:
        """Forecasts a lower bound of the noise budget of every value, in bits.

        The true budget is larger, by a few bits and some more for each product in a row. It is
        smaller with a negligible probability only, by the heuristics of docs/guide/programs.md.
        """
        return forecast(self.parameters, self.nodes)

    def _with_noise(self, ports: Mapping[str, Port]) -> dict[str, Port]:
        budgets = self.forecast().outputs
        return {name: replace(port, budget=budgets[name]) for name, port in ports.items()}

    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, size and source."""
        return "\n".join([*self._heading(), *table(self.nodes, _HEADS, _columns)])

    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
        lines: bool = False,
    ) -> str:
        """Returns the listing with costs and the noise budget to expect, for people.

        Args:
            bounds: Ignored: noise does not depend on messages.
            cycles: Clock cycles by node id; ``ringsmith.explain`` computes them for a design.
            lines: Whether the listing has a row for each line of the user's, not for each node.
        """
        found = self.forecast()

        def budget(node: Node) -> str:
            return f"{found.budgets[node.id]:>6}"

        def columns(node: Node) -> str:
            return f"{_columns(node)}  {budget(node)}"

        listed = (
            by_line(self.nodes, "budget", budget, cycles)
            if lines
            else table(self.nodes, f"{_HEADS}  budget", columns, cycles)
        )
        return "\n".join(
            [
                *self._heading(with_choice=True),
                f"plain modulus t = {self.parameters.plain_modulus}",
                *listed,
                "",
                cost(self.parameters, self.nodes, self.sharing, cycles),
                "",
                "noise budget: bits that are left at least, by the noise model of "
                "docs/guide/programs.md; with one or more, results are exact modulo t",
                *(f"  {name}: {bits} bits" for name, bits in found.outputs.items()),
            ]
        )


_HEADS = "limbs  size"


def _columns(node: Node) -> str:
    """A node's limbs and size."""
    return f"{node.limbs:>5}  {node.size:>4}"
