"""Resources of a stream design, its factors' three ways, and bandwidth: counted from its cost."""

from collections.abc import Iterator

from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.bench.records import Found
from ringsmith.bench.rpm.cases import PAPER, Case
from ringsmith.hdl.synthesis import block_rams

MEGAHERTZ = 200.0
"""The paper's clock; assumed for ours, which was not placed and routed."""

_COUNTED = (
    "DSPs of the modular multipliers, of the 7 series; block RAMs by their shapes; "
    "backends/stream/design/area.py"
)
_STORED = (
    "powers of psi of all k + k' primes in ROMs, w words a cycle; every factor is one of them, so "
    "that no multiplier is needed; not built"
)
_SENT = (
    "powers of psi of all k + k' primes in the host's memory, w words a cycle over the link; not "
    "built"
)
_GENERATED = (
    "the generator alone: w multipliers, and a ring of groups in LUTs; nothing has to be sorted; "
    "the factors' banks are the stages' own"
)
_LINK = (
    f"w words of s bits of two operands in and of one result out, each cycle at {MEGAHERTZ:.0f} "
    "MHz: the payload of products back to back"
)
_DESCRIPTORS = "q, 2^(2W) mod q, the scale and w powers of psi for each of k + k' primes"


def counted(params: str, design: StreamDesign) -> Iterator[Found]:
    """A design's DSPs and block RAMs; ``params``: what records call the parameters."""
    numbers = {"dsp": area.dsps(design), "bram": area.memories(design).total}
    for metric, value in numbers.items():
        yield Found(PAPER, params, "rpm", metric, value, "estimate", _COUNTED)


def resources(case: Case, design: StreamDesign, primes: int) -> Iterator[Found]:
    """A design's throughput, and what its factors take.

    Args:
        case: The paper's row.
        design: Its design.
        primes: Primes that products are made modulo, k + k'.
    """

    def found(operation: str, metric: str, value: float, text: str) -> Found:
        return Found(PAPER, case.name, operation, metric, value, "estimate", text)

    each, lanes = area.multiplier_dsps(design), design.lanes
    row = lanes * design.word_bits / 8 * MEGAHERTZ / 1e3
    yield found("link_in", "gigabytes_per_second", 2 * row, _LINK)
    yield found("link_out", "gigabytes_per_second", row, _LINK)
    rate = area.products_per_millisecond(design, MEGAHERTZ)
    yield found("rpm", "products_per_ms", rate, f"at {MEGAHERTZ:.0f} MHz, an assumed clock")
    yield found("factors_generated", "dsp", lanes * each, _GENERATED)
    yield found("factors_generated", "bram", 0, _GENERATED)
    yield found("factors_stored", "dsp", 0, _STORED)
    rom = lanes * block_rams(design.word_bits, primes * design.period)
    yield found("factors_stored", "bram", rom, _STORED)
    table = primes * design.n * design.word_bits / 8
    yield found("factors_sent", "megabytes", table / 1e6, _SENT)
    yield found("factors_sent", "gigabytes_per_second", row, _SENT)
    yield found("factors_generated", "bytes", area.descriptor_bytes(design, primes), _DESCRIPTORS)
    per_product = area.descriptor_bytes(design, 1)
    rate = per_product * MEGAHERTZ * 1e6 / design.period
    yield found("factors_generated", "megabytes_per_second", rate / 1e6, _DESCRIPTORS)


def parts(params: str, design: StreamDesign) -> Iterator[Found]:
    """A design's DSPs and block RAMs by what they serve; ``params`` as of ``counted``."""
    each, memories = area.multiplier_dsps(design), area.memories(design)
    transforms = area.multipliers(design) - 3 * design.lanes
    of = {
        "transforms": (transforms, memories.exchanges + memories.factors),
        "products": (2 * design.lanes, 0),
        "twiddle_generator": (design.lanes, 0),
        "others": (0, memories.inputs + memories.output),
    }
    for operation, (multipliers, brams) in of.items():
        numbers = {"dsp": multipliers * each, "bram": brams}
        for metric, value in numbers.items():
            yield Found(PAPER, params, operation, metric, value, "estimate", _COUNTED)
