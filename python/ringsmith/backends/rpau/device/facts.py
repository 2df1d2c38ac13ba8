"""What a device says about itself, against the design that was asked for."""

from collections.abc import Sequence

from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.device.register_table import FACTS
from ringsmith.backends.rpau.rtl import facts
from ringsmith.errors import DeviceError


def check_facts(design: RpauDesign, told: Sequence[int], way_out: str) -> None:
    """Compares the numbers that a device tells, in the order of ``FACTS``, with a design's.

    A device that tells more facts than are known here is newer, and agrees in those that are.

    Args:
        design: What was asked for.
        told: The device's facts.
        way_out: Ends the message: what to do about a difference.

    Raises:
        DeviceError: If the device tells too few facts, or another value; names each such fact.
    """
    if len(told) < len(FACTS):
        missing = ", ".join(fact.name for fact in FACTS[len(told) :])
        raise DeviceError(f"the device does not tell {missing}: {way_out}")
    expected = facts(design)
    found = dict(zip(expected, told, strict=False))
    wrong = [name for name, value in expected.items() if found[name] != value]
    if wrong:
        says = ", ".join(f"{name} = {_text(name, found[name])}" for name in wrong)
        has = ", ".join(f"{name} = {getattr(design, name)}" for name in wrong)
        raise DeviceError(f"the device says {says} and design {design.name} has {has}: {way_out}")


def _text(name: str, number: int) -> str:
    """A fact's number as the design would say it."""
    (values,) = (fact.values for fact in FACTS if fact.name == name)
    return values[number] if number < len(values) else str(number)
