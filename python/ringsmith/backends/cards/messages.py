"""Messages between a simulated card and its clients.

A client opens several connections, as it would open several files: a session, which has channels
as long as it is open, and then registers, each way to the memory, and the interrupts of a channel.
A request is a header and its payload; so is an answer. On a connection of interrupts the card sends
four bytes for each, and nothing is asked.
"""

import socket
import struct
from enum import IntEnum
from typing import NamedTuple

MAGIC = b"RSCARD"
VERSION = 1
TOKEN_BYTES = 16
MOST_PAYLOAD = 1 << 20
"""Bytes of a message's payload at most: nothing longer is read."""

_REQUEST = struct.Struct("<BxxxIQ")  # operation, bytes of the payload, address or another number
_ANSWER = struct.Struct("<II")  # status, bytes of the payload
OPENING = struct.Struct(f"<6sHBB{TOKEN_BYTES}s")  # magic, version, kind, channel, token
CLAIMED = struct.Struct("<iQQ")  # channel or -1, first byte, bytes
PAIR = struct.Struct("<II")  # address and value of a register


class Kind(IntEnum):
    """What a connection is."""

    SESSION = 0
    REGISTERS = 1
    TO_CARD = 2
    TO_HOST = 3
    EVENTS = 4


class Operation(IntEnum):
    """What is asked."""

    OPEN = 1
    CLAIM = 2  # the number: milliseconds that it may take
    RELEASE = 3  # the number: a channel
    SURPLUS = 4
    REPORT = 5
    READ_REGISTERS = 6  # payload: addresses, 32 bits each
    WRITE_REGISTERS = 7  # payload: pairs of address and value
    WRITE = 8  # the number: an address of the card's memory
    READ = 9  # payload: number of bytes, 32 bits


class Status(IntEnum):
    """How it ended. Other than ``DONE`` the payload is a text that says why."""

    DONE = 0
    REFUSED = 1  # the access was not done; the connection goes on
    BROKEN = 2  # the message was none: the connection ends


class Request(NamedTuple):
    """What a client asks."""

    operation: int
    number: int
    payload: bytes


class MessageError(Exception):
    """Something came that is no message."""


def send_request(
    line: socket.socket, operation: Operation, number: int = 0, payload: bytes | memoryview = b""
) -> None:
    """Sends a request."""
    _send(line, _REQUEST.pack(operation, len(payload), number), payload)


def send_answer(line: socket.socket, status: Status, payload: bytes | memoryview = b"") -> None:
    """Sends an answer."""
    _send(line, _ANSWER.pack(status, len(payload)), payload)


def receive_request(line: socket.socket) -> Request | None:
    """The next request; None: the connection has ended.

    Raises:
        MessageError: If it is not valid, or longer than a message may be.
    """
    header = _receive(line, _REQUEST.size)
    if header is None:
        return None
    operation, size, number = _REQUEST.unpack(header)
    _check_size(size)
    payload = _receive(line, size)
    return None if payload is None else Request(operation, number, payload)


def receive_answer(line: socket.socket) -> tuple[int, bytes] | None:
    """The next answer, status and payload; None: the connection has ended.

    Raises:
        MessageError: If it is longer than a message may be.
    """
    header = _receive(line, _ANSWER.size)
    if header is None:
        return None
    status, size = _ANSWER.unpack(header)
    _check_size(size)
    payload = _receive(line, size)
    return None if payload is None else (status, payload)


def _check_size(size: int) -> None:
    if size > MOST_PAYLOAD:
        raise MessageError(f"a message of {size} bytes, where {MOST_PAYLOAD} are the most")


def _send(line: socket.socket, header: bytes, payload: bytes | memoryview) -> None:
    if len(payload) < 4096:
        line.sendall(header + bytes(payload))
    else:
        line.sendall(header)
        line.sendall(payload)


def _receive(line: socket.socket, size: int) -> bytes | None:
    """So many bytes; None: the connection has ended before."""
    if size == 0:
        return b""
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        found = line.recv_into(view[done:])
        if not found:
            return None
        done += found
    return bytes(data)
