"""Levels of several primes: parameters, plans, single operations, precision, files."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.params.files import parameters_file, parameters_text
from ringsmith.program import CkksProgram
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.schemes.program_file import from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
N = 1 << 10


def pairs(levels: int = 3, **more: Any) -> CkksParameters:  # noqa: ANN401 - of create
    """Two primes of 25 or 26 bits a level, at a scale of 2^51."""
    return CkksParameters.create(
        n=N,
        prime_bits=(30, 30, *(26, 25) * levels),
        special_bits=(31,) * 3,
        scale_bits=51,
        dnum=levels + 1,
        security=None,
        level_limbs=range(2, 2 * levels + 3, 2),
        **more,
    )


def test_levels_know_their_limbs_and_what_they_are_divided_by() -> None:
    found = pairs()
    assert (found.ladder, found.levels, found.lowest_limbs) == ((2, 4, 6, 8), 3, 2)
    assert [found.below(limbs) for limbs in (8, 6, 4, 2)] == [6, 4, 2, 0]
    assert [found.above(limbs) for limbs in (2, 4, 6)] == [4, 6, 8]
    assert found.dropped(8) == (6, 7)
    assert found.divisor(8) == float(found.data_primes[6] * found.data_primes[7])
    assert found.lowest_modulus == found.data_primes[0] * found.data_primes[1]
    usual = rs.parameter_set("nano")
    assert (usual.ladder, usual.levels) == ((1, 2, 3, 4), 3)
    assert replace(usual, level_limbs=(1, 2, 3, 4)) == usual


@pytest.mark.parametrize("given", [(2, 4, 6), (4, 2, 8), (0, 8), (2, 2, 8), (2, 10), (2, 8.5)])
def test_limbs_that_do_not_ascend_to_all_are_refused(given: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="level_limbs"):
        replace(pairs(), level_limbs=given)


def test_the_identity_tells_the_levels() -> None:
    found = pairs()
    others = (replace(found, level_limbs=()), replace(found, level_limbs=(2, 4, 8)))
    assert len({each.parameters_id for each in (found, *others)}) == 3
    single = CkksParameters.create(
        n=N,
        prime_bits=(30,) * 4,
        special_bits=31,
        scale_bits=40,
        security=None,
        level_limbs=(2, 4),
    )
    assert "several primes a level" in str(single.seal_obstacle())


def test_files_have_the_levels(tmp_path: Any) -> None:  # noqa: ANN401
    path = tmp_path / "pairs.toml"
    path.write_text(parameters_text(pairs()))
    assert parameters_file(path) == pairs()


def deep(x: rs.EncryptedVector, y: rs.EncryptedVector) -> rs.EncryptedVector:
    """Levels of all kinds: products, sums at different levels, plain products, rotations."""
    z = x * y + 0.25 * x
    return (z * z).rotate(3) * x + z - y.conjugate()


@pytest.mark.parametrize("options", [{}, {"fused_rescale": True}, {"lazy_rescale": False}])
def test_programs_are_as_precise_as_their_scale_allows(options: dict[str, bool]) -> None:
    program = rs.trace(deep, pairs(), inputs={"x": None, "y": None}, **options)
    assert isinstance(program, CkksProgram)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, (2, N // 2))
    found = program.run(x=x, y=y)["result"]
    wanted = program.evaluate({"x": x, "y": y})["result"]
    error = np.abs(found - wanted).max()
    forecast = program.forecast().outputs["result"]
    assert error <= forecast.error
    assert -np.log2(error) >= 34  # single primes of 26 bits would leave about 10
    assert {node.limbs for node in program.nodes} <= {2, 4, 6, 8}
    read = from_bytes(to_bytes(program))
    assert isinstance(read, CkksProgram)
    assert [node.limbs for node in read.nodes] == [node.limbs for node in program.nodes]


def test_a_program_that_is_too_deep_says_how_many_levels_there_are() -> None:
    with pytest.raises(ProgramError, match=r"out of levels: .* have 3: add"):
        rs.trace(lambda x: (x**16).rotate(1), pairs(), inputs=["x"])


def test_inputs_are_on_a_level() -> None:
    with pytest.raises(ProgramError, match=r"limbs = 5 are those of no level .* take 4"):
        rs.trace(deep, pairs(), inputs={"x": rs.InputSpec(limbs=5), "y": None})


def test_single_operations_move_by_levels() -> None:
    parameters = pairs()
    secret, public, keys = generate_keys(parameters, KeyNeeds(relin=8))
    x = np.random.default_rng(2).uniform(-1, 1, N // 2)
    evaluator = Evaluator(parameters, keys)
    a = encrypt_vector(parameters, public, x)
    square = evaluator.run(Op.SQUARE, a)
    whole = evaluator.run(Op.RESCALE, evaluator.run(Op.RELINEARIZE, square))
    fused = evaluator.run(Op.RELINEARIZE_RESCALE, square)
    for found in (whole, fused):
        assert (found.limbs, found.scale) == (6, a.scale * a.scale / parameters.divisor(8))
        assert np.abs(decrypt_vector(parameters, secret, found).real - x * x).max() < 2.0**-34
    assert evaluator.run(Op.MOD_SWITCH, whole).limbs == 4
    low = encrypt_vector(parameters, public, x, limbs=2)
    with pytest.raises(ProgramError, match="rescale"):
        evaluator.run(Op.RESCALE, low)
