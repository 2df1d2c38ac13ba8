"""What a module does to ciphertexts: a list of steps on vectors of S slots.

Cleartext is computed while a module is traced, so that only what touches a ciphertext is left. What
is known to be clear, such as a product with zeros, stays clear.
"""

import weakref
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.types import CipherType
from ringsmith.program.plain import digest

MAX_STEPS = 1 << 18
"""Operations on ciphertexts of a traced module; a program file takes as many nodes."""
MAX_PLAIN_NUMBERS = 1 << 27
"""Numbers of all plain operands together: 1 GiB."""
MAX_NUMBERS = 1 << 25
"""Numbers that tensors and plaintexts hold at a time, of a short module: 256 MiB. A short text can
declare large tensors, by splats and loops."""
NUMBERS_A_BYTE = 4
"""The same for each byte of a longer module: constants are most of its text."""


class Kind(Enum):
    """What a step does; values are HEIR's names."""

    INPUT = "input"
    ADD = "add"
    SUB = "sub"
    NEGATE = "negate"
    MULTIPLY = "mul"
    ADD_PLAIN = "add_plain"
    SUB_PLAIN = "sub_plain"
    MULTIPLY_PLAIN = "mul_plain"
    ROTATE = "rotate"
    RELINEARIZE = "relinearize"
    RESCALE = "rescale"
    LEVEL_REDUCE = "level_reduce"
    MODULUS_SWITCH = "modulus_switch"


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on ciphertexts.

    Attributes:
        kind: What it does.
        operands: Earlier steps.
        line: Line of the module.
        plain: Plain operand: shape () for one number in every slot, or (S,).
        amount: Slots of a rotation to the left, levels of a level_reduce.
        type: Level, scale and size of the result; None at the vector level.
    """

    kind: Kind
    operands: tuple[int, ...]
    line: int
    plain: NDArray[Any] | None = None
    amount: int = 0
    type: CipherType | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A vector while a module is traced.

    Attributes:
        step: The step that computes it; None: it is clear.
        clear: Its numbers, where it is clear.
        type: As of the step.
    """

    step: int | None
    clear: NDArray[Any] | None = None
    type: CipherType | None = None


class TapeError(Exception):
    """An operation that cannot be recorded; the text has no line yet."""


class Numbers:
    """Counts the numbers that the tensors of a module hold while it is traced.

    Args:
        size: Bytes of the module's text.
    """

    def __init__(self, size: int) -> None:
        self._limit = max(MAX_NUMBERS, NUMBERS_A_BYTE * size)
        self._held = 0

    def take(self, count: int) -> None:
        """Counts numbers that are about to be made.

        Raises:
            TapeError: When too many are held.
        """
        if self._held + count > self._limit:
            raise TapeError(
                f"the module's tensors hold more than {self._limit:,} numbers at a time, the "
                "limit: compile it with smaller tensors"
            )
        self._held += count

    def give_back(self, count: int) -> None:
        """Counts numbers that are not held any more."""
        self._held -= count

    def watch(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns an array, whose numbers are counted until nothing refers to it."""
        self.take(array.size)
        weakref.finalize(array, self.give_back, array.size).atexit = False
        return array


class Tape:
    """Records steps; equal steps are recorded once.

    Attributes:
        slots: Slots S of a vector.
        numbers: Counts what clear vectors and plain operands hold.
        steps: The steps, operands before users.
    """

    def __init__(self, slots: int, numbers: Numbers) -> None:
        self.slots = slots
        self.numbers = numbers
        self.steps: list[Step] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._plain_numbers = 0

    def input(self, line: int, kind: CipherType | None) -> Value:
        """A fresh ciphertext; each call makes another one."""
        return Value(self._append(Step(Kind.INPUT, (), line, type=kind)), None, kind)

    def add(self, a: Value, b: Value, line: int, kind: CipherType | None = None) -> Value:
        """Adds."""
        if a.clear is not None and b.clear is not None:
            return self._clear(a.clear + b.clear, kind)
        if a.clear is not None:
            a, b = b, a
        assert a.step is not None
        if b.clear is not None:
            return self._with_plain(Kind.ADD_PLAIN, a, b.clear, line, kind)
        assert b.step is not None
        first, second = sorted((a.step, b.step))
        return self._record(Step(Kind.ADD, (first, second), line, type=kind))

    def subtract(self, a: Value, b: Value, line: int, kind: CipherType | None = None) -> Value:
        """Subtracts b from a."""
        if a.clear is not None and b.clear is not None:
            return self._clear(a.clear - b.clear, kind)
        if b.clear is not None:
            return self._with_plain(Kind.SUB_PLAIN, a, b.clear, line, kind)
        assert b.step is not None
        if a.clear is not None:
            return self.add(self.negate(b, line, kind), a, line, kind)
        assert a.step is not None
        return self._record(Step(Kind.SUB, (a.step, b.step), line, type=kind))

    def negate(self, a: Value, line: int, kind: CipherType | None = None) -> Value:
        """Negates."""
        if a.clear is not None:
            return self._clear(-a.clear, kind)
        assert a.step is not None
        return self._record(Step(Kind.NEGATE, (a.step,), line, type=kind))

    def multiply(self, a: Value, b: Value, line: int, kind: CipherType | None = None) -> Value:
        """Multiplies; the result is clear where the plain operand is zero in every slot."""
        if a.clear is not None and b.clear is not None:
            return self._clear(a.clear * b.clear, kind)
        if a.clear is not None:
            a, b = b, a
        assert a.step is not None
        if b.clear is not None:
            if not b.clear.any():
                return Value(None, np.broadcast_to(b.clear.dtype.type(0), self.slots), kind)
            return self._with_plain(Kind.MULTIPLY_PLAIN, a, b.clear, line, kind)
        assert b.step is not None
        first, second = sorted((a.step, b.step))
        return self._record(Step(Kind.MULTIPLY, (first, second), line, type=kind))

    def rotate(self, a: Value, amount: int, line: int, kind: CipherType | None = None) -> Value:
        """Rotates to the left: slot i holds what slot i + amount held, modulo S."""
        amount %= self.slots
        if a.clear is not None:
            return self._clear(np.roll(a.clear, -amount), kind)
        if amount == 0:
            return a
        assert a.step is not None
        return self._record(Step(Kind.ROTATE, (a.step,), line, amount=amount, type=kind))

    def same(
        self, what: Kind, a: Value, line: int, kind: CipherType | None, amount: int = 0
    ) -> Value:
        """The same message in another form: relinearized, rescaled, or of fewer levels."""
        if a.clear is not None:
            return Value(None, a.clear, kind)
        assert a.step is not None
        return self._record(Step(what, (a.step,), line, amount=amount, type=kind))

    def _with_plain(
        self, what: Kind, a: Value, plain: NDArray[Any], line: int, kind: CipherType | None
    ) -> Value:
        if plain.shape != (self.slots,):
            raise TapeError(f"a plain operand of shape {plain.shape} meets vectors of {self.slots}")
        if plain.dtype.kind == "f" and not np.isfinite(plain).all():
            raise TapeError("a plain operand holds NaN or infinity")
        if what is not Kind.MULTIPLY_PLAIN and not plain.any():
            return a
        assert a.step is not None
        stored = plain[:1].reshape(()) if (plain == plain[0]).all() else plain
        return self._record(Step(what, (a.step,), line, stored.copy(), type=kind))

    def _record(self, step: Step) -> Value:
        plain = step.plain
        content = None if plain is None else (plain.dtype.str, plain.shape, digest(plain))
        key = (step.kind, step.operands, step.amount, step.type, content)
        if key not in self._known:
            self._known[key] = self._append(step)
        return Value(self._known[key], None, step.type)

    def _append(self, step: Step) -> int:
        if len(self.steps) >= MAX_STEPS:
            raise TapeError(f"more than {MAX_STEPS} operations on ciphertexts, the limit")
        if step.plain is not None:
            self._plain_numbers += step.plain.size
            self.numbers.take(step.plain.size)
        if self._plain_numbers > MAX_PLAIN_NUMBERS:
            raise TapeError(f"plain operands of more than {MAX_PLAIN_NUMBERS} numbers")
        self.steps.append(step)
        return len(self.steps) - 1

    def _clear(self, numbers: NDArray[Any], kind: CipherType | None) -> Value:
        """A clear vector that is new."""
        return Value(None, self.numbers.watch(numbers), kind)
