"""Named designs: size, area, cycles of the main operations, what was verified."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from textwrap import fill
from types import MappingProxyType

from ringsmith.backends.inspector import WriteOperation
from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.debug.compare import Compared
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import ntt_cycles
from ringsmith.backends.rpau.design.sample_parameters import sample_parameters
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.hdl.synthesis import Area
from ringsmith.markdown import MEASURED, comparison, measured, table


@dataclass(frozen=True)
class Cost:
    """What an operation takes.

    Attributes:
        cycles: Clock cycles.
        host_transfers: Limbs and seeds that cross to or from the host on the way, where the
            program does not fit on the device at once; their time is not in the cycles.
    """

    cycles: int
    host_transfers: int = 0

    def __str__(self) -> str:
        spills = f" + {self.host_transfers} transfers" if self.host_transfers else ""
        return f"{self.cycles:,}{spills}"


@dataclass(frozen=True)
class DesignRow:
    """What is known of a design.

    Attributes:
        design: The design.
        costs: HE operation -> cost; None where the design cannot run it.
        verified: What was compared with the RTL; None: the RTL did not run.
        area: Of one RPAU; None: it was not synthesized.
        synthesized_cores: Butterfly cores of the RPAU that was synthesized: the design's, or fewer,
            and then ``area`` is that of the part in proportion.
        narrow_area: Of one RPAU with narrow words, found as ``area`` is.
    """

    design: RpauDesign
    costs: Mapping[str, Cost | None]
    verified: Compared | None
    area: Area | None = None
    synthesized_cores: int = 0
    narrow_area: Area | None = None


def operation_costs(design: RpauDesign, write: WriteOperation) -> dict[str, Cost | None]:
    """Costs of the main HE operations at all limbs: as many data primes as RPAUs less one.

    The cycles of ``ntt`` are those of the instruction: one polynomial, all limbs at once. The
    others are whole programs, operands and keys resident. No cycle depends on the primes, so the
    primes are whichever fit. None stands where the design has too little memory, or its ring is
    too small for HE.
    """
    found: dict[str, Cost | None] = {"ntt": Cost(ntt_cycles(design))}
    try:
        parameters = sample_parameters(design, f"{design.name} filled")
    except ParameterError:
        return {**found, **dict.fromkeys(_OPERATIONS)}
    for name, operation in _OPERATIONS.items():
        try:
            graph = write(operation, parameters, parameters.limbs)
            executable = compile_cached(graph, design)
        except ProgramError:
            found[name] = None
        else:
            found[name] = Cost(executable.cycles, executable.host_transfers)
    return found


_OPERATIONS: Mapping[str, str] = MappingProxyType(
    {"multiply + relinearize": "multiply_relinearize", "rotate": "rotate", "rescale": "rescale"}
)
"""Heading -> the operation, as ``lower_operation`` knows it."""

_SIZE_HEADINGS = (
    "design",
    "N",
    "RPAUs",
    "butterfly cores",
    "dyadic cores",
    "word bits",
    "reduction",
    "work polynomials",
    "key polynomials",
    "memory of both (Mbit)",
    "other parameters",
)
_AREA_HEADINGS = ("DSP", "36 Kbit BRAM", "URAM", "LUT", "flip-flops")
_OPTIONAL = {
    each.name: each.default
    for each in fields(RpauDesign)
    if each.default is not MISSING and each.name != "platform"
}


def memory_bits(design: RpauDesign) -> int:
    """Bits of all work polynomials and of the key store, over all RPAUs."""
    return (design.work_polys + design.key_polys) * design.n * design.all_bits


def other_parameters(design: RpauDesign) -> str:
    """The parameters that a design file may leave out, as far as they differ from their defaults.

    A dash: none does.
    """
    differ = [name for name, default in _OPTIONAL.items() if getattr(design, name) != default]
    return ", ".join(f"`{name}` {getattr(design, name)}" for name in differ) or "–"


def size_table(rows: Sequence[DesignRow]) -> str:
    """Sizes as a Markdown table."""
    return table(
        _SIZE_HEADINGS,
        [
            [
                f"`{design.name}`",
                f"{design.n:,}",
                f"{design.rpaus}",
                f"{design.cores}",
                f"{design.dyadic_cores}",
                " and ".join(map(str, design.widths)),
                design.reduction,
                f"{design.work_polys}",
                f"{design.key_polys}",
                f"{memory_bits(design) / 1e6:.1f}",
                other_parameters(design),
            ]
            for design in (row.design for row in rows)
        ],
    )


def area_table(rows: Sequence[DesignRow]) -> str:
    """Area of one RPAU of each design as a Markdown table."""
    headings = ("design", "RPAUs", "cores synthesized", *_AREA_HEADINGS, MEASURED)
    entries = []
    for row in rows:
        design, wide = row.design, row.design.rpaus - row.design.narrow_rpaus
        cores = f"{row.synthesized_cores} of {design.cores}" if row.area is not None else "–"
        date = measured(row.area is not None)
        entries.append([f"`{design.name}`", str(wide), cores, *_area_numbers(row.area), date])
        if design.narrow_rpaus:
            name = f"`{design.name}`, {design.narrow_bits} bits"
            numbers = _area_numbers(row.narrow_area)
            entries.append([name, str(design.narrow_rpaus), cores, *numbers, date])
    return table(headings, entries)


def _area_numbers(area: Area | None) -> list[str]:
    """What stands below ``_AREA_HEADINGS``."""
    if area is None:
        return ["–"] * len(_AREA_HEADINGS)
    found = (area.dsps, area.brams, area.urams, area.lut_sites, area.fabric_flip_flops)
    return [f"{number:,.1f}".removesuffix(".0") for number in found]


def cycles_table(rows: Sequence[DesignRow]) -> str:
    """Cycles of the main operations as a Markdown table."""
    operations = ["ntt", *_OPERATIONS]
    return table(
        ["design", "data primes", *operations],
        [
            [f"`{row.design.name}`", str(row.design.rpaus - 1)]
            + [str(row.costs[operation] or "–") for operation in operations]
            for row in rows
        ],
    )


def verification_table(rows: Sequence[DesignRow]) -> str:
    """What was compared with the RTL, as a Markdown table."""
    entries = []
    for row in rows:
        v = row.verified
        counts = None if v is None else (v.programs, v.instructions, v.cycles, v.polynomials)
        entries.append([f"`{row.design.name}`", *comparison(counts), measured(v is not None)])
    words = ("design", "random programs", "instructions", "cycles", "polynomials compared")
    return table((*words, MEASURED), entries)


def section(rows: Sequence[DesignRow]) -> str:
    """The part of the page ``docs/results/designs.md`` that is about designs of RPAUs."""
    return f"""## Size

Other parameters are named where they differ from these: {_defaults()}.

{size_table(rows)}
## Area of one RPAU

UltraScale+, synthesized by Yosys module by module; the program controller and the host port are
not in it. Block and UltraRAM are computed from the memories' shapes. Two LUTs that may share a site
count once, and output registers of DSPs and RAMs do not count. Registers and adders of
`rs_mul_add_pair`, `rs_mul_add`, `rs_mul_accumulate` and `rs_mul_cascade_slice` count as parts of
their DSP slices, to which Yosys does not map them ([DSP slices that are counted](slices.md)).
Nothing was placed or routed; [Timing of the named designs](timing.md) has their clocks. Where fewer
cores than an RPAU's were synthesized, main unit and memories' logic are multiplied by the cores,
and the dyadic unit, what the work memory has for it, and the key expander by the dyadic cores,
which is a little too few LUTs. A dash: not synthesized; [Design pico](../guide/pico.md) has what a
design for an ECP5 takes there.

{area_table(rows)}
## Cycles

Clock cycles with all limbs: one RPAU a data prime and one for the special prime, the largest
parameter set that the design takes. A design with converters multiplies in BFV, with no special
prime; its last RPAU and a second modulus bank of each hold the primes that extend them. Operands
and keys are resident, and a design with a PRNG expands half of each key from its seed; no host link
is counted, and no clock is assumed. `ntt` transforms one polynomial, all limbs at once. "+ n
transfers": the operation does not fit on the device at once, and n limbs or seeds cross to the host
or back. A dash: the design cannot run it.

{cycles_table(rows)}
## Verification

Random programs, drawn from the instruction set with every operation in each, ran on the simulated
RTL and on the model: cycles, instructions and every polynomial that was written were equal, or this
page would not have been written.

{verification_table(rows)}
"""


def _defaults() -> str:
    """The parameters that a design file may leave out, with their defaults; lines for the page."""
    words = ", ".join(f"`{name}` {default}" for name, default in _OPTIONAL.items())
    return fill(words, 96, break_on_hyphens=False, initial_indent=" " * 56).lstrip()
