"""What every device checks of an access before it touches memory."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ringsmith.backends.rpau.design.constants import MODULUS_WORDS, SEED_WORD_BITS, SEED_WORDS
from ringsmith.backends.rpau.design.conversions import addresses, segments
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, Words
from ringsmith.errors import DeviceError, ParameterError


def space_shape(
    design: RpauDesign, space: AddressSpace, log_degree: int | None = None
) -> tuple[int, int]:
    """How many indices an address space has in each RPAU, and how many words each index holds.

    Args:
        design: The design point.
        space: The address space.
        log_degree: log2 of the degree of the device's ring; None for N's own.

    Raises:
        DeviceError: If there is no such address space.
    """
    degree = design.n if log_degree is None else 1 << log_degree
    words = min(design.n, degree)
    lo_bits = design.twiddle_lo_bits
    sets = design.modulus_banks
    shapes = {
        AddressSpace.POLY: (design.work_polys, words),
        AddressSpace.KEY: (design.key_polys, words),
        AddressSpace.CONSTANT: (sets, design.constants),
        AddressSpace.MODULUS: (sets, MODULUS_WORDS),
    }
    if design.twiddles == "generated":
        shapes[AddressSpace.TWIDDLE_LO] = (sets, 1 << lo_bits)
        shapes[AddressSpace.TWIDDLE_HI] = (sets, design.twiddle_hi_words)
    else:
        shapes[AddressSpace.TWIDDLE] = (sets, degree)
    if design.seeds:
        shapes[AddressSpace.SEED] = (design.seeds, SEED_WORDS)
    if design.converters:
        shapes[AddressSpace.CONVERSION] = (design.conversions, len(addresses(design)))
    if space not in shapes:
        known = ", ".join(each.name for each in shapes)
        raise DeviceError(
            f"design {design.name} has no address space {space!r}: choose one of {known}"
        )
    return shapes[space]


def check_place(design: RpauDesign, space: AddressSpace, unit: int, index: int) -> None:
    """Checks that an address space of a design has this unit and index.

    Raises:
        DeviceError: If it has not.
    """
    if space is AddressSpace.CONVERSION and unit != 0:
        raise DeviceError(
            f"address space {space.name} of RPAU {unit}: the device has one for all of "
            "them: write RPAU 0"
        )
    if not 0 <= unit < design.rpaus:
        raise DeviceError(
            f"there is no RPAU {unit}: design {design.name} has 0 … {design.rpaus - 1}"
        )
    indices, _ = space_shape(design, space)
    if not 0 <= index < indices:
        raise DeviceError(
            f"address space {space.name} has no index {index}: in design {design.name} it has "
            f"0 … {indices - 1}"
        )


def space_runs(
    design: RpauDesign, space: AddressSpace, words: Words
) -> Iterator[tuple[int, Words]]:
    """Adjacent words of an address space, each group with the address of its first word."""
    if space is not AddressSpace.CONVERSION:
        yield 0, words
        return
    first = 0
    for address, count in segments(design):
        yield address, words[first : first + count]
        first += count


def check_read(design: RpauDesign, space: AddressSpace, unit: int, index: int) -> None:
    """Checks that an address can be read.

    Raises:
        DeviceError: If a design has no such address, or its address space is written only.
    """
    if space is not AddressSpace.POLY:
        raise DeviceError(
            f"address space {space.name} cannot be read: only {AddressSpace.POLY.name} can"
        )
    check_place(design, space, unit, index)


def check_ring(design: RpauDesign, log_degree: int) -> None:
    """Checks that a design runs a ring of degree 2^log_degree.

    Raises:
        DeviceError: If it does not.
    """
    try:
        design.check_ring(log_degree)
    except ParameterError as error:
        raise DeviceError(str(error)) from error


def check_stream(design: RpauDesign, stream: KeyStream, log_degree: int) -> KeyStream:
    """Checks keys that come while a program runs, and returns those that do come.

    Raises:
        DeviceError: If the design has no key stream, a polynomial is not in its key stores, or
            two come faster than the host's port takes rows.
    """
    if not design.key_stream:
        raise DeviceError(
            f"design {design.name} has host_bits = 0: write keys before the program runs, or take "
            "a design with a bus for them"
        )
    words = [
        check_write(design, AddressSpace.KEY, poly.unit, poly.index, poly.words, log_degree)
        for poly in stream.polys[: len(stream.arrivals)]
    ]
    rows = space_shape(design, AddressSpace.KEY, log_degree)[1] // host_words(design)
    before = 0
    for number, cycle in enumerate(stream.arrivals):
        if cycle < before + rows:
            raise DeviceError(
                f"key polynomial {number} arrives in cycle {cycle}: its {rows} rows take as many "
                f"cycles from cycle {before + 1} on, so {before + rows} is the earliest"
            )
        before = cycle
    return KeyStream(
        tuple(replace(poly, words=each) for poly, each in zip(stream.polys, words, strict=False)),
        stream.arrivals,
    )


def check_write(
    design: RpauDesign,
    space: AddressSpace,
    unit: int,
    index: int,
    words: Words,
    log_degree: int | None = None,
) -> Words:
    """Checks a write, in a ring, and returns its words as a contiguous array.

    Raises:
        DeviceError: If the address space has no such address, or the words are of another number or
            type than it holds, or one is wider than the words of the RPAU.
    """
    check_place(design, space, unit, index)
    _, count = space_shape(design, space, log_degree)
    if not isinstance(words, np.ndarray) or words.dtype != np.uint64 or words.shape != (count,):
        found = f"{words.dtype} {words.shape}" if isinstance(words, np.ndarray) else type(words)
        raise DeviceError(
            f"address space {space.name} of design {design.name} takes {count} words of "
            "type uint64, "
            f"not {found}"
        )
    bits = SEED_WORD_BITS if space is AddressSpace.SEED else design.bits_of(unit)
    wide = np.flatnonzero(words >> np.uint64(bits))
    if wide.size:
        raise DeviceError(
            f"address space {space.name}, RPAU {unit}, index {index}: word {wide[0]} is "
            f"{words[wide[0]]}, "
            f"and words of design {design.name} have {bits} bits there: write residues of a prime "
            "that the RPAU holds"
        )
    return np.ascontiguousarray(words)
