"""What rotations of a program share: digits of one value, and one division of a sum.

**Digits.** Rotations of one value by several steps cut it into digits once (hoisting: Halevi, Shoup
2018, eprint 2018/244, section 5).

**Divisions.** A rotated value need not be divided by the special primes at once. It may be
multiplied by plaintexts and added up over the extended base before, so that a sum of products is
divided once (double hoisting: Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux 2021, eprint 2020/1203,
section 4.2). Products and sums then have the special primes' limbs, too.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.graph.operations import Key, Op
from ringsmith.params import RlweParameters
from ringsmith.program.nodes import Node

SHARED, SEAL = "shared", "seal"
"""Which bits rotations have: see ``Program``."""

_LINEAR = (Op.ADD, Op.SUB, Op.NEGATE, Op.MULTIPLY_PLAIN)


@dataclass(frozen=True)
class Sharing:
    """What is shared.

    Attributes:
        cut: Values whose rotations share their digits.
        undivided: Nodes whose result is over the extended base until something else needs it.
        rescaled: Rescalings of such results, by the same division.
        moved: Such results that only one rotation uses, which is not divided at once either: it
            divides the half that it cuts into digits.
    """

    cut: frozenset[int] = frozenset()
    undivided: frozenset[int] = frozenset()
    rescaled: frozenset[int] = frozenset()
    moved: frozenset[int] = frozenset()

    @classmethod
    def of(cls, nodes: Sequence[Node], parameters: RlweParameters) -> "Sharing":
        """Finds what costs less when it is shared.

        Divisions are shared in CKKS, whose ciphertexts are in NTT form.

        Args:
            nodes: The program's nodes.
            parameters: Its parameter set.
        """
        divisions = not parameters.exact and bool(parameters.special)
        undivided = _undivided(nodes, parameters) if divisions else frozenset()
        elements = defaultdict(set)
        uses = Counter(i for node in nodes for i in node.operands)
        rescaled = frozenset(
            node.id
            for node in nodes
            if node.op is Op.RESCALE
            and node.operands[0] in undivided
            and uses[node.operands[0]] == 1
        )
        for node in nodes:
            if node.op.record.key is Key.GALOIS:
                elements[node.operands[0]].add(node.element)
        cut = frozenset(i for i, found in elements.items() if len(found) > 1)
        moved = frozenset(
            node.operands[0]
            for node in nodes
            if node.op.record.key is Key.GALOIS
            and node.id in undivided
            and node.operands[0] in undivided
            and uses[node.operands[0]] == 1
        )
        return cls(cut, undivided, rescaled, moved)

    def digits_first(self, nodes: Sequence[Node]) -> frozenset[int]:
        """Returns the rotations whose automorphism moves digits: these are cut before it."""
        return frozenset(
            node.id
            for node in nodes
            if node.op.record.key is Key.GALOIS
            and (node.operands[0] in self.cut or node.id in self.undivided)
        )

    def describe(self, nodes: Sequence[Node]) -> str:
        """Returns how many digits and divisions are shared, in words; nothing where none is."""
        rotations = [node for node in nodes if node.op.record.key is Key.GALOIS]
        shared = [node for node in rotations if node.operands[0] in self.cut]
        late = [node for node in rotations if node.id in self.undivided]
        divided = {
            i
            for node in nodes
            for i in node.operands
            if i in self.undivided
            and (node.id not in self.undivided or node.op.record.key is Key.GALOIS)
        }
        parts = []
        if shared:
            of = "one value" if len(self.cut) == 1 else f"{len(self.cut)} values"
            parts.append(f"{len(shared)} share the digits of {of}")
        if late:
            parts.append(f"{len(late)} are divided after summation, {len(divided)} times in all")
        return f"rotations: of {len(rotations)}, {' and '.join(parts)}" if parts else ""


def _undivided(nodes: Sequence[Node], parameters: RlweParameters) -> frozenset[int]:
    """Nodes of the groups that take less when divided late."""
    group = _groups(nodes)
    members = defaultdict(list)
    for node in nodes:
        if node.id in group:
            members[group[node.id]].append(node)
    used_outside = {
        i
        for node in nodes
        for i in node.operands
        if group.get(i) != group.get(node.id) or node.op.record.key is Key.GALOIS
    }
    return frozenset(
        node.id
        for own in members.values()
        if _pays(own, sum(node.id in used_outside for node in own), group, parameters)
        for node in own
    )


def _groups(nodes: Sequence[Node]) -> dict[int, int]:
    """Rotations, and what is linear in them: node -> the first node of its group."""
    parent: dict[int, int] = {}

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for node in nodes:
        if node.size != 2:
            continue
        if node.op.record.key is Key.GALOIS:
            parent[node.id] = node.id
        elif node.op in _LINEAR:
            roots = {root(i) for i in node.operands if i in parent}
            if roots:
                parent[node.id] = first = min(roots)
                parent.update(dict.fromkeys(roots, first))
    return {i: root(i) for i in parent}


def _pays(
    own: Sequence[Node], divided: int, group: dict[int, int], parameters: RlweParameters
) -> bool:
    """Whether a group takes less work divided late, in products of a word modulo a prime.

    Args:
        own: The group's nodes.
        divided: How many of them are divided then, since others use them.
        group: Of all nodes.
        parameters: The parameter set.
    """
    counts = Counter(node.op for node in own)
    rotations = sum(node.op.record.key is Key.GALOIS for node in own)
    sums = sum(all(i in group for i in node.operands) for node in own if len(node.operands) == 2)
    limbs, special = own[0].limbs, len(parameters.special)
    transform = math.log2(parameters.n) / 2
    division = 2 * ((limbs + special) * transform + limbs * (special + 1))
    extra = 2 * special * (counts[Op.MULTIPLY_PLAIN] + sums)
    return (rotations - divided) * division > extra
