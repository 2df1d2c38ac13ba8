"""The compiled core's tables for a parameter set, made once."""

from functools import lru_cache

from ringsmith import _core
from ringsmith.params.ring import RlweParameters


def core_context(parameters: RlweParameters) -> _core.Context:
    """Returns the core's context (NTT tables, RNS constants) for the parameters."""
    return _context(
        parameters.n, parameters.primes, len(parameters.special_primes), parameters.dnum
    )


@lru_cache(maxsize=8)
def _context(n: int, primes: tuple[int, ...], special: int, dnum: int) -> _core.Context:
    return _core.Context(n, list(primes), special, dnum)
