"""Loops over ``repeat``: what they mean, how they are planned, run and written, and errors."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.program.small_bootstrapping import N, tiny

import ringsmith as rs
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.program import CkksProgram, Program
from ringsmith.program.loops import MAX_FLAT, flat_size
from ringsmith.runtime import Compiled
from ringsmith.runtime.segments import segments
from ringsmith.schemes.program_file import from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


def damped(x: Any, y: Any, count: int = 9) -> Any:  # noqa: ANN401
    w = y * 0.1
    for _ in rs.repeat(count):
        w = rs.bounded(w - 0.1 * (w * x - y), 2)
    return w


def in_numpy(x: Any, y: Any, count: int = 9) -> Any:  # noqa: ANN401
    w = y * 0.1
    for _ in range(count):
        w = w - 0.1 * (w * x - y)
    return w


def traced(
    function: Callable[..., object],
    levels: int = 3,
    inputs: Any = None,  # noqa: ANN401 - as of trace
) -> CkksProgram:
    program = rs.trace(function, tiny(levels), inputs)
    assert isinstance(program, CkksProgram)
    return program


@pytest.fixture(scope="module")
def looped() -> CkksProgram:
    return traced(lambda x, y: damped(x, y))


def numbers(seed: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-1, 1, N // 2) for name in ("x", "y")}


# ---- what they mean ------------------------------------------------------------------------------


def test_a_loop_stays_a_loop_and_is_right(looped: CkksProgram) -> None:
    given = numbers()
    wanted = in_numpy(**given)
    assert looped.loops == 1
    assert np.allclose(looped.evaluate(given)["result"], wanted)
    assert np.allclose(looped.simulate(given)["result"], wanted)
    error = np.abs(looped.run(given)["result"] - wanted).max()
    assert error <= looped.forecast(each_node=False).outputs["result"].total
    assert -math.log2(error) >= 20


def test_a_program_does_not_grow_with_the_repetitions() -> None:
    sizes = [len(traced(lambda x, y, n=n: damped(x, y, n)).nodes) for n in (13, 121, 1201)]
    assert len(set(sizes)) == 1


def test_parts_and_written_out_loops_give_the_same_words(looped: CkksProgram) -> None:
    secret, public, keys = looped.generate_keys()
    given = looped.encrypt(public, numbers())
    device = rs.open_device("cpu")
    compiled = rs.compile_program(looped)
    parts = compiled.run(device, given, keys).outputs["result"].data
    flat = rs.compile_program(looped.unrolled).run(device, given, keys).outputs["result"].data
    job = compiled.submit(device, given, keys).wait().outputs["result"].data
    kept = compiled.run(device, given, keys, keep=True).output("result").read().data
    assert all(np.array_equal(parts, each) for each in (flat, job, kept))
    assert [part.count > 1 for part in segments(looped)].count(True) == 1
    assert secret is not None


@pytest.mark.parametrize("given", ["auto", "nano"])
def test_without_bootstrapping_a_loop_is_unrolled(given: Any) -> None:  # noqa: ANN401
    def function(x: Any) -> Any:  # noqa: ANN401
        w = 0.5 * x
        for _ in rs.repeat(3):
            w = w + x
        return w * w

    program = rs.trace(function, given, {"x": 8})
    assert program.loops == 0
    x = np.linspace(-1, 1, 8)
    assert np.allclose(program.run(x=x)["result"], (3.5 * x) ** 2, atol=1e-3)


def test_whole_numbers_are_unrolled() -> None:
    def function(x: Any) -> Any:  # noqa: ANN401
        w = 3 * x
        for _ in rs.repeat(5):
            w = rs.bounded(x - w, 30)
        return w

    inputs = {"x": rs.InputSpec(4, bound=10)}
    program = rs.trace(function, rs.AutoBfvParameters(plain_bits=20), inputs)
    assert program.run(x=[1, 2, 3, -4])["result"].tolist() == [-2, -4, -6, 8]


def test_a_loop_that_fits_is_not_bootstrapped() -> None:
    program = traced(lambda x, y: damped(x, y, 1), 4)
    assert not program.bootstraps


def test_several_names_lists_and_previous_values_are_carried() -> None:
    def body(pair: list[Any], total: Any) -> tuple[list[Any], Any]:  # noqa: ANN401
        a, b = pair
        return [0.5 * (a + b), 0.5 * a * b], 0.5 * total + 0.25 * a

    def function(x: Any, y: Any) -> Any:  # noqa: ANN401
        pair, total, last = [x, y], 0.5 * x, x
        for _ in rs.repeat(7):
            last = pair[0]
            pair, total = body(pair, total)
        return {"total": total, "last": last, "second": pair[1]}

    def plain(x: Any, y: Any) -> Any:  # noqa: ANN401
        pair, total, last = [x, y], 0.5 * x, x
        for _ in range(7):
            last = pair[0]
            pair, total = body(pair, total)
        return {"total": total, "last": last, "second": pair[1]}

    program, given = traced(function), numbers(2)
    wanted = plain(**given)
    forecast = program.forecast(each_node=False).outputs
    for name, found in program.run(given).items():
        assert np.abs(found - wanted[name]).max() <= forecast[name].total, name
        assert np.allclose(program.evaluate(given)[name], wanted[name])
    assert program.loops == 1


def test_two_loops_follow_one_another() -> None:
    def function(x: Any, y: Any) -> Any:  # noqa: ANN401
        w = damped(x, y, 12)
        v = 0.25 * w * y
        for _ in rs.repeat(15):
            v = rs.bounded(0.5 * v * x + 0.25 * w, 2)
        return v

    program, given = traced(function, 8), numbers(3)
    assert program.loops == 2
    v = 0.25 * in_numpy(**given, count=12) * given["y"]
    for _ in range(15):
        v = 0.5 * v * given["x"] + 0.25 * in_numpy(**given, count=12)
    error = np.abs(program.run(given)["result"] - v).max()
    assert error <= program.forecast(each_node=False).outputs["result"].total


def test_arrays_are_carried() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.uniform(-1, 1, (8, 8)) / 8

    def function(x: Any) -> Any:  # noqa: ANN401
        w = x
        for _ in rs.repeat(6):
            w = rs.bounded(0.5 * (w @ matrix) * x + 0.5 * x, 1)
        return w

    program = traced(function, 4, {"x": (4, 8)})
    x = rng.uniform(-1, 1, (4, 8))
    w = x
    for _ in range(6):
        w = 0.5 * (w @ matrix) * x + 0.5 * x
    assert np.allclose(program.evaluate({"x": x})["result"], w)
    error = np.abs(program.run(x=x)["result"] - w).max()
    assert error <= program.forecast(each_node=False).outputs["result"].total


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))]
)
def test_random_bodies_are_right(seed: int) -> None:
    """Bodies of several multiplications in a row, on two to four levels."""
    rng = np.random.default_rng(seed)
    plan = [(int(rng.integers(0, 5)), float(rng.uniform(-1, 1))) for _ in range(7)]

    def body(w: Any, v: Any, x: Any) -> tuple[Any, Any]:  # noqa: ANN401
        for kind, number in plan:
            match kind:
                case 0 | 1:
                    w = w * (v if kind else x)
                case 2:
                    w, v = 0.5 * w + 0.5 * x, 0.5 * v - 0.5 * w
                case 3:
                    v = number * v
                case _:
                    w = 0.5 * (w + number)
        return 0.5 * w + 0.5 * x, 0.5 * v + 0.25 * w

    def function(x: Any, y: Any) -> Any:  # noqa: ANN401
        w, v = x, y
        for _ in rs.repeat(5):
            w, v = body(w, v, x)
        return {"w": w, "v": v}

    program, given = traced(function, 2 + seed % 3), numbers(seed)
    w, v = given["x"], given["y"]
    for _ in range(5):
        w, v = body(w, v, given["x"])
    forecast = program.forecast(each_node=False).outputs
    found = program.run(given)
    assert np.abs(found["w"] - w).max() <= forecast["w"].total
    assert np.abs(found["v"] - v).max() <= forecast["v"].total
    assert np.allclose(program.simulate(given)["w"], w)


def test_a_range_that_grows_at_first_is_found() -> None:
    """0.5 w + 0.5 x stays in [-1, 1], also if it begins with less."""

    def function(x: Any) -> Any:  # noqa: ANN401
        w = 0.0 * x
        for _ in rs.repeat(6):
            w = rs.bounded(0.5 * w * x + 0.5 * x, 1)
        return w

    program = traced(function)
    x = numbers()["x"]
    w = 0 * x
    for _ in range(6):
        w = 0.5 * w * x + 0.5 * x
    assert np.abs(program.run(x=x)["result"] - w).max() < 2**-12


def test_a_design_refuses_the_bootstrappings_of_a_loop_by_name(looped: CkksProgram) -> None:
    with pytest.raises(ProgramError, match="begins a bootstrapping, and design nano does none"):
        rs.compile_program(looped, "nano")


# ---- files and what is said ----------------------------------------------------------------------


def test_files_hold_loops(looped: CkksProgram) -> None:
    program = from_bytes(to_bytes(looped))
    assert isinstance(program, Program)
    assert program.loops == 1
    assert len(program.nodes) == len(looped.nodes)
    given = numbers()
    assert np.array_equal(program.simulate(given)["result"], looped.simulate(given)["result"])


def test_files_of_compiled_programs_hold_loops(looped: CkksProgram, tmp_path: Any) -> None:  # noqa: ANN401
    rs.compile_program(looped).save(tmp_path / "looped.rsc")
    compiled = Compiled.load(tmp_path / "looped.rsc")
    _, public, keys = looped.generate_keys()
    given = looped.encrypt(public, numbers())
    device = rs.open_device("cpu")
    found = compiled.run(device, given, keys).outputs["result"].data
    wanted = rs.compile_program(looped).run(device, given, keys).outputs["result"].data
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("op", "change", "message"),
    [
        (Op.CARRIED, {"loop": 0}, "is a part of the loop 0"),
        (Op.CARRIED, {"loop": 2}, "not carried by one loop"),
        (Op.NEXT, {"count": 0}, "is repeated 0 times"),
        (Op.NEXT, {"count": 1 << 20}, "is repeated 1048576 times"),
        (Op.NEXT, {"loop": 2}, "not carried by one loop"),
        (Op.NEXT, {"operands": (0, 1)}, "not carried by one loop"),
        (Op.ADD_PLAIN, {"loop": 1}, "is a part of the loop 1"),
    ],
)
def test_a_file_of_another_structure_is_refused(
    looped: CkksProgram, op: Op, change: dict[str, object], message: str
) -> None:
    nodes = list(looped.nodes)
    index = next(node.id for node in nodes if node.op is op)
    nodes[index] = replace(nodes[index], **change)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=message):
        to_bytes(replace(looped, nodes=tuple(nodes)))


def test_an_output_from_inside_of_a_loop_is_refused_in_a_file(looped: CkksProgram) -> None:
    nodes = list(looped.nodes)
    begin = next(node for node in nodes if node.op is Op.CARRIED)
    nodes[-1] = replace(nodes[-1], operands=(begin.id,), limbs=begin.limbs, scale=begin.scale)
    with pytest.raises(ProgramError, match="takes a value from inside of a loop"):
        to_bytes(replace(looped, nodes=tuple(nodes)))


def test_a_loop_that_is_too_long_is_refused(looped: CkksProgram) -> None:
    nodes = [replace(n, count=1 << 14) if n.op is Op.NEXT else n for n in looped.nodes]
    assert flat_size(nodes, light=True) < MAX_FLAT < flat_size(nodes, light=False)
    long = replace(looped, nodes=tuple(nodes))
    with pytest.raises(ProgramError, match=r"operations with its loops written out, and at most"):
        assert long.unrolled


def test_the_explanation_says_how_often(looped: CkksProgram) -> None:
    text = looped.explain()
    assert " times)" in text
    assert "in a loop, " in text
    assert "nan" not in text


# ---- errors --------------------------------------------------------------------------------------


def growing(x: Any) -> Any:  # noqa: ANN401
    w = x
    for _ in rs.repeat(9):
        w = w + x
    return w


def numbered(x: Any) -> Any:  # noqa: ANN401
    w = x
    for step in rs.repeat(9):
        w = w * (1 / (step + 1))  # type: ignore[operator]
    return w


def large(x: Any) -> Any:  # noqa: ANN401
    w = x
    for _ in rs.repeat(9):
        w = rs.bounded(w * x + 5000 * x, 5000)
    return w


def unchanged(x: Any) -> Any:  # noqa: ANN401
    for _ in rs.repeat(9):
        x + x
    return x


def left(x: Any) -> Any:  # noqa: ANN401
    for _ in rs.repeat(9):
        x = x + x
        break
    return x


def nested(x: Any) -> Any:  # noqa: ANN401
    for _ in rs.repeat(9):
        for _ in rs.repeat(2):
            x = 0.5 * (x + x)
    return x


class _Kept:
    value: Any = None


def hidden(x: Any) -> Any:  # noqa: ANN401
    kept = _Kept()
    w = x
    for _ in rs.repeat(9):
        w = 0.5 * w + 0.5 * x
        kept.value = w * w
    return kept.value


def renamed(x: Any) -> Any:  # noqa: ANN401
    w = 0.5 * x
    for _ in rs.repeat(9):
        w = x
    return w * x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (growing, r"the numbers of w grow, from up to \d+ to \d+ in one repetition: promise"),
        (numbered, "is no number, since its body is recorded once"),
        (large, r"cannot be bootstrapped: numbers may reach 5e\+03, and at most 1024 is allowed"),
        (unchanged, "the loop changes no encrypted value that a local name holds"),
        (left, "was left before its end"),
        (nested, "write for step in range"),
        (hidden, "a value from inside of a loop over repeat is used after it"),
        (renamed, "w becomes another name of x, which does not change"),
        (lambda x: [x for _ in rs.repeat(0)], r"repeat\(0\): give a whole number of times in 1"),
    ],
)
def test_what_is_no_loop_is_refused_at_the_line(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        traced(function, 3, ["x"])
    assert "test_loops.py:" in str(caught.value)
