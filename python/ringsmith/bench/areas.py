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


def area_of(found: Mapping[str, float]) -> Area | None:
    """Returns the area that ``numbers`` made these of; None where some are missing."""
    if METRICS.values() - found.keys():
        return None
    return Area(
        dsps=int(found["dsp"]),
        brams=found["bram"],
        urams=int(found["uram"]),
        luts=int(found["lut_unpacked"]),
        flip_flops=int(found["ff_unpacked"]),
        lut_pairs=int(found["lut_unpacked"] - found["lut"]),
        absorbed_flip_flops=int(found["ff_unpacked"] - found["ff"]),
    )
