"""Planned programs and single operations as subroutine graphs."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.graph.subroutines import Origin, SubroutineGraph
from ringsmith.lower.operations import (
    RELIN_KEY,
    CkksWriter,
    OperationWriter,
    Polynomials,
    galois_key_name,
    operation_writer,
)
from ringsmith.lower.plaintexts import encoded
from ringsmith.params import CkksParameters, KeyNeeds, RlweParameters
from ringsmith.program import Node, Op, Plain, Program, operations

PRODUCTS = ("multiply_relinearize", "multiply_relinearize_rescale")
"""Whole products of CKKS, of two operations each; the latter divides once."""


@dataclass(frozen=True)
class CiphertextPort:
    """An encrypted input or output of a graph.

    Attributes:
        polynomials: Names of the graph's inputs or outputs, c_0 first.
        limbs: Data primes of each.
        scale: Scale to encrypt at, or that decoding divides by.
    """

    polynomials: tuple[str, ...]
    limbs: int
    scale: float


@dataclass(frozen=True, eq=False)
class Lowered:
    """A program as subroutines, with everything that a run must be handed named.

    Attributes:
        graph: The subroutine graph.
        plaintexts: Encoded constants, shape (limbs, N), in the form of the scheme's ciphertexts, by
            name of the graph's input.
        inputs: Encrypted inputs by the user's name.
        outputs: Encrypted outputs by the user's name.
        keys: The evaluation keys that are needed. In ``graph.keys`` the relinearization keys are
            called ``relin``, Galois keys ``galois:<element>``.
        parameters_id: The identity of the parameters, which inputs and keys must have; None:
            unknown.
    """

    graph: SubroutineGraph
    plaintexts: Mapping[str, NDArray[np.uint64]]
    inputs: Mapping[str, CiphertextPort]
    outputs: Mapping[str, CiphertextPort]
    keys: KeyNeeds
    parameters_id: bytes | None = None


def graph_keys(parameters: RlweParameters, needs: KeyNeeds) -> dict[str, int]:
    """Returns the digits of every needed key by its name in graphs: whole keys.

    A key with fewer or more digits belongs to other parameters, even where the digits of a low
    level would be there.
    """
    names = [] if needs.relin is None else [RELIN_KEY]
    names += [galois_key_name(element) for element in needs.galois]
    return dict.fromkeys(names, parameters.key_digits)


def lower(program: Program) -> Lowered:
    """Writes a planned program as subroutines and encodes its constants."""
    return _Lowering(program).run()


class _Lowering:
    """One run of ``lower``."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parameters = program.parameters
        self._graph = SubroutineGraph.for_parameters(
            program.parameters,
            graph_keys(program.parameters, program.key_needs),
            products=any(node.op in (Op.MULTIPLY, Op.SQUARE) for node in program.nodes),
        )
        self._writer = operation_writer(self._graph, program.parameters)
        self._plain_inputs: dict[tuple[object, ...], int] = {}
        self._plaintexts: dict[str, tuple[Plain, int, Op]] = {}

    def run(self) -> Lowered:
        values: list[Polynomials] = []
        for node in self._program.nodes:
            self._graph.at_origin(Origin(node.id, str(node.op)))
            values.append(self._node(node, [values[i] for i in node.operands]))
        return Lowered(
            self._graph,
            MappingProxyType(self._encoded()),
            MappingProxyType({k: _port(k, node) for k, node in self._program.inputs.items()}),
            MappingProxyType({k: _port(k, node) for k, node in self._program.outputs.items()}),
            self._program.key_needs,
            self._parameters.parameters_id,
        )

    def _node(self, node: Node, operands: list[Polynomials]) -> Polynomials:
        if node.op is Op.INPUT:
            return self._writer.input(node.name or "", node.size, node.limbs)
        if node.op is Op.OUTPUT:
            self._writer.output(operands[0], node.name or "")
            return operands[0]
        plain = None if node.plain is None else self._plain(node.plain, node.limbs, node.op)
        return write_operation(self._writer, node.op, operands, plain, node.limbs, node.element)

    def _plain(self, plain: Plain, limbs: int, op: Op) -> int:
        """Returns the graph input of an encoded constant; equal ones share one."""
        values, factor = plain.values, op is Op.MULTIPLY_PLAIN
        key = (values.dtype, values.shape, values.tobytes(), plain.scale, limbs, factor)
        if key not in self._plain_inputs:
            name = f"plain:{len(self._plaintexts)}"
            self._plaintexts[name] = (plain, limbs, op)
            self._plain_inputs[key] = self._writer.input_polynomial(name, limbs)
        return self._plain_inputs[key]

    def _encoded(self) -> dict[str, NDArray[np.uint64]]:
        """Returns the constants encoded, several at a time: the encoders let other threads run."""
        with ThreadPoolExecutor(max_workers=_core.threads()) as pool:
            encodings = pool.map(
                lambda constant: encoded(self._parameters, *constant), self._plaintexts.values()
            )
            return dict(zip(self._plaintexts, encodings, strict=True))


def write_operation(
    writer: OperationWriter,
    op: Op,
    operands: list[Polynomials],
    plain: int | None,
    limbs: int,
    element: int | None,
) -> Polynomials:
    """Writes one HE operation.

    Args:
        writer: Where to write.
        op: Any operation but input and output.
        operands: Its encrypted operands.
        plain: The plain operand of add_plain, sub_plain and multiply_plain.
        limbs: Limbs of the result.
        element: Galois element of rotate and conjugate.
    """
    a, b = operands[0], operands[-1]
    match op:
        case Op.ADD:
            return writer.add(a, b)
        case Op.SUB:
            return writer.sub(a, b)
        case Op.NEGATE:
            return writer.negate(a)
        case Op.MULTIPLY:
            return writer.multiply(a, b)
        case Op.SQUARE:
            return writer.square(a)
        case Op.ADD_PLAIN if plain is not None:
            return writer.add_plain(a, plain)
        case Op.SUB_PLAIN if plain is not None:
            return writer.sub_plain(a, plain)
        case Op.MULTIPLY_PLAIN if plain is not None:
            return writer.multiply_plain(a, plain)
        case Op.RELINEARIZE:
            return writer.relinearize(a)
        case Op.RESCALE if isinstance(writer, CkksWriter):
            return writer.rescale(a)
        case Op.RELINEARIZE_RESCALE if isinstance(writer, CkksWriter):
            return writer.relinearize_rescale(a)
        case Op.MOD_SWITCH:
            return writer.mod_switch(a, limbs)
        case Op.ROTATE | Op.CONJUGATE | Op.SWAP_COLUMNS if element is not None:
            return writer.apply_galois(a, element)
    raise AssertionError(f"{op} lacks its plain operand or Galois element, or is not the scheme's")


def lower_operation(
    name: str, parameters: RlweParameters, limbs: int, *, steps: int = 1
) -> SubroutineGraph:
    """Returns the graph of one HE operation alone, for measurements and tests.

    Encrypted operands are the inputs ``x.0``, ``x.1`` (``x.2``, too, where it relinearizes) and, of
    binary operations, ``y.0``, ``y.1``; the plain operand is ``p.0``; the result is ``z.0`` ….

    Args:
        name: Any operation of the scheme but input and output, such as ``relinearize``; or, of
            CKKS, one of ``PRODUCTS``.
        parameters: The parameter set.
        limbs: Limbs of the operands, from the lowest level's (1 in CKKS) to L; one more where a
            prime is divided away or dropped.
        steps: Of rotate: slots to the left.

    Raises:
        ProgramError: When there is no such operation, or the limbs do not fit it.
    """
    products = PRODUCTS if isinstance(parameters, CkksParameters) else ()
    if name in products and isinstance(parameters, CkksParameters):
        return _lower_product(name, parameters, limbs)
    known = operations(parameters.scheme)
    if name not in known:
        raise ProgramError(
            f"no operation of {parameters.scheme} is called {name!r}: choose one of "
            f"{', '.join((*known, *products))}"
        )
    op = Op(name)
    drops = op in (Op.RESCALE, Op.RELINEARIZE_RESCALE, Op.MOD_SWITCH)
    relinearizes = op in (Op.RELINEARIZE, Op.RELINEARIZE_RESCALE)
    fewest = parameters.limbs - parameters.levels + drops
    if not fewest <= limbs <= parameters.limbs:
        raise ProgramError(
            f"{op} of {limbs} limbs: parameters {parameters.name!r} allow "
            f"{fewest} … {parameters.limbs}"
        )
    element = None
    if op is Op.ROTATE:
        element = parameters.galois_element(steps)
    elif op in (Op.CONJUGATE, Op.SWAP_COLUMNS):
        element = parameters.conjugation_element
    needs = KeyNeeds(limbs if relinearizes else None, {} if element is None else {element: limbs})
    graph = SubroutineGraph.for_parameters(
        parameters, graph_keys(parameters, needs), products=op in (Op.MULTIPLY, Op.SQUARE)
    )
    graph.at_origin(Origin(0, name))
    writer = operation_writer(graph, parameters)
    operands = [writer.input("x", 3 if relinearizes else 2, limbs)]
    plain = None
    if op in (Op.ADD, Op.SUB, Op.MULTIPLY):
        operands.append(writer.input("y", 2, limbs))
    elif op in (Op.ADD_PLAIN, Op.SUB_PLAIN, Op.MULTIPLY_PLAIN):
        (plain,) = writer.input("p", 1, limbs)
    result = write_operation(writer, op, operands, plain, limbs - drops, element)
    writer.output(result, "z")
    return graph


def _lower_product(name: str, parameters: CkksParameters, limbs: int) -> SubroutineGraph:
    """The graph of one of ``PRODUCTS`` alone, as ``lower_operation`` names its ports."""
    rescales = name.endswith("rescale")
    fewest = 1 + rescales
    if not fewest <= limbs <= parameters.limbs:
        raise ProgramError(
            f"{name} of {limbs} limbs: parameters {parameters.name!r} allow "
            f"{fewest} … {parameters.limbs}"
        )
    graph = SubroutineGraph.for_parameters(parameters, graph_keys(parameters, KeyNeeds(limbs)))
    graph.at_origin(Origin(0, name))
    writer = CkksWriter(graph, parameters)
    product = writer.multiply(writer.input("x", 2, limbs), writer.input("y", 2, limbs))
    writer.output(
        writer.relinearize_rescale(product) if rescales else writer.relinearize(product), "z"
    )
    return graph


def _port(name: str, node: Node) -> CiphertextPort:
    polynomials = tuple(f"{name}.{k}" for k in range(node.size))
    return CiphertextPort(polynomials, node.limbs, node.scale)
