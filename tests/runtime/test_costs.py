"""What operations cost on designs, and what arrays are packed by."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ringsmith import AutoBfvParameters, AutoParameters, trace
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.program import Op, Program
from ringsmith.program.costs import CPU, Costs
from ringsmith.runtime.costs import costs_on
from ringsmith.runtime.designs import limits_of


def costs(wish: AutoRlweParameters) -> Costs:
    return costs_on(replace(wish, limits=limits_of(wish.design)))


@pytest.mark.parametrize("design", ["nano", "pico", "vector-small", "heaws-seal"])
def test_costs_are_the_designs_own(design: str) -> None:
    found = costs(AutoParameters(design=design))
    assert found.device == design
    assert found != replace(CPU, device=design)
    assert 2 < found.product < 4  # key switching takes most of it, as of a rotation, which is 2
    assert 0.03 < found.plain_product < 0.5
    assert 1 < found.level < 10


def test_lanes_that_are_shared_make_a_product_with_a_plaintext_dearer() -> None:
    """``nano`` has a unit for each prime, and ``vector-small`` 16 lanes for all."""
    shared, apart = (costs(AutoParameters(design=name)) for name in ("vector-small", "nano"))
    assert shared.plain_product > 2 * apart.plain_product
    assert shared.level > apart.level


def test_a_product_with_a_plaintext_costs_more_in_bfv_where_it_is_transformed() -> None:
    small = "vector-small"
    in_bfv, in_ckks = costs(AutoBfvParameters(design=small)), costs(AutoParameters(design=small))
    assert in_bfv.plain_product > 2 * in_ckks.plain_product


def test_a_design_that_does_not_rotate_has_the_cpus_costs() -> None:
    assert costs(AutoBfvParameters(design="nano")) == CPU


def test_the_named_device_decides_how_a_product_is_computed() -> None:
    """On ``vector-small`` three products with plaintexts more cost as much as a rotation."""
    weights = np.random.default_rng(5).normal(size=(64, 4))

    def planned(design: str | None) -> tuple[Program, Counter[Op]]:
        program = trace(lambda x: x @ weights, AutoParameters(design=design), {"x": (64,)})
        return program, Counter(node.op for node in program.nodes)

    program, counts = planned("vector-small")
    assert (counts[Op.ROTATE], counts[Op.MULTIPLY_PLAIN]) == (6, 1)
    choice = "is computed by copies along the columns: that costs 21 rotations on vector-small, and"
    assert choice in program.explain()
    for design in (None, "nano"):
        program, counts = planned(design)
        assert (counts[Op.ROTATE], counts[Op.MULTIPLY_PLAIN]) == (7, 4)
        assert f"on {design or 'cpu'}, and by copies along the columns" in program.explain()
