"""Instruction selection: a subroutine graph becomes instructions on virtual polynomials.

A value of the graph is a map from places, which ``layout`` gives to its limbs, to virtual
polynomials. What comes out is a list in a valid sequential order; ``schedule`` puts it in time and
in memory.

Identities used here, all exact on canonical residues:

* The rounding division by a prime p (SEAL's ModDown and rescale; Medha, Algorithm 3) is, with h =
  floor(p/2) and r = (x_p + h) mod p, out_j = (x_j - ((r - h) mod q_j)) * p^-1 mod q_j. The factor
  p^-1 is moved in front of the NTT: the receivers of the broadcast compute r*p^-1 - h*p^-1, and the
  last step is x_j*p^-1 - NTT(...). By several primes p_i at once, P their product, it is the same
  with r_i = (x_i * (P/p_i)^-1 + h_i) mod p_i: the receivers sum up r_i*p_i^-1 - h_i*p_i^-1, and the
  last step is x_j*P^-1 - NTT(...).
* P*c + x, c without the primes of P (``scaled``), is x in those primes: only data limbs are added.
* A limb is dead as soon as the last node that reads this very limb is done: limb J of an INTT is
  read by the extension of digit J only, so that digit's own transform happens in place.
"""

from collections.abc import Collection
from math import prod

from ringsmith.backends.rpau.compiler.fusion import (
    begun_quotients,
    begun_sums,
    early_products,
    fused_summands,
)
from ringsmith.backends.rpau.compiler.key_sums import KeySummer
from ringsmith.backends.rpau.compiler.layout import Layout, is_scaled
from ringsmith.backends.rpau.compiler.selection import Location, Selection
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.errors import CompileError
from ringsmith.graph import Form, SubroutineGraph, SubroutineNode
from ringsmith.graph.types import OPS


def select(
    graph: SubroutineGraph,
    design: RpauDesign,
    layout: Layout,
    *,
    apart: bool,
    begun: bool = False,
    early: bool = False,
    seeded: Collection[str] = (),
) -> Selection:
    """Selects the instructions of a checked graph for a design that has enough prime sets.

    Args:
        graph: The graph.
        design: The accelerator.
        layout: Where limbs go.
        apart: Whether each RPAU gets instructions of its own in key switching. It takes several
            times as many, and lets RPAUs go through the digits each in its own order: since none
            transforms its own digit, and few do the special prime's work, all have pauses at
            different times otherwise.
        begun: Whether what is added to the quotient of a key switching is what its sums begin
            with, times the primes that are divided by: it is out of the way, and need not be kept.
        early: Whether a digit's key products follow it at once, so that it need not be kept until
            all digits are there.
        seeded: Names of keys whose half 1 the design expands; it has a PRNG if there are any.

    Raises:
        CompileError: If a node has no form on this architecture.
    """
    check_supported(graph)
    fused = fused_summands(graph)
    beginnings = begun_sums(graph, fused)
    if begun:
        beginnings |= begun_quotients(graph, fused)
    products = early_products(graph) if early else {}
    selector = _Selector(graph, design, layout, apart, seeded, fused, beginnings, products)
    for node in graph.nodes:
        selector.node(node)
    return selector.out


def check_supported(graph: SubroutineGraph) -> None:
    """Refuses what this architecture has no instructions for, whatever the design.

    That is BFV's lift, scale and decompose, and the raising of digits of several primes.

    Raises:
        CompileError: Names the node and what to do.
    """
    for node in graph.nodes:
        if node.op not in _SUPPORTED:
            raise CompileError(
                f"architecture rpau has no {node.op}, which BFV's products and word decomposition "
                f"take (subroutine {node.id}): run it on the cpu",
                _operation_of(node),
            )
        _refuse_unknown_variant(node)


def _refuse_unknown_variant(node: SubroutineNode) -> None:
    if node.op == "mod_up" and node.attrs["variant"] == "fast_base_conv":
        raise CompileError(
            "architecture rpau raises digits of one prime ('rns_digit') only, and subroutine "
            f"{node.id} asks for 'fast_base_conv' of {len(node.attrs['digit'])} primes: take "
            "parameters with one prime a digit, or run on the cpu",
            _operation_of(node),
        )


def _operation_of(node: SubroutineNode) -> int | None:
    """Id of the HE operation that a subroutine belongs to, where known."""
    return None if node.origin is None else node.origin.node


class _Selector(KeySummer):
    """Selects node after node."""

    def node(self, node: SubroutineNode) -> None:
        """Selects one node, whose operands are already placed."""
        if node.id in self.fused:
            return
        self.origin = f"{node.origin.op}:{node.origin.node}" if node.origin else node.op
        location = getattr(self, f"_{node.op}")(node)
        self.pending.subtract(self.reads(node))
        if location is not None:
            self.place(node.id, location)
        for total, index in self.products.get(node.id, ()):
            self.add_product(total, index)

    def _input(self, node: SubroutineNode) -> Location:
        location = self.fresh(node.type.base)
        self.out.inputs[node.attrs["name"]] = location
        return location

    def _output(self, node: SubroutineNode) -> None:
        (value,) = node.operands
        self.out.outputs[node.attrs["name"]] = dict(self.location[value])
        self.pending.update(
            {(value, limb): 2 for limb in node.type.base}
        )  # stands until the program has ended

    def _pointwise(self, node: SubroutineNode, opcode: str) -> Location:
        a, b = (self.location[operand] for operand in node.operands)
        dst = self.target(node)
        self.emit(node.type.base, opcode, dst=dst, a=a, b=b)
        return dst

    def _sub(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "sub")

    def _mul(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "mul")

    def _add(self, node: SubroutineNode) -> Location:
        part = next((operand for operand in node.operands if operand in self.fused), None)
        if part is None:
            return self._pointwise(node, "add")
        other = next(operand for operand in node.operands if operand != part)
        served = self.graph.nodes[part]
        if served.op == "mul":
            dst = self.own(other, node.type.base, node)
            a, b = (self.location[factor] for factor in served.operands)
            self.emit(node.type.base, "mac", dst=dst, a=a, b=b)
        elif served.op == "mod_down":
            begun = served.operands[0] in self.beginnings
            dst = self._divided(served, None if begun else other)
        else:
            dst = self._add_scaled(other, served, node)
        self.pending.subtract(self.reads(served))
        return dst

    def _add_scaled(self, total: int, scaled: SubroutineNode, node: SubroutineNode) -> Location:
        """``total`` with a value times the other primes added: nothing in those primes."""
        if total in self.beginnings:
            return self.location[total]
        base = scaled.attrs["digit"]
        others = [limb for limb in node.type.base if limb not in base]
        a, b = self.location[scaled.operands[0]], self.location[total]
        dst = self.own(total, base, node)
        self.emit(base, "scale_add", dst=dst, a=a, b=b, k1=self._raising_factor(scaled))
        return dst | {place: b[place] for place in self.layout.places(node.id, others)}

    def _raising_factor(self, scaled: SubroutineNode) -> int:
        """The constant of a ``scaled`` node: the product of the primes that it adds."""
        base = scaled.attrs["digit"]
        return self.product(base, [limb for limb in scaled.type.base if limb not in base])

    def _neg(self, node: SubroutineNode) -> Location:
        dst = self.target(node)
        minus_one = self.constant({i: self.graph.primes[i] - 1 for i in node.type.base})
        a = self.location[node.operands[0]]
        self.emit(node.type.base, "affine", dst=dst, a=a, k1=minus_one, k2=self.zeros())
        return dst

    def _automorph(self, node: SubroutineNode) -> Location:
        if node.type.form != Form.NTT:
            raise CompileError(
                f"architecture rpau permutes polynomials in NTT form only (subroutine {node.id}): "
                "put the automorphism after an ntt node",
                _operation_of(node),
            )
        dst = self.fresh(node.type.base)
        a = self.location[node.operands[0]]
        self.permute(node.type.base, dst, a, node.attrs["element"])
        return dst

    def _intt(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        dst = self.over(value, node.type.base, node)
        self.transform(node.type.base, "intt", dst, self.location[value])
        return dst

    def _ntt(self, node: SubroutineNode) -> Location:
        copied = self.copied_limb(node)
        base = [place for place in self.base(node) if copied is None or place != copied[1]]
        (value,) = node.operands
        location = self.over(value, base, node)
        self.transform(base, "ntt", location, self.location[value])
        if copied is not None:
            origin, limb = copied
            location[limb] = self.location[origin][limb]
        return location

    def _mod_up(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        if is_scaled(node):
            return self._raised(node)
        (digit,) = node.attrs["digit"]
        others = [place for place in self.base(node) if place != digit]
        a = self.location[value][digit]
        send = self.send_beside if self.design.link else self.send
        location = send(digit, a, others, self.ones(), self.zeros()) if others else {}
        if digit in node.type.base:
            location[digit] = a
        return location

    def _raised(self, scaled: SubroutineNode) -> Location:
        """A ``scaled`` value that is no summand of a sum, zeros and all."""
        base, zero = scaled.attrs["digit"], self.zeros()
        others = [place for place in self.base(scaled) if place not in base]
        dst, a = self.fresh(base), self.location[scaled.operands[0]]
        self.emit(base, "affine", dst=dst, a=a, k1=self._raising_factor(scaled), k2=zero)
        return dst | self.send(base[0], a[base[0]], others, zero, zero)

    def _mod_down(self, node: SubroutineNode) -> Location:
        return self._divided(node, None)

    def _divided(self, node: SubroutineNode, summand: int | None) -> Location:
        """A rounded quotient, plus a value if one is given."""
        (value,) = node.operands
        primes, base, dropped = self.graph.primes, node.type.base, node.attrs["drop"]
        product = prod(primes[limb] for limb in dropped)
        factor = self.constant({j: pow(product, -1, primes[j]) for j in base})
        down: Location = {}
        for limb in dropped:
            part = self._divided_part(node, limb, product // primes[limb])
            if down:
                self.emit(base, "add", dst=down, a=down, b=part)
            down = down or part
        if node.type.form == Form.NTT:
            self.transform(base, "ntt", down, down)
        x = self.location[value]
        if summand is None:
            self.emit(base, "scale_sub", dst=down, a=x, b=down, k1=factor)
            return down
        total = self.target(node)
        self.emit(base, "scale_add", dst=total, a=x, b=self.location[summand], k1=factor)
        self.emit(base, "sub", dst=down, a=total, b=down)
        return down

    def _divided_part(self, node: SubroutineNode, dropped: int, cofactor: int) -> Location:
        """What a division subtracts for one of its primes, in coefficient form, over the base.

        ``cofactor`` is the product of the other primes that are divided by.
        """
        primes, base = self.graph.primes, node.type.base
        p = primes[dropped]
        inverse = {j: pow(p, -1, primes[j]) for j in base}
        shift = {j: -(p // 2) * inverse[j] % primes[j] for j in base}
        factor = self.constant({dropped: pow(cofactor, -1, p), **inverse})
        addend = self.constant({dropped: p // 2, **shift})
        root, last, dst = self._gathered(node, node.operands[0], dropped)
        if node.type.form == Form.NTT:
            self.transform([root], "intt", {root: dst}, {root: last})
            last = dst
        beside = self.design.link and dropped in self.graph.special
        send = self.send_beside if beside else self.send
        return send(root, last, base, factor, addend)

    def _gathered(self, node: SubroutineNode, value: int, limb: int) -> tuple[int, int, int]:
        """Brings a limb together that is a sum over places.

        Returns its place, where it is now, and where its inverse transform may go, if the node is
        in NTT form and has one.
        """
        parts = self.layout.places(value, [limb])
        root = self.layout.roots.get((value, limb), parts[0])
        if parts == [root]:
            here = self.location[value]
            transformed = self.over(value, parts, node) if node.type.form == Form.NTT else here
            return root, here[root], transformed[root]
        total = self.location[value].get(root)
        for part in parts:
            if part == root:
                continue
            arrived = self.own(value, [part], node)[part]
            if part % self.rpaus != root % self.rpaus:
                send = self.send_beside if self.design.link else self.send
                arrived = send(part, arrived, [root], self.ones(), self.zeros())[root]
            if total is not None:
                self.emit([root], "add", dst=arrived, a=arrived, b=total)
            total = arrived
        assert total is not None, "a sum has a part"
        return root, total, total

    def _drop_limbs(self, node: SubroutineNode) -> Location:
        location = self.location[node.operands[0]]
        return {limb: location[limb] for limb in node.type.base}


_SUPPORTED = frozenset(op for op in OPS if hasattr(_Selector, f"_{op}"))
