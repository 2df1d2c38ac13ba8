"""The operations of homomorphic encryption: one record each, which everything else reads.

A record describes an operation independently of its subroutines. What differs between
schemes is theirs: how a program is planned, the size of errors, the subroutines
(``ringsmith.schemes``). A new operation is a record here; where one of its effects is new, that,
too; and its method in each scheme's writer (``docs/guide/extend.md``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.short_repr import short_repr

Values = NDArray[Any]
"""Numbers of all slots, shape (slots,)."""


class Scale(Enum):
    """How the scale of a result follows from the operands'. Exact schemes have the scale 1."""

    OWN = "given"
    SAME = "the operands'"
    PRODUCT = "product of the operands'"
    QUOTIENT = "divided by the prime that is dropped"


class Noise(Enum):
    """What an operation does to the errors of its operands."""

    NONE = "unchanged"
    FRESH = "of an encryption"
    SUM = "sum of the operands'"
    PRODUCT = "each times the other message, plus their product"
    KEY = "plus that of key switching"
    DIVISION = "plus that of rounding"
    KEY_AND_DIVISION = "plus those of key switching and rounding"
    RAISE = "plus those of key switching, to and from a sparse secret"
    BOOTSTRAP = "of the second, plus those of bootstrapping"
    SWITCH = "BFV: plus that of rounding; CKKS: unchanged"


class Key(Enum):
    """Which evaluation key an operation needs."""

    RELINEARIZATION = "relinearization"
    GALOIS = "Galois"
    SPARSE = "to and from a sparse secret"


class Drops(Enum):
    """Data primes that a result has fewer than the operands."""

    NONE = auto()
    LAST = auto()
    ANY = auto()
    RAISED = auto()
    """It has more, as many as asked."""


@dataclass(frozen=True)
class Slots:
    """The properties of a ciphertext that an operation's meaning depends on.

    Attributes:
        row: Numbers of a row, within which a rotation is cyclic.
        steps: Of a rotation: slots to the left.
    """

    row: int
    steps: int = 0


Meaning = Callable[[Values, Values, Slots], Values]
"""Numbers of the first and of the last operand, shape (slots,) each -> those of the result."""


def _first(a: Values, _: Values, __: Slots) -> Values:
    return a


def _last(_: Values, b: Values, __: Slots) -> Values:
    return b


@short_repr
@dataclass(frozen=True)
class Operation:
    """What an operation takes and makes.

    Attributes:
        name: As users and files name it.
        words: What a node does, in a sentence about a program: ``adds two encrypted vectors``.
        encrypted: Encrypted operands.
        plain: Whether it takes a plain operand, too.
        meaning: What it does to the numbers in the slots.
        takes: Polynomials that an encrypted operand may have.
        makes: Polynomials of the result; None: as many as the largest operand.
        drops: Data primes that the result has fewer.
        scale: The result's scale.
        noise: What it does to errors.
        key: The evaluation key that it needs.
        schemes: Those that have it.
        in_seal: Whether Microsoft SEAL has it, with the same bits.
        port: Whether it is an input or output of a program, and nothing is computed.
        part: Whether it is written only as a part of another operation, or made of others, and
            never alone.
        at_any_limbs: Whether it does the same, at the same scale, on any number of limbs: then
            limbs may be dropped before it as well as after.
        colour: In pictures, ``#rrggbb``. Related operations have related colours: additions blue,
            multiplications red to orange, what switches keys purple and green, what changes levels
            yellow and brown.
    """

    name: str
    words: str
    encrypted: int = 1
    plain: bool = False
    meaning: Meaning = _first
    takes: tuple[int, ...] = (2, 3)
    makes: int | None = None
    drops: Drops = Drops.NONE
    scale: Scale = Scale.SAME
    noise: Noise = Noise.NONE
    key: Key | None = None
    schemes: frozenset[str] = field(default=frozenset({"ckks", "bfv"}))
    in_seal: bool = True
    port: bool = False
    part: bool = False
    at_any_limbs: bool = False
    colour: str = ""

    @property
    def multiplies(self) -> bool:
        """Whether it multiplies ciphertexts with each other."""
        return self.noise is Noise.PRODUCT and not self.plain


def _sum(a: Values, b: Values, _: Slots) -> Values:
    return np.asarray(a + b)


def _difference(a: Values, b: Values, _: Slots) -> Values:
    return np.asarray(a - b)


def _product(a: Values, b: Values, _: Slots) -> Values:
    return np.asarray(a * b)


def _negative(a: Values, _: Values, __: Slots) -> Values:
    return np.asarray(-a)


def _conjugate(a: Values, _: Values, __: Slots) -> Values:
    return np.conjugate(a)


def _rows_swapped(a: Values, _: Values, slots: Slots) -> Values:
    return a.reshape(-1, slots.row)[::-1].reshape(-1)


def _rotated_conjugate(a: Values, b: Values, slots: Slots) -> Values:
    return np.conjugate(_rotated(a, b, slots))


def _rotated(a: Values, _: Values, slots: Slots) -> Values:
    return np.roll(a.reshape(-1, slots.row), -slots.steps, axis=1).reshape(-1)


_CKKS, _BFV = frozenset({"ckks"}), frozenset({"bfv"})


class Op(StrEnum):
    """The operations, as users and papers name them; ``record`` says what each is."""

    record: Operation

    def __new__(cls, record: Operation | str) -> "Op":
        """A member, whose value is the name alone, as files have it; ``Op(name)`` finds one."""
        assert isinstance(record, Operation), "a str finds a member"
        member = str.__new__(cls, record.name)
        member._value_ = record.name
        member.record = record
        return member

    INPUT = Operation(
        "input",
        "takes an input",
        encrypted=0,
        makes=2,
        scale=Scale.OWN,
        noise=Noise.FRESH,
        port=True,
    )
    OUTPUT = Operation("output", "hands out a result", takes=(2,), port=True)
    ADD = Operation(
        "add",
        "adds two encrypted vectors",
        encrypted=2,
        meaning=_sum,
        noise=Noise.SUM,
        at_any_limbs=True,
        colour="#7fc4e8",
    )
    SUB = Operation(
        "sub",
        "subtracts two encrypted vectors",
        encrypted=2,
        meaning=_difference,
        noise=Noise.SUM,
        at_any_limbs=True,
        colour="#4f9fd0",
    )
    NEGATE = Operation(
        "negate",
        "negates an encrypted vector",
        meaning=_negative,
        at_any_limbs=True,
        colour="#b9d6ea",
    )
    MULTIPLY = Operation(
        "multiply",
        "multiplies two encrypted vectors",
        encrypted=2,
        meaning=_product,
        takes=(2,),
        makes=3,
        scale=Scale.PRODUCT,
        noise=Noise.PRODUCT,
        colour="#d1495b",
    )
    SQUARE = Operation(
        "square",
        "squares an encrypted vector",
        meaning=_product,
        takes=(2,),
        makes=3,
        scale=Scale.PRODUCT,
        noise=Noise.PRODUCT,
        colour="#e9806e",
    )
    ADD_PLAIN = Operation(
        "add_plain",
        "adds plain numbers",
        plain=True,
        meaning=_sum,
        noise=Noise.SUM,
        at_any_limbs=True,
        colour="#9adbd6",
    )
    SUB_PLAIN = Operation(
        "sub_plain",
        "subtracts plain numbers",
        plain=True,
        meaning=_difference,
        noise=Noise.SUM,
        at_any_limbs=True,
        colour="#63b8b2",
    )
    MULTIPLY_PLAIN = Operation(
        "multiply_plain",
        "multiplies by plain numbers",
        plain=True,
        meaning=_product,
        scale=Scale.PRODUCT,
        noise=Noise.PRODUCT,
        colour="#f4a261",
    )
    RELINEARIZE = Operation(
        "relinearize",
        "relinearizes a product",
        takes=(3,),
        makes=2,
        noise=Noise.KEY,
        key=Key.RELINEARIZATION,
        colour="#8a6bbe",
    )
    RESCALE = Operation(
        "rescale",
        "rescales a product",
        drops=Drops.LAST,
        scale=Scale.QUOTIENT,
        noise=Noise.DIVISION,
        schemes=_CKKS,
        colour="#ecc85f",
    )
    RELINEARIZE_RESCALE = Operation(
        "relinearize_rescale",
        "relinearizes and rescales a product",
        takes=(3,),
        makes=2,
        drops=Drops.LAST,
        scale=Scale.QUOTIENT,
        noise=Noise.KEY_AND_DIVISION,
        key=Key.RELINEARIZATION,
        schemes=_CKKS,
        in_seal=False,
        colour="#c99ad6",
    )
    MOD_SWITCH = Operation(
        "mod_switch",
        "switches to a smaller modulus",
        drops=Drops.ANY,
        noise=Noise.SWITCH,
        at_any_limbs=True,
        colour="#b08968",
    )
    ROTATE = Operation(
        "rotate",
        "rotates an encrypted vector",
        meaning=_rotated,
        takes=(2,),
        noise=Noise.KEY,
        key=Key.GALOIS,
        at_any_limbs=True,
        colour="#5aa578",
    )
    CONJUGATE = Operation(
        "conjugate",
        "conjugates an encrypted vector",
        meaning=_conjugate,
        takes=(2,),
        noise=Noise.KEY,
        key=Key.GALOIS,
        schemes=_CKKS,
        at_any_limbs=True,
        colour="#a3c96f",
    )
    ROTATE_CONJUGATE = Operation(
        "rotate_conjugate",
        "rotates and conjugates an encrypted vector",
        meaning=_rotated_conjugate,
        takes=(2,),
        noise=Noise.KEY,
        key=Key.GALOIS,
        schemes=_CKKS,
        in_seal=False,
        part=True,
        at_any_limbs=True,
        colour="#7d9c45",
    )
    MOD_RAISE = Operation(
        "mod_raise",
        "raises the modulus of an encrypted vector",
        takes=(2,),
        drops=Drops.RAISED,
        noise=Noise.RAISE,
        key=Key.SPARSE,
        schemes=_CKKS,
        in_seal=False,
        part=True,
        colour="#5e4b8b",
    )
    BOOTSTRAP = Operation(
        "bootstrap",
        "ends the bootstrapping of an encrypted vector",
        encrypted=2,
        meaning=_last,
        takes=(2,),
        noise=Noise.BOOTSTRAP,
        schemes=_CKKS,
        in_seal=False,
        part=True,
        colour="#3d3d6b",
    )
    CARRIED = Operation(
        "carried",
        "begins a repetition with an encrypted vector",
        takes=(2,),
        schemes=_CKKS,
        in_seal=False,
        part=True,
        colour="#8a8a8a",
    )
    NEXT = Operation(
        "next",
        "ends a repetition with an encrypted vector",
        encrypted=2,
        takes=(2,),
        schemes=_CKKS,
        in_seal=False,
        part=True,
        colour="#6e6e6e",
    )
    SWAP_COLUMNS = Operation(
        "swap_columns",
        "swaps the rows of an encrypted vector",
        meaning=_rows_swapped,
        takes=(2,),
        noise=Noise.KEY,
        key=Key.GALOIS,
        schemes=_BFV,
        at_any_limbs=True,
        colour="#c5dba0",
    )


def operations(scheme: str) -> tuple[Op, ...]:
    """Returns the operations of a scheme, ``ckks`` or ``bfv``, that can be done alone."""
    return tuple(
        op for op in Op if scheme in op.record.schemes and not (op.record.port or op.record.part)
    )
