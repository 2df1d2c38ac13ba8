"""What each layer of LoLa's networks costs: HE operations, key switchings, cycles on a design."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.base import Executable
from ringsmith.program import CkksProgram, Node, Op

_ENDS_A_PRODUCT = (Op.RELINEARIZE, Op.RESCALE, Op.RELINEARIZE_RESCALE)
_KEY_SWITCHINGS = (Op.ROTATE, Op.RELINEARIZE, Op.RELINEARIZE_RESCALE)


@dataclass(frozen=True)
class Layer:
    """A layer's part of a program.

    Attributes:
        name: By the Framework paper.
        operations: HE operations.
        key_switchings: Those of them that switch keys: rotations and relinearizations.
        cycles: On a design, from the issue of each of its instructions to the next one; None
            without a design.
    """

    name: str
    operations: int
    key_switchings: int
    cycles: int | None


def layers(
    names: Sequence[str], program: CkksProgram, executable: Executable | None
) -> list[Layer]:
    """Returns what each layer takes of a program.

    Args:
        names: Of the layers: every second one is an activation.
        program: The planned program of a network of these layers.
        executable: The same, compiled for a design; None: no cycles.
    """
    levels = layer_of_nodes(program.nodes)
    work = [node.op not in (Op.INPUT, Op.OUTPUT) for node in program.nodes]
    operations = Counter(level for level, counts in zip(levels, work, strict=True) if counts)
    switches = Counter(
        level
        for level, node in zip(levels, program.nodes, strict=True)
        if node.op in _KEY_SWITCHINGS
    )
    cycles: Counter[int] = Counter()
    for origin, spent in executable.spans if executable else ():
        cycles[levels[int(origin.partition(":")[2])]] += spent
    return [
        Layer(name, operations[i], switches[i], cycles[i] if executable else None)
        for i, name in enumerate(names)
    ]


def layer_of_nodes(nodes: Sequence[Node]) -> list[int]:
    """Returns the number of the layer that each node belongs to.

    A square begins an activation, and what relinearizes and rescales it belongs to it.
    """
    found: list[int] = []
    for node in nodes:
        before = max((found[operand] for operand in node.operands), default=0)
        if node.op is Op.SQUARE or (before % 2 and node.op not in _ENDS_A_PRODUCT):
            before += 1
        found.append(before)
    return found
