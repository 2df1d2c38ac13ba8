"""A subroutine graph as tasks of the array, limb by limb, prime by prime.

**Order.** A basis conversion needs all limbs of its digit, everything else one prime alone. So
nodes fall into phases, at whose borders are conversions, and inside a phase one group of primes
after the other is worked off: digits stay in the scratchpad, and one prime's table of factors and
sums at a time. A group is as many primes as a point instruction has results, since conversions to
several primes share their operand. Groups go to clusters in turn.

**What is not made.** Limbs of digits are made where a key product wants them, and used by both
halves at once. A digit's own limbs need no transform: they were there before. An automorphism of
digits is one of their sums, by a key that is moved back in memory. Limbs of zeros are none.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import cast

from ringsmith.backends.vector.compiler.fusion import fused
from ringsmith.backends.vector.compiler.node_order import NodeOrder
from ringsmith.backends.vector.compiler.pipelining import pipelined
from ringsmith.backends.vector.compiler.quotients import has_quotient, moduli_of
from ringsmith.backends.vector.compiler.rewriting import DIVIDE, KEY_SUM, rewritten
from ringsmith.backends.vector.compiler.task_writer import TaskWriter, parts
from ringsmith.backends.vector.compiler.tasks import (
    AutomorphTask,
    OutputTask,
    Step,
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
    tasks = fused(lowering.tasks(), moduli_of(graph, design), design)
    return pipelined(tasks, design, design.shape(graph.n.bit_length() - 1))


class _Lowering:
    def __init__(self, graph: SubroutineGraph, design: VectorDesign, together: int) -> None:
        self._graph, self._design, self._together = graph, design, together
        self._order = NodeOrder(rewritten(graph))
        moduli = moduli_of(graph, design)
        self._writer = TaskWriter(moduli, len(graph.primes), design, together)
        self._made: dict[Place, Value | None] = {}  # None: zeros
        self._inverses: dict[Place, Value] = {}  # N times what they should be
        self._multiples: dict[Place, Value] = {}  # limbs times the design's factor
        self._word_factors: dict[int, dict[int, tuple[int, int]]] = {}  # by conversion and prime
        self._words: dict[Place, Value] = {}  # what a conversion adds up, by conversion and prime
        self._raised: dict[Place, Value] = {}  # coefficients of a digit modulo another prime
        self._digits: dict[tuple[int, int, int], Value | None] = {}  # by node, digit and prime
        self._taken: dict[Place, Value] = {}  # what mod_down takes away, in coefficients
        self._divided: dict[Place, Value] = {}  # the same in its form
        self._quotients: dict[int, list[Value]] = {}  # of conversions: their sum is the quotient
        self._awaited: dict[int, list[Place]] = defaultdict(list)  # inverses, by operand's phase
        self._wanting: dict[Place, list[SubroutineNode]] = defaultdict(list)  # their conversions
        self._multiples_of_p: dict[tuple[int, int, int], Value | None] = {}
        self._parts = 0  # that are worked off: phases, or halves of two
        self._early: list[Place] = []  # those that can be made, and wait for others
        self._scaled_inputs = {n.id for n in self._order.nodes if self._is_only_second_factor(n)}
        self._converted_early: set[int] = set()
        self._between: set[int] = set()  # conversions that are made while the array would wait
        self._read_once: set[int] = set()  # products of pairs whose plain factor is read once
        rows = design.shape(graph.n.bit_length() - 1).rows
        self._load = design.read_cycles(rows) / rows
        self._passes = design.shape(graph.n.bit_length() - 1).passes
        self._words_kept = design.banks * (design.bank_rows // rows) // 2
        size = design.results
        primes = range(len(graph.primes))
        self._groups = [tuple(primes[first : first + size]) for first in primes[::size]]

    # ---- order -----------------------------------------------------------------------------------

    def tasks(self) -> list[Task]:
        """All tasks, in order."""
        phases = self._order.phases(self._words_kept)
        by_phase = [
            [node for node in self._order.nodes if phases[node.id] == phase]
            for phase in range(max(phases) + 1)
        ]
        for nodes in by_phase:
            self._wait_for_inverse(nodes, phases)
        phase = 0
        while phase < len(by_phase):
            nodes = by_phase[phase]
            self._prepare_conversions(nodes)
            following = self._joined(by_phase, phase)
            awaited = self._awaited[phase]
            if following:
                self._choose_read_once(nodes)
                dropped = {d for node in following for d in node.attrs.get("drop", ())}
                self._work_off(nodes, dropped, awaited)
                self._prepare_conversions(following)
                self._choose_read_once([*nodes, *following])
                nodes, awaited = [*nodes, *following], [*awaited, *self._awaited[phase + 1]]
                later = by_phase[phase + 2] if phase + 2 < len(by_phase) else ()
                self._between = {n.id for n in self._too_many(later) if self._is_sum(n)}
            else:
                self._choose_read_once(nodes)
            self._work_off(nodes, range(len(self._graph.primes)), awaited)
            phase += 2 if following else 1
        return self._writer.tasks

    def _joined(
        self, phases: Sequence[Sequence[SubroutineNode]], phase: int
    ) -> Sequence[SubroutineNode]:
        """The nodes of the next phase, if they are made with those of one; else none.

        Key products wait for memory, and divisions of their sums hardly need it. A division begins
        when the limbs that it drops are there: so they are made first.
        """
        following = phases[phase + 1] if phase + 1 < len(phases) else ()
        converting = [node for node in following if self._order.converts(node)]
        memory, array = self._balance(phases[phase])
        joined = memory > array and all(
            node.op == "mod_down" and node.type.form is Form.NTT for node in converting
        )
        return following if joined else ()

    def _work_off(
        self, nodes: Sequence[SubroutineNode], primes: Collection[int], awaited: Sequence[Place]
    ) -> None:
        """Makes nodes whose conversions are prepared, in the groups that have any of some primes.

        Args:
            nodes: The nodes.
            primes: Indices of the primes.
            awaited: Inverse transforms that are wanted later.
        """
        levels, divisions = self._order.levels(nodes), [n for n in nodes if n.op == "mod_down"]
        self._parts += 1
        for number, group in enumerate(self._groups):
            if not set(primes).isdisjoint(group):
                self._writer.step = Step(self._parts, number, first=True)
                self._transform(
                    [
                        *self._prepare_digits(nodes, group),
                        *self._prepare_divisions(divisions, group),
                    ]
                )
                self._writer.step = Step(self._parts, number, first=False)
                for level in levels:
                    self._level(level, group)
                later = number + 2 * self._design.clusters
                self._writer.step = Step(self._parts, later, first=True)
                self._invert_early(awaited, group)
        self._writer.step = None

    def _choose_read_once(self, nodes: Sequence[SubroutineNode]) -> None:
        """Chooses of which products of pairs the plain factor is read once: where memory is slow.

        Two factors of one half take an instruction of two results, and so half a one for a factor
        and half: each is read twice. If both halves are multiplied at once, each sum takes one
        more.
        """
        self._read_once.clear()
        if self._design.results < 2:
            return
        products = [node for node in nodes if self._is_pair_times_input(node)]
        memory, array = self._balance(nodes)
        pairs = sorted(
            {(node.operands[1], node.attrs["halves"]) for node in products},
            key=lambda each: each[1],
        )
        for _, halves in pairs:
            if memory <= array:
                break
            memory -= self._load
            array += 2
            self._read_once.update(halves)

    def _is_pair_times_input(self, node: SubroutineNode) -> bool:
        return (
            node.op == "mul"
            and "halves" in node.attrs
            and self._order.undropped_id(node.operands[1]) in self._scaled_inputs
        )

    def _balance(self, nodes: Sequence[SubroutineNode]) -> tuple[float, float]:
        """Rows of a limb that memory, and the array, take for each prime of some nodes."""
        memory = array = 0.0
        cut = {node.operands[0] for node in nodes if node.op == KEY_SUM}
        for node in (*nodes, *(self._order.nodes[i] for i in cut)):
            if node.op == "digits":
                array += self._passes * node.type.count
            elif node.op == "mod_down":
                array += 2 * self._passes + 1
            elif node.op == KEY_SUM:
                count = self._order.nodes[node.operands[0]].type.count
                memory += self._load * count
                array += count / 2 + (node.attrs["element"] != 1)
            elif self._is_pair_times_input(node):
                memory += self._load
                array += 1 / 2
            if self._order.converts(node) and node.id not in self._converted_early:
                array += len(self._order.digit_of(node)) / self._design.results
        return memory, array

    def _level(self, nodes: Sequence[SubroutineNode], group: Sequence[int]) -> None:
        """Makes the limbs of a level modulo a group of primes."""
        places = [(node, prime) for prime in group for node in nodes if prime in node.type.base]
        self._invert([(node.operands[0], prime) for node, prime in places if node.op == "intt"])
        turns = []
        for node, prime in places:
            operand = self._order.nodes[node.operands[0]] if node.operands else node
            if node.op != "ntt" or self._order.before_inverse(operand) is not None:
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
        users = self._users_undropped(node)
        return (
            node.op == "input"
            and self._design.reduction == MONTGOMERY
            and bool(users)
            and all(
                user.op == "mul" and self._order.undropped_id(user.operands[0]) != node.id
                for user in users
            )
        )

    def _users_undropped(self, node: SubroutineNode) -> list[SubroutineNode]:
        """Users of a node, and in place of those that drop limbs theirs."""
        return [
            user
            for own in self._order.users[node.id]
            for user in (self._users_undropped(own) if own.op == "drop_limbs" else [own])
        ]

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
        if node.id in self._read_once:
            halves = [self._order.nodes[half] for half in node.attrs["halves"]]
            factors = [self._limb(self._order.nodes[half.operands[0]], prime) for half in halves]
            if None not in factors:
                results = [self._writer.result(prime, cast(Value, each)) for each in factors]
                products = self._writer.point(b, *results)
                self._made.update(
                    ((half.id, prime), each) for half, each in zip(halves, products, strict=True)
                )
                return self._made[node.id, prime]
        factor = self._design.factor(self._graph.primes[prime])
        second = self._order.undropped_id(node.operands[1])
        if factor != 1 and second not in self._scaled_inputs:
            place = (second, prime)
            if place not in self._multiples:
                self._multiples[place] = self._writer.point(b, self._writer.result(prime, factor))[
                    0
                ]
            b = self._multiples[place]
        return self._writer.point(a, self._writer.result(prime, b))[0]

    def _mul_scalar(self, node: SubroutineNode, prime: int) -> Value | None:
        (a,) = self._operands(node, prime)
        scalar = self._scalar(node, prime)
        return None if a is None else self._writer.point(a, self._writer.result(prime, scalar))[0]

    def _add_scalar(self, node: SubroutineNode, prime: int) -> Value | None:
        (a,) = self._operands(node, prime)
        if a is None:
            raise ProgramError(
                f"a number is added to zeros modulo {self._graph.primes[prime]}: leave them out"
            )
        return self._writer.point(a, self._writer.result(prime, 1, self._scalar(node, prime)))[0]

    @staticmethod
    def _scalar(node: SubroutineNode, prime: int) -> int:
        value: int = node.attrs["values"][node.type.base.index(prime)]
        return value

    def _automorph(self, node: SubroutineNode, prime: int) -> Value | None:
        (source,) = self._operands(node, prime)
        return self._moved(source, node.attrs["element"], prime)

    def _moved(self, source: Value | None, element: int, prime: int) -> Value | None:
        """A limb in NTT form, of X^element."""
        if source is None or element == 1:
            return source
        target = self._writer.value(prime)
        self._writer.do(prime, AutomorphTask(element, source, target))
        return target

    # ---- transforms ------------------------------------------------------------------------------

    def _ntt(self, node: SubroutineNode, prime: int) -> Value | None:
        operand = self._order.nodes[node.operands[0]]
        before = self._order.before_inverse(operand)
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
        if not self._order.converts(node):
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
                if place[1] in self._order.digit_of(node):
                    self._wanting[place].append(node)

    def _invert_early(self, places: Sequence[Place], group: Sequence[int]) -> None:
        """Inverse transforms of a group of primes, as soon as there are enough, and their words."""
        early = [place for place in dict.fromkeys(places) if place[1] in group]
        self._early += sorted(early, key=lambda place: place[1])
        for cluster in range(self._design.clusters):
            own = [place for place in self._early if self._writer.cluster(place[1]) == cluster]
            if len(own) >= self._together:
                self._invert(own)
                self._early = [place for place in self._early if place not in own]
                for place in own:
                    for node in self._wanting[place]:
                        if node.attrs.get("variant") != "rns_digit" and not self._is_mixed(node):
                            self._writer.origin = self._order.origin_of(node)
                            self._word(node, place[1])
                            self._convert_between(node)
        self._writer.origin = -1

    def _convert_between(self, node: SubroutineNode) -> None:
        """A conversion of a later phase, as soon as its words are made: where memory is slower.

        Its tasks go to first parts of groups behind those that its words are made in.
        """
        digit = self._order.digit_of(node)
        there = all((node.id, prime) in self._words for prime in digit)
        if not there or node.id not in self._between:
            return
        self._converted_early.add(node.id)
        step, clusters = cast(Step, self._writer.step), self._design.clusters
        for number, group in enumerate(self._groups):
            behind = step.group + clusters + (number - step.group) % clusters
            self._writer.step = replace(step, group=behind)
            self._convert_to(node, group)
        self._writer.step = step

    def _prepare_conversions(self, nodes: Sequence[SubroutineNode]) -> None:
        """What a phase's conversions begin with."""
        places, self._early = self._early, []
        for node in nodes:
            places += self._inverse_places(node)
        converting = [node for node in nodes if self._order.converts(node)]
        self._invert(places)
        for node in converting:
            self._writer.origin = self._order.origin_of(node)
            self._words_of(node)
            self._quotient_of(node)
        self._writer.origin = -1
        self._convert_early(converting)

    def _words_of(self, node: SubroutineNode) -> list[Value]:
        """What a conversion adds up; of a digit of one prime its limb."""
        digit = self._order.digit_of(node)
        if node.attrs.get("variant") == "rns_digit":
            return [cast(Value, self._limb(self._order.nodes[node.operands[0]], digit[0]))]
        if self._is_mixed(node):
            return self._mixed_digits(node)
        return [self._word(node, prime) for prime in digit]

    def _factors(self, node: SubroutineNode) -> dict[int, tuple[int, int]]:
        """Of each prime d of a conversion what makes its word [x * factor + up]_d."""
        if node.id not in self._word_factors:
            digit, primes = self._order.digit_of(node), self._graph.primes
            if node.op == "mod_down":
                own = base_conversion.fast_base_conversion([primes[d] for d in digit], ())
                halves = [primes[d] // 2 for d in digit]
            else:
                own, halves = self._conversion(node, ()), [0] * len(digit)
            both = zip(own.factors, halves, strict=True)
            self._word_factors[node.id] = dict(zip(digit, both, strict=True))
        return self._word_factors[node.id]

    def _word(self, node: SubroutineNode, prime: int) -> Value:
        """What a conversion takes of one prime."""
        place = (node.id, prime)
        if place not in self._words:
            factor, up = self._factors(node)[prime]
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

        With D the product of the primes d_0, d_1, … and h about D/2: the one integer in [0, D) with
        the residues a_i + h is m_0 + m_1·d_0 + m_2·d_0·d_1 + …, m_i in [0, d_i). Less h, it is the
        one in -h … D-1-h with the residues a_i, which is x, centred, without a comparison. The
        equation modulo d_i, divided by d_0 … d_(i-1), gives m_i: (a_i + h)/(d_0 … d_(i-1)), less
        m_j/(d_j … d_(i-1)) for each j < i. ``largest_positive`` says with which h ``lift`` has
        these bits: (D-1)/2, or a number near it where its quotient errs.
        """
        digit, operand = self._order.digit_of(node), self._order.nodes[node.operands[0]]
        moduli, found = [self._graph.primes[d] for d in digit], list[Value]()
        for i, prime in enumerate(digit):
            if (node.id, prime) not in self._words:
                over = [self._writer.inverse_of(prod(moduli[j:i]), prime) for j in range(i)]
                first = over[0] if over else 1
                x, times = self._coefficients(operand, prime)
                y = first * self._writer.inverse_of(times, prime)
                shifted = self._writer.result(prime, y, self._offset(moduli) * first)
                sums = self._writer.point(x, shifted)
                if found:
                    sums = self._writer.sums(found, [prime], [[-each for each in over]], sums)
                self._words[node.id, prime] = sums[0]
            found.append(self._words[node.id, prime])
        return found

    @staticmethod
    def _offset(moduli: Sequence[int]) -> int:
        """What makes integers positive that a conversion takes as centred."""
        return prod(moduli) - 1 - cast(int, base_conversion.largest_positive(moduli))

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
            return self._scaled(operand, node.type.base, prime)
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

    def _scaled(self, operand: SubroutineNode, base: tuple[int, ...], prime: int) -> Value | None:
        """A limb of an operand times the primes that ``base`` adds."""
        if prime not in operand.type.base:
            return None
        added = prod(self._graph.primes[i] for i in base if i not in operand.type.base)
        source = self._limb(operand, prime)
        if source is None or added == 1:
            return source
        return self._writer.point(source, self._writer.result(prime, added))[0]

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
                firsts = [-self._offset(moduli)] * len(targets)
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

    def _prepare_divisions(
        self, nodes: Sequence[SubroutineNode], group: Sequence[int]
    ) -> list[tuple[int, Turn]]:
        """What a phase's mod_down nodes take away from the limbs of a group of primes.

        Returns what has to be transformed for that.
        """
        turns: list[tuple[int, Turn]] = []
        for node in nodes:
            targets = [
                prime
                for prime in group
                if prime in node.type.base and (node.id, prime) not in self._divided
            ]
            if not targets:
                continue
            self._writer.origin = self._order.origin_of(node)
            given = self._order.undropped(self._order.nodes[node.operands[0]])
            if given.op == "intt":
                self._invert([(given.operands[0], prime) for prime in targets])
            self._take(node, targets)
            for prime in targets:
                taken = self._taken[node.id, prime]
                if node.type.form == Form.NTT:
                    target = self._writer.value(prime)
                    turns.append((self._writer.origin, Turn(prime, taken, target)))
                    taken = target
                self._divided[node.id, prime] = taken
        return turns

    def _transform(self, turns: Sequence[tuple[int, Turn]]) -> None:
        """Forward transforms, each with the HE node that it is of; prime by prime."""
        for origin, group in groupby(
            sorted(turns, key=lambda each: (each[1].prime, each[0])), key=lambda each: each[0]
        ):
            self._writer.origin = origin
            self._writer.transform([turn for _, turn in group], inverse=False)
        self._writer.origin = -1

    def _take(self, node: SubroutineNode, targets: Sequence[int]) -> None:
        """Makes the centred residue modulo the dropped primes, over them, in coefficients."""
        targets = [prime for prime in targets if (node.id, prime) not in self._taken]
        primes, drop = self._graph.primes, node.attrs["drop"]
        half = [primes[d] // 2 for d in drop]
        words = self._words_of(node)
        factors = [[self._writer.inverse_of(primes[d], prime) for d in drop] for prime in targets]
        firsts = [
            -sum(up * factor for up, factor in zip(half, own, strict=True)) % primes[prime]
            for prime, own in zip(targets, factors, strict=True)
        ]
        sums = self._writer.sums(words, targets, factors, firsts)
        self._taken.update(zip([(node.id, i) for i in targets], sums, strict=True))

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

    def _convert_early(self, nodes: Sequence[SubroutineNode]) -> None:
        """Conversions to all primes, where too many words would be in the way later.

        One after the other is done, so that its words stay in the scratchpad.
        """
        for node in self._too_many(nodes):
            if node.id not in self._converted_early:
                self._converted_early.add(node.id)
                for group in self._groups:
                    self._convert_to(node, group)

    def _too_many(self, nodes: Sequence[SubroutineNode]) -> list[SubroutineNode]:
        """The conversions of a phase whose words would be in the way: all but some digits."""
        sizes = {
            node.id: size
            for node in nodes
            if self._order.converts(node) and (size := len(self._order.digit_of(node))) > 1
        }
        if sum(sizes.values()) <= self._words_kept:
            return []
        left = self._words_kept
        for number in sorted(sizes, reverse=True):
            if self._is_sum(self._order.nodes[number]) and sizes[number] <= left:
                left -= sizes.pop(number)
        return [self._order.nodes[number] for number in sorted(sizes)]

    @staticmethod
    def _is_sum(node: SubroutineNode) -> bool:
        """Whether a node is a digit's conversion without a quotient: sums of words alone."""
        return node.attrs.get("variant") == "fast_base_conv"

    def _convert_to(self, node: SubroutineNode, group: Sequence[int]) -> None:
        """A conversion to a group of primes."""
        self._writer.origin, digit = self._order.origin_of(node), self._order.digit_of(node)
        targets = [prime for prime in group if prime in node.type.base and prime not in digit]
        if node.op == "mod_down":
            self._take(node, targets)
        else:
            for prime in targets:
                self._limb(node, prime)
        self._writer.origin = -1

    def _prepare_digits(
        self, nodes: Sequence[SubroutineNode], group: Sequence[int]
    ) -> list[tuple[int, Turn]]:
        """The limbs of a phase's digits modulo a group of primes, if they are few enough."""
        wanted = sorted({node.operands[0] for node in nodes if node.op == KEY_SUM})
        every = [self._order.nodes[number] for number in wanted]
        if len(group) * sum(digits.type.count for digits in every) > self._words_kept // 2:
            return []
        turns: list[tuple[int, Turn]] = []
        for digits in every:
            self._writer.origin = self._order.origin_of(digits)
            for prime in group:
                for digit in range(digits.type.count if prime in digits.type.base else 0):
                    found = self._digit(digits, digit, prime)
                    if isinstance(found, Turn):
                        turns.append((self._writer.origin, found))
        return turns

    def _ksk_inner_product(self, node: SubroutineNode, prime: int) -> Value | None:
        total: Value | None = None
        for digit, found in zip(node.attrs["digits"], self._operands(node, prime), strict=True):
            if found is not None:
                key = self._key(node, digit, prime, node.attrs["half"])
                total = self._writer.point(found, self._writer.result(prime, key, total))[0]
        return total

    @staticmethod
    def _key(node: SubroutineNode, digit: int, prime: int, half: int) -> Limb:
        """A key's limb; of a product that moves its digits one that is moved back."""
        element = node.attrs.get("element", 1)
        moved = () if element == 1 else (element,)
        return Limb("key", node.attrs["key"], (digit, half, prime, *moved), True)

    def _key_sum(self, node: SubroutineNode, prime: int) -> Value | None:
        """Both halves of a key product.

        In place of the digits, the sums are moved: the key's limbs are moved back in memory.
        """
        added = [self._order.nodes[i] for i in node.operands[1:]]
        sums = [self._multiple_of_p(each, node.type.base, prime) for each in added]
        sums += [None] * (2 - len(sums))
        digits = self._order.nodes[node.operands[0]]
        waiting: list[tuple[int, Turn]] = []
        for digit in range(digits.type.count):
            found = self._digit(digits, digit, prime)
            if isinstance(found, Turn):
                waiting.append((digit, found))
            elif found is not None:
                sums = self._with_product(found, node, sums, digit, prime)
        for part in parts(waiting, self._together):
            self._writer.transform([turn for _, turn in part], inverse=False)
            for digit, turn in part:
                sums = self._with_product(turn.target, node, sums, digit, prime)
        for half, total in zip(node.attrs["halves"], sums, strict=True):
            self._made[half, prime] = self._moved(total, node.attrs["element"], prime)
        return self._made[node.id, prime]

    def _multiple_of_p(
        self, value: SubroutineNode, base: tuple[int, ...], prime: int
    ) -> Value | None:
        """A limb of what key products over a base add, which several of them may."""
        place = (value.id, len(base), prime)
        if place not in self._multiples_of_p:
            self._multiples_of_p[place] = self._scaled(value, base, prime)
        return self._multiples_of_p[place]

    def _digit(self, node: SubroutineNode, digit: int, prime: int) -> Value | Turn | None:
        """A digit's limb where it is there, or else the transform that makes it."""
        place = (node.id, digit, prime)
        if place not in self._digits:
            value, *every = (self._order.nodes[i] for i in node.operands)
            raised = every[digit]
            if value.type.form is Form.NTT and prime in raised.attrs["digit"]:
                self._digits[place] = self._limb(value, prime)
            else:
                turn = self._raised_turn(raised, prime)
                self._digits[place] = None if turn is None else turn.target
                return turn
        return self._digits[place]

    def _raised_turn(self, raised: SubroutineNode, prime: int) -> Turn | None:
        """The transform of a limb that a conversion makes; None: it is zeros."""
        if raised.attrs["variant"] == "rns_digit" and prime not in raised.attrs["digit"]:
            own = raised.attrs["digit"][0]
            if self._graph.primes[own] < 2 * self._graph.primes[prime]:
                source = self._limb(self._order.nodes[raised.operands[0]], own)
                target = self._writer.value(prime)
                return None if source is None else Turn(prime, source, target, reduce=True)
        source = self._limb(raised, prime)
        return None if source is None else Turn(prime, source, self._writer.value(prime))

    def _with_product(
        self,
        x: Value,
        node: SubroutineNode,
        sums: Sequence[Value | None],
        digit: int,
        prime: int,
    ) -> list[Value | None]:
        """Sums with a digit's products, as many at once as the array has results."""
        results = [
            self._writer.result(prime, self._key(node, digit, prime, half), before)
            for half, before in enumerate(sums)
        ]
        size = self._design.results
        for first in range(0, len(results), size):
            self._writer.point(x, *results[first : first + size])
        return [each.target for each in results]
