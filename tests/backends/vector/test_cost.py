"""The walk over tasks, by which designs are ruled out, beside the compiler's cycles."""

from dataclasses import replace

import pytest

from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.cost import estimate
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params.sets import ckks_set
from ringsmith.runtime.designs import named_design

DESIGNS = ("framework", "framework-512", "vector-1024")
OPERATIONS = ("multiply_relinearize", "rotate", "rescale", "multiply_plain")

LOWEST, HIGHEST = -0.25, 0.06
"""By how much an estimate may differ: docs/explore.md says so."""


def graph_of(params: str, operation: str) -> SubroutineGraph:
    of = ckks_set(params)
    return lower_operation(operation, of, of.limbs)


def points() -> list[VectorDesign]:
    """Named designs, and others with less memory, other rates, fewer lanes."""
    designs = [named_design(name) for name in DESIGNS]
    found = [each for each in designs if isinstance(each, VectorDesign)]
    base = found[1]
    found += [replace(base, name=f"{rows} rows", bank_rows=rows) for rows in (1024, 2048, 8192)]
    found += [replace(base, name=f"{ports} ports", ports=ports) for ports in (16, 8)]
    rows = {"bank_rows": 16384, "table_rows": 8192, "stream_rows": 4096}
    return [*found, replace(found[0], name="64 lanes", log_lanes=6, ports=8, **rows)]


def errors(params: str, operation: str, designs: list[VectorDesign]) -> dict[str, float]:
    graph = graph_of(params, operation)
    return {
        each.name: estimate(graph, each).cycles / compile_graph(graph, each).cycles - 1
        for each in designs
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_walk_is_near_the_compilers_cycles(operation: str) -> None:
    found = errors("framework-set3", operation, points()[:3])
    assert {name: e for name, e in found.items() if not LOWEST <= e <= HIGHEST} == {}


@pytest.mark.full
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_walk_is_near_the_compilers_cycles_at_the_papers_set_2(operation: str) -> None:
    found = errors("framework-set2", operation, points())
    assert {name: e for name, e in found.items() if not LOWEST <= e <= HIGHEST} == {}


def test_a_scratchpad_too_small_for_its_limbs_moves_them_again() -> None:
    graph = graph_of("framework-set3", "multiply_relinearize")
    design = named_design("framework-512")
    assert isinstance(design, VectorDesign)
    large = estimate(graph, design)
    small = estimate(graph, replace(design, bank_rows=512))
    assert small.spilled > large.spilled
    assert small.bytes > large.bytes
    assert sum(small.parts.values()) == small.compute
