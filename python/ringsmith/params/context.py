"""The compiled core's tables for a parameter set, made once."""

import atexit
from functools import lru_cache

from ringsmith import _core
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.ring import BINOMIAL_DEVIATION, RlweParameters


def core_context(parameters: RlweParameters) -> _core.Context:
    """Returns the core's context (NTT tables, RNS constants) for the parameters."""
    deviation = parameters.error_deviation
    if deviation == BINOMIAL_DEVIATION:
        deviation = 0.0  # stands for the centred binomial errors
    return _context(
        parameters.n,
        parameters.primes,
        len(parameters.special_primes),
        parameters.dnum if parameters.special_primes or parameters.residue_digits else 0,
        deviation,
        parameters.digit_sizes,
    )


def ckks_encoder(parameters: CkksParameters) -> _core.CkksEncoder:
    """Returns CKKS's encoder (Fourier tables) for the parameters."""
    return _encoder(core_context(parameters))


def bfv_context(parameters: BfvParameters) -> _core.BfvContext:
    """Returns BFV's context (plain modulus, tables of the extension primes) for the parameters."""
    context = core_context(parameters)
    return _bfv_context(context, parameters.plain_modulus, parameters.extension_primes)


def ntt_tables(parameters: RlweParameters) -> tuple[_core.Ntt, ...]:
    """Returns the NTT's tables of each data prime, to transform single limbs."""
    return _tables(parameters.n, parameters.data_primes, parameters.roots[: parameters.limbs])


@lru_cache(maxsize=8)
def _tables(n: int, primes: tuple[int, ...], roots: tuple[int, ...]) -> tuple[_core.Ntt, ...]:
    return tuple(_core.Ntt(n, q, root) for q, root in zip(primes, roots, strict=True))


@lru_cache(maxsize=8)
def _context(
    n: int,
    primes: tuple[int, ...],
    special: int,
    dnum: int,
    deviation: float,
    digit_sizes: tuple[int, ...],
) -> _core.Context:
    return _core.Context(n, list(primes), special, dnum, deviation, list(digit_sizes))


@lru_cache(maxsize=8)
def _encoder(context: _core.Context) -> _core.CkksEncoder:
    return _core.CkksEncoder(context)


@lru_cache(maxsize=8)
def _bfv_context(
    context: _core.Context, plain_modulus: int, extension_primes: tuple[int, ...]
) -> _core.BfvContext:
    return _core.BfvContext(context, plain_modulus, list(extension_primes))


for _cache in (_tables, _context, _encoder, _bfv_context):
    # What still lives when the interpreter has ended is reported as leaked by the bindings.
    atexit.register(_cache.cache_clear)
