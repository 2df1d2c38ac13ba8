"""Random programs of helpers, short vectors, constants and sums, and what NumPy makes of them.

A program is a list of steps. Each step is applied twice: to encrypted vectors, by the functions
that users call, and to plain arrays, by NumPy alone. The second one knows nothing of slots.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as powers
from numpy.typing import NDArray

from ringsmith.program import (
    inner_product,
    matmul,
    matvec,
    polynomial,
    sum_rotations,
    sum_slots,
)

Array = NDArray[Any]
Value = Any
"""An encrypted vector, or an array."""


@dataclass(frozen=True, eq=False)
class Step:
    """One operation."""

    text: str
    operands: tuple[int, ...]
    encrypted: Callable[..., Value]
    clear: Callable[..., Array]


@dataclass(eq=False)
class RandomProgram:
    """A random program."""

    lengths: dict[str, int]
    steps: list[Step] = field(default_factory=list)
    fits: bool = True

    def encrypted(self, **vectors: Value) -> Value:
        """The program as users write it."""
        values = list(vectors.values())
        for step in self.steps:
            values.append(step.encrypted(*(values[i] for i in step.operands)))
        return values[-1]

    def clear(self, inputs: dict[str, Array]) -> Array:
        """The program in NumPy."""
        values: list[Array] = list(inputs.values())
        for step in self.steps:
            values.append(np.atleast_1d(step.clear(*(values[i] for i in step.operands))))
        return values[-1]

    def __str__(self) -> str:
        names = list(self.lengths)
        lines = [f"inputs {self.lengths}"]
        for i, step in enumerate(self.steps):
            operands = (names[j] if j < len(names) else f"v{j}" for j in step.operands)
            lines.append(f"  v{len(names) + i} = {step.text}({', '.join(operands)})")
        return "\n".join(lines)


def random_program(
    rng: np.random.Generator, slots: int, *, exact: bool, growing: bool = False
) -> RandomProgram:
    """Returns a random program of up to eight steps on one or two inputs."""
    program = RandomProgram({})
    for name in ("x", "y")[: rng.integers(1, 3)]:
        program.lengths[name] = int(rng.choice([1, 3, 4, 5, 8, 8, 16, 17, 30]))
    shapes: list[int | None] = list(program.lengths.values())  # None: all slots
    maker = _Maker(rng, slots, exact, growing)
    for _ in range(int(rng.integers(1, 9))):
        step, shape = maker.step(shapes)
        program.steps.append(step)
        if shape == 0:
            return replace(_pruned(program), fits=False)
        shapes.append(shape)
    return _pruned(program)


def _pruned(program: RandomProgram) -> RandomProgram:
    """The program without what its result does not depend on."""
    names, steps = list(program.lengths), program.steps
    reached: set[int] = set()
    waiting = [len(names) + len(steps) - 1]
    while waiting:
        i = waiting.pop()
        reached.add(i)
        if i >= len(names):
            waiting += set(steps[i - len(names)].operands) - reached
    moved = {old: new for new, old in enumerate(sorted(reached))}
    return RandomProgram(
        {name: program.lengths[name] for i, name in enumerate(names) if i in reached},
        [
            replace(step, operands=tuple(moved[j] for j in step.operands))
            for i, step in enumerate(steps, len(names))
            if i in reached
        ],
    )


@dataclass(eq=False)
class _Maker:
    """Makes random steps."""

    rng: np.random.Generator
    slots: int
    exact: bool
    growing: bool

    def step(self, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        """Returns a step and the numbers of its result; 0: NumPy refuses it."""
        kinds = [
            *(self._scalar, self._plain, self._pair, self._pair, self._square, self._negative),
            *(self._total, self._sums, self._inner, self._matvec, self._matvec, self._polynomial),
            *(self._rotate, self._product, self._rotations, self._kept),
        ]
        if self.growing:
            kinds = [self._pair, self._pair, self._scalar, self._total, self._square, self._matvec]
        while True:
            i = int(self.rng.integers(max(0, len(shapes) - 3), len(shapes)))
            made = kinds[self.rng.integers(len(kinds))](i, shapes)
            if made is not None:
                return made

    def _numbers(self, *shape: int) -> Array:
        if self.exact:
            return self.rng.integers(-3, 4, shape)
        return self.rng.uniform(-1, 1, shape)

    def _scalar(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        c = self._numbers()[()] or 1
        name = str(self.rng.choice(["+", "-", "*", "r-"]))
        apply: Callable[[Value], Value] = {
            "+": lambda v: v + c,
            "-": lambda v: v - c,
            "*": lambda v: v * c,
            "r-": lambda v: c - v,
        }[name]
        return Step(f"{name} {c:.3g}", (i,), apply, apply), shapes[i]

    def _plain(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        n = shapes[i]
        if n is None:
            return None
        size = int(self.rng.choice([n, n, n, 1, 5]))
        values = self._numbers(size)
        if not values.any():
            return None
        name = str(self.rng.choice(["+", "*", "-"]))
        apply: Callable[[Value], Value] = {
            "+": lambda v: v + values,
            "*": lambda v: values * v,
            "-": lambda v: values - v,
        }[name]
        return Step(f"{name} array of {size}", (i,), apply, apply), _broadcast(n, size)

    def _pair(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        j = int(self.rng.integers(len(shapes)))
        n, m = shapes[i], shapes[j]
        name = str(self.rng.choice(["+", "*", "-"]))
        apply: Callable[[Value, Value], Value] = {
            "+": lambda v, w: v + w,
            "*": lambda v, w: v * w,
            "-": lambda v, w: v - w,
        }[name]
        if i == j and name == "-":
            return None
        if n is None or m is None:

            def clear(v: Array, w: Array) -> Array:
                return apply(*(each if each.size == 1 else self._padded(each) for each in (v, w)))

            return Step(name, (i, j), apply, clear), None
        return Step(name, (i, j), apply, apply), _broadcast(n, m)

    def _square(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        return Step("**2", (i,), lambda v: v**2, lambda v: v**2), shapes[i]

    def _negative(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        return Step("-", (i,), lambda v: -v, lambda v: -v), shapes[i]

    def _total(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        return Step("sum", (i,), sum_slots, np.sum), 1

    def _sums(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        n = shapes[i]
        if n is None:
            return None
        length = 1 << (n - 1).bit_length() << int(self.rng.integers(2))
        everywhere = bool(self.rng.integers(2))

        def apply(v: Value) -> Value:
            return sum_slots(v, length, everywhere=everywhere)

        return Step(f"sum_slots of {length}, {everywhere=}", (i,), apply, np.sum), 1

    def _inner(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        n = shapes[i]
        if n is None:
            return None
        length = 1 << (n - 1).bit_length() << int(self.rng.integers(2))
        same = [j for j, m in enumerate(shapes) if m == n]
        if self.rng.integers(2):
            j = int(self.rng.choice(same))
            return (
                Step(
                    f"inner_product of {length}",
                    (i, j),
                    lambda v, w: inner_product(v, w, length),
                    np.dot,
                ),
                1,
            )
        size = n if self.rng.integers(8) else n + 1 if self.rng.integers(2) else max(1, n - 1)
        weights = self._numbers(size)
        weights[-1] = weights[-1] or 1
        fits = size == n
        return (
            Step(
                f"inner_product of {length} with {size} weights",
                (i,),
                lambda v: inner_product(v, weights, length),
                lambda v: np.dot(v, weights),
            ),
            1 if fits else 0,
        )

    def _matvec(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        n = shapes[i]
        if n is None:
            return None
        rows = int(self.rng.choice([1, 2, 3, 4, 8, 13, 16]))
        columns = n if self.rng.integers(8) else int(self.rng.choice([2, 4, 7, 8, 16]))
        weights = self._numbers(rows, columns)
        weights[0, 0] = 1
        return (
            Step(
                f"matvec {rows} x {columns}",
                (i,),
                lambda v: matvec(weights, v),
                lambda v: weights @ v,
            ),
            rows if columns == n else 0,
        )

    def _polynomial(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        c = self._numbers(int(self.rng.integers(2, 5)))
        c[-1] = c[-1] or 1
        return (
            Step(
                f"polynomial of degree {c.size - 1}",
                (i,),
                lambda v: polynomial(v, c),
                lambda v: powers.polyval(v, c),
            ),
            shapes[i],
        )

    def _rotate(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        steps = int(self.rng.integers(1, 9)) * (1 if self.rng.integers(2) else -1)
        return (
            Step(
                f"rotate by {steps}",
                (i,),
                lambda v: v.rotate(steps),
                lambda v: self._rolled(v, steps),
            ),
            None,
        )

    def _kept(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        if shapes[i] is not None:
            return None
        size = int(self.rng.choice([2, 4, 5, 16]))
        values = self._numbers(size)
        values[0] = values[0] or 1
        return (
            Step(
                f"* array of {size}",
                (i,),
                lambda v: v * values,
                lambda v: v[:size] * values,
            ),
            size,
        )

    def _rotations(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None]:
        count, steps = int(self.rng.integers(2, 7)), int(self.rng.choice([1, 2, -1]))
        return (
            Step(
                f"sum_rotations of {count} by {steps}",
                (i,),
                lambda v: sum_rotations(v, count, steps),
                lambda v: np.sum([self._rolled(v, steps * k) for k in range(count)], axis=0),
            ),
            None,
        )

    def _product(self, i: int, shapes: Sequence[int | None]) -> tuple[Step, int | None] | None:
        n = shapes[i]
        if n not in (1, 4, 16):
            return None
        size = {1: 1, 4: 2, 16: 4}[n]
        j = int(self.rng.choice([j for j, m in enumerate(shapes) if m == n]))

        def clear(v: Array, w: Array) -> Array:
            return (v.reshape(size, size) @ w.reshape(size, size)).ravel()

        return Step(f"matmul of {size}", (i, j), lambda v, w: matmul(v, w, size), clear), n

    def _padded(self, v: Array) -> Array:
        whole = np.zeros(self._all, v.dtype)
        whole[: v.size] = v
        return whole

    def _rolled(self, v: Array, steps: int) -> Array:
        return np.roll(self._padded(v).reshape(-1, self.slots), -steps, axis=1).ravel()

    @property
    def _all(self) -> int:
        return 2 * self.slots if self.exact else self.slots


def _broadcast(n: int, m: int) -> int:
    """The numbers of a result of operands of n and m numbers; 0: NumPy refuses them."""
    return max(n, m) if n == m or 1 in (n, m) else 0
