"""The registers of an accelerator of architecture vector.

Generated from rtl/vector_axi/rs_vector_registers.rdl by `python -m
ringsmith.backends.vector.device.generate_registers`; do not edit.
"""

from enum import IntEnum, IntFlag


class VectorRegister(IntEnum):
    """Byte addresses."""

    MAGIC = 0x00
    VERSION = 0x04
    SHAPE = 0x08
    STATUS = 0x0C
    CONTROL = 0x10
    WATCHDOG = 0x14
    CYCLES = 0x18
    RING = 0x20
    PRIME = 0x24
    PRIME_Q = 0x28
    PRIME_MU = 0x30
    PASS = 0x38
    PASS_BITS = 0x40


class Status(IntFlag):
    """Bits of ``status``."""

    RUNNING = 0x1
    """A program was started, and has neither ended nor failed."""

    DONE = 0x2
    """The program has ended."""

    FAILED = 0x4
    """A cluster has stopped, its register `fault` says why. Only a reset ends that state."""


class ClusterRegister(IntEnum):
    """Byte addresses from a cluster's first on."""

    LOADS = 0x00
    COMPUTING = 0x04
    STORES = 0x08
    FAULT = 0x0C
    LOADS_AT = 0x10
    COMPUTING_AT = 0x18
    STORES_AT = 0x20


MAGIC = 0x54434556
VERSION_MINOR = 0
VERSION_MAJOR = 1
CLUSTERS = 0x100
"""Where the first cluster begins."""
CLUSTER_BYTES = 0x40
