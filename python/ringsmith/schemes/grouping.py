"""Digits of several primes: how keys become smaller and key switching faster.

A key has a pair of polynomials over all primes for each digit. Fewer digits of more primes take
more special primes, because the special primes' product must reach a digit's: that modulus has to
be left. Where it is, keys and transforms of key switching become fewer (Han, Ki 2020, section 3).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ringsmith.memory import in_words
from ringsmith.params import KeyShape
from ringsmith.params.digits import key_switching_transforms
from ringsmith.program.graph import Program

HINT = "allow more, rotate by fewer different steps, multiply less deeply, or split the program"
"""What to do about a budget of key bytes that is not kept."""
SMALL_KEYS = 1 << 28
"""Up to this many bytes of keys, digits are one prime each, as Microsoft SEAL and most designs
have them: keys, ciphertexts and the program then go to these, too."""

P = TypeVar("P", bound=Program)
"""A scheme's program."""


@dataclass(frozen=True)
class Grouping:
    """Digits of key switching, and what they cost.

    Attributes:
        digit_size: Data primes in a digit.
        digits: Digits of a key.
        special: Special primes.
        key_bytes: Bytes of all evaluation keys of the program.
        transforms: NTTs of one limb in all its key switchings.
    """

    digit_size: int
    digits: int
    special: int
    key_bytes: int
    transforms: int


def groupings(program: Program, sizes: Iterable[Sequence[int]], carried: int) -> list[Grouping]:
    """Returns the digits that the modulus carries, of one prime each first.

    Args:
        program: The program, planned with one prime a digit.
        sizes: For digits of 1, 2, … primes: the bits of all primes.
        carried: Bits of modulus that its ring carries.
    """
    limbs = program.parameters.limbs
    return [
        _grouping(program, size, len(bits) - limbs)
        for size, bits in enumerate(sizes, start=1)
        if size == 1 or (size in _sizes(limbs) and sum(bits) <= carried)
    ]


def with_digits(
    program: P,
    found: list[Grouping],
    budget: int | None,
    regrouped: Callable[[Grouping], P | None],
) -> tuple[P | None, str]:
    """Returns the program with the digits that suit its keys best, and what it says of them.

    Args:
        program: The program, planned with one prime a digit.
        found: The digits to choose from.
        budget: Most bytes of keys; None: any.
        regrouped: Plans for digits; None: they do not do.

    Returns:
        The program and the reason; or None, and what is in the way.
    """
    for each in preferred(found, budget):
        chosen = program if each.digit_size == 1 else regrouped(each)
        if chosen is not None:
            return chosen, _reason(each, found, program)
    least = min(each.key_bytes for each in found)
    return None, (
        f"its {program.key_needs.count} evaluation keys have {in_words(least)} at least, and "
        f"keys = {budget} allows {in_words(budget or 0)}"
    )


def preferred(found: list[Grouping], budget: int | None) -> list[Grouping]:
    """Returns those that keep the budget of key bytes, the best first.

    Small keys stay as they are. Of others, the product of bytes and transforms is to be small.
    """
    kept = [each for each in found if budget is None or each.key_bytes <= budget]
    if kept and kept[0].digit_size == 1 and kept[0].key_bytes <= SMALL_KEYS:
        return kept
    return sorted(kept, key=lambda each: each.key_bytes * each.transforms)


def _reason(chosen: Grouping, found: list[Grouping], program: Program) -> str:
    """Says what keys the choice makes, and why."""
    count = program.key_needs.count
    if not count:
        return "keys: none"
    text = f"{count} evaluation keys of {in_words(chosen.key_bytes)}"
    single = found[0]
    if chosen.digit_size == 1:
        return f"digits of one prime, as SEAL has them: {text}"
    share = chosen.transforms / single.transforms
    return (
        f"{chosen.digits} digits of up to {chosen.digit_size} primes and {chosen.special} special "
        f"primes: {text} in place of {in_words(single.key_bytes)}, and {share:.0%} of the NTTs of "
        "key switching"
    )


def _sizes(limbs: int) -> set[int]:
    """Returns sizes of digits: for each number of digits the smallest."""
    return {-(-limbs // digits) for digits in range(1, limbs + 1)}


def _grouping(program: Program, size: int, special: int) -> Grouping:
    parameters, nodes = program.parameters, program.nodes
    digits, needs = -(-parameters.limbs // size), program.key_needs
    shapes = [KeyShape.full(-(-limbs // size), limbs + special) for limbs in needs.limbs]
    switched = [nodes[node.operands[0]].limbs for node in nodes if node.op.record.key is not None]
    transforms = sum(
        key_switching_transforms(limbs, -(-limbs // size), special) for limbs in switched
    )
    key_bytes = sum(shape.bytes(parameters.n) for shape in shapes)
    return Grouping(size, digits, special, key_bytes, transforms)
