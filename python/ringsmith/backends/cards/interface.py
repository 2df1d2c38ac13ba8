"""The interface of an architecture's devices on boards and cards, and how a host names them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ringsmith.backends.cards.port import Claim
from ringsmith.backends.jobs import Device
from ringsmith.backends.types import Design

CARD = "card"
"""The kind of devices on a board, which the host reaches by a serial port."""

DEFAULT_BAUD = 1_000_000
"""Default rate of a serial port, in bits per second."""


@dataclass(frozen=True)
class SerialPort:
    """A serial port that a board is connected to.

    Attributes:
        path: Its device file, such as ``/dev/ttyUSB0``.
        baud: Its rate in bits per second, as in the board's bitstream.
    """

    path: str
    baud: int = DEFAULT_BAUD


@dataclass(frozen=True)
class CardFiles:
    """Cards in this computer, or simulated ones (``ringsmith card``).

    Attributes:
        paths: For each card, the Unix socket of a simulated card, or the prefix of its device
            files, such as ``/dev/xdma0``.
    """

    paths: tuple[str, ...]


def card_port(port: str, baud: int = DEFAULT_BAUD) -> SerialPort | CardFiles:
    """Parses a port: a serial line, or cards whose paths are separated by commas.

    A path of a Unix socket, or one with device files, is a card's.
    """
    paths = tuple(filter(None, port.split(",")))
    if len(paths) > 1 or any(_is_card(path) for path in paths):
        return CardFiles(paths)
    return SerialPort(port, baud)


def _is_card(path: str) -> bool:
    return Path(path).is_socket() or path.endswith(".sock") or Path(f"{path}_user").exists()


class SimulatedCard(Protocol):
    """What is behind the socket. Its methods may be called by several threads."""

    @property
    def name(self) -> str:
        """The design's."""
        ...

    @property
    def claims(self) -> Sequence[Claim]:
        """Its channels, each with its part of the card's memory."""
        ...

    def channel_of(self, address: int) -> int | None:
        """The channel that a register belongs to; None: it is the card's, and only read."""
        ...

    def read_registers(self, addresses: Sequence[int]) -> list[int]:
        """Reads registers of 32 bits. Raises DeviceError if one is not there."""
        ...

    def write_registers(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Writes registers of 32 bits. Raises DeviceError if one is not there."""
        ...

    def write_memory(self, address: int, data: bytes) -> None:
        """Writes the card's memory."""
        ...

    def read_memory(self, address: int, size: int) -> bytes:
        """Reads the card's memory."""
        ...

    def on_interrupt(self, call: Callable[[int], None]) -> None:
        """Has a function called with the number of each channel that raises its interrupt."""
        ...

    def allow(self, channel: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Says which of the card's memory a channel may reach: pairs of first and last + 1."""
        ...

    def vacate(self, channel: int) -> None:
        """Stops a channel and what runs there, and empties its memory."""
        ...

    def report(self) -> dict[str, object]:
        """What it counts."""
        ...

    def close(self) -> None:
        """Ends the simulation."""
        ...


class Cards(ABC):
    """An architecture's devices on boards and cards."""

    @abstractmethod
    def open(self, design: Design, port: SerialPort | CardFiles) -> Device:
        """Opens the device on a board or cards, and checks its design.

        Raises:
            DeviceError: If no device answers, or one of another design.
        """

    @abstractmethod
    def simulate(self, design: Design, kind: str, memory: int) -> SimulatedCard:
        """Makes a simulated card of a design, for ``ringsmith card``.

        Args:
            design: The design of its coprocessors.
            kind: Its implementation: ``model`` or ``rtl``.
            memory: Bytes of its memory.

        Raises:
            DeviceError: If a card has no such implementation.
            ParameterError: If the design has no DMA, or the memory cannot have this size.
        """
