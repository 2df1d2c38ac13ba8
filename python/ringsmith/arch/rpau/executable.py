"""What an accelerator is given: instructions, constants, and the place of every polynomial.

An executable holds no residue of any input and no key: those are handed over at run time. It is a
JSON file, so that it can be looked at, kept and checked.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ringsmith.arch.rpau.assembler import decode
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.errors import ProgramError

FORMAT = "ringsmith-rpau-executable"
VERSION = 1


@dataclass(frozen=True)
class KeyLoad:
    """Limb i of ``key[digit][half]`` goes to key-store ``index`` of each RPAU i in ``mask``."""

    key: str
    digit: int
    half: int
    index: int
    mask: int


@dataclass(frozen=True)
class Executable:
    """A scheduled program of one design.

    Attributes:
        design: The design that it was scheduled for.
        primes: Prime of each RPAU.
        roots: The primes' 2N-th roots of unity.
        words: Instruction words, ``halt`` last.
        starts: For each instruction, the cycle in which it issues, counted from the start command.
        origins: For each instruction, the HE operation that it serves.
        cycles: Clock cycles from the start command to completion.
        peak_polys: The most work polynomials in use at once in one RPAU.
        constants: Constant file of each RPAU.
        inputs: Input name -> work polynomial by RPAU.
        outputs: Output name -> work polynomial by RPAU.
        keys: Contents of the key store.
    """

    design: RpauDesign
    primes: tuple[int, ...]
    roots: tuple[int, ...]
    words: tuple[int, ...]
    starts: tuple[int, ...]
    origins: tuple[str, ...]
    cycles: int
    peak_polys: int
    constants: tuple[tuple[int, ...], ...]
    inputs: Mapping[str, Mapping[int, int]]
    outputs: Mapping[str, Mapping[int, int]]
    keys: tuple[KeyLoad, ...]

    def to_json(self) -> str:
        """The executable as a JSON file."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1)

    @staticmethod
    def from_json(text: str) -> "Executable":
        """Reads what ``to_json`` wrote.

        Raises:
            ProgramError: If the text is not an executable of this version, or does not fit its own
                design.
        """
        try:
            table: dict[str, Any] = json.loads(text)
            if (table.pop("format"), table.pop("version")) != (FORMAT, VERSION):
                raise ProgramError(
                    f"not a {FORMAT} file of version {VERSION}: compile the program again"
                )
            executable = _from_table(table)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ProgramError(
                f"damaged executable ({error}): compile the program again"
            ) from error
        for word in executable.words:
            decode(word)
        return executable


def _from_table(table: dict[str, Any]) -> Executable:
    def places(entry: dict[str, dict[str, int]]) -> dict[str, dict[int, int]]:
        return {
            name: {int(rpau): int(poly) for rpau, poly in where.items()}
            for name, where in entry.items()
        }

    return Executable(
        design=RpauDesign(**table["design"]),
        primes=tuple(table["primes"]),
        roots=tuple(table["roots"]),
        words=tuple(table["words"]),
        starts=tuple(table["starts"]),
        origins=tuple(table["origins"]),
        cycles=int(table["cycles"]),
        peak_polys=int(table["peak_polys"]),
        constants=tuple(tuple(values) for values in table["constants"]),
        inputs=places(table["inputs"]),
        outputs=places(table["outputs"]),
        keys=tuple(KeyLoad(**entry) for entry in table["keys"]),
    )
