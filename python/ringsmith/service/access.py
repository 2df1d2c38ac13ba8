"""Authentication: by token. Without tokens, every process that reaches the loopback address."""

from urllib.parse import urlsplit

from starlette.requests import Request

from ringsmith.service.database import Client, Database
from ringsmith.service.problems import ProblemError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Access:
    """Identifies clients by their tokens.

    Without tokens all processes on this machine are one client. Browsers are excluded, because
    foreign pages can make them send requests: ``Host`` and ``Origin`` are checked.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def client(self, request: Request) -> Client:
        """Returns the client of a request.

        Raises:
            ProblemError: If the request has no known client.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and token:
            found = self._database.client_of(token.strip())
            if found is not None:
                return found
        if token or self._database.has_tokens():
            raise ProblemError(
                401,
                "no-token",
                "this server knows its clients by tokens: send Authorization: Bearer TOKEN"
                if not token
                else "this token is of no client: ask the operator for another",
                {"WWW-Authenticate": "Bearer"},
            )
        for header in ("host", "origin"):
            value = request.headers.get(header)
            if value is None:
                continue
            if _host_of(value) not in LOOPBACK_NAMES:
                raise ProblemError(
                    403,
                    "not-local",
                    f"{header} {value!r:.80}: without tokens this server is for this machine alone",
                )
        return self._database.local_client()


def _host_of(value: str) -> str | None:
    """Returns the host in a ``Host`` or ``Origin`` header; None: it has none."""
    try:
        return urlsplit(value if "//" in value else f"//{value}").hostname
    except ValueError:  # such as a bracket that is not closed
        return None
