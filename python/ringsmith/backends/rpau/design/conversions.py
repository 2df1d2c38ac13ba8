"""Base conversions of an RPAU device: the addresses and layout of their constants.

The device's converters (``rtl/baseconv``, :mod:`ringsmith.hdl.base_conversion`) have a term and an
output for each RPAU. In address space ``conversion`` a conversion is an array of words in a fixed
order; :func:`segments` says where the host writes them.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.hdl.base_conversion import BaseConverter, Conversion, Load

_MAX_STEP_BITS = 17
_ROW_BITS = 4
"""Bits of a term's or an output's number in the address of a word."""
_COLUMN_BITS = 4


def converter_of(design: RpauDesign) -> BaseConverter:
    """The base-conversion unit of a design that has one."""
    return BaseConverter(
        width=design.word_bits,
        step_bits=min(_MAX_STEP_BITS, design.min_log_n + 1),
        terms=design.rpaus,
        outputs=design.rpaus,
        tables=design.conversions,
    )


def placed(
    conversion: Conversion, inputs: Sequence[int], outputs: Sequence[int], rpaus: int
) -> Conversion:
    """A conversion with a term and an output for each RPAU: zero where it has none.

    Args:
        conversion: What is converted.
        inputs: The RPAU of each of its inputs.
        outputs: The RPAU of each of its outputs.
        rpaus: RPAUs of the device. Where outputs have inputs of their own, the last RPAU is no
            input: its term is the own one.

    Returns:
        The conversion of all RPAUs. Where one has no prime, its modulus is 0, and so is its output.
    """
    terms = rpaus - bool(conversion.own_weights)
    zeros = (0,) * rpaus
    weights = [zeros] * terms
    for row, rpau in zip(conversion.weights, inputs, strict=True):
        weights[rpau] = _spread(row, outputs, rpaus)
    return Conversion(
        _spread(conversion.inputs, inputs, terms),
        _spread(conversion.factors, inputs, terms),
        _spread(conversion.fractions, inputs, terms),
        _spread(conversion.outputs, outputs, rpaus),
        tuple(weights),
        _spread(conversion.quotient_factors, outputs, rpaus),
        _spread(conversion.own_weights, outputs, rpaus) if conversion.own_weights else (),
        conversion.fraction_bits,
    )


def _spread(values: Sequence[int], positions: Sequence[int], count: int) -> tuple[int, ...]:
    """Values at given positions, zeros elsewhere."""
    found = [0] * count
    for value, position in zip(values, positions, strict=True):
        found[position] = value
    return tuple(found)


def addresses(design: RpauDesign) -> list[int]:
    """The word of address space ``conversion`` for each word of a conversion, ascending."""
    rpaus, columns = design.rpaus, converter_of(design).fraction_columns
    shapes: Mapping[Load, tuple[int, int]] = {
        Load.SHAPE: (1, 1),
        Load.INPUT_MODULUS: (1, rpaus),
        Load.INPUT_FACTOR: (1, rpaus),
        Load.FRACTION: (columns, rpaus),
        Load.WEIGHT: (rpaus, rpaus),
        Load.OUTPUT_MODULUS: (1, rpaus),
        Load.QUOTIENT_FACTOR: (1, rpaus),
    }
    return [
        _address(kind, row, column)
        for kind, (column_count, row_count) in shapes.items()
        for column in range(column_count)
        for row in range(row_count)
    ]


def segments(design: RpauDesign) -> list[tuple[int, int]]:
    """Runs of neighbouring addresses: the first one of each, and how many there are."""
    numbered = enumerate(addresses(design))
    runs = groupby(numbered, key=lambda pair: pair[1] - pair[0])
    found = [[address for _, address in run] for _, run in runs]
    return [(run[0], len(run)) for run in found]


def conversion_words(design: RpauDesign, conversion: Conversion) -> NDArray[np.uint64]:
    """The words of a conversion that was ``placed``, in the order of ``addresses``."""
    loaded = {
        _address(word.kind, word.row, word.column): word.word
        for word in converter_of(design).words(0, conversion)
    }
    return np.array([loaded.get(each, 0) for each in addresses(design)], dtype=np.uint64)


def _address(kind: Load, row: int, column: int) -> int:
    """The word of the address space that is a row and a column of what a kind of word holds."""
    return (kind << _COLUMN_BITS | column) << _ROW_BITS | row
