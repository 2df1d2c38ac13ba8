"""Handles: ciphertexts and keys that lie on a device, from one run to the next.

A handle of a ciphertext has its polynomials as residents of the device's memory. Their memory is
free again when nothing refers to them: neither a handle nor a run.
"""

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

import numpy as np

from ringsmith.errors import DeviceError, ProgramError
from ringsmith.objects import Ciphertext, Contents, History, OfKeyPair, Residues, check_opaque
from ringsmith.short_repr import short_repr


@dataclass(frozen=True)
class Traffic:
    """Bytes of ciphertexts' residues that crossed between host and device.

    Attributes:
        to_device: From the host, by ``put`` and as inputs of runs.
        to_host: From the device, by ``read`` and as outputs of runs.
    """

    to_device: int = 0
    to_host: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.to_device + other.to_device, self.to_host + other.to_host)

    def __sub__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.to_device - other.to_device, self.to_host - other.to_host)


class Resident(ABC):
    """A polynomial's residues on a device. Its memory is free when nothing refers to it.

    Attributes:
        device: The device, which compares by identity.
        label: Its name in messages.
        shape: Limbs and N.
        below: For each limb, what every residue is below: of an output the limb's prime.
    """

    def __init__(
        self, device: object, label: str, shape: tuple[int, int], below: Sequence[int]
    ) -> None:
        self.device, self.label, self.shape, self.below = device, label, shape, tuple(below)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the device's memory."""

    @abstractmethod
    def read(self) -> Residues:
        """Returns the residues (limbs, N) on the host.

        Raises:
            DeviceError: If the device is closed or lost.
        """


class HostResident(Resident):
    """Residues in the memory of this process: of the CPU, or of a simulated device.

    Attributes:
        words: The residues (limbs, N).
    """

    def __init__(
        self,
        device: object,
        label: str,
        words: Residues,
        below: Sequence[int],
        word_bytes: int = 8,
        crossed: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Makes a resident; ``crossed`` is called with the bytes that a read brings to the host."""
        super().__init__(device, label, (words.shape[0], words.shape[1]), below)
        self.words, self._word_bytes, self._crossed = words, word_bytes, crossed

    @property
    def nbytes(self) -> int:
        """Bytes of its words."""
        return self.words.size * self._word_bytes

    def read(self) -> Residues:
        """Returns the words; see ``Resident.read``."""
        self._crossed(self.nbytes)
        return self.words


class DeviceMemory:
    """How much of a device's memory is held, and by what.

    Args:
        device: The device's name in messages.
        size: Its bytes.
    """

    def __init__(self, device: str, size: int) -> None:
        self._device, self.size = device, size
        self._held: dict[int, tuple[str, int]] = {}
        self._numbers = 0
        self._lock = RLock()

    @property
    def used(self) -> int:
        """Bytes that are held."""
        with self._lock:
            return sum(size for _, size in [*self._held.values()])

    def take(self, owner: object, label: str, size: int) -> None:
        """Holds bytes as long as an object is there.

        Raises:
            DeviceError: If they do not fit; says what holds how much.
        """
        with self._lock:
            self.check_fits(label, size)
            self._numbers += 1
            self._held[self._numbers] = (label, size)
            weakref.finalize(owner, self._held.pop, self._numbers, None).atexit = False

    def check_fits(self, what: str, size: int) -> None:
        """Refuses what does not fit with what is held; arguments and errors as ``take``."""
        with self._lock:
            if size > self.size - self.used:
                raise full(self._device, self.size, what, size, [*self._held.values()])


def full(
    device: str, size: int, what: str, wanted: int, held: Sequence[tuple[str, int]]
) -> DeviceError:
    """Returns the error of a full device.

    Args:
        device: Its name in messages.
        size: Bytes of its memory.
        what: What does not fit.
        wanted: How many bytes that takes.
        held: What lies there: names and bytes.
    """
    largest = sorted(held, key=lambda each: -each[1])
    named = ", ".join(f"{label} {count:,}" for label, count in largest[:_NAMED])
    more = len(held) - _NAMED
    listed = f"{named} and {more} more" if more > 0 else named
    free = size - sum(count for _, count in held)
    left = f"{free:,} of {size:,} are left" + (", but in parts" if free >= wanted else "")
    return DeviceError(
        f"{device}: {what} takes {wanted:,} bytes, and {left} (it holds {listed or 'nothing'}): "
        "free handles that you do not need (handle.free()), or read them to the host"
    )


_NAMED = 8
"""Holders that an error names."""


class _OnDevice(ABC):
    """What stays on a device until it is freed, at the end of a ``with`` block at the latest."""

    @abstractmethod
    def free(self) -> None:
        """Frees its memory."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.free()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a handle is of a device of this process: pickle handle.read(), or the keys"
        )


@short_repr
@dataclass(frozen=True, eq=False)
class Handle(_OnDevice, OfKeyPair):
    """A ciphertext on a device: an input of runs there, until it is freed.

    ``device.put`` makes one of a ciphertext, and a run with ``keep`` of its outputs. Its memory is
    free when nothing refers to the handle, after ``free``, or at the end of a ``with`` block.

    Attributes:
        device: The device.
        size: Number of polynomials.
        limbs: Number of data primes.
        scale: The scale, as a ciphertext's.
        history: What is known of its error, as a ciphertext's.
        output: The name of the output that it is; empty: it was put.
        contents: What its slots hold, as a ciphertext's.
    """

    device: object
    size: int
    limbs: int
    scale: float = 1.0
    history: History | None = None
    output: str = ""
    contents: Contents | None = None
    _residents: list[Resident] = field(default_factory=list, repr=False)

    @property
    def freed(self) -> bool:
        """Whether it was freed."""
        return not self._residents

    @property
    def nbytes(self) -> int:
        """Bytes of the device's memory that it holds; 0 when it was freed."""
        return sum(each.nbytes for each in self._residents)

    def residents(self, device: object, what: str = "the handle") -> list[Resident]:
        """Returns its polynomials, for a run on a device.

        Args:
            device: Where the run is.
            what: Names the handle in errors.

        Raises:
            DeviceError: If it is of another device, or was freed.
        """
        if self.device is not device:
            raise DeviceError(
                f"{what} is a handle of another device ({_name(self.device)}) than this "
                f"{_name(device)}: run on that device, or give handle.read()"
            )
        if self.freed:
            raise DeviceError(
                f"{what} was freed: put the ciphertext again, or run the program that made it"
            )
        return [*self._residents]

    def read(self) -> Ciphertext:
        """Returns the ciphertext on the host; the handle stays as it is.

        Raises:
            DeviceError: If it was freed, or its device is closed or lost.
            ProgramError: If it is a run's output, and transparent.
        """
        data = np.stack([each.read() for each in self.residents(self.device)])
        if self.output:
            check_opaque(data, f"output {self.output!r}")
        return Ciphertext(
            data,
            self.scale,
            parameters_id=self.parameters_id,
            key_tag=self.key_tag,
            history=self.history,
            contents=self.contents,
        )

    def free(self) -> None:
        """Frees its memory, when the last run that uses it has ended; more calls do nothing."""
        self._residents.clear()


def kept_names(keep: bool | Collection[str], outputs: Iterable[str]) -> tuple[str, ...]:
    """Returns the outputs that a run leaves where it is: all, none, or those of these names.

    Raises:
        TypeError: If one name is given where a list belongs.
        ProgramError: If there is no such output.
    """
    every = tuple(outputs)
    if isinstance(keep, str):
        raise TypeError(f"keep = {keep!r:.60}: give a list of names, or True for all outputs")
    names = tuple((every if keep else ()) if isinstance(keep, bool) else keep)
    for name in names:
        if name not in every:
            raise ProgramError(
                f"keep: the program has the outputs {sorted(every)}, not {name!r:.60}"
            )
    return names


class KeySet(Protocol):
    """Evaluation keys in any form."""

    @property
    def relin(self) -> Any: ...  # noqa: ANN401, D102
    @property
    def galois(self) -> Mapping[int, Any]: ...  # noqa: D102
    @property
    def to_sparse(self) -> Any: ...  # noqa: ANN401, D102
    @property
    def from_sparse(self) -> Any: ...  # noqa: ANN401, D102
    @property
    def parameters_id(self) -> bytes | None: ...  # noqa: D102
    @property
    def key_tag(self) -> bytes | None: ...  # noqa: D102
    @property
    def nbytes(self) -> int: ...  # noqa: D102


@short_repr
@dataclass(frozen=True, eq=False)
class KeysHandle(_OnDevice):
    """Evaluation keys that stay on a device: the keys of runs there, until the handle is freed.

    Attributes:
        device: The device.
        keys: The keys, which the host keeps too.
    """

    device: object
    keys: KeySet
    _held: list[object] = field(default_factory=list, repr=False)

    @property
    def freed(self) -> bool:
        """Whether it was freed."""
        return not self._held

    def of(self, device: object) -> KeySet:
        """Returns the keys, for a run on a device.

        Raises:
            DeviceError: If the handle is of another device, or was freed.
        """
        if self.device is not device:
            raise DeviceError(
                f"the evaluation keys are a handle of another device ({_name(self.device)}) than "
                f"this {_name(device)}: put the keys there, or give them without a handle"
            )
        if self.freed:
            raise DeviceError("the handle of the evaluation keys was freed: put the keys again")
        return self.keys

    def free(self) -> None:
        """Frees their memory; more calls do nothing."""
        self._held.clear()


def limits_of(words: Residues) -> list[int]:
    """Returns, for each limb (of the last axis but one), what all residues are below."""
    return [int(largest) + 1 for largest in words.max(axis=-1)]


def _name(device: object) -> str:
    return str(getattr(device, "name", type(device).__name__))
