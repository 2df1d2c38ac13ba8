"""A simulated card behind a Unix socket: sessions, claims, and limits on what clients may do.

Each connection has a thread. A session ends with its connection, however its process ended: its
channels are then stopped, their memory is emptied, and they are free for others.
"""

import contextlib
import errno
import json
import secrets
import socket
import stat
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread

from ringsmith.backends.cards.interface import SimulatedCard
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
    Request,
    Status,
    receive_request,
    send_answer,
)
from ringsmith.backends.cards.port import Claim, within
from ringsmith.errors import DeviceError

MOST_CONNECTIONS = 256
"""Connections of all clients together."""

_OPENING_SECONDS = 5.0  # in which a new connection says what it is
_STALE = 2.0  # seconds after which a claim that is not renewed leaves the queue
_BACKLOG = 64


@dataclass(eq=False)
class _Session:
    """A client.

    Attributes:
        token: What its other connections show.
        held: Its channels.
        lines: Its connections.
        events: Connections that take interrupts, by channel.
        asked: When it last asked for a channel that it has not got.
    """

    token: bytes
    held: dict[int, Claim] = field(default_factory=dict)
    lines: list[socket.socket] = field(default_factory=list)
    events: dict[int, socket.socket] = field(default_factory=dict)
    asked: float = 0.0


class CardServer:
    """Offers a simulated card at a socket.

    Args:
        card: The card; closed with the server.
        path: The socket. One that a server has left is replaced.

    Raises:
        DeviceError: If a card answers at the path already, another file is there, or no socket can
            be made there.
    """

    def __init__(self, card: SimulatedCard, path: Path) -> None:
        self._card, self._path = card, path
        self._change = Condition()
        self._sessions: dict[bytes, _Session] = {}
        self._waiting: list[_Session] = []
        self._free = {claim.channel: claim for claim in card.claims}
        self._count = len(self._free)
        self._open = 0
        self._closed = False
        self._listening = _listening(path)
        card.on_interrupt(self._interrupt)

    def serve(self) -> None:
        """Takes connections until the server is closed."""
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError as failure:
                if self._closed:
                    return
                if failure.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    time.sleep(0.05)
                continue
            with self._change:
                full = self._open >= MOST_CONNECTIONS
                self._open += not full
            if full:
                line.close()
                continue
            Thread(target=self._talk, args=(line,), daemon=True).start()

    def close(self) -> None:
        """Ends all connections and the card."""
        self._closed = True
        with self._change:
            lines = [line for each in self._sessions.values() for line in each.lines]
        for line in (self._listening, *lines):
            _hang_up(line)
        self._card.close()
        with contextlib.suppress(OSError):
            self._path.unlink()

    # ---- one connection ------------------------------------------------------------------------

    def _talk(self, line: socket.socket) -> None:
        try:
            line.settimeout(_OPENING_SECONDS)
            first = receive_request(line)
            if first is not None:
                self._open_line(line, first)
        except MessageError as failure:
            with contextlib.suppress(OSError):
                send_answer(line, Status.BROKEN, str(failure).encode())
        except OSError:
            pass  # the client is gone
        finally:
            _hang_up(line)
            with self._change:
                self._open -= 1

    def _open_line(self, line: socket.socket, first: Request) -> None:
        if first.operation != Operation.OPEN or len(first.payload) != OPENING.size:
            raise MessageError("a connection begins with its opening")
        magic, version, kind, channel, token = OPENING.unpack(first.payload)
        if magic != MAGIC or version != VERSION:
            raise MessageError(
                f"the card speaks version {VERSION} of its messages: install the same Ringsmith "
                "for the client and the card"
            )
        if kind == Kind.SESSION:
            with self._session(line) as session:
                self._answer_all(line, session, kind)
            return
        with self._change:
            found = self._sessions.get(token)
            if found is None or (kind == Kind.EVENTS and channel not in found.held):
                raise MessageError("the connection belongs to no session, or not to its channel")
            found.lines.append(line)
            if kind == Kind.EVENTS:
                found.events[channel] = line
        try:
            self._answer_all(line, found, kind)
        finally:
            with self._change:
                if line in found.lines:
                    found.lines.remove(line)
                if found.events.get(channel) is line:
                    del found.events[channel]

    @contextlib.contextmanager
    def _session(self, line: socket.socket) -> Iterator[_Session]:
        session = _Session(secrets.token_bytes(TOKEN_BYTES), lines=[line])
        with self._change:
            self._sessions[session.token] = session
        try:
            yield session
        finally:
            with self._change:
                del self._sessions[session.token]
                lines = [*session.lines]
                if session in self._waiting:
                    self._waiting.remove(session)
            for each in lines:
                _hang_up(each)
            for channel in [*session.held]:
                self._free_channel(session, channel)

    def _answer_all(self, line: socket.socket, session: _Session, kind: int) -> None:
        """Answers requests until the connection ends."""
        send_answer(line, Status.DONE, session.token)
        line.settimeout(None)
        while (request := receive_request(line)) is not None:
            try:
                payload = self._answer(session, kind, request)
            except DeviceError as failure:
                send_answer(line, Status.REFUSED, str(failure).encode())
            else:
                send_answer(line, Status.DONE, payload)

    def _answer(self, session: _Session, kind: int, request: Request) -> bytes:
        operation, number, payload = request
        match kind, operation:
            case Kind.SESSION, Operation.CLAIM:
                return self._claim(session, min(number, 1000) / 1000)
            case Kind.SESSION, Operation.RELEASE:
                if number not in session.held:
                    raise DeviceError(f"channel {number} is not this session's")
                self._free_channel(session, number)
                return b""
            case Kind.SESSION, Operation.SURPLUS:
                return b"\1" if self._surplus(session) else b"\0"
            case Kind.SESSION, Operation.REPORT:
                return json.dumps(self._card.report()).encode()[:MOST_PAYLOAD]
            case Kind.REGISTERS, Operation.READ_REGISTERS:
                addresses = _numbers(payload)
                self._check_registers(session, addresses, written=False)
                return _packed(self._card.read_registers(addresses))
            case Kind.REGISTERS, Operation.WRITE_REGISTERS:
                pairs = _pairs(payload)
                self._check_registers(session, [a for a, _ in pairs], written=True)
                self._card.write_registers(pairs)
                return b""
            case Kind.TO_CARD, Operation.WRITE:
                self._check_memory(session, number, len(payload))
                self._card.write_memory(number, payload)
                return b""
            case Kind.TO_HOST, Operation.READ if len(payload) == 4:
                size = int.from_bytes(payload, "little")
                if size > MOST_PAYLOAD:
                    raise DeviceError(f"{size} bytes at once: {MOST_PAYLOAD} are the most")
                self._check_memory(session, number, size)
                return self._card.read_memory(number, size)
            case _:
                raise MessageError(f"this connection does not take operation {operation}")

    # ---- what a session may do -----------------------------------------------------------------

    def _check_registers(
        self, session: _Session, addresses: Sequence[int], *, written: bool
    ) -> None:
        for address in addresses:
            channel = self._card.channel_of(address)
            if channel is None and not written:
                continue
            if channel not in session.held:
                raise DeviceError(
                    f"register {address:#x} belongs to a channel that this session has not claimed"
                )

    def _check_memory(self, session: _Session, address: int, size: int) -> None:
        """Bytes that lie in memory of the session's, one claim or several adjacent ones."""
        if not within(_ranges(session), address, size):
            raise DeviceError(
                f"{size} bytes at {address:#x} are not in the memory that this session has claimed"
            )

    def _claim(self, session: _Session, seconds: float) -> bytes:
        """A channel for a session, when it is its turn: those with the fewest channels first."""
        deadline = time.monotonic() + seconds
        with self._change:
            session.asked = time.monotonic()
            if session not in self._waiting:
                self._waiting.append(session)
            while not (self._free and self._next() is session):
                session.asked = now = time.monotonic()
                if now >= deadline or self._closed:
                    return CLAIMED.pack(-1, 0, 0)
                self._change.wait(min(deadline - now, 0.1))
            self._waiting.remove(session)
            claim = self._free.pop(min(self._free))
            session.held[claim.channel] = claim
            self._change.notify_all()
            self._allow(session)
        return CLAIMED.pack(claim.channel, claim.first, claim.size)

    def _next(self) -> _Session | None:
        """Whose turn it is of those that wait, and still ask."""
        now = time.monotonic()
        self._waiting = [each for each in self._waiting if now - each.asked < _STALE]
        return min(self._waiting, key=lambda one: len(one.held), default=None)

    def _surplus(self, session: _Session) -> bool:
        with self._change:
            self._next()
            wanting = {id(each) for each in self._sessions.values() if each.held}
            wanting |= {id(each) for each in self._waiting}
            share = -(-self._count // max(1, len(wanting)))
            poor = any(len(each.held) < share for each in self._waiting if each is not session)
            crowded = len(wanting) > self._count  # those who have a channel take turns
            return poor and not self._free and (crowded or len(session.held) > share)

    def _allow(self, session: _Session) -> None:
        for channel in session.held:
            self._card.allow(channel, _ranges(session))

    def _free_channel(self, session: _Session, channel: int) -> None:
        with self._change:
            claim = session.held.pop(channel)
            events = session.events.pop(channel, None)
            self._card.allow(channel, [])
            self._allow(session)
        if events is not None:
            _hang_up(events)
        self._card.vacate(channel)
        with self._change:
            self._free[channel] = claim
            self._change.notify_all()

    def _interrupt(self, channel: int) -> None:
        """Notifies the client that has a channel. A client that does not read gets no more."""
        with self._change:
            lines = [
                each.events[channel] for each in self._sessions.values() if channel in each.events
            ]
        for line in lines:
            with contextlib.suppress(OSError):
                line.send(b"\1\0\0\0", socket.MSG_DONTWAIT)


def _ranges(session: _Session) -> list[tuple[int, int]]:
    """The memory that a session has claimed."""
    return [(claim.first, claim.first + claim.size) for claim in session.held.values()]


def _listening(path: Path) -> socket.socket:
    """A socket at a path; replaces a socket without a listener."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_abandoned(path)
        line.bind(str(path))
        path.chmod(0o600)
        line.listen(_BACKLOG)
    except OSError as failure:
        line.close()
        raise DeviceError(
            f"no socket can be made at {path} ({failure.strerror or failure}): choose another path"
        ) from None
    return line


def _remove_abandoned(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise DeviceError(f"{path} is another file: choose another path for the socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        try:
            asked.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise DeviceError(f"a card answers at {path} already: choose another path")


def _hang_up(line: socket.socket) -> None:
    """Ends a connection, even while other threads use it."""
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()


def _numbers(payload: bytes) -> tuple[int, ...]:
    if len(payload) % 4:
        raise MessageError(f"{len(payload)} bytes of addresses: each has 4")
    return struct.unpack(f"<{len(payload) // 4}I", payload)


def _packed(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _pairs(payload: bytes) -> list[tuple[int, int]]:
    if len(payload) % PAIR.size:
        raise MessageError(f"{len(payload)} bytes of registers and values: each has {PAIR.size}")
    return [*PAIR.iter_unpack(payload)]
