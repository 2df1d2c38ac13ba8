"""Nets that join RPAUs: the RTL's ring and star, what else there could be, and the host's chain.

A row of words with its valid bit, as the ports ``link_i`` and ``link_o`` of ``rtl/rpau/rs_rpau.sv``
have it, is a *bundle*. Large FPGAs are made of regions with few wires between them. RPAUs are
placed in the regions in order, so that a ring crosses each boundary twice, once in each direction
(Mert et al. 2022, section 4.3.3 and figure 7). The host's chain
(``rtl/rpau/rs_rpau_chain.sv``) crosses each boundary once.
"""

from dataclasses import dataclass

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.errors import ParameterError

TOPOLOGIES = ("ring", "gather", "bus", "mesh")
"""``ring`` and ``gather``, a star through the device's centre, are in the RTL. ``bus``: one bundle
that each RPAU drives in turn. ``mesh``: a path from each RPAU to each other, what Medha calls a
star."""


@dataclass(frozen=True)
class Nets:
    """Nets of an interconnect, of words and valid bits.

    Attributes:
        link: Of one connection.
        rpau: That end or begin at one RPAU.
        device: Of all connections.
        boundary: Across the boundary between two regions that the most cross.
    """

    link: int
    rpau: int
    device: int
    boundary: int


def link_nets(design: RpauDesign) -> int:
    """A row of words and its valid bit."""
    return design.lanes * design.word_bits + 1


def interconnect_nets(design: RpauDesign, topology: str, regions: int) -> Nets:
    """Counts an interconnect's nets.

    Args:
        design: The design; its own interconnect does not matter.
        topology: One of ``TOPOLOGIES``.
        regions: Regions of the FPGA, as equal in RPAUs as can be; from 2 to the number of RPAUs.
            The centre of ``gather`` and what chooses a ``bus``'s driver stand in the middle.

    Raises:
        ParameterError: If the topology or the number of regions is not one of those.
    """
    if topology not in TOPOLOGIES:
        raise ParameterError(f"topology {topology!r}: choose one of {', '.join(TOPOLOGIES)}")
    if not 2 <= regions <= design.rpaus:
        raise ParameterError(
            f"{regions} regions for {design.rpaus} RPAUs: choose 2 … {design.rpaus}"
        )
    rpaus, link = design.rpaus, link_nets(design)
    before = [rpaus * region // regions for region in range(1, regions)]  # RPAUs before the border
    outer = max(min(count, rpaus - count) for count in before)  # cut off from the middle
    if topology == "ring":
        counts = (2, rpaus, 2)
    elif topology == "gather":
        counts = (2, 2 * rpaus, 2 * outer)
    elif topology == "bus":
        # One bundle to everyone; from each RPAU one to where the driver is chosen.
        counts = (2, rpaus + 1, outer + 1)
    else:
        counts = (2 * (rpaus - 1), rpaus * (rpaus - 1), 2 * outer * (rpaus - outer))
    return Nets(link, *(count * link for count in counts))


WRITE_OR_READ, SPACE_BITS, RPAU_BITS = 2, 4, ISA.fields["src"].width
"""Bits of a request of the host that are neither its index nor its row."""


@dataclass(frozen=True)
class HostNets:
    """Nets between two neighbours of the host's chain.

    Attributes:
        away: Of a request with its words, away from the host.
        back: Of words that were read and their valid bit.
    """

    away: int
    back: int

    @property
    def boundary(self) -> int:
        """Across a boundary between two regions."""
        return self.away + self.back


def host_nets(design: RpauDesign) -> HostNets:
    """Counts the nets of the host's chain: ``rtl/rpau/rs_rpau_chain.sv``."""
    words = host_words(design) * design.word_bits
    place = SPACE_BITS + RPAU_BITS + host_index_bits(design) + host_row_bits(design)
    return HostNets(away=words + WRITE_OR_READ + place, back=words + 1)


def host_index_bits(design: RpauDesign) -> int:
    """Bits of an index of any address space."""
    indices = max(design.work_polys, design.key_polys, design.modulus_banks, design.seeds)
    return (indices - 1).bit_length()


def host_row_bits(design: RpauDesign) -> int:
    """Bits of a row at the host's port."""
    stored = design.twiddles == "stored"
    rows = (
        design.n // host_words(design),
        design.constants,
        1 << (design.max_log_n if stored else design.twiddle_lo_bits),
    )
    return (max(rows) - 1).bit_length()
