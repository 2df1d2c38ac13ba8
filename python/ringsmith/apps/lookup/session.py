"""One encrypted lookup from the table to the decrypted record, stage by stage."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from ringsmith.apps import session
from ringsmith.apps.lookup.client import Client
from ringsmith.apps.lookup.records import Integers, load_records
from ringsmith.apps.lookup.server import Server
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design


@dataclass(frozen=True, eq=False)
class Found:
    """What a lookup brought.

    Attributes:
        record: The decrypted record, (fields,).
        expected: The table's.
    """

    record: Integers
    expected: Integers

    @property
    def right(self) -> bool:
        """Whether it is the table's."""
        return np.array_equal(self.record, self.expected)

    @classmethod
    def compare(cls, records: Integers, wanted: int, decrypted: Integers) -> "Found":
        """Sets the decrypted record beside the table's."""
        return cls(decrypted[0], records[wanted])


Session: TypeAlias = session.Session[Integers, list[int], Server, Client, Found]
"""The model is the table; the data are the numbers of the wanted records, one."""

Answer: TypeAlias = session.Answer[Found]


def begin(stages: Stages, wanted: int, design: str | Design | None) -> Session:
    """Compiles, makes keys and encrypts the question.

    Args:
        stages: Shows progress.
        wanted: Number of the record that the client wants.
        design: Accelerator to schedule for; None: the ``cpu`` device only.

    Raises:
        ParameterError: When there is no such record.
        ProgramError: When the design cannot run the program.
        ToolError: When scikit-learn is missing.
    """
    with stages("Load the table") as stage:
        records = load_records()
        stage.note = f"{len(records):,} records of {records.shape[1]} numbers"
    with stages(session.PLAN) as stage:
        server = Server(records, design)
        executable = server.compiled.compiled_graph.executable
        stage.note = f"{len(server.program.nodes)} operations"
        stage.note += f", {executable.instructions} instructions" if executable else ""
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt which record it wants") as stage:
        query = client.encrypt(wanted)
        stage.note = f"{len(query)} ciphertexts of {session.mebibytes(*query.values())} together"
    compare = partial(Found.compare, records, wanted)
    return session.Session(records, [wanted], server, client, [query], compare)
