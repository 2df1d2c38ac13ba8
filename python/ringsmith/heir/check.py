"""Compares a compiled module with what it was compiled from, both in the clear, on random numbers.

HEIR packs tensors into vectors, and at times to wrong slots: inner products of three numbers, and
elements that are taken by their index, come out wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.clear import ClearFunction
from ringsmith.heir.module import TensorPlan, Traced
from ringsmith.heir.tape import Kind, Step
from ringsmith.heir.text import HeirError

Arrays = Mapping[str, NDArray[Any]]

SEED = 20261
DRAWS = 3
"""How often random numbers are drawn."""
_ERROR = 1e-4
"""What fractions may differ by, relative to the largest number: HEIR folds constants in 32 bits."""
_ERROR_APPROXIMATED = 0.1
"""The same where HEIR replaces functions by polynomials."""
_LARGEST = 4
"""Integers are drawn up to it."""
_WRAPPED = 1 << 64
"""The input module is computed in words of 64 bits, the compiled one exactly."""


def compare(
    traced: Traced,
    function: Callable[[Arrays], Sequence[NDArray[Any]]],
    plain_modulus: int,
    *,
    approximated: bool = False,
    unsigned: bool = False,
) -> str:
    """Compares a compiled module with a function in the clear.

    Args:
        traced: The compiled module.
        function: Computes the results from all arguments by name.
        plain_modulus: t: integers that differ by multiples of it are the same.
        approximated: Whether polynomials stand for other functions.
        unsigned: Whether integers have no sign.

    Returns:
        What was compared.

    Raises:
        HeirError: When the results differ; names the first number that does.
    """
    random, largest = np.random.default_rng(SEED), 0.0
    for _ in range(DRAWS):
        given = {each.name: _drawn(random, each, unsigned=unsigned) for each in traced.inputs}
        with np.errstate(all="ignore"):
            expected = function({**given, **traced.clear})
        found = evaluated(traced, given)
        for each, right in zip(traced.outputs, expected, strict=True):
            wide = np.asarray(right).astype(object if each.whole and traced.whole else np.float64)
            if wide.dtype != object and not np.isfinite(wide).all():
                return f"not compared with its input: {each.name} is not finite on random numbers"
            wrong, error = _differences(found[each.name], wide, plain_modulus, approximated)
            if wrong.any():
                raise _wrong_numbers(traced, each, found[each.name], wide, wrong)
            largest = max(largest, error)
    words = f"{DRAWS} random inputs give what the input module gives in the clear"
    return words if traced.whole else f"{words}, within {largest:.1g}"


def compare_with_input(traced: Traced, function: ClearFunction, plain_modulus: int) -> str:
    """Compares a compiled module with its input module; see ``compare``."""
    names = [f"arg{i}" for i in range(len(function.kinds))]
    return compare(
        traced,
        lambda given: function.run([given[name] for name in names]),
        plain_modulus,
        approximated=function.approximated,
        unsigned=function.unsigned,
    )


def evaluated(traced: Traced, tensors: Arrays) -> dict[str, NDArray[Any]]:
    """Computes what a compiled module does, in the clear.

    Args:
        traced: The module.
        tensors: Its secret arguments by name.

    Returns:
        Its results by name: exact integers, or doubles.
    """
    dtype = object if traced.whole else np.float64
    rows: dict[int, NDArray[Any]] = {}
    for each in traced.inputs:
        flat = np.append(np.zeros(1, dtype), tensors[each.name].ravel().astype(dtype))
        rows |= dict(zip(each.steps, flat[each.table], strict=True))
    last = {operand: i for i, step in enumerate(traced.steps) for operand in step.operands}
    kept = {step for each in traced.outputs for step in each.steps}
    for i, step in enumerate(traced.steps):
        if step.kind is not Kind.INPUT:
            plain = None if step.plain is None else step.plain.astype(dtype)
            rows[i] = _applied(step, [rows[operand] for operand in step.operands], plain)
        for operand in step.operands:
            if last[operand] == i and operand not in kept:
                rows.pop(operand, None)
    return {each.name: _unpacked(each, rows, dtype) for each in traced.outputs}


def _applied(step: Step, operands: list[NDArray[Any]], plain: Any) -> NDArray[Any]:  # noqa: ANN401
    a, b = operands[0], operands[-1] if plain is None else plain
    match step.kind:
        case Kind.ADD | Kind.ADD_PLAIN:
            return np.asarray(a + b)
        case Kind.SUB | Kind.SUB_PLAIN:
            return np.asarray(a - b)
        case Kind.MULTIPLY | Kind.MULTIPLY_PLAIN:
            return np.asarray(a * b)
        case Kind.NEGATE:
            return np.asarray(-a)
        case Kind.ROTATE:
            return np.roll(a, -step.amount)
        case _:
            return a


def _unpacked(plan: TensorPlan, rows: Mapping[int, NDArray[Any]], dtype: type) -> NDArray[Any]:
    slots = np.concatenate([np.zeros(1, dtype), *(rows[step] for step in plan.steps)])
    return np.asarray(slots[plan.table].reshape(plan.shape))


def _drawn(random: np.random.Generator, plan: TensorPlan, *, unsigned: bool) -> NDArray[Any]:
    if not plan.whole:
        return random.uniform(-1, 1, plan.shape)
    high = 1 if plan.bits == 1 else _LARGEST
    low = 0 if unsigned or plan.bits == 1 else -_LARGEST
    return np.asarray(random.integers(low, high + 1, plan.shape))


def _differences(
    found: NDArray[Any], right: NDArray[Any], t: int, approximated: bool
) -> tuple[NDArray[np.bool_], float]:
    """Returns which numbers differ, and the largest difference."""
    difference = found - right
    if right.dtype == object and found.dtype == object:
        return np.asarray((difference % t != 0) & (difference % _WRAPPED != 0)), 0.0
    sizes = np.abs(difference.astype(np.float64))
    largest = max(1.0, float(np.abs(right.astype(np.float64)).max(initial=0)))
    allowed = (_ERROR_APPROXIMATED if approximated else _ERROR) * largest
    return np.asarray(~(sizes <= allowed)), float(sizes.max(initial=0))


def _wrong_numbers(
    traced: Traced,
    plan: TensorPlan,
    found: NDArray[Any],
    right: NDArray[Any],
    wrong: NDArray[np.bool_],
) -> HeirError:
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    position = f"[{', '.join(map(str, where))}]" if where else ""
    return HeirError(
        f"{traced.file}: HEIR has compiled it wrongly: on random numbers {plan.name}{position} is "
        f"{found[where]:.9g} as compiled and {right[where]:.9g} in the clear, and {wrong.sum()} of "
        f"{wrong.size} numbers differ: pad tensors with zeros to powers of two, or import it "
        "all the same with --no-check (Wish(check=False))"
    )
