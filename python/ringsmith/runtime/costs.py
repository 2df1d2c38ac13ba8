"""What operations cost on a design: those of one rotation and of products, compiled for it."""

from collections.abc import Iterator

from ringsmith.backends.base import Design
from ringsmith.backends.registry import backend_of, named_design
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.lower import lower_operation
from ringsmith.params import RlweParameters
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.program.costs import CPU, ROTATIONS, Costs

_LEVELS = (4, 3, 2, 1)
"""Levels of parameters that are measured: the first that the design takes."""
_PRODUCT = "multiply_relinearize"


def costs_on(wish: AutoRlweParameters) -> Costs:
    """Returns what operations cost on the design of a wish, by their cycles.

    They are measured in the smallest ring that holds a few levels: relative to a rotation they
    hardly depend on it.

    Args:
        wish: A wish for parameters whose design is named and whose limits are known.

    Returns:
        The costs; those of the ``cpu`` device where the design does not run the operations.
    """
    design = named_design(wish.design)
    for parameters in _samples(wish):
        try:
            return _measured(parameters, design)
        except (ParameterError, ProgramError):  # too large, or it does not rotate
            continue
    return CPU


def _samples(wish: AutoRlweParameters) -> Iterator[RlweParameters]:
    """Parameters that the design takes, of the most levels and the smallest ring first."""
    for levels in _LEVELS:
        for n, _ in wish.degrees():
            for bits in range(wish.narrowest_prime, wish.widest_prime + 1):
                try:
                    yield wish.sample(n, levels, bits)
                except ParameterError:
                    continue
                break


def _measured(parameters: RlweParameters, design: Design) -> Costs:
    """The costs by the cycles of single operations."""
    backend, limbs = backend_of(design), parameters.limbs

    def cycles(operation: str, limbs: int = limbs) -> int:
        return backend.compile(lower_operation(operation, parameters, limbs), design).cycles

    rotation = cycles(Op.ROTATE)
    unit = rotation / CPU.rotation
    divided = 0 if parameters.exact else cycles(Op.RESCALE)
    level = CPU.level
    if not parameters.exact:
        more = rotation - cycles(Op.ROTATE, limbs - 1)
        level = (ROTATIONS * more / CPU.rotation + divided) / unit
    try:
        product = (cycles(_PRODUCT) + divided) / unit
    except (ParameterError, ProgramError):  # no such product runs on the design
        product = CPU.product
    return Costs(
        design.name,
        product=product,
        plain_product=(cycles(Op.MULTIPLY_PLAIN) + cycles(Op.ADD)) / unit,
        level=level,
    )
