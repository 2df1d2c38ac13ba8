"""Admits connections: counts them as they are accepted, by remote address, before TLS and HTTP.

When there are too many, the address that has most loses the one that has been idle for longest. A
connection is idle while it has no request: during the TLS handshake, in a header, between requests.
So idle connections do not keep other clients out.
"""

import ipaddress
import logging
import resource
import socket
from dataclasses import dataclass, field

log = logging.getLogger("ringsmith.service")

_REFUSED = 32
"""Connections above the limits that are accepted, to answer that the server is full."""
_OTHER_FILES = 512
"""Files of a server that are no connections of the limit: the backlog, uploads, workers."""
_LEAST = 16
"""Connections that a server has to accept at once."""


@dataclass(eq=False)
class _Remote:
    """Connections of one address; idle ones in the order in which they became idle."""

    idle: dict[int, "_Connection"] = field(default_factory=dict)
    busy: dict[int, "_Connection"] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.idle) + len(self.busy)


class Gate:
    """Counts connections, and closes idle ones."""

    def __init__(self, connections: int, per_remote: int) -> None:
        """Makes a gate."""
        self._most, self._per_remote = connections, per_remote
        self._remotes: dict[str, _Remote] = {}
        self._open: dict[int, _Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: "_Connection") -> bool:
        """Counts a connection, and closes an idle one of too many; returns if it may stay."""
        remote = self._remotes.setdefault(connection.remote, _Remote())
        if len(remote) >= self._per_remote:
            self._evict(remote)
        if len(self._open) >= self._most:
            idle = (one for one in self._remotes.values() if one.idle)
            self._evict(max(idle, key=len, default=None))
        most = (self._per_remote, self._most)
        numbers = (len(remote), len(self._open))
        if any(number >= limit + _REFUSED for number, limit in zip(numbers, most, strict=True)):
            if not remote:
                self._remotes.pop(connection.remote, None)
            return False
        connection.over = any(number >= limit for number, limit in zip(numbers, most, strict=True))
        self._remotes[connection.remote] = remote  # may have been removed with its last connection
        remote.idle[connection.number] = self._open[connection.number] = connection
        return True

    def _evict(self, remote: _Remote | None) -> None:
        """Closes the connection of an address that has been idle for longest."""
        connection = next(iter(remote.idle.values()), None) if remote is not None else None
        if connection is not None:
            self.forget(connection)
            try:
                connection.shutdown(socket.SHUT_RDWR)  # its transport closes it
            except OSError:
                log.debug("a connection was gone already")

    def forget(self, connection: "_Connection") -> None:
        """No longer counts a connection."""
        if self._open.get(connection.number) is not connection:
            return
        del self._open[connection.number]
        remote = self._remotes[connection.remote]
        remote.idle.pop(connection.number, None)
        remote.busy.pop(connection.number, None)
        if not remote:
            del self._remotes[connection.remote]

    def begin(self, number: int) -> bool:
        """Notes that a connection has a request; returns whether the server takes it."""
        connection = self._open.get(number)
        if connection is None:
            return True
        remote = self._remotes[connection.remote]
        remote.idle.pop(number, None)
        remote.busy[number] = connection
        return not connection.over

    def end(self, number: int) -> None:
        """Notes that a connection has no request any more."""
        connection = self._open.get(number)
        if connection is not None:
            remote = self._remotes[connection.remote]
            remote.busy.pop(number, None)
            remote.idle.pop(number, None)
            remote.idle[number] = connection


class _Connection(socket.socket):
    """A connection that a gate counts until it is closed."""

    def __init__(self, gate: Gate, opened: socket.socket, address: object) -> None:
        family, kind, protocol = opened.family, opened.type, opened.proto
        super().__init__(family, kind, protocol, fileno=opened.detach())
        self.gate, self.remote, self.number = gate, remote_of(address), self.fileno()
        self.over = False

    def close(self) -> None:
        """Closes it."""
        self.gate.forget(self)
        super().close()


class Listener(socket.socket):
    """A listening socket with a gate."""

    gate: Gate | None = None

    def accept(self) -> tuple[socket.socket, object]:
        """Returns the next connection that may stay. Raises OSError if there is none."""
        while True:
            opened, address = super().accept()
            if self.gate is None:
                return opened, address
            connection = _Connection(self.gate, opened, address)
            if self.gate.admit(connection):
                return connection, address
            connection.close()


def remote_of(address: object) -> str:
    """Returns whom a connection counts for: an IPv4 address, or the network of an IPv6 address."""
    text = str(address[0]) if isinstance(address, tuple) and address else ""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def raise_file_limit(connections: int) -> int:
    """Raises the limit of open files; returns how many connections it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        soft = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == unlimited or soft >= wanted:
        return connections
    found = max(soft - _OTHER_FILES, _LEAST)
    log.warning(
        "the system allows %d open files: %d connections are taken at once, and not %d; raise "
        "`ulimit -n`, or lower limits.connections",
        *(soft, found, connections),
    )
    return found
