"""The subcommand ``verilog``: an accelerator as one file of plain Verilog."""

from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.files import Force, target


def add_to(app: typer.Typer) -> None:
    """Add the subcommand to the command line ``app``."""
    app.command()(verilog)


def verilog(
    design: Annotated[str, typer.Argument(help="The design: a name, or a TOML file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Write the Verilog here.")
    ],
    force: Force = False,
) -> None:
    """Write a design's RTL as plain Verilog, for tools that read no SystemVerilog.

    One file, IEEE 1364-2005, the design's parameters filled in, without assertions.
    """
    from ringsmith.backends.registry import inspector_of, named_design
    from ringsmith.files import check_targets

    file = target(output, force)
    check_targets(file, inputs=[Path(design)])
    assert file is not None, "it is named"
    point = named_design(design)
    file.write(inspector_of(point, "is not written as Verilog").verilog(point))
    print(f"wrote {file.path}")
