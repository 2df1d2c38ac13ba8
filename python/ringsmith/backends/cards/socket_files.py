"""The files of a simulated card, which another process offers at a Unix socket."""

import contextlib
import json
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from ringsmith.backends.cards.files import EventFile, FilePort
from ringsmith.backends.cards.messages import (
    CLAIMED,
    MAGIC,
    MOST_PAYLOAD,
    OPENING,
    PAIR,
    TOKEN_BYTES,
    VERSION,
    Kind,
    MessageError,
    Operation,
    Status,
    receive_answer,
    send_request,
)
from ringsmith.backends.cards.port import Claim
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.forks import OneProcess

_NO_TOKEN = bytes(TOKEN_BYTES)
_OPENING_SECONDS = 5.0
_SLACK = 5.0  # seconds that a card may take in addition to the requested wait


@dataclass(frozen=True)
class SocketPort:
    """A simulated card: ``ringsmith card DESIGN --socket PATH``.

    Attributes:
        path: The Unix socket that it was given.
        patience: Seconds after which a card that does not answer counts as lost.
    """

    path: str
    patience: float = 60.0

    def open(self) -> FilePort:
        """Begins a session with the card.

        Raises:
            DeviceError: If no card answers there.
        """
        session = _Line(self, Kind.SESSION)
        opened = [session]
        try:
            for kind in (Kind.REGISTERS, Kind.TO_CARD, Kind.TO_HOST):
                opened.append(_Line(self, kind, token=session.token))
        except BaseException:
            for each in opened:
                each.close()
            raise
        _, user, to_card, to_host = opened

        def events(channel: int) -> EventFile:
            line = _Line(self, Kind.EVENTS, channel, session.token)
            return EventFile(line.socket.fileno(), self.path, line.close)

        return FilePort(
            self.path,
            self.patience,
            _Registers(user),
            _Memory(to_card),
            _Memory(to_host),
            events,
            _Session(session),
        )


class _Line:
    """A connection to the card: requests and their answers, in turn."""

    def __init__(
        self, port: SocketPort, kind: Kind, channel: int = 0, token: bytes = _NO_TOKEN
    ) -> None:
        self._port = port
        self._lock = Lock()
        self._process = OneProcess(f"the card at {port.path}")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(min(port.patience, _OPENING_SECONDS))
        try:
            self.socket.connect(port.path)
        except OSError as failure:
            self.socket.close()
            raise DeviceLostError(
                f"no card answers at {port.path} ({os.strerror(failure.errno or 0)}): start one "
                f"with ringsmith card DESIGN --socket {port.path}"
            ) from None
        opening = OPENING.pack(MAGIC, VERSION, kind, channel, token)
        self.token = self.ask(Operation.OPEN, payload=opening)
        self.socket.settimeout(None if kind is Kind.EVENTS else port.patience)

    def ask(
        self,
        operation: Operation,
        number: int = 0,
        payload: bytes | memoryview = b"",
        seconds: float | None = None,
    ) -> bytes:
        """Asks, and returns the payload of the answer."""
        self._process.check()
        with self._lock:
            try:
                if seconds is not None:
                    self.socket.settimeout(seconds)
                send_request(self.socket, operation, number, payload)
                answer = receive_answer(self.socket)
                if seconds is not None:
                    self.socket.settimeout(self._port.patience)
            except (OSError, MessageError) as failure:
                self.close()  # what comes later would be taken for another answer
                raise DeviceLostError(
                    f"the card at {self._port.path} does not answer ({failure}): its process may "
                    "have ended; start it again"
                ) from None
        if answer is None:
            raise DeviceLostError(f"the card at {self._port.path} is gone: its process has ended")
        status, found = answer
        if status != Status.DONE:
            raise DeviceError(f"the card at {self._port.path}: {found.decode(errors='replace')}")
        return found

    def close(self) -> None:
        """Ends the connection, even while another thread uses it; not that of a parent process."""
        if self._process.is_here:
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class _Session:
    """What keeps a client's channels."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def claim(self, seconds: float) -> Claim | None:
        """Waits for a free channel."""
        wait = int(seconds * 1000)
        found = self._line.ask(Operation.CLAIM, wait, seconds=seconds + _SLACK)
        channel, first, size = CLAIMED.unpack(found)
        return None if channel < 0 else Claim(channel, first, size)

    def release(self, channel: int) -> None:
        """Gives a channel back."""
        self._line.ask(Operation.RELEASE, channel)

    def surplus(self) -> bool:
        """Whether one should be given back."""
        return self._line.ask(Operation.SURPLUS) != b"\0"

    def report(self) -> dict[str, object]:
        """What the card counts."""
        found = json.loads(self._line.ask(Operation.REPORT))
        assert isinstance(found, dict)
        return found

    def close(self) -> None:
        """Ends the session."""
        self._line.close()


class _Registers:
    """Registers over a connection, many accesses in a message."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def read(self, addresses: Sequence[int]) -> list[int]:
        """Reads registers."""
        found: list[int] = []
        most = MOST_PAYLOAD // 4
        for first in range(0, len(addresses), most):
            part = addresses[first : first + most]
            layout = struct.Struct(f"<{len(part)}I")
            answer = self._line.ask(Operation.READ_REGISTERS, payload=layout.pack(*part))
            found += layout.unpack(answer)
        return found

    def write(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Writes registers."""
        most = MOST_PAYLOAD // PAIR.size
        for first in range(0, len(pairs), most):
            payload = b"".join(PAIR.pack(*pair) for pair in pairs[first : first + most])
            self._line.ask(Operation.WRITE_REGISTERS, payload=payload)

    def close(self) -> None:
        """Ends the connection."""
        self._line.close()


class _Memory:
    """One way to the card's memory over a connection."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def pread(self, size: int, address: int) -> bytes:
        """Reads bytes."""
        return self._line.ask(Operation.READ, address, size.to_bytes(4, "little"))

    def pwrite(self, data: bytes | memoryview, address: int) -> int:
        """Writes bytes."""
        self._line.ask(Operation.WRITE, address, data)
        return len(data)

    def close(self) -> None:
        """Ends the connection."""
        self._line.close()
