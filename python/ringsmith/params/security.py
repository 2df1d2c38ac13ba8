"""How large a modulus a ring carries at a security level, by published standards.

Each table bounds log2 of the whole modulus, special primes included, for uniform ternary secrets
and errors of a standard deviation near 3.2:

- ``2018``: Albrecht et al., "Homomorphic Encryption Security Standard", HomomorphicEncryption.org,
  November 2018, table 1, classical attacks. Ends at N = 2^15. Microsoft SEAL (``hestdparms.h``) and
  OpenFHE (``stdlatticeparms.cpp``) have the same numbers.
- ``2018-post-quantum``: the same standard, table 2, attacks with a quantum computer. SEAL and
  OpenFHE have the same numbers.
- ``2024``: Bossuat et al., "Security Guidelines for Implementing Homomorphic Encryption", IACR
  ePrint 2024/463, table 5.2, classical attacks; the numbers are those of the authors' own code
  (``gong-cr/FHE-Security-Guidelines``, ``parameters/tables.go``). For N = 2^10 it gives 128 bits
  only. N = 2^17 is as OpenFHE has it (``stdlatticeparms.cpp``), whose other numbers are the same;
  parameters have no such ring, and errors name none.

The guidelines of 2024 have no bounds against quantum computers: their authors' first version of
March 2024 had some, and the revision of September 2024 has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ringsmith.errors import ParameterError

_LARGEST = 1 << 16
"""The largest ring that parameters have."""


@dataclass(frozen=True)
class SecurityStandard:
    """The bounds of one publication, for one kind of attack.

    Attributes:
        name: What messages call it.
        bounds: Largest bit length of the whole modulus, by level in bits and by ring degree N.
    """

    name: str
    bounds: Mapping[int, Mapping[int, int]]

    def level(self, n: int, log_qp: int) -> int | None:
        """Returns the highest level that a modulus of ``log_qp`` bits reaches at N; None: none."""
        levels = (level for level, bounds in self.bounds.items() if log_qp <= bounds.get(n, 0))
        return max(levels, default=None)

    def offered(self, level: int) -> Mapping[int, int]:
        """Returns the bounds of the rings that parameters have."""
        return {n: bound for n, bound in self.bounds[level].items() if n <= _LARGEST}

    def degree(self, log_qp: int, level: int) -> int | None:
        """Returns the smallest N to 2^16 that carries a modulus of ``log_qp`` bits; None: none."""
        fitting = (n for n, bound in self.offered(level).items() if log_qp <= bound)
        return min(fitting, default=None)


def _row(first: int, *bounds: int) -> Mapping[int, int]:
    """The bounds of N = 2^``first`` and the larger rings."""
    return MappingProxyType({1 << (first + i): bound for i, bound in enumerate(bounds)})


CURRENT = "2024"
"""The standard of automatic parameters."""
CLASSICAL = ("2018", CURRENT)
"""Given parameters are accepted if they hold one of these."""
STANDARDS: Mapping[str, SecurityStandard] = MappingProxyType(
    {
        "2018": SecurityStandard(
            "2018 standard",
            {
                128: _row(10, 27, 54, 109, 218, 438, 881),
                192: _row(10, 19, 37, 75, 152, 305, 611),
                256: _row(10, 14, 29, 58, 118, 237, 476),
            },
        ),
        "2018-post-quantum": SecurityStandard(
            "2018 post-quantum standard",
            {
                128: _row(10, 25, 51, 101, 202, 411, 827),
                192: _row(10, 17, 35, 70, 141, 284, 571),
                256: _row(10, 13, 27, 54, 109, 220, 443),
            },
        ),
        "2024": SecurityStandard(
            "2024 guidelines",
            {
                128: _row(10, 26, 53, 106, 214, 430, 868, 1747, 3523),
                192: _row(11, 36, 73, 147, 297, 597, 1199, 2411),
                256: _row(11, 27, 56, 114, 230, 462, 929, 1866),
            },
        ),
    }
)
"""The standards by the year of publication."""
LOWEST = 128
"""The lowest level of the standards in bits."""


class SecurityWarning(UserWarning):
    """HE parameters that fall below every security level of the standards."""


def security_standard(key: object) -> SecurityStandard:
    """Returns a standard.

    Raises:
        ParameterError: When no standard has that key.
    """
    if not isinstance(key, str) or key not in STANDARDS:
        raise ParameterError(
            f"standard = {key!r:.60} is no security standard: choose one of "
            + ", ".join(map(repr, STANDARDS))
        )
    return STANDARDS[key]


def check_level(level: object, otherwise: str) -> None:
    """Refuses what is no level of the standards.

    Raises:
        ParameterError: Names the levels; ends with what to do ``otherwise``.
    """
    levels = STANDARDS[CURRENT].bounds
    if not isinstance(level, int) or level not in levels:
        raise ParameterError(
            f"security = {level!r} is not a level of the security standards: choose "
            f"{', '.join(map(str, levels))}{otherwise}"
        )


def security_level(n: int, log_qp: int, standard: str | None = None) -> int | None:
    """Returns the highest level that the parameters reach.

    Args:
        n: Ring degree N.
        log_qp: Bit length of the product of all primes, special primes included.
        standard: ``2024``, ``2018`` or ``2018-post-quantum``; None: the higher of the levels by
            ``2018`` and ``2024``.

    Returns:
        256, 192 or 128, or None when the modulus is too large (or N too small) for any.

    Raises:
        ParameterError: When there is no such standard.
    """
    found = (each.level(n, log_qp) for each in _chosen(standard))
    return max((level for level in found if level), default=None)


def security_text(n: int, log_qp: int) -> str:
    """Says which level the parameters reach, and by which standard.

    Such as ``128 bits (2018 standard); below 128 by the 2024 guidelines: at most 214 bits of
    modulus at N = 8192``.
    """
    if security_level(n, log_qp) is None:
        return f"below {LOWEST} bits: N = {n} carries at most {bounds_text(n, LOWEST)}"
    standards = [each for each in _chosen(None) if n in each.bounds[LOWEST]]
    levels = {each.name: each.level(n, log_qp) for each in standards}
    short = [
        f"below {LOWEST} by the {each.name}: at most {each.bounds[LOWEST][n]} bits of modulus at "
        f"N = {n}"
        for each in standards
        if levels[each.name] is None
    ]
    return "; ".join([_by_standard(levels, " bits", "; "), *short])


def bounds_text(n: int, level: int, standard: str | None = None) -> str:
    """Says how large a modulus N carries, such as ``218 bits (2018 standard)``, by each standard.

    Args:
        n: Ring degree N.
        level: 128, 192 or 256.
        standard: As of ``check_security``.
    """
    bounds = {each.name: each.bounds[level].get(n) for each in _chosen(standard)}
    return _by_standard(bounds, " bits") or "0 bits"


def check_security(n: int, log_qp: int, level: int, standard: str | None = None) -> None:
    """Refuses a modulus that passes the bound of the level.

    Args:
        n: Ring degree N.
        log_qp: Bit length of the product of all primes, special primes included.
        level: 128, 192 or 256.
        standard: The standard to hold; None: ``2018`` or ``2024``, which suffices for given
            parameters.

    Raises:
        ParameterError: When ``log_qp`` is too large for N, or there is no such level or standard.
    """
    check_level(level, ", or None to go without")
    standards = _chosen(standard)
    if any(log_qp <= each.bounds[level].get(n, 0) for each in standards):
        return
    needed = {each.name: each.degree(log_qp, level) for each in standards}
    if any(needed.values()):
        alike = len(set(needed.values())) == 1
        least = next(iter(needed.values())) if alike else _by_standard(needed)
        demand, hint = f"needs N >= {least}", "lower a prime or raise N"
    else:
        most = max(bound for each in standards for bound in each.offered(level).values())
        demand, hint = f"is more than any N carries ({most} bits)", "lower a prime or take fewer"
    raise ParameterError(
        f"logQP = {log_qp} {demand} for {level}-bit security; N is {n} and carries "
        f"{bounds_text(n, level, standard)}: {hint}"
    )


def _chosen(standard: str | None) -> list[SecurityStandard]:
    """The standard, or both of given parameters."""
    if standard is not None:
        return [security_standard(standard)]
    return [STANDARDS[key] for key in CLASSICAL]


def _by_standard(numbers: Mapping[str, int | None], after: str = "", between: str = " or ") -> str:
    """The numbers that there are, each with the names of its standards; the largest first."""
    names: dict[int, list[str]] = {}
    for name, number in numbers.items():
        if number is not None:
            names.setdefault(number, []).append(name)
    ordered = sorted(names.items(), reverse=True)
    return between.join(f"{number}{after} ({', '.join(each)})" for number, each in ordered)
