"""What is measured: the coprocessor, HE operations, and the design choices of the paper."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ringsmith.backends.rpau.compiler.cost import Shape
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.caching import cached
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters
from ringsmith.params.sets import BFV_SETS, BfvName

PAPER = "heaws"
DESIGN = "heaws"
PARAMS: BfvName = "heaws"

SEVERAL = "heaws6"
"""The design of the paper's accelerator, with six coprocessors."""

OPERATIONS = ("add", "multiply", "multiply_relinearize", "rotate")
"""HE operations, each a program of its own, as ``lower_operation`` knows them."""

MAIN_OPERATION = "multiply_relinearize"
"""What design choices are compared by."""

CHOICES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "cores_1": {"cores": 1},
        "cores_4": {"cores": 4, "work_polys": 12, "work_uram_polys": 4},
        "converters_1": {"converters": 1},
        "converters_4": {"converters": 4},
        "two_multipliers_a_core": {"core_multipliers": 2},
        "one_dyadic_core": {"dyadic_cores": 1},
        "8_work_polys": {"work_polys": 8, "work_uram_polys": 4},
        "9_work_polys": {"work_polys": 9, "work_uram_polys": 4},
        "10_work_polys": {"work_polys": 10, "work_uram_polys": 4},
        "11_work_polys": {"work_polys": 11, "work_uram_polys": 8},
    }
)
"""What differs from the design, by name."""

LARGER = "2^13, 360 bits"
"""The second row of the paper's Table 4, which a device of this kind can hold."""

COSTED: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"2^14, 720 bits": (14, 24), "2^15, 1440 bits": (15, 48)}
)
"""Its other rows, which none can hold: log2 N, and primes of q."""


def variant(name: str) -> RpauDesign:
    """A design choice made differently."""
    return replace(load_design(DESIGN), name=f"{DESIGN}: {name}", **CHOICES[name])


@cached
def larger_parameters() -> BfvParameters:
    """Twelve primes of q and thirteen of the extension, N = 2^13: Table 4's second row."""
    return BfvParameters.create(
        n=1 << 13,
        prime_bits=(30,) * 12,
        plain_modulus=2,
        multiplication="hps",
        relinearization="residue",
        dnum=2,
        error_deviation=102.0,
        security=None,
        name=LARGER,
    )


def larger_design() -> RpauDesign:
    """A coprocessor for them: as many RPAUs as primes of the extension, twice the converters."""
    return replace(load_design(DESIGN), name="heaws-13", log_n=13, rpaus=13, converters=4)


def shapes(log_n: int, limbs: int) -> list[Shape]:
    """Coprocessors for larger parameters, with as many RPAUs as primes of the extension.

    As the paper scales its own, with two cores and converters doubled whenever N is; with the four
    converters that rows of two cores feed; and with cores doubled, too, whose rows feed them all.
    """
    converters = 2 << log_n - load_design(DESIGN).log_n
    name = f"{DESIGN}-{log_n}"
    return [
        Shape.of(
            load_design(DESIGN),
            name=f"{name}{text}",
            log_n=log_n,
            rpaus=limbs + 1,
            cores=cores,
            converters=taken,
        )
        for text, cores, taken in (
            ("", 2, converters),
            (": 4 converters", 2, 4),
            (f": {converters // 2} cores", converters // 2, converters),
        )
    ]


SEALS = "set D"
"""What records call a parameter set of SEAL's kind, as large as the paper's."""


@cached
def seals_parameters() -> BfvParameters:
    """Six primes of 30 bits and a special one, N = 2^12, t = 65537: a set that SEAL takes."""
    return BfvParameters.create(
        n=1 << 12,
        prime_bits=(30,) * 6,
        special_bits=30,
        plain_modulus=65537,
        security=None,
        name=SEALS,
    )


@cached
def parameters() -> BfvParameters:
    """The paper's parameter set."""
    return BFV_SETS[PARAMS]()


def graph_of(operation: str, of: BfvParameters) -> SubroutineGraph:
    """The graph of one of ``OPERATIONS`` at all limbs."""
    return lower_operation(operation, of, of.limbs, steps=1)
