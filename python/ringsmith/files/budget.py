"""Memory that reading a file may take: what a file of its size can honestly need, and no more."""

from ringsmith.errors import InteropError

FACTOR = 64
"""Bytes of memory for each byte of a file."""
LEAST, MOST = 16 << 20, 256 << 20
"""Bytes that a file of any size may take, and that one of up to half of ``MOST`` takes at most. A
larger one takes twice its size."""
_TEXT = 48
"""Bytes of memory for a byte of a JSON text, at most: entries of small objects."""


class Budget:
    """Memory of one reader. Each step of reading says what it takes before it takes it.

    Attributes:
        most: Bytes that it may take.
        spent: Bytes that it has taken.
    """

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    @classmethod
    def of(cls, size: int) -> "Budget":
        """The budget of a file of ``size`` bytes."""
        return cls(max(LEAST, min(max(MOST, 2 * size), FACTOR * size)))

    @property
    def left(self) -> int:
        """Bytes that it may still take."""
        return self.most - self.spent

    def spend(self, size: int, what: str) -> None:
        """Takes bytes.

        Raises:
            InteropError: When these are more than there are; names what takes them.
        """
        self.spent += size
        if self.spent > self.most:
            raise InteropError(
                f"{what} takes more than the {self.most} bytes of memory that a file of this size "
                "may: it is too large, or made to exhaust memory"
            )

    def spend_text(self, length: int, what: str) -> None:
        """Takes what a JSON text of ``length`` bytes makes when it is parsed."""
        self.spend(_TEXT * length, what)


def padding(size: int, spent: int) -> int:
    """Bytes of zeros that a file of ``size`` bytes needs, so that it may take ``spent`` bytes."""
    share = FACTOR if spent <= MOST else 2
    return 0 if spent <= LEAST else max(0, -(-spent // share) - size)
