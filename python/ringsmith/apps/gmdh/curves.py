"""The data: daily curves of hourly power demand, ``ItalyPowerDemand``, as sktime ships it.

1,096 days of Italy's demand (Keogh et al. 2006, "Intelligent icons"; the UCR time-series archive),
each of 24 hourly readings, and each standardized: of mean 0 and standard deviation 1 over its day.
Forecasts are in that unit, a standard deviation of the day's demand; the archive does not have the
readings in watts. Standardizing has seen the whole day, afternoon included, so errors are those of
the archive's curves, and no claim about a meter that must standardize by the past alone.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ToolError

Reals = NDArray[np.float64]

HOURS = 24
OBSERVED = 12
"""Readings that a forecast is made from: those of hours 0 … 11."""
TARGET_HOUR = 16
"""The hour whose demand is forecast, at noon."""
TRAINING, SELECTION = 400, 200
"""Days that coefficients are fitted to, and that neurons are chosen by; the others are held out."""
SPLIT_SEED = 2026

_FOLDER = Path("datasets", "data", "ItalyPowerDemand")
_PARTS = ("ItalyPowerDemand_TRAIN.ts", "ItalyPowerDemand_TEST.ts")


@dataclass(frozen=True, eq=False)
class Curves:
    """Days of demand: ``readings`` (days, 24), standardized by day."""

    readings: Reals

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def observed(self) -> Reals:
        """What a forecast is made from: (days, OBSERVED)."""
        return self.readings[:, :OBSERVED]

    @property
    def target(self) -> Reals:
        """What is forecast: (days,)."""
        return self.readings[:, TARGET_HOUR]


def load_curves() -> tuple[Curves, Curves, Curves]:
    """Loads the days and splits them, always the same way.

    The archive's own split has 67 days for training; here all days are pooled and split anew.

    Returns:
        Days to fit to, days to choose neurons by, and held-out days.

    Raises:
        ToolError: When sktime, which carries the data, is not installed or has other data.
    """
    spec = find_spec("sktime")
    if spec is None or not spec.submodule_search_locations:
        raise ToolError("sktime is missing; it carries the data: pip install 'ringsmith[apps]'")
    folder = Path(spec.submodule_search_locations[0]) / _FOLDER
    try:
        lines = [line for part in _PARTS for line in (folder / part).read_text().splitlines()]
    except OSError as error:
        raise ToolError(
            f"sktime carries no {_FOLDER.name} ({error}): install version 1.2"
        ) from error
    readings = np.array([_readings(line) for line in lines if line and line[0] not in "#@"])
    order = np.random.default_rng(SPLIT_SEED).permutation(len(readings))
    parts = np.split(readings[order], [TRAINING, TRAINING + SELECTION])
    fit, select, held_out = (Curves(part) for part in parts)
    return fit, select, held_out


def _readings(line: str) -> Reals:
    """The 24 readings of a line, which ends with the day's class."""
    readings = np.array(line.split(":")[0].split(","), dtype=np.float64)
    if readings.shape != (HOURS,) or not np.isfinite(readings).all():
        raise ToolError(f"a day of {_FOLDER.name} is not {HOURS} numbers: install sktime 1.2")
    return readings
