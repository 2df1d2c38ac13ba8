"""HTTP with a service: tokens, versions, and retries of requests for which this is safe."""

import json
import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx

from ringsmith import __version__
from ringsmith.errors import ParameterError, RingsmithError
from ringsmith.forks import PerProcess
from ringsmith.service.protocol import API_VERSION

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_AGAIN = frozenset({408, 429, 502, 503, 504})
"""Status codes after which a request may be retried."""
_FINAL_CODES = frozenset({"quota", "run-time", "queue-time"})
"""Codes for which a retry after a short delay does not help."""
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 5.0
_MAX_TEXT = 1 << 24
"""Bytes of an answer in JSON, at most."""
_BYTES_A_SECOND = 4096
"""A slower answer is given up."""

Content = bytes | Callable[[], Iterable[bytes]]


class ServiceError(RingsmithError):
    """A service that refused, failed, or did not answer.

    Attributes:
        status: HTTP status; 0: there was no answer.
        code: The server's error code, such as ``queue-full``; ``unreachable``: no answer.
    """

    def __init__(self, message: str, status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.code = status, code


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
        host = _host_of(url)
        if token is not None and not url.startswith("https:") and host not in _LOOPBACK:
            raise ParameterError(
                f"{url!r:.80}: a token does not travel in the clear: give an https URL, or the "
                "loopback address of a tunnel"
            )
        self.url = url.rstrip("/")
        self._patience, self._timeout = patience_seconds, timeout_seconds
        # An answer is as long as it is sent, so that its size is known before it is expanded.
        headers = {"User-Agent": f"ringsmith/{__version__}", "Accept-Encoding": "identity"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._client = PerProcess(
            lambda: httpx.Client(
                base_url=f"{self.url}/v{API_VERSION}",
                headers=headers,
                timeout=httpx.Timeout(timeout_seconds, connect=min(10.0, timeout_seconds)),
                limits=httpx.Limits(max_keepalive_connections=16),
                mounts=_no_proxy(host),
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
        most: int = _MAX_TEXT,
    ) -> httpx.Response:
        """Sends a request, with retries, until it is answered. The request must be idempotent.

        Args:
            method: The HTTP method.
            path: The path after ``/v1``.
            content: The body.
            headers: Additional headers.
            params: The query.
            taken: Statuses that are no errors, in addition to those below 300.
            most: Bytes of the answer, at most.

        Raises:
            ServiceError: If there is no answer, or an error, or the answer is too large.
        """
        deadline, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            wait = pause * (0.5 + random.random())  # noqa: S311 - no secret
            try:
                body = content() if callable(content) else content
                with self._client.get().stream(
                    method, path, content=body, headers=headers, params=params
                ) as opened:
                    answer = self._whole(opened, most)
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

    def _whole(self, opened: httpx.Response, most: int) -> httpx.Response:
        """Reads an answer.

        Raises ServiceError if it is too large or compressed; httpx.ReadTimeout if it is too slow.
        """
        if opened.headers.get("content-encoding", "identity") != "identity":
            raise ServiceError(
                f"{self.url} answers compressed, which was not asked for: look at proxies between "
                "here and the server",
                opened.status_code,
                "compressed",
            )
        content, started = bytearray(), time.monotonic()
        for chunk in opened.iter_raw():
            content += chunk
            if len(content) > most:
                raise ServiceError(
                    f"{self.url} answers with more than {most} bytes, the most that this answer "
                    "may have: is it a service of Ringsmith's?",
                    opened.status_code,
                    "too-large",
                )
            if time.monotonic() - started > self._timeout + len(content) / _BYTES_A_SECOND:
                raise httpx.ReadTimeout("the answer is too slow", request=opened.request)
        return httpx.Response(
            opened.status_code,
            headers=opened.headers,
            content=bytes(content),
            request=opened.request,
        )

    def json(self, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """Calls ``ask`` and returns the answer's JSON object.

        Raises:
            ServiceError: Also if the answer is no JSON object.
        """
        return json_of(self.ask(method, path, **options))


def _host_of(url: str) -> str:
    """Returns the host of a URL, as the requests go to it.

    Raises ParameterError if it is no URL of a service.
    """
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        found = httpx.URL("")
    if found.scheme not in ("http", "https") or not found.host:
        raise ParameterError(f"{url!r:.80} is no URL of a service: give http://HOST:PORT")
    return found.host


def _no_proxy(host: str) -> dict[str, None]:
    """Returns what keeps requests to this machine from the proxies of the environment.

    A proxy would see the token in the clear, and its loopback address is another machine's.
    """
    if host not in _LOOPBACK:
        return {}
    return {f"all://[{host}]" if ":" in host else f"all://{host}": None}


def json_of(answer: httpx.Response) -> dict[str, Any]:
    """Returns the JSON object of an answer.

    Raises:
        ServiceError: If the answer is no JSON object.
    """
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
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
        found = json.loads(answer.content)
        code, text = str(found["code"]), str(found.get("detail") or found.get("message"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        code, text = "http", answer.reason_phrase or "no reason given"
    return ServiceError(f"{url} answers with {status}: {text:.1000}", status, code)
