"""Dividers of an EHXPLLL, which makes a device's clock of a board's."""

from dataclasses import dataclass
from fractions import Fraction

from ringsmith.errors import ParameterError

_VCO_MHZ = (400, 800)
_PHASE_DETECTOR_MHZ = 10
_DIVIDERS = range(1, 129)


@dataclass(frozen=True)
class Pll:
    """Dividers.

    Attributes:
        input_divider: Of the board's clock, in front of the phase detector.
        feedback_divider: Of the clock that is made: this many times the divided input.
        output_divider: Of the PLL's own oscillator, which makes that clock.
        hertz: The clock that is made.
    """

    input_divider: int
    feedback_divider: int
    output_divider: int
    hertz: int


def pll_for(board_mhz: int, wanted_mhz: float) -> Pll:
    """The dividers for a clock.

    Raises:
        ParameterError: If a PLL cannot make it; names the nearest clocks that it can.
    """
    made: dict[Fraction, Pll] = {}
    for divider in _DIVIDERS:
        detector = Fraction(board_mhz, divider)
        if detector < _PHASE_DETECTOR_MHZ:
            break
        for feedback in _DIVIDERS:
            clock = detector * feedback
            outputs = [d for d in _DIVIDERS if _VCO_MHZ[0] <= clock * d <= _VCO_MHZ[1]]
            if outputs and clock not in made:
                # The oscillator in the middle of its range.
                middle = sum(_VCO_MHZ) // 2
                output = min(outputs, key=lambda d: abs(clock * d - middle))
                made[clock] = Pll(divider, feedback, output, int(clock * 10**6))
    for clock, pll in made.items():
        if clock == Fraction(wanted_mhz):
            return pll
    near = sorted(made, key=lambda clock: abs(clock - Fraction(wanted_mhz)))[:2]
    raise ParameterError(
        f"clock {wanted_mhz:g} MHz cannot be made of the board's {board_mhz} MHz: take "
        + " or ".join(f"{float(clock):g}" for clock in sorted(near))
    )
