"""Where bootstrappings go: least total time for the device, over the whole graph.

A value may have a second version, bootstrapped. An operation needs as many levels of an operand as
multiplications follow it, up to the next bootstrapped values; users that need levels take the
bootstrapped version. What is minimized is the cost of bootstrappings and of all operations, at the
fewest levels that do (``Work``).

1. Dynamic programming over cuts of the recorded order, as DaCapo (Cheon et al., USENIX Security
   2024): candidates are the cuts that few values cross. Between two cuts, the values that cross the
   first one and are multiplied before the second one are bootstrapped.
2. Local improvement, from there and, of small graphs, from bootstrapping every value: a
   bootstrapping is left out, moved to an operand or a user, or two are replaced by one nearby, as
   long as the cost falls.

Numbers must have a range that a bootstrapping takes: others are not bootstrapped. Of equal costs,
the smaller numbers are, since the error is relative to the range.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters
from ringsmith.program.loops import loops_of
from ringsmith.program.nodes import Bound, Note
from ringsmith.program.plain import turns
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.ckks.plan import LARGEST, Ladder
from ringsmith.schemes.ckks.work import Work

_CUTS = 256
"""Cuts that are candidates, at most."""
_STEPS = 500_000
"""Operations that local improvement looks at, about."""
_LARGEST_BODY = 2000
"""Operations of a program whose loop has a body that is written out several times, at most."""
_TRIED = 2
"""Ways to bootstrap a program with loops that are looked at closely."""
_SIZE_PRICE = 0.01
"""What writing out a body once more adds to the cost of a program, as a part of it."""
_NEAR = 8
"""Operations that are nearby."""
_SMALL = 250
"""Operations of a small graph, at most."""
_RANGE_PRICE = 0.01
"""What a range of twice the size adds to the cost of a bootstrapping, as a part of it."""

Chosen = frozenset[int]
"""Positions whose values are bootstrapped."""


@dataclass(frozen=True)
class Use:
    """An operand of an operation.

    Attributes:
        position: Of the operand.
        levels: Levels that the operation takes of it: 0 or 1.
        folds: Whether it takes one only if the operand is bootstrapped: a product with a plaintext
            of such a product.
    """

    position: int
    levels: int
    folds: bool = False


@dataclass(frozen=True, eq=False)
class Graph:
    """The operations that count, in the recorded order.

    Attributes:
        indices: Of each in the trace.
        uses: Its operands.
        limits: Levels that it has by itself: of an input, a bootstrapping of the user's, or what a
            loop carries; None: it has those that its operands leave.
        prices: What bootstrapping it costs; inf: its range does not allow it.
        costs: What each operation costs at each level of its operands, as often as it is computed.
        most: Levels of programs.
        carried: Levels of what loops carry.
        begins: Where bodies of loops begin: what they carry.
        ends: Where they end.
    """

    indices: tuple[int, ...]
    uses: tuple[tuple[Use, ...], ...]
    limits: tuple[int | None, ...]
    prices: tuple[float, ...]
    costs: tuple[Sequence[float], ...]
    most: int
    carried: int = 0
    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    def carrying(self, levels: int, slack: int = 0) -> "Graph":
        """Returns the graph with other levels of what loops carry.

        Args:
            levels: These levels.
            slack: Levels more that values need at the end of a body, to come to the scale of its
                beginning. What comes before the loop needs one in any case.
        """
        if not self.begins:
            return self
        uses, limits = [*self.uses], [*self.limits]
        for j in self.begins:
            uses[j], limits[j] = (replace(self.uses[j][0], levels=levels + 1),), levels
        for j in self.ends:
            result, carried = self.uses[j]
            uses[j], limits[j] = (replace(result, levels=levels + slack), carried), levels
        return replace(self, uses=tuple(uses), limits=tuple(limits), carried=levels)

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self.indices)

    def levels(self, chosen: Chosen) -> tuple[list[int], list[int]] | None:
        """Returns the levels that each value needs, and those of its bootstrapped version.

        None: an input or a bootstrapped value has fewer.
        """
        own, fresh = [0] * self.size, [0] * self.size
        for j in reversed(range(self.size)):
            limit = self.limits[j]
            if fresh[j] > self.most or (limit is not None and own[j] > limit):
                return None
            if own[j] > self.most:
                return None
            needed = 0 if self.has_levels(j) else own[j]
            for use in self.uses[j]:
                i = use.position
                levels = needed + (1 if use.folds and i in chosen else use.levels)
                of = fresh if levels and i in chosen else own
                of[i] = max(of[i], levels)
        return own, fresh

    def has_levels(self, j: int) -> bool:
        """Whether the levels of an operation do not depend on what its users need."""
        return self.limits[j] is not None and bool(self.uses[j])

    def cost(self, chosen: Chosen) -> float:
        """Returns the total cost; inf: levels do not suffice, or a range does not allow it."""
        found = self.levels(chosen)
        if found is None:
            return math.inf
        own, _ = found
        total = sum(self.prices[j] for j in chosen)
        for j in range(self.size):
            total += self.costs[j][min(own[j] + self.takes(j), self.most)]
        return total

    def takes(self, j: int) -> int:
        """Levels that an operation takes."""
        return max((use.levels for use in self.uses[j]), default=0)


def graph_of(
    recording: Recording,
    parameters: CkksParameters,
    most: int,
    work: Work,
    price: float,
) -> Graph:
    """Returns the operations of a recording.

    Args:
        recording: What the function does.
        parameters: Parameters that bootstrap.
        most: Levels that a value may need.
        work: The costs of operations.
        price: The cost of a bootstrapping.
    """
    trace, used = recording.trace, recording.used
    position = {index: j for j, index in enumerate(used)}
    plain: set[int] = set()
    rotated: dict[int, int] = {}
    for index in used:
        if trace.nodes[index].op in (Op.ROTATE, Op.CONJUGATE):
            operand = trace.nodes[index].operands[0]
            rotated[operand] = rotated.get(operand, 0) + 1
    ladder, times = parameters.ladder, _times(recording)
    tables: dict[tuple[Op, bool], list[float]] = {}
    uses, limits, prices, costs = [], [], [], []
    magnitudes = trace.magnitudes(used)
    for index in used:
        node = trace.nodes[index]
        again = bool(node.operands) and node.operands[0] in plain
        folds = node.op is Op.MULTIPLY_PLAIN or (node.op is Op.NEGATE and again)
        if folds and node.bound is None and not node.approximation:
            plain.add(index)
        levels, folded = _levels(node), again and node.op is Op.MULTIPLY_PLAIN
        operands = node.operands if node.loop else tuple(set(node.operands))
        uses.append(
            tuple(Use(position[i], 0 if folded else levels, folds=folded) for i in operands)
        )
        limits.append(_limit(recording, node, parameters, most))
        prices.append(times.get(index, 1) * price * _price(magnitudes[index], parameters))
        shared = bool(node.operands) and rotated.get(node.operands[0], 0) > 1
        if (node.op, shared) not in tables:
            tables[node.op, shared] = [
                work.of(node.op, ladder[level], shared=shared) for level in range(most + 1)
            ]
        table = tables[node.op, shared]
        costs.append([times[index] * cost for cost in table] if index in times else table)
    ends, begins = (
        tuple(position[i] for i in used if trace.nodes[i].op is op) for op in (Op.NEXT, Op.CARRIED)
    )
    found = Graph(
        used, tuple(uses), tuple(limits), tuple(prices), tuple(costs), most, 0, begins, ends
    )
    return found.carrying(0)


def _times(recording: Recording) -> dict[int, int]:
    """How often operations in loops are computed."""
    found: dict[int, int] = {}
    for loop in loops_of(recording.trace.nodes, recording.used).values():
        found |= dict.fromkeys((*loop.carried, *loop.body), loop.count)
    return found


def _levels(node: TraceNode) -> int:
    """Levels that an operation takes, if nothing folds."""
    if node.op is Op.MULTIPLY_PLAIN:
        assert node.values is not None, "it has an operand"
        return 0 if node.scale is not None or turns(node.values) else 1
    return 1 if node.op is Op.MULTIPLY else 0


def _limit(
    recording: Recording, node: TraceNode, parameters: CkksParameters, most: int
) -> int | None:
    if node.op is Op.BOOTSTRAP:
        return most
    if node.op is not Op.INPUT or node.name is None:
        return None
    limbs = recording.inputs[node.name].limbs
    return most if limbs is None else min(most, parameters.ladder.index(limbs))


def largest_number(parameters: CkksParameters) -> float:
    """Returns the largest magnitude that a bootstrapping takes."""
    given = parameters.bootstrapping
    assert given is not None, "they bootstrap"
    scale = Ladder.of(parameters).scales[parameters.lowest_limbs]
    most = parameters.lowest_modulus / 2.0**given.ratio_bits / scale
    return max(most, LARGEST) if round(most) >= 1 else 0.0


def _price(magnitude: float, parameters: CkksParameters) -> float:
    """What bootstrapping a value costs, in that of one in [-1, 1]; inf: it is not possible."""
    if not 0 < magnitude <= largest_number(parameters):
        return math.inf
    return 1 + _RANGE_PRICE * max(0.0, math.log2(magnitude))


# ---- the search ------------------------------------------------------------------------------


def placed(graph: Graph, *, improved: bool = True) -> Chosen | None:
    """Returns the values to bootstrap; None: their ranges, or levels, do not allow it.

    Args:
        graph: The operations.
        improved: Whether the choice is improved locally.
    """
    if graph.levels(frozenset()) is not None:
        return frozenset()
    starts = []
    by_cuts = _by_cuts(graph)
    if by_cuts is not None:
        starts.append(by_cuts)
    if improved and graph.size <= _SMALL:
        everything = frozenset(j for j in range(graph.size) if graph.prices[j] < math.inf)
        if graph.levels(everything) is not None:
            starts += [_thinned(graph, everything, order) for order in (1, -1)]
    found = [_improved(graph, start) for start in starts] if improved else starts
    return min(found, key=graph.cost, default=None)


def _crossings(graph: Graph) -> list[int]:
    """Returns how many values cross each cut, before position 0 … size."""
    change = [0] * (graph.size + 2)
    last: dict[int, int] = {}
    for j, uses in enumerate(graph.uses):
        for use in uses:
            last[use.position] = j
    for i, end in last.items():
        if graph.limits[i] is None:  # inputs have levels of their own
            change[i + 1] += 1
            change[end + 1] -= 1
    found, crossing = [], 0
    for p in range(graph.size + 1):
        crossing += change[p]
        found.append(crossing)
    return found


def _cuts(graph: Graph) -> list[int]:
    """Returns candidates for cuts, ascending: of as many stretches the one that fewest cross."""
    crossing = _crossings(graph)
    if graph.size <= _CUTS:
        return [*range(graph.size + 1)]
    edges = np.linspace(1, graph.size, _CUTS - 1).astype(int)
    found = {
        min(range(low, high), key=lambda p: (crossing[p], p))
        for low, high in pairwise(edges)
        if low < high
    }
    return [0, *sorted(found), graph.size]


def _by_cuts(graph: Graph) -> Chosen | None:
    """Returns the cheapest way by cuts: the shortest path over these."""
    cuts = _cuts(graph)
    best: dict[int, tuple[float, Chosen]] = {0: (0.0, frozenset())}
    places = set(cuts)
    for q in cuts[1:]:
        ways = [
            (best[p][0] + cost, p, crossing)
            for p, cost, crossing in _segments(graph, q, places)
            if p in best and best[p][0] + cost < math.inf
        ]
        if ways:
            cost, p, crossing = min(ways, key=lambda way: way[:2])
            best[q] = cost, best[p][1] | crossing
    return best[graph.size][1] if graph.size in best else None


def _segments(graph: Graph, q: int, places: set[int]) -> Iterator[tuple[int, float, Chosen]]:
    """Yields cuts p before q with the cost of what lies between, and what is bootstrapped at p."""
    need: dict[int, int] = {}
    spent = 0.0
    for p in reversed(range(q)):
        own = need.pop(p, 0)
        limit = graph.limits[p]
        if limit is not None and own > limit:
            return
        spent += graph.costs[p][min(own + graph.takes(p), graph.most)]
        levels = 0 if graph.has_levels(p) else own
        for use in graph.uses[p]:
            need[use.position] = max(need.get(use.position, 0), levels + use.levels)
            if need[use.position] > graph.most:
                return
        if p in places:
            crossing = frozenset(
                i for i, found in need.items() if found and (found > (graph.limits[i] or 0))
            )
            yield p, spent + sum(graph.prices[i] for i in crossing), crossing


def _thinned(graph: Graph, chosen: Chosen, order: int) -> Chosen:
    """Leaves out, one after another, what is not needed."""
    for j in sorted(chosen)[::order]:
        if graph.levels(chosen - {j}) is not None:
            chosen = chosen - {j}
    return chosen


def _improved(graph: Graph, chosen: Chosen) -> Chosen:
    """Returns a cheaper choice, by small steps."""
    users: list[list[int]] = [[] for _ in range(graph.size)]
    for j, uses in enumerate(graph.uses):
        for use in uses:
            users[use.position].append(j)
    cost, left = graph.cost(chosen), _STEPS // graph.size
    improving = True
    while improving:
        improving = False
        for j in sorted(chosen):
            for other in _moves(graph, users, chosen, j):
                left -= 1
                found = graph.cost(other)
                if found < cost - 1e-9:
                    cost, chosen, improving = found, other, True
                    break
                if left <= 0:
                    return chosen
            if improving:
                break
    return chosen


def _moves(graph: Graph, users: list[list[int]], chosen: Chosen, j: int) -> Iterator[Chosen]:
    """Yields choices like one, without the bootstrapping of j."""
    without = chosen - {j}
    yield without
    for i in [use.position for use in graph.uses[j]] + users[j]:
        if graph.prices[i] < math.inf and i not in chosen:
            yield without | {i}
    after = min((k for k in chosen if k > j), default=None)
    if after is not None:
        for i in range(max(0, j - _NEAR), min(graph.size, after + _NEAR)):
            if graph.prices[i] < math.inf and i not in chosen:
                yield (without - {after}) | {i}


@dataclass(frozen=True, eq=False)
class Way:
    """A way to bootstrap a program.

    Attributes:
        recording: The program, with bodies of loops written out a few times.
        graph: Its operations.
        chosen: What is bootstrapped.
        cost: What all of it costs.
        weight: By which the cost is multiplied to compare it: small programs are preferred.
    """

    recording: Recording
    graph: Graph
    chosen: Chosen
    cost: float
    weight: float = 1.0

    def rank(self) -> float:
        """Returns the cost to compare."""
        return self.cost * self.weight


def ways(
    recording: Recording, parameters: CkksParameters, most: int, work: Work, price: float
) -> list[Way]:
    """Returns ways to bootstrap a program, the cheapest first; arguments are of ``graph_of``.

    A program without loops has one way at most. With loops, ways differ in how many levels what a
    loop carries has, and in how often its body is written out, so that several repetitions share a
    bootstrapping.
    """
    loops = loops_of(recording.trace.nodes, recording.used)
    if not loops:
        graph = graph_of(recording, parameters, most, work, price)
        chosen = placed(graph)
        return [Way(recording, graph, chosen, graph.cost(chosen))] if chosen else []
    found: list[Way] = []
    carried = [*range(most)]
    for factor in range(1, min(most, max(loop.count for loop in loops.values())) + 1):
        own = recording.unrolled(factor) if factor > 1 else recording
        if factor > 1 and len(own.used) > _LARGEST_BODY:
            break
        weight = 1 + _SIZE_PRICE * (factor - 1)
        whole = graph_of(own, parameters, most, work, price)
        for levels in carried:
            for slack in (0, 1):
                graph = whole.carrying(levels, slack)
                chosen = placed(graph, improved=False)
                if chosen is not None:
                    found.append(Way(own, graph, chosen, graph.cost(chosen), weight))
        if factor == 1 and found:
            carried = sorted({0, min(found, key=Way.rank).graph.carried})
    best = []
    for way in sorted(found, key=Way.rank)[:_TRIED]:
        chosen = placed(way.graph)
        assert chosen is not None, "it was placed before"
        best.append(replace(way, chosen=chosen, cost=way.graph.cost(chosen)))
    return sorted(best, key=Way.rank)


# ---- the recording with bootstrappings -----------------------------------------------------------


def obstacle(recording: Recording, graph: Graph, parameters: CkksParameters) -> ProgramError:
    """Returns the error of a program that cannot be bootstrapped, at the user's line."""
    levels = parameters.ladder.index(parameters.working_limbs)
    j = _too_large(graph)
    if j is None:
        return recording.source.error(
            f"out of levels: no bootstrapping helps with the {levels} levels that parameters "
            f"{parameters.name!r} have for programs: add data primes, or multiply less deeply"
        )
    index = graph.indices[j]
    source, largest = recording.trace.nodes[index].source, recording.trace.span(index).magnitude
    size = f"may reach {largest:.3g}" if math.isfinite(largest) else "have no known range"
    return source.error(
        f"out of levels: more than {levels} multiplications follow one another, and what this line "
        f"computes cannot be bootstrapped: numbers {size}, and at most "
        f"{largest_number(parameters):.4g} is allowed by parameters {parameters.name!r}: scale the "
        "numbers down, or promise what you know with bounded"
    )


def _too_large(graph: Graph) -> int | None:
    """Returns the first value that could not be bootstrapped, of those that lead to too deep ones.

    None: there is none.
    """
    need = [0] * graph.size
    for j, uses in enumerate(graph.uses):
        limit = graph.limits[j]
        need[j] = max((need[use.position] + use.levels for use in uses), default=0)
        if graph.prices[j] < math.inf or limit is not None:
            need[j] = 0 if graph.prices[j] < math.inf or limit is None else graph.most - limit
        elif need[j] > graph.most:
            found = j
            while larger := [u.position for u in graph.uses[found] if _is_too_large(graph, u)]:
                found = larger[0]
            return found
    return None


def _is_too_large(graph: Graph, use: Use) -> bool:
    return graph.prices[use.position] == math.inf


def with_bootstrappings(
    recording: Recording,
    graph: Graph,
    chosen: Chosen,
    parameters: CkksParameters,
    *,
    lowered: bool,
) -> Recording:
    """Returns a recording with bootstrappings.

    Args:
        recording: The recording.
        graph: Its operations.
        chosen: What is bootstrapped.
        parameters: Parameters that bootstrap.
        lowered: Whether inputs and bootstrapped values have the fewest levels that do.
    """
    found = graph.levels(chosen)
    assert found is not None, "levels suffice"
    own, fresh = found
    trace, ladder = recording.trace, parameters.ladder
    made = Trace(trace.space)
    made.notes = {**dict(trace.notes), **dict.fromkeys(_notes(recording, graph, chosen, fresh))}
    values: list[int] = []
    bootstrapped: dict[int, int] = {}
    magnitudes = trace.magnitudes(graph.indices[j] for j in chosen)
    inputs = dict(recording.inputs)
    for j, index in enumerate(graph.indices):
        node = trace.nodes[index]
        operands = {use.position: use for use in graph.uses[j]}
        moved = {}
        for i, use in operands.items():
            needed = 0 if graph.has_levels(j) else own[j]
            levels = needed + (1 if use.folds and i in chosen else use.levels)
            place = bootstrapped[i] if levels and i in chosen else values[i]
            moved[graph.indices[i]] = place
        limbs = ladder[graph.carried] if node.loop else node.limbs
        made.append(replace(node, operands=tuple(moved[i] for i in node.operands), limbs=limbs))
        values.append(len(made.nodes) - 1)
        if lowered and node.op is Op.INPUT and node.name is not None:
            spec = inputs[node.name]
            if spec.limbs is None and spec.scale is None:
                inputs[node.name] = replace(spec, limbs=ladder[own[j]])
        if j in chosen:
            largest = max(magnitudes[index], 0.0)
            bound = Bound(-largest, largest, node.source, computed=True)
            limbs = ladder[fresh[j]] if lowered else None
            bootstrapped[j] = made.append(
                TraceNode(Op.BOOTSTRAP, (values[j],), node.source, bound=bound, limbs=limbs)
            )
    position = {index: j for j, index in enumerate(graph.indices)}
    return replace(
        recording,
        trace=made,
        inputs=inputs,
        outputs={name: values[position[index]] for name, index in recording.outputs.items()},
        used=tuple(range(len(made.nodes))),
    )


def _notes(
    recording: Recording, graph: Graph, chosen: Chosen, fresh: Sequence[int]
) -> Iterator[Note]:
    """Says at each line how many bootstrappings there are, why, and what they cost."""
    trace, total, times = recording.trace, graph.cost(chosen), _times(recording)
    lines: dict[SourceLine, list[int]] = {}
    for j in sorted(chosen):
        lines.setdefault(trace.nodes[graph.indices[j]].source, []).append(j)
    for source, found in lines.items():
        levels = max(fresh[j] for j in found)
        share = 100 * sum(graph.prices[j] for j in found) / total
        often = [times.get(graph.indices[j], 1) for j in found]
        repeated = f" in a loop, {sum(often)} in all" if max(often) > 1 else ""
        follow = _count(levels, "multiplication")
        yield Note(
            source,
            f"{_count(len(found), 'bootstrapping')}{repeated}: up to {follow} in a "
            f"row follow, and no levels are left for them; {share:.0f} % of the time on "
            f"{trace.space.costs.device}",
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def sample(parameters: CkksParameters, recording: Recording) -> Recording:
    """Returns the recording of a bootstrapping alone, in the place of a recording."""
    source = recording.source
    trace = Trace(recording.trace.space)
    trace.nodes.append(TraceNode(Op.INPUT, (), source, name="x"))
    trace.nodes.append(TraceNode(Op.BOOTSTRAP, (0,), source))
    specs: Mapping[str, int] = {"result": 1}
    first = next(iter(recording.inputs.values()))
    inputs = {"x": replace(first, limbs=None, scale=None, length=None, bound=None)}
    return replace(
        recording,
        trace=trace,
        inputs=inputs,
        outputs=specs,
        used=(0, 1),
        output_lengths={"result": trace.space.slots},
        arrays={},
        packed_inputs={},
        packed_outputs={},
        input_contents={},
        results={},
    )
