"""HTTP with a service: tokens, versions, and retries of requests for which this is safe."""

import json
import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from ringsmith import __version__
from ringsmith.errors import ParameterError
from ringsmith.forks import PerProcess
from ringsmith.remote.errors import ServiceError
from ringsmith.service.protocol import API_VERSION

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_AGAIN = frozenset({408, 429, 502, 503, 504})
"""Status codes after which a request may be retried."""
_FINAL_CODES = frozenset({"quota", "run-time", "queue-time"})
"""Codes for which a retry after a short delay does not help."""
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 5.0
_MAX_TEXT = 1 << 24

Content = bytes | Callable[[], Iterable[bytes]]


class Connection:
    """Connections to one service; safe to use from several threads, and after a fork."""

    def __init__(
        self, url: str, token: str | None, *, timeout_seconds: float, patience_seconds: float
    ) -> None:
        """Makes a connection; nothing is sent yet.

        Args:
            url: The server's, such as ``https://he.example.org``; a path before ``/v1`` is kept.
            token: The client's token, if the server asks for one.
            timeout_seconds: Time limit of an answer.
            patience_seconds: For how long an unanswered request is retried.

        Raises:
            ParameterError: If the URL is invalid, or the token would be sent unencrypted.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(f"{url!r:.80} is no URL of a service: give http://HOST:PORT")
        clear = not url.startswith("https:") and parts.hostname not in _LOOPBACK
        if token is not None and clear:
            raise ParameterError(
                f"{url!r:.80}: a token does not travel in the clear: give an https URL, or the "
                "loopback address of a tunnel"
            )
        self.url = url.rstrip("/")
        self._patience = patience_seconds
        headers = {"User-Agent": f"ringsmith/{__version__}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._client = PerProcess(
            lambda: httpx.Client(
                base_url=f"{self.url}/v{API_VERSION}",
                headers=headers,
                timeout=httpx.Timeout(timeout_seconds, connect=min(10.0, timeout_seconds)),
                limits=httpx.Limits(max_keepalive_connections=16),
            )
        )

    def close(self) -> None:
        """Closes all connections of this process."""
        self._client.get().close()

    def ask(
        self,
        method: str,
        path: str,
        *,
        content: Content | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        taken: Iterable[int] = (),
    ) -> httpx.Response:
        """Sends a request, with retries, until it is answered. The request must be idempotent.

        Args:
            method: The HTTP method.
            path: The path after ``/v1``.
            content: The body.
            headers: Additional headers.
            params: The query.
            taken: Statuses that are no errors, in addition to those below 300.

        Raises:
            ServiceError: If there is no answer, or an error.
        """
        deadline, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            wait = pause * (0.5 + random.random())  # noqa: S311 - no secret
            try:
                body = content() if callable(content) else content
                answer = self._client.get().request(
                    method, path, content=body, headers=headers, params=params
                )
            except httpx.HTTPError as error:
                trouble = ServiceError(
                    f"{self.url} does not answer ({type(error).__name__}: {error}): check the "
                    "address, and that the server runs"
                )
            else:
                if answer.status_code < 300 or answer.status_code in taken:
                    return answer
                trouble = _error(self.url, answer)
                if answer.status_code not in _AGAIN or trouble.code in _FINAL_CODES:
                    raise trouble
                wait = max(wait, _retry_after(answer))
            if time.monotonic() + wait > deadline:
                raise trouble
            time.sleep(wait)
            pause = min(2 * pause, _LAST_PAUSE)

    def json(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """Calls ``ask`` and returns the answer's JSON object.

        Raises:
            ServiceError: Also if the answer is no JSON object.
        """
        return json_of(self.ask(method, path, **options))


def json_of(answer: httpx.Response) -> dict[str, Any]:
    """Returns the JSON object of an answer.

    Raises:
        ServiceError: If the answer is no JSON object.
    """
    try:
        found = json.loads(answer.content[:_MAX_TEXT])
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ServiceError(
            f"{answer.url} answers with no JSON object: is it a service of Ringsmith's?",
            answer.status_code,
            "no-json",
        )
    return found


def _retry_after(answer: httpx.Response) -> float:
    """Returns the delay after which the server asks for a retry, in seconds."""
    text = answer.headers.get("retry-after", "0")
    return min(float(text), _LAST_PAUSE) if text.isdecimal() else 0.0


def _error(url: str, answer: httpx.Response) -> ServiceError:
    status = answer.status_code
    try:
        found = json.loads(answer.content[:_MAX_TEXT])
        code, text = str(found["code"]), str(found.get("detail") or found.get("message"))
    except (ValueError, KeyError, TypeError, AttributeError):
        code, text = "http", answer.reason_phrase or "no reason given"
    return ServiceError(f"{url} answers with {status}: {text:.1000}", status, code)
