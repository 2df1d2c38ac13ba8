"""What encrypted forecasts were worth: their errors, beside simpler forecasts, and encryption's."""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.gmdh.client import Forecasts
from ringsmith.apps.gmdh.curves import Curves, Reals
from ringsmith.apps.gmdh.network import Network


@dataclass(frozen=True)
class Quality:
    """Root mean squares of errors, in standard deviations of a day's demand.

    Attributes:
        meters: How many were forecast.
        error_encrypted: Of the decrypted forecasts.
        error_clear: Of the network in the clear.
        error_last_reading: Of forecasting the last reading again.
        error_mean: Of forecasting the training days' mean.
        largest_difference: Between decrypted and clear forecasts: what encryption cost.
        exact: Meters whose decrypted integer is the clear one's to the last bit; None in CKKS.
    """

    meters: int
    error_encrypted: float
    error_clear: float
    error_last_reading: float
    error_mean: float
    largest_difference: float
    exact: int | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Decrypted forecasts, and what they were worth."""

    forecasts: Forecasts
    quality: Quality

    @classmethod
    def compare(cls, network: Network, fitted: Curves, days: Curves, found: Forecasts) -> "Outcome":
        """Compares decrypted forecasts as ``quality`` does."""
        return cls(found, quality(network, fitted, days, found))


def quality(network: Network, fitted: Curves, days: Curves, found: Forecasts) -> Quality:
    """Compares decrypted forecasts of days with what happened, and with the clear network's.

    Args:
        network: The network.
        fitted: The days that it was fitted to.
        days: The days that were forecast.
        found: Their decrypted forecasts.
    """
    clear = network.forecast(days.observed)
    exact = None
    if found.exact is not None:
        expected = network.exact(network.readings.integers(days.observed))
        exact = int(np.count_nonzero(found.exact == expected))
    return Quality(
        len(days),
        _rms(found.demand - days.target),
        _rms(clear - days.target),
        _rms(days.observed[:, -1] - days.target),
        _rms(fitted.target.mean() - days.target),
        float(np.abs(found.demand - clear).max()),
        exact,
    )


def _rms(errors: Reals) -> float:
    return float(np.sqrt(np.mean(errors**2)))
