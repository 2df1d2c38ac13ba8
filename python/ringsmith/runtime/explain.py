"""A text report: operations and cost of a program on a design."""

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from ringsmith.backends.base import Design
from ringsmith.program import Program
from ringsmith.program.graph import check_program
from ringsmith.runtime.compiled import compile_program


def explain(
    program: Program,
    design: str | Path | Design | None = None,
    *,
    bounds: Mapping[str, ArrayLike] | float = 1.0,
    lines: bool = False,
) -> str:
    """Explains a program: graph, keys, cost, and the precision or noise budget to expect.

    Args:
        program: From ``trace``.
        design: The design for which the program is scheduled and clock cycles are counted. For a
            streaming multiplier only products are counted. None: operations are counted.
        bounds: Upper bounds of the magnitudes of the encrypted numbers, as for
            ``Program.forecast``.
        lines: Whether the listing has a row for each line of yours, of a network for each of its
            nodes, and not for each operation.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design, or a bound is wrong.
    """
    check_program(program, "explain")
    if design is None:
        return program.explain(bounds, lines=lines)
    return compile_program(program, design).explain(bounds, lines=lines)
