"""Runs a server: options, checks, start and end."""

import asyncio
import logging
import socket
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import uvicorn

from ringsmith.errors import ParameterError
from ringsmith.files import read_bounded
from ringsmith.service.access import Access, is_loopback
from ringsmith.service.app import make_app
from ringsmith.service.connections import Observed, bounded_protocol
from ringsmith.service.dispatcher import Dispatcher
from ringsmith.service.engine import ENGINES, PROCESSES, RAY, Engine, Processes
from ringsmith.service.folder import Folder
from ringsmith.service.gate import Gate, Listener, raise_file_limit
from ringsmith.service.metrics import Metrics
from ringsmith.service.published import publish_all, server_secret
from ringsmith.service.settings import Settings
from ringsmith.service.state import State
from ringsmith.service.storage import Storage
from ringsmith.service.tasks import DeviceChoice, Setup

log = logging.getLogger("ringsmith.service")

_SHUTDOWN_SECONDS = 10
_BACKLOG = 256
_MAX_TLS_FILE = 1 << 20


@dataclass(frozen=True)
class Options:
    """The options of ``ringsmith serve``.

    Attributes:
        programs: Files of programs.
        data: The server's folder.
        host: Address to listen at.
        port: TCP port; 0: a free port.
        device: The device that workers open.
        workers: Number of workers.
        engine: One of ``ENGINES``.
        key_memory: Bytes of keys that all workers together keep in memory.
        settings: Limits and quotas.
        tls_certificate: File of a certificate chain; None: plain HTTP.
        tls_key: File of its private key.
    """

    programs: tuple[Path, ...]
    data: Path
    host: str = "127.0.0.1"
    port: int = 8000
    device: DeviceChoice = field(default_factory=DeviceChoice)
    workers: int = 1
    engine: str = PROCESSES
    key_memory: int = 4 << 30
    settings: Settings = field(default_factory=Settings)
    tls_certificate: Path | None = None
    tls_key: Path | None = None


def check_exposed(options: Options, *, tokens: bool) -> None:
    """Checks that only authenticated clients can reach the server from other machines.

    Raises ParameterError if other machines could reach a server without clients, or the TLS files
    do not fit together; InteropError if a TLS file cannot be read.
    """
    if not is_loopback(options.host) and not tokens:
        raise ParameterError(
            f"--host {options.host}: other machines reach this address, and there are no tokens: "
            f"make one with `ringsmith token add NAME --data {options.data}`, or serve at 127.0.0.1"
        )
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise ParameterError("--tls-certificate and --tls-key belong together: give both")
    if options.tls_certificate is not None and options.tls_key is not None:
        for path in (options.tls_certificate, options.tls_key):
            read_bounded(path, _MAX_TLS_FILE)
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.tls_certificate, options.tls_key)
        except (ssl.SSLError, OSError) as error:
            raise ParameterError(
                f"{options.tls_certificate} and {options.tls_key}: no certificate with its private "
                f"key: {error}"
            ) from None


def _engine(options: Options, setup: Setup) -> Engine:
    if options.engine not in ENGINES:
        raise ParameterError(f"no engine {options.engine!r}: choose one of {', '.join(ENGINES)}")
    if options.engine == RAY:
        from ringsmith.service.ray_engine import RayActors

        return RayActors(setup, options.workers, options.key_memory)
    return Processes(setup, options.workers, options.settings.limits.silent_seconds)


def serve(options: Options, ready: Callable[[str], None]) -> None:
    """Serves until SIGINT or SIGTERM.

    Raises ParameterError if an option does not fit, or the address is in use; DeviceError if a
    device cannot be opened; ToolError if the engine is not installed; RingsmithError if a program
    cannot be read or compiled.
    """
    folder = Folder(options.data)
    try:
        check_exposed(options, tokens=folder.database.has_tokens())
        secret = server_secret(folder.path)
        programs = publish_all(options.programs, folder.programs, options.device, secret)
        setup = Setup(
            options.device,
            tuple(one.files for one in programs.values()),
            options.key_memory // options.workers,
        )
        storage = Storage(folder.tables)
        try:
            state = State(folder, storage, options.settings, options.device, programs, Metrics())
            with _listening(options) as listener:
                _run(options, state, setup, listener, ready)
        finally:
            storage.close()
    finally:
        folder.close()


def _listening(options: Options) -> Listener:
    """Returns a listening socket. Raises ParameterError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off for sockets of this protocol number alone.
    listener = Listener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    try:
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        raise ParameterError(
            f"--host {options.host} --port {options.port}: {error.strerror or error}: choose "
            "another, or end what has it"
        ) from None
    return listener


def _run(
    options: Options, state: State, setup: Setup, listener: Listener, ready: Callable[[str], None]
) -> None:
    limits = options.settings.limits
    tokens = not is_loopback(options.host) or state.folder.database.needs_tokens()
    most = raise_file_limit(limits.connections)
    gate = listener.gate = Gate(most, min(limits.address_connections, most))
    app = make_app(state, Access(state.storage, tokens=tokens))
    config = uvicorn.Config(
        Observed(app, state.metrics, limits.idle_seconds),
        http=bounded_protocol(gate, limits.header_seconds, limits.idle_seconds),
        ws="none",
        proxy_headers=False,
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=ceil(limits.idle_seconds),
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        ssl_certfile=options.tls_certificate,
        ssl_keyfile=options.tls_key,
    )
    server = _Told(config, limits.header_seconds, lambda: ready(_url(options, listener)))

    async def work() -> None:
        engine = _engine(options, setup)
        state.dispatcher = Dispatcher(state.storage, engine, limits, state.ended)
        try:
            await state.dispatcher.start()
            await state.begin()
            await server.serve(sockets=[listener])
        finally:
            await state.close()

    asyncio.run(work())


def _url(options: Options, listener: socket.socket) -> str:
    scheme = "http" if options.tls_certificate is None else "https"
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}"


class _Told(uvicorn.Server):
    """A server that reports when it is ready, and limits the time of TLS handshakes."""

    def __init__(
        self, config: uvicorn.Config, handshake_seconds: float, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._handshake_seconds = ready, handshake_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and reports that the server is ready."""
        loop = asyncio.get_running_loop()
        create = loop.create_server

        async def limited(*arguments: Any, **options: Any) -> asyncio.Server:  # noqa: ANN401
            if options.get("ssl") is not None:  # uvicorn has no option for it
                options["ssl_handshake_timeout"] = self._handshake_seconds
            return await create(*arguments, **options)

        loop.create_server = limited  # type: ignore[method-assign]
        try:
            await super().startup(sockets)
        finally:
            loop.create_server = create  # type: ignore[method-assign]
        if self.started:
            self._ready()


def log_to_stderr() -> None:
    """Shows the server's log: times in UTC, one line per event."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
    )
    for name in ("ringsmith.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO if name == "ringsmith.service" else logging.WARNING)
        logger.addHandler(handler)
        logger.propagate = False
