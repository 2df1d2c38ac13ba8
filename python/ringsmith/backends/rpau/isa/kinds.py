"""What the operands of RPAU instructions count, and up to where."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ringsmith.backends.rpau.design.design import RpauDesign

MAX_ARRIVALS = 0xFFFF
"""The most key polynomials that a program can wait for."""


@dataclass(frozen=True)
class Kind:
    """What the value in an operand field counts.

    Attributes:
        prefix: Letters before the number in assembly text.
        limit: One more than the largest legal value, for a design.
        odd: Whether only odd values are legal.
        access: Accesses that an operand of the kind may declare.
        doc: One sentence for the generated page.
    """

    prefix: str
    limit: Callable[[RpauDesign], int]
    odd: bool
    access: tuple[str, ...]
    doc: str


POLY, KEY_POLY, RPAU, MODULUS_BANK, SEED = "poly", "key_poly", "rpau", "modulus_bank", "seed"
GALOIS_ELEMENT, SUB_POLY = "galois_element", "sub_poly"
CONVERTED, CONVERSION = "converted", "conversion"
ARRIVALS = "arrivals"

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        POLY: Kind("p", lambda d: d.work_polys, False, ("r", "w", "rw"), "Work polynomial."),
        KEY_POLY: Kind("key", lambda d: d.key_polys, False, ("r",), "Polynomial of the key store."),
        "constant": Kind("c", lambda d: d.constants, False, ("",), "Word of the constant file."),
        RPAU: Kind("r", lambda d: d.rpaus, False, ("",), "RPAU of the ring."),
        MODULUS_BANK: Kind(
            "q", lambda d: d.modulus_banks, False, ("",), "Modulus bank of an RPAU."
        ),
        SEED: Kind("s", lambda d: d.seeds, False, ("",), "Entry of the seed store."),
        "digit": Kind("d", lambda _: 128, False, ("",), "Digit of a seeded key."),
        GALOIS_ELEMENT: Kind("g", lambda d: 2 << d.max_log_n, True, ("",), "Galois element."),
        SUB_POLY: Kind(
            "sub_poly",
            lambda d: 1 << d.larger_rings,
            False,
            ("",),
            "Sub-polynomial of a polynomial of a larger ring.",
        ),
        CONVERTED: Kind(
            "i", lambda d: d.rpaus, False, ("",), "RPAU that is input of a conversion."
        ),
        CONVERSION: Kind("t", lambda d: d.conversions, False, ("",), "Loaded conversion."),
        ARRIVALS: Kind(
            "n",
            lambda d: min(d.rpaus * d.key_polys + 1, MAX_ARRIVALS + 1),
            False,
            ("",),
            "Polynomials that have arrived in the key stores.",
        ),
    }
)
