"""Whether a design can run a program, in words of the program: the user's line, and what to do."""

from collections.abc import Sequence

from ringsmith.errors import ProgramError
from ringsmith.params import BfvParameters, ParameterLimits
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Op

_WORDS = {
    Op.ADD: "adds two encrypted vectors",
    Op.SUB: "subtracts two encrypted vectors",
    Op.NEGATE: "negates an encrypted vector",
    Op.MULTIPLY: "multiplies two encrypted vectors",
    Op.SQUARE: "squares an encrypted vector",
    Op.ADD_PLAIN: "adds plain numbers",
    Op.SUB_PLAIN: "subtracts plain numbers",
    Op.MULTIPLY_PLAIN: "multiplies by plain numbers",
    Op.RELINEARIZE: "relinearizes a product",
    Op.RESCALE: "rescales a product",
    Op.RELINEARIZE_RESCALE: "relinearizes and rescales a product",
    Op.MOD_SWITCH: "switches to a smaller modulus",
    Op.ROTATE: "rotates an encrypted vector",
    Op.CONJUGATE: "conjugates an encrypted vector",
    Op.SWAP_COLUMNS: "swaps the rows of an encrypted vector",
    Op.INPUT: "takes an input",
    Op.OUTPUT: "hands out a result",
}

CPU = "run it on device cpu"


def operation_words(node: Node, scheme: str) -> str:
    """Returns what a node does, such as ``multiplies two encrypted BFV vectors``."""
    words = _WORDS.get(node.op, f"needs the operation {node.op}")
    return words.replace("encrypted", "encrypted BFV") if scheme == "bfv" else words


def check_fits(program: Program, limits: ParameterLimits, others: Sequence[str] = ()) -> None:
    """Refuses a program that a design cannot run because of its parameters or operations.

    Args:
        program: The program.
        limits: What the design takes.
        others: Names of designs that take the program, for the error.

    Raises:
        ProgramError: Begins with the user's line: that of the operation, or of the trace where the
            parameters are the reason; says what to do.
    """
    elsewhere = f"{CPU}, or compile it for {', '.join(others)}" if others else CPU
    check_operations(program, limits, f"design {limits.design}", elsewhere)
    products = any(node.op in (Op.MULTIPLY, Op.SQUARE) for node in program.nodes)
    reason = limits.refusal(program.parameters, products=products)
    if reason:
        kind = "AutoBfvParameters" if program.parameters.scheme == "bfv" else "AutoParameters"
        source = next(iter(program.inputs.values())).source
        raise source.error(
            f"program {program.name}: parameters {program.parameters.name!r} have {reason}: "
            f"{elsewhere}, or let {kind}(design={limits.design!r}) choose parameters"
        )


def check_operations(
    program: Program, limits: ParameterLimits, design: str, way_out: str = CPU
) -> None:
    """Refuses a program with an operation that a design does not do, whatever the parameters.

    Args:
        program: The program.
        limits: What the design does.
        design: What errors call it.
        way_out: What to do instead.

    Raises:
        ProgramError: Begins with the user's line.
    """
    if isinstance(program.parameters, BfvParameters):
        for node in program.nodes:
            _check_bfv(program.parameters, node, limits, design, way_out)


def _check_bfv(
    parameters: BfvParameters, node: Node, limits: ParameterLimits, design: str, way_out: str
) -> None:
    done, words = limits.bfv_multiplications, operation_words(node, "bfv")
    if node.op in (Op.MULTIPLY, Op.SQUARE) and parameters.multiplication not in done:
        if not done:
            raise node.source.error(
                f"{words}, and {design} has no unit for BFV products: {way_out}"
            )
        raise node.source.error(
            f"{words}, which {design} does by multiplication {' or '.join(done)}, "
            f"and parameters {parameters.name!r} have {parameters.multiplication!r}: {way_out}, or "
            f"take parameters with multiplication={done[0]!r}"
        )
    if node.op in (Op.ROTATE, Op.SWAP_COLUMNS) and not limits.bfv_rotations:
        raise node.source.error(f"{words}, and {design} rotates CKKS vectors only: {way_out}")


def at_line(program: Program, node: int | None, error: ProgramError, design: str) -> ProgramError:
    """Returns (does not raise) an error of compiling, with the user's line where it is known.

    Args:
        program: The program.
        node: Id of the HE node that could not be compiled; None: no single one.
        error: What compiling said.
        design: What the error calls the design.
    """
    if node is None or not 0 <= node < len(program.nodes):
        source, words = next(iter(program.inputs.values())).source, f"program {program.name}"
    else:
        found = program.nodes[node]
        source, words = found.source, operation_words(found, program.parameters.scheme)
    way_out = "" if "cpu" in str(error) else f"; or {CPU}"
    return source.error(f"{words}, which {design} cannot run: {error}{way_out}")
