"""The ``ringsmith`` command: its options and subcommands.

Only what parses the command line is imported here; each subcommand imports what it runs, so that
``ringsmith --help`` answers at once.
"""

import os
from typing import Annotated

import typer

from ringsmith import __version__
from ringsmith.cli import (
    applications,
    bench,
    bitstream,
    card,
    debug,
    explore,
    generate,
    keys,
    programs,
    remote,
    seal,
    service,
    timing,
    verify,
    verilog,
)
from ringsmith.cli.errors import CommandGroup, run
from ringsmith.cli.terminal import use_plain_characters

app = typer.Typer(
    name="ringsmith",
    cls=CommandGroup,
    help="Encrypted programs and the accelerators that run them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
applications.add_to(app)
programs.add_to(app)
keys.add_to(app)
seal.add_to(app)
debug.add_to(app)
timing.add_to(app)
verify.add_to(app)
verilog.add_to(app)
bitstream.add_to(app)
explore.add_to(app)
generate.add_to(app)
service.add_to(app)
card.add_to(app)
remote.add_to(app)
bench.add_to(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ringsmith {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            envvar="RINGSMITH_THREADS",
            help="Threads that the cpu device computes with; without it, all processors.",
        ),
    ] = None,
) -> None:
    """Options that come before any subcommand."""
    if threads is not None:
        os.environ["RINGSMITH_THREADS"] = str(threads)  # read when the first computation asks


@app.command()
def doctor() -> None:
    """Check what this machine has of the tools that Ringsmith uses."""
    from ringsmith.cli.doctor import examine, report

    findings = examine()
    report(findings)
    if any(finding.needed and not finding.ok for finding in findings):
        raise typer.Exit(code=1)


def main() -> None:
    """Run the command line."""
    use_plain_characters()
    run(app)
