"""HEIR's own errors: what it compiled is compared with its input, both in the clear."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.heir.make import PROGRAMS, levels, module_of, text_of
from typer.testing import CliRunner

from ringsmith.cli.main import app
from ringsmith.heir import Traced, Wish, import_module, trace_module
from ringsmith.heir.check import compare_with_input, evaluated
from ringsmith.heir.clear import clear_function
from ringsmith.heir.importing import PlanBy
from ringsmith.heir.module import PLAIN_MODULUS
from ringsmith.heir.tape import Kind
from ringsmith.heir.text import HeirError

CASES = [(name, level) for name in PROGRAMS for level in levels(name)]
RIGHT = "3 random inputs give what the input module gives in the clear"
Array = NDArray[Any]


def traced_of(name: str, level: str) -> Traced:
    return trace_module(text_of(name, level), f"{name}-{level}.mlir", PROGRAMS[name].clear)


def dot(folder: Path, length: int, element: str = "i16") -> Path:
    """An inner product of two secret vectors of any length."""
    name = "dot_i16" if element == "i16" else "dot_f32"
    text = module_of(name).read_text()
    file = folder / f"dot{length}.mlir"
    file.write_text(text.replace("tensor<8x", f"tensor<{length}x").replace("to 8", f"to {length}"))
    return file


def test_an_inner_product_of_three_integers_is_refused(tmp_path: Path) -> None:
    """HEIR counts products of other slots, too."""
    file = dot(tmp_path, 3)
    traced = import_module(file, Wish(check=False)).traced
    a, b = np.array([0, 0, 9]), np.array([5, -5, -4])
    assert evaluated(traced, {"arg0": a, "arg1": b})["result"] == 3 * (a @ b) == -108
    with pytest.raises(
        HeirError,
        match=r"dot3\.mlir \(compiled\): HEIR has compiled it wrongly: on random numbers result is "
        r"-?\d+ as compiled and -?\d+ in the clear, and 1 of 1 numbers differ: pad tensors",
    ):
        import_module(file, Wish())
    with pytest.raises(HeirError, match="HEIR has compiled it wrongly"):
        import_module(file, Wish(PlanBy.HEIR))


@pytest.mark.parametrize("length", [2, 3, 4, 6, 7, 8, 11, 16])
@pytest.mark.parametrize("element", ["i16", "f32"])
def test_an_import_succeeds_where_heir_is_right_and_fails_where_it_is_wrong(
    length: int, element: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    file = dot(tmp_path, length, element)
    traced = import_module(file, Wish(check=False)).traced
    a, b = rng.integers(1, 100, (2, length))
    expected = a @ b + (0.1 if element == "f32" else 0)
    found = float(evaluated(traced, {"arg0": a, "arg1": b})["result"])
    if found == pytest.approx(expected):
        assert import_module(file, Wish()).compared.startswith(RIGHT)
    else:
        with pytest.raises(HeirError, match="HEIR has compiled it wrongly"):
            import_module(file, Wish())


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_examples_are_compiled_right(name: str, level: str) -> None:
    file = module_of(name)
    function = clear_function(file.read_text(), file)
    t = PROGRAMS[name].plain_modulus or PLAIN_MODULUS
    assert compare_with_input(traced_of(name, level), function, t).startswith(RIGHT)


CHANGED = (Kind.ROTATE, Kind.ADD, Kind.SUB, Kind.MULTIPLY, Kind.MULTIPLY_PLAIN, Kind.ADD_PLAIN)


@pytest.mark.parametrize("name", ["matmul", "conv2d", "roberts_cross", "matvec", "two_vectors"])
def test_a_step_that_is_changed_is_noticed(name: str, rng: np.random.Generator) -> None:
    """Steps that no result depends on are left out: changing one changes nothing."""
    traced, file = traced_of(name, "vector"), module_of(name)
    function = clear_function(file.read_text(), file)
    given = {each.name: rng.integers(1, 9, each.shape) * 1.0 for each in traced.inputs}
    right = evaluated(traced, given)
    noticed = 0
    for index in rng.permutation(len(traced.steps))[:40]:
        step = traced.steps[index]
        if step.kind is Kind.ROTATE:
            other = replace(step, amount=step.amount + 1)
        elif step.kind in CHANGED:
            other = replace(step, kind=Kind.SUB_PLAIN if step.plain is not None else Kind.SUB)
        else:
            continue
        changed = replace(traced, steps=(*traced.steps[:index], other, *traced.steps[index + 1 :]))
        found = evaluated(changed, given)
        if all(np.allclose(found[k].astype(float), right[k].astype(float)) for k in right):
            continue
        noticed += 1
        with pytest.raises(HeirError, match="numbers differ"):
            compare_with_input(changed, function, PLAIN_MODULUS)
    assert noticed


TRANSPOSED = """
func.func @f(%a: tensor<3x4xf32> {secret.secret}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %c = linalg.transpose ins(%a : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  return %c : tensor<4x3xf32>
}
"""
STRIDED = """
func.func @f(%a: tensor<1x1x9x9xf32> {secret.secret}, %k: tensor<2x1x3x3xf32>)
    -> tensor<1x2x4x4xf32> {
  %zero = arith.constant dense<0.5> : tensor<1x2x4x4xf32>
  %y = linalg.conv_2d_nchw_fchw
      {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%a, %k : tensor<1x1x9x9xf32>, tensor<2x1x3x3xf32>)
      outs(%zero : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}
"""
SUMMED = """
func.func @f(%a: tensor<4x5xi16> {secret.secret}) -> tensor<4xi16> {
  %z = arith.constant dense<3> : tensor<4xi16>
  %c = linalg.reduce ins(%a : tensor<4x5xi16>) outs(%z : tensor<4xi16>) dimensions = [1]
    (%in: i16, %out: i16) {
      %s = arith.addi %in, %out : i16
      linalg.yield %s : i16
    }
  return %c : tensor<4xi16>
}
"""
PADDED = """
func.func @f(%a: tensor<2x3xf32> {secret.secret}) -> tensor<5x4xf32> {
  %two = arith.constant 2.0 : f32
  %p = tensor.pad %a low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<2x3xf32> to tensor<5x4xf32>
  return %p : tensor<5x4xf32>
}
"""
WEIGHED = """
#rows = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @f(%a: tensor<3x4xf32> {secret.secret}, %w: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #column, #rows],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %w : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%x: f32, %v: f32, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %x, %v : f32
    %s = arith.addf %p, %f : f32
    %positive = arith.cmpf ogt, %s, %v : f32
    %chosen = arith.select %positive, %s, %v : f32
    linalg.yield %chosen : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
"""


def strided(a: Array, k: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(a[0, 0], (3, 3))[::2, ::2]
    return np.einsum("xyij,mij->mxy", windows, k[:, 0])[None] + 0.5


def weighed(a: Array, w: Array) -> Array:
    s = a * w + np.arange(3)[:, None]
    return np.where(s > w, s, np.broadcast_to(w, s.shape))


MODULES: dict[str, tuple[str, tuple[tuple[int, ...], ...], Callable[..., Array]]] = {
    "transposed": (TRANSPOSED, ((3, 4),), np.transpose),
    "strided": (STRIDED, ((1, 1, 9, 9), (2, 1, 3, 3)), strided),
    "summed": (SUMMED, ((4, 5),), lambda a: a.sum(1) + 3),
    "padded": (PADDED, ((2, 3),), lambda a: np.pad(a, ((1, 2), (0, 1)), constant_values=2)),
    "weighed": (WEIGHED, ((3, 4), (4,)), weighed),
}


@pytest.mark.parametrize("name", MODULES)
def test_operations_of_input_modules_compute_what_numpy_does(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    text, shapes, plain = MODULES[name]
    function = clear_function(text, tmp_path / f"{name}.mlir")
    assert function.secret == (True, *[False] * (len(shapes) - 1))
    given = [rng.integers(-9, 10, shape) for shape in shapes]
    if name != "summed":
        given = [each / 4 for each in given]
    (found,) = function.run(given)
    np.testing.assert_array_equal(found, plain(*given))


def test_integers_beyond_a_word_are_compared_modulo_t(tmp_path: Path) -> None:
    file = tmp_path / "power.mlir"
    file.write_text("""
func.func @f(%a: tensor<8xi16> {secret.secret}) -> tensor<8xi16> {
  %y = affine.for %i = 0 to 6 iter_args(%s = %a) -> tensor<8xi16> {
    %p = arith.muli %s, %s : tensor<8xi16>
    affine.yield %p : tensor<8xi16>
  }
  return %y : tensor<8xi16>
}
""")
    traced = import_module(file, Wish(check=False)).traced
    assert evaluated(traced, {"arg0": np.full(8, 4)})["result"][0] == 4**64
    assert import_module(file, Wish()).compared.startswith(RIGHT)


def test_a_module_that_is_not_computed_in_the_clear_is_imported_and_says_so(
    tmp_path: Path,
) -> None:
    file = tmp_path / "joined.mlir"
    file.write_text("""
func.func @f(%a: tensor<4xf32> {secret.secret}, %b: tensor<4xf32> {secret.secret})
    -> tensor<8xf32> {
  %c = tensor.concat dim(0) %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}
""")
    printed = import_module(file, Wish()).compared
    assert re.match(
        r"not compared with its input, which is not computed in the clear: joined\.mlir \(in the "
        r"clear\):\d+: tensor\.concat is not read",
        printed,
    )


def run(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["import", "heir", *map(str, words)])
    assert done.exit_code == status, done.output
    return done.output


def test_the_command_compares_refuses_and_skips(tmp_path: Path) -> None:
    program = tmp_path / "program.rsp"
    refused = run(dot(tmp_path, 3), "-o", program, status=2)
    assert "HEIR has compiled it wrongly" in refused
    assert not program.exists()
    printed = run(dot(tmp_path, 3), "-o", program, "--no-check")
    assert "check               not asked for: results are those of the module as HEIR" in printed
    printed = run(dot(tmp_path, 8), "-o", tmp_path / "right.rsp")
    assert f"check               {RIGHT}" in printed
    compiled = tmp_path / "compiled.mlir"
    compiled.write_text(text_of("dot_i16", "bfv"))
    printed = run(compiled, "-o", tmp_path / "compiled.rsp")
    assert (
        "check               the file is a compiled module: what HEIR made of its input" in printed
    )
