"""Bad input to the vector architecture: each error names the value, the limit and what to do."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.reference import transform
from tests.backends.vector.test_programs import (
    RADIX_16,
    parameters,
    random_ring,
)

from ringsmith import _core, compile_program, open_device, runtime, trace
from ringsmith.backends.base import CompiledGraph, Design
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.arrays import TaskArrays
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.tasks import PointTask, ResultTask, Task, Value
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.word_layout import (
    Shape,
    coefficient_layout,
    forward_passes,
    ntt_layout,
    placed,
    table_rows,
    taken,
)
from ringsmith.backends.vector.isa.instructions import Constant
from ringsmith.errors import DeviceError, InteropError, ParameterError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.objects import KeySwitchKey
from ringsmith.params import ckks_set
from ringsmith.runtime import Compiled
from ringsmith.runtime.designs import named_design

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


# ---- Passes and tables of the vector architecture's transforms, against the core's ---------------


SHAPES = [
    (8, 4, 2), (9, 4, 2), (8, 4, 4), (9, 4, 4), (10, 4, 4), (10, 6, 2), (9, 4, 1), (11, 6, 3),
    (12, 8, 4), (12, 8, 2), (13, 8, 4),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("inverse", [False, True])
def test_the_passes_are_the_cores_transform(sizes: tuple[int, int, int], inverse: bool) -> None:
    shape = Shape(*sizes)
    n = 1 << shape.log_n
    q = _core.prime_search(30, n, 1)[0]
    root = _core.smallest_root(q, n)
    limb = np.random.default_rng(1).integers(0, q, n, dtype=np.uint64)
    if inverse:
        expected = _core.ntt_inverse(limb, q, root) * np.uint64(n) % np.uint64(q)
    else:
        expected = _core.ntt_forward(limb, q, root)
    assert np.array_equal(transform(shape, limb, q, root, inverse), expected)


@pytest.mark.parametrize("sizes", [(n, m, r) for n in range(12, 17) for m, r in [(8, 4), (8, 2)]])
def test_rows_of_ntt_form_are_the_high_bits_of_the_position(sizes: tuple[int, int, int]) -> None:
    shape = Shape(*sizes)
    layout = ntt_layout(shape)
    assert layout == forward_passes(shape)[-1].layout
    assert np.array_equal(np.unique(layout.order >> 8, axis=1)[:, 0], np.arange(shape.rows))
    for one in (layout, coefficient_layout(shape)):
        limb = np.arange(1 << shape.log_n, dtype=np.uint64)
        assert np.array_equal(taken(shape, one, placed(shape, one, limb)), limb)


def test_a_table_has_a_row_for_each_pass_in_the_lanes_and_few_for_the_others() -> None:
    assert table_rows(Shape(16, 8, 4)) == 2 + 16 + 256
    assert table_rows(Shape(16, 8, 2)) == 4 + 4 + 16 + 64 + 256


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((12, 8, 3), "log_lanes = 8 is no multiple of log_radix = 3: choose one"),
        (
            (11, 8, 4),
            r"2\^11 on 2\^8 lanes is 2\^3 rows, and a pass of 4 stages needs 2\^4: choose",
        ),
        ((8, 8, 2), r"2\^8 on 2\^8 lanes is 2\^0 rows, and a pass of 2 stages needs 2\^2"),
    ],
)
def test_what_does_not_divide_is_refused(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Shape(*sizes)


# ---- Runs of terms whose order is free -----------------------------------------------------------


def terms(count: int, first: int = 0) -> list[Task]:
    """Tasks that add products of values with numbers."""
    found, total = list[Task](), None
    for i in range(count):
        target = Value(first + 100 + i, 0)
        result = ResultTask(0, Constant(i), total, subtract=False, target=target)
        found.append(Task(0, PointTask(Value(first + i, 0), (result,)), -1))
        total = target
    return found


def runs(tasks: list[Task]) -> list[list[int]]:
    """Numbers of the tasks of each run."""
    design = named_design("vector-small")
    assert isinstance(design, VectorDesign)
    machine = Cycles(design, design.shape(12)).machine
    return TaskArrays(tasks, [65537], design, machine).problem.runs


def test_sums_are_runs_with_other_tasks_between_them() -> None:
    one, other = terms(3), terms(2, 200)
    tasks = [one[0], other[0], one[1], other[1], one[2]]
    assert runs(tasks) == [[0, 2, 4], [1, 3]]


def test_a_sum_that_something_else_reads_ends_its_run() -> None:
    tasks = terms(4)
    second = tasks[1].writes[0]
    result = ResultTask(0, Constant(1), None, subtract=False, target=Value(999, 0))
    tasks.append(Task(0, PointTask(second, (result,)), -1))
    assert runs(tasks) == [[0, 1], [2, 3]]


def test_a_factor_that_is_made_inside_a_run_begins_another() -> None:
    tasks = terms(4)
    factor = tasks[2].reads[0]
    made = ResultTask(0, Constant(1), None, subtract=False, target=factor)
    tasks.insert(1, Task(0, PointTask(Value(998, 0), (made,)), -1))
    assert runs(tasks) == [[0, 2], [3, 4]]


def test_a_difference_is_no_term() -> None:
    tasks = terms(2)
    action = tasks[1].action
    assert isinstance(action, PointTask)
    minus = replace(action.results[0], subtract=True)
    assert runs([tasks[0], replace(tasks[1], action=PointTask(action.x, (minus,)))]) == []
