"""Planned programs and single operations as subroutine graphs."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Drops, Key, Op, operations
from ringsmith.graph.subroutines import MAX_NODES, Origin, SubroutineGraph
from ringsmith.objects import Contents
from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.program import Node, Plain, Program
from ringsmith.program.plain import digest
from ringsmith.schemes.base import Constant
from ringsmith.schemes.registry import scheme_of
from ringsmith.schemes.writer import Polynomials, Undivided
from ringsmith.short_repr import short_repr

PRODUCTS: Mapping[str, Op] = MappingProxyType(
    {f"multiply_{op}": op for op in Op if op.record.key is Key.RELINEARIZATION}
)
"""Whole products: a multiplication, and the operation that makes two polynomials of the three."""

Residues: TypeAlias = NDArray[np.uint64]

KEPT_BYTES: Final = 1 << 30
"""Constants of a program that take more, encoded, are encoded anew in each run."""


@dataclass(frozen=True)
class CiphertextPort:
    """An encrypted input or output of a graph.

    Attributes:
        polynomials: Names of the graph's inputs or outputs, c_0 first.
        limbs: Data primes of each.
        scale: Scale to encrypt at, or that decoding divides by.
        contents: What an input's slots must hold, or an output's hold; None: anything.
    """

    polynomials: tuple[str, ...]
    limbs: int
    scale: float
    contents: Contents | None = None


@short_repr
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
        program: What was lowered; None: a graph that is no program's.
    """

    graph: SubroutineGraph
    plaintexts: Mapping[str, Residues]
    inputs: Mapping[str, CiphertextPort]
    outputs: Mapping[str, CiphertextPort]
    keys: KeyNeeds
    parameters_id: bytes | None = None
    program: Program | None = None


class ConstantsOnDemand(Mapping[str, Residues]):
    """Constants by name, encoded when they are first read; more than ``KEPT_BYTES`` every time.

    Of equal words in a row, as ``Scheme.equal_words`` tells, one is kept.
    """

    def __init__(self, parameters: RlweParameters, constants: Mapping[str, Constant]) -> None:
        """Args: the parameter set; the constants."""
        self._parameters = parameters
        self._constants = constants

    @property
    def are_kept(self) -> bool:
        """Whether all are encoded at once, and then kept."""
        special, n = len(self._parameters.special), self._parameters.n
        words = sum(
            (each.limbs + each.extended * special) * (n // self._equal_words[name])
            for name, each in self._constants.items()
        )
        return 8 * words <= KEPT_BYTES

    @property
    def are_in_memory(self) -> bool:
        """Whether all are kept as they are."""
        return self.are_kept and all(each == 1 for each in self._equal_words.values())

    @property
    def shortened(self) -> Mapping[str, Residues]:
        """Those that are kept: (limbs, N / r), one word for r equal ones in a row."""
        return self.kept if self.are_kept else {}

    @cached_property
    def kept(self) -> Mapping[str, Residues]:
        """All constants, encoded several at a time: the encoders let other threads run."""
        with ThreadPoolExecutor(max_workers=_core.threads()) as pool:
            encodings = pool.map(self._shortened, self)
            return MappingProxyType(dict(zip(self, encodings, strict=True)))

    @cached_property
    def _equal_words(self) -> Mapping[str, int]:
        """How many equal words in a row each constant has, encoded."""
        scheme = scheme_of(self._parameters)
        return {
            name: scheme.equal_words(self._parameters, each)
            for name, each in self._constants.items()
        }

    def _encoded(self, name: str) -> Residues:
        return scheme_of(self._parameters).constant(self._parameters, self._constants[name])

    def _shortened(self, name: str) -> Residues:
        encoded, each = self._encoded(name), self._equal_words[name]
        return np.ascontiguousarray(encoded[:, ::each]) if each > 1 else encoded

    def __getitem__(self, name: str) -> Residues:
        if not self.are_kept:
            return self._encoded(name)
        each = self._equal_words[name]
        return np.repeat(self.kept[name], each, axis=1) if each > 1 else self.kept[name]

    def __contains__(self, name: object) -> bool:
        return name in self._constants  # Mapping's own would encode it

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)


def lower(
    program: Program,
    *,
    encode: bool = True,
    max_nodes: int = MAX_NODES,
    scalars: bool = True,
    unroll: bool = True,
) -> Lowered:
    """Writes a planned program as subroutines.

    Args:
        program: The program.
        encode: Whether its constants are encoded now, and not by its first run.
        max_nodes: How many nodes the graph may have.
        scalars: Whether a constant that is one number is written as a number, and not as a
            polynomial that is an input. The results are the same.
        unroll: Whether loops are written out. Otherwise the graph holds each body once: what a loop
            carries is an input of the graph, and what it is next an output.

    Raises:
        ProgramError: If the graph has more nodes.
    """
    if unroll and program.loops:
        program = program.unrolled
    return _Lowering(program, max_nodes, scalars=scalars).run(encode=encode)


class _Lowering:
    """One run of ``lower``."""

    def __init__(self, program: Program, max_nodes: int, *, scalars: bool) -> None:
        self._program = program
        self._scalars = scalars
        self._parameters = program.parameters
        self._graph = SubroutineGraph.for_parameters(
            program.parameters,
            program.key_needs.shapes(program.parameters),
            products=program.multiplies,
            max_nodes=max_nodes,
        )
        self._scheme = scheme_of(program.parameters)
        self._writer = self._scheme.writer(self._graph, program.parameters)
        self._sharing = program.sharing
        self._values: dict[int, Polynomials] = {}
        self._sums: dict[int, Undivided] = {}
        self._plain_inputs: dict[tuple[object, ...], int] = {}
        self._plaintexts: dict[str, Constant] = {}

    def run(self, *, encode: bool) -> Lowered:
        for node in self._program.nodes:
            self._graph.at_origin(Origin(node.id, str(node.op)))
            if node.id in self._sharing.rescaled:
                total = self._sums[node.operands[0]]
                self._values[node.id] = self._writer.divided_and_rescaled(total)
            elif node.id in self._sharing.undivided:
                self._sums[node.id] = self._undivided(node)
            else:
                self._values[node.id] = self._node(node, [self._value(i) for i in node.operands])
        constants = ConstantsOnDemand(self._parameters, self._plaintexts)
        if encode and constants.are_kept:
            _ = constants.kept
        return Lowered(
            self._graph,
            constants,
            MappingProxyType(
                {
                    k: _port(k, node, self._program.input_contents)
                    for k, node in self._program.inputs.items()
                }
            ),
            MappingProxyType(
                {
                    k: _port(k, node, self._program.output_contents)
                    for k, node in self._program.outputs.items()
                }
            ),
            self._program.key_needs,
            self._parameters.parameters_id,
            self._program,
        )

    def _node(self, node: Node, operands: list[Polynomials]) -> Polynomials:
        if node.op is Op.INPUT:
            return self._writer.input(node.name or "", node.size, node.limbs)
        if node.op is Op.CARRIED:
            return self._writer.input(f"carried:{node.id}", node.size, node.limbs)
        if node.op is Op.NEXT:
            self._writer.output(operands[0], f"next:{node.id}")
            return operands[0]
        if node.op is Op.OUTPUT:
            self._writer.output(operands[0], node.name or "")
            return operands[0]
        if node.element is not None and node.operands[0] in self._sharing.cut:
            return self._writer.rotate_shared(operands[0], node.element)
        if node.plain is not None:
            limbs = len(self._graph.type_of(operands[0][0]).base)
            values = self._scalar(node.plain, limbs, node.op)
            if values is not None:
                return self._writer.write_scalar(node.op, operands[0], values)
        plain = None if node.plain is None else self._plain(node.plain, node.limbs, node.op)
        return self._writer.write(
            node.op, operands, plain=plain, limbs=node.limbs, element=node.element
        )

    def _value(self, node: int) -> Polynomials:
        """The polynomials of a node, which are divided now where they were not yet."""
        if node not in self._values:
            self._values[node] = self._writer.divided(self._sums[node])
        return self._values[node]

    def _undivided(self, node: Node) -> Undivided:
        """The result of a node over the extended base."""
        if node.element is not None:
            [operand] = node.operands
            if operand in self._sharing.moved:
                return self._writer.rotate_sum(self._sums[operand], node.element)
            return self._writer.rotate_undivided(self._value(operand), node.element)
        operands = [self._sums.get(i) or Undivided(None, self._value(i)) for i in node.operands]
        if node.plain is None:
            return self._writer.write_undivided(node.op, operands)
        [a] = operands
        values = self._scalar(node.plain, node.limbs, node.op, extended=True)
        if values is not None:
            rest_values = self._scalar(node.plain, node.limbs, node.op) or ()
            return self._writer.multiply_undivided_scalar(a, values, rest_values)
        plain = self._plain(node.plain, node.limbs, node.op, extended=True)
        rest = self._plain(node.plain, node.limbs, node.op) if a.rest else None
        return self._writer.multiply_undivided(a, plain, rest)

    def _scalar(
        self, plain: Plain, limbs: int, op: Op, *, extended: bool = False
    ) -> tuple[int, ...] | None:
        """The residues of a plain operand that is one number; None: it is a polynomial."""
        if not self._scalars:
            return None
        return self._scheme.scalar(self._parameters, Constant(plain, limbs, op, extended))

    def _plain(self, plain: Plain, limbs: int, op: Op, *, extended: bool = False) -> int:
        """Returns the graph input of an encoded constant; equal ones share one."""
        values, factor = plain.values, op is Op.MULTIPLY_PLAIN
        key = (values.dtype, values.shape, digest(values), plain.scale, limbs, factor, extended)
        if key not in self._plain_inputs:
            name = f"plain:{len(self._plaintexts)}"
            self._plaintexts[name] = Constant(plain, limbs, op, extended)
            special = self._parameters.special if extended else ()
            base = (*range(limbs), *special)
            self._plain_inputs[key] = self._graph.input(name, base, self._writer.form)
        return self._plain_inputs[key]


def lower_operation(
    name: str, parameters: RlweParameters, limbs: int, *, steps: int = 1
) -> SubroutineGraph:
    """Returns the graph of one HE operation alone, for measurements and tests.

    Encrypted operands are the inputs ``x.0``, ``x.1`` (``x.2``, too, where it relinearizes) and, of
    binary operations, ``y.0``, ``y.1``; the plain operand is ``p.0``; the result is ``z.0`` ….

    Args:
        name: Any operation of the scheme but input and output, such as ``relinearize``; or one of
            ``PRODUCTS``, where the scheme has both of its parts.
        parameters: The parameter set.
        limbs: Limbs of the operands, from the lowest level's (1 in CKKS) to L; one more where a
            prime is divided away or dropped.
        steps: Of rotate: slots to the left.

    Raises:
        ProgramError: When there is no such operation, or the limbs do not fit it.
    """
    parts = _parts(name, parameters)
    first, last = parts[0].record, parts[-1].record
    drops = last.drops is not Drops.NONE
    fewest = parameters.lowest_limbs + drops
    if not fewest <= limbs <= parameters.limbs:
        raise ProgramError(
            f"{name} of {limbs} limbs: parameters {parameters.name!r} allow "
            f"{fewest} … {parameters.limbs}"
        )
    element = None
    if last.key is Key.GALOIS:
        rotates = parts[-1] is Op.ROTATE
        element = parameters.galois_element(steps) if rotates else parameters.conjugation_element
    sizes = (first.takes[0],) * first.encrypted
    return graph_of_steps(parameters, [(op, element) for op in parts], sizes, limbs, name)


def graph_of_steps(
    parameters: RlweParameters,
    steps: Sequence[tuple[Op, int | None]],
    sizes: Sequence[int],
    limbs: int,
    name: str,
) -> SubroutineGraph:
    """Returns the graph of operations one after another, of operands that were checked.

    Args:
        parameters: The parameter set.
        steps: Operations with their Galois element or None. The first takes the operands, every
            other one the result before it.
        sizes: Polynomials of each encrypted operand: inputs ``x.0`` …, then ``y.0`` ….
        limbs: Limbs of the operands; a step that drops primes drops one.
        name: What the subroutines are said to come from.
    """
    first, last = steps[0][0].record, steps[-1][0].record
    relin = limbs if last.key is Key.RELINEARIZATION else None
    needs = KeyNeeds(relin, {element: limbs for _, element in steps if element is not None})
    graph = SubroutineGraph.for_parameters(
        parameters, needs.shapes(parameters), products=first.multiplies
    )
    graph.at_origin(Origin(0, name))
    writer = scheme_of(parameters).writer(graph, parameters)
    operands = [
        writer.input(port, size, limbs) for port, size in zip(("x", "y"), sizes, strict=False)
    ]
    plain = writer.input("p", 1, limbs)[0] if first.plain else None
    for op, element in steps:
        operands = [
            writer.write(op, operands, plain=plain, limbs=parameters.below(limbs), element=element)
        ]
    writer.output(operands[0], "z")
    return graph


def _parts(name: str, parameters: RlweParameters) -> tuple[Op, ...]:
    """The operations that a name of ``lower_operation`` stands for."""
    known = operations(parameters.scheme)
    products = [product for product, op in PRODUCTS.items() if op in known]
    if name in products:
        return Op.MULTIPLY, PRODUCTS[name]
    if name not in known:
        raise ProgramError(
            f"no operation of {parameters.scheme} is called {name!r}: choose one of "
            f"{', '.join((*known, *products))}"
        )
    return (Op(name),)


def _port(name: str, node: Node, contents: Mapping[str, Contents]) -> CiphertextPort:
    polynomials = tuple(f"{name}.{k}" for k in range(node.size))
    return CiphertextPort(polynomials, node.limbs, node.scale, contents.get(name))
