"""Named parameter sets (HE). Designs (hardware) have their own names, in ``ringsmith/designs``.

The papers state sizes of primes and seldom the primes themselves; ``docs/guide/parameters.md`` says
for every set what is theirs and what was chosen here.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Literal, overload

from ringsmith import _core
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.bootstrapping import Bootstrapping
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.digits import digits_below, key_switching_transforms
from ringsmith.params.files import SUFFIX, parameters_file
from ringsmith.params.primes import primes_of_sizes
from ringsmith.params.ring import RlweParameters
from ringsmith.params.security import CURRENT, LOWEST, STANDARDS
from ringsmith.params.sparse import SparsePrime, sparse_primes

MEDHA_WIDE_PRIME = SparsePrime(59, ((1, 25), (1, 22), (-1, 20)))
"""q_0 of every Medha set: the one prime that the paper prints."""
MEDHA_BITS = 54
"""Bits of Medha's other primes, which are the smallest of the sparse family here."""


def _nano() -> CkksParameters:
    """Three levels within the 218 bits that N = 2^13 carries by the 2018 standard.

    The 2024 guidelines allow 214; the primes stay, since measurements and designs refer to them.
    """
    return CkksParameters.create(
        n=8192, prime_bits=(47, 41, 41, 41), special_bits=48, scale_bits=41, name="nano"
    )


def _pico() -> CkksParameters:
    """One level, in 90 of the 106 bits that N = 2^12 carries by the 2024 guidelines.

    Words of 30 bits leave a product of two messages below 2^3 a scale of 2^27.
    """
    return CkksParameters.create(
        n=4096, prime_bits=(30, 30), special_bits=30, scale_bits=27, name="pico"
    )


def _medha(n: int, limbs: int, declared: int | None, name: str) -> CkksParameters:
    """One 60-bit prime and ``limbs`` 54-bit ones, the last of them special; all 1 mod 2^17."""
    narrow = [prime.value for prime in sparse_primes(MEDHA_BITS, limbs)]
    return CkksParameters.from_primes(
        n=n,
        data_primes=(MEDHA_WIDE_PRIME.value, *narrow[:-1]),
        special_prime=narrow[-1],
        scale=math.ldexp(1.0, MEDHA_BITS - 1),
        name=name,
        declared_security=declared,
    )


def _framework(
    n: int, limbs: int, dnum: int, special: int, declared: int, name: str
) -> CkksParameters:
    """The largest 32-bit primes that are 1 mod 2^17, as SEAL's search orders them; in every ring.

    A design for rings up to 2^16 may take no others: Montgomery's reduction relies on it.
    """
    data, special_primes = primes_of_sizes(1 << 16, (32,) * limbs, (32,) * special, None)
    return CkksParameters.from_primes(
        n=n,
        data_primes=data,
        special_prime=special_primes,
        scale=math.ldexp(1.0, 32),
        name=name,
        dnum=dnum,
        declared_security=declared,
    )


def _lola(n: int, data_bits: tuple[int, ...], special_bits: int, name: str) -> CkksParameters:
    """Parameters for LoLa's networks, of the Framework paper's sizes; all primes are 1 mod 2^17.

    Each level's scale is such that squares, rescaled, stay on it, down to 2^-2.25 of the last
    limb's prime: messages below 2 fit everywhere, and a product's scale still fits two limbs.
    """
    data, special = primes_of_sizes(1 << 16, data_bits, special_bits, None)
    scale = math.ldexp(1.0, data_bits[0] - 2) * 0.84
    for prime in data[1:]:
        scale = math.sqrt(scale * prime)
    return CkksParameters.from_primes(
        n=n, data_primes=data, special_prime=special, scale=scale, name=name
    )


def _heaws() -> BfvParameters:
    """Six 30-bit primes for q, seven more for Q; two digits of three primes; binary messages.

    The paper prints no primes: these are the largest of 30 bits, descending. Turan, Roy,
    Verbauwhede 2020, "HEAWS: an accelerator for homomorphic encryption on the Amazon AWS FPGA",
    sections 2.4 and 2.6. Its figure 2 has two words of 90 bits in place of the digits, which need
    the integer itself; keys are as large.
    """
    found = tuple(_core.prime_search(30, 4096, 13))
    return BfvParameters.from_primes(
        n=4096,
        data_primes=found[:6],
        plain_modulus=2,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
        extension_primes=found[6:],
        error_deviation=102.0,
        name="heaws",
        declared_security=80,
    )


def boot_set(
    n: int,
    levels: int,
    declared: int | None,
    name: str,
    stages: Bootstrapping = Bootstrapping(scale_bits=61),  # noqa: B008 - it is frozen
) -> CkksParameters:
    """Returns primes of up to 61 bits in the manner of Lattigo's default set for bootstrapping.

    Its set N16QP1546H192H32 has q_0 of 60 bits, 9 levels of 40, SlotsToCoeffs of 3 x 39, EvalMod of
    8 x 60, CoeffsToSlots of 4 x 56 and 5 special primes of 61. Here EvalMod has 8 x 61, whose
    rounding is most of the error, and special primes have 56 bits. They are as many as make key
    switchings cheapest, among those that N = 2^16 carries. All primes are 1 mod 2^17.

    Args:
        n: Ring degree.
        levels: Levels of programs.
        declared: As ``declared_security``.
        name: Name of the set.
        stages: How they bootstrap, with 3 levels of SlotsToCoeffs and 4 of CoeffsToSlots.

    Raises:
        ParameterError: When the primes together are insecure.
    """
    bits = (60, *(40,) * levels, *(39,) * 3, *(stages.scale_bits,) * stages.eval_mod, *(56,) * 4)
    data, special = primes_of_sizes(1 << 16, bits, (56,) * _special_count(bits, 56), None)
    return CkksParameters.from_primes(
        n=n,
        data_primes=data,
        special_prime=special,
        scale=math.ldexp(1.0, 40),
        name=name,
        digit_sizes=digits_below(data, special),
        declared_security=declared,
        bootstrapping=stages,
    )


def _special_count(bits: Sequence[int], special_bits: int) -> int:
    """Returns how many special primes make key switchings take the fewest transforms.

    Key switchings at all numbers of limbs count alike. At least 6 are tried, and as many as
    N = 2^16 carries at 128 bits.
    """
    carried = STANDARDS[CURRENT].bounds[LOWEST][1 << 16]

    def transforms(count: int) -> int:
        sizes = digits_below([1 << each for each in bits], [1 << special_bits] * count)
        starts = [0, *accumulate(sizes)]
        return sum(
            key_switching_transforms(limbs, bisect_left(starts, limbs), count)
            for limbs in range(1, len(bits) + 1)
        )

    most = (carried - sum(bits)) // special_bits
    return min(range(6, max(7, most + 1)), key=transforms)


def _boot_32() -> CkksParameters:
    """Primes of up to 31 bits, two a level, for words of 32 bits; all are 1 mod 2^17.

    Levels have the sizes of ``boot-64``'s where that is possible: no primes of 20 bits are left for
    levels of 40, and so those of programs have 51.
    """
    stages = Bootstrapping(special=2, ratio_bits=9)
    levels = 9
    bits = (30, 30, *(26, 25) * (levels + 3), *(30, 30) * stages.eval_mod, *(28, 28) * 4)
    data, special = primes_of_sizes(1 << 16, bits, (30, 30, *(31,) * 8), None)
    return CkksParameters.from_primes(
        n=1 << 16,
        data_primes=data,
        special_prime=special,
        scale=math.ldexp(1.0, 51),
        name="boot-32",
        digit_sizes=digits_below(data, special),
        level_limbs=range(2, len(data) + 1, 2),
        bootstrapping=stages,
    )


CkksName = Literal[
    "nano",
    "pico",
    "medha-set1",
    "medha-set2",
    "medha21-set1",
    "medha21-set2",
    "medha21-set3",
    "framework-set1",
    "framework-set2",
    "framework-set3",
    "lola-mnist",
    "lola-cifar10",
    "boot-32",
    "boot-64",
    "boot-test",
]
BfvName = Literal["heaws"]

CKKS_SETS: Mapping[CkksName, Callable[[], CkksParameters]] = MappingProxyType(
    {
        "nano": _nano,
        "pico": _pico,
        "medha-set1": partial(_medha, 1 << 14, 7, None, "medha-set1"),
        "medha-set2": partial(_medha, 1 << 15, 9, None, "medha-set2"),
        "medha21-set1": partial(_medha, 1 << 14, 6, 151, "medha21-set1"),
        "medha21-set2": partial(_medha, 1 << 14, 7, 130, "medha21-set2"),
        "medha21-set3": partial(_medha, 1 << 14, 8, 115, "medha21-set3"),
        "framework-set1": partial(_framework, 1 << 16, 45, 45, 1, 98, "framework-set1"),
        "framework-set2": partial(_framework, 1 << 16, 24, 3, 8, 128, "framework-set2"),
        "framework-set3": partial(_framework, 1 << 14, 9, 1, 1, 128, "framework-set3"),
        "lola-mnist": partial(_lola, 1 << 13, (30,) * 6, 30, "lola-mnist"),
        "boot-32": _boot_32,
        "boot-64": partial(
            boot_set,
            1 << 16,
            13,
            None,
            "boot-64",
            Bootstrapping(scale_bits=61, ratio_bits=8),
        ),
        "boot-test": partial(boot_set, 1 << 12, 5, 0, "boot-test"),
        "lola-cifar10": partial(_lola, 1 << 14, (32, 31, 31, 31, 31, 32, 32), 32, "lola-cifar10"),
    }
)
"""Makers of the named CKKS sets: primes are searched for when a set is first asked for."""
BFV_SETS: Mapping[BfvName, Callable[[], BfvParameters]] = MappingProxyType({"heaws": _heaws})
"""Makers of the named BFV sets."""
PARAMETER_SETS: Mapping[str, Callable[[], RlweParameters]] = MappingProxyType(
    {str(name): maker for sets in (CKKS_SETS, BFV_SETS) for name, maker in sets.items()}
)
"""Makers of all named sets."""


@overload
def parameter_set(name: CkksName) -> CkksParameters: ...


@overload
def parameter_set(name: BfvName) -> BfvParameters: ...


@overload
def parameter_set(name: str | Path) -> CkksParameters | BfvParameters: ...


def parameter_set(name: str | Path) -> RlweParameters:
    """Returns the named parameter set, of CKKS or of BFV, or the one in a TOML file.

    Args:
        name: A set's name; or the path of a file that ends with ``.toml``
            (``ringsmith.params.files.parameters_file``).

    Raises:
        ParameterError: When no set has that name, which lists the names there are; or when the file
            holds no parameters.
    """
    if isinstance(name, Path) or (isinstance(name, str) and name.endswith(SUFFIX)):
        return parameters_file(name)
    if not isinstance(name, str) or name not in PARAMETER_SETS:
        raise ParameterError(
            f"no parameter set is called {name!r:.60}: choose one of "
            f"{', '.join(sorted(PARAMETER_SETS))}, give the path of a file that ends with "
            f"{SUFFIX}, or make one with CkksParameters.create(...) or BfvParameters.create(...)"
        )
    return _named(name)


@cached
def _named(name: str) -> RlweParameters:
    return PARAMETER_SETS[name]()


def ckks_set(name: str) -> CkksParameters:
    """Returns the named parameter set, which must be one of CKKS.

    Raises:
        ParameterError: When no set has that name, or it is one of BFV.
    """
    found = parameter_set(name)
    if not isinstance(found, CkksParameters):
        raise ParameterError(
            f"{name} is a BFV set and this takes CKKS sets: choose one of "
            f"{', '.join(sorted(CKKS_SETS))}"
        )
    return found
