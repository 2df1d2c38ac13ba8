"""Functions of a module as Python source: loops run as Python's own, nothing is interpreted.

No text of the module gets into the source: values are numbered, constants are looked up by number.
A tensor is updated in place if nothing else uses it; otherwise it is copied first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from ringsmith.heir.interpreter import MATH, Interpreter
from ringsmith.heir.tape import Kind as Step
from ringsmith.heir.tape import TapeError
from ringsmith.heir.text import Block, HeirError, ModuleText, Operation
from ringsmith.heir.types import Kind, Type, Types

MAX_LOOPS = 18
"""Loops inside each other; Python takes 20."""
MAX_CALLS = 64
"""Calls inside each other."""

_DYNAMIC = -(1 << 63)
_ONCE = ("scf.if", "secret.generic")
_IN_PLACE = ("tensor.insert", "tensor.insert_slice", "scf.for", "func.call", "arith.constant")
_UNCOUNTED = frozenset(
    {"arith.constant", "tensor.insert", "tensor.insert_slice", "scf.for", "scf.if"}
)
"""Operations whose results are there: copies for them are counted, and constants are text."""
_INLINE_INTEGER = {"addi": "+", "subi": "-", "andi": "&", "ori": "|", "xori": "^"}
_SECRET = {"addi": "add", "addf": "add", "subi": "sub", "subf": "sub", "muli": "mul", "mulf": "mul"}
_SIGNED = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FLOAT_COMPARED = {
    **dict(zip(range(1, 7), ("==", ">", ">=", "<", "<=", "!="), strict=True)),
    **dict(zip(range(8, 14), ("==", ">", ">=", "<", "<=", "!="), strict=True)),
}
_SAME = frozenset(
    {
        *("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extf", "arith.truncf"),
        *("secret.conceal", "secret.reveal", "tensor.cast", "lwe.rlwe_decrypt"),
    }
)
"""Operations that leave what they are given as it is."""

_HINTS = {
    "bootstrap": "pass a larger greedy-level-budget to heir-opt (17 for N = 2^15, 36 for 2^16)",
    "kernel": "compile without --annotate-module, with unroll-fhe-kernel-loops=true",
    "secret": "the module is not lowered: double --slots (min-slot-count)",
    "mgmt": "the module is not lowered: double --slots (min-slot-count)",
    "tensor_ext": "the module is not lowered: double --slots (min-slot-count)",
    "builtin": "the module is not lowered: double --slots (min-slot-count)",
    "affine": "compile with --full-loop-unroll --lower-affine",
    "linalg": "the module is not lowered: give the input module, and heir-opt is run",
    "openfhe": "this is past import: give the input module, or one lowered to ckks or bgv only",
    "lattigo": "this is past import: give the input module, or one lowered to ckks or bgv only",
    "cf": "compile loops to scf",
}


def unknown_operation(name: str) -> str:
    """Returns what is said of an operation that is not known."""
    dialect, _, short = name.partition(".")
    hint = _HINTS.get(short) or _HINTS.get(dialect)
    return f"{name} is not read" + (f": {hint}" if hint else ": lower it to operations that are")


class Code:
    """A module's functions, translated when they are first called.

    Args:
        module: The module.
        types: Its types.
        functions: Operations ``func.func`` by name.
        source: What translates a function.
    """

    def __init__(
        self,
        module: ModuleText,
        types: Types,
        functions: Mapping[str, Operation],
        source: "type[Source] | None" = None,
    ) -> None:
        self._translated = source or Source
        self._module = module
        self._types = types
        self._functions = functions
        self._sources: dict[str, Source] = {}

    def call(
        self, name: str, operands: Sequence[object], interpreter: Interpreter
    ) -> tuple[Any, ...]:
        """Calls a function.

        Args:
            name: The function.
            operands: Its arguments.
            interpreter: Executes the operations.

        Raises:
            HeirError: When an operation is not known or fails; names its line.
        """
        calls = 0
        names = interpreter.functions()
        entered: dict[str, Callable[..., tuple[Any, ...]]] = {}

        def call(callee: str, *arguments: object) -> tuple[Any, ...]:
            nonlocal calls
            if calls >= MAX_CALLS:
                raise TapeError(f"functions call each other more than {MAX_CALLS} deep")
            if callee not in entered:
                entered[callee] = self._source(callee).function(names | {"call": call})
            held = self._sources[callee].numbers
            interpreter.numbers.take(held)
            calls += 1
            try:
                return entered[callee](*arguments)
            except HeirError:
                raise
            except (TapeError, NameError, *_FAILURES) as error:
                raise self._located(callee, error) from None
            finally:
                calls -= 1
                interpreter.numbers.give_back(held)

        return call(name, *operands)

    def _source(self, name: str) -> "Source":
        if name not in self._sources:
            operation = self._functions.get(name)
            if operation is None or not operation.regions or not operation.regions[0].operations:
                raise TapeError(f"function {name:.60} is called and has no body in the module")
            number = len(self._sources)
            self._sources[name] = self._translated(self._module, self._types, operation, number)
        return self._sources[name]

    def _located(self, name: str, error: Exception) -> HeirError:
        """The error with the line and the operation at which it arose."""
        source = self._sources.get(name)
        line, operation = self._functions[name].line, "func.call"
        trace = error.__traceback__
        while trace is not None and source is not None:
            if trace.tb_frame.f_code.co_filename == source.file:
                line, operation = source.lines[trace.tb_lineno - 1]
            trace = trace.tb_next
        words = str(error) if isinstance(error, TapeError) else _words(error)
        return self._module.error(line, f"{operation}: {words}")


_FAILURES = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What Python raises where operands are not what an operation takes."""
_TEMPORARIES = 2
"""Tensors that one operation makes in addition to its result, at most."""
_REFERENCE_NUMBERS = 16
"""What an element that is a ciphertext or plaintext takes, as numbers of 8 bytes: 128 bytes."""


def _words(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError):
        return "division by zero"
    if isinstance(error, NameError):
        return "a value is used outside of the region, or before the iteration, that defines it"
    if isinstance(error, LookupError):
        return "an index lies outside of its tensor"
    return f"its operands do not fit ({error!s:.100}): only clear data can be computed on so"


class Source:
    """One function as source.

    A subclass that knows more operations has methods ``_op_DIALECT_NAME``. While ``_elementwise``
    is set, numbers may be arrays of them.

    Attributes:
        file: What tracebacks call it.
        lines: By line of the source: line and operation of the module.
        numbers: Numbers that its tensors hold at a time, at most.
    """

    def __init__(self, module: ModuleText, types: Types, function: Operation, number: int) -> None:
        self.file = f"<function {number} of a module>"
        self.lines: list[tuple[int, str]] = []
        self.numbers = 0
        self._module = module
        self._types = types
        self._text: list[str] = []
        self._names: dict[str, str] = {}
        self._constants: dict[str, Any] = {}
        self._owned: set[str] = set()
        self._kinds: dict[str, Type] = {}
        self._uses: dict[str, list[tuple[tuple[int, int], ...]]] = {}
        self._operations: dict[int, Operation] = {}
        self._depths: dict[str, int] = {}
        self._loops = 0
        self._largest = 0
        self._elementwise = False
        self._at = function
        try:
            self._code: CodeType = self._compiled(function)
        except HeirError:
            raise
        except (RecursionError, SyntaxError, *_FAILURES):
            raise self._error("its operands, types and regions do not fit: it is damaged") from None
        self.numbers += _TEMPORARIES * self._largest

    def _compiled(self, function: Operation) -> CodeType:
        block = function.regions[0]
        self._survey(block, ())
        self._write(0, f"def entered({', '.join(self._new(a) for a in block.arguments)}):")
        for name, kind in zip(block.arguments, block.types, strict=True):
            self._kinds[name] = self._types.type_of(kind, function.line)
        self._write(1, f"tick({self._cost(block)})")
        for operation in block.operations:
            self._operation(operation, 1)
        self._write(1, "return ()")
        return compile("\n".join(self._text), self.file, "exec")

    def function(self, names: Mapping[str, Any]) -> Callable[..., tuple[Any, ...]]:
        """Returns the function, with the names that it may use."""
        space: dict[str, Any] = {"__builtins__": {}, **names, **self._constants}
        exec(self._code, space)  # noqa: S102 - the source is made here, of numbers and our names
        entered: Callable[..., tuple[Any, ...]] = space["entered"]
        return entered

    # ---- who sees a value ------------------------------------------------------------------

    def _survey(self, block: Block, path: tuple[tuple[int, int], ...]) -> None:
        """Notes where each value is defined and used."""
        for name in block.arguments:
            self._depths[name] = len(path)
        for operation in block.operations:
            self._operations[id(operation)] = operation
            for name in operation.results:
                self._depths[name] = len(path)
            for name in operation.operands:
                self._uses.setdefault(name, []).append((*path, (id(operation), -1)))
            for i, region in enumerate(operation.regions):
                self._survey(region, (*path, (id(operation), i)))

    def _last(self, name: str) -> bool:
        """Whether the one use of a value, or one in each branch of an ``if``, is its last."""
        depth_of_name = self._depths[name]
        return self._once([path[depth_of_name:] for path in self._uses.get(name, [])])

    def _once(self, paths: list[tuple[tuple[int, int], ...]]) -> bool:
        if len(paths) == 1 and len(paths[0]) == 1:
            return True
        first = paths[0][0][0]
        if self._operations[first].name not in _ONCE:
            return False
        if any(len(path) == 1 or path[0][0] != first for path in paths):
            return False
        branches: dict[int, list[tuple[tuple[int, int], ...]]] = {}
        for path in paths:
            branches.setdefault(path[0][1], []).append(path[1:])
        return all(self._once(branch) for branch in branches.values())

    def _writable(self, name: str) -> str:
        """A tensor's expression, copied if anything else uses it."""
        value = self._value(name)
        if name in self._owned and self._last(name):
            return value
        self._count(name)
        return f"own({value})"

    def _count(self, name: str) -> None:
        """Counts the numbers of a tensor that is made, or copied."""
        kind = self._kinds.get(name)
        if kind is not None and kind.shape is not None:
            numbers = kind.elements * (_REFERENCE_NUMBERS if kind.kind is Kind.OTHER else 1)
            self.numbers += numbers
            self._largest = max(self._largest, numbers)

    # ---- source ----------------------------------------------------------------------------

    def _write(self, depth: int, text: str) -> None:
        self._text.append(" " * depth + text)
        self.lines.append((self._at.line, self._at.name))

    def _new(self, name: str) -> str:
        if name in self._names:
            raise self._error(f"{name:.40} is defined twice")
        self._names[name] = f"v{len(self._names)}"
        return self._names[name]

    def _value(self, name: str) -> str:
        if name not in self._names:
            raise self._error(f"{name:.40} is used and not defined before")
        return self._names[name]

    def _constant(self, value: object) -> str:
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name

    def _error(self, message: str) -> HeirError:
        return self._module.error(self._at.line, f"{self._at.name}: {message}")

    def _cost(self, block: Block) -> int:
        """Operations of a block's own, new tensors by their size."""
        cost = 1 + len(block.operations)
        for operation in block.operations:
            if operation.name in _ONCE:
                cost += sum(self._cost(region) for region in operation.regions)
            elif operation.name not in _IN_PLACE:
                for kind in operation.result_types:
                    cost += self._types.type_of(kind, operation.line).elements >> 5
        return cost

    def _operation(self, operation: Operation, depth: int) -> None:
        before, self._at = self._at, operation
        for name, kind in zip(operation.results, operation.result_types, strict=True):
            self._kinds[name] = self._types.type_of(kind, operation.line)
            if operation.name not in _SAME and operation.name not in _UNCOUNTED:
                self._count(name)
        method = getattr(self, "_op_" + operation.name.replace(".", "_"), None)
        if method is not None:
            method(operation, depth)
        else:
            self._write(depth, f"{self._result()} = {self._expression(operation)}")
        self._at = before

    def _result(self) -> str:
        if len(self._at.results) != 1:
            raise self._error(f"it has {len(self._at.results)} results, and one is expected")
        return self._new(self._at.results[0])

    def _body(self, block: Block, depth: int) -> Operation | None:
        """Writes a region's operations; returns the operation that ends it, not yet written."""
        for operation in block.operations[:-1]:
            self._operation(operation, depth)
        if not block.operations:
            return None
        last = block.operations[-1]
        if not last.name.endswith(".yield"):
            raise self._error(f"a region ends with {last.name}, and not with a yield")
        return last

    # ---- expressions -----------------------------------------------------------------------

    def _expression(self, operation: Operation) -> str:
        """Returns the source of an operation with one result and no region."""
        name = operation.name
        dialect, _, short = name.partition(".")
        operands = [self._value(operand) for operand in operation.operands]
        if name in _SAME:
            return operands[0] if operands else self._refuse()
        kind = self._kinds[operation.results[0]] if operation.results else None
        if kind is None:
            return self._refuse()
        if dialect == "arith":
            return self._arith(short, operands, kind)
        if dialect == "math" and short in MATH:
            return f"math_{short}({', '.join(operands)})"
        if name == "preprocessing.empty":
            return "storage()"
        if name == "preprocessing.load" and operands:
            return f"fetched({', '.join([operands[0], self._site(), *operands[1:]])})"
        if dialect == "tensor":
            return self._tensor(short, operands, kind)
        if dialect in ("ckks", "bgv", "lwe") or name == "tensor_ext.rotate":
            return self._encrypted(dialect, short, operands, kind)
        return self._refuse()

    def _refuse(self) -> str:
        raise self._module.error(self._at.line, unknown_operation(self._at.name))

    def _need(self, operands: Sequence[str], count: int) -> None:
        if len(operands) != count:
            raise self._error(f"it has {len(operands)} operands, and takes {count}")

    def _arith(self, short: str, operands: list[str], kind: Type) -> str:
        tensor = kind.shape is not None or self._elementwise
        if short == "constant":
            value = self._types.constant(self._at.attributes.get("value", ""), kind, self._at.line)
            return repr(value) if type(value) is int else self._constant(value)
        if short in ("extui", "trunci"):
            self._need(operands, 1)
            source = self._kinds[self._at.operands[0]]
            return (
                f"unsigned({operands[0]}, {source.bits})"
                if short == "extui"
                else f"cut({operands[0]}, {kind.bits})"
            )
        if short in ("sitofp", "uitofp", "fptosi", "fptoui", "negf"):
            self._need(operands, 1)
            if short == "negf":
                return (
                    f"secret_negate({operands[0]}, {self._at.line})"
                    if tensor
                    else f"-{operands[0]}"
                )
            return f"{'fractional' if short.endswith('tofp') else 'whole'}({operands[0]})"
        if short == "select":
            self._need(operands, 3)
            condition, yes, no = operands
            chosen = f"choice({condition}, {yes}, {no})"
            return chosen if tensor else f"({yes} if {condition} else {no})"
        self._need(operands, 2)
        a, b = operands
        if short in _SECRET and tensor:
            return f"secret({_SECRET[short]!r}, {a}, {b}, {self._at.line})"
        if short in ("cmpi", "cmpf"):
            compared = f"{a} {self._comparison(short)} {b}"
            return f"integers({compared})" if tensor else compared
        if short in _INLINE_INTEGER:
            return f"{a} {_INLINE_INTEGER[short]} {b}"
        simple = {
            "addf": f"{a} + {b}",
            "subf": f"{a} - {b}",
            "mulf": f"{a} * {b}",
            "muli": f"wrap({a} * {b})",
            "divf": f"ratio({a}, {b})",
            "divsi": f"quotient({a}, {b})",
            "divui": f"{a} // {b}",
            "floordivsi": f"{a} // {b}",
            "ceildivsi": f"-(-{a} // {b})",
            "ceildivui": f"-(-{a} // {b})",
            "remsi": f"remainder({a}, {b})",
            "remui": f"{a} % {b}",
            "shli": f"shift({a}, {b})",
            "shrsi": f"{a} >> {b}",
            "shrui": f"{a} >> {b}",
        }
        if short in simple:
            return simple[short]
        if short in ("minsi", "minui", "minimumf", "minnumf"):
            return f"least({a}, {b})" if tensor else f"({a} if {a} < {b} else {b})"
        if short in ("maxsi", "maxui", "maximumf", "maxnumf"):
            return f"most({a}, {b})" if tensor else f"({a} if {a} > {b} else {b})"
        return self._refuse()

    def _comparison(self, short: str) -> str:
        predicate = self._types.integer(self._at.attributes.get("predicate", ""), self._at.line)
        found = (
            dict(enumerate(_SIGNED)).get(predicate)
            if short == "cmpi"
            else _FLOAT_COMPARED.get(predicate)
        )
        if found is None:
            raise self._error(f"predicate {predicate} is not known")
        return found

    def _tensor(self, short: str, operands: list[str], kind: Type) -> str:
        shape, dtype = kind.shape, _dtype(kind)
        if short == "extract" and operands:
            tensor, *index = operands
            if kind.kind is Kind.OTHER:
                return f"item({', '.join(operands)})"
            return f"{tensor}.item({', '.join(index)})" if index else f"{tensor}.item()"
        if shape is None:
            return self._refuse()
        self._owned.add(self._at.results[0])
        if short == "empty":
            self._need(operands, 0)
            return f"filled({shape!r}, {None if dtype == 'object' else 0}, {dtype!r})"
        if short == "splat":
            self._need(operands, 1)
            return f"filled({shape!r}, {operands[0]}, {dtype!r})"
        if short == "from_elements":
            return f"collected(({''.join(f'{o}, ' for o in operands)}), {shape!r}, {dtype!r})"
        if short == "extract_slice" and operands:
            offsets, sizes, strides = self._slices(operands[1:])
            return f"taken({operands[0]}, {offsets}, {sizes}, {strides}, {shape!r})"
        if short == "insert_slice" and len(operands) >= 2:
            offsets, sizes, strides = self._slices(operands[2:])
            whole = self._writable(self._at.operands[1])
            return f"placed({operands[0]}, {whole}, {offsets}, {sizes}, {strides})"
        self._owned.discard(self._at.results[0])
        if short in ("collapse_shape", "expand_shape", "reshape") and operands:
            return f"reshaped({operands[0]}, {shape!r})"
        return self._refuse()

    def _slices(self, dynamic: list[str]) -> tuple[str, str, str]:
        """Offsets, sizes and strides as lists; those that are not static are operands in order."""
        left = iter(dynamic)
        found = []
        for what in ("static_offsets", "static_sizes", "static_strides"):
            numbers = self._types.integers(self._at.attributes.get(what, ""), self._at.line)
            try:
                parts = [next(left) if n == _DYNAMIC else str(n) for n in numbers]
            except StopIteration:
                raise self._error(f"{what} has more dynamic entries than operands") from None
            found.append(f"[{', '.join(parts)}]")
        return found[0], found[1], found[2]

    def _encrypted(self, dialect: str, short: str, operands: list[str], kind: Type) -> str:
        """Operations on plaintexts and ciphertexts."""
        line, attributes = self._at.line, self._at.attributes
        if short == "rlwe_encode":
            self._need(operands, 1)
            shape = kind.shape
            scale = attributes.get("scale") or self._types.search(
                r"scaling_factor = (-?\d{1,20})\b", attributes.get("encoding", "")
            )
            number = None if not scale else self._types.integer(scale, line)
            return f"encode({operands[0]}, {number}, {shape!r})"
        if short == "rlwe_encrypt" and operands:
            return f"encrypt({operands[0]})"
        if short == "rlwe_decode":
            self._need(operands, 1)
            return f"decode({operands[0]}, {kind.shape!r})"
        if dialect == "tensor_ext":
            self._need(operands, 2)
            return f"rotate({operands[0]}, {operands[1]}, {line})"
        if short not in _CIPHER_OPERATIONS:
            return self._refuse()
        made = self._constant(self._types.cipher_of(self._at.result_types[0], line))
        if short in ("add", "sub", "mul"):
            self._need(operands, 2)
            called = {"add": "plus", "sub": "minus", "mul": "times"}[short]
            return f"{called}({operands[0]}, {operands[1]}, {line}, {made})"
        if short in ("add_plain", "sub_plain", "mul_plain", "radd_plain"):
            self._need(operands, 2)
            what = short.removeprefix("r")[:3]
            return f"plain({what!r}, {operands[0]}, {operands[1]}, {line}, {made})"
        if short in ("rotate", "rotate_cols"):
            if len(operands) == 1 and "static_shift" in attributes:
                operands = [*operands, str(self._types.integer(attributes["static_shift"], line))]
            self._need(operands, 2)
            return f"rotated({operands[0]}, {operands[1]}, {line}, {made})"
        self._need(operands, 1)
        if short == "negate":
            return f"minus_one({operands[0]}, {line}, {made})"
        what = self._constant(Step(short))
        amount = self._types.integer(attributes.get("levelToDrop") or "1", line)
        return f"formed({what}, {operands[0]}, {line}, {made}, {amount})"

    # ---- statements ------------------------------------------------------------------------

    def _op_tensor_insert(self, operation: Operation, depth: int) -> None:
        if len(operation.operands) < 2:
            self._need(operation.operands, 2)
        scalar, _, *index = (self._value(operand) for operand in operation.operands)
        whole = self._writable(operation.operands[1])
        result = self._result()
        self._owned.add(operation.results[0])
        self._write(depth, f"{result} = {whole}")
        self._write(depth, f"{result}[{', '.join(index) if index else '()'}] = {scalar}")

    def _op_preprocessing_store(self, operation: Operation, depth: int) -> None:
        if len(operation.operands) < 2:
            self._need(operation.operands, 2)
        plaintext, storage, *index = (self._value(operand) for operand in operation.operands)
        self._write(depth, f"kept({', '.join([storage, plaintext, self._site(), *index])})")

    def _site(self) -> str:
        """Where in a storage of plaintexts, after the operands that count loops."""
        return str(self._types.integer(self._at.attributes.get("site_id", ""), self._at.line))

    def _op_func_return(self, operation: Operation, depth: int) -> None:
        values = "".join(f"{self._value(operand)}, " for operand in operation.operands)
        self._write(depth, f"return ({values})")

    def _op_func_call(self, operation: Operation, depth: int) -> None:
        """Omits a call whose results are unused: functions have no effects."""
        if not any(name in self._uses for name in operation.results):
            for name in operation.results:
                self._new(name)
            return
        callee = self._constant(operation.attributes.get("callee", "").lstrip("@").strip('"'))
        operands = ", ".join([callee, *map(self._value, operation.operands)])
        results = "".join(f"{self._new(name)}, " for name in operation.results)
        self._write(depth, f"({results}) = call({operands})")

    def _op_cf_assert(self, operation: Operation, depth: int) -> None:
        self._need(operation.operands, 1)
        message = self._constant(operation.attributes.get("msg", ""))
        self._write(depth, f"checked({self._value(operation.operands[0])}, {message})")

    def _op_secret_generic(self, operation: Operation, depth: int) -> None:
        block = self._region(operation, 1)
        if len(block.arguments) != len(operation.operands):
            raise self._error("its region takes other operands than it has")
        for name, operand, kind in zip(
            block.arguments, operation.operands, block.types, strict=True
        ):
            self._kinds[name] = self._types.type_of(kind, operation.line)
            self._write(depth, f"{self._new(name)} = {self._value(operand)}")
        last = self._body(block, depth)
        self._assign(operation, last, depth)

    def _op_scf_for(self, operation: Operation, depth: int) -> None:
        block = self._region(operation, 1)
        count = len(operation.operands) - 3
        if count < 0 or len(block.arguments) != count + 1 or len(operation.results) != count:
            raise self._error("its bounds, its values and its region do not fit")
        self._loops += 1
        if self._loops > MAX_LOOPS:
            raise self._error(f"loops are nested more than {MAX_LOOPS} deep")
        low, high, step = (self._value(operand) for operand in operation.operands[:3])
        counter, *carried = block.arguments
        for name, kind in zip(block.arguments, block.types, strict=True):
            self._kinds[name] = self._types.type_of(kind, operation.line)
        inits = [self._handed(name) for name in operation.operands[3:]]
        names = [self._new(name) for name in carried]
        for name, init in zip(names, inits, strict=True):
            self._write(depth, f"{name} = {init}")
        self._owned.update(carried)
        iterations = f"iterations({low}, {high}, {step}, {self._cost(block)})"
        self._write(depth, f"for {self._new(counter)} in {iterations}:")
        last = self._body(block, depth + 1)
        yielded = [] if last is None else [self._handed(name) for name in last.operands]
        if len(yielded) != count:
            raise self._error(f"its region yields {len(yielded)} values, and it has {count}")
        if names:
            left = "".join(f"{name}, " for name in names)
            self._write(depth + 1, f"{left} = {', '.join(yielded)},")
        else:
            self._write(depth + 1, "0")
        for result, name in zip(operation.results, names, strict=True):
            self._write(depth, f"{self._new(result)} = {name}")
        self._owned.update(operation.results)
        self._loops -= 1

    def _op_scf_if(self, operation: Operation, depth: int) -> None:
        self._need(operation.operands, 1)
        if not 1 <= len(operation.regions) <= 2:
            raise self._error("it has neither one region nor two")
        results = [self._new(name) for name in operation.results]
        self._write(depth, f"if {self._value(operation.operands[0])}:")
        for i, block in enumerate(operation.regions):
            if i:
                self._write(depth, "else:")
            last = self._body(block, depth + 1)
            yielded = [] if last is None else [self._handed(name) for name in last.operands]
            if len(yielded) != len(results):
                raise self._error(f"a region yields {len(yielded)} of {len(results)} results")
            for name, value in zip(results, yielded, strict=True):
                self._write(depth + 1, f"{name} = {value}")
            self._write(depth + 1, "0")
        self._owned.update(operation.results)

    def _assign(self, operation: Operation, last: Operation | None, depth: int) -> None:
        """Names what a region yields as an operation's results."""
        yielded = () if last is None else last.operands
        if len(yielded) != len(operation.results):
            raise self._error(f"its region yields {len(yielded)} values, not its results")
        for name, value in zip(operation.results, yielded, strict=True):
            self._write(depth, f"{self._new(name)} = {self._value(value)}")

    def _handed(self, name: str) -> str:
        """A value for a variable that may be written to: tensors are the receiver's own."""
        kind = self._kinds.get(name)
        if kind is None or kind.shape is None:
            value = self._value(name)
            whole = kind is not None and kind.kind is Kind.INTEGER
            return f"wrap({value})" if whole else value
        return self._writable(name)

    def _region(self, operation: Operation, count: int) -> Block:
        if len(operation.regions) != count:
            raise self._error(f"it has {len(operation.regions)} regions, and {count} is expected")
        return operation.regions[0]


def _dtype(kind: Type) -> str:
    return {Kind.FLOAT: "float64", Kind.INTEGER: "int64", Kind.OTHER: "object"}[kind.kind]


_CIPHER_OPERATIONS = frozenset(
    {
        *("add", "sub", "mul", "add_plain", "sub_plain", "mul_plain", "radd_plain", "negate"),
        *("relinearize", "rescale", "level_reduce", "modulus_switch", "rotate", "rotate_cols"),
    }
)


def walk(block: Block) -> Iterator[Operation]:
    """Yields all operations of a region, those inside others too."""
    waiting = [block]
    while waiting:
        for operation in waiting.pop().operations:
            yield operation
            waiting += operation.regions
