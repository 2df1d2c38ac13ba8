"""How far decrypted results may be from those of ``Program.evaluate``."""

from ringsmith.program.graph import Program
from ringsmith.schemes.ckks.program import CkksProgram


def expected_errors(program: Program) -> dict[str, float]:
    """Returns the forecast error of each output, by name; 0 where results are exact.

    Inputs stay within their declared ranges, or within ±1 where none is declared.
    """
    if not isinstance(program, CkksProgram):
        return dict.fromkeys(program.outputs, 0.0)
    found = program.forecast()
    return {name: output.error for name, output in found.outputs.items()}
