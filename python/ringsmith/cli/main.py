"""The ``ringsmith`` command: its options and subcommands.

Only what parses the command line is imported here; each subcommand imports what it runs, so that
``ringsmith --help`` answers at once.
"""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ringsmith import __version__
from ringsmith.errors import RingsmithError

app = typer.Typer(
    name="ringsmith",
    help="Encrypted programs and the accelerators that run them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
run_app = typer.Typer(help="Run an encrypted application.", no_args_is_help=True)
app.add_typer(run_app, name="run")


class Device(StrEnum):
    """Where a program runs. All three return the same residues."""

    CPU = "cpu"
    MODEL = "model"
    RTL = "rtl"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ringsmith {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options that come before any subcommand."""


@app.command()
def doctor() -> None:
    """Check what this machine has of the tools that Ringsmith uses."""
    from ringsmith.cli.doctor import examine, report

    findings = examine()
    report(findings)
    if any(finding.needed and not finding.ok for finding in findings):
        raise typer.Exit(code=1)


@app.command()
def demo() -> None:
    """Classify encrypted patient records on the simulated accelerator, and show what it took."""
    from ringsmith.apps import logreg

    logreg.demo()


@run_app.command("logreg")
def run_logreg(
    device: Annotated[Device, typer.Option(help="Where to run it.")] = Device.CPU,
    design: Annotated[str, typer.Option(help="Which accelerator `model` and `rtl` are.")] = "nano",
) -> None:
    """Logistic regression on encrypted breast-cancer records."""
    from ringsmith.apps import logreg

    logreg.run(device=device.value, design=design)


def main() -> None:
    """Run the command line; an error of ours ends with its message and status 1, no traceback."""
    try:
        app()
    except RingsmithError as error:
        typer.echo(f"ringsmith: {error}", err=True)
        sys.exit(1)
