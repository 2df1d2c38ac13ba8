"""How large a modulus a ring carries at a security level: the 2018 HE standard's table.

Bounds on log2 of the whole modulus, special primes in, for ternary secrets against classical
attacks: Albrecht et al., "Homomorphic Encryption Security Standard", HomomorphicEncryption.org,
November 2018, table 1. The standard ends at N = 2^15; the bound at 2^16 is 1,747 bits for 128-bit
security, and no bound is known to this table for 192 and 256.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ringsmith.errors import ParameterError

MAX_LOG_QP: Mapping[int, Mapping[int, int]] = MappingProxyType(
    {
        128: MappingProxyType(
            {1024: 27, 2048: 54, 4096: 109, 8192: 218, 16384: 438, 32768: 881, 65536: 1747}
        ),
        192: MappingProxyType({1024: 19, 2048: 37, 4096: 75, 8192: 152, 16384: 305, 32768: 611}),
        256: MappingProxyType({1024: 14, 2048: 29, 4096: 58, 8192: 118, 16384: 237, 32768: 476}),
    }
)
"""Largest bit length of the whole modulus, by security level in bits and by ring degree N."""


class SecurityWarning(UserWarning):
    """HE parameters that fall below every security level of the 2018 HE standard."""


def security_level(n: int, log_qp: int) -> int | None:
    """Returns the highest level of the standard that the parameters reach.

    Args:
        n: Ring degree N.
        log_qp: Bit length of the product of all primes, special primes in.

    Returns:
        256, 192 or 128, or None when the modulus is too large (or N too small) for any.
    """
    levels = (level for level, bounds in MAX_LOG_QP.items() if log_qp <= bounds.get(n, 0))
    return max(levels, default=None)


def smallest_secure_degree(log_qp: int, level: int) -> int | None:
    """Returns the smallest N that carries a modulus of ``log_qp`` bits at ``level``, or None."""
    fitting = (n for n, bound in MAX_LOG_QP[level].items() if log_qp <= bound)
    return min(fitting, default=None)


def check_security(n: int, log_qp: int, level: int) -> None:
    """Refuses a modulus that passes the bound of the level.

    Raises:
        ParameterError: When ``log_qp`` is too large for N, or there is no such level.
    """
    if not isinstance(level, int) or level not in MAX_LOG_QP:
        raise ParameterError(
            f"security = {level!r} is not a level of the HE standard: choose "
            f"{', '.join(map(str, MAX_LOG_QP))}, or None to go without"
        )
    bound = MAX_LOG_QP[level].get(n, 0)
    if log_qp <= bound:
        return
    needed = smallest_secure_degree(log_qp, level)
    largest = max(MAX_LOG_QP[level].values())
    demand = f"needs N >= {needed}" if needed else f"is more than any N carries ({largest} bits)"
    way_out = "lower a prime or raise N" if needed else "lower a prime or take fewer"
    raise ParameterError(
        f"logQP = {log_qp} {demand} for {level}-bit security; N is {n}"
        + (f" and carries {bound} bits" if bound else "")
        + f": {way_out}"
    )
