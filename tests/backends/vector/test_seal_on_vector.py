"""The vector architecture equals Microsoft SEAL at N = 2^12 to 2^15: model and RTL."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.seal_world import check_operation, world_of
from tests.backends.test_seal_on_devices import LARGE_RING, LIMBS, OPERATIONS, PARAMETERS, world

from ringsmith import runtime
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.params import ckks_set

QUICK_ON_RTL = ("multiply_plain", "rescale", "rotate:1", "relinearize")
"""At N = 2^12."""


@cache
def device(kind: str) -> runtime.Device:
    return runtime.open_device(kind, design())


@cache
def design() -> VectorDesign:
    return BACKEND.load_design("vector-small")


def cases() -> Iterator[object]:
    for primes in PARAMETERS:
        for limbs in LIMBS[primes]:
            for name in OPERATIONS:
                rtl = primes == "seal-4096" and name in QUICK_ON_RTL
                if primes in ("seal-4096", "seal-8192"):
                    yield pytest.param(primes, limbs, name, ("model", "rtl") if rtl else ("model",))
                if not rtl:
                    yield pytest.param(
                        primes, limbs, name, ("model", "rtl"), marks=pytest.mark.full
                    )


@pytest.mark.parametrize(("primes", "limbs", "operation", "kinds"), list(cases()))
def test_an_operation_on_vector_equals_seal_residue_for_residue(
    primes: str, limbs: int, operation: str, kinds: tuple[str, ...], rng: np.random.Generator
) -> None:
    devices = [device(kind) for kind in kinds]
    check_operation(world(primes), design(), devices, operation, limbs, rng)


@pytest.mark.full
@pytest.mark.parametrize("operation", LARGE_RING)
def test_the_largest_ring_of_seal_equals_it_on_a_larger_design(
    operation: str, rng: np.random.Generator
) -> None:
    """N = 2^15, nine data primes: Medha's second set."""
    small = design()
    larger = replace(
        small,
        name="larger",
        log_n=15,
        bank_rows=2 * small.bank_rows,
        table_rows=2 * small.table_rows,
        stream_rows=2 * small.stream_rows,
    )
    here = world_of(ckks_set("medha-set2"), (1,))
    devices = [runtime.open_device(kind, larger) for kind in ("model", "rtl")]
    check_operation(here, larger, devices, operation, here.parameters.limbs, rng)
