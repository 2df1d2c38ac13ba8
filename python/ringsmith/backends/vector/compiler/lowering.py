"""A subroutine graph as tasks of the array, limb by limb, prime by prime.

**Order.** A basis conversion needs all limbs of its digit, everything else one prime alone. So
nodes fall into phases, at whose borders are conversions, and inside a phase one group of primes
after the other is worked off: digits stay in the scratchpad, and one prime's table of factors and
sums at a time. A group is as many primes as a point instruction has results, since conversions to
several primes share their operand. Groups go to clusters in turn.

**What is not made.** ModUp results of digits are made and used limb by limb, by both halves of
an inner product at once. A digit's own limbs need no transform: they were there before. Limbs of
zeros are none.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import prod
from typing import cast

from ringsmith.backends.vector.compiler.fusion import fused
from ringsmith.backends.vector.compiler.node_order import CONVERSIONS, NodeOrder
from ringsmith.backends.vector.compiler.quotients import has_quotient, moduli_of
from ringsmith.backends.vector.compiler.rewriting import DIVIDE, rewritten
from ringsmith.backends.vector.compiler.task_writer import TaskWriter, parts
from ringsmith.backends.vector.compiler.tasks import (
    AutomorphTask,
    OutputTask,
    Task,
    Turn,
    Value,
)
from ringsmith.backends.vector.design.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.graph.types import Form
from ringsmith.hdl import base_conversion
from ringsmith.hdl.base_conversion import Conversion

Place = tuple[int, int]
"""A node, and the index of a prime."""


def lower(graph: SubroutineGraph, design: VectorDesign, together: int) -> list[Task]:
    """The tasks of a graph.

    Args:
        graph: The graph; its ring and primes are the design's.
        design: The design.
        together: Limbs of a transform that hide the latency of its passes.

    Raises:
        ProgramError: If an output, or what a conversion takes, is zeros alone.
    """
    lowering = _Lowering(graph, design, together)
    return fused(lowering.tasks(), moduli_of(graph, design), design)


class _Lowering:
    def __init__(self, graph: SubroutineGraph, design: VectorDesign, together: int) -> None:
        self._graph, self._design, self._together = graph, design, together
        self._order = NodeOrder(rewritten(graph), graph)
        moduli = moduli_of(graph, design)
        self._writer = TaskWriter(moduli, len(graph.primes), design, together)
        self._made: dict[Place, Value | None] = {}  # None: zeros
        self._inverses: dict[Place, Value] = {}  # N times what they should be
        self._multiples: dict[Place, Value] = {}  # limbs times the design's factor
        self._words: dict[Place, Value] = {}  # what a conversion adds up, by conversion and prime
        self._raised: dict[Place, Value] = {}  # coefficients of a digit modulo another prime
        self._divided: dict[Place, Value] = {}  # what mod_down takes away, in its form
        self._quotients: dict[int, list[Value]] = {}  # of conversions: their sum is the quotient
        self._awaited: dict[int, list[Place]] = defaultdict(list)  # inverses, by operand's phase
        self._early: list[Place] = []  # those that can be made, and wait for others
        self._scaled_inputs = {n.id for n in self._order.nodes if self._is_only_second_factor(n)}
        self._halves = self._order.inner_products()
        size = design.results
        primes = range(len(graph.primes))
        self._groups = [tuple(primes[first : first + size]) for first in primes[::size]]

    # ---- order -----------------------------------------------------------------------------------

    def tasks(self) -> list[Task]:
        """All tasks, in order."""
        phases = self._order.phases()
        by_phase = [
            [node for node in self._order.nodes if phases[node.id] == phase]
            for phase in range(max(phases) + 1)
        ]
        for nodes in by_phase:
            self._wait_for_inverse(nodes, phases)
        for phase, nodes in enumerate(by_phase):
            self._prepare_conversions(nodes)
            levels = self._order.levels(nodes)
            for group in self._groups:
                self._prepare_divisions([n for n in nodes if n.op == "mod_down"], group)
                for level in levels:
                    self._level(level, group)
                self._invert_early(self._awaited[phase], group)
        return self._writer.tasks

    def _level(self, nodes: Sequence[SubroutineNode], group: Sequence[int]) -> None:
        """Makes the limbs of a level modulo a group of primes."""
        places = [(node, prime) for prime in group for node in nodes if prime in node.type.base]
        self._invert([(node.operands[0], prime) for node, prime in places if node.op == "intt"])
        turns = []
        for node, prime in places:
            operand = self._order.nodes[node.operands[0]] if node.operands else node
            if node.op != "ntt" or self._order.before_inverse(operand, prime) is not None:
                continue
            source = self._limb(operand, prime)
            if (node.id, prime) not in self._made and source is not None:
                self._made[node.id, prime] = target = self._writer.value(prime)
                turns.append(Turn(prime, source, target))
        self._writer.origin = self._order.origin_of(nodes[0]) if turns else -1
        self._writer.transform(turns, inverse=False)
        self._writer.origin = -1
        for node, prime in places:
            self._limb(node, prime)

    def _is_only_second_factor(self, node: SubroutineNode) -> bool:
        """Whether an input is nothing but the second factor of products: then it comes scaled."""
        users = self._order.users[node.id]
        return (
            node.op == "input"
            and self._design.reduction == MONTGOMERY
            and bool(users)
            and all(user.op == "mul" and user.operands[0] != node.id for user in users)
        )

    # ---- tasks -----------------------------------------------------------------------------------

    # ---- limbs -----------------------------------------------------------------------------------

    def _limb(self, node: SubroutineNode, prime: int) -> Value | None:
        """A limb of a node; None: zeros."""
        place = (node.id, prime)
        if place not in self._made:
            before = self._writer.origin
            self._writer.origin = self._order.origin_of(node)
            made = getattr(self, f"_{node.op}")(node, prime)
            self._made.setdefault(place, made)
            self._writer.origin = before
        return self._made[place]

    def _operands(self, node: SubroutineNode, prime: int) -> list[Value | None]:
        return [self._limb(self._order.nodes[i], prime) for i in node.operands]

    def _input(self, node: SubroutineNode, prime: int) -> Value:
        index = (node.type.base.index(prime),)
        scaled = node.id in self._scaled_inputs
        return self._writer.value(prime, Limb("input", node.attrs["name"], index, scaled))

    def _output(self, node: SubroutineNode, prime: int) -> None:
        (source,) = self._operands(node, prime)
        limb = Limb("output", node.attrs["name"], (node.type.base.index(prime),))
        if source is None:
            raise ProgramError(f"output {limb.name!r} has a limb of zeros: leave it out")
        self._writer.do(prime, OutputTask(source, limb))

    def _drop_limbs(self, node: SubroutineNode, prime: int) -> Value | None:
        return self._operands(node, prime)[0]

    def _add(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if a is None or b is None:
            return a or b
        return self._writer.point(a, self._writer.result(prime, 1, b))[0]

    def _sub(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if b is None:
            return a
        if a is None:
            return self._writer.point(b, self._writer.result(prime, -1))[0]
        return self._writer.point(a, self._writer.result(prime, 1, b, subtract=True))[0]

    def _neg(self, node: SubroutineNode, prime: int) -> Value | None:
        (a,) = self._operands(node, prime)
        return None if a is None else self._writer.point(a, self._writer.result(prime, -1))[0]

    def _mul(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if a is None or b is None:
            return None
        factor = self._design.factor(self._graph.primes[prime])
        second = node.operands[1]
        if factor != 1 and second not in self._scaled_inputs:
            place = (second, prime)
            if place not in self._multiples:
                self._multiples[place] = self._writer.point(b, self._writer.result(prime, factor))[
                    0
                ]
            b = self._multiples[place]
        return self._writer.point(a, self._writer.result(prime, b))[0]

    def _automorph(self, node: SubroutineNode, prime: int) -> Value | None:
        (source,) = self._operands(node, prime)
        element = node.attrs["element"]
        if source is None or element == 1:
            return source
        target = self._writer.value(prime)
        self._writer.do(prime, AutomorphTask(element, source, target))
        return target

    # ---- transforms ------------------------------------------------------------------------------

    def _ntt(self, node: SubroutineNode, prime: int) -> Value | None:
        operand = self._order.nodes[node.operands[0]]
        before = self._order.before_inverse(operand, prime)
        if before is not None:
            return self._limb(before, prime)
        source = self._limb(operand, prime)
        if source is None:
            return None
        target = self._writer.value(prime)
        self._writer.transform([Turn(prime, source, target)], inverse=False)
        return target

    def _intt(self, node: SubroutineNode, prime: int) -> Value | None:
        source = self._limb(self._order.nodes[node.operands[0]], prime)
        if source is None:
            return None
        inverse = self._inverse(node.operands[0], prime)
        return self._writer.point(
            inverse, self._writer.result(prime, self._writer.inverse_of(self._graph.n, prime))
        )[0]

    def _inverse(self, node: int, prime: int) -> Value:
        """The inverse transform of a node's limb, times N."""
        if (node, prime) not in self._inverses:
            self._invert([(node, prime)])
        return self._inverses[node, prime]

    def _invert(self, places: Sequence[Place]) -> None:
        """Inverse transforms that are not there yet, as many at once as may be."""
        turns, before = [], self._writer.origin
        for node, prime in dict.fromkeys(places):
            if (node, prime) not in self._inverses:
                source = self._limb(self._order.nodes[node], prime)
                if source is None:
                    raise ProgramError(
                        f"a limb of zeros is transformed modulo {self._graph.primes[prime]}: leave "
                        "it out"
                    )
                target = self._inverses[node, prime] = self._writer.value(prime)
                turns.append(Turn(prime, source, target))
                origins = (user.origin for user in self._order.users[node])
                self._writer.origin = next((own.node for own in origins if own is not None), before)
        self._writer.transform(turns, inverse=True)
        self._writer.origin = before

    # ---- conversions -----------------------------------------------------------------------------

    def _inverse_places(self, node: SubroutineNode) -> list[Place]:
        """The inverse transforms that a conversion begins with."""
        if node.op not in CONVERSIONS or node.attrs.get("variant") == "scaled":
            return []
        given = self._order.undropped(self._order.nodes[node.operands[0]])
        if node.op == "mod_down" and node.type.form is Form.NTT:
            return [(given.id, d) for d in node.attrs["drop"]]
        if given.op != "intt":
            return []
        wanted = self._order.digit_of(node)
        if node.op != "mod_up":
            wanted = (*wanted, *node.type.base)
        return [(given.operands[0], d) for d in wanted]

    def _wait_for_inverse(self, nodes: Sequence[SubroutineNode], phases: Sequence[int]) -> None:
        """Notes the inverse transforms of a phase's conversions where their operands are made."""
        for node in nodes:
            for place in self._inverse_places(node):
                self._awaited[phases[place[0]]].append(place)

    def _invert_early(self, places: Sequence[Place], group: Sequence[int]) -> None:
        """Inverse transforms of a group of primes: as soon as there are enough of them."""
        early = [place for place in dict.fromkeys(places) if place[1] in group]
        self._early += sorted(early, key=lambda place: place[1])
        for cluster in range(self._design.clusters):
            own = [place for place in self._early if self._writer.cluster(place[1]) == cluster]
            if len(own) >= self._together:
                self._invert(own)
                self._early = [place for place in self._early if place not in own]

    def _prepare_conversions(self, nodes: Sequence[SubroutineNode]) -> None:
        """What a phase's conversions begin with."""
        places, self._early = self._early, []
        for node in nodes:
            places += self._inverse_places(node)
        converting = [
            node
            for node in nodes
            if node.op in CONVERSIONS and node.attrs.get("variant") != "scaled"
        ]
        self._invert(places)
        for node in converting:
            self._writer.origin = self._order.origin_of(node)
            self._words_of(node)
            self._quotient_of(node)
        self._writer.origin = -1

    def _words_of(self, node: SubroutineNode) -> list[Value]:
        """What a conversion adds up; of a digit of one prime its limb."""
        digit, primes = self._order.digit_of(node), self._graph.primes
        if node.attrs.get("variant") == "rns_digit":
            return [cast(Value, self._limb(self._order.nodes[node.operands[0]], digit[0]))]
        if self._is_mixed(node):
            return self._mixed_digits(node)
        if node.op == "mod_down":
            own = base_conversion.fast_base_conversion([primes[d] for d in digit], ())
            halves = [primes[d] // 2 for d in digit]
        else:
            own, halves = self._conversion(node, ()), [0] * len(digit)
        return [self._word(node, *each) for each in zip(digit, own.factors, halves, strict=True)]

    def _word(self, node: SubroutineNode, prime: int, factor: int, up: int) -> Value:
        """What a conversion takes of one prime d: [x * factor + up]_d."""
        place = (node.id, prime)
        if place not in self._words:
            given = self._order.undropped(self._order.nodes[node.operands[0]])
            if node.op == "mod_down" and given.type.form is Form.NTT:
                x, times = self._inverse(given.id, prime), self._graph.n
            else:
                x, times = self._coefficients(given, prime)
            y = factor * self._writer.inverse_of(times, prime) % self._graph.primes[prime]
            as_it_is = y == 1 and not up
            self._words[place] = (
                x
                if as_it_is
                else self._writer.point(x, self._writer.result(prime, y, up or None))[0]
            )
        return self._words[place]

    def _is_mixed(self, node: SubroutineNode) -> bool:
        """Whether a conversion is of the digits that ``_mixed_digits`` makes."""
        exact = node.attrs.get("variant") == "centred_digit"
        return exact and not has_quotient(node, self._graph.primes, self._design)

    def _mixed_digits(self, node: SubroutineNode) -> list[Value]:
        """The digits m_i of x + h in mixed radix: Garner's, by products and sums alone.

        With D the product of the primes d_0, d_1, … and h = (D-1)/2: the one integer in [0, D) with
        the residues a_i + h is m_0 + m_1·d_0 + m_2·d_0·d_1 + …, m_i in [0, d_i). Less h, it is the
        one in -h … h with the residues a_i, which is x, centred; no comparison is needed. The
        equation modulo d_i, divided by d_0 … d_(i-1), gives m_i: (a_i + h)/(d_0 … d_(i-1)), less
        m_j/(d_j … d_(i-1)) for each j < i. ``is_centred`` says where ``lift`` has these bits.
        """
        digit, operand = self._order.digit_of(node), self._order.nodes[node.operands[0]]
        moduli, found = [self._graph.primes[d] for d in digit], list[Value]()
        for i, prime in enumerate(digit):
            if (node.id, prime) not in self._words:
                over = [self._writer.inverse_of(prod(moduli[j:i]), prime) for j in range(i)]
                first = over[0] if over else 1
                x, times = self._coefficients(operand, prime)
                y = first * self._writer.inverse_of(times, prime)
                shifted = self._writer.result(prime, y, prod(moduli) // 2 * first)
                sums = self._writer.point(x, shifted)
                if found:
                    sums = self._writer.sums(found, [prime], [[-each for each in over]], sums)
                self._words[node.id, prime] = sums[0]
            found.append(self._words[node.id, prime])
        return found

    def _coefficients(self, node: SubroutineNode, prime: int) -> tuple[Value, int]:
        """A limb in coefficient form, or a multiple of it; and which one."""
        given = self._order.undropped(node)
        if given.op == "intt":
            return self._inverse(given.operands[0], prime), self._graph.n
        return cast(Value, self._limb(given, prime)), 1

    def _conversion(self, node: SubroutineNode, targets: Sequence[int]) -> Conversion:
        """The numbers of a conversion to some primes."""
        digit, onto = (
            [self._graph.primes[i] for i in each] for each in (self._order.digit_of(node), targets)
        )
        if node.op == DIVIDE:
            return base_conversion.divide(digit, onto, node.attrs["plain_modulus"])
        if node.attrs["variant"] == "centred_digit":
            return base_conversion.lift(digit, onto)
        return base_conversion.fast_base_conversion(digit, onto)

    def _quotient_of(self, node: SubroutineNode) -> list[Value]:
        """Words whose sum is the quotient that a conversion takes off; none: it takes off none."""
        if node.op == "mod_down" or node.attrs.get("variant") == "rns_digit":
            return []
        if self._is_mixed(node):
            return []
        if node.id not in self._quotients:
            fractions = self._conversion(node, ()).fractions
            self._quotients[node.id] = (
                self._writer.quotient(self._words_of(node), fractions) if any(fractions) else []
            )
        return self._quotients[node.id]

    def _mod_up(self, node: SubroutineNode, prime: int) -> Value | None:
        digit, variant = node.attrs["digit"], node.attrs["variant"]
        operand = self._order.nodes[node.operands[0]]
        if variant == "scaled":
            if prime not in operand.type.base:
                return None
            added = prod(self._graph.primes[i] for i in node.type.base if i not in digit)
            source = self._limb(operand, prime)
            return (
                None
                if source is None
                else self._writer.point(source, self._writer.result(prime, added))[0]
            )
        if prime in digit:
            return self._limb(operand, prime)
        if variant == "rns_digit":
            source = self._limb(operand, digit[0])
            return (
                None
                if source is None
                else self._writer.point(source, self._writer.result(prime, 1))[0]
            )
        return self._converted(node, prime)

    def _divide(self, node: SubroutineNode, prime: int) -> Value:
        return self._converted(node, prime)

    def _converted(self, node: SubroutineNode, prime: int) -> Value:
        """A limb that a conversion makes: with it those of all primes of its group."""
        if (node.id, prime) not in self._raised:
            group = next(group for group in self._groups if prime in group)
            digit = self._order.digit_of(node)
            targets = [i for i in group if i in node.type.base and i not in digit]
            own, words = self._conversion(node, targets), self._words_of(node)
            parts = self._quotient_of(node)
            factors = [[row[j] for row in own.weights] for j in range(len(targets))]
            for row, factor in zip(factors, own.quotient_factors, strict=True):
                row += [factor] * len(parts)
            firsts: list[Value | int] = [0] * len(targets)
            if self._is_mixed(node):
                moduli = [self._graph.primes[d] for d in digit]
                factors = [[prod(moduli[:i]) for i in range(len(digit))]] * len(targets)
                firsts = [-(prod(moduli) // 2)] * len(targets)
            if own.own_weights:
                firsts = [
                    self._own(node, target, weight)
                    for target, weight in zip(targets, own.own_weights, strict=True)
                ]
            sums = self._writer.sums([*words, *parts], targets, factors, firsts)
            self._raised.update(zip([(node.id, i) for i in targets], sums, strict=True))
        return self._raised[node.id, prime]

    def _own(self, node: SubroutineNode, prime: int, weight: int) -> Value:
        """What an operand's own limb adds to a converted one."""
        x, times = self._coefficients(self._order.nodes[node.operands[0]], prime)
        return self._writer.point(
            x, self._writer.result(prime, weight * self._writer.inverse_of(times, prime))
        )[0]

    def _prepare_divisions(self, nodes: Sequence[SubroutineNode], group: Sequence[int]) -> None:
        """What a phase's mod_down nodes take away from the limbs of a group of primes."""
        turns = []
        for node in nodes:
            targets = [prime for prime in group if prime in node.type.base]
            if not targets:
                continue
            self._writer.origin = self._order.origin_of(node)
            given = self._order.undropped(self._order.nodes[node.operands[0]])
            if given.op == "intt":
                self._invert([(given.operands[0], prime) for prime in targets])
            for prime, taken in zip(targets, self._taken(node, targets), strict=True):
                if node.type.form == Form.NTT:
                    target = self._writer.value(prime)
                    turns.append(Turn(prime, taken, target))
                    taken = target
                self._divided[node.id, prime] = taken
        turns.sort(key=lambda turn: turn.prime)
        self._writer.transform(turns, inverse=False)
        self._writer.origin = -1

    def _taken(self, node: SubroutineNode, targets: Sequence[int]) -> list[Value]:
        """The centred residue modulo the dropped primes, over them, in coefficients."""
        primes, drop = self._graph.primes, node.attrs["drop"]
        half = [primes[d] // 2 for d in drop]
        words = self._words_of(node)
        factors = [[self._writer.inverse_of(primes[d], prime) for d in drop] for prime in targets]
        firsts = [
            -sum(up * factor for up, factor in zip(half, own, strict=True)) % primes[prime]
            for prime, own in zip(targets, factors, strict=True)
        ]
        return self._writer.sums(words, targets, factors, firsts)

    def _mod_down(self, node: SubroutineNode, prime: int) -> Value | None:
        operand = self._order.nodes[node.operands[0]]
        whole = prod(self._graph.primes[d] for d in node.attrs["drop"])
        taken = self._divided[node.id, prime]
        if self._order.undropped(operand).op == "intt":
            a, times = self._coefficients(operand, prime)
        else:
            limb, times = self._limb(operand, prime), 1
            if limb is None:
                return self._writer.point(taken, self._writer.result(prime, -1))[0]
            a = limb
        y = self._writer.inverse_of(whole * times, prime)
        return self._writer.point(a, self._writer.result(prime, y, taken, subtract=True))[0]

    # ---- key switching ---------------------------------------------------------------------------

    def _ksk_inner_product(self, node: SubroutineNode, prime: int) -> Value | None:
        nodes = self._halves[node.id]
        sums: list[Value | None] = [None] * len(nodes)
        waiting: list[tuple[int, Turn]] = []
        for digit, operand in zip(node.attrs["digits"], node.operands, strict=True):
            found = self._digit(self._order.nodes[operand], prime)
            if isinstance(found, Turn):
                waiting.append((digit, found))
            elif found is not None:
                sums = self._added(found, nodes, sums, digit, prime)
        for part in parts(waiting, self._together):
            self._writer.transform([turn for _, turn in part], inverse=False)
            for digit, turn in part:
                sums = self._added(turn.target, nodes, sums, digit, prime)
        for each, total in zip(nodes, sums, strict=True):
            self._made[each.id, prime] = total
        return self._made[node.id, prime]

    def _digit(self, node: SubroutineNode, prime: int) -> Value | Turn | None:
        """A digit's limb where it is there, or else the transform that makes it."""
        raised = self._order.nodes[node.operands[0]] if node.operands else node
        there = (node.id, prime) in self._made or not self._order.is_digit(node)
        if there or self._order.before_inverse(raised, prime) is not None:
            return self._limb(node, prime)
        target = self._writer.value(prime)
        if raised.attrs["variant"] == "rns_digit" and prime not in raised.attrs["digit"]:
            own = raised.attrs["digit"][0]
            if self._graph.primes[own] < 2 * self._graph.primes[prime]:
                source = self._limb(self._order.nodes[raised.operands[0]], own)
                return None if source is None else Turn(prime, source, target, reduce=True)
        source = self._limb(raised, prime)
        return None if source is None else Turn(prime, source, target)

    def _added(
        self,
        x: Value,
        nodes: Sequence[SubroutineNode],
        sums: Sequence[Value | None],
        digit: int,
        prime: int,
    ) -> list[Value | None]:
        """Sums with a digit's products, as many at once as the array has results."""
        results = []
        for node, before in zip(nodes, sums, strict=True):
            index = (digit, node.attrs["half"], prime)
            results.append(
                self._writer.result(prime, Limb("key", node.attrs["key"], index, True), before)
            )
        size = self._design.results
        for first in range(0, len(results), size):
            self._writer.point(x, *results[first : first + size])
        return [each.target for each in results]
