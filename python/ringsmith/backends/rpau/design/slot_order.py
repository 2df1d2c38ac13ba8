"""Which RPAU each slot is: in order, but where some RPAUs have narrow words.

Then a prime lies where it fits a word. Primes that only wide words hold take the wide RPAUs, the
others the narrow ones first, each in order. What is left is in front where it holds the special
prime, so that a layout can give it that prime once more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.errors import ProgramError


@dataclass(frozen=True)
class SlotOrder:
    """The RPAU and modulus bank of every slot: slots are numbered bank by bank.

    Attributes:
        rpaus: The RPAU of each slot of a modulus bank, the same in all banks.
    """

    rpaus: tuple[int, ...]

    @classmethod
    def plain(cls, design: RpauDesign) -> "SlotOrder":
        """The order of a design whose RPAUs are alike: slot s is RPAU s modulo their number."""
        return cls(tuple(range(design.rpaus)))

    def rpau(self, slot: int) -> int:
        """The RPAU of a slot."""
        return self.rpaus[slot % len(self.rpaus)]

    def bank(self, slot: int) -> int:
        """The modulus bank of a slot."""
        return slot // len(self.rpaus)

    def slot(self, bank: int, rpau: int) -> int:
        """The slot of an RPAU and modulus bank."""
        return bank * len(self.rpaus) + self.rpaus.index(rpau)


def slot_order(primes: Sequence[int], special: Sequence[int], design: RpauDesign) -> SlotOrder:
    """The order in which each prime of a program, limb by limb, has a slot that holds it.

    Args:
        primes: The prime of each limb. Each fits some RPAU of the design.
        special: Limbs of the special primes.
        design: The accelerator.

    Raises:
        ProgramError: If more primes need words of one width than there are such RPAUs; names the
            first prime without one.
    """
    if not design.narrow_rpaus:
        return SlotOrder.plain(design)
    left = {width: design.rpaus_of(width) for width in (design.narrow_bits, design.word_bits)}
    count = {width: len(rpaus) for width, rpaus in left.items()}
    widths = [[width for width in left if folded.fits(prime, width)] for prime in primes]
    taken: dict[int, int] = {}
    for choices in (1, 2):  # primes that one width alone holds come first
        for limb, fitting in enumerate(widths):
            if len(fitting) == choices:
                free = next((width for width in fitting if left[width]), None)
                if free is None:
                    raise ProgramError(_too_many(primes[limb], fitting, count, design))
                taken[limb] = left[free].pop(0)
    last = [width for limb in special for width in widths[limb]]
    others = sorted(
        (rpau for rpaus in left.values() for rpau in rpaus),
        key=lambda rpau: (design.bits_of(rpau) not in last, rpau),
    )
    return SlotOrder((*(taken[limb] for limb in range(len(primes))), *others))


def spare_slots(prime: int, used: int, order: SlotOrder, design: RpauDesign) -> list[int]:
    """Slots beyond the first ``used`` ones that can hold a prime; they follow one another."""
    return [
        slot
        for slot in range(used, design.limbs)
        if not design.narrow_rpaus or folded.fits(prime, design.bits_of(order.rpau(slot)))
    ]


def _too_many(
    prime: int, fitting: Sequence[int], count: Mapping[int, int], design: RpauDesign
) -> str:
    """Says of a prime that finds no RPAU how many there are of those that would hold it."""
    rpaus = " or ".join(f"the {count[width]} RPAUs of {width}-bit words" for width in fitting)
    return (
        f"prime {prime} of {prime.bit_length()} bits needs one of {rpaus} of design {design.name}, "
        "and primes before it have taken them all: choose primes of other sizes, or a design with "
        f"another narrow_rpaus than {design.narrow_rpaus}"
    )
