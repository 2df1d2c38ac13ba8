"""A graph's nodes as the lowering takes them: what BFV has and CKKS has not, in fewer kinds.

| node | becomes |
| --- | --- |
| ``automorph`` in coefficient form | ``ntt``, ``automorph``, ``intt`` |
| ``lift``, variant ``hps`` | ``mod_up``, variant ``centred_digit``, of all primes |
| ``scale``, variant ``hps`` | ``divide``, then ``mod_up`` as of ``lift`` to the result's primes |

``divide`` is t/q times its operand, rounded, over the extension: the first step of ``scale``.

The bits are the same: an automorphism is exact in either form, and conversions are how the graph's
ops are defined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ringsmith.backends.vector.compiler.quotients import has_quotient
from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.graph.types import Form, PolyType
from ringsmith.hdl.base_conversion import FRACTION_BITS

DIVIDE = "divide"
"""The one op that graphs have not. Its attributes: ``base``, q's primes, and ``plain_modulus``."""


@dataclass
class _Rewriting:
    graph: SubroutineGraph
    nodes: list[SubroutineNode] = field(default_factory=list)
    found: list[int] = field(default_factory=list)  # new numbers by those of the graph

    def add(
        self,
        op: str,
        operands: tuple[int, ...],
        attrs: Mapping[str, Any],
        kind: PolyType,
        old: SubroutineNode,
    ) -> int:
        number = len(self.nodes)
        self.nodes.append(SubroutineNode(number, op, operands, attrs, kind, old.origin))
        return number

    def node(self, old: SubroutineNode) -> int:
        operands = tuple(self.found[i] for i in old.operands)
        kinds = [self.graph.nodes[i].type for i in old.operands]
        if old.op == "automorph" and old.type.form is Form.COEFF:
            ahead = PolyType(old.type.base, Form.NTT)
            x = self.add("ntt", operands, {}, ahead, old)
            x = self.add("automorph", (x,), old.attrs, ahead, old)
            return self.add("intt", (x,), {}, old.type, old)
        if old.op == "lift":
            return self._converted(operands, kinds[0].base, old)
        if old.op == "scale":
            extension = tuple(i for i in kinds[0].base if i not in old.type.base)
            attrs = {"base": old.type.base, "plain_modulus": old.attrs["plain_modulus"]}
            kind = PolyType(extension, Form.COEFF)
            return self._converted((self.add(DIVIDE, operands, attrs, kind, old),), extension, old)
        return self.add(old.op, operands, old.attrs, old.type, old)

    def _converted(
        self, operands: tuple[int, ...], digit: tuple[int, ...], old: SubroutineNode
    ) -> int:
        attrs = {"digit": digit, "base": old.type.base, "variant": "centred_digit"}
        return self.add("mod_up", operands, attrs, old.type, old)


def node_error(node: SubroutineNode, primes: Sequence[int], design: VectorDesign) -> str:
    """Why a design does not compute a node of some primes, in words; nothing where it does."""
    where, more = f"node {node.id}: design {design.name}", "or run it on the cpu"
    if node.op == "decompose":
        return (
            f"{where} has no decompose, which keys in words need: take keys with a special prime "
            f"or in residue digits, {more}"
        )
    if node.attrs.get("variant") == "behz":
        return (
            f"{where} has no {node.op} of variant behz, whose primes of 61 bits exceed its words "
            f"of {design.word_bits}: take multiplication='hps', {more}"
        )
    if has_quotient(node, primes, design) and design.reduction != BARRETT:
        limit = ""
        if "digit" in node.attrs:
            limit = f" where the digit's primes' sum times their product is above 2^{FRACTION_BITS}"
        return (
            f"{where} has no {node.op} of variant {node.attrs['variant']}{limit}, whose steps "
            f"modulo powers of two its {design.reduction} reduction cannot do: take a design with "
            f"reduction='{BARRETT}', {more}"
        )
    return ""


def rewritten(graph: SubroutineGraph) -> list[SubroutineNode]:
    """The nodes, numbered anew."""
    rewriting = _Rewriting(graph)
    for node in graph.nodes:
        rewriting.found.append(rewriting.node(node))
    return rewriting.nodes
