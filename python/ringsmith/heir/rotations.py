"""Fewer rotation keys: a rotation by a + b is one by a and one by b, which others need anyway.

Among the amounts that a program rotates by, those are kept that all others are sums of two of. No
amount is new, so a rotated value is often there already, and then nothing is added.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ringsmith.heir.tape import Kind, Step


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
