"""Planning: where to relinearize, rescale and switch modulus, and at which scales to encode.

**Scales** are declared doubles, combined as SEAL combines them: a product's scale is the product,
rescaling divides by the dropped prime. Operands of an addition have exactly equal declared scales.
Since primes differ from the scale, that does not come by itself; it rests on a freedom and on a
ladder:

- The scale of a plaintext is free. A product with a plaintext is therefore not planned where it is
  written but where its result meets another (``Product``), at the scale of that other value.
- A product of such a product with another plaintext is one product with one plaintext: the two
  are multiplied when the program is planned. It takes one level. A product whose range is promised
  stays, so that the promise does.
- The *ladder* names one scale for each number of limbs: the default scale at all L limbs, and
  S[l - 1] = S[l]^2 / q_{l-1} below. A product of two ciphertexts on the ladder is on the ladder,
  and a free product goes there when nothing else asks.
- Where two ciphertexts of different scale meet all the same, the one with more limbs is multiplied
  by one at the scale that corrects it, on its way down. Only where both have equally many limbs
  does this cost a level (``levels_lost``).

**Positions.** A product is relinearized and rescaled when a user needs this. Products are added
first, so that one relinearization and one rescaling are enough for a sum. Exceptions are a term
with other users, and ``lazy_rescale=False``, by which each product is rescaled separately. With
``rotate_products=True``, products with plaintexts are rotated before they are rescaled. All other
operations use rescaled values, because fewer limbs are cheaper. Moduli are switched only where
operands meet, and ``ringsmith.program.sink`` then moves those switches forward.

These are the known ways of planning CKKS: reduced-error scale tracking of Kim, Papadimitriou and
Polyakov 2022 (eprint 2020/1118) and lazy relinearization and waterline rescaling of EVA (Dathathri
et al. 2020).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters
from ringsmith.params.bootstrapping import Bootstrapping
from ringsmith.program.bootstrapping.expansion import STAGES, expanded, least_period
from ringsmith.program.nodes import Bound
from ringsmith.program.plain import PlainValues, Space, turns
from ringsmith.program.planner import Cipher, InputSpec, Planner, multiplicative_depth
from ringsmith.program.recorder import TraceNode
from ringsmith.schemes.base import Options
from ringsmith.schemes.ckks.emitter import CkksEmitter


class LevelsError(ProgramError):
    """A program that needs more levels than its parameters have."""


@dataclass(frozen=True, eq=False)
class Product:
    """A rescaled ciphertext times a plaintext whose scale is still to be chosen."""

    source: int
    values: PlainValues


LARGEST = math.sqrt(2) + 1e-5
"""The largest magnitude that is bootstrapped like 1: of complex numbers with parts up to 1."""
_SLACK = 0.99
"""Part of the factor 1 before a bootstrapping that does: scales of equal limbs differ a little."""
Value = Cipher | Product
_ONE = np.ones(())


class CkksPlanner(Planner[Value]):
    """Plans the nodes of one trace.

    Args:
        parameters: The parameter set.
        trace: The traced nodes, operands before users.
        headroom_bits: log2 of the largest message magnitude that must fit.
        on_ladder: Whether values lose limbs by being corrected onto the ladder. Then all values of
            equal limbs have equal scales, unless an input has another. Otherwise their modulus is
            switched, which is cheaper.
        options: When products are rescaled, and how.
        period: After how many slots all values repeat.
    """

    def __init__(
        self,
        parameters: CkksParameters,
        trace: Sequence[TraceNode],
        headroom_bits: int,
        on_ladder: bool,
        options: Options,
        period: int,
    ) -> None:
        self._emitter = CkksEmitter(parameters, headroom_bits)
        super().__init__(self._emitter, trace)
        self._parameters = parameters
        self._on_ladder = on_ladder
        self._options = options
        self._period = period
        self._ladder = Ladder.of(parameters)
        self._products: dict[int, Product] = {}  # by the node that holds the result, rescaled
        self.levels_lost = 0

    def _input(self, name: str, spec: InputSpec) -> Value:
        limbs = spec.limbs or self._parameters.working_limbs
        scale = spec.scale or self._ladder.scales[limbs]
        return Cipher(self._emitter.input(name, limbs, scale))

    def _operation(self, node: TraceNode, operands: list[Value]) -> Value:
        emitter, first = self._emitter, operands[0]
        match node.op:
            case Op.ADD | Op.SUB:
                second = operands[1]
                if node.op is Op.ADD and isinstance(first, Product) and isinstance(second, Cipher):
                    first, second = second, first  # devices add a product to a sum in one pass
                left, right = self._meet(first, second)
                pending = left.pending  # both are, or neither: _meet
                return Cipher(emitter.add_or_sub(node.op, left.node, right.node), pending)
            case Op.NEGATE:
                if isinstance(first, Product):
                    return Product(first.source, np.asarray(-first.values))
                negative = Cipher(emitter.negate(first.node), first.pending)
                if first.node in self._products:
                    inner = self._products[first.node]
                    values = np.asarray(-inner.values)
                    self._products[negative.node] = Product(inner.source, values)
                return negative
            case Op.MULTIPLY:
                product = Cipher(self._multiply(first, operands[1]), pending=True)
                return product if self._options.lazy_rescale else self._settled(product)
            case Op.ROTATE if node.steps is not None:
                rotated = self._settled(first)
                return Cipher(emitter.rotate(rotated.node, node.steps), rotated.pending)
            case Op.CONJUGATE:
                return Cipher(emitter.conjugate(node.op, self._ready(first)))
            case Op.MULTIPLY_PLAIN if node.values is not None:
                scale = 1.0 if node.scale is None and turns(node.values) else node.scale
                if scale is not None:
                    exact = emitter.multiply_exactly(self._ready(first), node.values, scale)
                    return Cipher(exact)
                before = self._trace[node.operands[0]]
                fold = before.bound is None and not before.approximation
                return self._times_plain(first, node.values, fold=fold)
            case Op.ADD_PLAIN | Op.SUB_PLAIN if node.values is not None:
                return Cipher(emitter.add_or_sub_plain(node.op, self._ready(first), node.values))
        return self._of_part(node, operands)

    def _of_part(self, node: TraceNode, operands: list[Value]) -> Value:
        """Plans a bootstrapping, or an operation that is only a part of one, or of a loop."""
        first = operands[0]
        match node.op:
            case Op.BOOTSTRAP:
                return self._bootstrapped(self._ready(first), node.bound, node.limbs)
            case Op.ROTATE_CONJUGATE if node.steps is not None:
                rotated = self._settled(first)
                turned = self._emitter.rotate_conjugate(rotated.node, node.steps)
                return Cipher(turned, rotated.pending)
            case Op.MOD_SWITCH if node.limbs is not None:
                return Cipher(self._emitter.mod_switch(self._ready(first), node.limbs))
            case Op.CARRIED if node.limbs is not None:
                begun = self._on_ladder_at(first, node.limbs)
                return Cipher(self._emitter.carried(begun, node.loop))
            case Op.NEXT if node.limbs is not None:
                ended, [_, carried] = self._on_ladder_at(first, node.limbs), operands
                assert isinstance(carried, Cipher), "it is settled"
                return Cipher(self._emitter.next(ended, carried.node, node.loop, node.count))
        raise AssertionError(f"{node.op} is never traced")

    def _times_plain(self, value: Value, values: PlainValues, *, fold: bool) -> Product:
        """Returns a product with a plaintext: one, where the value is such a product already."""
        inner = value if isinstance(value, Product) else self._products.get(value.node)
        if inner is not None and fold:
            with np.errstate(over="ignore", under="ignore"):
                both = np.asarray(inner.values * values)
            if np.isfinite(both).all() and both.any():
                return Product(inner.source, both)
        return Product(self._ready(value), values)

    def _bootstrapped(self, node: int, bound: Bound | None, limbs: int | None) -> Cipher:
        """Plans a bootstrapping of a ciphertext at any level.

        Its scale is multiplied by a whole number, to that at which the message is as far below q_0
        as the parameters say. Then its modulus is raised, and the rest is planned as if it were
        written in the program.

        Args:
            node: The ciphertext.
            bound: The range of its numbers; None: [-1, 1].
            limbs: Those that are needed of the result; None: all that programs have.
        """
        parameters, emitter, source = self._parameters, self._emitter, self._emitter.source
        given = parameters.bootstrapping
        if given is None:
            raise source.error(
                f"bootstrap: parameters {parameters.name!r} do not bootstrap: take a named set "
                "that does, such as 'boot-test', or CkksParameters(..., bootstrapping=...)"
            )
        q0, largest = parameters.lowest_modulus, 1.0 if bound is None else bound.magnitude
        low = emitter.mod_switch(node, parameters.lowest_limbs)
        factor = self._factor(low, given, largest)
        emitter.stage = STAGES[0]
        if factor > 1:
            low = emitter.multiply_exactly(low, np.ones(()), float(factor))
        raised = emitter.mod_raise(low, parameters.limbs)
        space = Space(parameters.slots, parameters.slots, exact=False)
        ratio = q0 / self._scale(low)
        taken = parameters.ladder[::-1][: given.levels]
        period = min(max(self._period, least_period(given)), parameters.slots)
        found = expanded(given, space, taken, ratio, largest, period, source)
        limbs = limbs or parameters.working_limbs
        before = self._trace, self._options, self._ladder
        self._trace, self._options = found.nodes, replace(self._options, rotate_products=True)
        self._ladder = self._ladder.ending_at(parameters, limbs)
        start = {found.start: Cipher(raised)}
        values = self._planned({}, start, [found.result], range(len(found.nodes)))
        result = self._ready(values[found.result])
        self._trace, self._options, self._ladder = before
        emitter.source, emitter.stage = source, ""
        ended = emitter.bootstrap(result, node)
        emitter.annotate(ended, bound, found.error)
        return Cipher(emitter.mod_switch(ended, limbs))

    def _factor(self, low: int, given: Bootstrapping, largest: float) -> int:
        """Returns what the scale is multiplied by before a bootstrapping.

        Args:
            low: The ciphertext at the lowest level.
            given: How the parameters bootstrap.
            largest: The largest magnitude of its numbers; of complex ones with parts up to 1 more.
        """
        scale = self._scale(low)
        most = self._parameters.lowest_modulus / 2.0**given.ratio_bits / scale
        if round(most) < 1:
            raise self._emitter.source.error(
                f"bootstrap: the scale 2^{math.log2(scale):.1f} of the vector leaves "
                f"less than {given.ratio_bits} bits to q_0 of "
                f"{math.log2(self._parameters.lowest_modulus):.1f} bits: encrypt "
                "inputs at a smaller scale"
            )
        if largest <= LARGEST:
            return round(most)
        if most / largest < _SLACK:
            raise self._emitter.source.error(
                f"bootstrap: numbers may reach {largest:.3g} by the ranges of the inputs, and at "
                f"most {max(most, 1):.3g} is allowed: scale them down, or promise what you know: "
                f"bounded(x, {max(most, 1):.3g})"
            )
        return max(round(most / largest), 1)

    def _on_ladder_at(self, value: Value, limbs: int) -> int:
        """Returns the value's node with these limbs, at the scale that the ladder has there."""
        scale = self._ladder.scales[limbs]
        if not isinstance(value, Product):
            node = self._ready(value)
            if self._limbs(node) >= limbs and self._scale(node) == scale:
                return self._emitter.mod_switch(node, limbs)
            value = Product(node, _ONE)
        if self._limbs(value.source) <= limbs:
            self._require_level(self._parameters.lowest_limbs)
        return self._rescaled(value, limbs, scale)

    def _multiply(self, a: Value, b: Value) -> int:
        left, right = self._ready(a), self._ready(b)
        limbs = min(self._limbs(left), self._limbs(right))
        self._require_level(limbs)
        left, right = self._lower(left, limbs), self._lower(right, limbs)
        return self._emitter.multiply(left, right)

    # ---- one value -------------------------------------------------------------------------

    def _settled(self, value: Value) -> Cipher:
        """Returns what can be shared and rotated: ready, or a product that waits to be rescaled."""
        if isinstance(value, Product):
            settled = self._settled_product(value)
            self._products[settled.node] = value
            return settled
        rotatable = self._options.rotate_products and value.pending
        if rotatable and self._emitter.nodes[value.node].size == 2:
            return value
        return Cipher(self._ready(value))

    def _settled_product(self, product: Product) -> Cipher:
        if not self._options.rotate_products:
            return Cipher(self._ready(product))
        limbs = self._limbs(product.source)
        self._require_level(limbs)
        return Cipher(self._unrescaled(product, limbs, self._ladder.products[limbs]), pending=True)

    def _ready(self, value: Value) -> int:
        """Returns the value's node, relinearized and rescaled."""
        if isinstance(value, Product):
            limbs = self._limbs(value.source)
            self._require_level(limbs)
            below = self._parameters.below(limbs)
            return self._rescaled(value, below, self._ladder.scales[below])
        if not value.pending:
            return value.node
        self._require_level(self._limbs(value.node))
        if self._options.fused_rescale and self._emitter.nodes[value.node].size == 3:
            return self._emitter.relinearize_rescale(value.node)
        return self._emitter.rescale(self._emitter.relinearize(value.node))

    def _unrescaled(self, product: Product, limbs: int, scale: float) -> int:
        """Returns the product with ``limbs`` limbs and the given scale, before rescaling."""
        source = self._emitter.mod_switch(product.source, limbs)
        return self._emitter.multiply_plain(source, product.values, scale)

    def _rescaled(self, product: Product, limbs: int, scale: float) -> int:
        """Returns the product with ``limbs`` limbs and the given scale, after rescaling."""
        above = self._parameters.above(limbs)
        raw = self._unrescaled(product, above, scale * self._parameters.divisor(above))
        return self._emitter.rescale(raw, scale)

    def _lower(self, node: int, limbs: int) -> int:
        """Returns the node with ``limbs`` limbs: on the ladder, or else at its own scale."""
        if self._on_ladder and self._limbs(node) > limbs:
            return self._rescaled(Product(node, _ONE), limbs, self._ladder.scales[limbs])
        return self._emitter.mod_switch(node, limbs)

    # ---- two values ------------------------------------------------------------------------

    def _meet(self, a: Value, b: Value) -> tuple[Cipher, Cipher]:
        """Returns both values with equal limbs, scale and state of rescaling."""
        if isinstance(a, Product):
            if isinstance(b, Product):
                return self._meet_products(a, b)
            right, left = self._meet(b, a)
            return left, right
        if isinstance(b, Product):
            return self._meet_product(a, b)
        if self._scale(a.node) == self._scale(b.node) and self._limbs(a.node) == self._limbs(
            b.node
        ):
            return a, b
        return self._meet_ciphers(a, b)

    def _meet_products(self, a: Product, b: Product) -> tuple[Cipher, Cipher]:
        limbs = min(self._limbs(a.source), self._limbs(b.source))
        self._require_level(limbs)
        if not self._options.lazy_rescale:
            below = self._parameters.below(limbs)
            lower = below, self._ladder.scales[below]
            return Cipher(self._rescaled(a, *lower)), Cipher(self._rescaled(b, *lower))
        scale = self._ladder.products[limbs]  # as a product of two ciphertexts has it
        left, right = (self._unrescaled(product, limbs, scale) for product in (a, b))
        return Cipher(left, pending=True), Cipher(right, pending=True)

    def _meet_product(self, a: Cipher, product: Product) -> tuple[Cipher, Cipher]:
        """Meets a ciphertext with a product, whose plaintext takes the scale that fits."""
        available = self._limbs(product.source)
        if a.pending and available >= self._limbs(a.node):
            raw = self._unrescaled(product, self._limbs(a.node), self._scale(a.node))
            return a, Cipher(raw, pending=True)
        node = self._ready(a)
        self._require_level(available)
        limbs = min(self._limbs(node), self._parameters.below(available))
        lowered = self._lower(node, limbs)
        return Cipher(lowered), Cipher(self._rescaled(product, limbs, self._scale(lowered)))

    def _meet_ciphers(self, a: Cipher, b: Cipher) -> tuple[Cipher, Cipher]:
        """Meets two ciphertexts of different limbs, scales or states."""
        if not self._is_lower(a, b):
            right, left = self._meet_ciphers(b, a)
            return left, right
        # a is the lower one, or as low as b and, if one of them is, the one not yet rescaled.
        high = self._ready(b)
        if a.pending and self._limbs(high) >= self._limbs(a.node):
            return self._meet_product(a, Product(high, _ONE))
        low = self._ready(a)
        if self._scale(low) == self._scale(high):
            limbs = min(self._limbs(low), self._limbs(high))
            switched = (self._emitter.mod_switch(node, limbs) for node in (low, high))
            return Cipher(next(switched)), Cipher(next(switched))
        if self._limbs(low) == self._limbs(high):
            self.levels_lost += 1
        return self._meet_product(Cipher(low), Product(high, _ONE))

    def _is_lower(self, a: Cipher, b: Cipher) -> bool:
        def rank(value: Cipher) -> tuple[int, bool]:
            limbs = self._limbs(value.node)
            limbs = self._parameters.below(limbs) if value.pending else limbs
            return limbs, not value.pending

        return rank(a) <= rank(b)

    # ---- checks ----------------------------------------------------------------------------

    def _limbs(self, node: int) -> int:
        return self._emitter.nodes[node].limbs

    def _scale(self, node: int) -> float:
        return self._emitter.nodes[node].scale

    def _require_level(self, limbs: int) -> None:
        """Refuses to multiply or correct a value that cannot be rescaled any more."""
        if limbs > self._parameters.lowest_limbs:
            return
        parameters = self._parameters
        levels = parameters.ladder.index(parameters.working_limbs)
        needed = multiplicative_depth(self._trace, range(len(self._trace)))
        needed = max(needed, levels + 1)
        single = not (parameters.level_limbs or parameters.bootstrapping)
        primes = [f" ({count + 1} data primes)" if single else "" for count in (needed, levels)]
        again = "bootstrap(x), " if parameters.bootstrapping else ""
        raise LevelsError(
            f"{self._emitter.source}: out of levels: the program needs at least {needed} levels"
            f"{primes[0]} and parameters {parameters.name!r} have {levels}{primes[1]}: "
            f"{again}add data primes, or multiply less deeply (a product of n factors needs only "
            "log2(n) levels when it is multiplied as a tree)"
        )


@dataclass(frozen=True)
class Ladder:
    """The scales that values normally have.

    Attributes:
        scales: Of a value of l limbs, at index l; 0 where no level has l limbs.
        products: Of a product of l limbs that is not rescaled yet, at index l; rescaled, it has the
            scale of the next lower level.
    """

    scales: Sequence[float]
    products: Sequence[float]

    @classmethod
    def of(cls, parameters: CkksParameters) -> "Ladder":
        """Returns the ladder of a parameter set.

        Programs and EvalMod multiply ciphertexts, and their products have squared scales. The
        transforms of a bootstrapping multiply by plaintexts: from q_0 to the scale of EvalMod, and
        from that of its results to that of programs, by equal factors.
        """
        given, ladder = parameters.bootstrapping, parameters.ladder
        scales, products = ([0.0] * (parameters.limbs + 1) for _ in range(2))
        working = ladder.index(parameters.working_limbs)

        def step(level: int, product: float) -> None:
            limbs = ladder[level]
            products[limbs] = product
            scales[ladder[level - 1]] = product / parameters.divisor(limbs)

        def squares(top: int, bottom: int) -> None:
            for level in range(top, bottom, -1):
                step(level, scales[ladder[level]] * scales[ladder[level]])

        def factors(top: int, bottom: int, target: float) -> None:
            ratio = (target / scales[ladder[top]]) ** (1 / (top - bottom))
            for level in range(top, bottom, -1):
                wanted = target if level == bottom + 1 else scales[ladder[level]] * ratio
                step(level, wanted * parameters.divisor(ladder[level]))

        if given is not None:
            reduced = working + given.slots_to_coeffs
            scales[parameters.limbs] = float(parameters.lowest_modulus)
            factors(parameters.levels, reduced + given.eval_mod, given.scale)
            squares(reduced + given.eval_mod, reduced)
            factors(reduced, working, parameters.scale)
        scales[parameters.working_limbs] = parameters.scale
        squares(working, 0)
        return cls(scales, products)

    def ending_at(self, parameters: CkksParameters, limbs: int) -> "Ladder":
        """Returns the ladder of a bootstrapping whose result has the scale of fewer limbs.

        So its modulus can be switched to these, and it is on the ladder.
        """
        working = parameters.working_limbs
        above, scale = parameters.above(working), self.scales[limbs]
        scales, products = [*self.scales], [*self.products]
        scales[working], products[above] = scale, scale * parameters.divisor(above)
        return Ladder(scales, products)
