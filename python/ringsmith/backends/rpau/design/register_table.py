"""The registers of a device.

Generated from rtl/shell/rs_registers.rdl by `python -m
ringsmith.backends.rpau.device.generate_registers`; do not edit.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple


class Capability(NamedTuple):
    """Something that a device says of its own design.

    Attributes:
        name: The attribute of the design.
        rtl_field: The field of the RTL's record that carries it.
        address: The address of its register.
        values: Words that stand for the numbers 0, 1, …; empty where the number itself is meant.
    """

    name: str
    rtl_field: str
    address: int
    values: tuple[str, ...]


class Register(IntEnum):
    """Byte addresses."""

    MAGIC = 0x00
    VERSION = 0x04
    ARCHITECTURE = 0x08
    CAPABILITY_COUNT = 0x0C
    CONTROL = 0x10
    STATUS = 0x14
    REFUSED = 0x18
    CYCLES = 0x20
    INSTRUCTIONS = 0x28
    PROGRAM_ADDRESS = 0x30
    PROGRAM_DATA = 0x38
    HOST_SPACE = 0x40
    HOST_UNIT = 0x44
    HOST_INDEX = 0x48
    HOST_WORD = 0x4C
    HOST_DATA = 0x50
    RING = 0x58
    DATA_PATH = 0x5C
    KEYS = 0x60
    KEY_ARRIVALS = 0x64


class Control(IntFlag):
    """Bits of ``control``."""

    START = 0x1
    """Starts the program at word 0. Refused (busy) while the device is not ready."""

    RESET = 0x2
    """Stops whatever runs, ends a burst of the data path with SLVERR and zeros, fails a list of the
    DMA, resets the device and clears `refused`. Memories keep their contents, but for what was
    being written."""


class Status(IntFlag):
    """Bits of ``status``."""

    BUSY = 0x1
    """A program runs."""

    RESETTING = 0x2
    """The device is being reset."""

    BAD_OPCODE = 0x4
    """The last program ended at an opcode that does not exist."""

    MOVING = 0x8
    """A burst of the data path, or a descriptor of the DMA, moves words."""


class Refused(IntFlag):
    """Bits of ``refused``."""

    BUSY = 0x1
    """A command or an access while the device was not ready."""

    PLACE = 0x2
    """An address that the device does not have, or an address space that cannot be read."""

    ORDER = 0x4
    """A word that is not the next of its row, an upper half without its lower one, or a burst of
    another shape than the data path takes."""

    VALUE = 0x8
    """A word wider than the words of its RPAU, or a half, or a beat of the data path, without all
    of its bytes."""


class AddressSpace(IntEnum):
    """Memory that `host_data` reaches: values of ``host_space``."""

    POLY = 0
    """Work polynomials: N words in logical order, in rings below N as many as the ring's degree;
    written and read."""

    KEY = 1
    """Key store: as many words in logical order; written only, as all below."""

    CONSTANT = 2
    """Constant file of a modulus bank; one word a row, in lane 0, as all below."""

    MODULUS = 3
    """q, mu, bits of q, and its index in the family, of a modulus bank."""

    TWIDDLE_LO = 4
    """The lower table of twiddle factors of a modulus bank, psi^e."""

    TWIDDLE_HI = 5
    """The upper table of twiddle factors of a modulus bank, psi^(e << LoBits)."""

    TWIDDLE = 6
    """All N twiddle factors of a modulus bank, psi^brev(j), where factors are stored and the two
    tables above are not there."""

    SEED = 7
    """An entry of the seed store: four words of 20 bits, the seed, lowest first; the limb."""

    CONVERSION = 8
    """A loaded conversion of the device, addressed as RPAU 0: word (16 * kind + column) * 16 + row,
    as docs/reference/baseconv.md numbers them."""


MAGIC = 0x474E4952
VERSION_MINOR = 0
VERSION_MAJOR = 1
ARCHITECTURE = 1

CAPABILITIES = (
    Capability("log_n", "LogN", 0x80, ()),
    Capability("word_bits", "Width", 0x84, ()),
    Capability("rpaus", "Rpaus", 0x88, ()),
    Capability("cores", "Cores", 0x8C, ()),
    Capability("dyadic_cores", "DyadicCores", 0x90, ()),
    Capability("work_polys", "WorkPolys", 0x94, ()),
    Capability("key_polys", "KeyPolys", 0x98, ()),
    Capability("constants", "Constants", 0x9C, ()),
    Capability("program_words", "ProgramWords", 0xA0, ()),
    Capability("reduction", "Reduction", 0xA4, ("barrett", "sparse", "folded")),
    Capability("modulus_banks", "ModulusBanks", 0xA8, ()),
    Capability("interconnect", "Interconnect", 0xAC, ("ring", "gather")),
    Capability("twiddles", "Twiddles", 0xB0, ("generated", "stored")),
    Capability("work_uram_polys", "WorkUramPolys", 0xB4, ()),
    Capability("key_ram", "KeyRam", 0xB8, ("block", "ultra")),
    Capability("family", "Family", 0xBC, ("none", "medha", "word48")),
    Capability("prng", "Prng", 0xC0, ("none", "trivium")),
    Capability("seeds", "Seeds", 0xC4, ()),
    Capability("link", "Link", 0xC8, ()),
    Capability("larger_rings", "LargerRings", 0xCC, ()),
    Capability("smaller_rings", "SmallerRings", 0xD0, ()),
    Capability("work_block_banks", "WorkBlockBanks", 0xD4, ()),
    Capability("narrow_rpaus", "NarrowRpaus", 0xD8, ()),
    Capability("narrow_bits", "NarrowWidth", 0xDC, ()),
    Capability("hop_cycles", "HopCycles", 0xE0, ()),
    Capability("converters", "Converters", 0xE4, ()),
    Capability("conversions", "Conversions", 0xE8, ()),
    Capability("core_multipliers", "CoreMultipliers", 0xEC, ()),
    Capability("key_stream", "KeyStream", 0xF0, ()),
)
"""What a device tells, in the order of its registers."""
