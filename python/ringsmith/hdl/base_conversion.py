"""The base-conversion unit, ``rtl/baseconv``: its conversions, its constants and its latency.

``docs/reference/baseconv.md`` describes the unit and says why Lift, Scale and fast base conversion
are such conversions. :meth:`Conversion.apply` is the reference that the RTL is held to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod

from ringsmith.errors import DeviceError
from ringsmith.hdl.dsps import DspSlice, division_dsps, product_dsps
from ringsmith.hdl.packages import baseconv

FRACTION_BITS = baseconv.LIFT_FRACTION_BITS
"""Of the fractions T_i, as the subroutine graph's ``lift`` and ``scale`` have them."""


class Load(IntEnum):
    """What a loaded word is: ``load_kind_i``, by the names of ``rs_baseconv_pkg``."""

    SHAPE = baseconv.LOAD_SHAPE
    INPUT_MODULUS = baseconv.LOAD_INPUT_MODULUS
    INPUT_FACTOR = baseconv.LOAD_INPUT_FACTOR
    FRACTION = baseconv.LOAD_FRACTION
    WEIGHT = baseconv.LOAD_WEIGHT
    OUTPUT_MODULUS = baseconv.LOAD_OUTPUT_MODULUS
    QUOTIENT_FACTOR = baseconv.LOAD_QUOTIENT_FACTOR


@dataclass(frozen=True)
class LoadedWord:
    """One word to load, with its place in the tables."""

    kind: Load
    table: int
    row: int
    column: int
    word: int


@dataclass(frozen=True)
class Conversion:
    """One kind of conversion of coefficients, from residues modulo some primes to others.

    y_i = x_i·factors_i mod inputs_i, v = floor((Σ y_i·fractions_i + 2^(F−1)) / 2^F), and output j
    is Σ y_i·weights_ij + own_j·own_weights_j + v·quotient_factors_j modulo outputs_j.

    Attributes:
        inputs: Primes of the inputs; 0 for a term that is always 0.
        factors: Y_i, below the primes of the inputs.
        fractions: T_i, below 2^F; zero for a conversion without a quotient.
        outputs: Primes of the outputs; 0 for an output that is always 0.
        weights: C_ij: for each input a row of residues modulo the outputs' primes.
        quotient_factors: D_j.
        own_weights: L_j, where each output has one more input of its own; else empty.
        fraction_bits: F.
    """

    inputs: tuple[int, ...]
    factors: tuple[int, ...]
    fractions: tuple[int, ...]
    outputs: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    quotient_factors: tuple[int, ...]
    own_weights: tuple[int, ...] = ()
    fraction_bits: int = FRACTION_BITS

    @property
    def terms(self) -> int:
        """Products of an output's sum: the inputs, and the own one."""
        return len(self.inputs) + bool(self.own_weights)

    @property
    def interval(self) -> int:
        """Cycles from a coefficient to the next one."""
        return max(self.terms, len(self.outputs))

    def apply(self, x: Sequence[int], own: Sequence[int] = ()) -> list[int]:
        """The residues of one coefficient modulo the outputs' primes.

        Args:
            x: Its residues modulo the inputs' primes.
            own: The outputs' own inputs, where they have some.
        """
        y = [_residue(a * b, q) for a, b, q in zip(x, self.factors, self.inputs, strict=True)]
        fraction = sum(a * b for a, b in zip(y, self.fractions, strict=True))
        v = (fraction + (1 << self.fraction_bits - 1)) >> self.fraction_bits
        sums = [v * d for d in self.quotient_factors]
        for word, row in zip(y, self.weights, strict=True):
            sums = [total + word * weight for total, weight in zip(sums, row, strict=True)]
        if self.own_weights:
            terms = zip(own, self.own_weights, strict=True)
            sums = [total + a * b for total, (a, b) in zip(sums, terms, strict=True)]
        return [_residue(total, p) for total, p in zip(sums, self.outputs, strict=True)]


def _residue(value: int, modulus: int) -> int:
    """A value modulo a prime; 0 where there is none."""
    return value % modulus if modulus else 0


def _fraction(numerator: int, q: int, bits: int) -> int:
    """The integer nearest to 2^bits · numerator / q."""
    return ((numerator << bits) + q // 2) // q


def _complements(primes: Sequence[int], outputs: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The product of the primes without the i-th, modulo each output."""
    total = prod(primes)
    return tuple(tuple(total // q % p for p in outputs) for q in primes)


def lift(
    inputs: Sequence[int], outputs: Sequence[int], fraction_bits: int = FRACTION_BITS
) -> Conversion:
    """The centred integer over ``inputs``, modulo ``outputs``: ``lift`` of variant ``hps``.

    Also the second step of ``scale``, from the extension back.
    """
    total = prod(inputs)
    return Conversion(
        tuple(inputs),
        tuple(pow(total // q, -1, q) for q in inputs),
        tuple(_fraction(1, q, fraction_bits) for q in inputs),
        tuple(outputs),
        _complements(inputs, outputs),
        tuple(-total % p for p in outputs),
        fraction_bits=fraction_bits,
    )


_MOST_CHECKED = 64
"""Integers on each side of D/2 of which ``largest_positive`` computes the quotient."""


def is_centred(inputs: Sequence[int]) -> bool:
    """Whether ``lift`` yields the integer in -(D-1)/2 … (D-1)/2, D the product of the odd primes.

    With x in [0, D): Σ y_i/d_i = k + x/D, k whole, and Σ y_i·T_i / 2^F = k + x/D + e, |e| < Σ d_i /
    2^(F+1), since T_i is 2^F/d_i rounded. D is odd, so that x/D is 1/(2D) or more from 1/2. Hence v
    = k for x < D/2 and k + 1 above it where Σ d_i / 2^(F+1) <= 1/(2D). What holds for some primes
    holds for as many smaller ones.
    """
    return sum(inputs) * prod(inputs) <= 1 << FRACTION_BITS


def largest_positive(inputs: Sequence[int]) -> int | None:
    """The integer m such that ``lift`` yields the one in m - D + 1 … m; None if no m is such.

    Where ``is_centred`` is true it is (D-1)/2. Else ``lift`` may err where x/D is closer to 1/2
    than e: those few integers are converted, and m found if all up to one stay and the others not.
    """
    whole = prod(inputs)
    if is_centred(inputs):
        return whole // 2
    near = (sum(inputs) * whole >> FRACTION_BITS) // 2 + 1
    if near > _MOST_CHECKED:
        return None
    modulus, least = 4 * whole, whole // 2 - near
    exact = lift(inputs, [modulus])
    stay = [
        exact.apply([x % q for q in inputs]) == [x] for x in range(least + 1, whole // 2 + near + 1)
    ]
    count = stay.count(True)
    return least + count if all(stay[:count]) else None


def divide(
    inputs: Sequence[int],
    outputs: Sequence[int],
    plain_modulus: int,
    fraction_bits: int = FRACTION_BITS,
) -> Conversion:
    """The first step of ``scale`` of variant ``hps``: t·x/q rounded, over the extension.

    The coefficient x is over both; its residues modulo ``outputs`` are the outputs' own inputs.
    """
    total = prod(inputs)
    numerators = [plain_modulus * pow(total // q, -1, q) % q for q in inputs]
    return Conversion(
        tuple(inputs),
        (1,) * len(inputs),
        tuple(_fraction(u, q, fraction_bits) for u, q in zip(numerators, inputs, strict=True)),
        tuple(outputs),
        tuple(
            tuple(-u * pow(q, -1, p) % p for p in outputs)
            for u, q in zip(numerators, inputs, strict=True)
        ),
        (1,) * len(outputs),
        tuple(plain_modulus * pow(total, -1, p) % p for p in outputs),
        fraction_bits,
    )


def fast_base_conversion(inputs: Sequence[int], outputs: Sequence[int]) -> Conversion:
    """``mod_up`` of variant ``fast_base_conv``, for primes that are not the digit's own."""
    total = prod(inputs)
    return Conversion(
        tuple(inputs),
        tuple(pow(total // q, -1, q) for q in inputs),
        (0,) * len(inputs),
        tuple(outputs),
        _complements(inputs, outputs),
        (0,) * len(outputs),
    )


@dataclass(frozen=True)
class BaseConverter:
    """Parameters of a base-conversion unit, ``rs_base_convert``.

    Attributes:
        width: Bits of a residue.
        step_bits: All primes are 1 modulo two to it.
        terms: The most terms of a conversion.
        outputs: Its most outputs.
        tables: How many conversions are loaded at once.
        fraction_bits: Bits of the T_i.
    """

    width: int = 30
    step_bits: int = 13
    terms: int = 7
    outputs: int = 7
    tables: int = 4
    fraction_bits: int = FRACTION_BITS

    @property
    def parameters(self) -> dict[str, int]:
        """The module's."""
        return {
            "Width": self.width,
            "StepBits": self.step_bits,
            "Terms": self.terms,
            "Outputs": self.outputs,
            "Tables": self.tables,
            "FractionBits": self.fraction_bits,
        }

    @property
    def reduced_bits(self) -> int:
        """E: bits that the reducer divides away, and factors bring with them."""
        return baseconv.reduced_bits(self.width, self.terms)

    @property
    def fraction_tiles(self) -> int:
        """DSPs that multiply with the fractions."""
        return baseconv.fraction_tiles(self.width, self.fraction_bits)

    @property
    def fraction_columns(self) -> int:
        """Words that a T_i takes."""
        return -(-self.fraction_bits // self.width)

    @property
    def weight_tiles(self) -> int:
        """DSPs that multiply with the weights of one output."""
        return baseconv.tiles(self.width, self.width)

    @property
    def quotient_tiles(self) -> int:
        """DSPs that multiply v."""
        return baseconv.quotient_tiles(self.width, self.terms)

    @property
    def dsps(self) -> int:
        """DSP slices of UltraScale+: the product with Y_i, the tiles, and both divisions."""
        scaled = product_dsps(self.width, DspSlice.DSP48E2)
        divided = sum(
            division_dsps(bits, self.width, self.step_bits, DspSlice.DSP48E2)
            for bits in (self.width, self.reduced_bits)
        )
        tiles = self.outputs * self.weight_tiles + self.fraction_tiles + self.quotient_tiles
        return scaled + divided + tiles

    def latency(self, terms: int) -> int:
        """Cycles from the first term of a conversion of this many terms to its first output."""
        return baseconv.base_convert_latency(
            self.width, self.step_bits, self.fraction_bits, self.terms, terms
        )

    def words(self, table: int, conversion: Conversion) -> list[LoadedWord]:
        """What is loaded for a conversion.

        Raises:
            DeviceError: If the unit is too small for it, or a prime does not suit the unit.
        """
        self._check(table, conversion)
        return [
            LoadedWord(kind, table, row, column, word)
            for kind, row, column, word in self._words(conversion)
        ]

    def _words(self, conversion: Conversion) -> Iterator[tuple[Load, int, int, int]]:
        slot_bits = max(1, (self.terms - 1).bit_length())
        output_bits = max(1, (self.outputs - 1).bit_length())
        shape = bool(conversion.own_weights) << output_bits | len(conversion.outputs) - 1
        yield Load.SHAPE, 0, 0, shape << slot_bits | conversion.terms - 1
        fractions = conversion.fractions + (0,) * bool(conversion.own_weights)
        for i, (q, factor) in enumerate(zip(conversion.inputs, conversion.factors, strict=True)):
            yield Load.INPUT_MODULUS, i, 0, q
            yield Load.INPUT_FACTOR, i, 0, _residue(factor << self.width, q)
        for i, fraction in enumerate(fractions):
            for column in range(self.fraction_columns):
                word = fraction >> column * self.width & (1 << self.width) - 1
                yield Load.FRACTION, i, column, word
        weights = [*conversion.weights, *([conversion.own_weights] * bool(conversion.own_weights))]
        for j, p in enumerate(conversion.outputs):
            yield Load.OUTPUT_MODULUS, j, 0, p
            yield (
                *(Load.QUOTIENT_FACTOR, j, 0),
                _residue(conversion.quotient_factors[j] << self.reduced_bits, p),
            )
            for i, row in enumerate(weights):
                yield Load.WEIGHT, i, j, _residue(row[j] << self.reduced_bits, p)

    def _check(self, table: int, conversion: Conversion) -> None:
        for what, count, most in (
            ("table", table, self.tables - 1),
            ("number of terms", conversion.terms, self.terms),
            ("number of outputs", len(conversion.outputs), self.outputs),
        ):
            if count > most:
                raise DeviceError(
                    f"{what} {count} of a conversion is above {most}, this base converter's most: "
                    "make one with larger parameters"
                )
        if conversion.fraction_bits != self.fraction_bits and any(conversion.fractions):
            raise DeviceError(
                f"a conversion with fractions of {conversion.fraction_bits} bits does not suit a "
                f"base converter of {self.fraction_bits}: make it for as many"
            )
        for q in (*conversion.inputs, *conversion.outputs):
            if q and (q >> self.width or q % (1 << self.step_bits) != 1):
                raise DeviceError(
                    f"prime {q} does not suit a base converter of {self.width} bits: take one "
                    f"below 2^{self.width} that is 1 modulo 2^{self.step_bits}"
                )
