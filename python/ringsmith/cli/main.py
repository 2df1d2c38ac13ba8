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
)
from ringsmith.cli.terminal import CommandGroup, run, use_plain_characters

app = typer.Typer(
    name="ringsmith",
    cls=CommandGroup,
    help="Encrypted programs and the accelerators that run them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    applications.demo,
    programs.run_program,
    *(keys.keys, keys.encrypt, keys.decrypt),
    *(debug.trace, debug.waves, debug.designs, debug.coverage),
    timing.timing,
    verify.verify,
    generate.verilog,
    bitstream.bitstream,
    explore.explore,
    *(generate.generate, generate.synth),
    service.serve,
    card.card,
    bench.bench,
):
    app.command(command.__name__.replace("_", "-"))(command)
for name, group in (
    ("run", applications.run_app),
    ("fetch", applications.fetch_app),
    ("import", programs.import_app),
    ("seal", seal.seal_app),
    ("token", service.token_app),
    ("remote", remote.remote_app),
):
    app.add_typer(group, name=name)


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
