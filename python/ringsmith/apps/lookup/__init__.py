"""Encrypted lookup: one of 1,024 records, and the server learns neither which nor what it holds.

A client encrypts which record it wants, as two selectors: the record's row and its column in a
table. The server multiplies them, which leaves a one in the record's slot and zeros in all others,
multiplies by its table, and sums up. Products and sums are exact: BFV.

Slot s of either half of a ciphertext stands for record s modulo the number of records: each block
of as many slots holds one number of every record. The records are scanned digits of 8 x 8 pixels,
packed into 16 numbers each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.text import Text

from ringsmith.apps.application import Application, Numbers, Server
from ringsmith.apps.cnn import BLACK, WIDTH, load_images
from ringsmith.apps.report import figures_table
from ringsmith.backends.base import Design
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.params import BfvParameters
from ringsmith.program import BfvProgram, EncryptedVector, sum_rotations, trace

Integers = NDArray[np.int64]

ROW, COLUMN = "row", "column"
"""The encrypted program's inputs."""
COLUMNS: Final = 32
"""Columns of the table; record i is in row i div ``COLUMNS``."""
RECORDS: Final = 32 * COLUMNS
FIELDS: Final = 16
"""Numbers of a record."""
FIELD_BITS: Final = 16
"""Bits of a number: four pixels of four bits."""
_PIXEL_BITS: Final = 4
_PIXELS: Final = FIELD_BITS // _PIXEL_BITS
_SHADES: Final = " .:-=+*#%@"


def load_records() -> Integers:
    """Loads the records (1024, 16), each number from 0 to 2^16 - 1.

    Raises ToolError when scikit-learn, which carries the data, is not installed.
    """
    images, _ = load_images()
    return packed(images.pixels[:RECORDS])


def packed(pixels: NDArray[np.float64]) -> Integers:
    """Packs images (count, 8, 8) from 0 to 1 into records (count, 16), four pixels a number."""
    most = (1 << _PIXEL_BITS) - 1
    shades = np.minimum(np.rint(pixels * BLACK), most).astype(np.int64)
    groups = shades.reshape(len(pixels), FIELDS, _PIXELS)
    weights: Integers = np.left_shift(1, _PIXEL_BITS * np.arange(_PIXELS, dtype=np.int64))
    return groups @ weights


def picture(record: Integers) -> list[str]:
    """Draws a record (16,) with characters, a line a row of pixels."""
    shifts = _PIXEL_BITS * np.arange(_PIXELS)
    shades = record[:, np.newaxis] >> shifts & (1 << _PIXEL_BITS) - 1
    last = len(_SHADES) - 1
    marks = [_SHADES[int(shade) * last // (BLACK - 1)] * 2 for shade in shades.ravel()]
    return ["".join(marks[start : start + WIDTH]) for start in range(0, len(marks), WIDTH)]


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
    block. Raises ParameterError when a half's slots do not hold the records; ProgramError when the
    noise budget does not bear the program.
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
        return {
            f"fields{number}": sum_rotations(
                selected * padded[:, start : start + blocks].T.ravel(), count
            )
            for number, start in enumerate(range(0, fields, blocks))
        }

    return trace(lookup, of, [ROW, COLUMN], allow_overflow=True)  # fields fill all numbers below t


@dataclass(frozen=True, eq=False)
class Lookup(Application[Integers]):
    """A table and the records that are wanted, a run each; the outcome is (wanted, fields)."""

    name: ClassVar[str] = "lookup"
    encrypted: ClassVar[str] = "which record it wants"
    preparation: ClassVar[str] = "Load the table"

    wanted: Sequence[int]
    records: Integers | None = None
    parameters: BfvParameters = field(default_factory=parameters)
    columns: int = COLUMNS

    def __post_init__(self) -> None:
        count = RECORDS if self.records is None else len(self.records)
        for record in self.wanted:
            if not 0 <= record < count:
                raise ParameterError(f"record {record}: take one of 0 … {count - 1}")

    @cached_property
    def table(self) -> Integers:
        """The table; the server's."""
        return load_records() if self.records is None else self.records

    def prepare(self) -> str:
        """Loads the table."""
        return "{:,} records of {} numbers".format(*self.table.shape)

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[BfvProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.table, self.parameters)]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns the selectors of each wanted record's row and column."""
        rows, columns = np.divmod(np.arange(self.parameters.slots) % len(self.table), self.columns)
        for record in self.wanted:
            row, column = divmod(record, self.columns)
            yield {ROW: rows == row, COLUMN: columns == column}

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Integers:
        """Returns the records that came back."""
        count, fields = self.table.shape
        slots = [slots[::count] for run in decrypted for slots in run.values()]
        numbers: Integers = np.concatenate(slots) % self.parameters.plain_modulus
        return numbers.reshape(len(decrypted), -1)[:, :fields]

    def right(self, outcome: Integers) -> bool:
        """Returns whether the records are the table's."""
        return np.array_equal(outcome, self.table[list(self.wanted)])

    def show(self, outcome: Integers) -> Iterator[RenderableType]:
        """Draws the records."""
        for wanted, record in zip(self.wanted, outcome, strict=True):
            yield Text("\n".join(f"  {line}" for line in picture(record)))
            rows = [("numbers equal to the table's", "all" if self.right(outcome) else "no")]
            yield figures_table(f"Record {wanted}, decrypted", rows)

    def numbers(self, outcome: Integers) -> dict[str, object]:
        """Returns the first record's numbers."""
        return {
            "record": self.wanted[0],
            "fields": outcome[0].tolist(),
            "right": self.right(outcome),
        }

    def check(self, outcome: Integers) -> None:
        """Refuses other numbers than the table's."""
        if not self.right(outcome):
            raise DeviceError(f"records {self.wanted} came back with other numbers: report this")

    def typed(self) -> str:
        """Returns the record."""
        return "".join(f" --record {record}" for record in self.wanted)
