"""Descriptors of the DMA, as they lie in the card's memory (docs/reference/dma.md)."""

import struct
from dataclasses import dataclass
from enum import IntEnum

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.device.interface import AddressSpace

DESCRIPTOR_BYTES = 32
RECORD_BYTES = 32
DATA_ALIGNMENT = 64
MOST_ROWS = 65_536

_LAYOUT = struct.Struct("<QIIQQ")
_RECORD = struct.Struct("<IIQQQ")
_TELL, _KEEP = 1 << 24, 1 << 25
_COUNT = (1 << 24) - 1
_NARROW_WORD_BITS = 32

WHOLE_ROWS = (AddressSpace.POLY, AddressSpace.KEY)
"""Address spaces whose rows are full of words; the others have one word per row."""


class Opcode(IntEnum):
    """What a descriptor does."""

    WRITE = 1
    STREAM = 2
    START = 3
    READ = 4


class Error(IntEnum):
    """Why a channel has stopped."""

    NONE = 0
    FETCH = 1
    FORMAT = 2
    ALIGN = 3
    READ = 4
    WRITE = 5
    RECORD = 6
    VALUE = 7
    UNOPENED = 8
    DEVICE = 9
    PLACE = 10


ERROR_TEXT = {
    Error.FETCH: "a descriptor could not be read from the card's memory",
    Error.FORMAT: "a descriptor has a form that the card does not know",
    Error.ALIGN: "an address is no multiple of what it has to be",
    Error.READ: "words could not be read from the card's memory",
    Error.WRITE: "words could not be written to the card's memory",
    Error.RECORD: "a completion record could not be written to the card's memory",
    Error.VALUE: "a word is wider than the coprocessor's",
    Error.UNOPENED: "the program had not opened the key polynomial",
    Error.DEVICE: "the coprocessor was reset",
    Error.PLACE: "the coprocessor has no such address, or does not support the ring",
}
"""What an error says to people."""


@dataclass(frozen=True)
class Descriptor:
    """A descriptor; fields as docs/reference/dma.md has them.

    Attributes:
        opcode: One of ``Opcode``; another number is refused by the card.
        data: Address of the words.
        address space, unit, index: The place in the coprocessor; of START the index is the number
            of keys.
        count: Words; of START log2 of the ring's degree, 0: the device's own.
        tell: Whether its completion is an interrupt.
        next: Address of the next one; 0 for the last one.
        record: Address of its completion record; 0: it has none.
    """

    opcode: int
    data: int = 0
    space: int = 0
    unit: int = 0
    index: int = 0
    count: int = 0
    tell: bool = False
    next: int = 0
    record: int = 0
    reserved: int = 0

    def to_bytes(self) -> bytes:
        """The descriptor as it lies in memory."""
        what = self.opcode | self.space << 4 | self.unit << 8 | self.index << 16
        keep = _KEEP if self.record else 0
        size = self.count | (_TELL if self.tell else 0) | keep | self.reserved << 26
        return _LAYOUT.pack(self.data, what, size, self.next, self.record)

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Descriptor":
        """Reads any descriptor from memory, also an invalid one."""
        data, what, size, following, record = _LAYOUT.unpack(raw)
        return cls(
            what & 15,
            data,
            what >> 4 & 15,
            what >> 8 & 255,
            what >> 16,
            size & _COUNT,
            bool(size & _TELL),
            following,
            record if size & _KEEP else 0,
            size >> 26,
        )

    def format_error(self, row_words: int) -> Error:
        """What is wrong with it by itself; ``Error.NONE``: nothing."""
        if self.opcode not in [*Opcode] or self.reserved:
            return Error.FORMAT
        if self.next % DESCRIPTOR_BYTES or self.record % RECORD_BYTES:
            return Error.ALIGN
        if self.opcode == Opcode.START:
            return Error.FORMAT if self.count >= 32 else Error.NONE
        if self.count == 0 or self.count % row_words or self.count > MOST_ROWS * row_words:
            return Error.FORMAT
        return Error.ALIGN if self.data % DATA_ALIGNMENT else Error.NONE


@dataclass(frozen=True)
class Record:
    """A completion record.

    Attributes:
        number: Of the descriptor in its list, from 1 on.
        error: One of ``Error``.
        cycles: The device's counter.
        address: Of the descriptor.
    """

    number: int
    error: int
    cycles: int
    address: int

    def to_bytes(self) -> bytes:
        """The record as it lies in memory."""
        return _RECORD.pack(self.number, self.error, self.cycles, self.address, 0)

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Record":
        """A record from memory."""
        return cls(*_RECORD.unpack(raw)[:4])


def word_bytes(design: RpauDesign) -> int:
    """Bytes of a word in the card's memory."""
    return 4 if design.word_bits <= _NARROW_WORD_BITS else 8


def row_words(design: RpauDesign) -> int:
    """Words of a row of the host port."""
    return host_words(design)
