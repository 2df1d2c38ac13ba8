"""What the planner promises: equal scales where values are added, few levels, well-placed steps."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import compile_program
from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.program import (
    CkksProgram,
    EncryptedVector,
    InputSpec,
    Node,
    Op,
    Program,
    bounded,
    inner_product,
    polynomial,
    trace,
)

Function = Callable[..., object]


def check_invariants(program: Program) -> None:
    """Checks every node against the rules of CKKS, stated anew here."""
    primes = program.parameters.data_primes
    log_q = [math.log2(math.prod(primes[:limbs])) for limbs in range(len(primes) + 1)]
    for index, node in enumerate(program.nodes):
        assert node.id == index
        operands = [program.nodes[i] for i in node.operands]
        assert all(operand.id < index for operand in operands)
        assert node.level == node.limbs - 1 >= 0
        assert math.log2(node.scale) + 1 < log_q[node.limbs]
        _check_node(node, operands, primes)


def _check_node(node: Node, operands: list[Node], primes: tuple[int, ...]) -> None:
    sizes = [operand.size for operand in operands]
    limbs = {operand.limbs for operand in operands}
    scales = [operand.scale for operand in operands]
    if node.op is Op.INPUT:
        assert node.size == 2
        return
    if node.op in (Op.RESCALE, Op.RELINEARIZE_RESCALE):
        assert limbs == {node.limbs + 1}
        assert node.scale == pytest.approx(scales[0] / primes[node.limbs], rel=2.0**-50)
        assert (sizes[0], node.size) in ([(2, 2), (3, 3)] if node.op is Op.RESCALE else [(3, 2)])
        return
    if node.op is Op.MOD_SWITCH:
        assert operands[0].limbs > node.limbs
        assert node.scale == scales[0]
        return
    assert limbs == {node.limbs}
    match node.op:
        case Op.ADD | Op.SUB:
            assert scales == [node.scale] * 2
            assert node.size == max(sizes)
        case Op.MULTIPLY:
            assert (sizes, node.size) == ([2, 2], 3)
            assert node.scale == scales[0] * scales[1]
        case Op.SQUARE:
            assert (sizes, node.size) == ([2], 3)
            assert node.scale == scales[0] ** 2
        case Op.RELINEARIZE:
            assert (sizes, node.size, node.scale) == ([3], 2, scales[0])
        case Op.ROTATE | Op.CONJUGATE:
            assert (sizes, node.size, node.scale) == ([2], 2, scales[0])
        case Op.ADD_PLAIN | Op.SUB_PLAIN:
            assert node.plain is not None
            assert node.plain.scale == node.scale == scales[0]
        case Op.MULTIPLY_PLAIN:
            assert node.plain is not None
            assert node.scale == pytest.approx(scales[0] * node.plain.scale, rel=2.0**-51)
        case Op.NEGATE | Op.OUTPUT:
            assert (node.scale, node.size) == (scales[0], sizes[0])


def count(program: Program) -> Counter[Op]:
    """Returns how often each operation stands in the program."""
    return Counter(node.op for node in program.nodes)


def planned(function: Function, parameters: CkksParameters, **inputs: InputSpec) -> Program:
    """Traces, checks the invariants, and returns the program."""
    program = trace(function, parameters, inputs or None)
    check_invariants(program)
    return program


def test_a_weighted_sum_of_ciphertexts_is_rescaled_once(small: CkksParameters) -> None:
    program = planned(lambda x, y, z: x * 0.5 + y * 0.25 - z * [1, 2, 3], small)
    assert count(program)[Op.RESCALE] == 1
    assert program.outputs["result"].level == small.levels - 1


@pytest.mark.parametrize(
    ("function", "factor"),
    [
        (lambda x: 0.9 * (0.9 * (0.9 * x)), 0.729),
        (lambda x: x * np.linspace(0, 1, 512) * 3 / 4, np.linspace(0, 0.75, 512)),
        (lambda x: -(-(x * 0.5) * [1, 2, 3]) * 2j, np.array([1j, 2j, 3j, *[0] * 509])),
    ],
)
def test_products_with_constants_are_one_product(
    function: Function,
    factor: object,
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Callable[..., Any],
) -> None:
    program = planned(function, small)
    assert program.outputs["result"].level == small.levels - 1
    assert count(program)[Op.MULTIPLY_PLAIN] == 1
    assert trace(function, "auto").parameters.levels == 1
    x = rng.uniform(-1, 1, small.slots)
    found = run_encrypted(program, {"x": x}).decrypted()["result"]
    assert np.abs(found - np.asarray(factor) * x).max() < 1e-6


def test_a_product_with_a_constant_that_is_also_needed_itself_costs_the_next_no_level(
    small: CkksParameters, rng: np.random.Generator, run_encrypted: Callable[..., Any]
) -> None:
    def function(x: EncryptedVector) -> dict[str, EncryptedVector]:
        half = 0.5 * x
        return {"half": half, "more": -half * np.linspace(0, 1, 512) + half, "rotated": half * half}

    program = planned(function, small)
    levels = {name: small.levels - node.level for name, node in program.outputs.items()}
    assert levels == {"half": 1, "more": 1, "rotated": 2}
    x = rng.uniform(-1, 1, small.slots)
    run = run_encrypted(program, {"x": x}).decrypted()
    wanted = {"half": x / 2, "more": x / 2 * (1 - np.linspace(0, 1, 512)), "rotated": x * x / 4}
    for name, values in wanted.items():
        assert np.abs(run[name] - values).max() < 1e-6


def test_constants_whose_product_is_zero_stay_two_products(small: CkksParameters) -> None:
    program = planned(lambda x: x * 2.0**-14 * [1, 0] * [0, 1] + x, small)
    assert count(program)[Op.MULTIPLY_PLAIN] >= 2


def test_a_sum_of_products_is_relinearized_and_rescaled_once(small: CkksParameters) -> None:
    program = planned(lambda x, y, z: x * y + y * z - x**2 + x * 0.5, small)
    operations = count(program)
    assert (operations[Op.RELINEARIZE], operations[Op.RESCALE]) == (1, 1)
    assert (operations[Op.MULTIPLY], operations[Op.SQUARE]) == (2, 1)
    assert program.key_needs.relin == small.limbs


def test_fused_rescaling_divides_a_product_once(small: CkksParameters) -> None:
    def function(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return (x * y + y * 0.5) * (x * 0.5) + x.rotate(1)

    separate = planned(function, small)
    fused = trace(function, small, fused_rescale=True)
    check_invariants(fused)
    assert count(separate)[Op.RELINEARIZE] == count(fused)[Op.RELINEARIZE_RESCALE] == 2
    assert count(fused)[Op.RELINEARIZE] == 0
    assert count(separate)[Op.RESCALE] - count(fused)[Op.RESCALE] == 2
    assert fused.key_needs == separate.key_needs
    outputs = [program.outputs["result"] for program in (separate, fused)]
    assert outputs[0].scale == outputs[1].scale
    assert outputs[0].limbs == outputs[1].limbs


def test_each_product_is_rescaled_by_itself_where_rescaling_is_not_lazy(
    small: CkksParameters,
) -> None:
    def function(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return x * y + y * y + x * 0.5 - y * [1, 2, 3]

    lazy, eager = (trace(function, small, lazy_rescale=each) for each in (True, False))
    check_invariants(eager)
    assert (count(lazy)[Op.RELINEARIZE], count(lazy)[Op.RESCALE]) == (1, 1)
    assert (count(eager)[Op.RELINEARIZE], count(eager)[Op.RESCALE]) == (2, 4)
    outputs = [program.outputs["result"] for program in (lazy, eager)]
    assert outputs[0].limbs == outputs[1].limbs
    only_plain = trace(lambda x, y: x * 0.5 + y * 0.25, small, lazy_rescale=False)
    check_invariants(only_plain)
    assert count(only_plain)[Op.RESCALE] == 2
    fused = trace(function, small, lazy_rescale=False, fused_rescale=True)
    assert (count(fused)[Op.RELINEARIZE_RESCALE], count(fused)[Op.RESCALE]) == (2, 2)


def test_sums_of_products_are_rotated_before_one_rescaling_where_that_is_asked_for(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        products = x * 0.5 + x.rotate(1) * [1, 2, 3]
        once = products + products.rotate(4)
        return once + once.rotate(8) + (x * 0.25).rotate(3)

    first, late = (trace(function, small, rotate_products=each) for each in (False, True))
    check_invariants(late)
    assert (count(first)[Op.RESCALE], count(late)[Op.RESCALE]) == (2, 1)
    rotated = [node.limbs for node in late.nodes if node.op is Op.ROTATE]
    assert rotated == [small.limbs] * 4
    inputs = {"x": rng.uniform(-1, 1, small.slots)}
    results = [program.evaluate(inputs)["result"] for program in (first, late)]
    assert np.allclose(*results)
    squares = trace(lambda x: (x**2).rotate(1), small, rotate_products=True)
    assert [node.op for node in squares.nodes][-2:] == [Op.ROTATE, Op.OUTPUT]
    assert count(squares)[Op.RESCALE] == 1


def test_fused_rescaling_is_cheaper_on_a_design() -> None:
    parameters = parameter_set("nano")
    cycles = {}
    for fused in (False, True):
        program = trace(lambda x: x**4, parameters, fused_rescale=fused)
        executable = compile_program(program, "nano").compiled_graph.executable
        assert executable is not None
        cycles[fused] = executable.cycles
    assert cycles[True] < 0.9 * cycles[False]


def test_a_product_with_two_users_is_relinearized_once(small: CkksParameters) -> None:
    def function(x: EncryptedVector, y: EncryptedVector) -> tuple[EncryptedVector, ...]:
        product = x * y
        return product + x * 0.5, product + y * 0.5

    assert count(planned(function, small))[Op.RELINEARIZE] == 1


def test_products_are_rescaled_before_they_are_rotated(small: CkksParameters) -> None:
    program = planned(lambda x: inner_product(x, np.arange(16), 16), small)
    rotations = [node for node in program.nodes if node.op is Op.ROTATE]
    assert [node.limbs for node in rotations] == [small.limbs - 1] * 4
    assert [node.steps for node in rotations] == [1, 2, 4, 8]
    assert dict(program.key_needs.galois) == {
        small.galois_element(steps): small.limbs - 1 for steps in (1, 2, 4, 8)
    }


def test_values_of_different_depth_meet_without_losing_a_level(small: CkksParameters) -> None:
    program = planned(lambda x, y: (x * y) ** 2 + x, small)
    assert program.outputs["result"].level == small.levels - 2
    program = planned(lambda x, y: x + (x * y) ** 2 * 0.5 - y * 3, small)
    assert program.outputs["result"].level == small.levels - 3


def test_products_whose_factors_differ_in_depth_meet_on_the_ladder(small: CkksParameters) -> None:
    program = planned(lambda x, y: x**2 * x + x**2 * y**2, small)
    assert program.outputs["result"].level == small.levels - 2


def test_the_power_of_a_vector_takes_log2_levels(small: CkksParameters) -> None:
    for exponent in range(1, 17):
        program = planned(lambda x, n=exponent: x**n, small)
        assert program.outputs["result"].level == small.levels - math.ceil(math.log2(exponent))


def test_a_polynomial_takes_as_many_levels_as_its_degree_needs(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    for degree in range(1, 16):
        dense = rng.uniform(-1, 1, degree + 1)
        sparse = dense * (rng.uniform(size=degree + 1) < 0.5)
        sparse[-1] = 1
        for coefficients in (dense, sparse):
            program = planned(lambda x, c=coefficients: polynomial(x, c), small)
            depth = small.levels - program.outputs["result"].level
            assert depth <= math.ceil(math.log2(degree + 1))


def test_the_logistic_program_of_the_demo_fits_the_three_levels_of_nano() -> None:
    def logistic(x: EncryptedVector) -> EncryptedVector:
        logit = bounded(inner_product(x, np.ones(30), 32) + 0.5, 8)
        return polynomial(logit, [0.5, 0.197, 0, -0.004])

    program = planned(logistic, parameter_set("nano"))
    assert program.outputs["result"].limbs == 1
    assert count(program)[Op.RELINEARIZE] == 2
    assert program.key_needs.relin == 3


def test_ciphertexts_of_equal_limbs_and_unequal_scales_meet_one_level_down(
    small: CkksParameters,
) -> None:
    program = planned(
        lambda x, y: x + y, small, x=InputSpec(scale=2.0**39), y=InputSpec(scale=2.0**41)
    )
    assert program.outputs["result"].level == small.levels - 1


def test_inputs_arrive_at_the_limbs_and_scale_that_were_asked_for(small: CkksParameters) -> None:
    program = planned(
        lambda x, y: x * 2 + y, small, x=InputSpec(limbs=3), y=InputSpec(limbs=2, scale=2.0**38)
    )
    x, y = program.inputs["x"], program.inputs["y"]
    assert (x.limbs, y.limbs, y.scale) == (3, 2, 2.0**38)
    assert x.scale == pytest.approx(small.scale, rel=1e-4)
    assert program.outputs["result"].limbs == 2
    assert program.outputs["result"].scale == 2.0**38


def test_equal_operations_are_planned_once(small: CkksParameters) -> None:
    def function(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return (x * y).rotate(1) + (y * x).rotate(1 - small.slots)

    operations = count(planned(function, small))
    assert (operations[Op.MULTIPLY], operations[Op.ROTATE]) == (1, 1)


def test_what_no_output_needs_is_left_out(small: CkksParameters) -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        _ = x**2
        return x + 1

    assert count(planned(function, small)) == {Op.INPUT: 1, Op.ADD_PLAIN: 1, Op.OUTPUT: 1}


def test_the_listing_shows_levels_scales_keys_and_lines(small: CkksParameters) -> None:
    listing = str(trace(lambda x: x.rotate(2) * x, small))
    assert "relinearization at up to 5 limbs, 492 kB; rotation by 2 at up to 5 limbs" in listing
    assert "rotate(%0, 2)" in listing
    assert "2^80.00" in listing
    assert f"{__file__}:" in listing


def test_moduli_are_switched_before_rotations_rather_than_after(small: CkksParameters) -> None:
    def function(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        rotated = (x + 1).rotate(3).conjugate() - x.rotate(5)
        return x**2 * y**2 + rotated

    program = planned(function, small)
    rotations = [node for node in program.nodes if node.element is not None]
    assert [node.limbs for node in rotations] == [small.limbs - 1] * 3
    assert set(program.key_needs.galois.values()) == {small.limbs - 1}
    (switch,) = (node for node in program.nodes if node.op is Op.MOD_SWITCH)
    assert program.nodes[switch.operands[0]].op is Op.INPUT


def test_a_value_that_is_needed_with_all_limbs_keeps_them(small: CkksParameters) -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        rotated = x.rotate(3)
        return rotated**2 * rotated

    program = planned(function, small)
    (turn,) = (node for node in program.nodes if node.op is Op.ROTATE)
    assert turn.limbs == small.limbs
    assert count(program)[Op.MOD_SWITCH] == 1


def random_program(
    rng: np.random.Generator, parameters: CkksParameters
) -> tuple[CkksProgram, dict[str, int]] | None:
    """Returns a random program of two inputs and the depth of each output."""
    slots = parameters.slots
    depths: dict[str, int] = {}
    plain: set[int] = set()  # products with plain operands: the next one takes no other level

    def step(a: EncryptedVector, b: EncryptedVector) -> tuple[EncryptedVector, int, int]:
        """A random operation, how many operands it has, and the levels that it takes."""
        weights = rng.uniform(-1, 1, rng.integers(1, slots + 1)) / 2
        choices: list[Callable[[], tuple[EncryptedVector, int, int]]] = [
            lambda: (a + b, 2, 0),
            lambda: (a - b, 2, 0),
            lambda: (a * b, 2, 1),
            lambda: (-a, 1, 0),
            lambda: (a**2, 1, 1),
            lambda: (a * weights, 1, 1),
            lambda: (weights - a, 1, 0),
            lambda: (a - 0.5, 1, 0),
            lambda: (a * 0.5j, 1, 1),
            lambda: (a.conjugate(), 1, 0),
            lambda: (a.rotate(int(rng.integers(-slots + 1, slots))), 1, 0),
        ]
        return choices[rng.integers(len(choices))]()

    def function(x: EncryptedVector, y: EncryptedVector) -> dict[str, EncryptedVector]:
        values = [(x * y, 1), (x, 0), (y, 0)]
        for _ in range(rng.integers(4, 12)):
            (a, depth_a), (b, depth_b) = (values[i] for i in rng.integers(len(values), size=2))
            value, operands, levels = step(a, b)
            op = value.trace.nodes[value.index].op
            again = a.index in plain
            if op is Op.MULTIPLY_PLAIN or (op is Op.NEGATE and again):
                plain.add(value.index)
                levels = 0 if again else levels
            values.append((value, levels + (max(depth_a, depth_b) if operands == 2 else depth_a)))
        outputs = {f"z{i}": value for i, value in enumerate([*values[-3:], values[0]])}
        depths.update({name: depth for name, (_, depth) in outputs.items()})
        return {name: vector for name, (vector, _) in outputs.items()}

    try:
        return trace(function, parameters), depths
    except ProgramError as error:
        deep = max(depths.values()) > parameters.levels and "out of levels" in str(error)
        if not deep and "overflow: " not in str(error) and "the same for all" not in str(error):
            raise
        return None


def test_random_programs_keep_every_rule_and_decrypt_to_the_clear_result(
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Callable[[Program, Mapping[str, NDArray[np.generic]]], Any],
) -> None:
    finished = 0
    for _ in range(60):
        drawn = random_program(rng, small)
        if drawn is None:
            continue
        program, depths = drawn
        check_invariants(program)
        for name, depth in depths.items():  # no addition ever costs a level
            assert program.outputs[name].level == small.levels - depth, str(program)
        inputs = {name: rng.uniform(-1, 1, small.slots) for name in program.inputs}
        expected = program.evaluate(inputs)
        forecast = program.forecast().outputs
        finished += 1
        for name, values in run_encrypted(program, inputs).decrypted().items():
            great = np.abs(expected[name]).max() > 8  # beyond the headroom that was promised
            allowed = forecast[name].error if great else 1e-6
            assert np.abs(values - expected[name]).max() < allowed, str(program)
            simulated = program.simulate(inputs)[name]
            assert np.allclose(simulated, expected[name], rtol=1e-12, atol=1e-12), str(program)
    assert finished >= 20
