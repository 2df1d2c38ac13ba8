"""Inputs and outputs as clients see them, and tensors in their slots: where each number goes.

An imported program takes and gives tensors. A tensor lies in one vector or several, its ports; a
vector of S slots fills a ciphertext by repetition.
"""

import hashlib
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError
from ringsmith.objects import Contents

MAX_NUMBERS = 1 << 26
"""Numbers of a tensor, and entries of a table."""


@dataclass(frozen=True)
class Port:
    """An encrypted input or output.

    Attributes:
        limbs: Data primes of the ciphertext.
        scale: Scale of the ciphertext; 1 in BFV.
        length: Numbers that it holds, in its first slots.
        low: The least number that an input may hold; None: any that the scheme takes.
        high: The greatest one.
        complex_numbers: Whether its numbers may be complex.
        noise: Of a CKKS output: what decryptions that are shared are flooded by, as the standard
            deviation of the noise by the forecast for all inputs in their ranges: root mean square
            over all slots, in units of the numbers, rounded up to a power of two. None: unknown.
        budget: Of a BFV output: bits of noise budget that it has left by the forecast.
    """

    limbs: int
    scale: float
    length: int
    low: float | None = None
    high: float | None = None
    complex_numbers: bool = False
    noise: float | None = None
    budget: int | None = None

    def check_numbers(self, name: str, array: NDArray[Any]) -> None:
        """Refuses numbers of an input outside its range.

        Raises:
            ProgramError: Names the input and the first such number.
        """
        if array.dtype.kind == "c" and not self.complex_numbers and array.imag.any():
            position = int(np.argmax(array.imag != 0))
            raise ProgramError(
                f"input {name!r}: number {position} is {array[position]:.6g}, and the program was "
                "planned for real numbers: declare InputSpec(complex_numbers=True) when tracing"
            )
        if self.low is None or self.high is None:
            return
        slack = 0.0 if array.dtype.kind in "iu" else 1e-9 * max(abs(self.low), abs(self.high))
        if array.size < self.length and not self.low - slack <= 0 <= self.high + slack:
            raise ProgramError(
                f"input {name!r} holds {self.length} numbers and was given {array.size}, and the "
                f"zeros that follow are outside its range {self.low:g} … {self.high:g}: give all "
                "numbers"
            )
        if array.dtype.kind == "c":
            outside = np.abs(array) > max(abs(self.low), abs(self.high)) + slack
        else:
            outside = (array < self.low - slack) | (array > self.high + slack)
        if outside.any():
            position = int(np.argmax(outside))
            raise ProgramError(
                f"input {name!r}: number {position} is {array[position]:.6g}, outside its range "
                f"{self.low:g} … {self.high:g}: declare the range when tracing, "
                f"InputSpec(bound={float(np.abs(array).max()):.6g}), or scale the numbers down"
            )


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

    @property
    def words(self) -> str:
        """The shape, and how full the slots are, for people."""
        count = len(self.ports)
        share = self.numbers / (count * self.slots)
        ciphertexts = "1 ciphertext" if count == 1 else f"{count} ciphertexts"
        return f"shape {self.shape} in {ciphertexts}, {share:.2%} of their slots"

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Of an input: which of the S slots of each port hold numbers, shape (ports, S)."""
        return (self.table > 0).reshape(len(self.ports), self.slots)

    def without(self, ports: Collection[str]) -> "Packing":
        """Returns an input's packing without ports: what they would hold is not needed."""
        kept = [i for i, port in enumerate(self.ports) if port not in ports]
        if len(kept) == len(self.ports):
            return self
        table = self.table.reshape(len(self.ports), self.slots)[kept].reshape(-1)
        return replace(self, ports=tuple(self.ports[i] for i in kept), table=table)

    def error(self, known: Mapping[str, object], slots: int, *, is_input: bool) -> str:
        """Returns what is wrong with a packing from a file, or nothing.

        Args:
            known: The program's ports by name.
            slots: Slots of a ciphertext.
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


def of_entries(shape: tuple[int, ...], slots: NDArray[Any]) -> Contents:
    """Returns what a ciphertext holds of an array.

    Args:
        shape: The array's.
        slots: For each slot the position of its entry in the flat array from 1, or 0.
    """
    places = np.ascontiguousarray(slots, "<i8").tobytes() + repr(shape).encode()
    return Contents(math.prod(shape), hashlib.blake2b(places, digest_size=6).hexdigest())


def checked_tensors(
    packings: Mapping[str, Packing],
    given: Mapping[str, ArrayLike],
    ports: Mapping[str, Port],
    numbers: Callable[[str, ArrayLike], NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """Returns the tensors of a program's inputs, by name.

    Args:
        packings: Of each input tensor, by name.
        given: The tensors, by name.
        ports: The inputs, by name.
        numbers: Returns the array of an input's name and what was given, or refuses it.

    Raises:
        ProgramError: When a tensor is missing, unknown, of another shape, or has numbers outside
            its range.
    """
    if given.keys() != packings.keys():
        raise ProgramError(
            f"the program takes the arrays {sorted(packings)} and was given "
            f"{sorted(map(str, given))}: give an array for each"
        )
    found = {}
    for name, packing in packings.items():
        array = numbers(name, given[name])
        if array.shape != packing.shape:
            raise ProgramError(
                f"input {name!r} has the shape {array.shape}, and the program takes "
                f"{packing.shape}: reshape it"
            )
        port = replace(ports[packing.ports[0]], length=array.size)
        port.check_numbers(name, array.reshape(-1))
        found[name] = array
    return found


def laid_out(
    packings: Mapping[str, Packing], given: Mapping[str, object], lengths: Mapping[str, int]
) -> dict[str, Any]:
    """Returns numbers for each input of a program of what was given for its tensors, or the ports.

    Args:
        packings: Of each input tensor, by name.
        given: For a tensor by its name one number, or an array of its shape, perhaps of several
            such; they are laid out in the ports. Else for the ports by their names: as it is.
        lengths: Numbers of each input vector, by name.

    Raises:
        ProgramError: When an array has another shape.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        packing = packings.get(name)
        if packing is None or not isinstance(value, int | float | np.ndarray | list | tuple):
            found |= dict.fromkeys((name,) if packing is None else packing.ports, value)
            continue
        array = np.asarray(value)
        if not array.ndim:
            found |= dict.fromkeys(packing.ports, value)
            continue
        rank = len(packing.shape)
        if array.shape[array.ndim - rank :] != packing.shape or array.ndim > rank + 1:
            raise ProgramError(
                f"{name!r} was given an array of shape {array.shape}, and the program takes "
                f"{packing.shape}: give one number, an array of this shape, or several in one"
            )
        rows = [
            vectors({name: packing}, {name: each}, lengths)
            for each in array.reshape(-1, *packing.shape)
        ]
        for port, where in zip(packing.ports, packing.filled, strict=True):
            last = lengths[port] - int(where[::-1].argmax())  # zeros after it are left out
            each = np.stack([row[port][:last] for row in rows])
            found[port] = each if array.ndim > rank else each[0]
    return found


def vectors(
    packings: Mapping[str, Packing], given: Mapping[str, NDArray[Any]], lengths: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """Returns the vectors of a program's inputs, of tensors that were checked.

    Args:
        packings: Of each input tensor, by name.
        given: The tensors, by name.
        lengths: Numbers of each input vector, by name.

    """
    found = {}
    for name, packing in packings.items():
        array = given[name]
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
