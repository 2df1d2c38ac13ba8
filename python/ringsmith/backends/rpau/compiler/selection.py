"""What instruction selection yields: instructions on virtual polynomials, and what they need."""

from dataclasses import dataclass, field

from ringsmith.backends.rpau.compiler.virtual import VirtualInstruction

Location = dict[int, int]
"""Place -> virtual polynomial that holds the limb that is there, or the first of its pieces.

In a ring larger than the design's N a limb lies in pieces, in as many virtual polynomials, one
after the other; key polynomials likewise.
"""


@dataclass(frozen=True)
class KeyPolynomial:
    """Limbs of one prime set of a polynomial of a key-switching key: ``key[digit][half]``.

    Or, in a larger ring, a piece of them.
    """

    key: str
    digit: int
    half: int
    prime_set: int
    piece: int


@dataclass(frozen=True)
class KeySeed:
    """The seed of a key, with the limbs of one prime set that are expanded from it."""

    key: str
    prime_set: int


@dataclass
class Selection:
    """The instructions of a program, with what they need around them.

    Attributes:
        log_degree: log2 of the degree of the ring.
        pieces: Virtual polynomials of a limb.
        instructions: In a valid sequential order.
        placement: For each virtual polynomial, the mask of RPAUs that hold it.
        limbs: The limb at each place.
        constants: For each constant index, its value by place.
        keys: For each key polynomial, its key-store index and the mask of RPAUs that need it.
        seeds: For each seed, its seed-store index and the mask of RPAUs that need it.
        inputs: Input name -> location of its limbs.
        outputs: Output name -> location of its limbs.
    """

    log_degree: int
    pieces: int
    limbs: tuple[int, ...]
    instructions: list[VirtualInstruction] = field(default_factory=list)
    placement: list[int] = field(default_factory=list)
    constants: list[dict[int, int]] = field(default_factory=list)
    keys: dict[KeyPolynomial, tuple[int, int]] = field(default_factory=dict)
    seeds: dict[KeySeed, tuple[int, int]] = field(default_factory=dict)
    inputs: dict[str, Location] = field(default_factory=dict)
    outputs: dict[str, Location] = field(default_factory=dict)
