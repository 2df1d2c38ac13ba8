"""How far a bootstrapping is off, by a simulation of its steps with errors of the known sizes.

The steps of a bootstrapping depend on the parameters alone, and so does its noise: what it takes in
is mostly random multiples of q_0. So the steps are run once in the clear, on such numbers alone,
with the errors of ``noise`` drawn for each. What is left in place of zero is the noise of every
bootstrapping, with the error of EvalMod's polynomial. A walk with bounds, as of programs, would be
off by many bits: the transforms add errors up in ways that no bound knows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.graph.operations import Noise, Op, Slots, Values
from ringsmith.params import CkksParameters
from ringsmith.program.bootstrapping.factors import (
    Complexes,
    in_slots,
    slots_to_coefficients,
)
from ringsmith.program.nodes import Node
from ringsmith.program.plain import root_mean_square, turns
from ringsmith.schemes.ckks import noise

_SEED = 1


@dataclass(frozen=True)
class BootstrappingNoise:
    """The noise of a bootstrapping.

    Attributes:
        spread: Standard deviation in every slot.
        mean: The mean of the coefficients, by the polynomial's error. It shows in slots whose root
            is near 1 (``noise.mean_profile``).
    """

    spread: float
    mean: float


def bootstrapping_noise(
    parameters: CkksParameters, nodes: Sequence[Node], end: int, undivided: frozenset[int]
) -> BootstrappingNoise:
    """Returns the noise that a bootstrapping adds.

    Args:
        parameters: The parameter set.
        nodes: The program's nodes.
        end: The node that ends the bootstrapping.
        undivided: As of ``Sharing``.
    """
    steps = _steps(nodes, nodes[end].operands[0])
    key = (parameters, nodes[steps[0]].scale, len(steps))
    if key not in _known:
        _known[key] = _simulated(parameters, nodes, steps, undivided)
        while len(_known) > _KEPT:
            del _known[next(iter(_known))]
    return _known[key]


_KEPT = 64
_known: dict[tuple[CkksParameters, float, int], BootstrappingNoise] = {}


def _steps(nodes: Sequence[Node], last: int) -> list[int]:
    """The nodes of a bootstrapping from mod_raise to its last step, ascending."""
    found: set[int] = set()
    waiting = [last]
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            if nodes[i].op is not Op.MOD_RAISE:
                waiting.extend(nodes[i].operands)
    return sorted(found)


def _simulated(
    parameters: CkksParameters,
    nodes: Sequence[Node],
    steps: Sequence[int],
    undivided: frozenset[int],
) -> BootstrappingNoise:
    rng = np.random.default_rng(_SEED)
    raised = _raised(parameters, nodes[steps[0]].scale, rng)
    spreads = {i: _spread(parameters, nodes, i, undivided) for i in steps}
    left = _run(parameters, nodes, spreads, raised, rng)
    mean = noise.mean_coefficient(left)
    rest = np.mean(np.abs(left) ** 2) - (mean * mean) * parameters.n  # by Parseval
    return BootstrappingNoise(math.sqrt(max(float(rest), 0.0)), abs(mean))


def _raised(parameters: CkksParameters, scale: float, rng: np.random.Generator) -> Complexes:
    """Slots after mod_raise: of coefficients that are random multiples of q_0."""
    given, n = parameters.bootstrapping, parameters.n
    assert given is not None, "it is bootstrapped"
    sums = np.zeros(n)
    for _ in range(given.weight + 1):
        sums += rng.uniform(-0.5, 0.5, n)
    whole = np.rint(sums) * (parameters.lowest_modulus / scale)
    return slots_of(n, whole[: n // 2] + 1j * whole[n // 2 :])


def slots_of(n: int, coefficients: Complexes) -> Complexes:
    """Returns the slots of a polynomial m by m_k + i * m_(k + N/2), k = 0 … N/2 - 1."""
    count = (n // 2).bit_length() - 1
    places = np.zeros(n // 2, np.int64)
    for bit in range(count):
        places |= (np.arange(n // 2) >> bit & 1) << (count - 1 - bit)
    vector = coefficients[places]
    for matrix in slots_to_coefficients(n, (1,) * count):
        vector = sum(
            (values * np.roll(vector, -step) for step, values in matrix.items()),
            np.zeros(n // 2, complex),
        )
    return in_slots(vector)


def _run(
    parameters: CkksParameters,
    nodes: Sequence[Node],
    spreads: Mapping[int, float],
    raised: Complexes,
    rng: np.random.Generator,
) -> Complexes:
    """Runs the steps, whose errors have these standard deviations."""
    steps = [*spreads]
    last_use = {i: step for step in steps for i in nodes[step].operands}
    slots = parameters.slots
    values: dict[int, Complexes] = {}
    for step in steps:
        node = nodes[step]
        if node.op is Op.MOD_RAISE:
            values[step] = raised + _drawn(rng, slots, spreads[step])
            continue
        operands: list[Values] = [values[i] for i in node.operands]
        if node.plain is not None:
            plain = node.plain.vector(slots)
            if node.plain.values.ndim and not turns(node.plain.values):
                rounding = noise.encoding_spread_of(node.plain.values) / node.plain.scale
                floating = noise.floating_spread(parameters) * root_mean_square(plain)
                size = math.hypot(rounding, floating)
                plain = plain + _drawn(rng, slots, size)
            operands.append(plain)
        where = Slots(slots, node.steps or 0)
        result = node.op.record.meaning(operands[0], operands[-1], where)
        values[step] = result + _drawn(rng, slots, spreads[step])
        for i in node.operands:
            if last_use[i] == step:
                values.pop(i, None)
    return values[steps[-1]]


def _spread(
    parameters: CkksParameters, nodes: Sequence[Node], step: int, undivided: frozenset[int]
) -> float:
    """The standard deviation of the errors that a step adds, in every slot."""
    node, special = nodes[step], len(parameters.special_primes)
    match node.op.record.noise:
        case Noise.RAISE:
            low = noise.to_sparse_spread(parameters)
            back = noise.key_switch_spread(parameters, node.limbs)
            return math.hypot(low, back) / node.scale
        case Noise.KEY if step in undivided:
            return noise.digits_spread(parameters, node.limbs) / node.scale
        case Noise.KEY:
            return noise.key_switch_spread(parameters, node.limbs) / node.scale
        case Noise.DIVISION:
            late = special if node.operands[0] in undivided else 0
            primes = len(parameters.dropped(nodes[node.operands[0]].limbs))
            return noise.division_spread(parameters, primes + late) / node.scale
        case Noise.KEY_AND_DIVISION:
            limbs = nodes[node.operands[0]].limbs
            count = special + len(parameters.dropped(limbs))
            digits = noise.digits_spread(parameters, limbs) / parameters.divisor(limbs)
            return math.hypot(digits, noise.division_spread(parameters, count)) / node.scale
    return 0.0


def _drawn(rng: np.random.Generator, slots: int, deviation: float) -> Complexes:
    if not deviation:
        return np.zeros(slots, complex)
    pair = rng.normal(0.0, deviation / np.sqrt(2), (2, slots))
    return np.asarray(pair[0] + 1j * pair[1])
