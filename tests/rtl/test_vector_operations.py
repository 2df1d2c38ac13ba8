"""HE operations on the RTL of the vector architecture at the sizes of programs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.backends.vector.test_bootstrapping import bootstrapping, raised_modulus
from tests.backends.vector.test_bootstrapping import parameters as small_bootstrapping
from tests.backends.vector.test_key_switching import transform
from tests.backends.vector.test_programs import parameters
from tests.rtl.test_vector_core import RADIX_16, TWO_SLOW, check

from ringsmith import platforms
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.design.design import MONTGOMERY, VectorDesign
from ringsmith.lower import lower_operation
from ringsmith.params import ckks_set

OPERATIONS = ["multiply_plain", "rescale", "rotate", "multiply_relinearize"]

SETS = [(3, 1, 0), (5, 2, 3), (7, 3, 2), (9, 9, 1), (5, 1, 0), (4, 4, 1), (11, 4, 3)]
"""Data primes, special primes, and digits of key switching; 0: one prime each."""

QUICK = [
    *((SETS[0], operation) for operation in OPERATIONS),
    (SETS[1], "rotate"),
    (SETS[2], "multiply_relinearize"),
]
FULL = [
    each for each in ((shape, operation) for shape in SETS for operation in OPERATIONS)
    if each not in QUICK
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "operation"),
    [*QUICK, *(pytest.param(*each, marks=pytest.mark.full) for each in FULL)],
    ids=str,
)
def test_operations_in_a_ring_of_4096_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator, shape: tuple[int, int, int], operation: str
) -> None:
    of = parameters(RADIX_16, shape, 1 << 12)
    check(compile_graph(lower_operation(operation, of, of.limbs), RADIX_16), rng)


LARGE = VectorDesign(
    "framework-lanes-16", 16, 4, 4, 32, MONTGOMERY,
    bank_rows=1 << 16, table_rows=1 << 14, stream_rows=1 << 13,
)  # fmt: skip
"""``framework-512`` with a sixteenth of its lanes, and memories of as many bytes: as many cycles of
ALUs, and a simulation that is built in seconds."""

PAPERS = [
    *((LARGE, "framework-set3", operation) for operation in OPERATIONS),
    (LARGE, "framework-set2", "multiply_relinearize"),
    (LARGE, "framework-set1", "multiply_relinearize"),
    (BACKEND.load_design("framework-512"), "framework-set2", "multiply_relinearize"),
]
"""Sets of the Framework paper: N = 2^14 with 9 limbs, 2^16 with 24, 2^16 with 45. The last design
takes minutes to build."""


@pytest.mark.full
@pytest.mark.parametrize(
    ("design", "params", "operation"), PAPERS, ids=lambda value: getattr(value, "name", value)
)
def test_operations_of_the_papers_sets_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator, tmp_path: Path, design: VectorDesign, params: str, operation: str
) -> None:
    """Set 1 has a key of a gigabyte, and takes some minutes.

    A sixteenth of the lanes has a sixteenth of the ports, so each has four times as much memory.
    """
    if design is LARGE:
        text = (Path(platforms.__file__).parent / f"{design.platform}.toml").read_text()
        card = tmp_path / "card.toml"
        card.write_text(text.replace("bytes = 8_589_934_592", "bytes = 34_359_738_368"))
        design = replace(design, platform=str(card))
    of = ckks_set(params)
    graph = lower_operation(operation, of, of.limbs)
    executable = compile_graph(graph, design)
    inputs, keys = random_operands(graph, rng)
    result = BACKEND.open("rtl", design).execute(CompiledGraph(graph, executable), inputs, keys)
    assert result.cycles == executable.cycles
    expected = graph.to_core().run(inputs, {name: core_key(key) for name, key in keys.items()})
    assert result.outputs.keys() == expected.keys()
    for name, words in expected.items():
        assert np.array_equal(result.outputs[name], words), name


def test_rotations_that_share_digits_equal_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator,
) -> None:
    check(compile_graph(transform(TWO_SLOW), TWO_SLOW), rng)


def test_a_raised_modulus_equals_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator,
) -> None:
    """The first stage of a bootstrapping."""
    graph = raised_modulus(small_bootstrapping(TWO_SLOW))
    check(compile_graph(graph, TWO_SLOW), rng)


@pytest.mark.full
def test_a_whole_bootstrapping_equals_the_interpreters_in_the_schedules_cycles(
    rng: np.random.Generator,
) -> None:
    """1.3 million cycles of two clusters behind slow memory."""
    check(compile_graph(bootstrapping(small_bootstrapping(TWO_SLOW)), TWO_SLOW), rng)
