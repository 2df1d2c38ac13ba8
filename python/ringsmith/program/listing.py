"""Prints a program as text and tables, for both schemes."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from ringsmith.graph.operations import Key, Op
from ringsmith.memory import in_words
from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.program.nodes import Node
from ringsmith.program.sharing import Sharing
from ringsmith.program.source import SourceLine


def describe_keys(parameters: RlweParameters, nodes: Sequence[Node], needs: KeyNeeds) -> str:
    """Returns the keys in one line: how many, how large each and all are, and what for."""
    if not needs.count:
        return "none"
    total = needs.bytes(parameters)
    size = f"{in_words(total)}, or {in_words(total // 2)} with seeds"

    def at(limbs: int, more: str = "") -> str:
        one = in_words(parameters.key_shape(limbs).bytes(parameters.n))
        return f"at up to {limbs} limbs, {one}{more}"

    parts = [] if needs.relin is None else [f"relinearization {at(needs.relin)}"]
    if needs.raised is not None:
        small = in_words(parameters.sparse_key_shape.bytes(parameters.n))
        parts.append(f"to a sparse secret, {small}, and from it {at(needs.raised)}")
    steps = {node.element: node.steps for node in nodes if node.steps is not None}
    rotations: dict[int, list[int]] = {}
    for element, limbs in needs.galois.items():
        if element in steps:
            left, row = steps[element] or 0, parameters.row_size
            rotations.setdefault(limbs, []).append(left if left <= row // 2 else left - row)
        else:
            what = "swap of the rows" if parameters.exact else "conjugation"
            parts.append(f"{what} {at(limbs)}")
    for limbs, each in sorted(rotations.items(), reverse=True):
        listed = ", ".join(map(str, sorted(each, key=lambda step: (abs(step), step < 0))))
        parts.append(f"rotation by {listed} {at(limbs, ' each' if len(each) > 1 else '')}")
    return f"{needs.count} ({size}): {'; '.join(parts)}"


def expression(node: Node) -> str:
    """Returns what a node computes, such as ``multiply(%1, %2)``."""
    arguments = [f"%{i}" for i in node.operands]
    if node.name is not None:
        arguments.append(repr(node.name))
    if node.steps is not None:
        arguments.append(str(node.steps))
    if node.count:
        arguments.append(f"{node.count} times")
    if node.plain is not None:
        values, scale = node.plain.values, node.plain.scale
        what = "vector" if values.ndim else f"{values:.6g}" if scale != 1 else f"{values}"
        arguments.append(what if scale == 1 else f"{what} * 2^{math.log2(scale):.2f}")
    return f"{node.op}({', '.join(arguments)})"


def table(
    nodes: Sequence[Node],
    heads: str,
    columns: Callable[[Node], str],
    cycles: Mapping[int, int] | None = None,
) -> list[str]:
    """Returns a heading and a line for each node: what it computes, a scheme's columns, its source.

    A stage of a bootstrapping is one line, with the columns of its last node.

    Args:
        nodes: The HE graph.
        heads: Headings of the scheme's columns.
        columns: The scheme's columns of a node, as wide as their headings.
        cycles: Clock cycles by node, where a design was given.
    """
    cycle_head = "" if cycles is None else "   cycles"
    lines = [f"{'node':>6}  {'operation':<34} {heads}{cycle_head}  line"]
    for stage, run in groupby(nodes, key=lambda node: node.stage):
        group = [*run]
        for rows in [group] if stage else [[node] for node in group]:
            node = rows[-1]
            what = f"{stage}: {len(rows)} operations" if stage else expression(node)
            spent = ""
            if cycles is not None:
                spent = f"{sum(cycles.get(row.id, 0) for row in rows):>9,}"
            lines.append(
                f"{'%' + str(node.id):>6}  {what:<34} {columns(node)}{spent}  {node.source}"
            )
    return lines


def by_line(
    nodes: Sequence[Node],
    head: str,
    column: Callable[[Node], str],
    cycles: Mapping[int, int] | None = None,
) -> list[str]:
    """Returns a heading and a row for each line of the user's: what its operations are and cost.

    Args:
        nodes: The HE graph.
        head: Heading of the scheme's column.
        column: The scheme's column of a line's last node, as wide as the heading.
        cycles: Clock cycles by node, where a design was given.
    """
    lines: dict[SourceLine, list[Node]] = {}
    for node in nodes:
        lines.setdefault(node.source, []).append(node)
    kinds = {
        "rotations": [op for op in Op if op.record.key is Key.GALOIS],
        "products": [Op.MULTIPLY, Op.SQUARE],
        "plain products": [Op.MULTIPLY_PLAIN],
    }
    cycle_head = "" if cycles is None else f"{'cycles':>13}"
    found = [f"limbs  {'  '.join(kinds)}  {head}{cycle_head}  line"]
    for source, rows in lines.items():
        counts = Counter(node.op for node in rows)
        each = "  ".join(
            f"{sum(counts[op] for op in ops):>{len(kind)}}" for kind, ops in kinds.items()
        )
        spent = ""
        if cycles is not None:
            spent = f"{sum(cycles.get(row.id, 0) for row in rows):>13,}"
        found.append(f"{rows[-1].limbs:>5}  {each}  {column(rows[-1])}{spent}  {source}")
    return found


def cost(
    parameters: RlweParameters,
    nodes: Sequence[Node],
    sharing: Sharing,
    cycles: Mapping[int, int] | None,
) -> str:
    """Returns the counts of operations and key switchings, and cycles where they are known."""
    counts = Counter(node.op for node in nodes if not node.op.record.port)
    listed = ", ".join(f"{count} {op}" for op, count in counts.most_common())
    switches = [nodes[node.operands[0]].limbs for node in nodes if node.op.record.key is not None]
    text = (
        f"operations: {listed or 'none'}; {len(switches)} key switchings with {sum(switches)} "
        f"digits in all, over up to {parameters.limbs} data primes"
    )
    if shared := sharing.describe(nodes):
        text = f"{text}\n{shared}"
    if cycles is None:
        return text
    spent: Counter[Op] = Counter()
    for node in nodes:
        spent[node.op] += cycles.get(node.id, 0)
    shares = ", ".join(f"{c:,} {op}" for op, c in spent.most_common() if c)
    return f"{text}\ncycles: {sum(cycles.values()):,} in all, each counted for one node: {shares}"
