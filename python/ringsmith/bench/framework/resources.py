"""What a design takes of an FPGA, part by part, and whether it fits the card, die by die."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ringsmith.backends.vector.design.area import PARTS, alu_dsps, cluster_parts, memory_side
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.die_placement import SHARE, DiePlacement, placed
from ringsmith.backends.vector.isa.instructions import STREAMS
from ringsmith.bench.areas import METRICS
from ringsmith.bench.records import Found
from ringsmith.hdl.areas import area_times, total_area
from ringsmith.hdl.synthesis import Area
from ringsmith.platforms import load_platform

CARD_NAME = "u280"

CARD = load_platform(CARD_NAME)
"""The paper's card."""

assert CARD.memory is not None
assert CARD.crossed_memory is not None
MEMORY, CROSSED = CARD.memory, CARD.crossed_memory
"""Its high-bandwidth memory, and the same behind ports that cross to its clock."""

ANY = "all sets"
"""What records name in place of a parameter set: resources do not depend on it."""

DEVICE, OTHERS, MEMORY_SIDE = "device", "others", "memory_side"

_OF_OTHERS = ("streams", "twiddle_memory", "control")
"""Parts that the paper does not have or reports together, by their names in its records."""

_ZERO = ("permute_network", "bram")
"""What the paper has, and our designs do not."""

_ESTIMATE = (
    "estimated from blocks that Yosys synthesized, -family xcup; two LUTs that may share a site "
    "count once, and output registers of RAMs and DSPs do not count"
)

_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        **PARTS,
        OTHERS: "streams, twiddle memory and control; without what joins memory and host",
        MEMORY_SIDE: "what joins memory and host: loads, stores, lists, registers, crossings",
        DEVICE: "these parts of all clusters, and what joins memory and host",
    }
)


def parts(design: VectorDesign) -> dict[str, Area]:
    """Area of each of ``PARTS`` of all clusters, ``OTHERS``, ``MEMORY_SIDE``, and the device."""
    found = {
        part: area_times(area, design.clusters) for part, area in cluster_parts(design).items()
    }
    others = total_area(found[part] for part in _OF_OTHERS)
    side = memory_side(design)
    device = total_area([*found.values(), side])
    return {**found, OTHERS: others, MEMORY_SIDE: side, DEVICE: device}


def resource_rows(design: VectorDesign) -> Iterator[Found]:
    """Every part's numbers, and whether each die has enough for the design."""
    for part, area in parts(design).items():
        for field, metric in METRICS.items():
            value = float(getattr(area, field))
            if value or (part, metric) == _ZERO:
                text = _text(design, part, metric)
                yield Found(design.name, ANY, part, metric, value, "estimate", text)
    yield _fit(design)


def _text(design: VectorDesign, part: str, metric: str) -> str:
    """How a part's number was found."""
    text = _TEXTS[part]
    if part == "alus" and metric == "dsp":
        reduction = design.reduction.capitalize()
        return f"{design.alus} ALUs of {alu_dsps(design)} DSPs each, {reduction}'s reduction"
    if part == "streams":
        text = f"{text}, {STREAMS + design.results} of each cluster"
    return text if metric in ("dsp", "uram", "bram") else f"{text}; {_ESTIMATE}"


def _fit(design: VectorDesign) -> Found:
    """Whether every die has enough for its share of a design."""
    place = placed(design, CARD)
    text = f"{_placement(design, place)}; at most {SHARE:.0%} of each; {_ESTIMATE}"
    return Found(design.name, ANY, DEVICE, "fits", float(place.fits), "estimate", text)


def _placement(design: VectorDesign, place: DiePlacement) -> str:
    """Where the clusters stand, and what they take, in words."""
    shares = "; ".join(
        f"{resource} {', '.join(f'{share:.1%}' for share in of_dies)}"
        for resource, of_dies in place.shares.items()
    )
    units, lanes = (", ".join(map(str, each)) for each in (place.units, place.lanes))
    networks = " and ".join(str(die + 1) for die in place.networks)
    wires = ", ".join(f"{count:,}" for count in place.wires)
    return (
        f"on the dies of an {CARD.card} stand {units} units of {1 << design.log_radix} lanes, "
        f"memories of {lanes} lanes, and networks on die {networks}: {shares}; {wires} wires cross "
        "the boundaries"
    )
