"""The subroutine graph as a Python object: the contract between HE and devices.

A graph is built node by node. Each node is checked when it is added, so that every graph is valid.
``docs/reference/subroutine-graph.md`` describes the ops, and ``ringsmith.graph.file`` the JSON
file. ``ringsmith._core.Graph`` interprets the graph and thereby defines every bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.graph.types import (
    Form,
    PolyType,
    Ring,
    checked_integer,
    checked_shape,
    infer,
)
from ringsmith.params import KeyShape, RlweParameters
from ringsmith.short_repr import short_repr

MIN_DEGREE = 1 << 8
MAX_DEGREE = 1 << 16
MAX_PRIMES = 128
MAX_PRIME_BITS = 61
MAX_NODES = 1 << 20


@dataclass(frozen=True)
class Origin:
    """The HE operation that a node was made for, so that cycles can be attributed.

    Attributes:
        node: Id of the HE node in its program.
        op: Its operation, such as ``relinearize``.
    """

    node: int
    op: str


@dataclass(frozen=True)
class Cut:
    """How a polynomial is cut into digits, and to which base they go.

    Attributes:
        sizes: Primes of each digit, in the order of the polynomial's base; of variant ``words``
            bits of each word, which are equal.
        variant: ``fast_base_conv``, ``centred_digit`` or ``words``.
        base: Indices of the primes that the digits are over.
    """

    sizes: tuple[int, ...]
    variant: str
    base: tuple[int, ...]

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of a node."""
        return {"sizes": list(self.sizes), "variant": self.variant, "base": list(self.base)}


@short_repr
@dataclass(frozen=True)
class SubroutineNode:
    """One subroutine; yields one value.

    Attributes:
        id: Position in the graph, from 0.
        op: Name of the op.
        operands: Ids of the operands, all smaller than ``id``.
        attrs: Attributes of the op, as JSON values.
        type: Kind, base and form of what the node yields.
        origin: The HE operation that it belongs to, where known.
    """

    id: int
    op: str
    operands: tuple[int, ...]
    attrs: Mapping[str, Any]
    type: PolyType
    origin: Origin | None = None


@short_repr
@dataclass(eq=False)
class SubroutineGraph:
    """A graph of subroutines over Z_q[x]/(x^N + 1) for several primes q.

    Attributes:
        n: Ring degree N, a power of two in 2^8 … 2^16.
        primes: Data primes, special primes, then extension primes, distinct and 1 mod 2N.
        roots: A primitive 2N-th root of unity modulo each prime.
        special: Indices of the special primes: the last ones before the extension primes.
        keys: The smallest shape of each key-switching key that a run is handed, by name: ``relin``,
            ``galois:<element>``. Keys are arrays (digits, 2, limbs, N) in NTT form, over data and
            special primes. A shape without a base gets all of them.
        extension: Indices of the extension primes, that BFV's products are computed in: the last
            ones; empty where there is no such product.
        nodes: The nodes, operands before users. Add with the methods below only.
        max_nodes: How many nodes it may have.
    """

    n: int
    primes: tuple[int, ...]
    roots: tuple[int, ...]
    special: tuple[int, ...]
    keys: Mapping[str, KeyShape] = field(default_factory=dict)
    extension: tuple[int, ...] = ()
    nodes: list[SubroutineNode] = field(default_factory=list, init=False)
    max_nodes: int = field(default=MAX_NODES, kw_only=True, repr=False)
    _names: dict[str, set[str]] = field(init=False, repr=False)
    _origin: Origin | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.primes, self.roots = tuple(self.primes), tuple(self.roots)
        self.special, self.extension = tuple(self.special), tuple(self.extension)
        _check_ring(self)
        ring = Ring(self.n, self.primes, self.key_primes, {})
        shapes = {name: checked_shape(ring, name, shape) for name, shape in self.keys.items()}
        self.keys = MappingProxyType(shapes)
        self._names = {"input": set(), "output": set()}

    @classmethod
    def for_parameters(
        cls,
        parameters: RlweParameters,
        keys: Mapping[str, KeyShape] | None = None,
        *,
        products: bool = False,
        max_nodes: int = MAX_NODES,
    ) -> "SubroutineGraph":
        """Returns an empty graph over the ring and primes of a parameter set.

        Args:
            parameters: The parameter set.
            keys: Shape of each key, by name.
            products: Whether BFV ciphertexts will be multiplied: adds BFV's extension primes.
            max_nodes: How many nodes it may have.
        """
        primes, roots = parameters.primes, parameters.roots
        if products:
            primes, roots = parameters.extended_primes, parameters.extended_roots
        extension = tuple(range(len(parameters.primes), len(primes)))
        special = parameters.special
        return cls(parameters.n, primes, roots, special, keys or {}, extension, max_nodes=max_nodes)

    # ---- building --------------------------------------------------------------------------

    def add_node(
        self, op: str, operands: Sequence[int] = (), attrs: Mapping[str, Any] | None = None
    ) -> int:
        """Adds a node, checks it, and returns its id.

        Raises:
            ProgramError: When an operand does not exist, the op is unknown or its rule is broken,
                an input or output name is taken, or the graph is full.
        """
        identity, attributes = len(self.nodes), dict(attrs or {})
        if identity >= self.max_nodes:
            raise ProgramError(f"the graph has {identity} nodes, its limit: split the program")
        try:
            ids = tuple(_checked_operand(i, identity) for i in operands)
            _refuse_outputs(self.nodes, ids)
            ring = Ring(self.n, self.primes, self.key_primes, self.keys)
            kind = infer(ring, op, [self.nodes[i].type for i in ids], attributes)
            if op in self._names:
                self._take_name(op, attributes["name"])
        except ProgramError as error:
            raise ProgramError(f"node {identity} ({op!s:.40}): {error}") from None
        frozen = {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()}
        self.nodes.append(
            SubroutineNode(identity, op, ids, MappingProxyType(frozen), kind, self._origin)
        )
        return identity

    def at_origin(self, origin: Origin | None) -> None:
        """Sets the HE operation that the nodes added from now on belong to."""
        self._origin = origin

    def input(self, name: str, base: Sequence[int], form: Form = Form.NTT) -> int:
        """An input: a limb array (limbs, N)."""
        return self.add_node("input", (), {"name": name, "base": list(base), "form": str(form)})

    def output(self, a: int, name: str) -> int:
        """An output: a limb array."""
        return self.add_node("output", (a,), {"name": name})

    def add(self, a: int, b: int) -> int:
        """Returns a + b, limb by limb."""
        return self.add_node("add", (a, b))

    def sub(self, a: int, b: int) -> int:
        """Returns a - b, limb by limb."""
        return self.add_node("sub", (a, b))

    def neg(self, a: int) -> int:
        """Returns -a, limb by limb."""
        return self.add_node("neg", (a,))

    def mul(self, a: int, b: int) -> int:
        """Returns a * b, pointwise; both in NTT form. Of a pair both halves times b."""
        return self.add_node("mul", (a, b))

    def mul_scalar(self, a: int, values: Sequence[int]) -> int:
        """Returns a times a number, given by its residue modulo each prime of a's base."""
        return self.add_node("mul_scalar", (a,), {"values": list(values)})

    def add_scalar(self, a: int, values: Sequence[int]) -> int:
        """Returns a plus a number, the constant polynomial, given by residues as of a product."""
        return self.add_node("add_scalar", (a,), {"values": list(values)})

    def automorph(self, a: int, element: int) -> int:
        """Returns a(X^element)."""
        return self.add_node("automorph", (a,), {"element": element})

    def ntt(self, a: int) -> int:
        """From coefficient to NTT form."""
        return self.add_node("ntt", (a,))

    def intt(self, a: int) -> int:
        """From NTT to coefficient form."""
        return self.add_node("intt", (a,))

    def mod_up(self, a: int, digit: int | Sequence[int], base: Sequence[int]) -> int:
        """The limbs ``digit`` of a modulo every prime of ``base``; coefficient form, not centred.

        One index is variant ``rns_digit``; a sequence is variant ``fast_base_conv``.
        """
        one = isinstance(digit, int)
        attrs = {
            "digit": [digit] if isinstance(digit, int) else list(digit),
            "base": list(base),
            "variant": "rns_digit" if one else "fast_base_conv",
        }
        return self.add_node("mod_up", (a,), attrs)

    def centred_digit(self, a: int, digit: Sequence[int], base: Sequence[int]) -> int:
        """The integers that the limbs ``digit`` of a stand for, centred, modulo ``base``; exact."""
        attrs = {"digit": list(digit), "base": list(base), "variant": "centred_digit"}
        return self.add_node("mod_up", (a,), attrs)

    def mod_up_scaled(self, a: int, base: Sequence[int]) -> int:
        """Returns a times the primes that ``base`` adds, over ``base``; their limbs are zero."""
        attrs = {"digit": list(self.type_of(a).base), "base": list(base), "variant": "scaled"}
        return self.add_node("mod_up", (a,), attrs)

    def digits(self, a: int, cut: Cut) -> int:
        """The digits of a polynomial of either form, over the cut's base in NTT form."""
        return self.add_node("digits", (a,), cut.attrs)

    def key_product(
        self, digits: int, key: str, element: int = 1, added: Sequence[int] = ()
    ) -> int:
        """The pair of sums of digits, moved by X -> X^element, times a key's b and a parts.

        To them is added P times what ``added`` has for each half, moved likewise: polynomials in
        NTT form; P is the product of the primes that they lack.
        """
        return self.add_node("key_product", (digits, *added), {"key": key, "element": element})

    def key_switch(
        self,
        a: int,
        key: str,
        cut: Cut,
        drop: Sequence[int],
        element: int = 1,
        added: Sequence[int] = (),
    ) -> int:
        """Switches the key of a(X^element); returns a pair in a's form.

        The digits of a(X^element) times the key, plus P times what ``added`` has for each half,
        moved likewise, are divided by the primes ``drop``, if there are any.
        """
        attrs = {"key": key, "element": element, **cut.attrs, "drop": list(drop)}
        return self.add_node("key_switch", (a, *added), attrs)

    def half(self, pair: int, half: int) -> int:
        """The first (0) or the second polynomial (1) of a pair."""
        return self.add_node("half", (pair,), {"half": half})

    def halves(self, pair: int) -> tuple[int, int]:
        """Both polynomials of a pair."""
        return self.half(pair, 0), self.half(pair, 1)

    def ksk_inner_product(
        self, operands: Sequence[int], key: str, half: int, digits: Sequence[int]
    ) -> int:
        """The sum over J of operands[J] * key[digits[J]][half], over the operands' base."""
        base = self.type_of(operands[0]).base
        attrs = {"key": key, "half": half, "digits": list(digits), "base": list(base)}
        return self.add_node("ksk_inner_product", operands, attrs)

    def mod_down(self, a: int, drop: int | Sequence[int]) -> int:
        """Returns a divided by primes; ModDown, rescale, and both at once.

        One index is variant ``rounded``, SEAL's; a sequence is variant ``centred_base_conv``, which
        for k primes errs by at most k/2.
        """
        if isinstance(drop, int):
            return self.add_node("mod_down", (a,), {"drop": [drop], "variant": "rounded"})
        attrs = {"drop": list(drop), "variant": "centred_base_conv"}
        return self.add_node("mod_down", (a,), attrs)

    def drop_limbs(self, a: int, base: Sequence[int]) -> int:
        """The limbs of ``base`` alone."""
        return self.add_node("drop_limbs", (a,), {"base": list(base)})

    def lift(self, a: int, base: Sequence[int], variant: str) -> int:
        """Extends a, read as centred integers, to ``base``: BFV's step to the larger modulus.

        ``variant`` is ``behz`` or ``hps``.
        """
        return self.add_node("lift", (a,), {"base": list(base), "variant": variant})

    def scale(self, a: int, base: Sequence[int], plain_modulus: int, variant: str) -> int:
        """Returns a times t/q, rounded, over ``base``, whose product is q: back from products."""
        attrs = {"base": list(base), "plain_modulus": plain_modulus, "variant": variant}
        return self.add_node("scale", (a,), attrs)

    def decompose(self, a: int, digit: int, word_bits: int, base: Sequence[int]) -> int:
        """Word ``digit``, of ``word_bits`` bits, of a's coefficients, modulo the primes of base."""
        attrs = {"digit": digit, "word_bits": word_bits, "base": list(base)}
        return self.add_node("decompose", (a,), attrs)

    # ---- reading ---------------------------------------------------------------------------

    @property
    def key_primes(self) -> int:
        """Number of primes that a full key has: data and special primes."""
        return len(self.primes) - len(self.extension)

    def type_of(self, node: int) -> PolyType:
        """Returns kind, base and form of what a node yields.

        Raises:
            ProgramError: When no node has that id.
        """
        return self.nodes[checked_integer("node", node, 0, len(self.nodes) - 1)].type

    @property
    def inputs(self) -> dict[str, PolyType]:
        """The inputs of a run, by name, in order."""
        return {n.attrs["name"]: n.type for n in self.nodes if n.op == "input"}

    @property
    def outputs(self) -> dict[str, PolyType]:
        """The outputs of a run, by name, in order."""
        return {n.attrs["name"]: n.type for n in self.nodes if n.op == "output"}

    def validate(self) -> None:
        """Checks what only a finished graph can be asked.

        Raises:
            ProgramError: When the graph has no output, or names a key that it does not use.
        """
        if not self._names["output"]:
            raise ProgramError("the graph has no output node: add one with output(node, name)")
        used = {node.attrs["key"] for node in self.nodes if "key" in node.attrs}
        for name in self.keys:
            if name not in used:
                raise ProgramError(f"key {name!r} is used by no node: take it out of the keys")

    def to_core(self) -> _core.Graph:
        """Returns the reference interpreter's copy of the graph.

        Raises:
            ProgramError: When the graph is not finished.
        """
        self.validate()
        graph = _core.Graph(self.n, list(self.primes), list(self.roots), len(self.extension))
        for node in self.nodes:
            graph.add_node(node.op, list(node.operands), dict(node.attrs))
        return graph

    def _take_name(self, op: str, name: str) -> None:
        if name in self._names[op]:
            raise ProgramError(f"the graph already has an {op} {name!r}: names are unique")
        self._names[op].add(name)


def _checked_operand(operand: object, user: int) -> int:
    if isinstance(operand, bool) or not isinstance(operand, int) or not 0 <= operand < user:
        raise ProgramError(f"operand {operand!r:.80} is not the id of an earlier node")
    return operand


def _refuse_outputs(nodes: list[SubroutineNode], operands: tuple[int, ...]) -> None:
    for i in operands:
        if nodes[i].op == "output":
            raise ProgramError(f"operand {i} is an output: use what it hands out")


def _check_ring(graph: SubroutineGraph) -> None:
    """Refuses a ring, primes or roots that no interpreter could work with."""
    n, count = graph.n, len(graph.primes)
    checked_integer("n", n, MIN_DEGREE, MAX_DEGREE)
    if n & (n - 1):
        raise ProgramError(f"n {n} is not a power of two")
    checked_integer("number of primes", count, 1, MAX_PRIMES)
    if len(graph.roots) != count:
        raise ProgramError(
            f"{len(graph.roots)} roots are given for {count} primes: give one for each"
        )
    if len(set(graph.primes)) != count:
        raise ProgramError("a prime stands twice in the base: all must be distinct")
    for q, root in zip(graph.primes, graph.roots, strict=True):
        checked_integer("prime", q, 3, (1 << MAX_PRIME_BITS) - 1)
        if q % (2 * n) != 1 or not _core.is_prime(q):
            raise ProgramError(f"{q} is not a prime that is 1 mod 2N = {2 * n}")
        if pow(checked_integer("root", root, 1, q - 1), n, q) != q - 1:
            raise ProgramError(f"{root} is not a primitive {2 * n}-th root of unity mod {q}")
    if graph.extension != tuple(range(graph.key_primes, count)):
        raise ProgramError(
            f"extension primes {list(graph.extension)[:8]} must be the last of {count} primes"
        )
    data = graph.key_primes - len(graph.special)
    if data < 1 or graph.special != tuple(range(data, graph.key_primes)):
        raise ProgramError(
            f"special primes {list(graph.special)[:8]} must be the last of {graph.key_primes} "
            "primes, with a data prime before them"
        )
