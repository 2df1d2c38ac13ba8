"""Instruction selection: a subroutine graph becomes instructions on virtual polynomials.

A value of the graph is a map from slots, which ``layout`` gives to its limbs, to virtual
polynomials. What comes out is a list in a valid sequential order; ``schedule`` puts it in time and
in memory. The parts, each with its contract in its own module:

* ``placement``: where values are, who still reads them, what may be written over;
* ``emission``: instructions and constants; ``transfer``: sending limbs to other slots;
* ``fusion``: which nodes are served by other nodes' instructions;
* ``key_sums`` and ``division``: the two nodes that take many instructions;
* here: one function for each kind of node.

Identities used here, all exact on canonical residues (``division`` has its own):

* P*c + x, c without the primes of P (``scaled``), is x in those primes: only data limbs are added.
* A limb is dead as soon as the last node that reads this very limb is done: limb J of an INTT is
  read by the extension of digit J only, so that digit's own transform happens in place.
"""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final

from ringsmith.backends.rpau.compiler.base_conversions import BaseConversions, Division
from ringsmith.backends.rpau.compiler.fusion import Fusion
from ringsmith.backends.rpau.compiler.key_sums import KeySums
from ringsmith.backends.rpau.compiler.limb_layout import Layout, is_scaled
from ringsmith.backends.rpau.compiler.selection import Selection, SelectionContext
from ringsmith.backends.rpau.compiler.virtual import Location
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.errors import CompileError
from ringsmith.graph import Form, SubroutineGraph, SubroutineNode
from ringsmith.graph.expand import Expanded


def select(
    expanded: Expanded,
    design: RpauDesign,
    layout: Layout,
    *,
    per_rpau: bool,
    preinitialised: bool = False,
    eager: bool = False,
    seeded: Collection[str] = (),
) -> Selection:
    """Selects the instructions of a checked graph for a design that has enough modulus banks.

    Args:
        expanded: The graph, in primitives.
        design: The accelerator.
        layout: Where limbs go.
        per_rpau: Per-RPAU issue: whether each RPAU gets its own instructions in key switching. This
            takes several times as many instructions. In return, each RPAU processes the digits in
            its own order. Otherwise all idle at different times, since no RPAU transforms its own
            digit, and few do the special prime's work.
        preinitialised: Whether to initialise the accumulators with P times the addend of the
            quotient, P the primes that are divided by. The addend need not be stored then.
        eager: Eager multiply-accumulate: whether a digit's key products follow it at once, so that
            it need not be stored until all digits are there.
        seeded: Names of keys whose a part the design expands; it has a PRNG if there are any.

    Raises:
        CompileError: If a node has no form on this architecture.
    """
    context = SelectionContext.of(expanded, design, layout, per_rpau=per_rpau)
    fusion = Fusion.of(expanded, preinitialised=preinitialised, eager=eager)
    selector = _NodeSelector(context, fusion, seeded)
    for node in expanded.graph.nodes:
        selector.serve(node)
    return selector.selection()


def check_supported(graph: SubroutineGraph, design: RpauDesign | None = None) -> None:
    """Refuses nodes for which a design has no instructions.

    Without converters that is BFV's lift and scale, digits of several primes, and automorphisms in
    coefficient form; on every design digits that are words, and SEAL's variants of lift and scale.
    Without a design, refuses nodes for which no design has instructions.

    Raises:
        CompileError: Names the node and what to do.
    """
    converts = design is None or design.converters > 0
    for node in graph.nodes:
        if _takes_words(node) or (node.op in ("lift", "scale") and not converts):
            words = _takes_words(node)
            raise CompileError(
                f"architecture rpau has no {'decompose' if words else node.op}, which BFV's "
                f"products and word decomposition take (subroutine {node.id}, {node.op}): take "
                + ("relinearization = 'residue'" if words else "a design with converters")
                + ", or run it on the cpu",
                _operation_of(node),
            )
        if node.op in ("lift", "scale") and node.attrs["variant"] != "hps":
            raise CompileError(
                f"architecture rpau converts bases by variant 'hps', and subroutine {node.id}, a "
                f"{node.op}, asks for {node.attrs['variant']!r}: take multiplication = 'hps', or "
                "run on the cpu",
                _operation_of(node),
            )
        if not converts:
            _refuse_unknown_variant(node)


def needs_converters(node: SubroutineNode) -> bool:
    """Whether a node, before or after it is expanded, needs a design with converters."""
    moves = node.op == "automorph" or (node.op == "key_switch" and node.attrs["element"] != 1)
    permutes = moves and node.type.form != Form.NTT
    return permutes or node.op in ("lift", "scale") or _raises_several(node)


def _raises_several(node: SubroutineNode) -> bool:
    """Whether a node is a digit of several primes, or of BFV's residues, in other primes."""
    if node.op == "mod_up":
        return node.attrs["variant"] in ("fast_base_conv", "centred_digit")
    if node.op not in _CUTS or node.attrs["variant"] == "words":
        return False
    return node.attrs["variant"] == "centred_digit" or set(node.attrs["sizes"]) != {1}


def _takes_words(node: SubroutineNode) -> bool:
    """Whether a node cuts a value into words of bits."""
    return node.op == "decompose" or (node.op in _CUTS and node.attrs["variant"] == "words")


def _refuse_unknown_variant(node: SubroutineNode) -> None:
    if _raises_several(node):
        sizes = node.attrs["sizes"] if node.op in _CUTS else [len(node.attrs["digit"])]
        raise CompileError(
            "without converters, architecture rpau raises digits of one prime ('rns_digit') only, "
            f"and subroutine {node.id} asks for {node.attrs['variant']!r} of "
            f"{max(sizes)} primes: "
            "take parameters with one prime a digit and a special prime, a design with converters, "
            "or run on the cpu",
            _operation_of(node),
        )


def _operation_of(node: SubroutineNode) -> int | None:
    """Id of the HE operation that a subroutine belongs to, where known."""
    return None if node.origin is None else node.origin.node


class _NodeSelector:
    """Serves the nodes of a graph in order: each by the rule for its kind (``_RULES``)."""

    def __init__(self, context: SelectionContext, fusion: Fusion, seeded: Collection[str]) -> None:
        self._context = context
        self._placement = context.placement
        self._emitter = context.emitter
        self._fusion = fusion
        self._key_sums = KeySums(context, fusion, seeded)
        self._division = Division(context)
        self._conversions = BaseConversions(context)
        self._inputs: dict[str, Location] = {}
        self._outputs: dict[str, Location] = {}

    def serve(self, node: SubroutineNode) -> None:
        """Selects one node, whose operands are already placed."""
        if node.id in self._fusion.summands:
            return
        self._emitter.origin = f"{node.origin.op}:{node.origin.node}" if node.origin else node.op
        location = _RULES[node.op](self, node)
        self._placement.done(node)
        if location is not None:
            self._placement.put(node.id, location)
        self._key_sums.served(node)

    def selection(self) -> Selection:
        """What was selected."""
        return Selection(
            log_degree=self._context.graph.n.bit_length() - 1,
            sub_polynomials=self._context.memory.sub_polynomials,
            order=self._context.layout.order,
            limbs=self._context.layout.limbs,
            instructions=self._emitter.instructions,
            masks=self._context.memory.masks,
            constants=self._emitter.constants,
            conversions=self._emitter.conversions,
            keys=self._key_sums.keys,
            seeds=self._key_sums.seeds,
            inputs=self._inputs,
            outputs=self._outputs,
        )

    def input(self, node: SubroutineNode) -> Location:
        location = self._context.memory.fresh(node.type.base)
        self._inputs[node.attrs["name"]] = location
        return location

    def output(self, node: SubroutineNode) -> None:
        (value,) = node.operands
        self._outputs[node.attrs["name"]] = dict(self._placement.location[value])
        self._placement.keep(value, node.type.base)

    def sub(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "sub")

    def mul(self, node: SubroutineNode) -> Location:
        return self._pointwise(node, "mul")

    def mul_scalar(self, node: SubroutineNode) -> Location:
        a = self._placement.location[node.operands[0]]
        return self._affine(node, a, self._scalar(node), self._emitter.zeros())

    def add_scalar(self, node: SubroutineNode) -> Location:
        served = self._context.graph.nodes[node.operands[0]]
        if served.id not in self._fusion.summands:
            a = self._placement.location[served.id]
            return self._affine(node, a, self._emitter.ones(), self._scalar(node))
        a = self._placement.location[served.operands[0]]
        dst = self._affine(served, a, self._scalar(served), self._scalar(node))
        self._placement.done(served)
        return dst

    def _scalar(self, node: SubroutineNode) -> int:
        """The constant that a node multiplies by, or adds."""
        return self._emitter.constant(dict(zip(node.type.base, node.attrs["values"], strict=True)))

    def _affine(self, node: SubroutineNode, a: Location, factor: int, addend: int) -> Location:
        dst = self._placement.target(node)
        self._emitter.emit(node.type.base, "affine", dst=dst, a=a, k1=factor, k2=addend)
        return dst

    def _pointwise(self, node: SubroutineNode, opcode: str) -> Location:
        a, b = (self._placement.location[operand] for operand in node.operands)
        dst = self._placement.target(node)
        self._emitter.emit(node.type.base, opcode, dst=dst, a=a, b=b)
        return dst

    def add(self, node: SubroutineNode) -> Location:
        fused = [operand for operand in node.operands if operand in self._fusion.summands]
        if not fused:
            return self._pointwise(node, "add")
        other = next(operand for operand in node.operands if operand != fused[0])
        served = self._context.graph.nodes[fused[0]]
        if served.op == "mul":
            dst = self._multiply_accumulate(other, served, node)
        elif served.op == "mul_scalar":
            dst = self._context.own(other, node.type.base, node)
            a, b = (self._placement.location[value] for value in (served.operands[0], other))
            self._emitter.emit(
                node.type.base, "scale_add", dst=dst, a=a, b=b, k1=self._scalar(served)
            )
        elif served.op == "mod_down":
            added = served.operands[0] in self._fusion.initial
            dst = self._division.quotient(served, None if added else other)
        else:
            dst = self._add_scaled(other, served, node)
        self._placement.done(served)
        return dst

    def _multiply_accumulate(
        self, total: int, product: SubroutineNode, node: SubroutineNode
    ) -> Location:
        """``total`` with a product added."""
        dst = self._context.own(total, node.type.base, node)
        a, b = (self._placement.location[factor] for factor in product.operands)
        self._emitter.emit(node.type.base, "mac", dst=dst, a=a, b=b)
        return dst

    def _add_scaled(self, total: int, scaled: SubroutineNode, node: SubroutineNode) -> Location:
        """``total`` plus a value multiplied by P: it adds nothing in the primes of P."""
        location = self._placement.location
        if total in self._fusion.initial:
            return location[total]
        base = scaled.attrs["digit"]
        others = [limb for limb in node.type.base if limb not in base]
        a, b = location[scaled.operands[0]], location[total]
        dst = self._context.own(total, base, node)
        factor = self._raising_factor(scaled)
        self._emitter.emit(base, "scale_add", dst=dst, a=a, b=b, k1=factor)
        return dst | {slot: b[slot] for slot in self._context.layout.slots(node.id, others)}

    def _raising_factor(self, scaled: SubroutineNode) -> int:
        """The constant of a ``scaled`` node: the product of the primes that it adds."""
        base = scaled.attrs["digit"]
        added = [limb for limb in scaled.type.base if limb not in base]
        return self._emitter.prime_product(base, added)

    def neg(self, node: SubroutineNode) -> Location:
        primes = self._context.graph.primes
        minus_one = self._emitter.constant({i: primes[i] - 1 for i in node.type.base})
        a = self._placement.location[node.operands[0]]
        return self._affine(node, a, minus_one, self._emitter.zeros())

    def automorph(self, node: SubroutineNode) -> Location:
        if node.type.form != Form.NTT and self._context.design.converters:
            return self._permuted(node)
        if node.type.form != Form.NTT:
            raise CompileError(
                "architecture rpau permutes polynomials in NTT form only (subroutine "
                f"{self._context.sources[node.id]}): take a design with converters, run it on the "
                "cpu, or put the automorphism after an ntt node",
                _operation_of(node),
            )
        slots = self._placement.slots(node)
        dst = self._context.memory.fresh(slots)
        a = self._placement.location[node.operands[0]]
        self._emitter.permute(slots, dst, a, node.attrs["element"])
        return dst

    def _permuted(self, node: SubroutineNode) -> Location:
        """An automorphism in coefficient form: coefficient i is number i / element."""
        n = self._context.graph.n
        if self._context.memory.sub_polynomials > 1:
            raise CompileError(
                f"design {self._context.design.name} permutes coefficients of rings up to N = "
                f"{self._context.design.n}, and subroutine "
                f"{self._context.sources[node.id]} is of degree {n}: put the "
                "automorphism after an ntt node",
                _operation_of(node),
            )
        dst = self._context.memory.fresh(node.type.base)
        a = self._placement.location[node.operands[0]]
        element = pow(node.attrs["element"], -1, 2 * n)
        self._emitter.emit(node.type.base, "permute", dst=dst, a=a, element=element)
        return dst

    def intt(self, node: SubroutineNode) -> Location:
        (value,) = node.operands
        dst = self._placement.over(value, node.type.base, node)
        self._emitter.transform(node.type.base, "intt", dst, self._placement.location[value])
        return dst

    def ntt(self, node: SubroutineNode) -> Location:
        copied, (value,) = self._placement.copied_limb(node), node.operands
        slots = [s for s in self._placement.slots(node) if copied is None or s != copied[1]]
        location = self._placement.over(value, slots, node)
        self._emitter.transform(slots, "ntt", location, self._placement.location[value])
        if copied is not None:
            origin, limb = copied
            location[limb] = self._placement.location[origin][limb]
        return location

    def mod_up(self, node: SubroutineNode) -> Location:
        if is_scaled(node):
            return self._scaled(node)
        if node.attrs["variant"] != "rns_digit":
            return self._conversions.raised(node)
        (value,), (digit,) = node.operands, node.attrs["digit"]
        others = [slot for slot in self._placement.slots(node) if slot != digit]
        a = self._placement.location[value][digit]
        location: Location = {}
        if others:
            one, zero = self._emitter.ones(), self._emitter.zeros()
            location = self._context.transfer.send(digit, a, others, one, zero)
        if digit in node.type.base:
            location[digit] = a
        return location

    def _scaled(self, node: SubroutineNode) -> Location:
        """A ``scaled`` value that is no summand of a sum, zeros and all."""
        base, zero = node.attrs["digit"], self._emitter.zeros()
        others = [slot for slot in self._placement.slots(node) if slot not in base]
        dst = self._context.memory.fresh(base)
        a, factor = self._placement.location[node.operands[0]], self._raising_factor(node)
        self._emitter.emit(base, "affine", dst=dst, a=a, k1=factor, k2=zero)
        return dst | self._context.transfer.broadcast(base[0], a[base[0]], others, zero, zero)

    def ksk_inner_product(self, node: SubroutineNode) -> Location:
        return self._key_sums.total(node)

    def mod_down(self, node: SubroutineNode) -> Location:
        return self._division.quotient(node)

    def lift(self, node: SubroutineNode) -> Location:
        return self._conversions.lift(node)

    def scale(self, node: SubroutineNode) -> Location:
        return self._conversions.scale(node)

    def drop_limbs(self, node: SubroutineNode) -> Location:
        location = self._placement.location[node.operands[0]]
        return {limb: location[limb] for limb in node.type.base}


_CUTS = ("digits", "key_switch")
"""Nodes that cut a value into digits, before they are expanded."""

_Rule = Callable[[_NodeSelector, SubroutineNode], Location | None]

_RULES: Final[Mapping[str, _Rule]] = MappingProxyType(
    {
        "input": _NodeSelector.input,
        "output": _NodeSelector.output,
        "add": _NodeSelector.add,
        "sub": _NodeSelector.sub,
        "mul": _NodeSelector.mul,
        "neg": _NodeSelector.neg,
        "mul_scalar": _NodeSelector.mul_scalar,
        "add_scalar": _NodeSelector.add_scalar,
        "automorph": _NodeSelector.automorph,
        "ntt": _NodeSelector.ntt,
        "intt": _NodeSelector.intt,
        "mod_up": _NodeSelector.mod_up,
        "mod_down": _NodeSelector.mod_down,
        "ksk_inner_product": _NodeSelector.ksk_inner_product,
        "drop_limbs": _NodeSelector.drop_limbs,
        "lift": _NodeSelector.lift,
        "scale": _NodeSelector.scale,
    }
)
"""How a node is served, by its kind. Each returns where the node's value is; an output has none."""
