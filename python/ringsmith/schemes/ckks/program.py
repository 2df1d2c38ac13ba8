"""A planned CKKS program: levels, scales, and the precision to expect."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ringsmith.graph.operations import Values
from ringsmith.params import CkksParameters
from ringsmith.program.evaluate import evaluate
from ringsmith.program.graph import Program
from ringsmith.program.listing import cost, table
from ringsmith.program.nodes import Node
from ringsmith.program.plain import Space
from ringsmith.schemes.ckks.forecast import (
    FAILURE,
    Forecast,
    OutputForecast,
    correct_bits,
    forecast,
)


def space(n: int) -> Space:
    """Returns the slots of ring degree n: n/2 real or complex numbers."""
    return Space(n // 2, n // 2, exact=False)


@dataclass(frozen=True, eq=False)
class CkksProgram(Program):
    """An encrypted program on real or complex numbers; made by ``trace``."""

    parameters: CkksParameters

    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, Values]:
        """Runs the program in the clear, on floats: what the decrypted result should be close to.

        Args:
            inputs: A vector for each input, at most as long as it was declared; zeros follow.

        Returns:
            All slots of each output: float64, or complex128 where a number is complex.

        Raises:
            ProgramError: When an input is missing, unknown, too long or not numeric.
        """
        given = self._vectors(inputs)
        return self._tensors(evaluate(self.nodes, space(self.parameters.n), self.lengths, given))

    def forecast(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        complex_numbers: bool = False,
        samples: Mapping[str, ArrayLike] | None = None,
        each_node: bool = True,
    ) -> Forecast:
        """Forecasts how far decrypted results will be from ``evaluate``'s, and those from exact.

        Args:
            bounds: Upper bounds of the magnitudes of the encrypted numbers: one number for all
                inputs; or for each input a number, or a vector with a bound for each number.
            complex_numbers: Whether the encrypted numbers are complex. Otherwise they are real, and
                polynomials of them err less.
            samples: For each input a vector of typical numbers, or an array (samples, numbers). The
                program is run on them in the clear. Then no value is taken to be larger than twice
                what they make of it, and the forecast is for inputs like these.
            each_node: Whether to forecast the error of every node, which takes longer.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude; when samples are not
                those of the inputs.
        """
        return forecast(
            self.parameters,
            self.nodes,
            self.lengths,
            bounds,
            output_lengths=self.output_lengths,
            complex_numbers=complex_numbers,
            samples=samples,
            each_node=each_node,
        )

    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, log2 of the scale, size and source."""
        return "\n".join([*self._heading(), *table(self.nodes, _HEADS, _columns)])

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
        found = self.forecast(bounds)

        def columns(node: Node) -> str:
            precision = f"{correct_bits(found.errors[node.id]):5.1f} bits"
            return f"{_columns(node)}  {precision:>9}"

        lines = self._heading(with_choice=True)
        lines += table(self.nodes, f"{_HEADS}  precision", columns, cycles)
        lines += ["", cost(self.parameters, self.nodes, cycles), "", *self._precision(found)]
        return "\n".join(lines)

    def _precision(self, found: Forecast) -> list[str]:
        lines = [
            "precision: bits after the point that noise leaves correct in every slot, but with a "
            f"probability of 2^{math.log2(FAILURE):.0f}, by the noise model of "
            "docs/guide/programs.md"
        ]
        lines += [_output(name, output) for name, output in found.outputs.items()]
        if any(output.approximation for output in found.outputs.values()):
            lines.append(
                "approximation: of functions by polynomials, in addition to noise; no parameters "
                "lower it, but a higher degree does"
            )
            lines += [
                f"  {name}: {correct_bits(output.approximation):.1f} bits (largest error "
                f"{output.approximation:.2g}; with noise {output.total:.2g})"
                for name, output in found.outputs.items()
                if output.approximation
            ]
            lines += [
                f"  {node.source}: its function is off by up to {node.approximation:.2g} there"
                for node in self.nodes
                if node.approximation
            ]
        if found.overflows:
            first = self.nodes[found.overflows[0]]
            lines.append(
                f"  warning: with inputs at their bounds, %{first.id} ({first.op}, {first.source}) "
                "may exceed its modulus, and then nothing above holds: give tighter bounds, scale "
                "the inputs down, or widen q_0"
            )
        return lines


_HEADS = "limbs  scale    size"


def _columns(node: Node) -> str:
    """A node's limbs, scale and size."""
    return f"{node.limbs:>5}  2^{math.log2(node.scale):<6.2f} {node.size:>4}"


def _output(name: str, output: OutputForecast) -> str:
    shares = ", ".join(f"{s:.0%} {kind}" for kind, s in output.shares.items() if s >= 0.005)
    return (
        f"  {name}: {output.bits:.1f} bits (largest error {output.error:.2g}, typically "
        f"{output.rms:.2g}, numbers to {output.bound:.3g}); in slot {output.slot}, the worst: "
        f"{shares}"
    )
