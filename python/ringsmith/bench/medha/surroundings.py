"""What lies around the RPAUs: nets of their interconnect, and the link to the host."""

from collections.abc import Iterator
from dataclasses import asdict

from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.nets import TOPOLOGIES, interconnect_nets
from ringsmith.bench.medha.cases import Case
from ringsmith.bench.records import Found
from ringsmith.platforms import load_platform
from ringsmith.runtime.host_link import HOST_LINKS, MEDHA_XDMA

REGIONS = load_platform("u250").dies
"""Of the papers' card: wires between them are few."""

_TEXT = {
    "ring": "each RPAU to the next, in the RTL",
    "gather": "a star through the device's centre, in the RTL",
    "bus": "one row that the RPAUs drive in turn",
    "mesh": "a path from each RPAU to each other",
}


def nets(case: Case) -> Iterator[Found]:
    """Nets of the interconnect and its alternatives.

    Of a link, at an RPAU, in all, and across the boundary between two regions with the most.
    """
    design = load_design(case.design)
    for topology in TOPOLOGIES:
        text = (
            f"{_TEXT[topology]}; {design.rpaus} RPAUs, rows of {design.lanes} words of "
            f"{design.word_bits} bits and a valid bit, {REGIONS} regions"
        )
        for name, value in asdict(interconnect_nets(design, topology, REGIONS)).items():
            yield Found(
                case.design, case.params, f"{topology}_{name}", "nets", value, "estimate", text
            )


def host_transfers(case: Case) -> Iterator[Found]:
    """Time of one limb over each host link, but for the paper's own, whose rate it is."""
    design = load_design(case.design)
    for link in HOST_LINKS.values():
        if link is MEDHA_XDMA:
            continue
        microseconds = link.seconds(design.n) * 1e6
        text = f"one limb of {design.n:,} words of 64 bits over {link.name}: {link.source}"
        yield Found(
            case.design,
            case.params,
            "host_transfer",
            "microseconds",
            microseconds,
            "estimate",
            text,
        )
