"""A graph's nodes as the lowering takes them: polynomials, digits and sums of key products.

| node | becomes |
| --- | --- |
| any of a pair | one node for each half |
| ``automorph`` in coefficient form | ``ntt``, ``automorph``, ``intt`` |
| ``add_scalar`` in coefficient form | ``ntt``, ``add_scalar``, ``intt`` |
| ``lift``, variant ``hps`` | ``mod_up``, variant ``centred_digit``, of all primes |
| ``scale``, variant ``hps`` | ``divide``, then ``mod_up`` as of ``lift`` to the result's primes |
| ``digits`` | ``intt`` if in NTT form; a ``mod_up`` of each digit; ``digits`` |
| ``key_product`` | two nodes ``key_sum`` |
| ``key_switch`` | ``automorph``, ``digits``, two nodes ``key_sum``, ``mod_down``, ``add`` |

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
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.graph.types import Form, Kind, PolyType
from ringsmith.hdl.base_conversion import FRACTION_BITS

DIVIDE, KEY_SUM = "divide", "key_sum"
"""Ops that graphs have not.

Attributes of ``divide``: ``base``, q's primes, and ``plain_modulus``. Of ``key_sum``: ``key`` and
``element``; ``half``; ``halves``, the nodes of both halves; operands are digits and what is added
to each half.
"""

Values = tuple[int, ...]
"""New nodes of an old one: of a pair two."""


@dataclass
class _Rewriting:
    graph: SubroutineGraph
    nodes: list[SubroutineNode] = field(default_factory=list)
    found: list[Values] = field(default_factory=list)  # new numbers by those of the graph
    old: SubroutineNode = field(init=False)  # the one that is rewritten

    def run(self) -> list[SubroutineNode]:
        for node in self.graph.nodes:
            self.old = node
            operands = [self.found[i] for i in node.operands]
            own = getattr(self, f"_{node.op}", None)
            self.found.append(own(operands) if own else self._alike(operands))
        return self.nodes

    def _write(
        self, op: str, operands: Sequence[int], attrs: Mapping[str, Any], kind: PolyType
    ) -> int:
        number = len(self.nodes)
        self.nodes.append(SubroutineNode(number, op, tuple(operands), attrs, kind, self.old.origin))
        return number

    def _type(self, value: int) -> PolyType:
        return self.nodes[value].type

    def _alike(self, operands: Sequence[Values]) -> Values:
        """The same op; of a pair once for each half."""
        old = self.old
        kind = PolyType(old.type.base, old.type.form)
        return tuple(
            self._write(old.op, [each[i % len(each)] for each in operands], old.attrs, kind)
            for i in range(old.type.count)
        )

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

    def _moved(self, value: int, element: int) -> int:
        """An automorphism of a value, in NTT form."""
        value = self._ntt_of(value)
        return self._write("automorph", (value,), {"element": element}, self._type(value))

    def _automorph(self, operands: Sequence[Values]) -> Values:
        if self.old.type.form is Form.NTT:
            return self._alike(operands)
        element = self.old.attrs["element"]
        return tuple(self._intt_of(self._moved(each, element)) for each in operands[0])

    def _add_scalar(self, operands: Sequence[Values]) -> Values:
        if self.old.type.form is Form.NTT:
            return self._alike(operands)
        value = self._ntt_of(operands[0][0])
        total = self._write("add_scalar", (value,), self.old.attrs, self._type(value))
        return (self._intt_of(total),)

    def _mul(self, operands: Sequence[Values]) -> Values:
        """Products; of a pair's halves each names both."""
        if self.old.type.kind is not Kind.PAIR:
            return self._alike(operands)
        kind, first = PolyType(self.old.type.base, Form.NTT), len(self.nodes)
        attrs = {"halves": (first, first + 1)}
        both, (factor,) = operands
        return tuple(self._write("mul", (half, factor), attrs, kind) for half in both)

    def _half(self, operands: Sequence[Values]) -> Values:
        return (operands[0][self.old.attrs["half"]],)

    # ---- conversions -----------------------------------------------------------------------------

    def _lift(self, operands: Sequence[Values]) -> Values:
        (value,) = operands[0]
        return (self._raised(value, self._type(value).base, "centred_digit", self.old.type.base),)

    def _scale(self, operands: Sequence[Values]) -> Values:
        old, (value,) = self.old, operands[0]
        extension = tuple(i for i in self._type(value).base if i not in old.type.base)
        attrs = {"base": old.type.base, "plain_modulus": old.attrs["plain_modulus"]}
        divided = self._write(DIVIDE, (value,), attrs, PolyType(extension, Form.COEFF))
        return (self._raised(divided, extension, "centred_digit", old.type.base),)

    def _raised(self, value: int, digit: Sequence[int], variant: str, base: Sequence[int]) -> int:
        attrs = {"digit": digit, "base": base, "variant": variant}
        return self._write("mod_up", (value,), attrs, PolyType(tuple(base), Form.COEFF))

    # ---- key switching ---------------------------------------------------------------------------

    def _digits(self, operands: Sequence[Values]) -> Values:
        return (self._cut(*operands[0], *operands[0]),)

    def _cut(self, value: int, coefficients: int) -> int:
        """The digits of a value.

        Args:
            value: It, in NTT form where it is at hand.
            coefficients: It, in coefficient form where it is at hand.
        """
        attrs, base = self.old.attrs, self._type(value).base
        coefficients = self._intt_of(coefficients)
        raised, first = [], 0
        for size in attrs["sizes"]:
            digit, first = base[first : first + size], first + size
            one = size == 1 and attrs["variant"] == "fast_base_conv"
            variant = "rns_digit" if one else attrs["variant"]
            raised.append(self._raised(coefficients, digit, variant, attrs["base"]))
        kind = PolyType(tuple(attrs["base"]), Form.NTT, Kind.DIGITS, len(raised))
        return self._write("digits", (value, *raised), {}, kind)

    def _sums(self, digits: int, element: int, added: Sequence[int]) -> tuple[int, int]:
        """Both halves of digits, moved by X -> X^element, times a key."""
        first = len(self.nodes)
        attrs = {"key": self.old.attrs["key"], "element": element, "halves": (first, first + 1)}
        kind = PolyType(self._type(digits).base, Form.NTT)
        for half in (0, 1):
            self._write(KEY_SUM, (digits, *added), {**attrs, "half": half}, kind)
        return first, first + 1

    def _key_product(self, operands: Sequence[Values]) -> Values:
        (digits,), *added = operands
        return self._sums(digits, self.old.attrs["element"], [each for (each,) in added])

    def _key_switch(self, operands: Sequence[Values]) -> Values:
        element, form = self.old.attrs["element"], self.old.type.form
        values = [value for (value,) in operands]
        value, *added = values
        if element != 1:
            value, *added = (self._moved(each, element) for each in values)
        if form is Form.COEFF:
            coefficients, *added = (self._intt_of(each) for each in (value, *added))
            sums = self._sums(self._cut(value, coefficients), 1, ())
            sums = self._intt_of(sums[0]), self._intt_of(sums[1])
        else:
            sums = self._sums(self._cut(value, value), 1, ())
        return tuple(
            self._divided(total, added[half : half + 1]) for half, total in enumerate(sums)
        )

    def _divided(self, total: int, added: Sequence[int]) -> int:
        """A sum of a key switch, plus P times what is added, divided."""
        attrs, kind = self.old.attrs, PolyType(self.old.type.base, self.old.type.form)
        drop, whole = attrs["drop"], self._type(total)
        behind = all(set(self._type(each).base) == set(kind.base) for each in added)
        for each in () if behind else added:
            if self._type(each) != whole:
                scaled = {"digit": self._type(each).base, "base": whole.base, "variant": "scaled"}
                each = self._write("mod_up", (each,), scaled, whole)
            total = self._write("add", (total, each), {}, whole)
        if drop:
            variant = "rounded" if len(drop) == 1 else "centred_base_conv"
            total = self._write("mod_down", (total,), {"drop": drop, "variant": variant}, kind)
        for each in added if behind else ():
            total = self._write("add", (each, total), {}, kind)
        return total


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
            limit = f" where the digit's primes' sum times their product is above 2^{FRACTION_BITS}"
        return (
            f"{where} has no {node.op} of variant {node.attrs['variant']}{limit}, whose steps "
            f"modulo powers of two its {design.reduction} reduction cannot do: take a design with "
            f"reduction='{BARRETT}', {more}"
        )
    return ""


def rewritten(graph: SubroutineGraph) -> list[SubroutineNode]:
    """The nodes, numbered anew."""
    return _Rewriting(graph).run()
