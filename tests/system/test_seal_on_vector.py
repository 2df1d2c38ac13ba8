"""The vector architecture equals Microsoft SEAL at N = 2^12, 2^13 and 2^14: model and RTL."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from tests.system.seal_world import check_operation
from tests.system.test_seal_on_devices import LIMBS, OPERATIONS, PARAMETERS, world

from ringsmith import runtime
from ringsmith.backends.base import Design
from ringsmith.runtime.designs import named_design

QUICK_ON_RTL = ("multiply_plain", "rescale", "rotate:1", "relinearize")
"""At N = 2^12."""


@cache
def device(kind: str) -> runtime.Machine:
    return runtime.open_device(kind, design())


@cache
def design() -> Design:
    return named_design("vector-small")


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
    machines = [device(kind) for kind in kinds]
    check_operation(world(primes), design(), machines, operation, limbs, rng)
