"""Every device equals Microsoft SEAL: same files in, same residues out, at N = 2^12, 2^13, 2^14.

SEAL makes keys and ciphertexts and saves them; ``interop`` reads the bytes; each operation runs as
a subroutine graph on the cpu, the model and the RTL of a design; SEAL does the same, saves its
result, and the two are compared residue for residue.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
import seal
from tests.backends.seal_world import World, check_operation, world_of

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.choose import smallest_design
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters, parameter_set

OPERATIONS = (
    *("add", "sub", "negate", "add_plain", "sub_plain", "multiply_plain"),
    *("multiply", "square", "relinearize", "rescale", "mod_switch", "conjugate"),
    *("rotate:1", "rotate:100", "rotate:-1"),
)
KEY_SWITCHING = ("relinearize", "rotate", "conjugate")
LARGE_RING = ("multiply", "relinearize", "rescale", "rotate:1")
KINDS = ("cpu", "model", "rtl")


def seals_own_parameters(n: int) -> CkksParameters:
    """SEAL's default primes for a ring; the last one is special."""
    *data, special = (prime.value() for prime in seal.CoeffModulus.BFVDefault(n))
    return CkksParameters.from_primes(
        n=n, data_primes=data, special_prime=special, scale=2.0**30, name=f"seal-{n}"
    )


PARAMETERS = {
    "seal-4096": lambda: seals_own_parameters(4096),  # 36, 36, 37 bits
    "seal-8192": lambda: seals_own_parameters(8192),  # 43, 43, 44, 44, 44 bits
    "nano": lambda: parameter_set("nano"),
    "medha-set1": lambda: parameter_set("medha-set1"),
}
DESIGNS = {"seal-8192": "nano", "nano": "nano", "medha-set1": "octo"}
"""Where none is named here, the design is made to fit."""
LIMBS = {"seal-4096": (2,), "seal-8192": (4, 3), "nano": (4, 3), "medha-set1": (7, 3)}


@cache
def world(name: str) -> World:
    return world_of(PARAMETERS[name]())


@cache
def design(name: str) -> RpauDesign:
    """The design that runs a parameter set, for all of its operations the same."""
    if name in DESIGNS:
        return load_design(DESIGNS[name])
    parameters = world(name).parameters
    return smallest_design(lower_operation("relinearize", parameters, parameters.limbs))


@cache
def device(kind: str, design: RpauDesign) -> runtime.Device:
    return runtime.open_device(kind, design)


def cases() -> Iterator[object]:
    """Every operation at two levels of the parameter sets on every device.

    Simulated key switching takes seconds, and a large ring's keys too: some of it waits for the
    full pass.
    """
    for kind, primes in product(KINDS, PARAMETERS):
        large = primes == "medha-set1"
        for limbs, name in product(LIMBS[primes], LARGE_RING if large else OPERATIONS):
            switching = name.partition(":")[0] in KEY_SWITCHING
            quick = not switching or name in ("relinearize", "rotate:1")
            slow = large or (kind == "rtl" and limbs == 3 and not quick)
            marks = [pytest.mark.full] if slow else []
            yield pytest.param(kind, primes, limbs, name, marks=marks)


@pytest.mark.parametrize(("kind", "primes", "limbs", "operation"), list(cases()))
def test_an_operation_on_a_device_equals_seal_residue_for_residue(
    kind: str, primes: str, limbs: int, operation: str, rng: np.random.Generator
) -> None:
    here, point = world(primes), design(primes)
    check_operation(here, point, [device(kind, point)], operation, limbs, rng)
