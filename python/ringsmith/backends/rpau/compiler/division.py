"""Rounding division by primes (``mod_down``), while instructions are selected.

By a prime p (SEAL's ModDown and rescale; Medha, Algorithm 3) it is, with h = floor(p/2) and
r = (x_p + h) mod p,

    out_j = (x_j - ((r - h) mod q_j)) * p^-1 mod q_j,

exact on canonical residues. The factor p^-1 is moved in front of the NTT: the receivers of the
transfer compute r*p^-1 - h*p^-1, and the last step is x_j*p^-1 - NTT(...). By several primes p_i at
once, P their product, it is the same with r_i = (x_i * (P/p_i)^-1 + h_i) mod p_i: the receivers sum
up r_i*p_i^-1 - h_i*p_i^-1, and the last step is x_j*P^-1 - NTT(...).
"""

from math import prod

from ringsmith.backends.rpau.compiler.selection import SelectionContext
from ringsmith.backends.rpau.compiler.virtual import Location
from ringsmith.graph import Form, SubroutineNode


class Division:
    """Selects the instructions of divisions."""

    def __init__(self, context: SelectionContext) -> None:
        self._context = context

    def quotient(self, node: SubroutineNode, summand: int | None = None) -> Location:
        """A rounded quotient, plus a value if one is given.

        Args:
            node: The ``mod_down``.
            summand: The value that is added to the quotient; its ``add`` is served with it.
        """
        emitter, location = self._context.emitter, self._context.placement.location
        primes, base, dropped = self._context.graph.primes, node.type.base, node.attrs["drop"]
        product = prod(primes[limb] for limb in dropped)
        factor = emitter.constant({j: pow(product, -1, primes[j]) for j in base})
        down: Location = {}
        for limb in dropped:
            part = self._remainder(node, limb, product // primes[limb])
            if down:
                emitter.emit(base, "add", dst=down, a=down, b=part)
            down = down or part
        if _in_ntt_form(node):
            emitter.transform(base, "ntt", down, down)
        x = location[node.operands[0]]
        if summand is None:
            emitter.emit(base, "scale_sub", dst=down, a=x, b=down, k1=factor)
            return down
        total = self._context.placement.target(node)
        emitter.emit(base, "scale_add", dst=total, a=x, b=location[summand], k1=factor)
        emitter.emit(base, "sub", dst=down, a=total, b=down)
        return down

    def _remainder(self, node: SubroutineNode, dropped: int, cofactor: int) -> Location:
        """What a division subtracts for one of its primes, in coefficient form, over the base.

        ``cofactor`` is the product of the other primes that are divided by.
        """
        emitter, graph, base = self._context.emitter, self._context.graph, node.type.base
        p = graph.primes[dropped]
        inverse = {j: pow(p, -1, graph.primes[j]) for j in base}
        shift = {j: -(p // 2) * inverse[j] % graph.primes[j] for j in base}
        factor = emitter.constant({dropped: pow(cofactor, -1, p), **inverse})
        addend = emitter.constant({dropped: p // 2, **shift})
        root, last, dst = self._gathered(node, node.operands[0], dropped)
        if _in_ntt_form(node):
            emitter.transform([root], "intt", {root: dst}, {root: last})
            last = dst
        transfer = self._context.transfer
        send = transfer.send if dropped in graph.special else transfer.broadcast
        return send(root, last, base, factor, addend)

    def _gathered(self, node: SubroutineNode, value: int, limb: int) -> tuple[int, int, int]:
        """Adds up a limb that is a sum over slots.

        Returns its slot, where it is now, and where its inverse transform may go, if the node is
        in NTT form and has one.
        """
        context, layout = self._context, self._context.layout
        parts, here = layout.slots(value, [limb]), context.placement.location[value]
        root = layout.roots.get((value, limb), parts[0])
        if parts == [root]:
            inverse = context.placement.over(value, parts, node) if _in_ntt_form(node) else here
            return root, here[root], inverse[root]
        total = here.get(root)
        for part in parts:
            if part == root:
                continue
            arrived = context.own(value, [part], node)[part]
            if layout.order.rpau(part) != layout.order.rpau(root):
                one, zero = context.emitter.ones(), context.emitter.zeros()
                arrived = context.transfer.send(part, arrived, [root], one, zero)[root]
            if total is not None:
                context.emitter.emit([root], "add", dst=arrived, a=arrived, b=total)
            total = arrived
        assert total is not None, "a sum has a part"
        return root, total, total


def _in_ntt_form(node: SubroutineNode) -> bool:
    return node.type.form == Form.NTT
