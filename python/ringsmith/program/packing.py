"""Tensors in the slots of vectors: where each number goes, as a table.

An imported program takes and gives tensors. A tensor lies in one vector or several, its ports; a
vector of S slots fills a ciphertext by repetition.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError

MAX_NUMBERS = 1 << 26
"""Numbers of a tensor, and entries of a table."""


@dataclass(frozen=True, eq=False)
class Packing:
    """How a tensor lies in vectors of S slots.

    Attributes:
        shape: Shape of the tensor; () for a number.
        ports: Inputs or outputs that hold it.
        slots: S.
        table: Of an input: for each slot of each port in order, the position in the flat tensor
            from 1, and 0 for a zero. Of an output: for each number of the flat tensor, its
            position in the slots of all ports in order from 1, and 0 for a zero.
        whole: Whether its numbers are integers.
    """

    shape: tuple[int, ...]
    ports: tuple[str, ...]
    slots: int
    table: NDArray[Any]
    whole: bool

    @property
    def numbers(self) -> int:
        """Numbers of the tensor."""
        return math.prod(self.shape)

    def error(self, known: Mapping[str, object], slots: int, *, is_input: bool) -> str:
        """Returns what is wrong with a packing from a file, or nothing.

        Args:
            known: The program's ports by name.
            slots: Slots of a ciphertext's row.
            is_input: Whether it is an input's.
        """
        if any(size < 0 for size in self.shape) or not 1 <= self.numbers <= MAX_NUMBERS:
            return f"the shape {self.shape!r:.60} is illegal"
        if len(set(self.ports)) != len(self.ports) or not known.keys() >= set(self.ports):
            return f"the ports {self.ports!r:.80} are not the program's"
        if not 1 <= self.slots <= slots or slots % self.slots:
            return f"slots = {self.slots} does not divide {slots}"
        held = len(self.ports) * self.slots
        entries, largest = (held, self.numbers) if is_input else (self.numbers, held)
        table = self.table
        if table.dtype.kind not in "iu" or table.shape != (entries,):
            return f"the table {table.dtype} {table.shape} is not one of {entries} integers"
        if entries and not 0 <= int(table.min()) <= int(table.max()) <= largest:
            return f"the table leaves 0 … {largest}"
        return ""


def vectors(
    packings: Mapping[str, Packing], given: Mapping[str, ArrayLike], lengths: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """Returns the vectors of a program's inputs.

    Args:
        packings: Of each input tensor, by name.
        given: The tensors, by name.
        lengths: Numbers of each input vector, by name.

    Raises:
        ProgramError: When a tensor is missing, unknown, or of another shape.
    """
    if given.keys() != packings.keys():
        raise ProgramError(
            f"the program takes the tensors {sorted(packings)} and was given "
            f"{sorted(map(str, given))}: give an array for each"
        )
    found = {}
    for name, packing in packings.items():
        array = np.asarray(given[name])
        if isinstance(given[name], np.ma.MaskedArray):
            raise ProgramError(f"input {name!r} is a masked array: give array.filled(value)")
        if array.shape != packing.shape:
            raise ProgramError(
                f"input {name!r} has the shape {array.shape}, and the program takes "
                f"{packing.shape}: reshape it"
            )
        flat = np.concatenate([np.zeros(1, array.dtype), array.ravel()])
        rows = flat[packing.table].reshape(len(packing.ports), packing.slots)
        for port, row in zip(packing.ports, rows, strict=True):
            found[port] = np.tile(row, lengths[port] // packing.slots)
    return found


def tensors(
    packings: Mapping[str, Packing], found: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Returns the tensors that lie in a program's outputs.

    Args:
        packings: Of each output tensor, by name.
        found: Vectors by the output's name; all of a tensor, or none.

    Raises:
        ProgramError: When a tensor's vectors are not all there.
    """
    results = {}
    for name, packing in packings.items():
        there = [port for port in packing.ports if port in found]
        if not there:
            continue
        if len(there) < len(packing.ports):
            missing = sorted(set(packing.ports) - set(there))
            raise ProgramError(f"output {name!r} lacks its vectors {missing}: give all of a run")
        rows = [found[port][: packing.slots] for port in packing.ports]
        flat = np.concatenate([np.zeros(1, rows[0].dtype), *rows])
        values = flat[packing.table].reshape(packing.shape)
        if packing.whole and values.dtype.kind != "i":
            values = np.rint(values.real).astype(np.int64)
        results[name] = values
    return results
