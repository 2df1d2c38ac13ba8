"""HEIR's programs: read at both levels, planned both ways, run encrypted, against plain results.

The modules are ours (``examples/heir``); ``tests/heir/make.py`` compiled them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.heir.make import PROGRAMS, levels, lowering, module_of, text_of

from ringsmith import compile_program, open_device
from ringsmith.errors import ProgramError
from ringsmith.heir.compiler import module_text
from ringsmith.heir.importing import PlanBy, Wish, import_module, program_of
from ringsmith.heir.module import Traced, trace_module
from ringsmith.heir.tape import Kind
from ringsmith.program import ClientKit, Program

Arrays = dict[str, NDArray[Any]]
CASES = [(name, level) for name in PROGRAMS for level in levels(name)]


def constants(name: str) -> list[NDArray[np.float64]]:
    """The listed constants of a module of ours."""
    text = module_of(name).read_text()
    found = re.findall(r"dense<(\[[^>]*\])> : tensor<([\dx]+)xf32>", text)
    flat = [np.array(re.findall(r"[-\d.]+", numbers), float) for numbers, _ in found]
    return [
        v.reshape([int(d) for d in shape.split("x")])
        for v, (_, shape) in zip(flat, found, strict=True)
    ]


def wrapped(image: NDArray[Any], dx: int, dy: int) -> NDArray[Any]:
    """The pixels at a number of rows and columns from each, in one row of 256 whose ends meet."""
    return np.roll(image, -(16 * dx + dy))


def blur(image: NDArray[Any]) -> NDArray[Any]:
    moves = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return sum((wrapped(image, i, j) for i, j in moves), np.zeros_like(image))


def roberts(image: NDArray[Any]) -> NDArray[Any]:
    return (wrapped(image, -1, -1) - image) ** 2 + (
        wrapped(image, -1, 0) - wrapped(image, 0, -1)
    ) ** 2


def convolved(image: NDArray[Any]) -> NDArray[Any]:
    padded = np.pad(image[0, 0], 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return np.einsum("xyij,ij->xy", windows, constants("conv2d")[0][0, 0])[None, None]


def eight(x: NDArray[Any]) -> NDArray[Any]:
    value = x
    for _ in range(8):
        value = value * x - 1
    return value


def matvec(x: NDArray[Any]) -> NDArray[Any]:
    matrix, bias = constants("matvec")
    return matrix @ x + bias


PLAIN: Mapping[str, Callable[..., Any]] = {
    "dot_f32": lambda a, b: a @ b + 0.1,
    "dot_i16": lambda a, b: a @ b,
    "box_blur": blur,
    "roberts_cross": roberts,
    "simple_sum": np.sum,
    "matmul": lambda a, b: a @ b,
    "matvec": matvec,
    "conv2d": convolved,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "eight_products": eight,
    "two_vectors": lambda x, y: x * y + x,
    "weighted": lambda x: x * PROGRAMS["weighted"].clear["arg1"],
}
TOLERANCE = {"sigmoid": 2e-3}  # of HEIR's polynomial
HIGHEST = {"sigmoid": 3.0}
"""Of a program's inputs: numbers to this in both directions, else to 1."""


def inputs_of(traced: Traced, rng: np.random.Generator) -> Arrays:
    """Random inputs of a module."""
    high = HIGHEST.get(next((n for n in HIGHEST if n in traced.file), ""), 1.0)
    return {
        each.name: rng.integers(0, 256, each.shape)
        if each.whole
        else rng.uniform(-high, high, each.shape)
        for each in traced.inputs
    }


def run(program: Program, inputs: Arrays, device: str = "cpu", design: str = "") -> Arrays:
    """Keys, encryption, a run, decryption; returns tensors."""
    kit = program.client_kit()
    secret_key, public_key, keys = kit.generate_keys(seeded=True)
    compiled = compile_program(program, design or None)
    opened = open_device(device, design) if design else open_device(device)
    result = compiled.run(opened, kit.encrypt(public_key, inputs), keys)
    return kit.decrypt(secret_key, result.outputs)


def check(name: str, program: Program, inputs: Arrays, found: Arrays) -> None:
    """Compares with what the function is in the clear."""
    expected = np.asarray(PLAIN[name](*inputs.values()))
    got = found["result"]
    assert got.shape == expected.shape
    if program.parameters.exact:
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE.get(name, 1e-6))


def traced_of(name: str, level: str) -> Traced:
    return trace_module(text_of(name, level), f"{name}-{level}.mlir", PROGRAMS[name].clear)


@pytest.mark.parametrize(("name", "level"), CASES)
def test_a_module_planned_anew_computes_the_plain_result(
    name: str, level: str, rng: np.random.Generator
) -> None:
    traced = traced_of(name, level)
    wish = Wish(plain_modulus=PROGRAMS[name].plain_modulus if traced.whole else None)
    program = program_of(traced, wish)
    inputs = inputs_of(traced, rng)
    if name in ("simple_sum", "dot_i16"):
        inputs = {key: values % 50 for key, values in inputs.items()}
    check(name, program, inputs, program.evaluate(inputs))
    check(name, program, inputs, run(program, inputs))


@pytest.mark.parametrize(("name", "level"), [case for case in CASES if case[1] != "vector"])
def test_a_module_with_heirs_own_levels_computes_the_plain_result(
    name: str, level: str, rng: np.random.Generator
) -> None:
    traced = traced_of(name, level)
    program = program_of(traced, Wish(PlanBy.HEIR))
    inputs = inputs_of(traced, rng)
    if name in ("simple_sum", "dot_i16"):
        inputs = {key: values % 50 for key, values in inputs.items()}
    check(name, program, inputs, run(program, inputs))
    kept = {Kind.ROTATE, Kind.RESCALE, Kind.ADD}
    theirs = [step for step in traced.steps if step.kind in kept]
    ours = [node for node in program.nodes if str(node.op) in {kind.value for kind in kept}]
    assert len(ours) == len(theirs)


def test_planning_anew_drops_masks_that_no_result_depends_on() -> None:
    traced = traced_of("dot_f32", "vector")
    assert [s.kind for s in traced.steps].count(Kind.MULTIPLY_PLAIN) == 2
    program = program_of(traced, Wish())
    assert str(program.nodes[-1].op) == "output"
    assert not any(str(node.op) == "multiply_plain" for node in program.nodes)
    assert program.parameters.levels == 1
    assert program_of(traced_of("dot_f32", "ckks"), Wish(PlanBy.HEIR)).parameters.levels == 3


def test_vectors_fill_the_ring_by_repetition(rng: np.random.Generator) -> None:
    """With zeros in place of copies, 240 or more of the 256 pixels are wrong."""
    traced = traced_of("roberts_cross", "vector")
    program = program_of(traced, Wish(plain_modulus=786433))
    image = rng.integers(0, 256, 256)
    assert traced.slots == 256
    expected = roberts(image)
    kit = program.client_kit()
    secret_key, public_key, keys = kit.generate_keys()
    packing = kit.packed_inputs["arg0"]
    vector = np.concatenate([[0], image])[packing.table]
    plain = ClientKit(kit.name, kit.parameters, kit.inputs, kit.outputs, kit.key_needs)
    compiled, device = compile_program(program), open_device("cpu")
    for copies, wrong in ((kit.parameters.slots // 256, 0), (1, 240)):
        given = plain.encrypt(public_key, {"arg0": np.tile(vector, copies)})
        outputs = compiled.run(device, given, keys).outputs
        found = kit.decrypt(secret_key, outputs)["result"]
        assert (found != expected).sum() >= wrong
        assert wrong or (found == expected).all()


def test_composed_rotations_need_fewer_keys(rng: np.random.Generator) -> None:
    traced = traced_of("matvec", "vector")
    many, few = program_of(traced, Wish()), program_of(traced, Wish(fewer_keys=True))
    assert sorted({s.amount for s in traced.steps} - {0}) == [1, 2, 3, 4, 8, 12]
    assert (len(many.key_needs.galois), len(few.key_needs.galois)) == (6, 4)  # 1, 2, 4, 8
    inputs = inputs_of(traced, rng)
    check("matvec", few, inputs, run(few, inputs))


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_module_runs_on_the_simulated_vector(name: str, rng: np.random.Generator) -> None:
    traced = traced_of(name, "vector")
    t = PROGRAMS[name].plain_modulus if traced.whole else None
    program = program_of(traced, Wish(plain_modulus=t, design="vector-small"))
    inputs = inputs_of(traced, rng)
    if name in ("simple_sum", "dot_i16"):
        inputs = {key: values % 50 for key, values in inputs.items()}
    check(name, program, inputs, run(program, inputs, "model", "vector-small"))


@pytest.mark.full
def test_roberts_cross_runs_on_the_rtl(rng: np.random.Generator) -> None:
    traced = traced_of("roberts_cross", "vector")
    program = program_of(traced, Wish(plain_modulus=786433, design="vector-small"))
    inputs = inputs_of(traced, rng)
    check("roberts_cross", program, inputs, run(program, inputs, "rtl", "vector-small"))


def test_a_program_file_keeps_the_packing(tmp_path: Path, rng: np.random.Generator) -> None:
    program = program_of(traced_of("matmul", "vector"), Wish())
    program.save(tmp_path / "matmul.rsp")
    program.client_kit().save(tmp_path / "matmul.rsk")
    again, kit = Program.load(tmp_path / "matmul.rsp"), ClientKit.load(tmp_path / "matmul.rsk")
    assert isinstance(again, Program)
    inputs = {"arg0": rng.uniform(-1, 1, (3, 5)), "arg1": rng.uniform(-1, 1, (5, 2))}
    secret_key, public_key, keys = kit.generate_keys()
    compiled, device = compile_program(again), open_device("cpu")
    outputs = compiled.run(device, kit.encrypt(public_key, inputs), keys).outputs
    found = kit.decrypt(secret_key, outputs)["result"]
    np.testing.assert_allclose(found, inputs["arg0"] @ inputs["arg1"], atol=1e-6)


def test_a_packing_that_does_not_fit_its_program_is_not_read() -> None:
    program = program_of(traced_of("dot_f32", "vector"), Wish())
    packing = program.packed_inputs["arg0"]
    for change, words in (
        ({"ports": ("arg0", "arg9")}, "the ports"),
        ({"ports": ("arg1",)}, "does not hold each of"),
        ({"slots": 512}, "is not one of 512 integers"),
        ({"slots": 3}, "slots = 3 does not divide"),
        ({"shape": (7,)}, "the table leaves 0 … 7"),
        ({"shape": (1 << 40,)}, "the shape"),
        ({"table": packing.table.astype(float)}, "is not one of 1024 integers"),
        ({"table": packing.table + 1}, "the table leaves"),
    ):
        broken: Any = replace(packing, **change)
        other = replace(program, packed_inputs={**program.packed_inputs, "arg0": broken})
        with pytest.raises(ProgramError, match=words):
            other.to_bytes()
        with pytest.raises(ProgramError, match=r"cannot be written: .*packed_inputs"):
            other.to_bytes()


def test_an_integer_module_compiled_to_ckks_is_rounded(rng: np.random.Generator) -> None:
    from ringsmith.heir.module import Scheme

    traced = traced_of("dot_i16", "vector")
    program = program_of(traced, Wish(scheme=Scheme.CKKS, headroom_bits=9))
    inputs = {each.name: rng.integers(-5, 5, each.shape) for each in traced.inputs}
    found = run(program, inputs)["result"]
    assert (found.dtype, int(found)) == (np.int64, int(inputs["arg0"] @ inputs["arg1"]))


def test_a_clear_argument_that_heir_encodes_apart_is_taken(rng: np.random.Generator) -> None:
    traced = traced_of("weighted", "split")
    for plan in PlanBy:
        program = program_of(traced, Wish(plan))
        inputs = inputs_of(traced, rng)
        check("weighted", program, inputs, run(program, inputs))


def test_a_tensor_in_two_vectors_has_two_ciphertexts() -> None:
    program = program_of(traced_of("two_vectors", "vector"), Wish())
    assert list(program.inputs) == ["arg0_0", "arg0_1", "arg1_0", "arg1_1"]
    assert list(program.outputs) == ["result_0", "result_1"]


@pytest.mark.parametrize(("name", "level"), CASES)
def test_heir_opt_makes_the_stored_modules(
    name: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    text, file = module_text(module_of(name), lowering(name, level))
    fresh, stored = trace_module(text, file, PROGRAMS[name].clear), traced_of(name, level)
    assert [(s.kind, s.operands, s.amount, s.type) for s in fresh.steps] == [
        (s.kind, s.operands, s.amount, s.type) for s in stored.steps
    ]


def test_an_input_module_is_imported_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    found = import_module(module_of("dot_f32"), Wish())
    assert found.program.name == "dot"
    assert found.figures()["inputs"] == "arg0 (8,) in 1 ciphertext, arg1 (8,) in 1 ciphertext"
