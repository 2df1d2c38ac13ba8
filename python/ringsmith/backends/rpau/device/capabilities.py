"""Checks a device's capability registers against the requested design."""

from collections.abc import Sequence

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import CAPABILITIES
from ringsmith.backends.rpau.design.rtl import capabilities
from ringsmith.errors import DeviceError


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
