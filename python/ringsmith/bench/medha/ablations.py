"""The papers' ablations: one operation, with one choice of the design made differently."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from ringsmith.backends.rpau.debug.area import area_from_part
from ringsmith.backends.rpau.design.area import estimate, multiplier_dsps, scaled
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import mod_mul_cycles, ntt_cycles
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.bench.medha.area import CARD, area_rows, synthesized
from ringsmith.bench.medha.area_times_cycles import times_area
from ringsmith.bench.medha.cases import graph_of
from ringsmith.bench.programs import conditions, run
from ringsmith.bench.records import Found
from ringsmith.hdl.synthesis import Area
from ringsmith.params import CkksParameters, ckks_set

DESIGN, PARAMS, OPERATION = "medha", "medha-set1", "multiply_relinearize"

_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "no dyadic cores": {"dyadic_cores": 0, "prng": "none", "seeds": 0},
    "4 dyadic cores": {"dyadic_cores": 4},
    "8 cores, 4 dyadic": {"cores": 8, "dyadic_cores": 4},
    "32 cores, 16 dyadic": {"cores": 32, "dyadic_cores": 16},
    "star, not ring": {"interconnect": "gather"},
}
"""What differs from the design, by name."""

_MEMORIES: Mapping[str, Mapping[str, int]] = {
    "13 work polynomials in 13 banks": {
        "work_polys": 13,
        "work_uram_polys": 0,
        "work_block_banks": 0,
    },
    "13 work polynomials in 6 banks": {"work_polys": 13, "work_block_banks": 5},
}
"""Memories of work polynomials, by name: the design's own, a bank for each, and the papers'."""

_MOST = "64 cores, 32 dyadic"
"""More than an RPAU can have here: what the next one down tells of it."""

_NARROW_RPAUS, _NARROW_BITS = 16, 32


def variants() -> dict[str, RpauDesign]:
    """The designs that are compared, by what differs in them."""
    own = load_design(DESIGN)
    return {
        name: replace(own, name=f"{DESIGN}: {name}", **change)
        for name, change in {**_CHANGES, **_MEMORIES}.items()
    }


def ablations(
    areas: Mapping[str, Area] | None,
    manner: str,
    say: Callable[[str], None],
    operation: str = OPERATION,
) -> Iterator[Found]:
    """Cycles on the model and area of every variant, and what follows from them.

    Args:
        areas: Of the design, by module; None: LUTs and flip-flops are left out.
        manner: How areas of variants with other memories and of shorter words are found:
            ``area.MANNERS``.
        say: Takes lines for people.
        operation: What the variants are compared by; another is quicker and says less.
    """
    parameters, designs = ckks_set(PARAMS), variants()
    base = designs["as it is"]
    cycles: dict[str, int] = {}
    for name, design in designs.items():
        say(f"ablation: {name}")
        cycles[name], row = _cycles(design, parameters, operation)
        yield row
        yield Found(
            design.name, PARAMS, "ntt", "cycles", ntt_cycles(design), "model", "one instruction"
        )
        yield from _area(design, areas, manner)
        if name in _MEMORIES:
            yield from times_area(design, row)
    yield from _most(cycles["32 cores, 16 dyadic"], designs["32 cores, 16 dyadic"], operation)
    saved = 100 * (1 - cycles["as it is"] / cycles["no dyadic cores"])
    text = f"{operation}: {base.dyadic_cores} dyadic cores beside {base.cores} against none"
    yield Found(DESIGN, PARAMS, "dyadic_cycles_saved", "percent", saved, "model", text)
    if areas is not None:
        own = ("rs_rpau_dyadic", "rs_rpau_seeded", "rs_rpau_row_parts")
        unit = sum(areas[name].lut_sites for name in own)
        added = 100 * unit / (areas[UNIT].lut_sites - unit)
        text = (
            f"LUTs of {base.dyadic_cores} dyadic cores, the key expander and what the work memory "
            "has for them beside the rest's"
        )
        yield Found(DESIGN, PARAMS, "dyadic_area_added", "percent", added, "estimate", text)
    yield from _address_delaying(base)
    say("ablation: shorter words")
    yield from _narrow(manner, operation)


def _cycles(design: RpauDesign, parameters: CkksParameters, operation: str) -> tuple[int, Found]:
    cycles, _, executable = run(graph_of(operation, parameters), design, "model")
    text = f"{design.work_polys} work polynomials, {conditions(parameters, executable)}"
    return cycles, Found(design.name, PARAMS, operation, "cycles", cycles, "model", text)


def _area(design: RpauDesign, areas: Mapping[str, Area] | None, manner: str) -> Iterator[Found]:
    """DSPs and RAMs by counting; with a synthesized design also LUTs and flip-flops."""
    base, card = load_design(DESIGN), on_the_card(design)
    other_banks = design.banks != base.banks  # whose logic is in no proportion to the design's
    if areas is None or (other_banks and manner == "none"):
        polys = f"{design.work_polys} work polynomials and the keys"
        text = f"multipliers of {multiplier_dsps(design)} DSPs; {polys}; no tables"
        for metric, value in asdict(estimate(design)).items():
            yield Found(design.name, PARAMS, "rpau", metric, value, "estimate", f"{text}; {card}")
        return
    if other_banks:
        area, text = area_from_part(design), "a quarter of its cores synthesized, in proportion"
    else:
        area = scaled(design, base, areas)[UNIT]
        text = "units of the synthesized RPAU in proportion to their cores, DSPs and RAMs counted"
    yield from area_rows(design.name, PARAMS, "rpau", area, "estimate", f"{text}; {card}")


def on_the_card(design: RpauDesign) -> str:
    """What the polynomials of all RPAUs take of the RAMs of the papers' card."""
    memories = estimate(design)
    units = [estimate(design, rpau) for rpau in range(design.rpaus)]
    bram, uram = sum(unit.bram for unit in units), sum(unit.uram for unit in units)
    there = CARD.whole
    fits = "fit" if bram <= there.brams and uram <= there.urams else "do not fit"
    return (
        f"{memories.megabits:.1f} Mbit in RAMs; the RAMs of {design.rpaus} RPAUs, {bram:,.0f} BRAM "
        f"and {uram:,} URAM, {fits} an {CARD.card}, which has {there.brams:,} and {there.urams:,}"
    )


def _most(cycles: int, design: RpauDesign, operation: str) -> Iterator[Found]:
    """Twice the cores of a design: an instruction's rows halve, its pipeline stays."""
    name = f"{DESIGN}: {_MOST}"
    ntt = ntt_cycles(design) - design.log_n * design.rows // 2
    text = (
        "an RPAU has at most 32 cores here and 16 lanes of a PRNG: half the rows of 32 cores and "
        "the same pipeline; the operation in the same proportion as its NTTs"
    )
    yield Found(name, PARAMS, "ntt", "cycles", ntt, "estimate", text)
    whole = round(cycles * ntt / ntt_cycles(design))
    yield Found(name, PARAMS, operation, "cycles", whole, "estimate", text)
    dsp = 2 * estimate(design).dsp
    text = f"multipliers of {multiplier_dsps(design)} DSPs"
    yield Found(name, PARAMS, "rpau", "dsp", dsp, "estimate", text)
    bram = 2 * estimate(design).bram
    text = "RAMs for the bits of a row, a work polynomial, however few rows"
    yield Found(name, PARAMS, "rpau", "bram", bram, "estimate", text)


def _address_delaying(design: RpauDesign) -> Iterator[Found]:
    """What the chain that u waits in would take as flip-flops."""
    chain = design.word_bits * mod_mul_cycles(design)
    text = (
        f"the chain in which u waits for w*t: {mod_mul_cycles(design)} cycles of "
        f"{design.word_bits} bits, were they flip-flops; here they are {design.word_bits} LUTs as "
        "shift registers, and reading u later would save those"
    )
    butterfly, device = "address_delaying_butterfly", "address_delaying_device"
    yield Found(DESIGN, PARAMS, butterfly, "ff", chain, "estimate", text)
    total = chain * design.cores * design.rpaus
    yield Found(DESIGN, PARAMS, device, "ff", total, "estimate", text)


def _narrow(manner: str, operation: str) -> Iterator[Found]:
    """Shorter words and more RPAUs: as many primes as RPAUs, one of them special."""
    design = replace(
        load_design(DESIGN),
        name=f"{DESIGN}: {_NARROW_RPAUS} RPAUs of {_NARROW_BITS} bits",
        rpaus=_NARROW_RPAUS,
        word_bits=_NARROW_BITS,
        reduction="barrett",
        family="none",
        narrow_rpaus=0,
        narrow_bits=0,
    )
    parameters = CkksParameters.create(
        n=design.n,
        prime_bits=(_NARROW_BITS,) * (_NARROW_RPAUS - 1),
        special_bits=_NARROW_BITS,
        scale_bits=_NARROW_BITS,
        security=None,
        name="32-bit primes",
    )
    cycles, _, executable = run(graph_of(operation, parameters), design, "model")
    text = (
        f"{parameters.limbs} data primes and a special one, log2(pQ) = {parameters.log_qp}, "
        f"{design.work_polys} work polynomials, {conditions(parameters, executable)}"
    )
    yield Found(design.name, parameters.name, operation, "cycles", cycles, "model", text)
    if manner != "none":
        found = synthesized(design, manner)
        rows = (*found.rows(design, parameters.name), found.fit(design, parameters.name))
        yield from (each for each in rows if each.operation in ("rpau", "device"))
        return
    memories = estimate(design)
    text = "work and key polynomials; no tables"
    for metric, value in (("bram", memories.bram), ("uram", memories.uram)):
        yield Found(design.name, parameters.name, "rpau", metric, value, "estimate", text)
