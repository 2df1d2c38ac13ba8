"""Limits for connections: slow headers, large headers, slow readers.

uvicorn limits neither the time of a request's header nor, with httptools, its size. Any byte after
an answer stops its keep-alive timer, and nothing starts the timer again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ringsmith.service.gate import Gate
from ringsmith.service.metrics import Metrics

log = logging.getLogger("ringsmith.service")

HEADER_BYTES = 32 << 10
"""Bytes of a request's line and headers, at most."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class _HeaderTooLargeError(Exception):
    """A request's line and headers are too large."""


class _Bounded(HttpToolsProtocol):
    """Closes a connection that does not complete a header in ``header_seconds``."""

    gate: Gate
    header_seconds: float
    keep_seconds: float
    _deadline: asyncio.TimerHandle | None = None
    _number = -1
    _waiting_bytes = 0
    _header_bytes = 0
    _in_header = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        opened = transport.get_extra_info("socket")
        self._number = -1 if opened is None else opened.fileno()
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # What the parser holds until a header's end is not seen by the callbacks below.
        self._waiting_bytes = self._waiting_bytes + len(data) if self._in_header else 0
        super().data_received(data)
        if self._in_header and self._waiting_bytes > HEADER_BYTES:
            self._refuse_header()

    def on_message_begin(self) -> None:
        self._in_header, self._header_bytes = True, 0
        self._await_header()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        """Counts bytes of a header, also of one that comes whole, and of trailers."""
        self._header_bytes += size
        if self._header_bytes > HEADER_BYTES:
            raise _HeaderTooLargeError  # the parser stops, and the answer is 400

    def _refuse_header(self) -> None:
        log.warning("a header of more than %d bytes was refused", HEADER_BYTES)
        self.send_400_response("The header is too large.")

    def on_headers_complete(self) -> None:
        self._in_header, self._waiting_bytes = False, 0
        self._stop_clock()
        self.limit_concurrency = None if self.gate.begin(self._number) else 0
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        unread = self.cycle is not None and self.cycle.more_body
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self.gate.end(self._number)
            self._await_header(self.header_seconds if unread else self.keep_seconds)

    def _await_header(self, seconds: float | None = None) -> None:
        self._stop_clock()
        limit = self.header_seconds if seconds is None else seconds
        self._deadline = self.loop.call_later(limit, self._too_slow)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        self.transport.abort()


def bounded_protocol(
    gate: Gate, header_seconds: float, keep_seconds: float
) -> type[HttpToolsProtocol]:
    """A protocol for uvicorn that limits the time and size of headers.

    Args:
        gate: Told which connections have requests.
        header_seconds: Time limit of a header, and of the unread rest of a body.
        keep_seconds: Time limit from an answer to the next request.
    """
    limits = {"gate": gate, "header_seconds": header_seconds, "keep_seconds": keep_seconds}
    return type("Bounded", (_Bounded,), limits)


class Observed:
    """Wraps the application: logs each request in one line, and stops slow readers.

    A line has method, route, status, time, sizes, client and job. It has no payload, no address of
    an object, and no token.
    """

    def __init__(self, app: App, metrics: Metrics, idle_seconds: float) -> None:
        self._app, self._metrics, self._idle = app, metrics, idle_seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, taken, given = time.perf_counter(), 0, 0, 0

        async def counted_receive() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message

        async def bounded_send(message: Message) -> None:
            nonlocal status, given
            status = message.get("status", status)
            given += len(message.get("body", b""))
            async with asyncio.timeout(self._idle):
                await send(message)

        try:
            await self._app(scope, counted_receive, bounded_send)
        except TimeoutError:
            status = status or 408
            log.warning("an answer was not taken in %g seconds: given up", self._idle)
            raise
        finally:
            route = getattr(scope.get("route"), "path", "-")
            method = scope["method"] if route != "-" else "-"
            self._metrics.request_ended(method, route, status, taken, given)
            log.info(
                "%s %s %d %.1f ms in=%d out=%d client=%s job=%s",
                method,
                route,
                status,
                (time.perf_counter() - started) * 1e3,
                taken,
                given,
                scope.get("ringsmith.client", "-"),
                scope.get("ringsmith.job", "-"),
            )
