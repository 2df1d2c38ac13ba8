"""Steps without what only HEIR's own plan needs, and without masks that no result depends on.

- Relinearization, rescaling and dropped levels are planned anew, so their steps fall away, and a
  product with ones in every slot (HEIR's ``adjust_scale``) with them.
- A plain operand counts only in the slots that some result depends on. A mask that is one in all
  of these does nothing. What it would have cleared then holds other numbers, which only linear
  operations may see: a mask before a product of ciphertexts stays, since those numbers could grow.
- A rotation by a + b is one by a and one by b, where that needs fewer keys: among the amounts that
  a program rotates by, those are kept that all others are sums of two of. No amount is new, so a
  rotated value is often there already, and then nothing is added.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.module import TensorPlan
from ringsmith.heir.tape import Kind, Step

FORMS = frozenset({Kind.RELINEARIZE, Kind.RESCALE, Kind.LEVEL_REDUCE, Kind.MODULUS_SWITCH})
"""Steps that keep the message."""


def simplified(
    steps: Sequence[Step], outputs: Sequence[TensorPlan], slots: int
) -> tuple[list[Step], dict[int, int]]:
    """Returns the steps that results depend on.

    Args:
        steps: The traced steps, operands before users.
        outputs: The results.
        slots: Slots S of a vector.

    Returns:
        The steps, and the new position of each old one that is left or equal to one that is.
    """
    masks = _needed_masks(steps, outputs, slots)
    left: list[Step] = []
    moved: dict[int, int] = {}
    for i, step in enumerate(steps):
        if i not in masks:
            continue
        operands = tuple(moved[j] for j in step.operands)
        plain = step.plain
        if step.kind in FORMS:
            moved[i] = operands[0]
            continue
        if plain is not None:
            neutral = int(step.kind is Kind.MULTIPLY_PLAIN)
            seen = plain if plain.ndim == 0 or masks[i] is None else plain[masks[i]]
            if (seen == neutral).all():
                moved[i] = operands[0]
                continue
        left.append(replace(step, operands=operands))
        moved[i] = len(left) - 1
    return left, moved


def _needed_masks(
    steps: Sequence[Step], outputs: Sequence[TensorPlan], slots: int
) -> dict[int, NDArray[np.bool_] | None]:
    """For each step that results depend on, the slots in which its plain operand counts.

    None: all slots, or no plain operand. Steps that no result depends on are left out.
    """
    needed: dict[int, NDArray[np.bool_]] = {}
    multiplied: set[int] = set()
    masks: dict[int, NDArray[np.bool_] | None] = {}

    def need(i: int, where: NDArray[np.bool_]) -> None:
        needed[i] = where if i not in needed else needed[i] | where

    for output in outputs:
        positions = output.table[output.table > 0] - 1
        for k, position in enumerate(output.steps):
            where = np.zeros(slots, bool)
            where[positions[positions // slots == k] % slots] = True
            need(position, where)
    for i in range(len(steps) - 1, -1, -1):
        step = steps[i]
        if i not in needed:
            continue
        where = needed.pop(i)
        linear = i not in multiplied
        masks[i] = where if step.plain is not None and linear else None
        for operand in step.operands:
            if step.kind is Kind.MULTIPLY or not linear:
                multiplied.add(operand)
            if step.kind is Kind.ROTATE:
                need(operand, np.roll(where, step.amount))
            else:
                need(operand, where)
    return masks


def with_fewer_keys(steps: Sequence[Step], slots: int) -> tuple[list[Step], dict[int, int]]:
    """Returns the steps with composed rotations.

    Args:
        steps: The steps, operands before users.
        slots: Slots S of a vector; amounts count modulo S.

    Returns:
        The steps, and the new position of each old one.
    """
    parts = _parts(Counter(s.amount for s in steps if s.kind is Kind.ROTATE), slots)
    left: list[Step] = []
    moved: dict[int, int] = {}
    rotated: dict[tuple[int, int], int] = {}

    def rotate(operand: int, amount: int, step: Step) -> int:
        if (operand, amount) not in rotated:
            left.append(replace(step, operands=(operand,), amount=amount))
            rotated[operand, amount] = len(left) - 1
        return rotated[operand, amount]

    for i, step in enumerate(steps):
        operands = tuple(moved[j] for j in step.operands)
        if step.kind is not Kind.ROTATE:
            left.append(replace(step, operands=operands))
            moved[i] = len(left) - 1
            continue
        where = operands[0]
        for amount in parts[step.amount]:
            where = rotate(where, amount, step)
        moved[i] = where
    return left, moved


def _parts(uses: Counter[int], slots: int) -> dict[int, tuple[int, ...]]:
    """For each amount, the amounts that are kept and sum up to it: itself, or two."""
    kept = set(uses)
    dropped: set[int] = set()

    def sum_of_two(amount: int, among: set[int]) -> tuple[int, int] | None:
        first = max(
            (a for a in among if (amount - a) % slots in among), default=None, key=lambda a: uses[a]
        )
        return None if first is None else (first, (amount - first) % slots)

    for amount in sorted(uses, key=lambda a: (uses[a], -a)):
        rest = kept - {amount}
        if all(sum_of_two(each, rest) for each in (amount, *dropped)):
            kept = rest
            dropped.add(amount)
    found: dict[int, tuple[int, ...]] = {amount: (amount,) for amount in kept}
    for amount in dropped:
        both = sum_of_two(amount, kept)
        assert both is not None, "an amount is dropped only where two others make it"
        found[amount] = both
    return found
