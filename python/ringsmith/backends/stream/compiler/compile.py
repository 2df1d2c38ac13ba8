"""Cuts a subroutine graph into rounds: the host's work, and the products that a device makes.

A stream device multiplies polynomials in coefficient form, transforms and all. Key switching and
pairs are expanded to polynomials first (``ringsmith.graph.expand``). Every value is kept in
coefficient form: ``ntt`` and ``intt`` vanish, ``mul`` and each term of a sum of digits times a key
become products, and all other subroutines stay the host's. As residues have one form only, every
result has the bits that the graph's interpreter gives it.

Of a BFV multiplication (Halevi, Polyakov, Shoup) the host lifts and scales and the device makes
the tensor product, 3(k + k') residue products for k data and k' extension primes: the middle
polynomial takes one product, by Karatsuba's identity, as the RPM paper counts (section 5.2). Of a
relinearization the host extracts the digits and adds the products, 2k for each prime.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ringsmith.backends.stream.compiler.executable import (
    KeyPolynomial,
    Round,
    StreamExecutable,
    Task,
)
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.isa.descriptor import prime_error
from ringsmith.errors import ProgramError
from ringsmith.graph.expand import expand
from ringsmith.graph.subroutines import SubroutineGraph, SubroutineNode
from ringsmith.graph.types import Form, PolyType


def compile_graph(graph: SubroutineGraph, design: StreamDesign) -> StreamExecutable:
    """Cuts a graph into rounds.

    Args:
        graph: The graph, of any scheme; in the design's ring.
        design: The design.

    Raises:
        ProgramError: If the graph is unfinished, or of another ring, or the design does not take a
            prime that products are made modulo; says why.
    """
    graph.validate()
    if graph.n != design.n:
        raise ProgramError(
            f"design {design.name} multiplies in the ring of N = {design.n} and the program's is "
            f"{graph.n}: choose parameters or a design of the other's N"
        )
    return _Compiler(graph, design).executable()


@dataclass(frozen=True)
class _Value:
    """A polynomial of the host's.

    Attributes:
        name: What rounds call it.
        round: The first round whose host can use it.
        type: Base and form.
        node: Its node in that round's graph; None: it is handed in, or a product.
    """

    name: str
    round: int
    type: PolyType
    node: int | None


@dataclass(frozen=True)
class _Cross:
    """A sum x*y + u*v, made of the products x*v and u*y, which are there anyhow: Karatsuba."""

    sums: tuple[tuple[int, int], tuple[int, int]]
    known: tuple[int, int]


class _Compiler:
    def __init__(self, graph: SubroutineGraph, design: StreamDesign) -> None:
        graph = expand(graph).graph
        self._graph, self._design = graph, design
        self._hosts: list[SubroutineGraph] = []
        self._tasks: list[list[Task]] = []
        self._there: list[dict[str, int]] = []  # by round: names of inputs -> nodes
        self._values: dict[int, _Value] = {}  # nodes of the graph, in coefficient form
        self._names = 0
        self._crosses = _crosses(graph)
        self._spared = _spared(graph, self._crosses)

    def executable(self) -> StreamExecutable:
        """Goes through the graph."""
        outputs = {}
        for node in self._graph.nodes:
            if node.op == "output":
                outputs[str(node.attrs["name"])] = self._output(node)
            elif node.id not in self._spared:
                self._value(node.id)
        rounds = tuple(
            Round(host if host.outputs else None, tuple(tasks))
            for host, tasks in zip(self._hosts, self._tasks, strict=True)
        )
        return StreamExecutable(self._design, rounds, outputs)

    def _output(self, node: SubroutineNode) -> str:
        [source] = node.operands
        value = self._value(source)
        if self._graph.type_of(source).form is Form.NTT:
            value = self._apply("ntt", [value])
        return self._exported(value)

    def _value(self, identity: int) -> _Value:
        """The value of a node, which is made if it is not there."""
        if identity not in self._values:
            self._values[identity] = self._made(self._graph.nodes[identity])
        return self._values[identity]

    def _made(self, node: SubroutineNode) -> _Value:
        if node.op == "input":
            value = _Value(node.attrs["name"], 0, node.type, None)
            return value if node.type.form is Form.COEFF else self._apply("intt", [value])
        if node.id in self._crosses:
            return self._cross(self._crosses[node.id])
        operands = [self._value(operand) for operand in node.operands]
        if node.op in ("ntt", "intt"):
            return operands[0]
        if node.op in _PRODUCTS:
            return _PRODUCTS[node.op](self, operands, node.attrs)
        return self._apply(node.op, operands, node.attrs)

    def _cross(self, cross: _Cross) -> _Value:
        # What is known is made first: a relinearization waits for the last of a tensor product.
        known = [self._value(identity) for identity in cross.known]
        a, b = (self._apply("add", [self._value(i) for i in pair]) for pair in cross.sums)
        value = self._product(a, b)
        for product in known:
            value = self._apply("sub", [value, product])
        return value

    def _mul(self, operands: Sequence[_Value], _: Mapping[str, Any]) -> _Value:
        return self._product(*operands)

    def _inner_product(self, digits: Sequence[_Value], attrs: Mapping[str, Any]) -> _Value:
        terms = [
            self._product(digit, KeyPolynomial(attrs["key"], number, attrs["half"]))
            for digit, number in zip(digits, attrs["digits"], strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = self._apply("add", [total, term])
        return total

    def _product(self, a: _Value, b: _Value | KeyPolynomial) -> _Value:
        """A product, handed over in the round in which both operands are there."""
        for index in a.type.base:
            error = prime_error(self._graph.primes[index], self._design)
            if error:
                raise ProgramError(error)
        values = [a, b] if isinstance(b, _Value) else [a]
        number = max(value.round for value in values)
        result = _Value(self._new_name(), number + 1, PolyType(a.type.base, Form.COEFF), None)
        self._reach(number + 1)
        operand = self._exported(b) if isinstance(b, _Value) else b
        task = Task(result.name, self._exported(a), operand, a.type.base)
        self._tasks[number].append(task)
        return result

    def _apply(
        self, op: str, operands: Sequence[_Value], attrs: Mapping[str, Any] | None = None
    ) -> _Value:
        """A subroutine on the host, in the first round that has all of its operands."""
        number = max(value.round for value in operands)
        self._reach(number)
        nodes = [self._node(value, number) for value in operands]
        node = self._hosts[number].add_node(op, nodes, attrs)
        return _Value(self._new_name(), number, self._hosts[number].type_of(node), node)

    def _node(self, value: _Value, number: int) -> int:
        """A value as a node of a round's graph."""
        if value.node is not None and value.round == number:
            return value.node
        there = self._there[number]
        if value.name not in there:
            name = self._exported(value)
            there[name] = self._hosts[number].input(name, value.type.base, value.type.form)
        return there[value.name]

    def _exported(self, value: _Value) -> str:
        """The name of a value, which its round's host is made to hand out."""
        if value.node is not None:
            host = self._hosts[value.round]
            if value.name not in host.outputs:
                host.output(value.node, value.name)
        return value.name

    def _reach(self, number: int) -> None:
        """Makes rounds up to a number."""
        graph = self._graph
        while len(self._hosts) <= number:
            ring = (graph.n, graph.primes, graph.roots, graph.special)
            self._hosts.append(SubroutineGraph(*ring, extension=graph.extension))
            self._tasks.append([])
            self._there.append({})

    def _new_name(self) -> str:
        """A name that no input has."""
        self._names += 1
        name = f"stream.{self._names}"
        return name if name not in self._graph.inputs else self._new_name()


_PRODUCTS = {"mul": _Compiler._mul, "ksk_inner_product": _Compiler._inner_product}
"""What the device makes of a node's operands and attributes."""


def _crosses(graph: SubroutineGraph) -> dict[int, _Cross]:
    """Sums of two products that serve nothing else, and whose cross products exist, too."""
    uses = Counter(operand for node in graph.nodes for operand in node.operands)
    products = {frozenset(node.operands): node.id for node in graph.nodes if node.op == "mul"}
    found = {}
    for node in graph.nodes:
        if node.op != "add":
            continue
        first, second = (graph.nodes[operand] for operand in node.operands)
        if any(each.op != "mul" or uses[each.id] > 1 for each in (first, second)):
            continue
        (x, y), pair = first.operands, second.operands
        for u, v in (pair, pair[::-1]):
            one, other = products.get(frozenset((x, v))), products.get(frozenset((u, y)))
            if one is None or other is None or {one, other} & {first.id, second.id}:
                continue
            found[node.id] = _Cross(((x, u), (y, v)), (one, other))
            break
    return found


def _spared(graph: SubroutineGraph, crosses: Mapping[int, _Cross]) -> set[int]:
    """The products that such sums do without."""
    return {operand for node in crosses for operand in graph.nodes[node].operands}
