"""Checks whether a design can run a program; errors name the user's line and a hint."""

from collections.abc import Callable, Sequence

from ringsmith.errors import ProgramError
from ringsmith.params import ParameterLimits, RlweParameters
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node
from ringsmith.schemes.registry import scheme_of

CPU = "run it on device cpu"


def operation_words(node: Node, parameters: RlweParameters) -> str:
    """Returns what a node does, such as ``multiplies two encrypted BFV vectors``."""
    return scheme_of(parameters).words(node.op)


def check_fits(
    program: Program, limits: ParameterLimits, others: Callable[[], Sequence[str]] = tuple
) -> None:
    """Refuses a program that a design cannot run because of its parameters or operations.

    Args:
        program: The program.
        limits: The design's limits.
        others: Finds names of designs that accept the program, for the error.

    Raises:
        ProgramError: Begins with the user's line: that of the operation, or of the trace if the
            parameters are the reason. Ends with a hint.
    """

    def elsewhere() -> str:
        names = ", ".join(others())
        return f"{CPU}, or compile it for {names}" if names else CPU

    check_operations(program, limits, f"design {limits.design}", elsewhere)
    reason = limits.error(program.parameters, products=program.multiplies)
    if reason:
        kind = scheme_of(program.parameters).automatic.__name__
        source = next(iter(program.inputs.values())).source
        raise source.error(
            f"program {program.name}: parameters {program.parameters.name!r} have {reason}: "
            f"{elsewhere()}, or let {kind}(design={limits.design!r}) choose parameters"
        )


def check_operations(
    program: Program, limits: ParameterLimits, design: str, hint: Callable[[], str] = lambda: CPU
) -> None:
    """Refuses a program with an operation that a design does not support with any parameters.

    Args:
        program: The program.
        limits: The design's limits.
        design: The design's name in errors.
        hint: Finds the hint.

    Raises:
        ProgramError: Begins with the user's line.
    """
    scheme = scheme_of(program.parameters)
    for node in program.nodes:
        obstacle, more = scheme.obstacle(program.parameters, node.op, limits, design)
        if obstacle:
            ways = f"{hint()}, or {more}" if more else hint()
            raise node.source.error(f"{scheme.words(node.op)}, {obstacle}: {ways}")


def at_line(program: Program, node: int | None, error: ProgramError, design: str) -> ProgramError:
    """Returns (does not raise) a compilation error, with the user's line if it is known.

    Args:
        program: The program.
        node: Id of the HE node that could not be compiled; None: no single one.
        error: The compiler's error.
        design: The design's name in the error.
    """
    if node is None or not 0 <= node < len(program.nodes):
        source, words = next(iter(program.inputs.values())).source, f"program {program.name}"
    else:
        found = program.nodes[node]
        source, words = found.source, operation_words(found, program.parameters)
    hint = "" if "cpu" in str(error) else f"; or {CPU}"
    return source.error(f"{words}, which {design} cannot run: {error}{hint}")
