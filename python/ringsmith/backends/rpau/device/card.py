"""A device on a board: its register block behind a serial line, by frames with a check sum."""

import time
import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np

from ringsmith.backends.rpau.design.register_table import Register
from ringsmith.backends.rpau.device.interface import DataPath, Words
from ringsmith.errors import DeviceError

_REGISTER_BYTES = 4
_BITS_OF_BYTE = 10  # with its start and stop bit
ATTEMPTS = 4
"""How often a frame is sent before the session ends."""

_PATIENCE = 1.0  # seconds for operating systems, adapters and board, added to the bytes' time
_QUIET = 0.06  # seconds without a byte after which the bridge awaits a frame: three times its own
_NOISE = 3.0  # seconds after which a line that is never quiet is used nevertheless


# ---- The frames of the serial line, byte by byte (docs/guide/uart.md, rs_uart_bridge.sv) ---------

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


# ---- the board -----------------------------------------------------------------------------------


class Line(Protocol):
    """Bytes to a board and back."""

    @property
    def name(self) -> str:
        """What people call it, with its rate."""
        ...

    @property
    def baud(self) -> int:
        """Its rate in bits a second."""
        ...

    def send(self, data: bytes) -> None:
        """Sends bytes.

        Raises:
            DeviceError: If the port is gone or takes nothing.
        """
        ...

    def receive(self, seconds: float) -> bytes:
        """Waits for bytes and returns those received; no bytes after a timeout in seconds.

        Raises:
            DeviceError: If the port is gone.
        """
        ...

    def close(self) -> None:
        """Ends the connection; more calls do nothing."""
        ...


class CardBus:
    """The registers of a board, over a serial line; see ``RegisterBus`` in :mod:`.bus`.

    A frame that is not answered, or answered by "broken", is sent again, with its number: the
    board does nothing twice. What cannot be done after some attempts ends the connection, and no
    method goes on where one was interrupted.
    """

    def __init__(self, line: Line, word_bytes: int = WORD_BYTES) -> None:
        """Opens a session with the board.

        Args:
            line: The line to it; closed with the bus, and where this fails.
            word_bytes: Bytes that words of ``host_data`` have on the line when they are read.

        Raises:
            DeviceError: If nothing answers, or something that is no such board.
        """
        self._line, self._word_bytes = line, word_bytes
        self._number = 0
        self._broken: str | None = None  # why the session ended
        self._in_doubt = False  # a frame was interrupted: it may have been done or not
        self._noise = 0  # bytes that were part of no answer
        try:
            self._open()
        except BaseException:
            line.close()
            raise

    @property
    def data(self) -> DataPath | None:
        """There is no data path on a serial line."""
        return None

    def close(self) -> None:
        """Closes the line."""
        self._line.close()

    def pause(self, cycles: int) -> None:
        """Does nothing: cycles pass while bytes cross the line."""

    def write(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        payload = value.to_bytes(_REGISTER_BYTES, "little")
        self._done(Request(Command.WRITE, address, _REGISTER_BYTES, payload=payload), 0, 1)

    def read(self, address: int) -> int:
        """Reads a register of 32 bits."""
        request = Request(Command.READ, address, _REGISTER_BYTES)
        return int.from_bytes(self._done(request, 0, 1), "little")

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits, with as few bytes each as the largest has."""
        for first in range(0, words.size, MAX_WORDS):
            part = np.ascontiguousarray(words[first : first + MAX_WORDS], dtype="<u8")
            size = max(1, -(-int(part.max()).bit_length() // 8))
            payload = part.view(np.uint8).reshape(-1, WORD_BYTES)[:, :size].tobytes()
            request = Request(Command.WRITE, address, size, True, part.size, payload)
            self._done(request, first, words.size)

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times."""
        size = self._word_bytes if address == Register.HOST_DATA else WORD_BYTES
        words = np.zeros((count, WORD_BYTES), dtype=np.uint8)
        for first in range(0, count, MAX_WORDS):
            part = min(MAX_WORDS, count - first)
            payload = self._done(Request(Command.READ, address, size, True, part), first, count)
            found = np.frombuffer(payload, dtype=np.uint8).reshape(part, size)
            words[first : first + part, :size] = found
        return words.view("<u8").reshape(-1).astype(np.uint64)

    def _done(self, request: Request, first: int, total: int) -> bytes:
        """Has a frame carried out, and returns the words of its answer."""
        if self._broken is not None:
            raise DeviceError(self._broken)
        if self._in_doubt:
            self._open()
        what = "write" if request.command is Command.WRITE else "read"
        action = f"the {what} of register {request.address:#05x}, {first} of {total} words done"
        answer = self._exchange(request, action)
        self._number = (self._number + 1) % 256
        match answer.status:
            case Status.DONE if len(answer.payload) == request.answer_words_bytes:
                return answer.payload
            case Status.BUS:
                raise DeviceError(
                    f"the bus answers a {what} of register {request.address:#05x} with an error: "
                    "docs/reference/registers.md has the registers"
                )
            case Status.WIDE:
                raise DeviceError(
                    f"register {request.address:#05x} holds a word wider than {request.size} "
                    "bytes: open the device as the design that it is"
                )
            case Status.SEQUENCE:
                why = "the board was reset, or another program has used it"
            case _:
                why = f"an answer of status {answer.status} with {len(answer.payload)} bytes"
        raise self._ended(f"{why} at {action}")

    def _exchange(self, request: Request, action: str) -> Answer:
        """Sends a frame until it is answered."""
        frame = request.encode(self._number)
        most = len(frame) + ANSWER_BYTES + request.answer_words_bytes
        seconds = most * _BITS_OF_BYTE / self._line.baud + _PATIENCE
        self._in_doubt = True
        for attempt in range(ATTEMPTS):
            if attempt:
                self._clear()
            self._line.send(frame)
            answer = self._answer(seconds)
            if answer is not None and answer.status != Status.BROKEN:
                self._in_doubt = False
                return answer
        raise self._ended(f"no answer after {ATTEMPTS} attempts at {action}")

    def _answer(self, seconds: float) -> Answer | None:
        """The answer to the frame that was sent; None if it is late or damaged."""
        deadline, held = time.monotonic() + seconds, b""
        while (left := deadline - time.monotonic()) > 0:
            found = self._line.receive(left)
            if not found:
                return None
            held += found
            while held:
                if held[0] != ANSWER_MARK:
                    self._noise += 1
                    held = held[1:]
                    continue
                length = answer_bytes(held)
                if len(held) < length:
                    break
                answer, held = decode(held[:length]), held[length:]
                if answer is None:
                    self._noise += length
                    return None
                if answer.status == Status.BROKEN or answer.number == self._number:
                    return answer
        return None

    def _open(self) -> None:
        """Begins a session: the board forgets the numbers of another one."""
        self._clear()
        answer = self._opened()
        if answer.version != VERSION:
            raise self._ended(
                f"the board speaks version {answer.version} of the frames and this Ringsmith "
                f"version {VERSION}: install the Ringsmith that its bitstream was made with"
            )
        self._number = (self._number + 1) % 256

    def _opened(self) -> Answer:
        self._noise = 0
        try:
            return self._exchange(Request(Command.OPEN), "opening")
        except DeviceError:
            name = self._line.name
            if self._broken is None:  # the line's own error
                raise
            if self._noise:
                self._broken = (
                    f"{name}: {self._noise} bytes came and no answer among them: give the rate "
                    "that the board's bitstream was made with, or the right port"
                )
            else:
                self._broken = (
                    f"nothing answers at {name}: give the board power, load its bitstream, and "
                    "check the cable and the port's name"
                )
            raise DeviceError(self._broken) from None

    def _clear(self) -> None:
        """Lets the line become quiet, so that the bridge awaits a frame, and forgets what came."""
        deadline = time.monotonic() + _NOISE
        while (found := self._line.receive(_QUIET)) and time.monotonic() < deadline:
            self._noise += len(found)

    def _ended(self, why: str) -> DeviceError:
        """Ends the session; returns the error that says so."""
        self._broken = (
            f"the session with the board on {self._line.name} has ended: {why}. What was in "
            "progress is not done: check cable and power, and open the device again"
        )
        return DeviceError(self._broken)
