"""What is counted: designs, parameter sets, HE operations, and points of the paper's figure 6."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from ringsmith import runtime
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import table_rows
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters
from ringsmith.params.sets import ckks_set
from ringsmith.runtime.designs import named_design

PAPER = "framework"

SETS = ("framework-set1", "framework-set2", "framework-set3")
"""The paper's Set-1, Set-2 and Set-3."""

DESIGNS = ("framework", "framework-512", "vector-1024")
"""Our designs; the first has the paper's sample design's figures."""

OPERATIONS: Mapping[str, str] = MappingProxyType(
    {
        "add": "CtCtAdd",
        "multiply_plain": "PtCtMult",
        "multiply_relinearize": "CtCtMult",
        "rotate": "Rotate",
        "rescale": "Rescale",
    }
)
"""HE operations, each a program of its own, as ``lower_operation`` and as the paper calls them."""

MAIN_OPERATION = "multiply_relinearize"
"""What designs of other sizes are compared by."""

HERTZ = 250e6
"""The paper's clock. Assumed for ours: no place and route backs it."""


def design_of(name: str) -> VectorDesign:
    """One of ``DESIGNS``."""
    return cast("VectorDesign", named_design(name))


@cached
def graph_of(operation: str, params: str) -> SubroutineGraph:
    """The graph of one of ``OPERATIONS`` in one of ``SETS``, at all limbs."""
    of = parameters(params)
    return lower_operation(operation, of, of.limbs, steps=1)


def parameters(params: str) -> CkksParameters:
    """One of ``SETS``."""
    return ckks_set(params)


def compiled(operation: str, params: str, design: VectorDesign) -> VectorExecutable:
    """One of ``OPERATIONS``, compiled for a design."""
    return executable_of(graph_of(operation, params), design)


def executable_of(graph: SubroutineGraph, design: VectorDesign) -> VectorExecutable:
    """A graph, compiled for a design."""
    return cast("VectorExecutable", runtime.compile_graph(graph, design).executable)


# ---- figure 6 ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A point of figure 6.

    Attributes:
        base: The design that it differs from.
        clusters: Arrays side by side.
        log_lanes: log2 of the words of a row, of each of them.
        rate: Bytes that memory reads and writes together outside of pauses, in GB/s at ``HERTZ``.
    """

    base: str
    clusters: int
    log_lanes: int
    rate: int

    def design(self) -> VectorDesign:
        """A design with as much scratchpad as its base, and streams and tables of as many bytes.

        Raises:
            ParameterError: If a row is no whole number of cycles at the rate.
        """
        base = replace(design_of(self.base), crossed_ports=False)
        shape = replace(base.shape(base.log_n), log_lanes=self.log_lanes)
        longer = 1 << (base.log_lanes - self.log_lanes)
        cycles = row_cycles(self.clusters, self.log_lanes, base.word_bytes, self.rate)
        ports = (8 * base.word_bytes << self.log_lanes) // (cycles * base.memory.port_bits)
        point = replace(
            base,
            clusters=self.clusters,
            ports=ports,
            log_lanes=self.log_lanes,
            bank_rows=base.bank_rows * longer * base.clusters // self.clusters,
            table_rows=max(base.table_rows * longer, 2 * table_rows(shape)),
            stream_rows=max(base.stream_rows * longer, table_rows(shape)),
        )
        name = f"{self.base}: {point.alus} ALUs, {self.rate} GB per second"
        return replace(point, name=name)


def row_cycles(clusters: int, log_lanes: int, word_bytes: int, rate: int) -> int:
    """Cycles of a row of each cluster, each way, where memory reads and writes at a rate.

    Raises:
        ParameterError: If they are no whole number.
    """
    row = 2 * clusters * (word_bytes << log_lanes) * HERTZ
    cycles, rest = divmod(row, rate * 1e9)
    if rest or not cycles:
        most = row / 1e9
        raise ParameterError(
            f"{rate} GB/s: rows of {clusters} x {1 << log_lanes} words move at {most:.0f} "
            "GB/s or a whole part of it: choose one"
        )
    return int(cycles)


POINTS: Mapping[str, Point] = MappingProxyType(
    {
        f"{alus}-{rate}": Point(base, clusters, log_lanes, rate)
        for alus, base, clusters, log_lanes, rates in (
            (64, "framework", 1, 6, (128,)),
            (128, "framework", 2, 6, (128, 256)),
            (256, "framework", 1, 8, (128, 256, 512)),
            (512, "framework-512", 1, 8, (128, 256, 512)),
            (1024, "vector-1024", 2, 8, (128, 256, 512)),
        )
        for rate in rates
    }
)
"""Points by ALUs and GB/s."""

FIGURE_SETS = SETS[:2]
"""The sets that points are counted in."""

FUSED = ("multiply_relinearize", "rotate")
"""Operations of figure 10: those in which subroutines follow each other."""

FUSION_POINTS = ("256-128", "256-512")
"""Points of figure 6 that figure 10 is counted on: its two bandwidths, the sample's array."""

FUSION_SETS = SETS[1:2]
"""The set of figure 10."""

SEARCH_SETS = SETS[:1]
"""The set of figure 8."""
