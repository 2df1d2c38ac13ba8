"""Ring degrees and primes: what is legal, in words, and the search for primes of given sizes."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ringsmith import _core
from ringsmith.errors import ParameterError
from ringsmith.params.security import check_security

MIN_DEGREE = 1 << 10
MAX_DEGREE = 1 << 16
MAX_PRIMES = 128
MAX_PRIME_BITS = 61
"""Widest prime that the core computes with; hardware designs state their own, narrower limit."""
MIN_PRIME_BITS = 20
"""Narrower primes exist, but rescaling by one would leave a message next to no precision."""
MOST_CANDIDATES = 1 << 14
"""How many numbers that are 1 modulo 2N are looked at below a power of two, and how many above."""


def check_degree(n: int) -> None:
    """Refuses what is no ring degree.

    Raises:
        ParameterError: Names the degrees there are.
    """
    whole = isinstance(n, int) and not isinstance(n, bool)
    if not whole or not MIN_DEGREE <= n <= MAX_DEGREE or n & (n - 1):
        raise ParameterError(
            f"N = {n!r} is not a power of two in {MIN_DEGREE} … {MAX_DEGREE}: choose one of "
            + ", ".join(str(1 << k) for k in range(10, 17))
        )


def check_primes(n: int, primes: tuple[int, ...]) -> None:
    """Refuses primes that the ring of degree ``n`` cannot have.

    Raises:
        ParameterError: Names the value, what is allowed, and a hint.
    """
    if len(primes) > MAX_PRIMES:
        raise ParameterError(f"{len(primes)} primes: name at most {MAX_PRIMES}")
    for q in checked_integers("the list of primes", primes):
        if not 2 < q < 1 << MAX_PRIME_BITS:
            raise ParameterError(
                f"prime {q} is outside 3 … 2^{MAX_PRIME_BITS}: choose primes of at most "
                f"{MAX_PRIME_BITS} bits"
            )
        if not _core.is_prime(q):
            raise ParameterError(f"{q} is not prime: the parameters' create(...) finds primes")
        if q % (2 * n) != 1:
            raise ParameterError(
                f"prime {q} is {q % (2 * n)} mod 2N = {2 * n}, and the NTT needs 1: "
                "the parameters' create(...) finds such primes"
            )
    twice = [q for q, count in Counter(primes).items() if count > 1]
    if twice:
        raise ParameterError(f"prime {twice[0]} stands twice in the base: all must be distinct")


def listed(what: str, values: Any) -> list[Any]:  # noqa: ANN401 - an argument
    """Returns a sequence as a list.

    Raises:
        ParameterError: When it is no list; calls it ``what``.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        hint = f"write ({values},) for one" if isinstance(values, int) else "write (40, 40)"
        raise ParameterError(f"{what} = {values!r:.60} is no list: {hint}")
    return list(values)


def checked_integers(what: str, values: Iterable[Any]) -> list[int]:
    """Returns the values as a list of ints, or says which one is not an int.

    Raises:
        ParameterError: Names the value.
    """
    for value in (checked := listed(what, values)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(
                f"{what} holds {value!r}, which is not an int: write whole numbers"
            )
    return checked


def primes_of_sizes(
    n: int,
    prime_bits: Sequence[int],
    special_bits: int | Sequence[int],
    security: int | None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns data and special primes of the given sizes: SEAL's ``CoeffModulus::Create``.

    Args:
        n: Ring degree N.
        prime_bits: Bits of each data prime, q_0 first.
        special_bits: Bits of the special prime, or of each where there are several or none.
        security: Level that the sizes must hold by the 2018 standard or the 2024 guidelines; None:
            any.

    Raises:
        ParameterError: When a value is illegal or the level is missed; says what to change.
    """
    check_degree(n)
    special = (
        [special_bits] if isinstance(special_bits, int) else listed("special_bits", special_bits)
    )
    sizes = [
        *_checked_sizes("prime_bits", prime_bits),
        *_checked_sizes("special_bits", special),
    ]
    if security is not None:
        check_security(n, sum(sizes), security)
    found = tuple(_find_primes(n, sizes))
    count = len(sizes) - len(special)
    return found[:count], found[count:]


def primes_below(n: int, bits: int) -> Iterator[int]:
    """Yields primes of exactly ``bits`` bits that are 1 mod 2N: SEAL's order, the largest first.

    At most ``MOST_CANDIDATES`` numbers are looked at.
    """
    first = (1 << bits) - 2 * n + 1
    stop = max(1 << (bits - 1), first - 2 * n * MOST_CANDIDATES)
    return (q for q in range(first, stop, -2 * n) if _core.is_prime(q))


def primes_above(n: int, bits: int) -> Iterator[int]:
    """Yields primes from 2^bits to 5/4 of it that are 1 mod 2N, the smallest first.

    At most ``MOST_CANDIDATES`` numbers are looked at.
    """
    first = (1 << bits) + 1
    stop = min(5 << (bits - 2), first + 2 * n * MOST_CANDIDATES)
    return (q for q in range(first, stop, 2 * n) if _core.is_prime(q))


def checked_base(
    n: int,
    data_primes: Iterable[int],
    special_prime: int | Iterable[int],
    security: int | None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns given data and special primes as tuples, or says what is wrong with them.

    Arguments and errors are those of ``primes_of_sizes``, with primes in place of sizes.
    """
    data = tuple(listed("data_primes", data_primes))
    one = isinstance(special_prime, int)
    special = tuple([special_prime] if one else listed("special_prime", special_prime))
    check_degree(n)
    check_primes(n, data + special)
    if security is not None:
        check_security(n, math.prod(data + special).bit_length(), security)
    return data, special


def _checked_sizes(what: str, values: Iterable[Any]) -> list[int]:
    """Returns sizes of primes in bits, or says which one is illegal."""
    sizes = checked_integers(what, values)
    for index, bits in enumerate(sizes):
        if not MIN_PRIME_BITS <= bits <= MAX_PRIME_BITS:
            label = what if what == "special_bits" and len(sizes) == 1 else f"{what}[{index}]"
            raise ParameterError(
                f"{label} = {bits} is outside {MIN_PRIME_BITS} … {MAX_PRIME_BITS}: "
                "choose a size in that range"
            )
    return sizes


def _find_primes(n: int, sizes: Sequence[int]) -> list[int]:
    """Returns distinct primes of the given bit sizes; of one size, the smallest comes first."""
    found = {bits: _core.prime_search(bits, n, count) for bits, count in Counter(sizes).items()}
    ascending = {bits: iter(sorted(primes)) for bits, primes in found.items()}
    return [next(ascending[bits]) for bits in sizes]
