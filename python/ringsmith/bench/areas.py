"""The numbers of an area, as records call them."""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.hdl.synthesis import Area

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "dsps": "dsp",
        "brams": "bram",
        "urams": "uram",
        "lut_sites": "lut",
        "fabric_flip_flops": "ff",
        "luts": "lut_unpacked",
        "flip_flops": "ff_unpacked",
    }
)
"""Numbers of an ``Area`` -> metrics."""

PACKING = (
    "module by module; two LUTs that may share a site count once, and output registers of RAMs and "
    "DSPs do not count: *unpacked* has them; RAMs by their shapes; no place and route"
)
"""How they were found, for the conditions."""


def numbers(area: Area) -> dict[str, float]:
    """Returns metric -> number."""
    return {metric: float(getattr(area, field)) for field, metric in METRICS.items()}
