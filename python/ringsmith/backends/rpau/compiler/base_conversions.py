"""Base conversions (``lift``, ``scale``, some ``mod_up``), while instructions are selected.

A conversion takes one polynomial of some RPAUs, and writes one in every RPAU: each RPAU gives at
most one input and takes at most one output. Outputs that share an RPAU take a conversion each. From
the first RPAU that gives an input to the last one all read, and where outputs have inputs of their
own every RPAU reads those: what a conversion does not take of an RPAU counts for nothing.
"""

from collections.abc import Callable, Sequence
from math import prod

from ringsmith.backends.rpau.compiler.selection import SelectionContext
from ringsmith.backends.rpau.compiler.virtual import Location, mask_of
from ringsmith.backends.rpau.design.conversions import placed
from ringsmith.errors import CompileError
from ringsmith.graph import Form, SubroutineNode
from ringsmith.hdl import base_conversion
from ringsmith.hdl.base_conversion import Conversion

_Made = Callable[[Sequence[int]], Conversion]
"""The conversion to some limbs."""


class BaseConversions:
    """Selects the instructions of base conversions."""

    def __init__(self, context: SelectionContext) -> None:
        self._context = context
        self._rpaus = context.design.rpaus

    def lift(self, node: SubroutineNode) -> Location:
        """An integer modulo some primes, in more of them: limbs that there are stay."""
        (value,) = node.operands
        base = self._context.graph.nodes[value].type.base
        return self._extended(node, base, base_conversion.lift)

    def raised(self, node: SubroutineNode) -> Location:
        """A digit of several primes in the others, exactly or but for a multiple of the digit."""
        exact = node.attrs["variant"] == "centred_digit"
        kind = base_conversion.lift if exact else base_conversion.fast_base_conversion
        return self._extended(node, tuple(node.attrs["digit"]), kind)

    def scale(self, node: SubroutineNode) -> Location:
        """t·x/q rounded, over the extension first, and then over q."""
        (value,) = node.operands
        location, primes = self._context.placement.location[value], self._primes
        q = node.type.base
        p = [i for i in self._context.graph.nodes[value].type.base if i not in q]
        if len(set(map(self._rpau, p))) != len(p):
            self._refuse(node, "an RPAU has several primes of the extension")
        own = self._together(location, p)

        def divided(limbs: Sequence[int]) -> Conversion:
            return base_conversion.divide(primes(q), primes(limbs), node.attrs["plain_modulus"])

        free = own if self._written_over(node, value, p, own) else None
        over_p = self._converted(node, location, q, p, divided, own, free)
        return self._converted(
            node,
            over_p,
            p,
            q,
            lambda limbs: base_conversion.lift(primes(p), primes(limbs)),
            free=over_p[p[0]],
        )

    def _written_over(
        self, node: SubroutineNode, value: int, limbs: Sequence[int], poly: int
    ) -> bool:
        """Whether a conversion may write over the polynomial with the limbs of its operand.

        The outputs of a coefficient come after its inputs were read, in every RPAU.
        """
        placement = self._context.placement
        location = placement.location[value]
        return any(location[limb] != poly for limb in limbs) or all(
            placement.dies(value, limb, node) for limb in limbs
        )

    def _extended(
        self,
        node: SubroutineNode,
        base: Sequence[int],
        kind: Callable[[Sequence[int], Sequence[int]], Conversion],
    ) -> Location:
        """The limbs of ``base`` as they are, and the others converted from them."""
        (value,) = node.operands
        location, primes = self._context.placement.location[value], self._primes
        others = [limb for limb in node.type.base if limb not in base]
        kept = {limb: location[limb] for limb in base if limb in node.type.base}
        return kept | self._converted(
            node, location, base, others, lambda limbs: kind(primes(base), primes(limbs))
        )

    def _converted(
        self,
        node: SubroutineNode,
        location: Location,
        inputs: Sequence[int],
        outputs: Sequence[int],
        made: _Made,
        own: int | None = None,
        free: int | None = None,
    ) -> Location:
        """Limbs ``outputs``, converted from ``inputs``.

        ``own`` has the outputs' own inputs. ``free`` is a polynomial in all RPAUs that may be
        written over.
        """
        sources = [self._rpau(limb) for limb in inputs]
        if len(set(sources)) != len(sources):
            self._refuse(node, "an RPAU has several primes of its base")
        first, last = min(sources), max(sources)
        if own is not None and last == self._rpaus - 1:
            self._refuse(node, "the last RPAU holds one of its primes and one of the extension")
        emitter, everyone = self._context.emitter, mask_of(range(self._rpaus))
        a, found = self._together(location, inputs), Location()
        if mask_of(range(first, last + 1)) & ~self._context.memory.masks[a]:
            self._refuse(node, "its primes do not lie in neighbouring RPAUs")
        for limbs in self._apart(outputs):
            dst = self._context.memory.reserve(everyone) if free is None else free
            free = None
            conversion = placed(made(limbs), sources, [*map(self._rpau, limbs)], self._rpaus)
            operands = {"dst": dst, "a": a, "first": first, "last": last}
            operands["conversion"] = emitter.conversion(conversion)
            if own is None:
                emitter.emit_group("convert", everyone, 0, **operands)
            else:
                emitter.emit_group("convert_own", everyone, 0, b=own, **operands)
            found |= dict.fromkeys(limbs, dst)
        return found

    def _apart(self, limbs: Sequence[int]) -> list[list[int]]:
        """Groups of limbs; the limbs of a group lie in different RPAUs."""
        groups: list[list[int]] = []
        for limb in limbs:
            free = (g for g in groups if self._rpau(limb) not in map(self._rpau, g))
            group = next(free, None)
            if group is None:
                groups.append([limb])
            else:
                group.append(limb)
        return groups

    def _together(self, location: Location, limbs: Sequence[int]) -> int:
        """The virtual polynomial that holds some limbs: copied into one where there are several."""
        polys = {location[limb] for limb in limbs}
        if len(polys) == 1:
            return polys.pop()
        poly = self._context.memory.reserve(mask_of(map(self._rpau, limbs)))
        self._context.emitter.copy(limbs, dict.fromkeys(limbs, poly), location)
        return poly

    def _primes(self, limbs: Sequence[int]) -> list[int]:
        return [self._context.graph.primes[limb] for limb in limbs]

    def _rpau(self, limb: int) -> int:
        return self._context.layout.order.rpau(limb)

    def _refuse(self, node: SubroutineNode, why: str) -> None:
        origin = node.origin
        raise CompileError(
            f"design {self._context.design.name} cannot convert the bases of {node.op} (subroutine "
            f"{self._context.sources[node.id]}): {why}; take a design with other rpaus or "
            "modulus_banks, or run on the cpu",
            None if origin is None else origin.node,
        )


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
