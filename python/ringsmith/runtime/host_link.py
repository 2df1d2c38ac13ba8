"""A model of the link between host and card: transfer times, which no device counts."""

from dataclasses import dataclass

_WORD_BYTES = 8


@dataclass(frozen=True)
class HostLink:
    """A link with a fixed rate.

    Attributes:
        name: Its name in reports.
        bytes_per_second: Payload, one way.
        source: The source of the numbers.
    """

    name: str
    bytes_per_second: float
    source: str

    def seconds(self, words: int) -> float:
        """Returns the time to transfer a number of 64-bit words, one way."""
        return words * _WORD_BYTES / self.bytes_per_second


MEDHA_XDMA = HostLink(
    "medha-xdma",
    (1 << 14) * _WORD_BYTES / 125e-6,
    "125 µs on average for a polynomial of 2^14 coefficients, start-up included (Mert et al. 2022, "
    "section 5.3)",
)
"""As measured on Medha's card. We assume one limb of 64-bit words per polynomial: 1.05 GB/s."""

PCIE_GEN3_X16 = HostLink(
    "pcie-gen3-x16",
    16 * 8e9 * 128 / 130 / 8 * 256 / (256 + 24),
    "16 lanes of 8 GT/s, 128 of 130 bits, packets of 256 bytes with 24 of framing and header; no "
    "start-up and no driver",
)
"""The peak rate of the link, 14.4 GB/s: a bound that no program reaches."""
