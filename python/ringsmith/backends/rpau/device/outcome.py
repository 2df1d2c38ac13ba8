"""Checks a program before it is loaded, and decodes its run status, for devices that run RTL."""

import numpy as np

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import KeyStream, RunReport, Words
from ringsmith.backends.rpau.isa.assembler import check_program
from ringsmith.errors import DeviceError, ProgramError


def checked_words(words: Words, design: RpauDesign) -> Words:
    """Instruction words, ready to be loaded.

    Raises:
        DeviceError: If they exceed the program store, are no instructions of this design, or do
            not end with their only halt.
    """
    try:
        check_program([int(word) for word in words], design)
    except ProgramError as error:
        raise DeviceError(str(error)) from error
    return np.ascontiguousarray(words, dtype=np.uint64)


def stopped(
    max_cycles: int, stream: KeyStream | None = None, arrived: int = 0, awaited: int = 0
) -> DeviceError:
    """The error of a program that was stopped after ``max_cycles``.

    ``awaited``: number of key polynomials it waits for, or 0; ``arrived``: number that came.
    """
    if stream is not None and awaited:
        return stream.missing(arrived, awaited)
    return DeviceError(
        f"the program has not ended after {max_cycles} cycles: allow more, or look for an "
        "instruction that waits for ever"
    )


def report_of(cycles: int, instructions: int, failed: bool) -> RunReport:
    """The report of a program that has ended; ``failed``: at an opcode that does not exist.

    Raises:
        DeviceError: If it failed.
    """
    if failed:
        raise DeviceError(f"instruction {instructions - 1} has an opcode that does not exist")
    return RunReport(cycles, instructions)
