"""BFV operations and programs as subroutine graphs: the core's evaluator's bits, and SEAL's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.measure import SealExact
from ringsmith import _core
from ringsmith.apps.seal_program import SealProgram, rotation_steps
from ringsmith.errors import ProgramError
from ringsmith.interop import (
    SealParameters,
    read_ciphertext,
    read_galois_keys,
    read_relin_keys,
)
from ringsmith.lower import lower, lower_operation
from ringsmith.objects import EvaluationKeys
from ringsmith.params import BfvParameters, bfv_context, core_context
from ringsmith.program import EncryptedVector, Op, operations, trace
from ringsmith.runtime import compile_program, open_device

Residues = NDArray[np.uint64]

VARIANTS: dict[str, dict[str, Any]] = {
    "seal": {"special_bits": 41},
    "hps": {"special_bits": 41, "multiplication": "hps"},
    "heaws": {"multiplication": "hps", "relinearization": "word", "word_bits": 30},
    "residue": {"multiplication": "hps", "relinearization": "residue", "dnum": 2},
}


def exact(variant: str, plain_bits: int = 20) -> BfvParameters:
    """N = 2^10 and four primes."""
    return BfvParameters.create(
        n=1024, prime_bits=(40,) * 4, plain_bits=plain_bits, security=None, **VARIANTS[variant]
    )


def residues(rng: np.random.Generator, primes: tuple[int, ...], *lead: int) -> Residues:
    """Uniform canonical residues (…, limbs, N)."""
    limbs = [rng.integers(0, q, (*lead, 1024), dtype=np.uint64) for q in primes]
    return np.ascontiguousarray(np.stack(limbs, axis=len(lead)))


def by_evaluator(
    parameters: BfvParameters,
    op: Op,
    operands: list[Residues],
    plain: Residues | None,
    element: int,
    key: Residues | None,
) -> Residues:
    """One operation by the core's functions on whole ciphertexts."""
    ring, context = core_context(parameters), bfv_context(parameters)
    bits, variant = parameters.word_bits, parameters.multiplication
    a, b = operands[0], operands[-1]
    functions: dict[Op, Callable[[], Any]] = {
        Op.ADD: lambda: _core.add(ring, a, b),
        Op.SUB: lambda: _core.sub(ring, a, b),
        Op.NEGATE: lambda: _core.negate(ring, a),
        Op.MULTIPLY: lambda: _core.bfv.multiply(context, a, b, variant),
        Op.SQUARE: lambda: _core.bfv.square(context, a, variant),
        Op.ADD_PLAIN: lambda: _core.bfv.add_plain(context, a, plain),
        Op.SUB_PLAIN: lambda: _core.bfv.sub_plain(context, a, plain),
        Op.MULTIPLY_PLAIN: lambda: _core.bfv.multiply_plain(context, a, plain),
        Op.RELINEARIZE: lambda: _core.bfv.relinearize(context, a, key, bits),
        Op.MOD_SWITCH: lambda: _core.bfv.mod_switch(context, a),
        Op.ROTATE: lambda: _core.bfv.apply_galois(context, a, element, key, bits),
        Op.SWAP_COLUMNS: lambda: _core.bfv.apply_galois(context, a, element, key, bits),
    }
    result: Residues = functions[op]()
    return result


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("limbs", [2, 4])
@pytest.mark.parametrize("op", operations("bfv"))
def test_a_lowered_operation_equals_the_evaluator_bit_for_bit(
    op: Op, limbs: int, variant: str, rng: np.random.Generator
) -> None:
    parameters = exact(variant)
    primes = parameters.data_primes[:limbs]
    graph = lower_operation(op, parameters, limbs, steps=-5)
    inputs = {name: residues(rng, primes) for name in graph.inputs}
    plain = None
    if "p.0" in inputs:
        context = bfv_context(parameters)
        plain = rng.integers(0, parameters.plain_modulus, 1024, dtype=np.uint64)
        prepare = _core.bfv.lift_plain if op is Op.MULTIPLY_PLAIN else _core.bfv.scale_plain
        inputs["p.0"] = prepare(context, plain, limbs)
    keys = {name: residues(rng, parameters.primes, parameters.key_digits, 2) for name in graph.keys}
    assert all(shape == parameters.key_shape(limbs) for shape in graph.keys.values())
    result = graph.to_core().run(inputs, keys)

    x, y = ([inputs[n] for n in sorted(inputs) if n.startswith(letter)] for letter in "xy")
    element = 2 * parameters.n - 1
    if op is Op.ROTATE:
        element = parameters.galois_element(-5)
    operands = [np.stack(polynomials) for polynomials in (x, y) if polynomials]
    expected = by_evaluator(
        parameters, op, operands, plain, element, next(iter(keys.values()), None)
    )
    assert np.array_equal(np.stack([result[f"z.{k}"] for k in range(len(result))]), expected)


def test_operations_of_ckks_and_levels_below_t_are_refused() -> None:
    parameters = exact("seal", plain_bits=60)
    for name in ("rescale", "conjugate", "relinearize_rescale"):
        with pytest.raises(ProgramError, match=f"no operation of bfv is called '{name}'"):
            lower_operation(name, parameters, 4)
    with pytest.raises(ProgramError, match=r"mod_switch of 2 limbs: .* allow 3 … 4"):
        lower_operation("mod_switch", parameters, 2)
    assert not lower_operation("add", parameters, 2).extension


# ---- a whole program, and SEAL ------------------------------------------------------------------


def every_operation(x: EncryptedVector, y: EncryptedVector) -> dict[str, EncryptedVector]:
    """All operations of BFV, with numbers and vectors, positive and negative."""
    vector = np.arange(-500, 500)
    product = (x * y + 3) * vector - y * y
    rotated = product.rotate(7) * -3 + x.swap_columns() - 12345
    deep = (rotated * rotated - vector) ** 2
    return {"deep": deep, "shallow": -rotated, "plain": 7 - x}


@pytest.mark.parametrize("plain_bits", [17, 40])
def test_a_whole_program_equals_seals_residue_for_residue(
    plain_bits: int, rng: np.random.Generator
) -> None:
    """SEAL's keys and ciphertexts in, and the same bits out; and the budget that was promised."""
    parameters = BfvParameters.create(
        n=2048, prime_bits=(50,) * 7, special_bits=50, plain_bits=plain_bits, security=None
    )
    program = trace(every_operation, parameters, allow_overflow=True)
    used = {node.op for node in program.nodes}
    assert used >= set(operations("bfv"))
    on_seal = SealExact(parameters, rotation_steps(program))
    t, n = parameters.plain_modulus, parameters.n
    numbers = {name: rng.integers(0, t, n) for name in "xy"}
    encrypted = {name: on_seal.encrypt(values) for name, values in numbers.items()}
    expected = SealProgram(on_seal, program).run(encrypted)

    shape = SealParameters.from_parameters(parameters)
    keys = EvaluationKeys(
        read_relin_keys(on_seal.relin_keys.to_string(), shape),
        read_galois_keys(on_seal.galois_keys.to_string(), shape),
    )
    inputs = {k: read_ciphertext(c.to_string(), shape) for k, c in encrypted.items()}
    found = compile_program(program).run(open_device("cpu"), inputs, keys).outputs
    promised = program.forecast().outputs
    clear = program.simulate(numbers)
    for name, ciphertext in expected.items():
        assert np.array_equal(found[name].data, read_ciphertext(ciphertext.to_string(), shape).data)
        assert on_seal.noise_budget(ciphertext) >= promised[name]
        assert np.array_equal(on_seal.decrypt(ciphertext), clear[name])


def test_constants_are_encoded_once_for_sums_and_once_for_products() -> None:
    parameters = exact("seal")
    vector = np.arange(1024)
    program = trace(
        lambda x: ((x + vector) * vector + vector) * 3 + 3, parameters, allow_overflow=True
    )
    lowered = lower(program)
    assert len(lowered.plaintexts) == 2  # the vector, to add and to multiply by
    scalars = {node.op for node in lowered.graph.nodes} & {"add_scalar", "mul_scalar"}
    assert scalars == {"add_scalar", "mul_scalar"}
    lowered = lower(program, scalars=False)
    assert len(lowered.plaintexts) == 4  # 3, too
    assert all(data.shape == (4, 1024) for data in lowered.plaintexts.values())
