"""Named parameter sets (HE). Designs (hardware) have their own names, in ``ringsmith/designs``."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from ringsmith.errors import ParameterError
from ringsmith.params.ckks import CkksParameters


def _nano() -> CkksParameters:
    """Three levels within the 218 bits that N = 2^13 carries at 128-bit security."""
    return CkksParameters.create(
        n=8192, prime_bits=(47, 41, 41, 41), special_bits=48, scale_bits=41, name="nano"
    )


PARAMETER_SETS: Mapping[str, Callable[[], CkksParameters]] = MappingProxyType({"nano": _nano})
"""Makers of the named sets: primes are searched for when a set is first asked for."""


@cache
def parameter_set(name: str) -> CkksParameters:
    """Returns the named parameter set.

    Raises:
        ParameterError: When no set has that name; lists the names there are.
    """
    if name not in PARAMETER_SETS:
        raise ParameterError(
            f"no parameter set is called {name!r}: choose one of "
            f"{', '.join(sorted(PARAMETER_SETS))}, or make one with CkksParameters.create(...)"
        )
    return PARAMETER_SETS[name]()
