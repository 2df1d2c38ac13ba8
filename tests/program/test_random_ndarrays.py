"""Random programs on arrays: NumPy, ``evaluate``, ``simulate`` and the CPU device agree.

A step is one function, applied to encrypted arrays and to NumPy's. A program that fails is shrunk
to a few steps by Hypothesis.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ringsmith import compile_program, open_device, trace
from ringsmith.errors import ProgramError
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters, SecurityWarning
from ringsmith.program import CkksProgram, InputSpec, Program
from ringsmith.program.packing import tensors
from ringsmith.schemes.ckks.forecast import error_bound

Array = NDArray[Any]
Value = Any
"""An encrypted array, or NumPy's."""
Draw = Callable[[st.SearchStrategy[Any]], Any]

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64, 100, 300)
MOST_ENTRIES, MOST_AXES, MOST_DEPTH = 4000, 4, 6
BOUND = 3
REASONS = (
    "is zero for all inputs",
    "are the same for all inputs",
    "is the same for all inputs",
    "is used by no output",
    "the matrix is zero",
    "out of noise budget",
    "may reach",
    "overflow: ",
    "is encoded as zero",
)
"""What a program may be refused for: it computes a constant, or more than the parameters hold."""
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Step:
    """One operation: its text, its operands, what it computes, and levels that it may take."""

    text: str
    operands: tuple[int, ...]
    function: Callable[..., Value]
    levels: int = 1

    def __repr__(self) -> str:
        return f"{self.text} of {self.operands}"


@dataclass(frozen=True)
class ArrayProgram:
    """Inputs and steps; the last step's result is the program's."""

    exact: bool
    shapes: dict[str, tuple[int, ...]]
    steps: tuple[Step, ...]
    seed: int

    def compute(self, **arrays: Value) -> Value:
        """The program as users write it, and in NumPy."""
        values = list(arrays.values())
        for step in self.steps:
            values.append(step.function(*(values[i] for i in step.operands)))
        return values[-1]

    def inputs(self) -> dict[str, Array]:
        """Random inputs in their ranges, some at the ends."""
        rng = np.random.default_rng(self.seed)
        if self.exact:
            return {k: rng.integers(-BOUND, BOUND + 1, s) for k, s in self.shapes.items()}
        return {
            k: rng.choice([rng.uniform(-1, 1, s), rng.choice([-1.0, 1.0], s)])
            for k, s in self.shapes.items()
        }


class Maker:
    """Draws steps."""

    def __init__(self, draw: Draw, *, exact: bool) -> None:
        self.draw = draw
        self.exact = exact

    def _numbers(self, *shape: int) -> Array:
        rng = np.random.default_rng(self.draw(seeds))
        return rng.integers(-3, 4, shape) if self.exact else np.round(rng.normal(size=shape), 3)

    def _axis(self, shape: Sequence[int]) -> int:
        return int(self.draw(st.integers(0, max(len(shape) - 1, 0))))

    def step(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        """Returns a step on value a, of a shape, and perhaps on value b."""
        kinds = [self._pair, self._plain, self._number, self._total, self._index, self._moved]
        kinds += [self._joined, self._product, self._plain_product, self._other]
        step: Step = self.draw(st.sampled_from(kinds))(a, b, shape)
        return step

    def _pair(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        name = self.draw(st.sampled_from(["+", "-", "*"]))
        functions: dict[str, Callable[..., Value]] = {
            "+": lambda x, y: x + y,
            "-": lambda x, y: x - y,
            "*": lambda x, y: x * y,
        }
        return Step(name, (a, b), functions[name])

    def _plain(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        start = self.draw(st.integers(0, len(shape)))
        other = [self.draw(st.sampled_from([n, n, 1])) for n in shape[start:]]
        if len(other) < 3 and self.draw(st.booleans()):
            other.insert(0, self.draw(st.integers(1, 3)))
        values = self._numbers(*other)
        if self.draw(st.booleans()):
            return Step(f"* plain {other}", (a,), lambda x: values * x)
        return Step(f"- plain {other}", (a,), lambda x: values - x, 0)

    def _number(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        c = self._numbers().item()
        if self.draw(st.booleans()):
            return Step(f"* {c}", (a,), lambda x: x * c)
        return Step(f"+ {c}", (a,), lambda x: x + c, 0)

    def _total(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        names = ["sum"] if self.exact else ["sum", "mean", "var"]
        name = self.draw(st.sampled_from(names))
        axis = None if self.draw(st.booleans()) else self._axis(shape)
        keep = self.draw(st.booleans())
        levels = {"sum": 1, "mean": 2, "var": 4}[name]
        return Step(
            f"{name} over {axis} {keep}",
            (a,),
            lambda x: getattr(np, name)(x, axis=axis, keepdims=keep),
            levels,
        )

    def _index(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        found: list[Any] = []
        for length in shape:
            start = self.draw(st.integers(0, length - 1))
            stop = self.draw(st.integers(start + 1, length))
            step = self.draw(st.sampled_from([1, 1, 2, 3]))
            chosen = [slice(None), start, slice(start, stop, step), np.array([start, stop - 1])]
            found.append(self.draw(st.sampled_from(chosen[:3] if len(shape) > 1 else chosen)))
        index = tuple(found)
        return Step(f"[{index}]", (a,), lambda x: x[index])

    def _moved(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        axis, size = self._axis(shape), math.prod(shape)
        rows = self.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shift = self.draw(st.integers(-5, 5))
        order = tuple(self.draw(st.permutations(range(len(shape)))))
        ways: dict[str, Callable[[Value], Value]] = {
            f"reshape {rows}": lambda x: x.reshape(rows, -1),
            f"roll {shift} {axis}": lambda x: np.roll(x, shift, axis),
            f"transpose {order}": lambda x: np.transpose(x, order),
            f"flip {axis}": lambda x: np.flip(x, axis),
            f"expand_dims {axis}": lambda x: np.expand_dims(x, axis),
            f"repeat 2 {axis}": lambda x: np.repeat(x, 2, axis),
        }
        text = self.draw(st.sampled_from(sorted(ways)))
        return Step(text, (a,), ways[text])

    def _joined(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        axis = self._axis(shape)
        if self.draw(st.booleans()):
            return Step(f"stack {axis}", (a, b), lambda x, y: np.stack([x, y], axis))
        return Step(f"concatenate {axis}", (a, b), lambda x, y: np.concatenate([x, y], axis))

    def _product(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        name = self.draw(st.sampled_from(["@", "outer", "inner"]))
        functions: dict[str, Callable[..., Value]] = {
            "@": lambda x, y: x @ y,
            "outer": np.outer,
            "inner": np.inner,
        }
        return Step(name, (a, b), functions[name], 3)

    def _plain_product(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        size = self.draw(st.integers(1, 9))
        if self.draw(st.booleans()):
            w = self._numbers(shape[-1] if shape else 1, size)
            return Step(f"@ plain {w.shape}", (a,), lambda x: x @ w, 2)
        w = self._numbers(size, shape[max(-2, -len(shape))] if shape else 1)
        return Step(f"plain {w.shape} @", (a,), lambda x: w @ x, 3)

    def _other(self, a: int, b: int, shape: tuple[int, ...]) -> Step:
        axis, mask = self._axis(shape), self._numbers(*shape) > 0
        ways: dict[str, Callable[..., Value]] = {
            "** 2": lambda x, y: x**2,
            "negative": lambda x, y: -x,
            f"cumsum {axis}": lambda x, y: np.cumsum(x, axis),
            "where": lambda x, y: np.where(mask, x, y),
        }
        text = self.draw(st.sampled_from(sorted(ways)))
        return Step(text, (a, b) if text == "where" else (a, a), ways[text], 2)


@st.composite
def array_programs(draw: Draw, *, exact: bool, most: int = 12) -> ArrayProgram:
    """Programs whose shapes NumPy takes."""
    axes = st.lists(st.sampled_from(LENGTHS), max_size=3).map(tuple)
    shapes = [
        draw(axes.filter(lambda s: math.prod(s) <= 2000)) for _ in range(draw(st.integers(1, 3)))
    ]
    values: list[Array] = [np.zeros(shape) for shape in shapes]
    depths = [0] * len(values)
    steps: list[Step] = []
    maker = Maker(draw, exact=exact)
    for _ in range(draw(st.integers(1, most))):
        a, b = (draw(st.integers(0, len(values) - 1)) for _ in range(2))
        step = maker.step(a, b, values[a].shape)
        try:
            value = np.asarray(step.function(*(values[i] for i in step.operands)))
        except (ValueError, IndexError, TypeError, AttributeError):
            continue
        depth = max(depths[i] for i in step.operands) + step.levels
        if not 0 < value.size <= MOST_ENTRIES or value.ndim > MOST_AXES or depth > MOST_DEPTH:
            continue
        steps.append(step)
        values.append(value)
        depths.append(depth)
    names = [f"x{i}" for i in range(len(shapes))]
    return _pruned(
        ArrayProgram(exact, dict(zip(names, shapes, strict=True)), tuple(steps), draw(seeds))
    )


def _pruned(made: ArrayProgram) -> ArrayProgram:
    """The program without what its result does not depend on."""
    count, reached = len(made.shapes), {len(made.shapes) + len(made.steps) - 1}
    for i in reversed(range(count, count + len(made.steps))):
        if i in reached:
            reached |= set(made.steps[i - count].operands)
    moved = {old: new for new, old in enumerate(sorted(reached))}
    return ArrayProgram(
        made.exact,
        {name: shape for i, (name, shape) in enumerate(made.shapes.items()) if i in reached},
        tuple(
            Step(step.text, tuple(moved[j] for j in step.operands), step.function, step.levels)
            for i, step in enumerate(made.steps, count)
            if i in reached
        ),
        made.seed,
    )


def small(*, exact: bool) -> RlweParameters:
    """Small rings with many levels, or much noise budget."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        if exact:
            return BfvParameters.create(  # larger arrays fill both rows, of 512 slots
                n=1024, prime_bits=[60] * 6, special_bits=60, plain_bits=40, security=None
            )
        return CkksParameters.create(
            n=2048, prime_bits=[60, *[45] * 9], special_bits=60, scale_bits=45, security=None
        )


PARAMETERS = {exact: small(exact=exact) for exact in (False, True)}


def checked(made: ArrayProgram, *, encrypted: bool) -> str:
    """Checks a program; returns ``ran``, or why it is refused."""
    bound = BOUND if made.exact else 1.0
    specs = {name: InputSpec(shape, bound=bound) for name, shape in made.shapes.items()}
    try:
        program = trace(made.compute, PARAMETERS[made.exact], specs)
    except ProgramError as error:
        message = str(error)
        assert message.startswith(__file__), f"no line of the user's: {message}"
        reason = next((each for each in REASONS if each in message), "")
        assert reason, f"refused for another reason: {message}"
        return reason
    inputs = made.inputs()
    expected = np.asarray(made.compute(**inputs))
    size = max(1.0, float(np.abs(expected).max()))
    simulated = tensors(program.packed_outputs, program.simulate(inputs))["result"]
    for found in (program.evaluate(inputs)["result"], simulated):
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= (0 if made.exact else 1e-8 * size)
    if encrypted:
        check_encrypted(program, inputs, expected)
    return "ran"


def check_encrypted(program: Program, inputs: dict[str, Array], expected: Array) -> None:
    """Runs a program on the CPU device: the result is within its forecast."""
    secret, public, keys = program.generate_keys()
    encrypted = program.encrypt(public, inputs)
    try:
        result = compile_program(program).run(open_device("cpu"), encrypted, keys)
    except ProgramError as error:  # x - x by two ways, which is zero for all inputs
        assert "is transparent" in str(error)  # noqa: PT017 - there is no error where it has a value
        return
    found = program.decrypt(secret, result.outputs)["result"]
    allowed = 0.0
    if isinstance(program, CkksProgram):
        allowed = max(each.error for each in program.forecast().outputs.values())
    assert np.abs(found - expected).max() <= allowed


def run(count: int, *, exact: bool, encrypted: int) -> Counter[str]:
    """Checks as many programs, and every ``encrypted``-th of them on the CPU device."""
    reasons: Counter[str] = Counter()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        print_blob=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(array_programs(exact=exact).filter(lambda made: bool(made.steps)))
    def each(made: ArrayProgram) -> None:
        note(f"{made.shapes}, seed {made.seed}: {made.steps}")
        reasons[checked(made, encrypted=made.seed % encrypted == 0)] += 1

    each()
    print(reasons)
    return reasons


@pytest.mark.parametrize("exact", [False, True])
def test_random_array_programs_mean_what_numpy_means(exact: bool) -> None:
    assert run(250, exact=exact, encrypted=25)["ran"] > 100


@pytest.mark.full
@pytest.mark.parametrize("exact", [False, True])
def test_twenty_thousand_random_array_programs_mean_what_numpy_means(exact: bool) -> None:
    assert run(10_000, exact=exact, encrypted=100)["ran"] > 5000


def margins(made: ArrayProgram, runs: int) -> tuple[float, float] | None:
    """Returns how far forecasts are from errors of runs with keys of their own, in bits.

    Returns:
        log2 of the forecast over the largest error, and over as many deviations of the entry with
        the greatest as the forecast is of one slot's; None: the program is refused.
    """
    specs = {name: InputSpec(shape, bound=1.0) for name, shape in made.shapes.items()}
    try:
        program = trace(made.compute, PARAMETERS[False], specs)
        errors = [_errors(program, replace(made, seed=made.seed + i)) for i in range(runs)]
    except ProgramError:
        return None
    forecast = max(each.error for each in program.forecast().outputs.values())
    deviation = float(np.sqrt(np.mean(np.square(errors), axis=0).max()))
    one = error_bound(np.ones(1))
    return math.log2(forecast / np.max(errors)), math.log2(forecast / (one * deviation))


def _errors(program: Program, made: ArrayProgram) -> Array:
    """The errors of one run, flat."""
    secret, public, keys = program.generate_keys()
    inputs = made.inputs()
    encrypted = program.encrypt(public, inputs)
    found = compile_program(program).run(open_device("cpu"), encrypted, keys)
    shown = program.decrypt(secret, found.outputs)["result"]
    return np.abs(np.subtract(shown, program.evaluate(inputs)["result"])).reshape(-1)


@pytest.mark.full
def test_forecasts_are_near_to_the_errors_of_random_array_programs() -> None:
    found: list[tuple[float, float]] = []

    @settings(
        max_examples=250,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(array_programs(exact=False).filter(lambda made: bool(made.steps)))
    def each(made: ArrayProgram) -> None:
        margin = margins(made, 8)
        if margin is not None:
            note(f"{made.shapes}, seed {made.seed}: {made.steps}")
            assert margin[0] >= 0
            found.append(margin)

    each()
    largest, deviations = np.array(found).T
    print(len(found), np.quantile(largest, [0.5, 0.9]), np.quantile(deviations, [0.5, 0.9]))
    assert np.mean(deviations <= 3) >= 0.9
    assert np.mean(largest <= 5) >= 0.9
