"""A compiled module: its functions by role, its packing as tables, and what it does to ciphertexts.

The evaluation is executed once with clear data concrete and ciphertexts symbolic. The client's
functions are executed on numbers that count, which makes tables of where each number goes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import progress
from ringsmith.heir.interpreter import Interpreter, Secret, objects
from ringsmith.heir.tape import Numbers, Step, Tape, TapeError, Value
from ringsmith.heir.text import HeirError, ModuleText, Operation, entries, read_module, split
from ringsmith.heir.translate import Code, unknown_operation, walk
from ringsmith.heir.types import CipherType, Kind, Type, Types

VERSIONS = ("2026.10.1", "2026.11.1")
"""The versions of heir_py whose output is read, the newest last."""

MAX_SLOTS = 1 << 15

PLAIN_MODULUS = 65537
"""t of BFV and BGV where nothing names one; HEIR's default."""


class Scheme(StrEnum):
    """The scheme that a module was lowered to."""

    CKKS = "ckks"
    BFV = "bfv"
    BGV = "bgv"


@dataclass(frozen=True)
class HeirParameters:
    """The parameters that HEIR chose; scheme level only.

    Attributes:
        n: Ring degree.
        data_primes: q_0 first.
        log_scale: log2 of the scale of CKKS; None otherwise.
        plain_modulus: t of BFV and BGV; None otherwise.
    """

    n: int
    data_primes: tuple[int, ...]
    log_scale: int | None
    plain_modulus: int | None


@dataclass(frozen=True, eq=False)
class TensorPlan:
    """A tensor and the vectors that hold it.

    Attributes:
        name: Name of the argument or result.
        shape: Shape of the tensor.
        whole: Whether its numbers are integers.
        table: Of an input, shape (K, S): position in the flat tensor from 1, and 0 for a zero.
            Of an output, shape (elements,): position in the K * S slots from 1, and 0.
        steps: The steps of the K vectors.
        bits: Width of its integers; 0 of others.
    """

    name: str
    shape: tuple[int, ...]
    whole: bool
    table: NDArray[np.int64]
    steps: tuple[int, ...]
    bits: int = 0


@dataclass(frozen=True, eq=False)
class Traced:
    """A module as it is planned from.

    Attributes:
        name: Name of the function.
        file: What errors call the module.
        line: Line of the entry function.
        slots: Slots S of a vector.
        whole: Whether it computes on integers.
        scheme: The scheme that it was lowered to; None: the vector level.
        parameters: HEIR's parameters; None at the vector level.
        inputs: The encrypted arguments.
        outputs: The results.
        steps: What is done to ciphertexts.
        clear: The clear arguments that it was traced with, by name.
    """

    name: str
    file: str
    line: int
    slots: int
    whole: bool
    scheme: Scheme | None
    parameters: HeirParameters | None
    inputs: tuple[TensorPlan, ...]
    outputs: tuple[TensorPlan, ...]
    steps: tuple[Step, ...]
    clear: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def trace_module(
    text: str,
    file: str,
    clear: Mapping[str, ArrayLike] | None = None,
    *,
    placeholders: bool = False,
) -> Traced:
    """Reads and traces a compiled module.

    Args:
        text: The module in generic form, at the vector or the scheme level.
        file: What errors call it.
        clear: Values of arguments that are not secret, by name: ``arg1``.
        placeholders: Whether a clear argument that is not given has numbers of no meaning, which
            keep every operation; else it is refused.

    Raises:
        HeirError: When it cannot be read; names the operation, its line, and what to do.
    """
    with progress.task(f"reading {file}"):
        module = read_module(text, file)
    del text
    with progress.task(f"tracing {file}"):
        try:
            return _Tracer(module, dict(clear or {}), placeholders).traced()
        except TapeError as error:
            raise module.error(module.operation.line, str(error)) from None


class _Tracer:
    """Traces one module."""

    def __init__(self, module: ModuleText, clear: dict[str, ArrayLike], placeholders: bool) -> None:
        self._placeholders = placeholders
        self._module = module
        self._types = Types(module)
        self._clear = clear
        self._used: dict[str, NDArray[Any]] = {}
        self._attributes = module.operation.attributes
        functions = {
            op.attributes.get("sym_name", "").strip('"'): op
            for op in module.operation.regions[0].operations
            if op.name == "func.func" and op.regions
        }
        self._roles: dict[tuple[str, int], str] = {}
        self._functions = functions
        self._code = Code(module, self._types, functions)
        self._numbers = Numbers(module.size)
        for name, op in functions.items():
            self._note_roles(name, op)

    def traced(self) -> Traced:
        """Returns what the module does."""
        entry_name = self._role("entry", 0)
        entry = self._functions[entry_name]
        interface = entries(entry.attributes["heir.interface"][1:-1])
        scheme, parameters = self._scheme(entry)
        arguments = entry.regions[0]
        inputs_of = split(interface.get("input_types", "[]")[1:-1])
        results_of = split(interface.get("result_types", "[]")[1:-1])
        secret = [self._is_secret(kind, entry.line) for kind in arguments.types]
        slots = self._slots(entry, scheme)
        tape = Tape(slots, self._numbers)
        log_scale = None if parameters is None else parameters.log_scale
        interpreter = Interpreter(tape, log_scale, self._numbers)
        values: list[object] = []
        inputs: list[TensorPlan] = []
        for i, kind in enumerate(arguments.types):
            name = f"arg{i}"
            if i >= len(inputs_of) and secret[i]:  # an encryption of zero of a rolled module
                values.append(self._zero(kind, slots, entry.line, scheme))
                continue
            original = self._types.type_of(inputs_of[i] if i < len(inputs_of) else kind, entry.line)
            if not secret[i]:
                values.append(self._clear_argument(name, original, entry))
                continue
            table = self._packing(i, original, slots, scheme)
            value, steps = self._fresh(kind, tape, len(table), entry.line, scheme)
            values.append(value)
            shape = original.shape or ()
            whole = original.kind is Kind.INTEGER
            inputs.append(TensorPlan(name, shape, whole, table, steps, original.bits))
        if self._clear:
            known = ", ".join(f"arg{i}" for i, s in enumerate(secret) if not s) or "none"
            raise HeirError(
                f"{self._module.file}: argument {min(self._clear)!r:.40} is given in the clear, "
                f"and the function's clear arguments are {known}"
            )
        if not inputs:
            raise self._module.error(
                entry.line, f"{entry_name} has no secret argument: mark one {{secret.secret}}"
            )
        results = self._code.call(entry_name, values, interpreter)
        outputs = tuple(
            self._output(j, value, results_of, slots, entry) for j, value in enumerate(results)
        )
        if not outputs:
            raise self._module.error(entry.line, f"{entry_name} returns nothing")
        whole = all(each.whole for each in inputs)
        if scheme is not None:
            whole = scheme is not Scheme.CKKS
        return Traced(
            interface.get("func_name", entry_name).strip('"') or entry_name,
            self._module.file,
            entry.line,
            slots,
            whole,
            scheme,
            parameters,
            tuple(inputs),
            outputs,
            tuple(tape.steps),
            self._used,
        )

    # ---- what the module says of itself ----------------------------------------------------

    def _note_roles(self, name: str, op: Operation) -> None:
        text = op.attributes.get("heir.interface")
        if text is None:
            return
        interface = entries(text[1:-1])
        index = interface.get("index", "0").partition(":")[0].strip()
        for role in split(interface.get("roles", "[]")[1:-1]):
            self._roles.setdefault((role.strip('"'), int(index) if index.isdigit() else 0), name)

    def _role(self, role: str, index: int) -> str:
        found = self._roles.get((role, index))
        if found is not None:
            return found
        if self._roles:
            raise HeirError(
                f"{self._module.file}: no function of role {role} {index}: give the whole module "
                "as heir-opt prints it, client functions in"
            )
        for op in walk(self._module.operation.regions[0]):
            old = next((key for key in op.attributes if key.startswith("client.")), None)
            if old is not None:
                raise self._module.error(
                    op.line,
                    f"{op.name} carries {old}, and no function heir.interface: an older HEIR "
                    f"compiled it: install heir_py=={VERSIONS[-1]} and compile it anew",
                )
            if op.name.partition(".")[0] not in _INPUT_DIALECTS:
                raise self._module.error(op.line, unknown_operation(op.name))
        raise HeirError(
            f"{self._module.file}: no function has heir.interface: give an input module or one "
            f"that heir_py {' or '.join(VERSIONS)} compiled"
        )

    def _scheme(self, entry: Operation) -> tuple[Scheme | None, HeirParameters | None]:
        found = next((s for s in Scheme if f"scheme.{s.value}" in self._attributes), None)
        if found is None:
            if any(op.name.startswith(("ckks.", "bgv.")) for op in walk(entry.regions[0])):
                raise self._module.error(
                    entry.line, "the module names no scheme (scheme.ckks, scheme.bfv, scheme.bgv)"
                )
            return None, None
        key = "ckks.schemeParam" if found is Scheme.CKKS else "bgv.schemeParam"
        text = self._types.resolved(self._attributes.get(key, ""))
        line = self._module.operation.line
        if not text:
            raise self._module.error(line, f"the module has no {key}: compile it with HEIR's own")
        log_n = self._number(r"logN = (\d{1,3})\b", text, key)
        if not 10 <= log_n <= 17:
            raise self._module.error(line, f"{key}: logN = {log_n} is outside 10 … 17")
        listed = re.search(r"Q = \[(\d{1,20}(?:, *\d{1,20}){0,100})\]", text)
        primes = tuple(map(int, split(listed[1]))) if listed else ()
        if not primes or not all(3 < q < 1 << 63 for q in primes):
            raise self._module.error(line, f"{key} lists no primes Q of at most 62 bits")
        if found is Scheme.CKKS:
            scale = self._number(r"logDefaultScale = (\d{1,3})\b", text, key)
            return found, HeirParameters(1 << log_n, primes, scale, None)
        t = self._number(r"plaintextModulus = (\d{1,20})\b", text, key)
        return found, HeirParameters(1 << log_n, primes, None, t)

    def _number(self, pattern: str, text: str, key: str) -> int:
        match = re.search(pattern, text)
        if match is None:
            name = pattern.partition(" ")[0]
            raise self._module.error(self._module.operation.line, f"{key} lacks {name}")
        return int(match[1])

    def _slots(self, entry: Operation, scheme: Scheme | None) -> int:
        """S: what the module says, or the last dimension of its encrypted vectors."""
        text = self._attributes.get("scheme.requested_slot_count")
        line = entry.line
        if text is not None:
            found = self._types.integer(text, line)
        elif scheme is None:
            kinds = [self._types.type_of(k, line) for k in entry.regions[0].types if "secret" in k]
            found = next((kind.shape[-1] for kind in kinds if kind.shape), 0)
        else:
            found = self._slots_of_client(line)
        if not 1 <= found <= MAX_SLOTS or found & (found - 1):
            raise self._module.error(
                line, f"vectors of {found} slots: take a power of two up to {MAX_SLOTS} (--slots)"
            )
        return found

    def _slots_of_client(self, line: int) -> int:
        for op in walk(self._functions[self._role("client.decrypt", 0)].regions[0]):
            if op.name == "lwe.rlwe_decode" and op.result_types:
                return (self._types.type_of(op.result_types[0], line).shape or (0,))[-1]
        return 0

    def _is_secret(self, kind: str, line: int) -> bool:
        whole = self._types.resolved(kind)
        if whole.startswith("!secret.secret<"):
            return True
        element = self._types.resolved(self._types.type_of(whole, line).element)
        return element.startswith("!lwe.lwe_ciphertext<")

    # ---- arguments and results -------------------------------------------------------------

    def _fresh(
        self, kind: str, tape: Tape, count: int, line: int, scheme: Scheme | None
    ) -> tuple[object, tuple[int, ...]]:
        """A symbolic argument, and the steps of its vectors."""
        found = self._types.type_of(kind, line)
        cipher = None if scheme is None else self._types.cipher_of(found.element, line)
        values = [tape.input(line, cipher) for _ in range(count)]
        steps = tuple(value.step for value in values if value.step is not None)
        return self._shaped(values, found, line, scheme, tape.slots), steps

    def _zero(self, kind: str, slots: int, line: int, scheme: Scheme | None) -> object:
        found = self._types.type_of(kind, line)
        if scheme is None:
            raise self._module.error(line, "a secret argument has no type in heir.interface")
        cipher = self._types.cipher_of(found.element, line)
        dtype = np.float64 if scheme is Scheme.CKKS else np.int64
        values = [Value(None, np.zeros(slots, dtype), cipher) for _ in range(found.elements)]
        return self._shaped(values, found, line, scheme, slots)

    def _shaped(
        self, values: list[Value], kind: Type, line: int, scheme: Scheme | None, slots: int
    ) -> object:
        if scheme is not None:
            if kind.shape is None:
                return values[0]
            if kind.elements != len(values):
                raise self._module.error(
                    line, f"an argument of {kind.elements} ciphertexts is packed to {len(values)}"
                )
            return objects(values, kind.shape)
        if kind.shape is None or kind.elements != len(values) * slots:
            raise self._module.error(
                line, f"a secret argument of shape {kind.shape} is no rows of {slots} slots"
            )
        return Secret(tuple(values), kind.shape)

    def _clear_argument(self, name: str, kind: Type, entry: Operation) -> object:
        whole = kind.kind is Kind.INTEGER
        shape = kind.shape or ()
        if name not in self._clear and self._placeholders:
            numbers = np.arange(kind.elements) % 5 + 2
            self._clear[name] = (numbers if whole else numbers / 4).reshape(shape)
        if name not in self._clear:
            raise self._module.error(
                entry.line,
                f"{name} (shape {kind.shape or ()}) is not secret: give it with --clear "
                f"{name}=FILE.npy",
            )
        given = np.asarray(self._clear.pop(name))
        if given.shape != shape or given.dtype.kind not in ("iu" if whole else "iuf"):
            raise HeirError(
                f"{self._module.file}: {name} is an array of shape {given.shape} and type "
                f"{given.dtype}, and the function takes {'integers' if whole else 'numbers'} of "
                f"shape {shape}"
            )
        if not np.isfinite(given).all():
            raise HeirError(f"{self._module.file}: {name} holds NaN or infinity")
        array = self._used[name] = given.astype(np.int64 if whole else np.float64)
        return array if kind.shape is not None else array.item()

    def _packing(
        self, index: int, original: Type, slots: int, scheme: Scheme | None
    ) -> NDArray[np.int64]:
        """Where each number of a tensor goes, shape (K, S): its position from 1, or 0."""
        name = self._role("client.encrypt", index)
        function = self._functions[name]
        count = original.elements
        self._numbers.take(_PACKING_ARRAYS * count)

        def packed(first: int) -> NDArray[np.int64]:
            values = np.arange(first, first + count)
            if original.kind is Kind.FLOAT:
                values = values.astype(np.float64)
            tensor = values.reshape(original.shape or ())
            operand = tensor if original.shape is not None else tensor.item()
            operands = [operand, *[None] * (len(function.regions[0].arguments) - 1)]
            results = self._code.call(name, operands, Interpreter(None, None, self._numbers))
            if len(results) != 1:
                raise self._module.error(function.line, f"{name} returns {len(results)} values")
            table = _numbers_of(results[0])
            if table is None or table.size == 0 or table.size % slots:
                raise self._module.error(function.line, f"{name} makes no rows of {slots} slots")
            return self._numbers.watch(table.reshape(-1, slots))

        table, moved = packed(1), packed(1 + count)
        self._numbers.give_back(_PACKING_ARRAYS * count)
        integers = np.rint(table).astype(np.int64)
        expected = np.where(integers > 0, integers + count, 0)
        if not (integers == table).all() or not (expected == moved).all():
            raise self._module.error(
                function.line, f"{name} does more than move numbers: packing is kept as a table"
            )
        return integers

    def _output(
        self, j: int, value: object, results_of: list[str], slots: int, entry: Operation
    ) -> TensorPlan:
        name = "result" if len(results_of) <= 1 else f"result{j}"
        if isinstance(value, Secret):
            rows = value.rows
        elif isinstance(value, Value):
            rows = (value,)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            rows = tuple(value.ravel())
        else:
            raise self._module.error(
                entry.line, f"{name} does not depend on a secret: compute it in the clear"
            )
        function = self._functions[self._role("client.decrypt", j)]
        if j >= len(results_of):
            raise self._module.error(entry.line, f"{name} has no type in heir.interface")
        original = self._types.type_of(results_of[j], entry.line)
        steps = []
        for row in rows:
            if not isinstance(row, Value) or row.step is None:
                raise self._module.error(
                    entry.line, f"{name} has a vector that depends on no secret: it is constant"
                )
            steps.append(row.step)
        table = self._unpacking(j, original, len(rows), slots, function)
        whole = original.kind is Kind.INTEGER
        return TensorPlan(name, original.shape or (), whole, table, tuple(steps))

    def _unpacking(
        self, j: int, original: Type, count: int, slots: int, function: Operation
    ) -> NDArray[np.int64]:
        """Where each number of a tensor comes from: its position in the slots from 1, or 0."""
        name = self._role("client.decrypt", j)
        arguments = function.regions[0].types
        if not arguments:
            raise self._module.error(function.line, f"{name} takes nothing: the module is damaged")
        kind = self._types.type_of(arguments[0], function.line)
        numbers = np.arange(1, count * slots + 1)
        if original.kind is Kind.FLOAT:
            numbers = numbers.astype(np.float64)
        rows = numbers.reshape(count, slots)
        encrypted = kind.kind is Kind.OTHER
        if kind.elements != (count if encrypted else numbers.size):
            raise self._module.error(
                function.line,
                f"{name} takes {kind.elements} {'ciphertexts' if encrypted else 'numbers'}, and "
                f"the result has {count} vectors of {slots} slots",
            )
        shape = kind.shape or ()
        operand: object = objects(list(rows), shape) if encrypted else rows.reshape(shape)
        if encrypted and kind.shape is None:
            operand = rows[0]
        operands = [operand, *[None] * (len(function.regions[0].arguments) - 1)]
        results = self._code.call(name, operands, Interpreter(None, None, self._numbers))
        made = _numbers_of(results[0]) if len(results) == 1 else None
        if made is None or made.size != original.elements:
            raise self._module.error(
                function.line, f"{name} does not make {original.elements} numbers"
            )
        table = made.ravel().astype(np.float64)
        integers = np.rint(table).astype(np.int64)
        inside = (integers >= 0) & (integers <= count * slots)
        if not (integers == table).all() or not inside.all():
            raise self._module.error(
                function.line, f"{name} does more than move numbers: packing is kept as a table"
            )
        return integers


_PACKING_ARRAYS = 4
"""Arrays of a tensor's numbers that its packing takes at a time."""


def _numbers_of(value: object) -> NDArray[Any] | None:
    """What a client's function returns as an array of numbers; None: it is no array."""
    parts = value.ravel() if isinstance(value, np.ndarray) and value.dtype == object else [value]
    if not all(isinstance(part, int | float | np.ndarray) for part in parts):
        return None
    try:
        found = np.array([*parts]) if len(parts) != 1 else np.asarray(parts[0])
    except (ValueError, OverflowError):  # rows of different lengths, integers beyond 64 bits
        return None
    return found if found.dtype.kind in "iuf" else None


_INPUT_DIALECTS = frozenset({"func", "arith", "tensor", "math", "scf", "affine", "linalg", "cf"})


__all__ = ["CipherType", "HeirParameters", "Scheme", "TensorPlan", "Traced", "trace_module"]
