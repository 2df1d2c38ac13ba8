"""The server: it holds the table and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from collections.abc import Sequence

import numpy as np

from ringsmith import runtime
from ringsmith.apps.interface import Inputs
from ringsmith.apps.lookup.interface import COLUMN, ROW, Interface
from ringsmith.apps.lookup.records import FIELD_BITS, SIDES, Integers
from ringsmith.backends.base import Design
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters
from ringsmith.program import BfvProgram, EncryptedVector, trace


def parameters() -> BfvParameters:
    """N = 2^13 and primes of the sizes of SEAL's default; 128 bits by the 2018 standard."""
    return BfvParameters.create(
        n=1 << 13,
        prime_bits=(43, 43, 44, 44),
        special_bits=44,
        plain_bits=FIELD_BITS + 1,
        multiplication="hps",
        name="lookup",
    )


def plan(records: Integers, of: BfvParameters) -> BfvProgram:
    """Returns the encrypted program: selectors of row and column in, the record's numbers out.

    Output ``fieldsK`` holds the numbers K·blocks, … of the record, each in the first slot of its
    block.

    Raises:
        ParameterError: When a half's slots do not hold the records.
        ProgramError: When the noise budget does not bear the program.
    """
    count, fields = records.shape
    half = of.row_size
    if count & (count - 1) or not 1 < count <= half:
        raise ParameterError(
            f"{count} records: take a power of two from 2 to {half}, the slots of half a ciphertext"
        )
    blocks = of.slots // count
    padded = np.zeros((count, -(-fields // blocks) * blocks), dtype=np.int64)
    padded[:, :fields] = records

    def lookup(row: EncryptedVector, column: EncryptedVector) -> dict[str, EncryptedVector]:
        selected = row * column
        found = {}
        for number, start in enumerate(range(0, fields, blocks)):
            total = selected * padded[:, start : start + blocks].T.ravel()
            step = 1
            while step < count:
                total = total + total.rotate(step)
                step *= 2
            found[f"fields{number}"] = total
        return found

    return trace(lookup, of, [ROW, COLUMN], modular=True)  # fields fill all numbers below t


class Server:
    """A table made ready to be looked up in.

    Attributes:
        program: The planned HE program.
        compiled: The same for the interpreter and, where a design is given, its accelerator.
        interface: What clients need to know.
    """

    def __init__(
        self, records: Integers, design: str | Design | None, of: BfvParameters | None = None
    ) -> None:
        """Plans and compiles.

        Args:
            records: The table: numbers of each record, (records, fields).
            design: Accelerator to schedule for; None: the ``cpu`` device only.
            of: HE parameters; None: ``parameters()``.

        Raises:
            ParameterError: When the parameters' slots do not hold the records.
            ProgramError: When the parameters or the design cannot bear the program.
        """
        self.program = plan(records, of or parameters())
        self.compiled = runtime.compile_program(self.program, design)
        self.interface = Interface(
            self.program.parameters,
            self.program.key_needs,
            self.compiled.compiled_graph.expands_keys,
            SIDES[1],
            *records.shape,
        )

    def run(
        self, machine: runtime.Machine, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> list[runtime.RunResult]:
        """Returns the encrypted record of each query.

        Args:
            machine: Where to run, from ``runtime.open_device``.
            inputs: Queries, encrypted as the interface says.
            keys: The client's evaluation keys.
        """
        return [self.compiled.run(machine, each, keys) for each in inputs]
