"""Arrays as inputs and outputs of a program: which ciphertexts carry them, and how."""

import math
from collections.abc import Mapping

import numpy as np

from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ndarray.layout import Layout
from ringsmith.program.ndarray.parts import NOTHING, Part
from ringsmith.program.ndarray.placing import Origin, Placed
from ringsmith.program.packing import Packing
from ringsmith.program.source import SourceLine

MAX_CIPHERTEXTS = 1 << 12
"""Ciphertexts of one input."""


def input_packing(
    name: str, shape: tuple[int, ...], layout: Layout, *, whole: bool, source: SourceLine
) -> Packing:
    """Returns how an input's array lies in ciphertexts.

    Args:
        name: The input's name, and that of its ciphertext, or their first part.
        shape: Its shape.
        layout: The layout.
        whole: Whether its numbers are integers.
        source: The user's line.

    Raises:
        ProgramError: When it would take too many ciphertexts.
    """
    used = np.flatnonzero(layout.entries.any(axis=1))
    if used.size > MAX_CIPHERTEXTS:
        raise source.error(
            f"input {name!r} of shape {shape} takes {used.size} ciphertexts, and {MAX_CIPHERTEXTS} "
            "are the most: split it"
        )
    names = (name,) if used.size == 1 else tuple(f"{name}_{i}" for i in range(used.size))
    table = layout.table.reshape(layout.ciphertexts, layout.slots)[used].reshape(-1)
    return Packing(shape, names, layout.slots, table, whole)


def input_parts(layout: Layout, ciphertexts: list[Part]) -> Placed:
    """Returns an input's array, of the ciphertexts that its packing names."""
    parts: list[Part] = [NOTHING] * layout.ciphertexts
    for number, part in zip(
        np.flatnonzero(layout.entries.any(axis=1)).tolist(), ciphertexts, strict=True
    ):
        parts[number] = part
    return Placed(parts, layout, Origin(layout))


def output_packing(
    name: str,
    array: EncryptedArray,
    taken: Mapping[str, object],
    *,
    whole: bool,
    source: SourceLine,
) -> tuple[dict[str, int], Packing]:
    """Returns the ciphertexts of an output, by the names of their ports, and how it lies in them.

    Args:
        name: The output's name.
        array: The result.
        taken: Names of ports that other outputs have.
        whole: Whether its numbers are integers.
        source: The user's line.

    Raises:
        ProgramError: When an entry does not depend on the inputs.
    """
    layout = array.content.layout
    addresses = layout.addresses.reshape(-1)
    if not whole:  # the last copy of each entry: a ciphertext's first slots are the least precise
        addresses = addresses + int(layout.copies[layout.copies < layout.slots].max())
    numbers = np.unique(addresses >> layout.slot_bits).tolist()
    encrypted = {}
    for number in numbers:
        part = array.content.parts[number]
        if not isinstance(part, np.ndarray):
            encrypted[number] = part.index
        elif part.any():
            raise source.error(
                f"output {name!r} has entries that are the same for all inputs: return the others"
            )
    if not encrypted:
        raise source.error(f"output {name!r} is zero for all inputs: leave it out")
    count = len(encrypted)
    names = [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    for each in names:
        if each in taken:
            raise source.error(f"two outputs are named {each!r}: name one otherwise")
    places = dict(zip(encrypted, range(count), strict=True))
    start = np.full(max(numbers) + 1, -1, np.int64)
    for number, place in places.items():
        start[number] = place * layout.slots
    first = start[addresses >> layout.slot_bits]
    table = np.where(first < 0, 0, first + addresses % layout.slots + 1)
    ports = dict(zip(names, encrypted.values(), strict=True))
    return ports, Packing(layout.shape, tuple(names), layout.slots, table, whole)


def vector_packing(name: str, length: int, slots: int, *, whole: bool, is_input: bool) -> Packing:
    """Returns how a vector lies in its first slots, as an array of one axis."""
    table = np.zeros(slots if is_input else length, np.int64)
    table[:length] = np.arange(1, length + 1)
    return Packing((length,), (name,), slots, table, whole)


def checked_shape(name: str, shape: tuple[object, ...], source: SourceLine) -> tuple[int, ...]:
    """Returns a declared shape.

    Raises:
        ProgramError: When it is none.
    """
    for each in shape:
        if isinstance(each, bool) or not isinstance(each, int | np.integer) or each < 1:
            raise source.error(
                f"input {name!r}: shape = {shape!r:.60}: lengths are whole numbers from 1"
            )
    found = tuple(int(each) for each in shape)  # type: ignore[call-overload]
    if math.prod(found) > 1 << 26:
        raise source.error(f"input {name!r}: shape = {found} has more than 2^26 entries: split it")
    return found
