"""The numbers of an area, as records call them."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from bench.record import Record
from ringsmith.hdl.synthesis import Area

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "dsps": "dsp",
        "brams": "bram",
        "urams": "uram",
        "lut_sites": "lut",
        "fabric_flip_flops": "ff",
    }
)
"""Numbers of an ``Area`` -> metrics."""

SYNTHESIZED = "Yosys, -family xcup, module by module"
"""How they were found, for the conditions."""


def area_records(
    design: str, params: str, operation: str, area: Area, source: str, text: str
) -> Iterator[Record]:
    """Yields an area's numbers, one a metric."""
    for field, metric in METRICS.items():
        value = float(getattr(area, field))
        yield Record(design, params, operation, metric, value, source, text)
