"""What programs on encrypted arrays cost: no more rotations and products than needed."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    EncryptedArray,
    InputSpec,
    bounded,
    conv2d,
    sign,
    trace,
)
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import Program
from ringsmith.program.packing import tensors
from ringsmith.schemes.ckks.plan import Ladder

RNG = np.random.default_rng(48)


def counted(program: Program) -> Counter[Op]:
    return Counter(node.op for node in program.nodes)


def right(
    function: Callable[..., Any], inputs: Mapping[str, NDArray[Any]], expected: NDArray[Any]
) -> Counter[Op]:
    """Runs a program on encrypted inputs, compares, and returns its operations."""
    program = trace(function, "auto", {name: value.shape for name, value in inputs.items()})
    found = program.run(**inputs)["result"]
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 2e-6
    return counted(program)


def test_a_tall_matrix_takes_the_diagonals_of_its_columns() -> None:
    """1,000 numbers of 64 take 16 diagonals: copies among the entries reach four times as many."""
    base = RNG.normal(size=(1000, 64)) / 8
    query = RNG.uniform(-1, 1, 64)
    operations = right(lambda query: base @ query, {"query": query}, base @ query)
    assert operations[Op.MULTIPLY_PLAIN] == 16
    assert operations[Op.ROTATE] <= 10
    assert operations[Op.OUTPUT] == 1


def test_two_inputs_that_meet_are_packed_for_each_other() -> None:
    """Records in the low bits and copies of the query: a sum over 64 takes two rotations."""
    base = RNG.normal(size=(1000, 64)) / 8
    query = RNG.uniform(-1, 1, 64)
    program = trace(
        lambda query, base: base @ query,
        "auto",
        {"query": (64,), "base": InputSpec((1000, 64), bound=1)},
    )
    assert counted(program)[Op.ROTATE] <= 2
    assert "input 'query' is packed for its use" in program.explain()
    found = program.run(query=query, base=base)["result"]
    assert np.abs(found - base @ query).max() < 2e-6


@pytest.mark.parametrize("shape", [(16, 144), (5, 7, 20), (144,)])
@pytest.mark.parametrize("columns", [3, 10, 60])
def test_a_wide_matrix_takes_a_diagonal_for_each_column(
    shape: tuple[int, ...], columns: int
) -> None:
    """Groups of rows share a diagonal; of computed arrays with entries left out, too."""
    x, w = RNG.uniform(-1, 1, shape), RNG.normal(size=(shape[-1], columns)) / 8
    operations = right(lambda x: x @ w, {"x": x}, x @ w)
    assert operations[Op.ROTATE] + 0.2 * operations[Op.MULTIPLY_PLAIN] < 34
    kept = (x * x)[..., :-3] @ w[3:]
    right(lambda x: (x * x)[..., :-3] @ w[3:], {"x": x}, kept)


def test_many_records_are_planned_with_one_product_for_each_ciphertext() -> None:
    weights = RNG.normal(size=30) / 10
    program = trace(lambda x: x @ weights, "auto", {"x": (20_000, 30)})
    operations = counted(program)
    assert operations[Op.ROTATE] == 0
    assert operations[Op.INPUT] == operations[Op.MULTIPLY_PLAIN] == 5 * 30
    x = RNG.uniform(-1, 1, (20_000, 30))
    assert np.abs(program.run(x=x)["result"] - x @ weights).max() < 2e-6


def test_many_products_in_a_row_keep_their_scale() -> None:
    """Rescaled by primes just below 2^36, the scale 2^36 would drift by 2^300 in 25 levels."""

    def function(x: EncryptedArray) -> EncryptedArray:
        for _ in range(3):
            x = bounded(sign(x), 1.01) / 1.01
        return x

    program = trace(function, AutoParameters(precision_bits=8), {"x": (4,)})
    assert isinstance(program.parameters, CkksParameters)
    assert program.parameters.levels > 21
    ladder = Ladder.of(program.parameters).scales[1:]
    assert max(ladder) < 1.01 * min(ladder)
    x = np.array([1, -1, 0.5, -0.25])
    found = program.simulate({"x": x})["result"][:4]
    assert np.abs(found - program.evaluate({"x": x})["result"]).max() < 2.0**-8
    assert np.abs(found - np.sign(x) / 1.01).max() < 0.01


def test_noise_beyond_all_numbers_is_a_small_scale_and_no_failure() -> None:
    program = trace(lambda x: x ** (2**24), AutoParameters(precision_bits=8), {"x": (4,)})
    x = np.array([1, 0.9999999, 0.5, 0])
    assert np.abs(program.simulate({"x": x})["result"][:4] - x ** (2**24)).max() < 2.0**-8


def test_whole_numbers_need_no_size_of_their_modulus() -> None:
    program = trace(lambda x: x**4, AutoBfvParameters(), {"x": InputSpec((2, 3), bound=200)})
    x = np.array([[200, -1, 3], [4, 5, -200]])
    assert program.run(x=x)["result"].tolist() == (x**4).tolist()


@pytest.mark.parametrize("shape", [(3, 4, 6, 6), (5, 3, 7), (2, 3, 5, 2, 3)])
def test_a_dense_layer_takes_maps_from_where_they_lie(shape: tuple[int, ...]) -> None:
    """Flattening 6 x 6 maps would move every row, and take a level."""
    count = int(np.prod(shape[1:]))
    x, w = RNG.uniform(-1, 1, shape), RNG.normal(size=(count, 4)) / 8

    def function(x: EncryptedArray) -> EncryptedArray:
        return (x * x + 1).reshape(len(x), count) @ w

    program = trace(function, "auto", {"x": shape})
    assert program.parameters.limbs == 3  # a square, and the product with the matrix
    assert np.abs(program.run(x=x)["result"] - function(x)).max() < 4e-6  # type: ignore[arg-type]


def test_a_dense_layer_of_other_groups_of_axes_is_right_too() -> None:
    x = RNG.uniform(-1, 1, (3, 4, 5, 3))
    for shape in ((12, 15), (60, 3), (180,), (4, 3, 15), (3, 60)):
        w = RNG.normal(size=(shape[-1], 2)) / 8
        right(lambda x, shape=shape, w=w: x.reshape(shape) @ w, {"x": x}, x.reshape(shape) @ w)
        moved = x.transpose(1, 0, 3, 2).reshape(shape)
        right(
            lambda x, shape=shape, w=w: x.transpose(1, 0, 3, 2).reshape(shape) @ w,
            {"x": x},
            moved @ w,
        )


def test_differences_and_exchanged_axes_are_numpys() -> None:
    x = RNG.uniform(-1, 1, (5, 4))
    right(lambda x: np.diff(x, axis=0), {"x": x}, np.diff(x, axis=0))
    right(lambda x: np.diff(x, n=2), {"x": x}, np.diff(x, n=2))
    right(lambda x: x.swapaxes(0, 1) * 2, {"x": x}, x.T * 2)


def test_an_option_that_encrypted_arrays_lack_is_refused_at_the_users_line() -> None:
    with pytest.raises(ProgramError, match=r"np\.sum: .*dtype") as caught:
        trace(lambda x: np.sum(x, dtype=float), "auto", {"x": (2, 3)})
    assert str(caught.value).startswith(f"{__file__}:")


def test_copies_lie_among_the_entries_where_a_product_follows() -> None:
    """A dense layer after a sum and a square wishes its input's layout, and has 32 diagonals."""
    kernels, weights = RNG.normal(size=(25, 845)) / 8, RNG.normal(size=(845, 100)) / 64
    x = RNG.uniform(0, 1, (25, 845))

    def function(x: EncryptedArray) -> EncryptedArray:
        return (x * kernels).sum(axis=0) ** 2 @ weights

    program = trace(function, ckks_set("lola-mnist"), {"x": x.shape}, allow_overflow=True)
    counts = counted(program)
    assert counts[Op.INPUT] == 25
    assert counts[Op.MULTIPLY_PLAIN] == 25 + 32
    assert counts[Op.ROTATE] == 10 + 5
    words = "from the low bits 5 bits of axis 1, 2 bits of copies, 5 bits of axis 1, axis 0"
    assert f"input 'x' is packed for its use, {words}: the program costs" in program.explain()
    simulated = tensors(program.packed_outputs, program.simulate({"x": x}))["result"]
    assert np.abs(simulated - function(x)).max() < 1e-9  # type: ignore[arg-type]


@pytest.mark.parametrize("times", [2, -3, 16])
def test_a_small_whole_multiple_takes_no_level_and_no_product(times: int) -> None:
    x = RNG.uniform(-1, 1, 5)
    program = trace(lambda x: times * (x * x), "auto", {"x": (5,)})
    assert program.parameters.limbs == 2
    assert not counted(program)[Op.MULTIPLY_PLAIN]
    assert np.abs(program.run(x=x)["result"] - times * x * x).max() < 1e-5


def test_a_multiple_of_a_product_with_numbers_is_one_product() -> None:
    weights = np.array([0.5, 0.25, 2.0])
    counts = counted(trace(lambda x: 3 * (x * weights), "auto", {"x": (3,)}))
    assert (counts[Op.MULTIPLY_PLAIN], counts[Op.ADD]) == (1, 0)


def test_results_are_read_from_their_last_copies() -> None:
    """A ciphertext's first slots are the least precise."""
    program = trace(lambda x: x.sum(), "auto", {"x": (16,)})
    slots = program.parameters.n // 2
    assert program.packed_outputs["result"].table.tolist() == [slots]
    x = RNG.uniform(-1, 1, 16)
    assert abs(program.run(x=x)["result"] - x.sum()) < 1e-6


def test_the_choice_of_a_convolution_is_explained() -> None:
    kernels = RNG.normal(size=(4, 1, 3, 3))
    text = trace(lambda x: conv2d(x, kernels), "auto", {"x": (1, 14, 14)}).explain()
    found = "the convolution with kernels of 4 x 1 x 3 x 3 is computed by diagonals, to axis 2, "
    assert re.search(f"{found}axis 1, axis 0: that costs [0-9]+ rotations on cpu, and by", text)
    assert re.search("input 'x' is packed as usual, from the low bits axis 2, axis 1", text)
