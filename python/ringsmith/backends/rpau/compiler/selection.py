"""What instruction selection yields: instructions on virtual polynomials, and what they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.compiler.virtual import Location, VirtualInstruction
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.hdl.base_conversion import Conversion


@dataclass(frozen=True)
class KeyPolynomial:
    """Limbs of one modulus bank of a polynomial of a key-switching key: ``key[digit][half]``.

    Or, in a larger ring, a sub-polynomial of them.
    """

    key: str
    digit: int
    half: int
    modulus_bank: int
    sub_polynomial: int


@dataclass(frozen=True)
class KeySeed:
    """The seed of a key, with the limbs of one modulus bank that are expanded from it."""

    key: str
    modulus_bank: int


@dataclass(frozen=True)
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        log_degree: log2 of the degree of the ring.
        sub_polynomials: Virtual polynomials of a limb.
        order: The RPAU and modulus bank of every slot.
        limbs: The limb in each slot.
        instructions: In a valid sequential order.
        masks: For each virtual polynomial, the mask of RPAUs that hold it.
        constants: For each constant index, its value by slot.
        conversions: What base conversions do, by their index.
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        seeds: For each seed, its seed-store index and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    log_degree: int
    sub_polynomials: int
    order: SlotOrder
    limbs: tuple[int, ...]
    instructions: Sequence[VirtualInstruction]
    masks: Sequence[int]
    constants: Sequence[Mapping[int, int]]
    conversions: Sequence[Conversion]
    keys: Mapping[KeyPolynomial, tuple[int, int]]
    seeds: Mapping[KeySeed, tuple[int, int]]
    inputs: Mapping[str, Location]
    outputs: Mapping[str, Location]
