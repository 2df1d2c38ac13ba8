"""Instructions that main and dyadic unit both have: the scheduler may take either."""

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import ISA, Operation


def twin_of(operation: Operation, design: RpauDesign) -> Operation | None:
    """What does the same on the other of main and dyadic unit; None if nothing does there."""
    return next((each for each in ISA.available(design) if each.name == operation.twin), None)
