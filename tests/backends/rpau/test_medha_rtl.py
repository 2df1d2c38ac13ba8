"""The design ``medha`` at full size, as RTL: ten RPAUs of 16 butterfly cores, built for N = 2^14.

Built once, it runs every ring from 2^12 to 2^16. SEAL makes keys and ciphertexts; the RTL must give
SEAL's bits in the cycles of the schedule, and so must the model.
"""

import time
from functools import cache

import numpy as np
import pytest
from tests.backends.seal_world import World, expected, world_of

from bench.run import load
from ringsmith import runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.debug.random_program import ring_in_turn
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters, ckks_set

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore:.*below 128-bit security")]

DEVICES = ("model", "rtl")
OPERATIONS = load("medha").parts["operations"]["cases"][0]["operations"]
RINGS = (12, 13, 14, 15, 16)
SECONDS = 15.0
"""Processor time for a product of Set-1 with all loaded: 7 s on a quiet processor."""
LENGTH = 2 * len(ISA.operations)

LIMBS = {12: 2, 13: 3, 14: 7, 15: 9, 16: 3}
"""Data primes by ring: those of the Medha paper's sets at 2^14 and 2^15, a few elsewhere."""
CASES = (
    *((ring, "multiply_relinearize", LIMBS[ring]) for ring in RINGS),
    *((ring, "rescale", LIMBS[ring]) for ring in RINGS),
    *((ring, "rotate:1", min(LIMBS[ring], 4)) for ring in RINGS),
    (14, "rotate:1", 7),
)


OF_2021 = [
    (case["design"], operation)
    for case in load("medha").parts["operations"]["cases"]
    for operation in case["operations"]
    if case["design"].startswith("medha21")
]
"""Designs of 2021 at full size, with each HE operation of the bench; built in a minute or two."""


@cache
def medha() -> RpauDesign:
    return load_design("medha")


@cache
def device(kind: str) -> runtime.Device:
    return runtime.open_device(kind, medha())


@cache
def world(ring: int) -> World:
    """SEAL with primes of Medha's family: all are 1 modulo 2^17, and serve every ring."""
    whole = ckks_set("medha-set2")
    parameters = CkksParameters.from_primes(
        n=1 << ring,
        data_primes=whole.data_primes[: LIMBS[ring]],
        special_prime=whole.data_primes[LIMBS[ring]] if ring < 15 else whole.special_primes[0],
        scale=whole.scale,
        name=f"medha-2^{ring}",
        security=None,
    )
    return world_of(parameters, (1,))


@pytest.mark.parametrize(("ring", "operation", "limbs"), CASES)
def test_an_operation_in_a_ring_has_seals_bits_in_the_cycles_of_its_schedule(
    ring: int, operation: str, limbs: int, rng: np.random.Generator
) -> None:
    here = world(ring)
    operands, result = expected(here, operation, limbs, rng)
    polynomials = np.concatenate([here.polynomials(operand) for operand in operands])
    name, _, steps = operation.partition(":")
    program = lower_operation(name, here.parameters, limbs, steps=int(steps or 1))
    inputs = dict(zip(program.inputs, polynomials, strict=True))
    compiled = runtime.compile_graph(program, medha(), seeded=())
    assert compiled.executable is not None
    assert compiled.executable.sub_polys == medha().sub_polys(ring)
    for kind in DEVICES:
        found = runtime.run_graph(compiled, device(kind), inputs, here.keys)
        outputs = np.stack(list(found.outputs.values()))
        np.testing.assert_array_equal(outputs, here.polynomials(result), err_msg=kind)
        assert found.cycles == compiled.executable.cycles, kind
        assert ring > medha().log_n or found.report.host_transfers == 0


@pytest.mark.parametrize(
    ("params", "operation"), [(f"medha-set{i}", each) for i in (1, 2) for each in OPERATIONS]
)
def test_an_operation_with_seeded_keys_has_the_interpreters_bits_and_the_models_cycles(
    params: str, operation: str
) -> None:
    of = ckks_set(params)
    graph = lower_operation(operation, of, of.limbs)
    compiled = runtime.compile_graph(graph, medha())
    assert compiled.executable is not None
    assert compiled.executable.seeded == graph.keys.keys()
    assert compiled.executable.host_transfers == 0
    found = [run_checked(compiled, device(kind)) for kind in DEVICES]
    assert found[0] == found[1]
    assert found[0][1] == compiled.executable.cycles


def test_a_product_of_set_1_simulates_in_seconds() -> None:
    compiled = runtime.compile_graph(
        lower_operation("multiply_relinearize", ckks_set("medha-set1"), 7), medha()
    )
    assert compiled.executable is not None
    (run,) = compiled.executable.runs
    coprocessor = RtlCoprocessor(medha())  # no latency depends on contents
    coprocessor.load_program(np.array(run.words, dtype=np.uint64))
    begin = time.process_time()
    assert coprocessor.run(2 * run.cycles).cycles == run.cycles
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize("ring", RINGS)
def test_a_random_program_in_a_ring_equals_the_model(ring: int, rng: np.random.Generator) -> None:
    seed = len(RINGS) * int(rng.integers(2**28)) + RINGS.index(ring)
    assert ring_in_turn(medha(), seed) == ring
    assert compare(RtlCoprocessor(medha()), medha(), [seed], LENGTH).polynomials > 0


@pytest.mark.parametrize(("name", "operation"), OF_2021)
def test_an_operation_of_the_designs_of_2021_has_the_interpreters_bits(
    name: str, operation: str
) -> None:
    design, of = load_design(name), ckks_set(name)
    compiled = runtime.compile_graph(lower_operation(operation, of, of.limbs), design)
    assert compiled.executable is not None
    assert compiled.executable.host_transfers == 0
    devices = (runtime.open_device(kind, design) for kind in ("model", "rtl"))
    found = [run_checked(compiled, device) for device in devices]
    assert found[0] == found[1]
    assert found[0][1] == compiled.executable.cycles
