"""Checks the nodes of a program that comes from a file: what every planned program keeps to."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ringsmith.errors import ProgramError
from ringsmith.params import BfvParameters, RlweParameters
from ringsmith.program.nodes import Node, Op, operations

MAX_PRIMES = 128
MAX_NODES = 1 << 18
_SCALE_SLACK = 2.0**-40
"""Relative distance of a scale from what its operands make; declared ones are rounded."""


class _RefusalError(Exception):
    """Why a node is refused."""


def check_nodes(parameters: RlweParameters, nodes: tuple[Node, ...], slots: int) -> None:
    """Checks that operands, limbs, scales, sizes and plain operands of all nodes agree.

    Args:
        parameters: The parameter set.
        nodes: The nodes.
        slots: Numbers that a ciphertext holds.

    Raises:
        ProgramError: Otherwise; names the node and its line.
    """
    if not 1 <= len(nodes) <= MAX_NODES:
        raise ProgramError(f"nodes: {len(nodes)} of them, and a program has 1 … {MAX_NODES}")
    names: dict[Op, set[str]] = {Op.INPUT: set(), Op.OUTPUT: set()}
    for position, node in enumerate(nodes):
        try:
            _check_common(parameters, position, node, slots)
            operands = [nodes[i] for i in node.operands]
            RULES[node.op](parameters, node, operands)
            if node.op in names:
                _check_name(node.name, names[node.op])
            elif node.name is not None:
                raise _RefusalError(f"is neither input nor output and named {node.name!r:.60}")
        except _RefusalError as refusal:
            raise ProgramError(
                f"nodes[{position}] ({node.op}, {node.source!s:.80}) {refusal}"
            ) from None
    for op, found in names.items():
        if not found:
            raise ProgramError(f"nodes: there is no {op}, and a program has at least one")


def _check_name(name: str | None, taken: set[str]) -> None:
    if name is None or not name.isidentifier() or len(name) > 100 or name in taken:
        raise _RefusalError(f"has the name {name!r:.60}: it is to be a name of its own")
    taken.add(name)


def _check_common(parameters: RlweParameters, position: int, node: Node, slots: int) -> None:
    known = {Op.INPUT, Op.OUTPUT, *operations(parameters.scheme)}
    if node.id != position:
        raise _RefusalError(f"has the id {node.id}: ids count from 0")
    if node.op not in known:
        raise _RefusalError(f"is no operation of {parameters.scheme}")
    if not all(0 <= i < position for i in node.operands):
        raise _RefusalError(f"has operands {node.operands!r:.60}: they come before their users")
    if not 1 <= node.limbs <= parameters.limbs:
        raise _RefusalError(f"has {node.limbs} limbs, and the parameters have {parameters.limbs}")
    if node.size not in (2, 3):
        raise _RefusalError(f"has {node.size} polynomials, and ciphertexts have 2 or 3")
    if not math.isfinite(node.scale) or node.scale < 1:
        raise _RefusalError(f"has the scale {node.scale!r}, which is below 1")
    if parameters.scheme == "bfv" and node.scale != 1:
        raise _RefusalError(f"has the scale {node.scale!r}, and BFV's is 1")
    _check_plain(parameters, node, slots)
    _check_bound(parameters, node)
    if (node.steps is not None) != (node.op is Op.ROTATE):
        raise _RefusalError("lacks its steps, or has some without need")
    if (node.element is not None) != (node.op in _GALOIS):
        raise _RefusalError("lacks its Galois element, or has one without need")


def _check_plain(parameters: RlweParameters, node: Node, slots: int) -> None:
    plain = node.plain
    if (plain is not None) != (node.op in _PLAIN):
        raise _RefusalError("lacks its plain operand, or has one without need")
    if plain is not None:
        exact = parameters.scheme == "bfv"
        if plain.values.dtype.kind not in ("i" if exact else "fc"):
            raise _RefusalError(f"has plain numbers of the type {plain.values.dtype}")
        if plain.values.shape not in ((), (slots,)):
            raise _RefusalError(f"has {plain.values.shape} plain numbers: one, or {slots}")
        if not math.isfinite(plain.scale) or plain.scale <= 0 or (exact and plain.scale != 1):
            raise _RefusalError(f"has plain numbers of the scale {plain.scale!r}")
        _check_numbers(parameters, node)


def _check_bound(parameters: RlweParameters, node: Node) -> None:
    bound = node.bound
    if bound is not None and not -math.inf < bound.low <= bound.high < math.inf:
        raise _RefusalError(f"has the range [{bound.low!r}, {bound.high!r}], which is none")
    if (bound is not None or node.approximation) and parameters.scheme == "bfv":
        raise _RefusalError("has a range or an approximation, and BFV's values have none")
    if not 0 <= node.approximation < math.inf:
        raise _RefusalError(f"has the approximation {node.approximation!r}, which is below 0")


def _check_numbers(parameters: RlweParameters, node: Node) -> None:
    assert node.plain is not None
    values = node.plain.values
    if isinstance(parameters, BfvParameters):
        t = parameters.plain_modulus
        if int(values.min()) <= -t or int(values.max()) >= t:
            raise _RefusalError(f"has a plain number outside -(t - 1) … t - 1 with t = {t}")
        return
    largest = float(abs(values).max())
    log_q = sum(math.log2(q) for q in parameters.data_primes[: node.limbs])
    if not math.isfinite(largest):
        raise _RefusalError("has plain numbers that are not finite")
    if largest > 0 and math.log2(largest) + math.log2(node.plain.scale) + 1 > log_q:
        raise _RefusalError(f"has the plain number {largest:.3g}, beyond {node.limbs} limbs")


Rule = Callable[[RlweParameters, Node, list[Node]], None]


def _expect(node: Node, operands: list[Node], count: int, limbs: int, size: int) -> None:
    if len(operands) != count:
        raise _RefusalError(f"has {len(operands)} operands, and takes {count}")
    if any(each.op is Op.OUTPUT for each in operands):
        raise _RefusalError("has an output for an operand")
    if (node.limbs, node.size) != (limbs, size):
        raise _RefusalError(
            f"has {node.limbs} limbs and {node.size} polynomials, and its operands make {limbs} "
            f"and {size}"
        )


def _first(node: Node, operands: list[Node]) -> Node:
    if not operands:
        raise _RefusalError("has no operand")
    if len({each.limbs for each in operands}) > 1:
        raise _RefusalError("has operands of different limbs")
    return operands[0]


def _expect_scale(node: Node, scale: float, *, exact: bool = True) -> None:
    if scale <= 0 or (
        node.scale != scale and (exact or abs(node.scale / scale - 1) > _SCALE_SLACK)
    ):
        raise _RefusalError(f"has the scale {node.scale!r}, and its operands make {scale!r}")


def _input(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    _expect(node, operands, 0, node.limbs, 2)
    if parameters.scheme == "bfv" and node.limbs != parameters.limbs:
        raise _RefusalError(f"has {node.limbs} limbs, and a fresh BFV encryption has all")


def _output(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    _same(parameters, node, operands)
    _expect_size(operands[0], 2)


def _same(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 1, a.limbs, a.size)
    _expect_scale(node, a.scale)
    if node.plain is not None and parameters.scheme == "ckks" and node.plain.scale != a.scale:
        raise _RefusalError("adds plain numbers of another scale")


def _sum(_: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 2, a.limbs, max(each.size for each in operands))
    for each in operands:
        _expect_scale(node, each.scale)


def _product(_: RlweParameters, node: Node, operands: list[Node]) -> None:
    a, count = _first(node, operands), 1 if node.op is Op.SQUARE else 2
    _expect(node, operands, count, a.limbs, 3)
    if any(each.size != 2 for each in operands):
        raise _RefusalError("multiplies what was not relinearized")
    _expect_scale(node, a.scale * operands[-1].scale, exact=False)


def _plain_product(_: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 1, a.limbs, a.size)
    assert node.plain is not None, "checked before"
    _expect_scale(node, a.scale * node.plain.scale, exact=False)


def _relinearize(_: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 1, a.limbs, 2)
    _expect_scale(node, a.scale)
    _expect_size(a, 3)


def _divided(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    fused = node.op is Op.RELINEARIZE_RESCALE
    _expect(node, operands, 1, a.limbs - 1, 2 if fused else a.size)
    _expect_scale(node, a.scale / parameters.data_primes[a.limbs - 1], exact=False)
    if fused:
        _expect_size(a, 3)


def _switched(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 1, min(node.limbs, a.limbs - 1), a.size)
    _expect_scale(node, a.scale)
    if isinstance(parameters, BfvParameters) and node.limbs < parameters.min_limbs:
        raise _RefusalError(f"has {node.limbs} limbs, with which q does not exceed t")


def _turned(parameters: RlweParameters, node: Node, operands: list[Node]) -> None:
    a = _first(node, operands)
    _expect(node, operands, 1, a.limbs, 2)
    _expect_scale(node, a.scale)
    _expect_size(a, 2)
    element = parameters.conjugation_element
    if node.steps is not None:
        if not 1 <= node.steps < parameters.row_size:
            raise _RefusalError(f"rotates by {node.steps}, outside 1 … {parameters.row_size - 1}")
        element = parameters.galois_element(node.steps)
    if node.element != element:
        raise _RefusalError(f"has the Galois element {node.element}, and its own is {element}")


def _expect_size(operand: Node, size: int) -> None:
    if operand.size != size:
        raise _RefusalError(f"takes {size} polynomials, and its operand has {operand.size}")


_PLAIN = frozenset({Op.ADD_PLAIN, Op.SUB_PLAIN, Op.MULTIPLY_PLAIN})
_GALOIS = frozenset({Op.ROTATE, Op.CONJUGATE, Op.SWAP_COLUMNS})

RULES: Mapping[Op, Rule] = MappingProxyType(
    {
        Op.INPUT: _input,
        Op.OUTPUT: _output,
        Op.ADD: _sum,
        Op.SUB: _sum,
        Op.NEGATE: _same,
        Op.MULTIPLY: _product,
        Op.SQUARE: _product,
        Op.ADD_PLAIN: _same,
        Op.SUB_PLAIN: _same,
        Op.MULTIPLY_PLAIN: _plain_product,
        Op.RELINEARIZE: _relinearize,
        Op.RESCALE: _divided,
        Op.RELINEARIZE_RESCALE: _divided,
        Op.MOD_SWITCH: _switched,
        Op.ROTATE: _turned,
        Op.CONJUGATE: _turned,
        Op.SWAP_COLUMNS: _turned,
    }
)
"""What a node of each operation must keep to; every operation has a rule."""
