"""Bad input to the vector architecture: each error names the value, the limit and what to do."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.test_programs import (
    RADIX_16,
    parameters,
    random_ring,
)

from ringsmith import compile_program, open_device, runtime, trace
from ringsmith.backends.base import CompiledGraph, Design
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.errors import DeviceError, InteropError, ParameterError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.objects import KeySwitchKey
from ringsmith.params import ckks_set
from ringsmith.runtime import Compiled
from ringsmith.runtime.designs import named_design

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

Inputs = dict[str, NDArray[Any]]
Keys = Mapping[str, KeySwitchKey]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, 2, 4), "dnum = 4 does not cut 6 data primes: .* take dnum = 3"),
        ((6, 2, 7), r"dnum = 7 is not a number of digits in 1 … 6, the data primes: choose one"),
        ((6, 0, 1), "0 special primes: key switching needs at least 1: name one"),
    ],
)
def test_digits_that_do_not_divide_are_refused(shape: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parameters(RADIX_16, shape)


@pytest.mark.parametrize(
    ("operation", "limbs", "allowed"),
    [("rescale", 1, "2 … 6"), ("rotate", 7, "1 … 6"), ("multiply_plain", 0, "1 … 6")],
)
def test_a_level_that_is_not_there_is_refused(operation: str, limbs: int, allowed: str) -> None:
    of = parameters(RADIX_16, (6, 3, 2))
    with pytest.raises(ProgramError, match=f"{operation} of {limbs} limbs: .* allow {allowed}"):
        lower_operation(operation, of, limbs)


def test_more_primes_than_a_program_may_have_are_refused() -> None:
    of = parameters(RADIX_16, (2, 1, 0))
    with pytest.raises(ProgramError, match=r"number of primes 129 is not .* in 1 … 128"):
        random_ring(RADIX_16, of.n, primes=129)
    most = random_ring(RADIX_16, of.n, primes=128)
    most.output(most.input("a", range(128)), "b")
    compile_graph(most, RADIX_16)


@pytest.mark.parametrize(
    ("params", "design", "message"),
    [
        ("nano", "framework", "prime .* of 47 bits, more than the 32 of a word, in design framew"),
        ("medha-set2", "vector-small", "rings of N = 256 to 16384, and the program's is 32768"),
        ("pico", "framework-512", "prime .*, which is not 1 modulo 131072, .*: choose parameters"),
    ],
)
def test_parameters_of_other_designs_are_refused(params: str, design: str, message: str) -> None:
    of = ckks_set(params)
    with pytest.raises(ProgramError, match=message):
        runtime.compile_graph(lower_operation("rotate", of, of.limbs), design)
    refused = BACKEND.limits(BACKEND.load_design(design)).error(of)
    assert refused.endswith((f"in design {design}", "32", "16384"))


def program() -> CompiledGraph:
    of = ckks_set("pico")
    return runtime.compile_graph(lower_operation("rotate", of, of.limbs), "vector-small")


def _less(inputs: Inputs, limbs: int, degree: int) -> Inputs:
    return {**inputs, "x.0": inputs["x.0"][:limbs, :degree]}


def _too_large(inputs: Inputs) -> Inputs:
    words = inputs["x.0"].copy()
    words[1, 3] = ckks_set("pico").data_primes[1]
    return {**inputs, "x.0": words}


def _other_key(keys: Keys) -> Keys:
    of = ckks_set("nano")
    others = random_operands(lower_operation("rotate", of, 4), np.random.default_rng(1))[1]
    return dict(zip(keys, others.values(), strict=True))


Change = Callable[[Inputs, Keys], tuple[Inputs, Keys]]
CHANGES: dict[str, tuple[Change, str]] = {
    "no key": (lambda i, _: (i, {}), "key 'galois:3' is missing: the program needs"),
    "another key": (
        lambda i, k: (i, _other_key(k)),
        r"key 'galois:3' has 4 digits and the primes \[0, 1, 2, 3, 4\], and full keys have 3",
    ),
    "no input": (lambda _, k: ({}, k), r"takes the inputs \['x.0', 'x.1'\], not \[\]"),
    "fewer limbs": (
        lambda i, k: (_less(i, 1, 4096), k),
        r"input 'x.0' has shape \(1, 4096\) .* must have shape \(2, 4096\) .*: use objects of",
    ),
    "a smaller ring": (lambda i, k: (_less(i, 2, 2048), k), r"has shape \(2, 2048\)"),
    "other words": (
        lambda i, k: ({**i, "x.0": i["x.0"].astype(np.float64)}, k),
        "type float64; it must have .* type uint64",
    ),
    "residues": (lambda i, k: (_too_large(i), k), "residues that are not below their prime"),
}


@pytest.mark.parametrize("kind", ["model", "rtl"])
@pytest.mark.parametrize("change", CHANGES)
def test_operands_of_other_shapes_are_refused_before_anything_runs(kind: str, change: str) -> None:
    compiled = program()
    changed, message = CHANGES[change]
    operands = changed(*random_operands(compiled.graph, np.random.default_rng(1)))
    with pytest.raises(ProgramError, match=message):
        runtime.run_graph(compiled, open_device(kind, "vector-small"), *operands)


@pytest.mark.parametrize("design", ["framework", "nano"])
def test_a_program_runs_on_no_other_design(design: str) -> None:
    compiled = program()
    operands = random_operands(compiled.graph, np.random.default_rng(1))
    with pytest.raises(DeviceError, match=f"compiled for design vector-small .* is a {design}: "):
        runtime.run_graph(compiled, open_device("model", design), *operands)
    bare = CompiledGraph(compiled.graph)
    with pytest.raises(ProgramError, match=r"compiled for no design .*: compile it with design="):
        runtime.run_graph(bare, open_device("model", "vector-small"), *operands)


def test_a_file_of_a_program_runs_on_its_design_alone(tmp_path: Path) -> None:
    of = ckks_set("pico")
    recorded = trace(lambda x: (x * 0.5).rotate(1), of, {"x": 4})
    own: Design = named_design("vector-small")
    compile_program(recorded, own).save(tmp_path / "x.rsc")
    found = Compiled.load(tmp_path / "x.rsc", own)
    _, public_key, keys = recorded.generate_keys()
    inputs = recorded.encrypt(public_key, {"x": [0.5, -1, 0.25, 1]})
    results = [
        found.run(open_device(kind, design), inputs, keys).outputs["result"].data
        for kind, design in (("cpu", None), ("model", own))
    ]
    np.testing.assert_array_equal(*results)
    with pytest.raises(DeviceError, match=r"compiled for design vector-small .* is a framework"):
        found.run(open_device("model", "framework"), inputs, keys)
    with pytest.raises(InteropError, match="vector-small, not for design framework: compile it"):
        Compiled.load(tmp_path / "x.rsc", named_design("framework"))
