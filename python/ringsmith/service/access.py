"""Authentication: by token. Without tokens, every process of this machine."""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request

from ringsmith.service.database import Client, Database
from ringsmith.service.protocol import ProblemError
from ringsmith.service.storage import Storage

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Access:
    """Identifies clients by their tokens.

    Without tokens all processes on this machine are one client. Browsers are excluded, because
    foreign pages can make them send requests: ``Host`` and ``Origin`` are checked. Once requests
    need tokens they always do, also after the last token was removed.
    """

    def __init__(self, storage: Storage, *, tokens: bool) -> None:
        """Makes the check of a server's requests.

        Args:
            storage: Has the clients.
            tokens: Whether requests need tokens, as decided when the server started. If not, they
                do from the first token on.
        """
        self._storage = storage
        self._tokens = tokens
        self._local: Client | None = None

    async def client(self, request: Request) -> Client:
        """Returns the client of a request.

        Raises ProblemError if the request has no known client, or the database fails.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if kind.lower() == "bearer" and token:
            found = await self._storage.read(lambda database: database.client_of(token))
            if found is not None:
                return found
        self._tokens = self._tokens or await self._storage.read(Database.needs_tokens)
        if token or self._tokens:
            raise ProblemError(
                401,
                "no-token",
                "this server knows its clients by tokens: send Authorization: Bearer TOKEN"
                if not token
                else "this token is of no client: ask the operator for another",
                {"WWW-Authenticate": "Bearer"},
            )
        check_local(request)
        if self._local is None:
            self._local = await self._storage.write(Database.local_client)
        return self._local


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check_local(request: Request) -> None:
    """Refuses a request that another machine sent, or a browser for a page of another origin.

    Raises ProblemError if so.
    """
    remote = "" if request.client is None else request.client.host
    if not is_loopback(remote):
        raise ProblemError(
            403,
            "not-local",
            f"address {remote:.80}: without tokens this server is for this machine alone",
        )
    host, origin = request.headers.get("host"), request.headers.get("origin")
    if host is not None and _host_of(host) not in LOOPBACK_NAMES:
        raise ProblemError(
            403,
            "not-local",
            f"host {host!r:.80}: without tokens this server is for this machine alone",
        )
    if origin is not None and origin.lower() != f"{request.url.scheme}://{host}".lower():
        raise ProblemError(
            403,
            "not-local",
            f"origin {origin!r:.80}: without tokens no page of another address may use this server",
        )


def _host_of(value: str) -> str | None:
    """Returns the host in a ``Host`` or ``Origin`` header; None: it has none."""
    try:
        return urlsplit(value if "//" in value else f"//{value}").hostname
    except ValueError:  # such as a bracket that is not closed
        return None
