"""The noise forecast: a lower bound of the remaining noise budget of every value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.graph.operations import Noise, Op
from ringsmith.params import BfvParameters
from ringsmith.params.context import bfv_context
from ringsmith.program.nodes import Node, Plain
from ringsmith.schemes.bfv import noise
from ringsmith.schemes.bfv.norms import Norms, add
from ringsmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class NoiseForecast:
    """The forecast of a program; all bits are as Microsoft SEAL counts noise budget.

    Attributes:
        outputs: Bits that each output has left, by name.
        budgets: Bits that each node has left, by id.
        errors: log2 of the bounds of each output's error, by name.
    """

    outputs: Mapping[str, int]
    budgets: Sequence[int]
    errors: Mapping[str, Norms]

    @property
    def bits(self) -> int:
        """The smallest remaining budget of all outputs, in bits."""
        return min(self.outputs.values())


class NoiseWalk:
    """Computes the errors of nodes, in the order in which they are added.

    Attributes:
        errors: The error of each node, by id.
    """

    def __init__(self, parameters: BfvParameters) -> None:
        self._parameters = parameters
        self._polynomials: dict[tuple[tuple[int, ...], bytes], NDArray[np.int64]] = {}
        self.errors: list[Norms] = []
        self._limbs: list[int] = []

    def append(self, node: Node) -> int:
        """Adds a node, and returns the remaining budget of its result in bits."""
        self.errors.append(self._error(node, [self.errors[i] for i in node.operands]))
        self._limbs.append(node.limbs)
        return noise.budget(self._parameters, node.limbs, self.errors[-1])

    def _error(self, node: Node, operands: list[Norms]) -> Norms:
        parameters, limbs = self._parameters, node.limbs
        effect = node.op.record.noise
        if effect is Noise.FRESH:
            return noise.encryption(parameters, limbs)
        a, b = operands[0], operands[-1]
        match effect:
            case Noise.SUM if node.plain is not None:
                constant = node.plain.values.ndim == 0
                return noise.add_plain(parameters, a, constant=constant)
            case Noise.SUM:
                return add(a, b)
            case Noise.PRODUCT if node.plain is not None:
                return noise.multiply_plain(parameters, a, self._polynomial(node.plain))
            case Noise.PRODUCT:
                return noise.product(parameters, limbs, a, b)
            case Noise.KEY:
                return add(a, noise.key_switching(parameters, limbs))
            case Noise.SWITCH:
                before = self._limbs[node.operands[0]]
                return noise.mod_switch(parameters, a, node.size, before, limbs)
            case _:
                return a

    def _polynomial(self, plain: Plain) -> NDArray[np.int64]:
        """The polynomial of a plain operand; a number's is that number alone."""
        values = plain.values.astype(np.int64)
        if values.ndim == 0:
            return np.atleast_1d(values)
        key = (values.shape, values.tobytes())
        if key not in self._polynomials:
            self._polynomials[key] = _batched_polynomial(self._parameters, values)
        return self._polynomials[key]


def forecast(parameters: BfvParameters, nodes: Sequence[Node]) -> NoiseForecast:
    """Forecasts planned nodes; ``BfvProgram.forecast`` describes the result."""
    walk = NoiseWalk(parameters)
    budgets = [walk.append(node) for node in nodes]
    ids = {node.name or "": node.id for node in nodes if node.op is Op.OUTPUT}
    return NoiseForecast(
        MappingProxyType({name: budgets[i] for name, i in ids.items()}),
        tuple(budgets),
        MappingProxyType({name: walk.errors[i] for name, i in ids.items()}),
    )


def fewest_limbs(
    parameters: BfvParameters, limbs: int, slack_bits: float, at: Callable[[int], Norms]
) -> int:
    """Returns the fewest limbs at which the error, relative to q, is hardly larger than at all.

    Args:
        parameters: The parameter set.
        limbs: Limbs that there are.
        slack_bits: By how many bits a norm of E/q may grow.
        at: The error at a number of limbs.
    """
    here = noise.relative(parameters, limbs, at(limbs))
    for fewer in range(parameters.min_limbs, limbs):
        there = noise.relative(parameters, fewer, at(fewer))
        if all(
            new <= old + slack_bits
            for new, old in (
                (there.largest, here.largest),
                (there.length, here.length),
                (there.slots, here.slots),
            )
        ):
            return fewer
    return limbs


def _batched_polynomial(parameters: BfvParameters, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the coefficients, centred modulo t, of the polynomial whose slots are given.

    It is what plain products multiply by, and so what their noise depends on.

    Args:
        parameters: A set that batches.
        values: The N slots: two rows of N/2; any residues modulo t.

    Returns:
        N numbers in -t/2 … t/2.
    """
    t = parameters.plain_modulus
    residues = np.mod(values, t).astype(np.uint64)
    coefficients = _core.bfv.encode(bfv_context(parameters), residues).astype(np.int64)
    return np.where(coefficients > t // 2, coefficients - t, coefficients)
