"""What a program will do and cost, in words, on a design."""

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ringsmith.backends.base import Design
from ringsmith.backends.registry import backend_of
from ringsmith.program import Program
from ringsmith.runtime.compiled import compile_program


def explain(
    program: Program,
    design: str | Design | None = None,
    *,
    bounds: Mapping[str, ArrayLike] | float = 1.0,
) -> str:
    """Explains a program: graph, keys, cost, and the precision or noise budget to expect.

    Args:
        program: From ``trace``.
        design: A design to schedule the program for and count clock cycles on; of a
            streaming multiplier those of its products; None: operations are counted.
        bounds: What the magnitudes of the encrypted numbers stay within, as for
            ``Program.forecast``.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design, or a bound is wrong.
    """
    if design is None:
        return program.explain(bounds)
    executable = compile_program(program, design).compiled_graph.executable
    assert executable is not None, "a design was given"
    found = backend_of(executable.design).explain(executable)
    return f"{found.heading}\n{program.explain(bounds, cycles=found.by_node)}"
