"""The frames of the serial line, byte by byte (docs/guide/uart.md, rs_uart_bridge.sv)."""

import zlib
from dataclasses import dataclass
from enum import IntEnum

REQUEST_MARK, ANSWER_MARK = 0xA5, 0x5A
VERSION = 1
MAX_WORDS = 256
"""Words of a frame."""
WORD_BYTES = 8
"""Bytes of the widest word."""
_PAIR = 0x10
_CHECK_BYTES = 4
ANSWER_HEAD = 5
"""Bytes of an answer before its words."""
ANSWER_BYTES = ANSWER_HEAD + _CHECK_BYTES
"""Bytes of an answer without words."""


class Command(IntEnum):
    """What a frame asks for."""

    OPEN = 0
    WRITE = 1
    READ = 2


class Status(IntEnum):
    """What became of a frame."""

    DONE = 0
    BROKEN = 1
    SEQUENCE = 2
    BUS = 3
    WIDE = 4


@dataclass(frozen=True)
class Request:
    """A frame from the host, without its number.

    Attributes:
        command: What it asks for.
        address: Byte address of the register.
        size: Bytes of each word on the line.
        pair: Whether the register has 64 bits: two words of the bus, the lower one first.
        count: Words, 1 to 256.
        payload: The words of a frame that writes, each the lowest byte first.
    """

    command: Command
    address: int = 0
    size: int = 0
    pair: bool = False
    count: int = 1
    payload: bytes = b""

    def encode(self, number: int) -> bytes:
        """The bytes of the frame with its number, 0 to 255."""
        form = self.size | (_PAIR if self.pair else 0)
        head = bytes([REQUEST_MARK, number, self.command, form])
        frame = head + self.address.to_bytes(2, "little") + bytes([self.count - 1]) + self.payload
        return frame + _check_sum(frame)

    @property
    def answer_words_bytes(self) -> int:
        """Bytes of the words of its answer, where it is done."""
        return self.count * self.size if self.command is Command.READ else 0


@dataclass(frozen=True)
class Answer:
    """A frame from the bridge.

    Attributes:
        version: Of the format.
        number: That of the request, or where none was understood, the number that is awaited.
        status: What became of the request; a number that this version does not know, too.
        payload: The words that were read, each the lowest byte first.
    """

    version: int
    number: int
    status: int
    payload: bytes

    def encode(self) -> bytes:
        """The bytes of the frame."""
        head = bytes([ANSWER_MARK, self.number, self.version << 4 | self.status])
        frame = head + len(self.payload).to_bytes(2, "little") + self.payload
        return frame + _check_sum(frame)


def answer_bytes(begin: bytes) -> int:
    """How long an answer is, by its first bytes: what is known of it while it comes in."""
    if len(begin) < ANSWER_HEAD:
        return ANSWER_BYTES
    return ANSWER_BYTES + int.from_bytes(begin[3:ANSWER_HEAD], "little")


def decode(frame: bytes) -> Answer | None:
    """An answer of its bytes; None where they are not an answer, or the check sum is wrong."""
    if len(frame) < ANSWER_BYTES or frame[0] != ANSWER_MARK or len(frame) != answer_bytes(frame):
        return None
    content, check = frame[:-_CHECK_BYTES], frame[-_CHECK_BYTES:]
    if _check_sum(content) != check:
        return None
    return Answer(frame[2] >> 4, frame[1], frame[2] & 0xF, content[ANSWER_HEAD:])


def _check_sum(frame: bytes) -> bytes:
    return zlib.crc32(frame).to_bytes(_CHECK_BYTES, "little")
