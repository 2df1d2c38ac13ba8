"""A graph's nodes as the lowering takes them: polynomials, digits and sums of key products.

Pairs and whole key switches are expanded first (``ringsmith.graph.expand``).

| node | becomes |
| --- | --- |
| ``automorph`` in coefficient form | ``ntt``, ``automorph``, ``intt`` |
| ``lift``, variant ``hps`` | ``mod_up``, variant ``centred_digit``, of all primes |
| ``scale``, variant ``hps`` | ``divide``, then ``mod_up`` as of ``lift`` to the result's primes |
| ``digits`` | ``intt`` if in NTT form; a ``mod_up`` of each digit; ``digits`` |
| ``key_product`` and its halves | two nodes ``key_sum`` |

``divide`` is t/q times its operand, rounded, over the extension: the first step of ``scale``.
``digits`` has as operands the value that is cut, in NTT form where it is at hand, and then what its
digits are in coefficient form. A ``key_sum`` is one half of a key product, and names the other.

The bits are the same: an automorphism is exact in either form, and conversions are how the graph's
ops are defined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ringsmith.backends.vector.compiler.quotients import has_quotient
from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.graph.types import Form, Kind, PolyType
from ringsmith.hdl.base_conversion import FRACTION_BITS

DIVIDE, KEY_SUM = "divide", "key_sum"
"""Ops that graphs have not.

Attributes of ``divide``: ``base``, q's primes, and ``plain_modulus``. Of ``key_sum``: ``key`` and
``element``; ``half``; ``halves``, the nodes of both halves; operands are digits and what is added
to each half. The products of a pair's halves with one factor have ``halves``, too.
"""


@dataclass
class _Rewriting:
    graph: SubroutineGraph
    nodes: list[SubroutineNode] = field(default_factory=list)
    found: list[int] = field(default_factory=list)  # new numbers by those of the expanded graph
    old: SubroutineNode = field(init=False)  # the one that is rewritten

    def run(self) -> list[SubroutineNode]:
        expanded = expand(self.graph, keep_products=True)
        for self.old, source in zip(expanded.graph.nodes, expanded.sources, strict=True):
            operands = [self.found[i] for i in self.old.operands]
            if self.old.op == "mul" and self.graph.nodes[source].type.kind is Kind.PAIR:
                self.found.append(self._half_product(operands))
            elif own := getattr(self, f"_{self.old.op}", None):
                self.found.append(own(*operands))
            else:
                self.found.append(self._alike(operands, self.old.attrs))
        return self.nodes

    def _write(
        self, op: str, operands: Sequence[int], attrs: Mapping[str, Any], kind: PolyType
    ) -> int:
        number = len(self.nodes)
        self.nodes.append(SubroutineNode(number, op, tuple(operands), attrs, kind, self.old.origin))
        return number

    def _type(self, value: int) -> PolyType:
        return self.nodes[value].type

    def _alike(self, operands: Sequence[int], attrs: Mapping[str, Any]) -> int:
        return self._write(self.old.op, operands, attrs, self.old.type)

    def _half_product(self, operands: Sequence[int]) -> int:
        """A pair's half times a factor; both are written one after the other, and name both."""
        before, number = self.nodes[-1].attrs.get("halves", ()), len(self.nodes)
        halves = before if number in before else (number, number + 1)
        return self._alike(operands, {"halves": halves})

    # ---- forms -----------------------------------------------------------------------------------

    def _ntt_of(self, value: int) -> int:
        kind = self._type(value)
        if kind.form is Form.NTT:
            return value
        return self._write("ntt", (value,), {}, replace(kind, form=Form.NTT))

    def _intt_of(self, value: int) -> int:
        kind = self._type(value)
        if kind.form is Form.COEFF:
            return value
        return self._write("intt", (value,), {}, replace(kind, form=Form.COEFF))

    def _automorph(self, value: int) -> int:
        if self.old.type.form is Form.NTT:
            return self._alike((value,), self.old.attrs)
        value = self._ntt_of(value)
        return self._intt_of(self._write("automorph", (value,), self.old.attrs, self._type(value)))

    # ---- conversions -----------------------------------------------------------------------------

    def _lift(self, value: int) -> int:
        return self._raised(value, self._type(value).base, "centred_digit", self.old.type.base)

    def _scale(self, value: int) -> int:
        old = self.old
        extension = tuple(i for i in self._type(value).base if i not in old.type.base)
        attrs = {"base": old.type.base, "plain_modulus": old.attrs["plain_modulus"]}
        divided = self._write(DIVIDE, (value,), attrs, PolyType(extension, Form.COEFF))
        return self._raised(divided, extension, "centred_digit", old.type.base)

    def _raised(self, value: int, digit: Sequence[int], variant: str, base: Sequence[int]) -> int:
        attrs = {"digit": digit, "base": base, "variant": variant}
        return self._write("mod_up", (value,), attrs, PolyType(tuple(base), Form.COEFF))

    # ---- key products ----------------------------------------------------------------------------

    def _digits(self, value: int) -> int:
        attrs, base, node = self.old.attrs, self._type(value).base, self.nodes[value]
        transformed = node.operands[0] if node.op == "intt" else value
        coefficients = self._intt_of(value)
        raised, first = [], 0
        for size in attrs["sizes"]:
            digit, first = base[first : first + size], first + size
            one = size == 1 and attrs["variant"] == "fast_base_conv"
            variant = "rns_digit" if one else attrs["variant"]
            raised.append(self._raised(coefficients, digit, variant, attrs["base"]))
        return self._alike((transformed, *raised), {})

    def _key_product(self, digits: int, *added: int) -> int:
        """Both halves, one after the other; returns the first."""
        number, kind = len(self.nodes), PolyType(self.old.type.base, Form.NTT)
        attrs = {**self.old.attrs, "halves": (number, number + 1)}
        for half in (0, 1):
            self._write(KEY_SUM, (digits, *added), {**attrs, "half": half}, kind)
        return number

    def _half(self, first: int) -> int:
        number: int = first + self.old.attrs["half"]
        return number


def node_error(node: SubroutineNode, primes: Sequence[int], design: VectorDesign) -> str:
    """Why a design does not compute a node of some primes, in words; nothing where it does."""
    where, more = f"node {node.id}: design {design.name}", "or run it on the cpu"
    if node.op == "decompose" or node.attrs.get("variant") == "words":
        return (
            f"{where} has no digits in words: take keys with a special prime or in residue digits, "
            f"{more}"
        )
    if node.attrs.get("variant") == "behz":
        return (
            f"{where} has no {node.op} of variant behz, whose primes of 61 bits exceed its words "
            f"of {design.word_bits}: take multiplication='hps', {more}"
        )
    if has_quotient(node, primes, design) and design.reduction != BARRETT:
        limit = ""
        if "digit" in node.attrs:
            limit = (
                f", whose quotient of {FRACTION_BITS} bits errs near half of the digit's modulus"
            )
        return (
            f"{where} has no {node.op} of variant {node.attrs['variant']}{limit}: its steps modulo "
            f"powers of two {design.reduction} reduction cannot do; take a design with "
            f"reduction='{BARRETT}', {more}"
        )
    return ""


def rewritten(graph: SubroutineGraph) -> list[SubroutineNode]:
    """The nodes, numbered anew."""
    return _Rewriting(graph).run()
