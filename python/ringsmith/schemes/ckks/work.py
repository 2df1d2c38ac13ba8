"""What operations cost at their number of limbs, by a device's table of costs.

The table is of few limbs and digits of one prime. Key switchings are scaled by the NTTs that they
take, other operations by the limbs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.graph.operations import Key, Op
from ringsmith.params import CkksParameters
from ringsmith.params.digits import key_switching_transforms
from ringsmith.program.costs import Costs
from ringsmith.program.nodes import Node
from ringsmith.program.sharing import Sharing

_LIMBS = 5
"""Limbs of the operations that tables are of."""
_UNIT = key_switching_transforms(_LIMBS, _LIMBS, 1)
_ADDITION = 0.5
"""An addition, in products with a plaintext and their addition."""


@dataclass(frozen=True)
class Work:
    """Costs of operations, in the unit of the table.

    Attributes:
        parameters: The parameter set.
        costs: The table.
    """

    parameters: CkksParameters
    costs: Costs

    def of(self, op: Op, limbs: int, *, shared: bool = False) -> float:
        """Returns what an operation costs.

        Args:
            op: The operation; of ``multiply`` with relinearization and rescaling.
            limbs: Limbs of its operands.
            shared: Of a rotation: whether others share the digits of its operand.
        """
        record, costs = op.record, self.costs
        match record.key:
            case Key.GALOIS:
                return (1.0 if shared else costs.rotation) * self._switching(limbs)
            case Key.SPARSE:
                return costs.rotation * self._switching(limbs)
        if op is Op.MULTIPLY or record.key is Key.RELINEARIZATION:
            return costs.product * self._switching(limbs)
        if op is Op.MULTIPLY_PLAIN:
            return costs.plain_product * limbs / _LIMBS
        if op in (Op.ADD, Op.SUB, Op.ADD_PLAIN, Op.SUB_PLAIN):
            return _ADDITION * costs.plain_product * limbs / _LIMBS
        return 0.0

    def of_nodes(self, nodes: Sequence[Node], sharing: Sharing, more: int = 0) -> list[float]:
        """Returns what each node of a planned program costs; of ``more`` limbs than it has."""
        found = []
        for node in nodes:
            op = node.op
            limbs = nodes[node.operands[0]].limbs if node.operands else node.limbs
            limbs = node.limbs if op is Op.MOD_RAISE else limbs
            if op is Op.MULTIPLY:  # its cost is that of its relinearization
                found.append(0.0)
            else:
                shared = bool(node.operands) and node.operands[0] in sharing.cut
                found.append(self.of(op, limbs + more, shared=shared))
        return found

    def bootstrapping(
        self,
        nodes: Sequence[Node],
        sharing: Sharing,
        more: int = 0,
        repeated: Sequence[int] | None = None,
    ) -> tuple[float, float]:
        """Returns what the bootstrappings of a planned program cost, and what all of it costs.

        Args:
            nodes: Its nodes.
            sharing: What its rotations share.
            more: Limbs that operations have beyond those of the nodes.
            repeated: How often each node is computed; None: once.
        """
        costs = self.of_nodes(nodes, sharing, more)
        if repeated is not None:
            costs = [cost * times for cost, times in zip(costs, repeated, strict=True)]
        inside = sum(cost for node, cost in zip(nodes, costs, strict=True) if node.stage)
        return inside, sum(costs)

    def _switching(self, limbs: int) -> float:
        """A key switching, in those of the table."""
        digits, special = self.parameters.digit_count(limbs), len(self.parameters.special)
        return key_switching_transforms(limbs, digits, special) / _UNIT
