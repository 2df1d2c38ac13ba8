"""Checks the nodes of a program from a file against the invariants of planned programs."""

import math
from collections import defaultdict
from collections.abc import Mapping

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Drops, Key, Op, Scale
from ringsmith.params import RlweParameters
from ringsmith.program.bootstrapping.expansion import STAGES
from ringsmith.program.nodes import Node
from ringsmith.program.repetition import MOST
from ringsmith.schemes.registry import scheme_of

MAX_NODES = 1 << 18
_SCALE_SLACK = 2.0**-40
"""Allowed relative distance of a scale from its computed value; declared scales are rounded."""


class _InvalidNodeError(Exception):
    """Why a node is refused."""


def check_nodes(parameters: RlweParameters, nodes: tuple[Node, ...], slots: int) -> None:
    """Checks that operands, limbs, scales, sizes and plain operands of all nodes agree.

    Args:
        parameters: The parameter set.
        nodes: The nodes.
        slots: Number of slots of a ciphertext.

    Raises:
        ProgramError: Otherwise; names the node and its line.
    """
    if not 1 <= len(nodes) <= MAX_NODES:
        raise ProgramError(f"nodes: {len(nodes)} of them, and a program has 1 … {MAX_NODES}")
    _check_loops(nodes)
    names: dict[Op, set[str]] = {Op.INPUT: set(), Op.OUTPUT: set()}
    for position, node in enumerate(nodes):
        try:
            _check_common(parameters, position, node, slots)
            _check_stage(parameters, node, [nodes[i] for i in node.operands])
            _check_shape(parameters, node, [nodes[i] for i in node.operands])
            _check_element(parameters, node)
            if node.op in names:
                _check_name(node.name, names[node.op])
            elif node.name is not None:
                raise _InvalidNodeError(f"is neither input nor output and named {node.name!r:.60}")
        except _InvalidNodeError as caught:
            raise ProgramError(
                f"nodes[{position}] ({node.op}, {node.source!s:.80}) {caught}"
            ) from None
    for op, found in names.items():
        if not found:
            raise ProgramError(f"nodes: there is no {op}, and a program has at least one")


def _check_loops(nodes: tuple[Node, ...]) -> None:
    """Refuses loops that planning does not make: their parts are where they can be run."""
    ends: dict[int, list[Node]] = defaultdict(list)
    for position, node in enumerate(nodes):
        problem = ""
        if (node.op in (Op.CARRIED, Op.NEXT)) != (node.loop > 0) or node.loop < 0:
            problem = f"is a part of the loop {node.loop}"
        elif (node.op is Op.NEXT) != (0 < node.count <= MOST):
            problem = f"is repeated {node.count} times"
        elif node.op is Op.NEXT:
            ends[node.loop].append(node)
        if problem:
            raise ProgramError(f"nodes[{position}] ({node.op}, {node.source!s:.80}) {problem}")
    if not ends and not any(node.op is Op.CARRIED for node in nodes):
        return
    of: dict[int, int] = {}
    for position, node in enumerate(nodes):
        try:
            loop = _loop_of(nodes, node, of, ends)
        except _InvalidNodeError as caught:
            raise ProgramError(
                f"nodes[{position}] ({node.op}, {node.source!s:.80}) {caught}"
            ) from None
        if loop:
            of[position] = loop


def _loop_of(
    nodes: tuple[Node, ...], node: Node, of: dict[int, int], ends: Mapping[int, list[Node]]
) -> int:
    """Returns the loop whose body a node is in; 0: none."""
    if not all(0 <= i < node.id for i in node.operands):
        raise _InvalidNodeError(f"has operands {node.operands!r:.60}: they come before their users")
    within = {of[i] for i in node.operands if i in of and nodes[i].op is not Op.NEXT}
    after = {nodes[i].loop for i in node.operands if nodes[i].op is Op.NEXT}
    if any(node.id <= ends[loop][-1].id for loop in after):
        raise _InvalidNodeError("takes the result of a loop that has not ended")
    match node.op:
        case Op.CARRIED:
            own = [end for end in ends.get(node.loop, []) if end.operands[-1:] == (node.id,)]
            if within or len(own) != 1:
                raise _InvalidNodeError("is not carried by one loop from its beginning to its end")
        case Op.NEXT:
            counts = {end.count for end in ends[node.loop]}
            carried = node.operands[-1:] and nodes[node.operands[-1]]
            if within != {node.loop} or len(counts) > 1 or not carried:
                raise _InvalidNodeError("does not end its loop")
            if (carried.op, carried.loop) != (Op.CARRIED, node.loop):
                raise _InvalidNodeError("is the next of nothing that its loop carries")
        case _:
            if not within:
                return 0
            [*loops] = within
            if len(loops) > 1 or node.op.record.port or node.id > ends[loops[0]][-1].id:
                raise _InvalidNodeError("takes a value from inside of a loop")
            return loops[0]
    return node.loop


def _check_name(name: str | None, taken: set[str]) -> None:
    if name is None or not name.isidentifier() or len(name) > 100 or name in taken:
        raise _InvalidNodeError(f"has the name {name!r:.60}: it is to be a name of its own")
    taken.add(name)


def _check_common(parameters: RlweParameters, position: int, node: Node, slots: int) -> None:
    known = {op for op in Op if parameters.scheme in op.record.schemes}
    scheme = parameters.scheme.upper()
    if node.id != position:
        raise _InvalidNodeError(f"has the id {node.id}: ids count from 0")
    if node.op not in known:
        raise _InvalidNodeError(f"is no operation of {parameters.scheme}")
    if not all(0 <= i < position for i in node.operands):
        raise _InvalidNodeError(f"has operands {node.operands!r:.60}: they come before their users")
    if not 1 <= node.limbs <= parameters.limbs:
        raise _InvalidNodeError(
            f"has {node.limbs} limbs, and the parameters have {parameters.limbs}"
        )
    if node.size not in (2, 3):
        raise _InvalidNodeError(f"has {node.size} polynomials, and ciphertexts have 2 or 3")
    if not math.isfinite(node.scale) or node.scale < 1:
        raise _InvalidNodeError(f"has the scale {node.scale!r}, which is below 1")
    if parameters.exact and node.scale != 1:
        raise _InvalidNodeError(f"has the scale {node.scale!r}, and {scheme}'s is 1")
    _check_plain(parameters, node, slots)
    _check_bound(parameters, node)
    if (node.steps is not None) != (node.op in (Op.ROTATE, Op.ROTATE_CONJUGATE)):
        raise _InvalidNodeError("lacks its steps, or has some without need")
    if (node.element is not None) != (node.op.record.key is Key.GALOIS):
        raise _InvalidNodeError("lacks its Galois element, or has one without need")


def _check_plain(parameters: RlweParameters, node: Node, slots: int) -> None:
    plain = node.plain
    if (plain is not None) != node.op.record.plain:
        raise _InvalidNodeError("lacks its plain operand, or has one without need")
    if plain is not None:
        exact = parameters.exact
        if plain.values.dtype.kind not in ("i" if exact else "fc"):
            raise _InvalidNodeError(f"has plain numbers of the type {plain.values.dtype}")
        if plain.values.shape not in ((), (slots,)):
            raise _InvalidNodeError(f"has {plain.values.shape} plain numbers: one, or {slots}")
        if not math.isfinite(plain.scale) or plain.scale <= 0 or (exact and plain.scale != 1):
            raise _InvalidNodeError(f"has plain numbers of the scale {plain.scale!r}")
        if exact and node.op is Op.MULTIPLY_PLAIN and not plain.values.any():
            raise _InvalidNodeError("multiplies by 0, and its ciphertext hides nothing")
        if error := scheme_of(parameters).plain_error(parameters, node, plain):
            raise _InvalidNodeError(error)


def _check_bound(parameters: RlweParameters, node: Node) -> None:
    bound = node.bound
    if bound is not None and not -math.inf < bound.low <= bound.high < math.inf:
        raise _InvalidNodeError(f"has the range [{bound.low!r}, {bound.high!r}], which is empty")
    if node.approximation and parameters.exact:
        raise _InvalidNodeError(
            f"has an approximation, and {parameters.scheme.upper()}'s values have none"
        )
    if not 0 <= node.approximated <= parameters.slots:
        raise _InvalidNodeError(f"has an approximation of {node.approximated} slots")
    if not 0 <= node.approximation < math.inf:
        raise _InvalidNodeError(f"has the approximation {node.approximation!r}, which is below 0")


def _check_stage(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    """Refuses a part of a bootstrapping outside of one, and one that the parameters have not."""
    if node.stage not in ("", *STAGES):
        raise _InvalidNodeError(f"is a part of the stage {node.stage!r:.40}, which there is not")
    if (node.stage or node.op is Op.BOOTSTRAP) and getattr(
        parameters, "bootstrapping", None
    ) is None:
        raise _InvalidNodeError("is a part of a bootstrapping, and the parameters have none")
    inner = [bool(each.stage) for each in operands]
    if node.op is Op.BOOTSTRAP:
        if inner != [True, False] or node.stage:
            raise _InvalidNodeError("ends no bootstrapping of another value")
    elif any(inner) and not node.stage:
        raise _InvalidNodeError("takes a part of a bootstrapping")
    elif node.stage not in ("", STAGES[0]) and not all(inner):
        raise _InvalidNodeError("is a step of a bootstrapping, and its operand is not")
    if node.stage != STAGES[0] and any(
        each.stage == STAGES[0] and each.op is not Op.MOD_RAISE for each in operands
    ):
        raise _InvalidNodeError("takes what mod_raise has not raised")
    if node.op.record.port and node.stage:
        raise _InvalidNodeError(f"is an {node.op}, and a part of a bootstrapping")


def _check_shape(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    """Refuses operands, limbs, polynomials or a scale that differ from the operation's record."""
    record = node.op.record
    if len(operands) != record.encrypted:
        raise _InvalidNodeError(f"has {len(operands)} operands, and takes {record.encrypted}")
    if any(each.op is Op.OUTPUT for each in operands):
        raise _InvalidNodeError("has an output for an operand")
    if node.op is Op.BOOTSTRAP:
        operands = operands[:1]  # the other gives its numbers alone
    if len({each.limbs for each in operands}) > 1:
        raise _InvalidNodeError("has operands of different limbs")
    for each in operands:
        if each.size not in record.takes:
            taken = " or ".join(map(str, record.takes))
            raise _InvalidNodeError(f"takes {taken} polynomials, and its operand has {each.size}")
    limbs = _limbs(parameters, node, operands)
    size = record.makes or max(each.size for each in operands)
    if (node.limbs, node.size) != (limbs, size):
        raise _InvalidNodeError(
            f"has {node.limbs} limbs and {node.size} polynomials, and its operands make {limbs} "
            f"and {size}"
        )
    _check_scale(parameters, node, operands)


def _limbs(parameters: RlweParameters, node: Node, operands: list[Node]) -> int:
    """Returns the limbs that a node must have."""
    if not operands:
        if parameters.exact and node.limbs != parameters.limbs:
            raise _InvalidNodeError(
                f"has {node.limbs} limbs, and a fresh {parameters.scheme.upper()} encryption has "
                "all"
            )
        return node.limbs
    limbs = operands[0].limbs
    match node.op.record.drops:
        case Drops.LAST:
            return parameters.below(limbs)
        case Drops.ANY:
            if node.limbs < parameters.lowest_limbs:
                raise _InvalidNodeError(f"has {node.limbs} limbs, with which q does not exceed t")
            return min(node.limbs, limbs - 1)
        case Drops.RAISED:
            if limbs != parameters.lowest_limbs or node.limbs != parameters.limbs:
                raise _InvalidNodeError("does not raise the lowest level to the highest")
            return node.limbs
        case Drops.NONE:
            return limbs


def _check_scale(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    scales = [each.scale for each in operands]
    plain, effect = node.plain, node.op.record.scale
    match effect:
        case Scale.SAME:
            for scale in scales:
                _expect_scale(node, scale)
            if plain is not None and not parameters.exact and plain.scale != scales[0]:
                raise _InvalidNodeError("adds plain numbers of another scale")
        case Scale.PRODUCT:
            other = scales[-1] if plain is None else plain.scale
            _expect_scale(node, scales[0] * other, exact=False)
        case Scale.QUOTIENT:
            divisor = parameters.divisor(operands[0].limbs)
            _expect_scale(node, scales[0] / divisor, exact=False)


def _expect_scale(node: Node, scale: float, *, exact: bool = True) -> None:
    if scale <= 0 or (
        node.scale != scale and (exact or abs(node.scale / scale - 1) > _SCALE_SLACK)
    ):
        raise _InvalidNodeError(f"has the scale {node.scale!r}, and its operands make {scale!r}")


def _check_element(parameters: RlweParameters, node: Node) -> None:
    """Refuses steps or a Galois element that do not belong to a node of an operation with one."""
    if node.op.record.key is not Key.GALOIS:
        return
    element = parameters.conjugation_element
    if node.steps is not None:
        if not 1 <= node.steps < parameters.row_size:
            raise _InvalidNodeError(
                f"rotates by {node.steps}, outside 1 … {parameters.row_size - 1}"
            )
        rotation = parameters.galois_element(node.steps)
        conjugates = node.op is Op.ROTATE_CONJUGATE
        element = element * rotation % (2 * parameters.n) if conjugates else rotation
    if node.element != element:
        raise _InvalidNodeError(f"has the Galois element {node.element}, and its own is {element}")
