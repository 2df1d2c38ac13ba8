"""For devices that run RTL: checks capabilities and programs, and decodes the run status."""

from collections.abc import Sequence

import numpy as np

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import CAPABILITIES
from ringsmith.backends.rpau.design.rtl import capabilities
from ringsmith.backends.rpau.device.interface import KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.isa.assembler import check_program
from ringsmith.errors import DeviceError, ProgramError


def check_capabilities(design: RpauDesign, reported: Sequence[int], hint: str) -> None:
    """Compares a device's capability registers, in the order of ``CAPABILITIES``, with a design's.

    A newer device may report more values; those known here must agree.

    Args:
        design: What was asked for.
        reported: The values that the device reported.
        hint: Ends the message: what to do about a difference.

    Raises:
        DeviceError: If the device reports too few values or a different one; names each of them.
    """
    if len(reported) < len(CAPABILITIES):
        missing = ", ".join(capability.name for capability in CAPABILITIES[len(reported) :])
        raise DeviceError(f"the device does not report {missing}: {hint}")
    expected = capabilities(design)
    found = dict(zip(expected, reported, strict=False))
    wrong = [name for name, value in expected.items() if found[name] != value]
    if wrong:
        says = ", ".join(f"{name} = {_text(name, found[name])}" for name in wrong)
        has = ", ".join(f"{name} = {getattr(design, name)}" for name in wrong)
        raise DeviceError(f"the device says {says} and design {design.name} has {has}: {hint}")


def _text(name: str, number: int) -> str:
    """Returns a capability register's number in the form of the design's field."""
    (values,) = (capability.values for capability in CAPABILITIES if capability.name == name)
    return values[number] if number < len(values) else str(number)


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


def report_of(cycles: int, instructions: int, failed: bool) -> SegmentReport:
    """The report of a program that has ended; ``failed``: at an opcode that does not exist.

    Raises:
        DeviceError: If it failed.
    """
    if failed:
        raise DeviceError(f"instruction {instructions - 1} has an opcode that does not exist")
    return SegmentReport(cycles, instructions)
