"""A coprocessor's registers, and a device's data path, through a card's port."""

import time

from ringsmith.backends.cards.port import CardPort
from ringsmith.backends.rpau.device.interface import DataPath, Words

_PAUSE = 20e-6  # seconds between two looks at a device that runs


class PortBus:
    """A page of registers of a card; see ``RegisterBus`` in :mod:`..device.bus`.

    Args:
        port: The card; the bus does not close it.
        page: Address of the page's first register.
    """

    def __init__(self, port: CardPort, page: int) -> None:
        self._port, self._page = port, page

    @property
    def data(self) -> DataPath | None:
        """None: lists of the card's DMA move data."""
        return None

    def write(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        self._port.write_register(self._page + address, value)

    def read(self, address: int) -> int:
        """Reads a register of 32 bits."""
        return self._port.read_register(self._page + address)

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits."""
        self._port.write_words(self._page + address, words)

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times."""
        return self._port.read_words(self._page + address, count)

    def pause(self, cycles: int) -> None:
        """Lets cycles pass: those that go by while this thread sleeps."""
        time.sleep(_PAUSE)

    def close(self) -> None:
        """Does nothing: the port belongs to the card."""
