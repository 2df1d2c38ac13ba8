"""Chooses the smallest accelerator that runs a subroutine graph, if no design is named."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.select import check_supported, needs_converters
from ringsmith.backends.rpau.design.design import (
    MAX_CONVERSIONS,
    MAX_WORK_POLYS,
    RpauDesign,
    load_design,
    named_designs,
)
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph

_MEMORY_STEPS = ((16, 1024), (32, 4096), (64, 16384), (MAX_WORK_POLYS, 65536))
"""Work polynomials and program words that are tried, in this order, for a design made to fit."""
_MIN_KEY_POLYS, _MAX_KEY_POLYS = 16, 4096
"""Key-store polynomials are a power of two in this range, so that operations share a design."""

_MAX_RPAUS = 16
"""More primes than this share RPAUs, one modulus bank each."""


def smallest_design(graph: SubroutineGraph) -> RpauDesign:
    """Returns the smallest design that runs a graph; see ``compile_for_smallest``."""
    return compile_for_smallest(graph).design


def compile_for_smallest(
    graph: SubroutineGraph, seeded: Collection[str] | None = None
) -> Executable:
    """Schedules a graph for the smallest named design that it fits, else for one made to fit it.

    Smaller means fewer multipliers, then fewer bits of memory. A design made to fit is ``nano``, or
    ``heaws`` where that takes converters, with the graph's ring, number of primes and word width,
    and as much memory as is needed.

    Args:
        graph: The graph.
        seeded: Names of the keys whose a part a design with a PRNG expands; None: all.

    Raises:
        ProgramError: If not even a design made to fit could run the graph; says why.
    """
    check_supported(graph)
    for design in sorted(map(load_design, named_designs()), key=_size):
        try:
            return compile_cached(graph, design, seeded)
        except ProgramError:
            continue
    reason = "no design of this size can be made"
    try:
        for design in _fitting_designs(graph):
            try:
                return compile_cached(graph, design)
            except ProgramError as error:
                reason = str(error)
    except ParameterError as error:
        reason = str(error)
    raise ProgramError(
        f"no named design runs this program, and none could be made that does: {reason}. "
        "Run it on the cpu device, or use smaller parameters"
    )


def _size(design: RpauDesign) -> tuple[int, int, str]:
    """Multipliers, each converter as one more, then bits of polynomial memory, then the name."""
    cores = design.core_multipliers * design.cores + design.dyadic_cores
    multipliers = design.coprocessors * (design.rpaus * cores + design.converters)
    polynomials = design.coprocessors * (design.work_polys + design.key_polys)
    return multipliers, polynomials * design.n * design.all_bits, design.name


def _fitting_designs(graph: SubroutineGraph) -> Iterator[RpauDesign]:
    """Designs of the graph's ring and primes with more and more memory."""
    base = load_design("heaws" if any(map(needs_converters, graph.nodes)) else "nano")
    word_bits = max(30, *(prime.bit_length() for prime in graph.primes))
    needed = max(_MIN_KEY_POLYS, 2 * sum(shape.digits for shape in graph.keys.values()))
    key_polys = min(_MAX_KEY_POLYS, 1 << (needed - 1).bit_length())
    modulus_banks = -(-len(graph.primes) // _MAX_RPAUS)
    rpaus = max(2, -(-len(graph.primes) // modulus_banks))
    if graph.extension:  # one of its primes in an RPAU, and the last RPAU is no input
        modulus_banks, data = 2, graph.key_primes - len(graph.special)
        rpaus = max(len(graph.extension), graph.key_primes, data + 1)
    for work_polys, program_words in _MEMORY_STEPS:
        yield replace(
            base,
            name=f"fit{graph.n}x{rpaus}x{word_bits}",
            log_n=graph.n.bit_length() - 1,
            word_bits=word_bits,
            rpaus=rpaus,
            work_polys=work_polys,
            work_uram_polys=0,
            key_polys=key_polys,
            program_words=program_words,
            modulus_banks=modulus_banks,
            conversions=MAX_CONVERSIONS if base.converters else 0,
            host_bits=0,
        )
