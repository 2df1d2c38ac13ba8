"""Resources of a whole accelerator, without synthesis."""

from ringsmith.backends.exporter import Estimate
from ringsmith.backends.vector.area import device_area
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS


def estimated(design: VectorDesign) -> Estimate:
    """All clusters, and what joins them to memory and host."""
    area = device_area(design)
    found = {"dsps": float(area.dsps), "brams": area.brams, "urams": float(area.urams)}
    return Estimate(ULTRASCALE_PLUS, found)
