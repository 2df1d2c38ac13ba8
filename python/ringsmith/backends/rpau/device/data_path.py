"""Where polynomials lie on the data path, the AXI4 bus of 512 bits of rtl/shell/rs_data_path.sv."""

from ringsmith.backends.rpau.device.interface import Zone

BEAT_BITS = 512
BEAT_WORDS = BEAT_BITS // 64
BEAT_BYTES = BEAT_BITS // 8
ZONES = (Zone.POLY, Zone.KEY)
"""What the data path reaches; work polynomials are read, too."""

_UNIT_BITS = 4
_INDEX_BITS = 12


def polynomial_address(degree: int, zone: Zone, unit: int, index: int) -> int:
    """The byte address of a polynomial's word 0; those after it follow, eight bytes each.

    Args:
        degree: The degree N of the design.
        zone: One of ``ZONES``.
        unit: The RPAU.
        index: The polynomial.
    """
    place = (ZONES.index(zone) << _UNIT_BITS | unit) << _INDEX_BITS | index
    return place * 8 * degree
