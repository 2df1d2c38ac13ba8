"""Area of RPAUs without synthesis: from RPAUs that Yosys synthesized, in proportion.

DSPs and RAMs are counted. LUTs and flip-flops grow with the cores, as
``backends/rpau/debug/area_in_part.py`` says, and with the width of a word between, or beyond, two
widths that were synthesized. ``tests/backends/rpau/test_explore.py`` compares with RPAUs of other
sizes that were synthesized.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources

from ringsmith.backends.rpau.debug.area import UNIT
from ringsmith.backends.rpau.debug.area_in_part import scaled
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.hdl.areas import area_less, area_times, total_area
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, folded_dsps
from ringsmith.hdl.synthesis import Area

MEASURED = "area.toml"
"""The file of synthesized RPAUs, next to this one."""


@dataclass(frozen=True)
class _Measured:
    """An RPAU that was synthesized: its design, as far as the area depends on it, and its areas."""

    design: RpauDesign
    areas: Mapping[str, Area]


BESIDE_RPAUS = Area(0, 0, 0, luts=2108, flip_flops=2609)
"""LUTs and flip-flops of a whole device beside its RPAUs: program controller, registers, data path.

What ``rpau-1`` of docs/results/estimates.md has beyond its RPAUs.
"""

_ONE_CORE = (0.780, 0.944)
"""LUTs and flip-flops of an RPAU of one core, that of ``rpau-1``, by those in proportion to four:
what turns and selects a row's words grows faster than the row. Two cores are taken to lie halfway.
"""


def rpau_estimates(design: RpauDesign) -> tuple[Area, ...]:
    """Areas of all RPAUs; see ``rpau_estimate``."""
    by_width: dict[int, Area] = {}
    for rpau in range(design.rpaus):
        bits = design.bits_of(rpau)
        if bits not in by_width:
            by_width[bits] = rpau_estimate(design, rpau)
    return tuple(by_width[design.bits_of(rpau)] for rpau in range(design.rpaus))


def rpau_estimate(design: RpauDesign, rpau: int = 0) -> Area:
    """Area of an RPAU.

    Raises:
        ParameterError: If no RPAU of such a kind was synthesized; says what is known.
    """
    known = _measured().get(design.reduction)
    if known is None or not design.dyadic_cores or design.core_multipliers != 2:
        raise ParameterError(
            f"design {design.name}: areas are known of reduction {', '.join(sorted(_measured()))}, "
            "dyadic cores and two multipliers a core: choose them, or synthesize the design"
        )
    bits = design.bits_of(rpau)
    widths = sorted(known)
    above = next((i for i, width in enumerate(widths) if width >= bits), len(widths) - 1)
    low, high = widths[max(above, 1) - 1], widths[max(above, 1)]
    first, second = (_of(known[width], design, rpau) for width in (low, high))
    share = (bits - low) / (high - low)
    area = _of_few_cores(
        total_area([first, area_times(area_less(second, first), share)]), design.cores
    )
    product = folded_dsps if design.reduction == "folded" else barrett_dsps
    slices = product(bits, DspSlice.DSP48E2) * (design.lanes + design.dyadic_cores)
    shortening = design.lanes if bits < design.word_bits else 0
    counted = _of(known[low], design, rpau)
    return replace(area, dsps=slices + shortening, brams=counted.brams, urams=counted.urams)


def _of_few_cores(area: Area, cores: int) -> Area:
    """The area in proportion, corrected for one core or two."""
    share = max(0.0, 1 - (cores - 1).bit_length() / 2)
    luts, flip_flops = (1 - share * (1 - of_it) for of_it in _ONE_CORE)
    return replace(
        area,
        luts=round(area.luts * luts),
        lut_pairs=round(area.lut_pairs * luts),
        flip_flops=round(area.flip_flops * flip_flops),
        absorbed_flip_flops=round(area.absorbed_flip_flops * flip_flops),
    )


def _of(measured: _Measured, design: RpauDesign, rpau: int) -> Area:
    return scaled(design, measured.design, measured.areas, rpau)[UNIT]


@cached
def _measured() -> dict[str, dict[int, _Measured]]:
    """Synthesized RPAUs by reduction and bits of a word."""
    text = resources.files("ringsmith.backends.rpau.design").joinpath(MEASURED).read_text("utf-8")
    found: dict[str, dict[int, _Measured]] = {}
    for row in tomllib.loads(text)["measured"]:
        base = load_design("medha" if row["reduction"] == "folded" else "nano")
        base = replace(base, cores=row["cores"], dyadic_cores=row["dyadic_cores"])
        areas = {
            name: Area(brams=0, urams=0, **numbers)
            for name, numbers in row.items()
            if isinstance(numbers, dict)
        }
        found.setdefault(row["reduction"], {})[row["word_bits"]] = _Measured(base, areas)
    return found
