"""Applications of the Medha paper, estimated from the operations that they take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.bench.medha import lenet5
from ringsmith.bench.records import Found
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set


@dataclass(frozen=True)
class Mix:
    """How many of which operations an application takes.

    Attributes:
        name: The application.
        params: The parameter set to run it with.
        limbs: Data limbs of every operation.
        counts: Operation, as ``lower_operation`` knows it -> how many.
        where: Where the counts are from.
    """

    name: str
    params: str
    limbs: int
    counts: Mapping[str, int]
    where: str


PRIVFT: Final = Mix(
    name="privft",
    params="medha-set1",
    limbs=5,
    counts=MappingProxyType({"multiply_plain": 3, "add": 75, "rotate": 14}),
    where='Medha, section 5, "Benchmarking of homomorphic applications"',
)
"""Text classification by PrivFT: 3 products with scalars, 75 sums and 14 rotations with L = 5."""


LENET5: Final = Mix(
    name="lenet5",
    params="medha-set2",
    limbs=lenet5.depth() + 1,
    counts=MappingProxyType(dict(lenet5.operations())),
    where="the layers of LeNet-5 (LeCun et al. 1998) with squares, packed as GAZELLE (Juvekar et "
    "al. 2018) does; all at the first level, so that the estimate is too high",
)
"""One image through a network of LeNet-5's size (:mod:`ringsmith.bench.medha.lenet5`)."""


def mix_rows(mix: Mix, design: RpauDesign) -> Iterator[Found]:
    """Yields an application's cycles, and its seconds at the assumed clock."""
    cycles = mix_cycles(mix, design)
    yield cycles
    text = f"{cycles.value:,.0f} cycles at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"
    yield replace(cycles, metric="seconds", value=cycles.value / ASSUMED_HZ, conditions=text)


def mix_cycles(mix: Mix, design: RpauDesign) -> Found:
    """Estimates an application's cycles: those of each operation alone, times how many there are.

    Operations of one program overlap and share what they load, so a compiled program would take
    fewer; transfers to and from the host are not in it. Rescalings that the counts do not name
    are not counted.

    Args:
        mix: The operations.
        design: The accelerator; must run the parameter set.

    Raises:
        ParameterError: When there is no such parameter set.
        ProgramError: When an operation does not fit the design.
    """
    parameters = ckks_set(mix.params)
    total, terms, moved = 0, [], False
    for operation, count in mix.counts.items():
        graph = lower_operation(operation, parameters, mix.limbs)
        executable = runtime.compile_graph(graph, design).executable
        assert isinstance(executable, Executable), "a design of RPAUs is named"
        total += count * executable.cycles
        transfers = executable.host_transfers
        moved = moved or transfers > 0
        under_way = f" and {transfers:,} limbs under way" if transfers else ""
        terms.append(f"{count} {operation} of {executable.cycles:,} cycles{under_way}")
    resident = "operands and keys resident" + ", but for limbs under way, not timed" * moved
    conditions = (
        f"{mix.name}: sum of {', '.join(terms)}, each compiled alone at {mix.limbs} limbs, "
        f"{resident}; counts from {mix.where}"
    )
    return Found(design.name, mix.params, mix.name, "cycles", total, "estimate", conditions)
