"""The registers of a card.

Generated from rtl/card/rs_card_registers.rdl by `python -m
ringsmith.backends.rpau.device.generate_registers`; do not edit.
"""

from enum import IntEnum, IntFlag


class CardRegister(IntEnum):
    """Byte addresses."""

    MAGIC = 0x00
    VERSION = 0x04
    COPROCESSORS = 0x08
    HOST_BITS = 0x0C
    REPORTED = 0x10


class ChannelRegister(IntEnum):
    """Byte addresses from a channel's first on."""

    LIST = 0x00
    CONTROL = 0x08
    STATUS = 0x0C
    ADDRESS = 0x10
    COMPLETED = 0x18
    REPORTED = 0x1C
    ERROR = 0x20


class ChannelControl(IntFlag):
    """Bits of ``control``."""

    GO = 0x1
    """Works through the list. Without effect while the channel runs."""

    STOP = 0x2
    """Ends the list as soon as the bus is quiet."""


class ChannelStatus(IntFlag):
    """Bits of ``status``."""

    RUNNING = 0x1
    """It works through a list, or ends one."""

    FAILED = 0x2
    """It has stopped with an error; from the next list on 0."""


MAGIC = 0x44524143
VERSION_MINOR = 0
VERSION_MAJOR = 1
CHANNELS = 0x100
"""Where the first channel begins."""
CHANNEL_BYTES = 0x40
