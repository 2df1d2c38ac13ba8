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

from ringsmith.service.metrics import Metrics

log = logging.getLogger("ringsmith.service")

HEADER_BYTES = 32 << 10
"""Bytes of a request's line and headers, at most."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


def bounded_protocol(header_seconds: float, keep_seconds: float) -> type[HttpToolsProtocol]:
    """A protocol for uvicorn that limits the time and size of headers.

    Args:
        header_seconds: Time limit of a header, and of the unread rest of a body.
        keep_seconds: Time limit from an answer to the next request.
    """

    class Bounded(HttpToolsProtocol):
        """Closes a connection that does not complete a header in ``header_seconds``."""

        _deadline: asyncio.TimerHandle | None = None
        _header_bytes = 0
        _in_header = True

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_header()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_clock()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._in_header:
                self._header_bytes += len(data)
            super().data_received(data)
            if self._in_header and self._header_bytes > HEADER_BYTES:
                log.warning("a header of more than %d bytes was refused", HEADER_BYTES)
                self.send_400_response("The header is too large.")

        def on_message_begin(self) -> None:
            self._in_header, self._header_bytes = True, 0
            self._await_header()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_header = False
            self._stop_clock()
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            unread = self.cycle is not None and self.cycle.more_body
            super().on_response_complete()
            if self.cycle is None or self.cycle.response_complete:
                self._await_header(header_seconds if unread else keep_seconds)

        def _await_header(self, seconds: float = header_seconds) -> None:
            self._stop_clock()
            self._deadline = self.loop.call_later(seconds, self._too_slow)

        def _stop_clock(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _too_slow(self) -> None:
            self._deadline = None
            self.transport.abort()

    return Bounded


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
        begun, status, taken, given = time.perf_counter(), 0, 0, 0

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
                (time.perf_counter() - begun) * 1e3,
                taken,
                given,
                scope.get("ringsmith.client", "-"),
                scope.get("ringsmith.job", "-"),
            )
