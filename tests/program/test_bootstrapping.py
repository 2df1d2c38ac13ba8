"""Bootstrapping: transforms, EvalMod's polynomial, whole programs on true keys, errors."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.program.small_bootstrapping import N, tiny

import ringsmith as rs
from ringsmith import client, memory
from ringsmith.client import SecretKey
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.interop import load_object, save_object
from ringsmith.interop.bundle import Bundle, write_bundle
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import EvaluationKeys, PublicKey
from ringsmith.params import CkksParameters, ckks_encoder, parameter_set
from ringsmith.program import CkksProgram
from ringsmith.program.bootstrapping.expansion import STAGES
from ringsmith.program.bootstrapping.factors import (
    coefficients_to_slots,
    in_slots,
    slots_to_coefficients,
)
from ringsmith.program.bootstrapping.reduction import fitted
from ringsmith.program.bootstrapping.splitting import baby_steps, best_sizes, signed_steps
from ringsmith.runtime import Compiled, precompute_keys
from ringsmith.runtime.precomputed_keys import AnyKeys
from ringsmith.schemes.ckks.bootstrapping_noise import slots_of
from ringsmith.schemes.program_file import from_bytes, to_bytes
from ringsmith.schemes.registry import scheme_of

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


@dataclass(frozen=True)
class World:
    """A program with its keys, compiled for the cpu."""

    program: CkksProgram
    secret: SecretKey
    public: PublicKey
    keys: EvaluationKeys
    compiled: Compiled

    @classmethod
    def of(
        cls,
        function: Callable[..., object],
        parameters: CkksParameters,
        inputs: Any = None,  # noqa: ANN401 - as of trace
    ) -> "World":
        """Traces, makes keys and compiles."""
        program = rs.trace(function, parameters, inputs=inputs)
        assert isinstance(program, CkksProgram)
        return cls(program, *program.generate_keys(), rs.compile_program(program))

    def run(self, x: NDArray[Any], keys: AnyKeys | None = None) -> NDArray[np.complex128]:
        """Encrypts, runs and decrypts."""
        device = rs.open_device("cpu")
        given = self.program.encrypt(self.public, {"x": x})
        outputs = self.compiled.run(device, given, keys or self.keys).outputs
        found = self.program.decrypt(self.secret, outputs, complex_numbers=True)
        return np.asarray(found["result"])


def deep(x: rs.EncryptedVector) -> rs.EncryptedVector:
    """Uses all levels, bootstraps, and uses levels again."""
    for _ in range(5):
        x = x * x
    x = rs.bootstrap(x)
    return x * x - x


def only(x: rs.EncryptedVector) -> rs.EncryptedVector:
    return rs.bootstrap(x)


def complex_numbers(rng: np.random.Generator, count: int) -> NDArray[np.complex128]:
    return rng.uniform(-1, 1, count) + 1j * rng.uniform(-1, 1, count)


@pytest.fixture(scope="module")
def big() -> World:
    """N = 2^12: complex numbers, ``boot-test``."""
    found = parameter_set("boot-test")
    assert isinstance(found, CkksParameters)
    return World.of(only, found, {"x": rs.InputSpec(complex_numbers=True)})


@pytest.fixture(scope="module")
def small() -> World:
    return World.of(only, tiny())


# ---- the named set's own ring --------------------------------------------------------------------


@pytest.mark.full
def test_boot_64_is_as_precise_as_its_page_says_in_every_slot_of_its_own_ring() -> None:
    parameters = parameter_set("boot-64")
    assert isinstance(parameters, CkksParameters)
    program = rs.trace(only, parameters, {"x": rs.InputSpec(complex_numbers=True)})
    assert isinstance(program, CkksProgram)
    needed = program.key_needs.bytes(parameters) // 2 + (5 << 30)
    if (left := memory.available()) is not None and left < needed:
        pytest.skip(f"takes {memory.in_words(needed)}, and {memory.in_words(left)} are left")
    compiled = rs.compile_program(program)
    secret, public, keys = client.generate_on_the_fly_keys(parameters, program.key_needs)
    x = complex_numbers(np.random.default_rng(2), parameters.slots) / np.sqrt(2)
    given = program.encrypt(public, {"x": x})
    outputs = compiled.run(rs.open_device("cpu"), given, keys).outputs
    found = program.decrypt(secret, outputs, complex_numbers=True)["result"]
    assert found.shape == (1 << 15,)
    errors = np.abs(found - x)
    measured = float(np.sqrt(np.mean(errors**2)))
    forecast = program.forecast(each_node=False).outputs["result"]
    assert errors.max() <= forecast.total
    assert abs(np.log2(measured / forecast.rms)) < 2
    assert -np.log2(errors.max()) >= 20
    assert -np.log2(measured) >= 22


# ---- the transforms ------------------------------------------------------------------------------


def applied(matrices: Any, vector: NDArray[Any]) -> NDArray[Any]:  # noqa: ANN401
    for matrix in matrices:
        vector = sum(values * np.roll(vector, -step) for step, values in matrix.items())
    return vector


@pytest.mark.parametrize("sizes", [(9,), (4, 5), (3, 1, 5), (1,) * 9])
def test_the_matrices_are_the_encoding(sizes: tuple[int, ...]) -> None:
    """By the encoder: slots of a polynomial are those that the matrices make of coefficients."""
    parameters = tiny()
    rng = np.random.default_rng(len(sizes))
    slots = complex_numbers(rng, N // 2)
    found = applied(coefficients_to_slots(N, sizes), in_slots(slots))
    back = applied(slots_to_coefficients(N, sizes[::-1]), found)
    assert np.allclose(in_slots(back), slots, atol=1e-12)
    encoder = ckks_encoder(parameters)
    words = encoder.encode(slots, 2.0**40, 1)
    q, root = parameters.data_primes[0], parameters.roots[0]
    ints = rs.params.context._core.ntt_inverse(words[0], q, root).astype(np.int64)
    coefficients = np.where(ints > q // 2, ints - q, ints) / 2.0**40
    bits = (N // 2).bit_length() - 1
    order = [int(format(i, f"0{bits}b")[::-1], 2) for i in range(N // 2)]
    wanted = (coefficients[: N // 2] + 1j * coefficients[N // 2 :])[order]
    assert np.allclose(found, wanted, atol=1e-10)
    assert np.allclose(slots_of(N, wanted[np.argsort(order)]), slots, atol=1e-9)


def test_merged_stages_have_few_diagonals() -> None:
    assert [len(m) for m in coefficients_to_slots(N, (1,) * 9)] == [2] + [3] * 8
    assert [len(m) for m in coefficients_to_slots(N, (3, 3, 3))] == [8, 15, 15]
    assert [len(m) for m in slots_to_coefficients(N, (3, 3, 3))] == [15, 15, 8]


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("weights", [(9, 8, 7), (30, 2, 1), (1, 2, 30), (4, 4), (5,)])
def test_stages_are_split_at_the_least_cost(weights: tuple[int, ...], inverse: bool) -> None:
    transform = coefficients_to_slots if inverse else slots_to_coefficients

    def cost(sizes: tuple[int, ...]) -> float:
        steps = (signed_steps(matrix, N // 2)[1] for matrix in transform(N, sizes))
        return sum(w * baby_steps([*s])[1] for w, s in zip(weights, steps, strict=True))

    ways = [w for w in product(range(1, 10), repeat=len(weights)) if sum(w) == 9]
    found = best_sizes(N, weights, inverse=inverse)
    assert cost(found) == pytest.approx(min(map(cost, ways)))


def test_many_baby_steps_are_tried_by_powers_of_two() -> None:
    baby, _ = baby_steps(range(4096))
    assert baby in (64, 128)


@pytest.mark.parametrize(("doublings", "degree", "bits"), [(3, 31, 34), (2, 63, 44), (4, 31, 44)])
def test_the_polynomial_is_the_cosine_near_whole_numbers(
    doublings: int, degree: int, bits: int
) -> None:
    found = fitted(16, doublings, degree, 2.0**-10)
    rng = np.random.default_rng(1)
    t = rng.integers(-15, 16, 4000) + rng.uniform(-1, 1, 4000) * 2.0**-10
    w = (t - 0.25) / 16
    values = np.polynomial.chebyshev.chebval(2 * w * w - 1, found.coefficients)
    errors = np.abs(values - np.cos(2 * np.pi * (t - 0.25) / 2**doublings))
    assert errors.max() <= 1.01 * found.error + 2.0**-46
    assert -np.log2(found.error) >= bits
    assert found.coefficients.size == degree // 2 + 1


# ---- whole programs ------------------------------------------------------------------------------


def test_complex_numbers_come_back_as_precise_as_forecast(big: World) -> None:
    x = complex_numbers(np.random.default_rng(2), 2048) / np.sqrt(2)
    errors = np.abs(big.run(x) - x)
    forecast = big.program.forecast(each_node=False).outputs["result"]
    assert errors.max() <= forecast.total
    measured = float(np.sqrt(np.mean(errors**2)))
    assert measured == pytest.approx(forecast.rms, rel=0.2)
    assert -np.log2(errors.max()) >= 23
    assert -np.log2(measured) >= 25


def test_levels_are_used_up_and_there_again() -> None:
    world = World.of(deep, tiny(5))
    x = np.random.default_rng(3).uniform(-1, 1, N // 2)
    power = x**32
    found = world.run(x)
    errors = np.abs(found - (power * power - power))
    assert errors.max() <= world.program.forecast(each_node=False).outputs["result"].total
    assert -np.log2(errors.max()) >= 23
    limbs = [n.limbs for n in world.program.nodes if n.op in (Op.INPUT, Op.MOD_SWITCH, Op.OUTPUT)]
    assert limbs[0] == 6  # inputs have the levels of programs, and not those of bootstrapping
    assert world.program.evaluate({"x": x})["result"] == pytest.approx(power * power - power)


@pytest.mark.parametrize("stages", [{}, {"arcsine": 3, "ratio_bits": 6}], ids=str)
def test_the_worst_vector_stays_within_the_forecast(stages: dict[str, int]) -> None:
    """All ones is one coefficient, as large as it can be: the sine is furthest from its line."""
    world = World.of(only, tiny(1, **stages))
    forecast = world.program.forecast(each_node=False).outputs["result"]
    for x in (np.ones(N // 2), -np.ones(N // 2)):
        errors = np.abs(world.run(x) - x)
        assert errors.max() <= forecast.total
        assert errors.max() >= 0.9 * forecast.approximation


def test_primes_of_32_bits_serve_two_a_level() -> None:
    """The sizes of ``boot-32`` in a small ring."""
    whole = parameter_set("boot-32")
    assert isinstance(whole, CkksParameters)
    world = World.of(lambda x: rs.bootstrap(x * x * x), replace(whole, n=N, declared_security=0))
    x = np.random.default_rng(7).uniform(-0.3, 0.3, N // 2)
    errors = np.abs(world.run(x) - x**3)
    forecast = world.program.forecast(each_node=False).outputs["result"]
    assert errors.max() <= forecast.total
    assert float(np.sqrt(np.mean(errors**2))) == pytest.approx(forecast.rms, rel=0.5)
    assert -np.log2(errors.max()) >= 26


def test_a_bootstrapped_value_can_be_bootstrapped_again() -> None:
    world = World.of(lambda x: rs.bootstrap(rs.bounded(rs.bootstrap(x) * 0.5, 1)), tiny(1))
    x = np.random.default_rng(4).uniform(-1, 1, N // 2)
    errors = np.abs(world.run(x) - 0.5 * x)
    assert errors.max() <= world.program.forecast(each_node=False).outputs["result"].total
    assert sum(n.op is Op.MOD_RAISE for n in world.program.nodes) == 2


@pytest.mark.parametrize(
    "stages",
    [
        {"degree": 31, "doublings": 3},
        {"degree": 31, "doublings": 4},
        {"arcsine": 3},
        {"arcsine": 3, "ratio_bits": 6, "slots_to_coeffs": 2},
        {"coeffs_to_slots": 2, "slots_to_coeffs": 2},
        {"coeffs_to_slots": 1, "slots_to_coeffs": 1, "ratio_bits": 8},
        {"coeffs_to_slots": 5, "slots_to_coeffs": 5, "weight": 48, "period": 19},
    ],
    ids=str,
)
def test_every_choice_of_stages_is_as_precise_as_forecast(stages: dict[str, int]) -> None:
    world = World.of(only, tiny(1, **stages))
    x = np.random.default_rng(5).uniform(-1, 1, N // 2)
    forecast = world.program.forecast(each_node=False).outputs["result"]
    assert np.abs(world.run(x) - x).max() <= forecast.total
    x = 0.05 * x  # of small numbers a sine is a line, and noise is left
    noise = float(np.sqrt(np.mean(np.abs(world.run(x) - x) ** 2)))
    assert 0.5 < noise / forecast.rms < 2


def test_keys_in_every_form_give_the_same_bits(small: World, tmp_path: Path) -> None:
    x = np.random.default_rng(6).uniform(-1, 1, N // 2)
    parameters = small.program.parameters
    given = small.program.encrypt(small.public, {"x": x})
    device = rs.open_device("cpu")
    wanted = small.compiled.run(device, given, small.keys).outputs["result"].data
    save_object(tmp_path / "keys", small.keys, parameters)
    forms: list[AnyKeys] = [
        load_object(tmp_path / "keys", EvaluationKeys, parameters),
        on_the_fly_keys(small.keys, parameters.primes),
        precompute_keys(small.keys, parameters),
    ]
    for keys in forms:
        found = small.compiled.run(device, given, keys).outputs["result"].data
        assert np.array_equal(found, wanted)


def test_keys_expanded_on_the_fly_are_made_in_half_the_memory(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, needs = tiny(), small.program.key_needs
    enough = needs.bytes(parameters) * 3 // 4
    monkeypatch.setattr(memory, "available", lambda: enough)
    with pytest.raises(ParameterError, match="evaluation keys and the key pair take"):
        client.generate_keys(parameters, needs, seeded=True)
    secret, public, keys = client.generate_on_the_fly_keys(parameters, needs)
    assert keys.nbytes == pytest.approx(needs.bytes(parameters) / 2, rel=1e-3)
    assert keys.key_tag == secret.key_tag == public.key_tag
    assert keys.parameters_id == parameters.parameters_id
    x = np.random.default_rng(4).uniform(-1, 1, N // 2)
    found = replace(small, secret=secret, public=public).run(x, keys)
    assert np.abs(found - x).max() <= 2**-20


def test_a_run_without_the_keys_of_bootstrapping_is_refused(small: World) -> None:
    given = small.program.encrypt(small.public, {"x": np.ones(3)})
    for name in ("to_sparse", "from_sparse"):
        keys = replace(small.keys, **{name: None})
        with pytest.raises(ProgramError, match=f"key '{name}' is missing"):
            small.compiled.run(rs.open_device("cpu"), given, keys)


def test_files_of_programs_and_kits_hold_a_bootstrapping(small: World) -> None:
    program = from_bytes(to_bytes(small.program))
    assert isinstance(program, CkksProgram)
    here = f"{Path(__file__).parent}/"
    assert program.explain() == small.program.explain().replace(here, "")
    assert program.key_needs == small.program.key_needs
    assert program.client_kit().key_needs.raised == small.program.parameters.limbs


@pytest.mark.parametrize(
    ("op", "change", "message"),
    [
        (Op.MOD_RAISE, {"limbs": 7}, "does not raise the lowest level to the highest"),
        (Op.MOD_RAISE, {"stage": "Other"}, "the stage 'Other', which there is not"),
        (Op.MOD_RAISE, {"stage": ""}, "takes a part of a bootstrapping"),
        (Op.BOOTSTRAP, {"stage": STAGES[0]}, "ends no bootstrapping"),
        (Op.BOOTSTRAP, {"operands": (0, 0)}, "ends no bootstrapping"),
        (Op.OUTPUT, {"operands": (9,)}, "takes a part of a bootstrapping"),
        (Op.CONJUGATE, {"operands": (1,)}, "its operand is not"),
        (Op.MOD_RAISE, {"stage": STAGES[2]}, "takes what mod_raise has not raised"),
        (Op.ROTATE_CONJUGATE, {"element": 3}, "Galois element 3, and its own is"),
        (Op.ROTATE_CONJUGATE, {"steps": None}, "lacks its steps"),
    ],
)
def test_a_file_of_another_structure_is_refused(
    small: World, op: Op, change: dict[str, object], message: str
) -> None:
    nodes = list(small.program.nodes)
    index = next(node.id for node in nodes if node.op is op)
    nodes[index] = replace(nodes[index], **change)
    with pytest.raises(ProgramError, match=message):
        to_bytes(replace(small.program, nodes=tuple(nodes)))


# ---- what is said, and refused -------------------------------------------------------------------


def test_the_explanation_has_a_line_for_each_stage(small: World) -> None:
    text = small.program.explain()
    for stage in STAGES:
        assert sum(f"  {stage}: " in line for line in text.splitlines()) == 1
    assert "bootstrap(%" in text
    assert re.search(r"9\d% bootstrapping|100% bootstrapping", text)
    assert "to a sparse secret" in text
    assert "nan" not in text


def test_rotations_of_the_transforms_share_digits_and_divisions(small: World) -> None:
    sharing = small.program.sharing
    rotations = [n for n in small.program.nodes if n.op in (Op.ROTATE, Op.ROTATE_CONJUGATE)]
    assert len(sharing.cut) >= 7
    assert any(node.id in sharing.undivided for node in rotations)


@pytest.mark.parametrize(
    ("given", "function", "message"),
    [
        ("nano", only, "parameters 'nano' do not bootstrap: take a named set that does"),
        ("auto", only, r"without being asked for: take AutoParameters\(bootstrapping=True\)"),
        ("boot-test", lambda x: rs.bootstrap(2000 * x), "numbers may reach 2e[+]03 by the ranges"),
        ("boot-test", lambda x: rs.bootstrap(x).conjugate() + rs.bootstrap(3), "bootstrap"),
    ],
)
def test_what_cannot_be_bootstrapped_is_refused_at_the_line(
    given: str, function: Callable[..., object], message: str
) -> None:
    with pytest.raises((ProgramError, TypeError), match=message):
        rs.trace(function, given, inputs=["x"])


def test_larger_numbers_than_were_planned_for_are_refused(small: World) -> None:
    for x in (np.full(3, 1.5), np.array([0.1, -40.0])):
        with pytest.raises(ProgramError, match="input 'x'"):
            small.program.encrypt(small.public, {"x": x})
    with pytest.raises(ProgramError, match=r"numbers may reach 2 for inputs .* at most 1"):
        small.program.check_ranges(2.0)
    halves = World.of(lambda x: rs.bootstrap(0.25 * x), tiny(2), {"x": rs.InputSpec(bound=4)})
    x = np.linspace(-4, 4, N // 2)
    assert np.abs(halves.run(x) - x / 4).max() < 2.0**-16


def test_results_are_neither_shared_nor_hidden(small: World) -> None:
    given = small.program.encrypt(small.public, {"x": np.ones(3)})
    outputs = small.compiled.run(rs.open_device("cpu"), given, small.keys).outputs
    with pytest.raises(ProgramError, match="how large its noise is at most is unknown"):
        small.program.decrypt(small.secret, outputs, share=1)
    with pytest.raises(ProgramError, match="bootstraps, and of the noise of that no bound"):
        scheme_of(small.program.parameters).noise_lengths(small.program, 40)


def test_a_bundle_of_seals_files_refuses_keys_of_bootstrapping(
    small: World, tmp_path: Path
) -> None:
    shape = SealParameters.from_parameters(rs.parameter_set("nano"))
    keys = EvaluationKeys(to_sparse=small.keys.to_sparse)
    with pytest.raises(InteropError, match="no keys of bootstrapping: save_object writes them"):
        write_bundle(tmp_path / "keys", Bundle("keys", shape, keys))


@pytest.mark.parametrize("largest", [8.0, 1000.0])
def test_larger_numbers_are_bootstrapped_with_as_much_more_error(largest: float) -> None:
    inputs = {"x": rs.InputSpec(bound=largest)}
    world = World.of(only, tiny(1), inputs)
    x = largest * np.random.default_rng(9).uniform(-1, 1, N // 2)
    errors = np.abs(world.run(x) - x)
    assert errors.max() <= world.program.forecast(each_node=False).outputs["result"].total
    assert -np.log2(errors.max() / largest) >= 23


def test_the_product_with_i_in_the_order_of_the_generator_takes_no_level() -> None:
    turn = np.where(np.arange(N // 2) % 2, -1j, 1j)
    world = World.of(lambda x: x * turn, tiny(1))
    assert world.program.outputs["result"].limbs == world.program.inputs["x"].limbs
    x = np.random.default_rng(8).uniform(-1, 1, N // 2)
    assert np.abs(world.run(x) - x * turn).max() < 2.0**-25
    assert world.program.forecast().outputs["result"].error < 2.0**-25


def test_bfv_is_not_bootstrapped() -> None:
    exact = rs.BfvParameters.create(n=4096, prime_bits=(36, 36), special_bits=37, plain_bits=17)
    with pytest.raises(ProgramError, match="BFV is not bootstrapped: use CKKS"):
        rs.trace(only, exact, inputs=["x"])


def test_a_scale_too_large_for_the_lowest_modulus_is_refused() -> None:
    inputs = {"x": rs.InputSpec(scale=2.0**55, limbs=2)}
    with pytest.raises(ProgramError, match=r"the scale 2\^55.0 of the vector leaves less than 10"):
        rs.trace(only, tiny(), inputs=inputs)


@pytest.mark.parametrize("design", ["nano", "vector-1024", "octo"])
def test_designs_refuse_it_by_name(small: World, design: str) -> None:
    with pytest.raises(ProgramError, match=f"begins a bootstrapping, and design {design} does non"):
        rs.compile_program(small.program, design)


# ---- slots that repeat ---------------------------------------------------------------------------


def array_program(shape: tuple[int, ...], parameters: CkksParameters) -> CkksProgram:
    program = rs.trace(only, parameters, {"x": rs.InputSpec(shape, complex_numbers=True)})
    assert isinstance(program, CkksProgram)
    return program


def key_switches(program: CkksProgram) -> int:
    return sum(node.op.record.key is not None for node in program.nodes)


@pytest.mark.parametrize(
    ("count", "stages"),
    [
        (4, {}),
        (8, {"coeffs_to_slots": 1, "slots_to_coeffs": 1, "arcsine": 3}),
        (32, {"coeffs_to_slots": 2, "slots_to_coeffs": 2, "degree": 31, "doublings": 3}),
        (N // 4, {}),
        (N // 2, {}),
    ],
)
def test_what_repeats_is_bootstrapped_in_fewer_slots(count: int, stages: dict[str, int]) -> None:
    parameters = tiny(**stages)
    program = array_program((count,), parameters)
    rng = np.random.default_rng(count)
    secret, public, keys = program.generate_keys()
    compiled, device = rs.compile_program(program), rs.open_device("cpu")
    forecast = program.forecast(each_node=False).outputs
    assert len(forecast) == 1
    (port,) = forecast.values()
    errors = []
    for _ in range(3):
        x = 0.01 * complex_numbers(rng, count)  # so that the error is noise
        outputs = compiled.run(device, program.encrypt(public, {"x": x}), keys).outputs
        found = program.decrypt(secret, outputs, complex_numbers=True)["result"]
        errors.append(np.abs(found - x))
    measured = float(np.sqrt(np.mean(np.square(errors))))
    assert np.max(errors) <= port.total
    assert abs(np.log2(measured / port.rms)) < 2


def test_fewer_slots_take_fewer_key_switches_and_one_eval_mod() -> None:
    parameters = tiny()
    full, half, few = (array_program((n,), parameters) for n in (N // 2, N // 4, 16))
    assert key_switches(few) < 0.6 * key_switches(full)
    assert few.key_needs.count < full.key_needs.count
    products = [
        sum(n.op is Op.MULTIPLY and n.stage == STAGES[2] for n in p.nodes) for p in (full, half)
    ]
    assert products[0] == 2 * products[1] > 0


def test_zeros_and_plain_operands_that_do_not_repeat_take_all_slots() -> None:
    parameters = tiny()
    full = key_switches(array_program((N // 2,), parameters))
    zeros = rs.trace(only, parameters, {"x": rs.InputSpec(16)})
    assert isinstance(zeros, CkksProgram)
    assert key_switches(zeros) == full
    slots = np.linspace(-1, 1, N // 2)

    def masked(x: rs.EncryptedVector, y: rs.EncryptedVector) -> rs.EncryptedVector:
        return rs.bootstrap(x * slots + y)

    vectors = rs.trace(masked, parameters, ["x", "y"])
    assert isinstance(vectors, CkksProgram)
    assert key_switches(vectors) == full
