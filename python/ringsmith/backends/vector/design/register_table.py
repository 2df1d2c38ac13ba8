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
    REFUSED = 0x48


class Status(IntFlag):
    """Bits of ``status``."""

    RUNNING = 0x1
    """A program was started, and has neither ended nor failed."""

    DONE = 0x2
    """The program has ended."""

    FAILED = 0x4
    """A cluster has stopped, its register `fault` says why. `control.reset` ends that state."""

    RESETTING = 0x8
    """The accelerator is being reset. It first waits for all answers that memory owes it."""


class Control(IntFlag):
    """Bits of ``control``."""

    START = 0x1
    """Starts a program, with the ring and the lists that the registers hold. Refused (busy) while
    one runs, after a failure, and during a reset."""

    RESET = 0x2
    """Stops whatever runs or has failed, waits for the answers that memory owes, then resets the
    clusters and clears `refused`. Registers, primes and passes keep their contents; limbs on the
    way to memory may be there in part."""


class Refused(IntFlag):
    """Bits of ``refused``."""

    BUSY = 0x1
    """A start, a prime or a pass while a program ran or stopped, or after a failure; a start during
    a reset."""

    PLACE = 0x2
    """A start with a list at no multiple of 256 bytes, or outside the bits of an address."""

    VALUE = 0x4
    """A start in a ring that the design does not run, or with a list of 2^28 items or more."""


class ClusterRegister(IntEnum):
    """Byte addresses from a cluster's first on."""

    LOADS = 0x00
    COMPUTING = 0x04
    STORES = 0x08
    FAULT = 0x0C
    LOADS_AT = 0x10
    COMPUTING_AT = 0x18
    STORES_AT = 0x20
    FAULT_ITEM = 0x28


MAGIC = 0x54434556
VERSION_MINOR = 0
VERSION_MAJOR = 1
CLUSTERS = 0x100
"""Where the first cluster begins."""
CLUSTER_BYTES = 0x40
