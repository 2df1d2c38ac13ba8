"""A backend for HEIR's Python front end, with what it imports of HEIR in small.

HEIR's own ``heir.interfaces`` needs numba, which takes an older NumPy than this environment has.
"""

import importlib
import sys
from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.heir.make import text_of
from tests.service.served import Server

from ringsmith.errors import ProgramError
from ringsmith.heir import Wish


@dataclass
class EncValue:
    """An encrypted argument and its name."""

    identifier: str
    value: object


@dataclass
class CompilationResult:
    """What HEIR's helpers ask of a compiled function."""

    module: object
    func_name: str
    arg_names: list[str]
    secret_args: list[int]


def stripped(result: CompilationResult, *args: object, **kwargs: object) -> tuple[list[Any], Any]:
    values: list[object] = []
    for i, value in enumerate(args):
        assert isinstance(value, EncValue) == (i in result.secret_args)
        values.append(value.value if isinstance(value, EncValue) else value)
    return values, kwargs


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the backend, over a HEIR in small."""
    modules = {
        name: ModuleType(name)
        for name in (
            *("heir", "heir.interfaces", "heir.backends", "heir.backends.util"),
            "heir.backends.util.common",
        )
    }
    own = {"BackendInterface": ABC, "ClientInterface": ABC, "EncValue": EncValue}
    modules["heir.interfaces"].__dict__.update(own, CompilationResult=CompilationResult)
    common = modules["heir.backends.util.common"]
    common.__dict__["strip_and_verify_eval_arg_consistency"] = stripped
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    yield importlib.import_module("ringsmith.heir.backend")
    sys.modules.pop("ringsmith.heir.backend")


class HeirOpt:
    """In place of HEIR's ``heir_opt``: turns the pretty form into the generic one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def run_binary(self, input: str, options: list[str]) -> str:  # noqa: A002 - HEIR's name
        """Returns the generic form, whatever the pretty one is."""
        assert options[-1] == "--mlir-print-op-generic"
        return self.text


def test_a_function_is_encrypted_evaluated_and_decrypted(backend: ModuleType) -> None:
    text = text_of("dot_i16", "bgv")
    given = ("", HeirOpt(text), None, "dot", ["a", "b"], [0, 1], "module {}", False)
    function = backend.RingsmithBackend().run_backend(*given)
    with pytest.raises(ProgramError, match=r"dot: call setup\(\) first"):
        function.encrypt_a(np.arange(8))
    function.setup()
    a, b = np.arange(8), np.arange(8) - 4
    result = function.eval(function.encrypt_a(a), function.encrypt_b(b))
    assert (function.decrypt_result(result), function.cycles) == (int(a @ b), None)
    with pytest.raises(AttributeError):
        _ = function.encrypt_c


def test_a_function_runs_on_a_design_and_reports_cycles(backend: ModuleType) -> None:
    own = backend.RingsmithBackend("model", "nano", Wish(design="nano"))
    text = text_of("dot_f32", "ckks")
    function = own.run_backend("", None, None, "dot", ["a", "b"], [0, 1], text, False)
    a = np.arange(8) / 8
    assert function(a, a) == pytest.approx(a @ a + 0.1, abs=1e-4)
    assert function.cycles > 0


@pytest.mark.parametrize("level", ["ckks", "split"])
def test_clear_arguments_are_taken_when_a_function_is_evaluated(
    backend: ModuleType, level: str
) -> None:
    text = text_of("weighted", level)
    function = backend.RingsmithBackend().run_backend(
        "", None, None, "weighted", ["x", "w"], [0], text, False
    )
    x = np.arange(8) / 8
    for w in (x + 1, 2 - x):
        np.testing.assert_allclose(function(x, w), x * w, atol=1e-6)


def test_options_are_a_new_list_each_time(backend: ModuleType) -> None:
    first = backend.RingsmithBackend.options("ckks", slots=2048)
    assert any("min-slot-count=2048" in each for each in first)
    first.append("--mlir-print-debuginfo")
    assert "--mlir-print-debuginfo" not in backend.RingsmithBackend.options("ckks")


def test_a_function_runs_on_a_service_that_serves_its_program(
    backend: ModuleType, tmp_path: Path
) -> None:
    def made(name: str, service: str | None = None) -> Any:  # noqa: ANN401 - HEIR's client
        own = backend.RingsmithBackend(service=service)
        text = text_of("dot_i16", "bgv")
        return own.run_backend("", HeirOpt(text), None, name, ["a", "b"], [0, 1], text, False)

    made("dot").program.save(tmp_path / "dot.rsp")
    text = text_of("dot_f32", "ckks")
    other = backend.RingsmithBackend().run_backend(
        "", None, None, "other", ["a", "b"], [0, 1], text, False
    )
    other.program.save(tmp_path / "other.rsp")
    files = [tmp_path / "dot.rsp", tmp_path / "other.rsp"]
    with Server(tmp_path, files, "--workers", "1") as server:
        function = made("dot", server.url)
        a, b = np.arange(8), np.arange(8) - 4
        assert function(a, b) == int(a @ b)
        assert function.cycles is None
        with pytest.raises(ProgramError, match=r"other: the service's program has parameters"):
            made("other", server.url).setup()
        weighted = backend.RingsmithBackend(service=server.url).run_backend(
            "", None, None, "weighted", ["x", "w"], [0], text_of("weighted", "ckks"), False
        )
        with pytest.raises(ProgramError, match="does not take clear arguments, and w is one"):
            weighted.setup()
