"""Programs with loops as programs without, which run one after another.

The nodes before, between and after loops are a program each, and the body of a loop is one that
runs many times: it is compiled once. What one computes and another takes is an output of the first
and an input of the second.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ringsmith.graph.operations import Op
from ringsmith.objects import Ciphertext
from ringsmith.program import Node, Program
from ringsmith.program.loops import Loop, loops_of


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a program.

    Attributes:
        program: The part: its inputs are the program's, and ``value:`` with a node of the whole.
        count: How often it runs.
        carried: Outputs that are inputs of the next repetition, by that input.
        begun: By those inputs: the value of the first repetition.
    """

    program: Program
    count: int
    carried: Mapping[str, str]
    begun: Mapping[str, str]


_NO_FIELDS: dict[str, Any] = {
    "steps": None,
    "element": None,
    "plain": None,
    "bound": None,
    "approximation": 0.0,
    "approximated": 0,
    "stage": "",
}
"""What inputs and outputs lack."""


def segments(program: Program) -> list[Segment]:
    """Returns the parts of a program in the order in which they run."""
    nodes = program.nodes
    loops = sorted(loops_of(nodes, range(len(nodes))).values(), key=lambda loop: loop.ends[-1])
    place: dict[int, int] = {}  # 2k: before the k-th loop; 2k + 1: in it
    for k, loop in enumerate(loops):
        place |= dict.fromkeys((*loop.carried, *loop.body, *loop.ends), 2 * k + 1)
    for node in nodes:
        if node.id not in place:
            after = (place[i] + place[i] % 2 for i in node.operands)
            place[node.id] = max(after, default=0)
    taken = _taken_elsewhere(nodes, place)
    found = []
    for position in range(2 * len(loops) + 1):
        own = [node for node in nodes if place[node.id] == position]
        if own:
            of = loops[position // 2] if position % 2 else None
            found.append(_segment(program, own, taken, of))
    return found


def run_all(
    parts: Sequence[Segment],
    inputs: Mapping[str, Ciphertext],
    outputs: Sequence[str],
    run: Callable[[int, Mapping[str, Ciphertext]], Mapping[str, Ciphertext]],
) -> dict[str, Ciphertext]:
    """Runs the parts of a program; returns its outputs.

    Args:
        parts: The parts.
        inputs: The program's inputs.
        outputs: The names of its outputs.
        run: Runs a part, given by its position, once.
    """
    known = dict(inputs)
    for position, part in enumerate(parts):
        known |= {name: known[first] for name, first in part.begun.items()}
        for _ in range(part.count):
            found = run(position, {name: known[name] for name in part.program.inputs})
            known |= found
            known |= {name: found[end] for name, end in part.carried.items()}
    return {name: known[name] for name in outputs}


def _taken_elsewhere(nodes: Sequence[Node], place: Mapping[int, int]) -> set[int]:
    """The nodes whose results other parts take."""
    found = set()
    for node in nodes:
        if node.op is Op.CARRIED:
            found.add(node.operands[0])
        else:
            operands = node.operands[:1] if node.op is Op.NEXT else node.operands
            found |= {i for i in operands if place[i] != place[node.id]}
    return found


def _segment(program: Program, own: Sequence[Node], taken: set[int], loop: Loop | None) -> Segment:
    nodes = program.nodes
    made: list[Node] = []
    at: dict[int, int] = {}

    def add(node: Node, operands: tuple[int, ...]) -> int:
        made.append(replace(node, id=len(made), operands=operands, loop=0, count=0))
        return len(made) - 1

    def value(i: int) -> int:
        if i not in at:
            at[i] = add(replace(nodes[i], op=Op.INPUT, name=f"value:{i}", **_NO_FIELDS), ())
        return at[i]

    for node in own:
        if node.op is Op.CARRIED:
            value(node.id)
        elif node.op is not Op.NEXT:
            at[node.id] = add(node, tuple(value(i) for i in node.operands))
    ends = {i: nodes[i].operands for i in loop.ends} if loop else {}
    given = [(n.id, n.id) for n in own if n.id in taken and n.op is not Op.NEXT]
    for i, result in [*given, *((i, operands[0]) for i, operands in ends.items())]:
        source = replace(nodes[result], op=Op.OUTPUT, name=f"value:{i}", **_NO_FIELDS)
        add(source, (value(result),))
    ports = {
        op: {n.name or "": program.parameters.slots for n in made if n.op is op}
        for op in (Op.INPUT, Op.OUTPUT)
    }
    part = replace(
        program,
        nodes=tuple(made),
        lengths=ports[Op.INPUT],
        output_lengths=ports[Op.OUTPUT],
        packed_inputs={},
        packed_outputs={},
        input_contents={k: v for k, v in program.input_contents.items() if k in ports[Op.INPUT]},
        output_contents={k: v for k, v in program.output_contents.items() if k in ports[Op.OUTPUT]},
        arrays={},
        notes=(),
        choice="",
    )
    carried = {f"value:{c}": f"value:{i}" for i, (_, c) in ends.items()}
    begun = {f"value:{c}": f"value:{nodes[c].operands[0]}" for _, c in ends.values()}
    return Segment(part, loop.count if loop else 1, carried, begun)
