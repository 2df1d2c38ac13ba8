"""An input module of HEIR as it computes in the clear, before HEIR packs anything.

HEIR's passes turn functions into their polynomials. MLIR's own turn named operations of ``linalg``
into ``linalg.generic`` and loops of ``affine`` into ``scf``. What is left is executed on NumPy
arrays.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.compiler import GENERIC, compiled
from ringsmith.heir.interpreter import Interpreter
from ringsmith.heir.tape import Numbers
from ringsmith.heir.text import Block, HeirError, Operation, read_module, split
from ringsmith.heir.translate import Code, Source, walk
from ringsmith.heir.types import Type, Types

_PASSES = (
    *("--inline-activations", "--activation-canonicalizations"),
    *("--math-to-polynomial-approximation", "--lower-polynomial-eval"),
    *("--linalg-generalize-named-ops", "--lower-affine", GENERIC),
)
_MARK = "secret.secret"
_REPLACED = frozenset(
    {"arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.cmpf"}
)
"""Further operations that may be left, next to those of ``math`` and ``math_ext``: HEIR replaces
them by polynomials."""

_MAP = re.compile(r"affine_map<\(([^()]*)\) -> \((.*)\)>$", re.S)
_TERM = re.compile(r"(?:(-?\d+)|(-?)d(\d+)(?: \* (-?\d+))?)$")


class UnknownError(HeirError):
    """An input module with an operation that is not computed in the clear."""


@dataclass(frozen=True, eq=False)
class ClearFunction:
    """The function of an input module.

    Attributes:
        kinds: Types of its arguments.
        secret: Whether each is secret.
        approximated: Whether HEIR replaces an operation of it by a polynomial.
        unsigned: Whether it takes integers as numbers without sign.
    """

    kinds: tuple[Type, ...]
    secret: tuple[bool, ...]
    approximated: bool
    unsigned: bool
    _code: Code
    _name: str
    _numbers: Numbers

    def run(self, arguments: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Computes the results.

        Raises:
            UnknownError: When an operation is not known; names its line.
        """
        values = [
            value if kind.shape is not None else value.item()
            for value, kind in zip(arguments, self.kinds, strict=True)
        ]
        try:
            found = self._code.call(self._name, values, _ClearInterpreter(self._numbers))
        except HeirError as error:
            raise UnknownError(str(error)) from None
        return [np.asarray(value) for value in found]


def clear_function(text: str, path: Path) -> ClearFunction:
    """Reads an input module.

    Args:
        text: Its text.
        path: What errors call it.

    Raises:
        UnknownError: When it cannot be read.
        ToolError: When ``heir-opt`` is not there.
    """
    try:
        return _function(compiled(text, path, _PASSES), path)
    except HeirError as error:
        raise UnknownError(str(error)) from None


def _function(text: str, path: Path) -> ClearFunction:
    module = read_module(text, f"{path.name} (in the clear)")
    types = Types(module)
    functions = {
        op.attributes.get("sym_name", "").strip('"'): op
        for op in module.operation.regions[0].operations
        if op.name == "func.func"
    }
    marked = [
        name
        for name, op in functions.items()
        if _MARK in op.attributes.get("arg_attrs", "") and op.regions
    ]
    if len(marked) != 1:
        raise HeirError(f"{path.name}: {len(marked)} functions have secret arguments, not one")
    (name,) = marked
    entry = functions[name]
    marks = split(entry.attributes["arg_attrs"][1:-1])
    names = {op.name for each in functions.values() for r in each.regions for op in walk(r)}
    return ClearFunction(
        tuple(types.type_of(kind, entry.line) for kind in entry.regions[0].types),
        tuple(_MARK in mark for mark in marks),
        bool(names & _REPLACED or any(each.startswith("math") for each in names)),
        any(each in names for each in ("arith.extui", "arith.uitofp", "arith.divui")),
        Code(module, types, functions, _ClearSource),
        name,
        Numbers(module.size),
    )


class _ClearInterpreter(Interpreter):
    """Executes the operations of input modules, too."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(None, None, numbers)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Returns the names that translated source may use; secret integers are never cut."""
        return {**super().functions(), "cut": lambda a, _: a}

    def do_contracted(
        self,
        body: Callable[..., tuple[Any, ...]],
        generic: "_Generic",
        operands: Sequence[NDArray[Any]],
    ) -> tuple[NDArray[Any], ...]:
        """``linalg.generic``: a body at each point of a space of parallel and reduced indices."""
        return generic.computed(body, [np.asarray(each) for each in operands])

    def do_padded(
        self, a: NDArray[Any], low: list[int], high: list[int], value: object
    ) -> NDArray[Any]:
        """``tensor.pad`` by one number."""
        result = np.full([n + i + j for n, i, j in zip(a.shape, low, high, strict=True)], value)
        result[tuple(slice(i, i + n) for i, n in zip(low, a.shape, strict=True))] = a
        return result.astype(a.dtype)

    def do_sigmoid(self, a: Any) -> Any:  # noqa: ANN401 - a number or an array
        """``math_ext.sigmoid``."""
        return 1 / (1 + np.exp(-a))


@dataclass(frozen=True)
class _Generic:
    """The indices of a ``linalg.generic``.

    Attributes:
        sizes: Of each dimension.
        reduced: Whether each dimension is one of a reduction.
        maps: For each operand and each of its dimensions: a constant, and a factor of each index.
        inputs: Operands that are no initial values of results.
    """

    sizes: tuple[int, ...]
    reduced: tuple[bool, ...]
    maps: tuple[tuple[tuple[int, ...], ...], ...]
    inputs: int

    @property
    def cost(self) -> int:
        """Operations, as ``Interpreter.do_tick`` counts them."""
        turns = math.prod(n for n, one in zip(self.sizes, self.reduced, strict=True) if one)
        return 8 * turns + (math.prod(self.sizes) >> 5)

    def computed(
        self, body: Callable[..., tuple[Any, ...]], operands: list[NDArray[Any]]
    ) -> tuple[NDArray[Any], ...]:
        """Computes all parallel indices at once, and one after another those of a reduction."""
        space = tuple(1 if r else n for n, r in zip(self.sizes, self.reduced, strict=True))
        grid = np.ogrid[tuple(slice(n) for n in space)]
        positions = [self._positions(i, grid) for i in range(self.inputs, len(operands))]
        sums = [
            np.broadcast_to(each[position], space)
            for each, position in zip(operands[self.inputs :], positions, strict=True)
        ]
        for iteration in self._iterations():
            indices = [t if r else g for t, r, g in zip(iteration, self.reduced, grid, strict=True)]
            given = [operands[i][self._positions(i, indices)] for i in range(self.inputs)]
            found = body(indices, *given, *sums)
            sums = [np.broadcast_to(each, space) for each in found]
        results = []
        for first, position, values in zip(operands[self.inputs :], positions, sums, strict=True):
            result = first.copy()
            result[position] = values
            results.append(result)
        return tuple(results)

    def _iterations(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(
            *(range(n if r else 1) for n, r in zip(self.sizes, self.reduced, strict=True))
        )

    def _positions(self, operand: int, indices: Sequence[Any]) -> tuple[Any, ...]:
        """The index of an operand in each of its dimensions."""
        return tuple(
            constant + sum(f * i for f, i in zip(factors, indices, strict=True) if f)
            for constant, *factors in self.maps[operand]
        )


class _ClearSource(Source):
    """A function of an input module as source."""

    def _op_linalg_generic(self, operation: Operation, depth: int) -> None:
        block = self._region(operation, 1)
        generic = self._generic(operation)
        shape = self._constant(generic)
        operands = "".join(f"{self._value(operand)}, " for operand in operation.operands)
        arguments = [self._new(name) for name in block.arguments]
        body = f"body{len(self._constants)}"
        self._write(depth, f"tick({generic.cost})")
        self._write(depth, f"def {body}({', '.join(['ix', *arguments])}):")
        before, self._elementwise = self._elementwise, True
        self._scalars(block, operation)
        last = self._body(block, depth + 1)
        yielded = () if last is None else last.operands
        values = "".join(f"{self._value(name)}, " for name in yielded)
        self._write(depth + 1, f"return ({values})")
        self._elementwise = before
        results = "".join(f"{self._new(name)}, " for name in operation.results)
        self._write(depth, f"({results}) = contracted({body}, {shape}, ({operands}))")

    def _scalars(self, block: Block, operation: Operation) -> None:
        for name, kind in zip(block.arguments, block.types, strict=True):
            self._kinds[name] = self._types.type_of(kind, operation.line)

    def _op_tensor_pad(self, operation: Operation, depth: int) -> None:
        self._need(operation.operands, 1)
        block = self._region(operation, 1)
        for name in block.arguments:
            self._new(name)
        self._scalars(block, operation)
        last = self._body(block, depth)
        low, high = (
            self._types.integers(operation.attributes.get(what, ""), operation.line)
            for what in ("static_low", "static_high")
        )
        if last is None or len(last.operands) != 1 or min(*low, *high) < 0:
            raise self._error("it pads by other than one number and static sizes")
        padded = f"padded({self._value(operation.operands[0])}, {low}, {high}"
        value = self._value(last.operands[0])
        self._write(depth, f"{self._result()} = {padded}, {value})")

    def _expression(self, operation: Operation) -> str:
        operands = [self._value(operand) for operand in operation.operands]
        if operation.name == "linalg.index" and self._elementwise:
            dimension = self._types.integer(operation.attributes.get("dim", ""), operation.line)
            return f"ix[{dimension}]"
        if operation.name == "tensor.extract" and self._elementwise and len(operands) > 1:
            return f"{operands[0]}[{', '.join(operands[1:])}]"
        if operation.name == "math_ext.sigmoid" and len(operands) == 1:
            return f"sigmoid({operands[0]})"
        return super()._expression(operation)

    def _generic(self, operation: Operation) -> _Generic:
        kinds = [self._types.type_of(kind, operation.line) for kind in operation.operand_types]
        texts = split(self._types.resolved(operation.attributes.get("indexing_maps", ""))[1:-1])
        iterators = split(operation.attributes.get("iterator_types", "")[1:-1])
        reduced = tuple("reduction" in each for each in iterators)
        if len(texts) != len(kinds) or len(operation.results) > len(kinds):
            raise self._error("its maps and operands do not fit")
        maps = tuple(self._map(text, len(reduced)) for text in texts)
        sizes: dict[int, int] = {}
        for positions, kind in zip(maps, kinds, strict=True):
            for (constant, *factors), size in zip(positions, kind.shape or (), strict=True):
                if constant == 0 and sorted(factors)[-1:] == [1] and sum(map(abs, factors)) == 1:
                    sizes.setdefault(factors.index(1), size)
        if len(sizes) != len(reduced):
            raise self._error("the size of a dimension does not follow from its operands")
        inputs = len(kinds) - len(operation.results)
        return _Generic(tuple(sizes[i] for i in range(len(reduced))), reduced, maps, inputs)

    def _map(self, text: str, dimensions: int) -> tuple[tuple[int, ...], ...]:
        """A linear map: for each result a constant, and a factor of each index."""
        whole = _MAP.match(self._types.resolved(text))
        if whole is None:
            raise self._error(f"{text!r:.80} is no map that is known")
        return tuple(self._linear(part, dimensions) for part in split(whole[2]))

    def _linear(self, text: str, dimensions: int) -> tuple[int, ...]:
        found = [0] * (dimensions + 1)
        for part in text.replace(" - ", " + -").split(" + "):
            term = _TERM.match(part.strip())
            if term is None or int(term[3] or 0) >= dimensions:
                raise self._error(f"the index {text!r:.80} is not linear")
            if term[1] is not None:
                found[0] += int(term[1])
            else:
                factor = int(term[4] or 1) * (-1 if term[2] else 1)
                found[1 + int(term[3])] += factor
        return tuple(found)
