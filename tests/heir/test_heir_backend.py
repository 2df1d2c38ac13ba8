"""HEIR's Python front end, with functions that it compiles for the backend ``RingsmithBackend``.

The page's example is run by ``test_guide_pages.py``.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.heir.make import module_of
from tests.service.served import Server

from ringsmith.errors import ProgramError
from ringsmith.heir import Wish
from ringsmith.heir.text import HeirError

InProcess = Callable[..., Any]
SECONDS = 60
"""Longer than anything takes here."""


def call(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Calls a function of ``tests.heir.front_end``."""
    return getattr(importlib.import_module("tests.heir.front_end"), name)(*arguments, **options)


@pytest.fixture(scope="module")
def in_process() -> Iterator[InProcess]:
    """Calls functions of ``tests.heir.front_end`` in one process, in which nothing else runs."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:

        def called(name: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401
            return pool.submit(call, name, arguments, options).result(SECONDS)

        yield called
    assert "heir" not in sys.modules


A, B = np.arange(8) / 8, np.arange(8) / 4 - 1


def test_a_function_of_tensors_is_computed_in_ckks(in_process: InProcess) -> None:
    ((found, cycles),) = in_process("results", "product", "ckks", [(A, B)])
    np.testing.assert_allclose(found, A * B, rtol=0, atol=1e-6)
    assert cycles is None


def test_a_function_runs_on_a_design_and_reports_cycles(in_process: InProcess) -> None:
    own = {"device": "model", "design": "nano", "wish": Wish(design="nano")}
    ((found, cycles),) = in_process("results", "product", "ckks", [(A, B)], **own)
    np.testing.assert_allclose(found, A * B, rtol=0, atol=1e-4)
    assert cycles > 0


@pytest.mark.parametrize("scheme", ["bgv", "bfv"])
def test_heirs_own_pipelines_compute_integers(in_process: InProcess, scheme: str) -> None:
    ((found, _),) = in_process("results", "difference", scheme, [(7, -8)], pipeline=True)
    assert found == -15


def test_heirs_own_pipeline_for_ckks_computes_fractions(in_process: InProcess) -> None:
    calls = [(0.5, -0.75)]
    ((found, _),) = in_process("results", "fused", "ckks", calls, pipeline=True)
    assert found == pytest.approx(0.125, abs=1e-6)


@pytest.mark.parametrize("pipeline", [False, True], ids=["ours", "HEIR's"])
def test_clear_arguments_are_taken_when_a_function_is_evaluated(
    in_process: InProcess, pipeline: bool
) -> None:
    """A product with ones is left out, so that the result keeps its level."""
    calls = [(A, w) for w in (B, np.ones(8), 2 - B)]
    found = in_process("results", "weighted", "ckks", calls, pipeline=pipeline)
    for (result, _), (x, w) in zip(found, calls, strict=True):
        np.testing.assert_allclose(result, x * w, rtol=0, atol=1e-6)


def test_clear_integers_are_taken_when_a_function_is_evaluated(in_process: InProcess) -> None:
    calls = [(x, factor) for x in (3, -4) for factor in (2, 1, 0, -3)]
    found = in_process("results", "scaled", "bfv", calls)
    assert [result for result, _ in found] == [x * factor + x for x, factor in calls]
    with pytest.raises(ProgramError, match=r"output .* is transparent"):
        in_process("results", "scaled", "bfv", [(3, -1)])


def test_clear_arguments_that_make_a_result_constant_are_refused(in_process: InProcess) -> None:
    with pytest.raises(HeirError, match=r"weighted:\d+: result .* depends on no secret"):
        in_process("results", "weighted", "ckks", [(A, np.zeros(8))])


def test_a_sum_of_many_numbers_fits(in_process: InProcess) -> None:
    """More than the headroom of 8 bits that is planned by default."""
    text = """func.func @total(%x: tensor<1024xf32> {secret.secret}) -> f32 {
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %i = 0 to 1024 iter_args(%a = %zero) -> (f32) {
        %v = tensor.extract %x[%i] : tensor<1024xf32>
        %next = arith.addf %a, %v : f32
        affine.yield %next : f32
      }
      return %sum : f32
    }"""
    ((found, _),) = in_process("results", text, "ckks", [(np.full(1024, 0.75),)])
    assert found == pytest.approx(768, abs=1e-3)


def test_a_module_of_mlir_is_compiled(in_process: InProcess) -> None:
    text = module_of("dot_f32").read_text()
    ((found, _),) = in_process("results", text, "ckks", [(A, B)])
    assert found == pytest.approx(A @ B + 0.1, abs=1e-6)


def test_a_caller_encrypts_evaluates_and_decrypts(in_process: InProcess) -> None:
    early, unknown, *found = in_process("step_by_step", "difference", "bgv", 7, 8)
    assert isinstance(early, ProgramError)
    assert "difference: call setup() first" in str(early)
    assert isinstance(unknown, AttributeError)
    assert "no attribute 'encrypt_c'" in str(unknown)
    assert found == [-15, -15, -15]


def test_a_function_that_heir_compiles_wrongly_is_refused_at_setup(in_process: InProcess) -> None:
    with pytest.raises(
        HeirError, match="HEIR has compiled it wrongly: on random numbers result is"
    ):
        in_process("comparison", "total", "bfv", meant="difference")
    printed = in_process("comparison", "total", "bfv", meant="difference", wish=Wish(check=False))
    assert printed.startswith("not asked for")


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("product", "ckks"), ("weighted", "ckks"), ("scaled", "bfv"), ("difference", "bgv")],
)
def test_a_function_is_compared_with_itself_in_the_clear(
    in_process: InProcess, name: str, scheme: str
) -> None:
    assert in_process("comparison", name, scheme).startswith("3 random inputs give what")


def test_a_module_of_mlir_has_no_function_to_compare_with(in_process: InProcess) -> None:
    printed = in_process("comparison", module_of("dot_f32").read_text(), "ckks")
    assert printed.startswith("not compared with the function, which does not run in the clear")


def test_options_are_a_new_list_each_time(in_process: InProcess) -> None:
    first, second = in_process("two_lists_of_options")
    assert any("min-slot-count=2048" in each for each in first)
    assert first == [*second, "--mlir-print-debuginfo"]


def test_a_service_that_has_another_program_is_refused(
    in_process: InProcess, tmp_path: Path
) -> None:
    """``total`` takes what ``difference`` takes, with one parameter set, and needs no key."""
    wish = Wish(parameters="heaws")
    file = tmp_path / "difference.rsp"
    in_process("saved", "difference", "bfv", file, wish=wish)
    others = [tmp_path / f"{name}.rsp" for name in ("product", "total", "weighted")]
    for other in others:
        other.write_bytes(file.read_bytes())
    with Server(tmp_path, [file, *others], "--workers", "1") as server:
        own = {"service": server.url, "wish": wish}
        ((found, cycles),) = in_process("results", "difference", "bfv", [(7, 8)], **own)
        assert (found, cycles) == (-15, None)
        with pytest.raises(ProgramError, match="total: the service's program has other param"):
            in_process("results", "total", "bfv", [(7, 8)], **own)
        with pytest.raises(ProgramError, match="product: the service's program has other param"):
            in_process("results", "product", "ckks", [(A, B)], service=server.url)
        with pytest.raises(ProgramError, match="does not take clear arguments, and w is one"):
            in_process("results", "weighted", "ckks", [(A, B)], service=server.url)
