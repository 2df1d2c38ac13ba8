"""What applications say of a stage when it is done; see ``stages``."""

from ringsmith import runtime
from ringsmith.objects import EvaluationKeys
from ringsmith.program import Program


def of_program(program: Program, compiled: runtime.Compiled) -> str:
    """How long a program is, and what it was scheduled as where it was scheduled for a design."""
    executable = compiled.compiled_graph.executable
    scheduled = f", {executable.instructions} instructions" if executable else ""
    return f"{len(program.nodes)} operations{scheduled}"


def of_keys(keys: EvaluationKeys) -> str:
    """How many keys the client makes for the server."""
    count = len(keys.galois) + (keys.relin is not None)
    return f"{count} evaluation keys for the server"
