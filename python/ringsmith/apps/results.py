"""Files of results, and what every application's command refuses."""

import json
from pathlib import Path

from ringsmith.arch.rpau.design import load_design
from ringsmith.errors import DeviceError
from ringsmith.interop.files import check_target, write_whole


def check(output: Path | None, design: str | None) -> None:
    """Refuses a file or a design before minutes are spent on what goes into it.

    Raises:
        InteropError: When the file cannot be written.
        ParameterError: When there is no such design.
    """
    if design is not None:
        load_design(design)
    if output:
        check_target(output, overwrite=True)


def write(path: Path, numbers: dict[str, object]) -> None:
    """Writes numbers as JSON, whole or not at all."""
    write_whole(path, (json.dumps(numbers, indent=2) + "\n").encode(), overwrite=True)


def refuse_different_bits(equal_bits: bool | None) -> None:
    """Refuses a result whose residues are not the cpu device's; None: they were not compared.

    Raises:
        DeviceError: Where they differ.
    """
    if equal_bits is False:
        raise DeviceError("the device's residues differ from the cpu device's: report this")
