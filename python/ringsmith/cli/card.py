"""The subcommand ``card``: a simulated card in a process of its own."""

import signal
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer


class Behind(StrEnum):
    """What computes in a simulated card."""

    MODEL = "model"
    RTL = "rtl"


def card(
    design: Annotated[
        str, typer.Argument(help="The design of its coprocessors: a name, or a TOML file.")
    ],
    socket: Annotated[Path, typer.Option(help="The Unix socket to answer at.")],
    device: Annotated[Behind, typer.Option(help="What computes.")] = Behind.MODEL,
    memory: Annotated[
        float, typer.Option(min=0.001, max=1024, help="GiB of the card's memory.")
    ] = 2.0,
) -> None:
    """Simulate a card with coprocessors behind a DMA, for the drivers of several processes."""
    from ringsmith.backends.cards.server import CardServer
    from ringsmith.backends.registry import backend_of, named_design

    point = named_design(design)
    size = int(memory * (1 << 30)) // 4096 * 4096
    server = CardServer(backend_of(point).cards().simulate(point, device.value, size), socket)

    def end(*_: int | FrameType | None) -> None:
        server.close()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    print(f"{socket}: a simulated card of {point.name}, {device.value}, {memory:g} GiB", flush=True)
    server.serve()
