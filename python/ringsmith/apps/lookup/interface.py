"""What the client and the server of a table agree on, all of it public."""

from dataclasses import dataclass

from ringsmith.apps import interface
from ringsmith.params import BfvParameters

ROW, COLUMN = "row", "column"
"""The encrypted program's inputs."""


@dataclass(frozen=True, eq=False)
class Interface(interface.Interface):
    """What a client must know to be served.

    Slot s of either half of a ciphertext stands for record s modulo ``records``: each block of so
    many slots holds one number of every record.

    Attributes:
        columns: Columns of the table; record i is in row i div ``columns``.
        records: Records, a power of two, as many as a half's slots or fewer.
        fields: Numbers of a record.
    """

    parameters: BfvParameters
    columns: int
    records: int
    fields: int

    @property
    def blocks(self) -> int:
        """Numbers of every record that one ciphertext holds."""
        return self.parameters.slots // self.records
