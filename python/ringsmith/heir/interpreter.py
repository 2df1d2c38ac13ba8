"""What translated functions call: cleartext operations, and the recording of encrypted ones.

Every operation of a module means one function here, or Python's own operator
(``ringsmith.heir.translate``). Ciphertexts are ``Value``s of a tape. While a client's packing is
run there is no tape, and a ciphertext is the row of numbers that it holds.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.tape import Kind, Numbers, Tape, TapeError, Value
from ringsmith.heir.types import CipherType

MAX_STEPS = 200_000_000
"""Operations that tracing executes, those of loops in each iteration: some minutes at most."""

MAX_PLAINTEXTS = 1 << 18
"""Plaintexts of one encoded tensor."""

_SIGN = 1 << 63
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A plaintext.

    Attributes:
        values: Its numbers, shape (S,).
        scale: log2 of its scale; None: the module does not say.
    """

    values: NDArray[Any]
    scale: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    """Vectors at the vector level: each row a ciphertext.

    Attributes:
        rows: One value a row.
        shape: Shape of the tensor; its last dimension is S.
    """

    rows: tuple[Value, ...]
    shape: tuple[int, ...]


class Interpreter:
    """Executes the operations of one module.

    Attributes:
        tape: Where operations on ciphertexts are recorded; None while packing is run.
        log_scale: log2 of the scale of CKKS, the size of a rescaling; None in BFV and BGV.
        numbers: Counts what tensors hold; the tape's, where there is one.
        executed: Operations executed so far.
    """

    def __init__(self, tape: Tape | None, log_scale: int | None, numbers: Numbers) -> None:
        self.tape = tape
        self.log_scale = log_scale
        self.numbers = numbers
        self.executed = 0

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Returns the names that translated source may use."""
        own = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}
        return {**own, **_CLEAR}

    # ---- limits ----------------------------------------------------------------------------

    def do_tick(self, steps: int) -> None:
        """Counts operations that are about to be executed."""
        self.executed += steps
        if self.executed > MAX_STEPS:
            raise TapeError(
                f"the module executes more than {MAX_STEPS:,} operations, the limit: compile it "
                "with smaller tensors or shorter loops"
            )

    def do_iterations(self, low: int, high: int, step: int, cost: int) -> Iterator[int] | range:
        """Returns the values of a loop's counter, and counts its operations."""
        if step <= 0:
            raise TapeError(f"a loop steps by {step}: a step is at least 1")
        iterations = max(0, -(-(high - low) // step))
        self.do_tick(iterations * cost)
        return range(low, high, step)

    def do_own(self, value: Any) -> Any:  # noqa: ANN401
        """Returns a tensor that may be written to, and counts the copy."""
        if not isinstance(value, np.ndarray):
            return value
        self.do_tick(value.size >> 5)
        return value.copy()

    # ---- vector level ----------------------------------------------------------------------

    def do_secret(self, what: str, a: object, b: object, line: int) -> object:
        """Adds, subtracts or multiplies tensors, one of them perhaps secret."""
        if not isinstance(a, Secret) and not isinstance(b, Secret):
            return _PLAIN[what](a, b)
        shape = next(each.shape for each in (a, b) if isinstance(each, Secret))
        tape = self._taped()
        record = {"add": tape.add, "sub": tape.subtract, "mul": tape.multiply}[what]
        pairs = zip(_rows(a, shape), _rows(b, shape), strict=True)
        return Secret(tuple(record(x, y, line) for x, y in pairs), shape)

    def do_secret_negate(self, a: object, line: int) -> object:
        """Negates a tensor, which may be secret."""
        if not isinstance(a, Secret):
            return np.negative(a)  # type: ignore[call-overload]
        return Secret(tuple(self._taped().negate(row, line) for row in a.rows), a.shape)

    def do_rotate(self, a: object, amount: int, line: int) -> object:
        """Rotates the last axis of a tensor to the left."""
        if isinstance(a, np.ndarray):
            return np.roll(a, -amount, axis=-1)
        if not isinstance(a, Secret):
            raise TapeError("only tensors are rotated")
        tape = self._taped()
        return Secret(tuple(tape.rotate(row, amount, line) for row in a.rows), a.shape)

    # ---- scheme level ----------------------------------------------------------------------

    def do_encode(self, values: object, scale: int | None, shape: tuple[int, ...] | None) -> object:
        """Makes a plaintext, or one a row."""
        if not isinstance(values, np.ndarray) or values.dtype == object or not values.ndim:
            raise TapeError("what is encoded is no clear tensor")
        if values.shape[-1] and values.size // values.shape[-1] > MAX_PLAINTEXTS:
            raise TapeError(f"a tensor of shape {values.shape} makes too many plaintexts")
        rows = [
            Encoded(self.numbers.watch(row), scale) for row in values.reshape(-1, values.shape[-1])
        ]
        if shape is None:
            if len(rows) != 1:
                raise TapeError(f"a tensor of shape {values.shape} makes one plaintext")
            return rows[0]
        return objects(rows, shape)

    def do_encrypt(self, plaintext: object) -> object:
        """Packing: what a ciphertext holds."""
        if self.tape is not None:
            raise TapeError("an encryption inside the evaluation: compile with client functions")
        return plaintext.values if isinstance(plaintext, Encoded) else plaintext

    def do_decode(self, row: object, shape: tuple[int, ...] | None) -> object:
        """Packing: the numbers of a plaintext as a tensor or number."""
        if self.tape is not None or not isinstance(row, np.ndarray):
            raise TapeError("a decryption inside the evaluation: the secret key is the client's")
        return row.item(0) if shape is None else row.reshape(shape)

    def do_plus(self, a: object, b: object, line: int, kind: CipherType) -> Value:
        """``add``."""
        left, right = self._met(a, b)
        self._expect(kind, left.type, "add")
        return self._taped().add(left, right, line, kind)

    def do_minus(self, a: object, b: object, line: int, kind: CipherType) -> Value:
        """``sub``."""
        left, right = self._met(a, b)
        self._expect(kind, left.type, "sub")
        return self._taped().subtract(left, right, line, kind)

    def do_times(self, a: object, b: object, line: int, kind: CipherType) -> Value:
        """``mul`` of ciphertexts."""
        left, right = _cipher(a), _cipher(b)
        x, y = _type(left), _type(right)
        if x.level != y.level:
            raise TapeError(f"mul of ciphertexts of levels {x.level} and {y.level}: no such")
        if x.size != 2 or y.size != 2:
            raise TapeError("mul of a product that is not relinearized: compile with relinearize")
        made = CipherType(x.level, x.scale + y.scale, 3)
        self._expect(kind, made, "mul")
        return self._taped().multiply(left, right, line, kind)

    def do_plain(self, what: str, a: object, b: object, line: int, kind: CipherType) -> Value:
        """``add_plain``, ``sub_plain`` and ``mul_plain``; the plaintext may come first."""
        first = isinstance(a, Encoded)
        cipher, plaintext = (_cipher(b), a) if first else (_cipher(a), b)
        if not isinstance(plaintext, Encoded):
            raise TapeError(f"{what}_plain has no plaintext among its operands")
        before, clear = _type(cipher), Value(None, plaintext.values)
        tape = self._taped()
        if what == "mul":
            scale = before.scale + (kind.scale - before.scale if self.log_scale is None else 0)
            if plaintext.scale is not None and self.log_scale is not None:
                scale = before.scale + plaintext.scale
            self._expect(kind, CipherType(before.level, scale, before.size), "mul_plain")
            return tape.multiply(cipher, clear, line, kind)
        if self.log_scale is not None and plaintext.scale not in (None, before.scale):
            raise TapeError(
                f"{what}_plain of a ciphertext of scale 2^{before.scale} and a plaintext of scale "
                f"2^{plaintext.scale}: scales differ"
            )
        self._expect(kind, before, f"{what}_plain")
        if what == "add":
            return tape.add(cipher, clear, line, kind)
        left, right = (clear, cipher) if first else (cipher, clear)
        return tape.subtract(left, right, line, kind)

    def do_minus_one(self, a: object, line: int, kind: CipherType) -> Value:
        """``negate``."""
        value = _cipher(a)
        self._expect(kind, value.type, "negate")
        return self._taped().negate(value, line, kind)

    def do_rotated(self, a: object, amount: int, line: int, kind: CipherType) -> Value:
        """``rotate``, ``rotate_cols``."""
        value = _cipher(a)
        if _type(value).size != 2:
            raise TapeError("rotate of a product that is not relinearized")
        self._expect(kind, value.type, "rotate")
        return self._taped().rotate(value, int(amount), line, kind)

    def do_formed(
        self, what: Kind, a: object, line: int, kind: CipherType, amount: int = 1
    ) -> Value:
        """What keeps the message: relinearize, rescale, level_reduce, modulus_switch."""
        value = _cipher(a)
        before = _type(value)
        level, scale, size = before.level, before.scale, before.size
        if what is Kind.RELINEARIZE:
            size = 2
        elif what is Kind.RESCALE:
            level, scale = level - 1, scale - (self.log_scale or 0)
        elif what is Kind.LEVEL_REDUCE:
            level -= amount
        else:
            level -= 1
        if level < 0 or amount < 1:
            raise TapeError(f"{what.value} of a ciphertext of level {before.level}: no level left")
        self._expect(kind, CipherType(level, scale, size), what.value)
        return self._taped().same(what, value, line, kind, amount)

    def _met(self, a: object, b: object) -> tuple[Value, Value]:
        left, right = _cipher(a), _cipher(b)
        x, y = _type(left), _type(right)
        if x.level != y.level:
            raise TapeError(f"operands of levels {x.level} and {y.level} are not added")
        if self.log_scale is not None and x.scale != y.scale:
            raise TapeError(f"operands of scales 2^{x.scale} and 2^{y.scale} are not added")
        if y.size > x.size:
            left = Value(left.step, left.clear, CipherType(x.level, x.scale, y.size))
        return left, right

    def _expect(self, printed: CipherType, made: CipherType | None, what: str) -> None:
        """Refuses a result whose printed type is not what its operands make."""
        assert made is not None
        if self.log_scale is None:
            made = CipherType(made.level, printed.scale, made.size)
        if printed != made:
            raise TapeError(
                f"{what} makes level {made.level}, scale {made.scale}, {made.size} polynomials, "
                f"and its type says level {printed.level}, scale {printed.scale}, "
                f"{printed.size} polynomials"
            )

    def _taped(self) -> Tape:
        if self.tape is None:
            raise TapeError("an operation on ciphertexts inside a client's function")
        return self.tape


def objects(items: list[Any] | tuple[Any, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """Returns an array of any objects."""
    if len(items) != math.prod(shape):
        raise TapeError(f"{len(items)} elements do not fill a tensor of shape {shape}")
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


def _rows(value: object, shape: tuple[int, ...]) -> tuple[Value, ...]:
    if isinstance(value, Secret):
        if value.shape != shape:
            raise TapeError(f"tensors of shapes {value.shape} and {shape} do not meet slotwise")
        return value.rows
    if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype == object:
        raise TapeError(f"a clear operand is no tensor of shape {shape}")
    return tuple(Value(None, row) for row in value.reshape(-1, shape[-1]))


def _cipher(value: object) -> Value:
    if not isinstance(value, Value):
        raise TapeError("an operand is no ciphertext")
    return value


def _type(value: Value) -> CipherType:
    assert value.type is not None, "the scheme level's values have types"
    return value.type


# ---- cleartext -----------------------------------------------------------------------------


def _wrap(value: int) -> int:
    """A number modulo 2^64, with sign."""
    return ((value + _SIGN) & _MASK) - _SIGN


def _quotient(a: Any, b: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Division that rounds towards zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if (a < 0) == (b < 0) else -(-a // b)
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _remainder(a: Any, b: Any) -> Any:  # noqa: ANN401
    """What division towards zero leaves: the sign is the dividend's."""
    return a - b * _quotient(a, b)


def _shift(a: int, bits: int) -> int:
    if not 0 <= bits < 64:
        raise TapeError(f"a shift by {bits} bits, and integers have 64")
    return _wrap(a << bits)


def _unsigned(a: Any, bits: int) -> Any:  # noqa: ANN401
    """A number's bits without sign; a secret as it is."""
    if isinstance(a, Secret) or bits >= 64:
        return a
    return a & ((1 << bits) - 1)


def _cut(a: Any, bits: int) -> Any:  # noqa: ANN401
    """The lowest bits with sign; a secret, which is modulo t, as it is."""
    if isinstance(a, Secret) or bits >= 64:
        return a
    if bits == 1:
        return a & 1
    half = 1 << (bits - 1)
    return ((a + half) & ((1 << bits) - 1)) - half


def _whole(a: Any) -> Any:  # noqa: ANN401
    """Towards zero."""
    return a.astype(np.int64) if isinstance(a, np.ndarray) else int(a)


def _fractional(a: Any) -> Any:  # noqa: ANN401
    return a.astype(np.float64) if isinstance(a, np.ndarray) else float(a)


def _ratio(a: Any, b: Any) -> Any:  # noqa: ANN401
    with np.errstate(all="ignore"):
        result = np.divide(a, b)
    return result if isinstance(result, np.ndarray) and result.ndim else float(result)


def _number(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function of numbers or arrays that gives a Python float for a number."""

    def applied(*operands: Any) -> Any:  # noqa: ANN401
        with np.errstate(all="ignore"):
            result = function(*operands)
        return result if isinstance(result, np.ndarray) and result.ndim else result.item()

    return applied


def _filled(shape: tuple[int, ...], value: object, dtype: str) -> NDArray[Any]:
    array = np.empty(shape, dtype)
    array[...] = value
    return array


def _collected(items: tuple[Any, ...], shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    if dtype == "object":
        return objects(items, shape)
    return np.array(items, dtype).reshape(shape)


def _window(
    offsets: list[int], sizes: list[int], strides: list[int], shape: tuple[int, ...]
) -> tuple[slice, ...]:
    """The slices of a tensor."""
    slices = []
    for offset, size, stride, whole in zip(offsets, sizes, strides, shape, strict=True):
        if stride < 1 or offset < 0 or size < 0 or offset + (size - 1) * stride >= max(whole, 1):
            raise TapeError(f"a slice {offset}, {size}, {stride} leaves a dimension of {whole}")
        slices.append(slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride))
    return tuple(slices)


def _taken(
    value: Any,  # noqa: ANN401
    offsets: list[int],
    sizes: list[int],
    strides: list[int],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise TapeError("a slice of secret data: not known at the vector level")
    window = value[_window(offsets, sizes, strides, value.shape)]
    return window.reshape(shape).copy()


def _placed(
    part: Any,  # noqa: ANN401
    whole: Any,  # noqa: ANN401
    offsets: list[int],
    sizes: list[int],
    strides: list[int],
) -> NDArray[Any]:
    if not isinstance(whole, np.ndarray) or not isinstance(part, np.ndarray):
        raise TapeError("a slice of secret data: not known at the vector level")
    window = _window(offsets, sizes, strides, whole.shape)
    whole[window] = part.reshape(sizes)
    return whole


def _reshaped(value: Any, shape: tuple[int, ...]) -> Any:  # noqa: ANN401
    if isinstance(value, Secret):
        if value.shape[-1:] != shape[-1:]:
            raise TapeError(f"secret tensors keep their last dimension: {value.shape} to {shape}")
        return Secret(value.rows, shape)
    return value.reshape(shape)


def _checked(condition: object, message: str) -> None:
    if not condition:
        raise TapeError(f"an assertion of the module fails: {message:.100}")


def _kept(storage: dict[tuple[int, ...], object], plaintext: object, *where: int) -> None:
    """Keeps a plaintext that HEIR encodes before the evaluation."""
    storage[where] = plaintext


def _fetched(storage: dict[tuple[int, ...], object], *where: int) -> object:
    if where not in storage:
        raise TapeError(f"the plaintext {where} is used that was never stored")
    return storage[where]


def _item(tensor: Any, *index: int) -> Any:  # noqa: ANN401
    """An element of a tensor of ciphertexts or plaintexts."""
    found = tensor[index]
    if found is None:
        raise TapeError("an element is used that was never written")
    return found


MATH: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "absf": np.abs,
    "absi": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "powf": np.power,
    "ipowi": np.power,
}
"""Operations of dialect math."""

_PLAIN: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}

_CLEAR: dict[str, Callable[..., Any]] = {
    "wrap": _wrap,
    "quotient": _quotient,
    "remainder": _remainder,
    "shift": _shift,
    "unsigned": _unsigned,
    "cut": _cut,
    "whole": _whole,
    "fractional": _fractional,
    "ratio": _ratio,
    "filled": _filled,
    "collected": _collected,
    "taken": _taken,
    "placed": _placed,
    "reshaped": _reshaped,
    "checked": _checked,
    "item": _item,
    "storage": dict,
    "kept": _kept,
    "fetched": _fetched,
    "least": _number(np.minimum),
    "most": _number(np.maximum),
    "choice": np.where,
    "integers": lambda a: np.asarray(a).astype(np.int64),
    **{f"math_{name}": _number(function) for name, function in MATH.items()},
}
