"""Instructions that main and dyadic unit both have: the scheduler may take either."""

from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import DYADIC, ISA, Operation

MAIN = "main"
"""The unit of the butterfly cores."""


def twin_of(operation: Operation, design: RpauDesign) -> Operation | None:
    """What does the same on the other of main and dyadic unit; None if nothing does."""
    if operation.unit == MAIN:
        name = DYADIC[0] + {"reduce": "affine"}.get(operation.name, operation.name)
    elif operation.unit == DYADIC:
        name = {"daffine": "reduce"}.get(operation.name, operation.name[1:])
    else:
        return None
    return next((each for each in ISA.available(design) if each.name == name), None)
