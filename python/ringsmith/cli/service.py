"""The subcommands of the network service: ``serve`` and ``token``."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

token_app = typer.Typer(
    help="Make, list and remove the tokens of a server's clients.", no_args_is_help=True
)


class ServedDevice(StrEnum):
    """Where a server runs programs."""

    CPU = "cpu"
    MODEL = "model"
    RTL = "rtl"
    CARD = "card"


class EngineName(StrEnum):
    """Where a server's workers are."""

    PROCESSES = "processes"
    RAY = "ray"


Data = Annotated[
    Path, typer.Option("--data", help="The server's folder: clients, keys, jobs; made if missing.")
]


def serve(
    programs: Annotated[
        list[Path], typer.Argument(metavar="PROGRAM", help="Files of programs, such as score.rsp.")
    ],
    data: Data,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The TCP port; 0: one that is free.")
    ] = 8000,
    device: Annotated[ServedDevice, typer.Option(help="Where programs run.")] = ServedDevice.CPU,
    design: Annotated[
        str | None,
        typer.Option(help="The accelerator's design: a name or a TOML file; else the smallest."),
    ] = None,
    card: Annotated[
        str | None,
        typer.Option(help="With --device card: the socket of `ringsmith card`, or device files."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Workers; else one, of the cpu one for each processor."),
    ] = None,
    engine: Annotated[
        EngineName, typer.Option(help="Where workers are: on this machine, or in a Ray cluster.")
    ] = EngineName.PROCESSES,
    key_memory: Annotated[
        float, typer.Option(min=0.01, help="GiB of keys that workers keep in memory.")
    ] = 4.0,
    limits: Annotated[
        Path | None, typer.Option(help="A TOML file of limits and quotas (docs/guide/service.md).")
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option(help="A certificate chain: speak HTTPS.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's private key.")] = None,
) -> None:
    """Serve encrypted programs over HTTP, to clients that keep their secret keys."""
    import os

    from ringsmith.cli.options import needs_extra
    from ringsmith.errors import ParameterError
    from ringsmith.runtime.designs import named_design

    with needs_extra("serve", "service"):
        from ringsmith.service.server import Options, log_to_stderr
        from ringsmith.service.server import serve as run
    from ringsmith.service.settings import Settings, load_settings
    from ringsmith.service.tasks import DeviceChoice

    if design is not None and device is ServedDevice.CPU:
        raise ParameterError("--design is for --device model, rtl or card: leave one of both out")
    if design is not None:
        named_design(design)
    if (card is not None) != (device is ServedDevice.CARD):
        raise ParameterError("--card and --device card belong together: give both, or none")
    if device is ServedDevice.CPU:
        threads = int(os.environ.get("RINGSMITH_THREADS", "0")) or None
        count = workers or max(1, (os.cpu_count() or 1) // (threads or 1))
    else:
        threads, count = None, workers or 1
    log_to_stderr()
    options = Options(
        tuple(programs),
        data,
        host,
        port,
        DeviceChoice(device.value, design or "", card or "", threads or 1),
        count,
        engine.value,
        int(key_memory * (1 << 30)),
        Settings() if limits is None else load_settings(limits),
        tls_certificate,
        tls_key,
    )

    def ready(url: str) -> None:
        names = ", ".join(path.name.removesuffix(".rsp") for path in programs)
        print(f"{url} serves {names} on {device.value}, {count} workers", flush=True)

    run(options, ready)


@token_app.command("add")
def add_token(
    name: Annotated[str, typer.Argument(help="What you call the client.")],
    data: Data,
    operator: Annotated[
        bool, typer.Option("--operator", help="It may see the status of the whole server, too.")
    ] = False,
) -> None:
    """Make a client, and print its token, which is stored nowhere: give it to the client alone."""
    from ringsmith.service.folder import Folder

    folder = Folder(data, lock=False)
    print(folder.database.add_client(name, operator=operator))
    folder.close()


@token_app.command("list")
def list_tokens(data: Data) -> None:
    """List a server's clients."""
    from ringsmith.service.folder import Folder

    folder = Folder(data, lock=False)
    for client in folder.database.clients():
        print(f"{client.name}{'  operator' if client.operator else ''}")
    folder.close()


@token_app.command("remove")
def remove_token(name: Annotated[str, typer.Argument(help="The client.")], data: Data) -> None:
    """Take a client's token away, for ever."""
    from ringsmith.service.folder import Folder

    folder = Folder(data, lock=False)
    folder.database.remove_client(name)
    last = not folder.database.has_tokens()
    folder.close()
    print(f"{name}: its token is no longer valid")
    if last:
        print(
            "no client has a token now, and requests still need one: make one with "
            "`ringsmith token add`, or serve another --data folder without tokens"
        )
