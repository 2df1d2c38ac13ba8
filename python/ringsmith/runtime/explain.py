"""What a program will do and cost, in words, on a design."""

from collections import Counter
from collections.abc import Mapping

from numpy.typing import ArrayLike

from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.program import Program
from ringsmith.runtime.compiled import compile_program
from ringsmith.runtime.designs import Design


def explain(
    program: Program,
    design: str | Design | None = None,
    *,
    bounds: Mapping[str, ArrayLike] | float = 1.0,
) -> str:
    """Explains a program: graph, keys, cost, and the precision or noise budget to expect.

    Args:
        program: From ``trace``.
        design: A design to schedule the program for and count clock cycles on; of architecture
            ``stream`` those of its products; None: operations are counted.
        bounds: What the magnitudes of the encrypted numbers stay within, as for
            ``Program.forecast``.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design, or a bound is wrong.
    """
    if design is None:
        return program.explain(bounds)
    compiled = compile_program(program, design).compiled_graph
    if compiled.stream is not None:
        return (
            f"on design {compiled.stream.design.name}: {compiled.stream.products} products of "
            f"residue polynomials in {compiled.stream.cycles} cycles, the rest on the CPU\n"
            f"{program.explain(bounds)}"
        )
    executable = compiled.executable
    assert executable is not None, "a design was given"
    head = f"on design {executable.design.name}"
    cycles = cycles_by_node(executable)
    return f"{head}\n{program.explain(bounds, cycles=cycles)}"


def cycles_by_node(executable: Executable) -> dict[int, int]:
    """Returns clock cycles by HE node; together they are the program's.

    See ``Executable.spans``. What serves no node is counted for the node before it.
    """
    cycles: Counter[int] = Counter()
    node = 0
    for origin, spent in executable.spans:
        _, _, identity = origin.partition(":")
        node = int(identity) if identity else node
        cycles[node] += spent
    return dict(cycles)
