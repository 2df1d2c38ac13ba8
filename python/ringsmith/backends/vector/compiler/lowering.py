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
from itertools import pairwise
from math import prod
from typing import TypeVar, cast

from ringsmith.backends.vector.compiler.fusion import fused
from ringsmith.backends.vector.compiler.quotients import moduli_of, quotient
from ringsmith.backends.vector.compiler.rewriting import DIVIDE, rewritten
from ringsmith.backends.vector.compiler.tasks import (
    Action,
    AutomorphTask,
    OutputTask,
    PointTask,
    ResultTask,
    Task,
    TransformTask,
    Turn,
    Value,
)
from ringsmith.backends.vector.design.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.isa.instructions import Constant, Limb
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import SubroutineNode
from ringsmith.graph.types import Form
from ringsmith.hdl import base_conversion
from ringsmith.hdl.base_conversion import Conversion

_CONVERSIONS = ("mod_up", "mod_down", DIVIDE)
_LAZY = ("input", "drop_limbs", "mod_up", "intt", DIVIDE)
"""Limbs of these are made where something asks for them."""

_LATE = ("mul", "add", "sub", "neg", "automorph")
"""Nodes of these, of inputs alone, are made in the phase that wants them.

Until then they would take places of the scratchpad, and their operands lie in memory anyway.
"""

Item = TypeVar("Item")
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
        self._nodes, self._moduli = rewritten(graph), moduli_of(graph, design)
        self._tasks: list[Task] = []
        self._values = 0
        self._made: dict[Place, Value | None] = {}  # None: zeros
        self._inverses: dict[Place, Value] = {}  # N times what they should be
        self._multiples: dict[Place, Value] = {}  # limbs times the design's factor
        self._words: dict[Place, Value] = {}  # what a conversion adds up, by conversion and prime
        self._raised: dict[Place, Value] = {}  # coefficients of a digit modulo another prime
        self._divided: dict[Place, Value] = {}  # what mod_down takes away, in its form
        self._quotients: dict[int, list[Value]] = {}  # of conversions: their sum is the quotient
        self._awaited: dict[int, list[Place]] = defaultdict(list)  # inverses, by operand's phase
        self._early: list[Place] = []  # those that can be made, and wait for others
        self._origin = -1
        self._users: dict[int, list[SubroutineNode]] = defaultdict(list)
        for node in graph.nodes:
            for operand in node.operands:
                self._users[operand].append(node)
        self._scaled_inputs = {n.id for n in self._nodes if self._is_only_second_factor(n)}
        self._halves = self._inner_products()
        size = design.results
        primes = range(len(graph.primes))
        self._groups = [tuple(primes[first : first + size]) for first in primes[::size]]

    # ---- order -----------------------------------------------------------------------------------

    def tasks(self) -> list[Task]:
        """All tasks, in order."""
        phases = self._phases()
        by_phase = [
            [node for node in self._nodes if phases[node.id] == phase]
            for phase in range(max(phases) + 1)
        ]
        for nodes in by_phase:
            self._wait_for_inverse(nodes, phases)
        for phase, nodes in enumerate(by_phase):
            self._prepare_conversions(nodes)
            levels = self._levels(nodes)
            for group in self._groups:
                self._prepare_divisions([n for n in nodes if n.op == "mod_down"], group)
                for level in levels:
                    self._level(level, group)
                self._invert_early(self._awaited[phase], group)
        return self._tasks

    def _phases(self) -> list[int]:
        """The phase of each node: conversions begin one."""
        phases: list[int] = []
        for node in self._nodes:
            before = max((phases[i] for i in node.operands), default=0)
            phases.append(before + (node.op in _CONVERSIONS))
        given: set[int] = set()  # nodes of inputs alone
        for node in self._nodes:
            if node.op == "input" or (node.op in _LATE and given.issuperset(node.operands)):
                given.add(node.id)
        for node in reversed(self._nodes):
            users = self._users[node.id]
            if node.id in given and node.op != "input" and users:
                phases[node.id] = min(phases[u.id] - (u.op in _CONVERSIONS) for u in users)
        return phases

    def _is_digit(self, node: SubroutineNode) -> bool:
        """Whether a node is a digit's transform, which inner products ask for limb by limb."""
        users = self._users[node.id]
        return (
            node.op == "ntt"
            and self._nodes[node.operands[0]].op == "mod_up"
            and all(user.op == "ksk_inner_product" for user in users)
        )

    def _is_made(self, node: SubroutineNode) -> bool:
        """Whether a node's limbs are made in its phase, and not where something asks for them.

        So are inverse transforms that something other than a conversion wants.
        """
        if node.op == "intt":
            ops = {user.op for user in self._users[node.id]}
            return bool(ops - {*_CONVERSIONS, "drop_limbs", "ntt"})
        return node.op not in _LAZY and not self._is_digit(node)

    def _levels(self, nodes: Sequence[SubroutineNode]) -> list[list[SubroutineNode]]:
        """What is made of a phase's nodes, by the transforms before it: each begins a level.

        Transforms of a level can be made at once.
        """
        depths: dict[int, int] = {}
        levels: dict[int, list[SubroutineNode]] = defaultdict(list)
        for node in nodes:
            made = self._is_made(node)
            depth = max((depths.get(i, 0) for i in node.operands), default=0)
            depths[node.id] = depth = depth + (made and node.op in ("ntt", "intt"))
            if made:
                levels[depth].append(node)
        return [levels[depth] for depth in sorted(levels)]

    def _level(self, nodes: Sequence[SubroutineNode], group: Sequence[int]) -> None:
        """Makes the limbs of a level modulo a group of primes."""
        places = [(node, prime) for prime in group for node in nodes if prime in node.type.base]
        self._invert([(node.operands[0], prime) for node, prime in places if node.op == "intt"])
        turns = []
        for node, prime in places:
            operand = self._nodes[node.operands[0]] if node.operands else node
            if node.op != "ntt" or self._before_inverse(operand, prime) is not None:
                continue
            source = self._limb(operand, prime)
            if (node.id, prime) not in self._made and source is not None:
                self._made[node.id, prime] = target = self._value(prime)
                turns.append(Turn(prime, source, target))
        self._origin = self._origin_of(nodes[0]) if turns else -1
        self._transform(turns, inverse=False)
        self._origin = -1
        for node, prime in places:
            self._limb(node, prime)

    @staticmethod
    def _origin_of(node: SubroutineNode) -> int:
        return -1 if node.origin is None else node.origin.node

    def _is_only_second_factor(self, node: SubroutineNode) -> bool:
        """Whether an input is nothing but the second factor of products: then it comes scaled."""
        users = self._users[node.id]
        return (
            node.op == "input"
            and self._design.reduction == MONTGOMERY
            and bool(users)
            and all(user.op == "mul" and user.operands[0] != node.id for user in users)
        )

    def _inner_products(self) -> dict[int, list[SubroutineNode]]:
        """Inner products of the same digits with a key's halves: node -> all of them."""
        found: dict[object, list[SubroutineNode]] = defaultdict(list)
        for node in self._nodes:
            if node.op == "ksk_inner_product":
                attrs = node.attrs
                found[node.operands, attrs["key"], tuple(attrs["digits"])].append(node)
        return {node.id: nodes for nodes in found.values() for node in nodes}

    # ---- tasks -----------------------------------------------------------------------------------

    def _cluster(self, prime: int) -> int:
        group = min(prime, len(self._graph.primes)) // self._design.results
        return group % self._design.clusters

    def _value(self, prime: int, memory: Limb | None = None) -> Value:
        self._values += 1
        return Value(self._values - 1, prime, memory)

    def _do(self, prime: int, action: Action) -> None:
        self._tasks.append(Task(self._cluster(prime), action, self._origin))

    def _inverse_of(self, number: int, prime: int) -> int:
        return pow(number, -1, self._moduli[prime])

    def _result(
        self,
        prime: int,
        y: Value | Limb | int,
        z: Value | int | None = None,
        subtract: bool = False,
    ) -> ResultTask:
        """One result: x*y + z, or x*y - z; whole numbers are constants."""
        q = self._moduli[prime]
        factor = Constant(y * self._design.factor(q) % q) if isinstance(y, int) else y
        other = Constant(z % q) if isinstance(z, int) else z
        return ResultTask(prime, factor, other, subtract, self._value(prime))

    def _point(self, x: Value, *results: ResultTask) -> list[Value]:
        self._do(results[0].prime, PointTask(x, results))
        return [each.target for each in results]

    def _transform(self, turns: Sequence[Turn], inverse: bool) -> None:
        """Transforms, cluster by cluster, as many at once as hide the latency of a pass."""
        for cluster in range(self._design.clusters):
            own = [turn for turn in turns if self._cluster(turn.prime) == cluster]
            for part in _parts(own, self._together):
                self._do(part[0].prime, TransformTask(inverse, tuple(part)))

    # ---- limbs -----------------------------------------------------------------------------------

    def _limb(self, node: SubroutineNode, prime: int) -> Value | None:
        """A limb of a node; None: zeros."""
        place = (node.id, prime)
        if place not in self._made:
            before = self._origin
            self._origin = self._origin_of(node)
            made = getattr(self, f"_{node.op}")(node, prime)
            self._made.setdefault(place, made)
            self._origin = before
        return self._made[place]

    def _operands(self, node: SubroutineNode, prime: int) -> list[Value | None]:
        return [self._limb(self._nodes[i], prime) for i in node.operands]

    def _input(self, node: SubroutineNode, prime: int) -> Value:
        index = (node.type.base.index(prime),)
        scaled = node.id in self._scaled_inputs
        return self._value(prime, Limb("input", node.attrs["name"], index, scaled))

    def _output(self, node: SubroutineNode, prime: int) -> None:
        (source,) = self._operands(node, prime)
        limb = Limb("output", node.attrs["name"], (node.type.base.index(prime),))
        if source is None:
            raise ProgramError(f"output {limb.name!r} has a limb of zeros: leave it out")
        self._do(prime, OutputTask(source, limb))

    def _drop_limbs(self, node: SubroutineNode, prime: int) -> Value | None:
        return self._operands(node, prime)[0]

    def _add(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if a is None or b is None:
            return a or b
        return self._point(a, self._result(prime, 1, b))[0]

    def _sub(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if b is None:
            return a
        if a is None:
            return self._point(b, self._result(prime, -1))[0]
        return self._point(a, self._result(prime, 1, b, subtract=True))[0]

    def _neg(self, node: SubroutineNode, prime: int) -> Value | None:
        (a,) = self._operands(node, prime)
        return None if a is None else self._point(a, self._result(prime, -1))[0]

    def _mul(self, node: SubroutineNode, prime: int) -> Value | None:
        a, b = self._operands(node, prime)
        if a is None or b is None:
            return None
        factor = self._design.factor(self._graph.primes[prime])
        second = node.operands[1]
        if factor != 1 and second not in self._scaled_inputs:
            place = (second, prime)
            if place not in self._multiples:
                self._multiples[place] = self._point(b, self._result(prime, factor))[0]
            b = self._multiples[place]
        return self._point(a, self._result(prime, b))[0]

    def _automorph(self, node: SubroutineNode, prime: int) -> Value | None:
        (source,) = self._operands(node, prime)
        element = node.attrs["element"]
        if source is None or element == 1:
            return source
        target = self._value(prime)
        self._do(prime, AutomorphTask(element, source, target))
        return target

    # ---- transforms ------------------------------------------------------------------------------

    def _ntt(self, node: SubroutineNode, prime: int) -> Value | None:
        operand = self._nodes[node.operands[0]]
        before = self._before_inverse(operand, prime)
        if before is not None:
            return self._limb(before, prime)
        source = self._limb(operand, prime)
        if source is None:
            return None
        target = self._value(prime)
        self._transform([Turn(prime, source, target)], inverse=False)
        return target

    def _before_inverse(self, node: SubroutineNode, prime: int) -> SubroutineNode | None:
        """The node in NTT form that a limb of another is the inverse transform of, if there is."""
        if node.op == "mod_up" and prime in node.attrs["digit"]:
            node = self._nodes[node.operands[0]]
        node = self._undropped(node)
        return self._nodes[node.operands[0]] if node.op == "intt" else None

    def _undropped(self, node: SubroutineNode) -> SubroutineNode:
        """The node that has the limbs of one which drops some."""
        while node.op == "drop_limbs":
            node = self._nodes[node.operands[0]]
        return node

    def _intt(self, node: SubroutineNode, prime: int) -> Value | None:
        source = self._limb(self._nodes[node.operands[0]], prime)
        if source is None:
            return None
        inverse = self._inverse(node.operands[0], prime)
        return self._point(inverse, self._result(prime, self._inverse_of(self._graph.n, prime)))[0]

    def _inverse(self, node: int, prime: int) -> Value:
        """The inverse transform of a node's limb, times N."""
        if (node, prime) not in self._inverses:
            self._invert([(node, prime)])
        return self._inverses[node, prime]

    def _invert(self, places: Sequence[Place]) -> None:
        """Inverse transforms that are not there yet, as many at once as may be."""
        turns, before = [], self._origin
        for node, prime in dict.fromkeys(places):
            if (node, prime) not in self._inverses:
                source = self._limb(self._nodes[node], prime)
                if source is None:
                    raise ProgramError(
                        f"a limb of zeros is transformed modulo {self._graph.primes[prime]}: leave "
                        "it out"
                    )
                target = self._inverses[node, prime] = self._value(prime)
                turns.append(Turn(prime, source, target))
                origins = (user.origin for user in self._users[node])
                self._origin = next((own.node for own in origins if own is not None), before)
        self._transform(turns, inverse=True)
        self._origin = before

    # ---- conversions -----------------------------------------------------------------------------

    def _inverse_places(self, node: SubroutineNode) -> list[Place]:
        """The inverse transforms that a conversion begins with."""
        if node.op not in _CONVERSIONS or node.attrs.get("variant") == "scaled":
            return []
        given = self._undropped(self._nodes[node.operands[0]])
        if node.op == "mod_down" and node.type.form is Form.NTT:
            return [(given.id, d) for d in node.attrs["drop"]]
        if given.op != "intt":
            return []
        wanted = self._digit_of(node)
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
            own = [place for place in self._early if self._cluster(place[1]) == cluster]
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
            if node.op in _CONVERSIONS and node.attrs.get("variant") != "scaled"
        ]
        self._invert(places)
        for node in converting:
            self._origin = self._origin_of(node)
            self._words_of(node)
            self._quotient_of(node)
        self._origin = -1

    @staticmethod
    def _digit_of(node: SubroutineNode) -> tuple[int, ...]:
        """The primes that a conversion is from."""
        name = {"mod_down": "drop", "mod_up": "digit", DIVIDE: "base"}[node.op]
        return tuple(node.attrs[name])

    def _words_of(self, node: SubroutineNode) -> list[Value]:
        """What a conversion adds up; of a digit of one prime its limb."""
        digit, primes = self._digit_of(node), self._graph.primes
        if node.attrs.get("variant") == "rns_digit":
            return [cast(Value, self._limb(self._nodes[node.operands[0]], digit[0]))]
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
            given = self._undropped(self._nodes[node.operands[0]])
            if node.op == "mod_down" and given.type.form is Form.NTT:
                x, times = self._inverse(given.id, prime), self._graph.n
            else:
                x, times = self._coefficients(given, prime)
            y = factor * self._inverse_of(times, prime) % self._graph.primes[prime]
            as_it_is = y == 1 and not up
            self._words[place] = (
                x if as_it_is else self._point(x, self._result(prime, y, up or None))[0]
            )
        return self._words[place]

    def _coefficients(self, node: SubroutineNode, prime: int) -> tuple[Value, int]:
        """A limb in coefficient form, or a multiple of it; and which one."""
        given = self._undropped(node)
        if given.op == "intt":
            return self._inverse(given.operands[0], prime), self._graph.n
        return cast(Value, self._limb(given, prime)), 1

    def _conversion(self, node: SubroutineNode, targets: Sequence[int]) -> Conversion:
        """The numbers of a conversion to some primes."""
        digit, onto = (
            [self._graph.primes[i] for i in each] for each in (self._digit_of(node), targets)
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
        if node.id not in self._quotients:
            fractions = self._conversion(node, ()).fractions
            self._quotients[node.id] = (
                self._quotient(self._words_of(node), fractions) if any(fractions) else []
            )
        return self._quotients[node.id]

    def _quotient(self, words: Sequence[Value], fractions: Sequence[int]) -> list[Value]:
        """Words whose sum is floor((sum of words * fractions + 2^88) / 2^89)."""
        mosts = [self._moduli[word.prime] - 1 for word in words]
        plan, items = quotient(mosts, fractions, self._design.word_bits), [*words]
        odd = len(self._graph.primes)  # 2^W - 1
        rest: Value | None = None
        for step in plan.steps:
            power, division = 1 << step.bits, self._inverse_of(1 << step.bits, odd)
            terms = [(items[item], factor) for item, factor in step.terms]
            if step.after_rest:
                terms.append((cast(Value, rest), 1))
            factors = [factor for _, factor in terms]
            rest, divided = self._sums(
                [word for word, _ in terms],
                [self._moduli.index(power), odd],
                [factors, [factor * division for factor in factors]],
                [step.first, step.first * division],
            )
            items += self._point(rest, self._result(odd, -division, divided))
        return [items[part] for part in plan.parts]

    def _sums(
        self,
        words: Sequence[Value],
        targets: Sequence[int],
        factors: Sequence[Sequence[int]],
        firsts: Sequence[Value | int],
    ) -> list[Value]:
        """Sums of words times factors, modulo several primes at once.

        Args:
            words: The words, one a term.
            targets: Indices of the primes.
            factors: For each prime those of the words.
            firsts: For each prime what the sum begins with.
        """
        sums: list[Value | int | None] = [first or None for first in firsts]
        size = self._design.results
        for begin in range(0, len(targets), size):
            some = range(begin, min(begin + size, len(targets)))
            for term, word in enumerate(words):
                results = [self._result(targets[i], factors[i][term], sums[i]) for i in some]
                sums[begin : begin + size] = self._point(word, *results)
        return cast(list[Value], sums)

    def _mod_up(self, node: SubroutineNode, prime: int) -> Value | None:
        digit, variant = node.attrs["digit"], node.attrs["variant"]
        operand = self._nodes[node.operands[0]]
        if variant == "scaled":
            if prime not in operand.type.base:
                return None
            added = prod(self._graph.primes[i] for i in node.type.base if i not in digit)
            source = self._limb(operand, prime)
            return None if source is None else self._point(source, self._result(prime, added))[0]
        if prime in digit:
            return self._limb(operand, prime)
        if variant == "rns_digit":
            source = self._limb(operand, digit[0])
            return None if source is None else self._point(source, self._result(prime, 1))[0]
        return self._converted(node, prime)

    def _divide(self, node: SubroutineNode, prime: int) -> Value:
        return self._converted(node, prime)

    def _converted(self, node: SubroutineNode, prime: int) -> Value:
        """A limb that a conversion makes: with it those of all primes of its group."""
        if (node.id, prime) not in self._raised:
            group = next(group for group in self._groups if prime in group)
            digit = self._digit_of(node)
            targets = [i for i in group if i in node.type.base and i not in digit]
            own, words = self._conversion(node, targets), self._words_of(node)
            parts = self._quotient_of(node)
            factors = [[row[j] for row in own.weights] for j in range(len(targets))]
            for row, factor in zip(factors, own.quotient_factors, strict=True):
                row += [factor] * len(parts)
            firsts: list[Value | int] = [0] * len(targets)
            if own.own_weights:
                firsts = [
                    self._own(node, target, weight)
                    for target, weight in zip(targets, own.own_weights, strict=True)
                ]
            sums = self._sums([*words, *parts], targets, factors, firsts)
            self._raised.update(zip([(node.id, i) for i in targets], sums, strict=True))
        return self._raised[node.id, prime]

    def _own(self, node: SubroutineNode, prime: int, weight: int) -> Value:
        """What an operand's own limb adds to a converted one."""
        x, times = self._coefficients(self._nodes[node.operands[0]], prime)
        return self._point(x, self._result(prime, weight * self._inverse_of(times, prime)))[0]

    def _prepare_divisions(self, nodes: Sequence[SubroutineNode], group: Sequence[int]) -> None:
        """What a phase's mod_down nodes take away from the limbs of a group of primes."""
        turns = []
        for node in nodes:
            targets = [prime for prime in group if prime in node.type.base]
            if not targets:
                continue
            self._origin = self._origin_of(node)
            given = self._undropped(self._nodes[node.operands[0]])
            if given.op == "intt":
                self._invert([(given.operands[0], prime) for prime in targets])
            for prime, taken in zip(targets, self._taken(node, targets), strict=True):
                if node.type.form == Form.NTT:
                    target = self._value(prime)
                    turns.append(Turn(prime, taken, target))
                    taken = target
                self._divided[node.id, prime] = taken
        turns.sort(key=lambda turn: turn.prime)
        self._transform(turns, inverse=False)
        self._origin = -1

    def _taken(self, node: SubroutineNode, targets: Sequence[int]) -> list[Value]:
        """The centred residue modulo the dropped primes, over them, in coefficients."""
        primes, drop = self._graph.primes, node.attrs["drop"]
        half = [primes[d] // 2 for d in drop]
        words = self._words_of(node)
        factors = [[self._inverse_of(primes[d], prime) for d in drop] for prime in targets]
        firsts = [
            -sum(up * factor for up, factor in zip(half, own, strict=True)) % primes[prime]
            for prime, own in zip(targets, factors, strict=True)
        ]
        return self._sums(words, targets, factors, firsts)

    def _mod_down(self, node: SubroutineNode, prime: int) -> Value | None:
        operand = self._nodes[node.operands[0]]
        whole = prod(self._graph.primes[d] for d in node.attrs["drop"])
        taken = self._divided[node.id, prime]
        if self._undropped(operand).op == "intt":
            a, times = self._coefficients(operand, prime)
        else:
            limb, times = self._limb(operand, prime), 1
            if limb is None:
                return self._point(taken, self._result(prime, -1))[0]
            a = limb
        y = self._inverse_of(whole * times, prime)
        return self._point(a, self._result(prime, y, taken, subtract=True))[0]

    # ---- key switching ---------------------------------------------------------------------------

    def _ksk_inner_product(self, node: SubroutineNode, prime: int) -> Value | None:
        nodes = self._halves[node.id]
        sums: list[Value | None] = [None] * len(nodes)
        waiting: list[tuple[int, Turn]] = []
        for digit, operand in zip(node.attrs["digits"], node.operands, strict=True):
            found = self._digit(self._nodes[operand], prime)
            if isinstance(found, Turn):
                waiting.append((digit, found))
            elif found is not None:
                sums = self._added(found, nodes, sums, digit, prime)
        for part in _parts(waiting, self._together):
            self._transform([turn for _, turn in part], inverse=False)
            for digit, turn in part:
                sums = self._added(turn.target, nodes, sums, digit, prime)
        for each, total in zip(nodes, sums, strict=True):
            self._made[each.id, prime] = total
        return self._made[node.id, prime]

    def _digit(self, node: SubroutineNode, prime: int) -> Value | Turn | None:
        """A digit's limb where it is there, or else the transform that makes it."""
        raised = self._nodes[node.operands[0]] if node.operands else node
        there = (node.id, prime) in self._made or not self._is_digit(node)
        if there or self._before_inverse(raised, prime) is not None:
            return self._limb(node, prime)
        target = self._value(prime)
        if raised.attrs["variant"] == "rns_digit" and prime not in raised.attrs["digit"]:
            own = raised.attrs["digit"][0]
            if self._graph.primes[own] < 2 * self._graph.primes[prime]:
                source = self._limb(self._nodes[raised.operands[0]], own)
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
            results.append(self._result(prime, Limb("key", node.attrs["key"], index, True), before))
        size = self._design.results
        for first in range(0, len(results), size):
            self._point(x, *results[first : first + size])
        return [each.target for each in results]


def _parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Items in about equal parts of at least ``size``; all in one part if they are fewer."""
    count = max(1, len(items) // size)
    cuts = [len(items) * i // count for i in range(count + 1)]
    return [items[a:b] for a, b in pairwise(cuts) if b > a]
