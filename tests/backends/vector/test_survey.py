"""Cycles and verification of the named vector designs, as the page of designs has them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.backends.vector.test_programs import RADIX_16

from ringsmith.backends.base import CompiledGraph, GraphResult
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.debug.compare_operations import compare_operations
from ringsmith.backends.vector.debug.costs import OPERATIONS, filled_parameters, operation_cycles
from ringsmith.backends.vector.debug.designs import (
    VectorRow,
    vector_cycles_table,
    vector_verification_table,
)
from ringsmith.backends.vector.device.device import VectorDevice
from ringsmith.errors import DeviceError
from ringsmith.lower import lower_operation
from ringsmith.objects import Residues

SMALL = replace(RADIX_16, name="small", log_n=10, bank_rows=512)


def test_cycles_of_operations_are_those_of_compiled_programs() -> None:
    found = operation_cycles(SMALL, lower_operation)
    assert found.keys() == {"ntt", *OPERATIONS}
    assert found["ntt"] == 3 * 64  # passes of 10 stages, rows
    of = filled_parameters(SMALL, 1 << 10, 8, 1, 8)
    executable = compile_graph(lower_operation("rotate", of, 8), SMALL)
    assert found["rotate"] == executable.cycles
    row = VectorRow(SMALL, cycles=found)
    assert f"| `small` | 1,024 | 192 | {found['multiply + relinearize']:,} |" in (
        vector_cycles_table([row])
    )


def test_a_design_that_has_too_few_primes_has_dashes() -> None:
    narrow = replace(SMALL, name="narrow", log_n=12, bank_rows=1024, word_bits=15)
    found = operation_cycles(narrow, lower_operation)
    assert found["ntt"] == 3 * 256
    assert "| 768 | – | – | – | – |" in vector_cycles_table([VectorRow(narrow, cycles=found)])


def test_operations_are_compared_with_the_interpreter() -> None:
    same = compare_operations(VectorDevice(SMALL, "model"), SMALL, lower_operation, 9)
    assert same.operations == 9
    assert same.words > 9 * 2 * SMALL.n
    row = VectorRow(SMALL, verified=same)
    told = f"| `small` | 9 | {same.instructions:,} | {same.cycles:,} | {same.words:,} |"
    assert told in vector_verification_table([row])
    assert "| `small` | not run |" in vector_verification_table([VectorRow(SMALL)])


class Off(VectorDevice):
    """A model with a wrong result, or a cycle too many."""

    word, cycle = 0, 0

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """One word, or the cycles, differ."""
        found = super().execute(compiled, inputs, keys)
        next(iter(found.outputs.values()))[0, 5] += self.word
        assert found.cycles is not None
        cycles = found.cycles + self.cycle
        return replace(found, report=replace(found.report, cycles=cycles))


@pytest.mark.parametrize(("word", "message"), [(1, "result .* differs"), (0, "cycles, and")])
def test_a_difference_is_told(word: int, message: str) -> None:
    device = Off(SMALL, "model")
    device.word, device.cycle = word, 1 - word
    with pytest.raises(DeviceError, match=message):
        compare_operations(device, SMALL, lower_operation, 3)
