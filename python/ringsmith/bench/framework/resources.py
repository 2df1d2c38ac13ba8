"""What a design takes of an FPGA, counted from its shapes, and whether that is on the card."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ringsmith.backends.vector.design import BARRETT, VectorDesign
from ringsmith.backends.vector.instructions import STREAMS
from ringsmith.bench.records import Found
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, montgomery_dsps
from ringsmith.hdl.memories import block_rams
from ringsmith.hdl.synthesis import ultra_rams
from ringsmith.platforms import load_platform

CARD = load_platform("u280")
"""The paper's card."""

assert CARD.memory is not None
MEMORY = CARD.memory
"""Its high-bandwidth memory."""

ANY = "all sets"
"""What records name in place of a parameter set: resources do not depend on it."""

SHARE = 0.8
"""Share of the card's DSPs and RAMs up to which a design counts as one that fits."""

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "alus": "multipliers of all ALUs",
        "scratchpad": "banks of UltraRAM, 72 bits by 4,096 rows each; the lanes of a bank have two "
        "addresses, one for each half",
        "streams": "FIFOs of load and store streams",
        "twiddle_memory": "words of all lanes, but for one of each unit, in as many memories as a "
        "pass has stages",
        "permute_network": "no RAM: rows are exchanged 2^r at a time, in LUTs",
        "device": "these parts together",
    }
)
"""Parts of a design, and how their numbers are found; the paper's facts call some of them so."""


def alu_dsps(design: VectorDesign) -> int:
    """DSPs of an ALU."""
    if design.reduction == BARRETT:
        return barrett_dsps(design.word_bits, DspSlice.DSP48E2)
    return montgomery_dsps(design.log_n, design.word_bits, DspSlice.DSP48E2)


def parts(design: VectorDesign) -> dict[str, dict[str, float]]:
    """DSPs, URAMs and BRAMs of each of ``PARTS``, of all clusters."""
    row = design.lanes * design.word_bits
    bank = 2 * ultra_rams(row // 2, design.bank_rows)
    streams = (STREAMS + design.results) * block_rams(row, design.stream_rows)
    first = (design.lanes >> design.log_radix) * design.word_bits  # the factors of one stage
    factors = sum(block_rams(first << g, design.table_rows) for g in range(design.log_radix))
    found: dict[str, dict[str, float]] = {
        "alus": {"dsp": design.alus * alu_dsps(design)},
        "scratchpad": {"uram": design.clusters * design.banks * bank},
        "streams": {"bram": design.clusters * streams},
        "twiddle_memory": {"bram": design.clusters * factors},
        "permute_network": {"bram": 0},
    }
    metrics = ("dsp", "uram", "bram")
    total = {name: sum(part.get(name, 0) for part in found.values()) for name in metrics}
    return {**found, "device": total}


def resource_rows(design: VectorDesign) -> Iterator[Found]:
    """Every part's numbers, and whether they are within ``SHARE`` of the card's."""
    counted = parts(design)
    for part, numbers in counted.items():
        for metric, value in numbers.items():
            yield Found(design.name, ANY, part, metric, value, "estimate", _text(design, part))
    yield _fit(design, counted["device"])


def _text(design: VectorDesign, part: str) -> str:
    """How a part's numbers were found."""
    if part == "alus":
        reduction = design.reduction.capitalize()
        return f"{design.alus} ALUs of {alu_dsps(design)} DSPs each, {reduction}'s reduction"
    if part == "streams":
        return f"{PARTS[part]}, {STREAMS + design.results} of each cluster"
    return PARTS[part]


def _fit(design: VectorDesign, taken: Mapping[str, float]) -> Found:
    whole = CARD.whole
    there = {"dsp": whole.dsps, "uram": whole.urams, "bram": whole.brams}
    words = ", ".join(
        f"{taken[name]:,.0f} of {there[name]:,} {name.upper()} ({taken[name] / there[name]:.1%})"
        for name in there
    )
    fits = all(taken[name] <= SHARE * there[name] for name in there)
    text = f"{words} of an {CARD.card}; at most {SHARE:.0%} of each; dies are not told apart"
    if (most := alu_dsps(design) * design.alus / design.clusters) > CARD.die.dsps:
        text += f": an array's {most:,.0f} DSPs are more than a die's {CARD.die.dsps:,}"
    return Found(design.name, ANY, "device", "fits", float(fits), "estimate", text)
