"""BFV's operations on vector designs: the interpreter's results, and what is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.backends.vector.test_programs import (
    RADIX_4,
    RADIX_16,
    WIDE,
    check_results,
    check_schedule,
)

from ringsmith import BfvParameters, _core
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.quotients import digit_bits, quotient
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import operations
from ringsmith.hdl import base_conversion
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

WIDE_16 = replace(WIDE, name="wide-16", log_radix=4)
TWO = replace(WIDE_16, name="two", clusters=2, banks=3, read_row_cycles=2)
MIDDLE = replace(RADIX_4, name="middle", word_bits=45)
DESIGNS = [RADIX_4, WIDE, WIDE_16, TWO, MIDDLE]
OPERATIONS = [
    "add", "sub_plain", "multiply", "multiply_plain", "square", "mod_switch", "rotate", "swap_columns",
    "relinearize", "multiply_relinearize",
]  # fmt: skip


def parameters(design: VectorDesign, limbs: int, n: int = 1 << 10, **others: Any) -> BfvParameters:
    """Parameters whose primes, the widest, a design takes."""
    special = others.pop("special", 1)
    primes = _core.prime_search(others.pop("bits", design.word_bits), design.n, limbs + special)
    return BfvParameters.from_primes(
        n=n,
        data_primes=primes[:limbs],
        special_prime=primes[limbs:],
        multiplication="hps",
        security=None,
        **{"plain_modulus": 40961, **others},
    )


def check(of: BfvParameters, operation: str, design: VectorDesign) -> None:
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    check_results(executable)
    check_schedule(executable)


def test_all_operations_are_tried() -> None:
    assert {*operations("bfv")} <= {*OPERATIONS, "sub", "negate", "add_plain", "input", "output"}


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_the_interpreters(design: VectorDesign, operation: str) -> None:
    check(parameters(design, 3), operation, design)


@pytest.mark.parametrize(
    ("limbs", "others"),
    [
        (2, {"n": 1 << 12, "bits": 54}),
        (6, {"n": 1 << 12, "bits": 30, "plain_modulus": 2}),
        (5, {"special": 2, "dnum": 3, "bits": 36}),
        (4, {"special": 0, "relinearization": "residue", "dnum": 2}),
        (3, {"special": 0, "relinearization": "residue", "plain_modulus": (1 << 40) - 87}),
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["multiply_relinearize", "rotate"])
def test_parameter_sets_are_the_interpreters(
    limbs: int, others: dict[str, Any], operation: str
) -> None:
    check(parameters(WIDE, limbs, **others), operation, WIDE)
