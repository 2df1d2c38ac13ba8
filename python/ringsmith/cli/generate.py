"""Designs written out, and their resources: ``generate``, ``verilog`` and ``synth``."""

from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.options import Force, target


def generate(
    folder: Annotated[
        Path, typer.Option("-o", "--output", file_okay=False, help="The folder to make.")
    ],
    design: Annotated[
        str | None, typer.Argument(help="The design: a name, or a TOML file.")
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option("--from", help="Make a folder again from its manifest, byte for byte."),
    ] = None,
    operation: Annotated[
        str | None,
        typer.Option(
            help="The encrypted operation of the testbench: add, multiply, multiply_relinearize "
            "(without this option and --program) or rotate."
        ),
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option(
            help="The program that the testbench runs, with its parameters, as Program.save writes "
            "it. Without a design, the smallest that runs it is written out. The folder holds the "
            "program and its constants."
        ),
    ] = None,
    verilog: Annotated[
        bool, typer.Option(help="Write plain Verilog, too, which takes Yosys.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that was generated before.")
    ] = False,
) -> None:
    """Write a design out as a folder: RTL, program, testbench, registers, packaging, manifest.

    The folder needs nothing of Ringsmith: `make test` in it simulates the design with Verilator.
    """
    from ringsmith.errors import ParameterError
    from ringsmith.generate import folder as making

    if (manifest is not None and design is not None) or (design, manifest, program) == (None,) * 3:
        raise ParameterError("name a design, a program, or, with --from, the manifest of a folder")
    if manifest is not None:
        if operation is not None or program is not None or not verilog:
            raise ParameterError(
                "--from takes operation, program and Verilog from the manifest: leave --operation, "
                "--program and --no-verilog out"
            )
        made = making.generate_again(manifest, folder, force=force)
    else:
        made = making.generate_design(
            design, folder, program=program, operation=operation, verilog=verilog, force=force
        )
    print(f"wrote {made.folder}: {made.files} files; `make test` in it simulates the design")
    if " " in str(made.folder.absolute()):
        print(
            "its path has a space, and GNU Make cannot build there: `make test BUILD=/tmp/build`, "
            "or move the folder"
        )


def synth(
    folder: Annotated[
        Path, typer.Argument(file_okay=False, help="A folder that `ringsmith generate` made.")
    ],
    json: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, help="Write the counts as JSON.")
    ] = None,
    force: Force = False,
) -> None:
    """Synthesize a generated folder with Yosys, and compare its counts with the estimate.

    Nothing is placed or routed: no clock rate follows.
    """
    from rich.console import Console
    from rich.table import Table

    from ringsmith.files import check_targets
    from ringsmith.generate.manifest import MANIFEST
    from ringsmith.generate.synthesis import synthesize

    file = target(json, force)
    check_targets(file, inputs=[folder / MANIFEST])
    found = synthesize(folder)
    table = Table(title=f"{found.design}, synthesized for {found.family}")
    table.add_column("resource")
    for heading in ("estimate", "Yosys", "difference"):
        table.add_column(heading, justify="right")
    for row in found.text_rows():
        table.add_row(*row)
    Console().print(table)
    if file is not None:
        file.write(found.to_json())
        print(f"wrote {file.path}")


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
