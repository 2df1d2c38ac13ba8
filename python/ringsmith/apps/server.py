"""A server of one encrypted program; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from collections.abc import Sequence

from ringsmith import runtime
from ringsmith.apps.interface import Inputs
from ringsmith.backends.base import Design
from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.program import CkksProgram


class ProgramServer:
    """A CKKS program of encrypted vectors that arrive alike, made ready to run for clients.

    Attributes:
        program: The planned HE program.
        compiled: The same for the interpreter and, where a design is given, its accelerator.
    """

    def __init__(self, program: CkksProgram, design: str | Design | None) -> None:
        """Compiles.

        Args:
            program: The planned program.
            design: Accelerator to schedule for; None: the ``cpu`` device only.

        Raises:
            ProgramError: When the design is too small for the program.
        """
        self.program = program
        self.compiled = runtime.compile_program(program, design)

    @property
    def terms(self) -> tuple[CkksParameters, KeyNeeds, bool, float, int, tuple[float, float]]:
        """What the interface to clients begins with: the fields of ``VectorInterface``."""
        [port] = set(self.program.input_ports.values())
        seeded = self.compiled.compiled_graph.expands_keys
        program = self.program
        assert port.low is not None and port.high is not None, "of CKKS"  # noqa: PT018 - no test
        within = (port.low, port.high)
        return program.parameters, program.key_needs, seeded, port.scale, port.limbs, within

    def run(
        self, machine: runtime.Machine, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> list[runtime.RunResult]:
        """Returns the encrypted outputs of the program for each of several inputs.

        Args:
            machine: Where to run, from ``runtime.open_device``.
            inputs: Packed vectors, encrypted as the interface says.
            keys: The client's evaluation keys.
        """
        return [self.compiled.run(machine, each, keys) for each in inputs]
