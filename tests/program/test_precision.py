"""The precision forecast: it holds against what is decrypted, and is not far off."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval
from numpy.typing import ArrayLike

from ringsmith import compile_program, open_device
from ringsmith.apps.logreg import DEMO, INPUT, OUTPUT, load_records, plan, train
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters, SecurityWarning
from ringsmith.program import (
    EncryptedVector,
    InputSpec,
    OutputForecast,
    Program,
    inner_product,
    matvec,
    polynomial,
    sum_slots,
    trace,
)
from ringsmith.schemes.ckks.forecast import error_bound
from ringsmith.schemes.ckks.grids import MOST_DEGREE, Axes, Curve, Variable
from ringsmith.schemes.ckks.noise import digits_spread, division_spread
from ringsmith.schemes.ckks.spread import (
    MAX_TERMS,
    Kind,
    Source,
    Term,
    Terms,
    add,
    merge,
    new_token,
    rotate,
    variance,
)
from ringsmith.schemes.ckks.values import NO_AXES

Runner = Callable[..., Any]
ONE = np.ones(())
Bounds = Mapping[str, ArrayLike] | float


def margins(
    program: Program,
    inputs: dict[str, np.ndarray[Any, Any]],
    run_encrypted: Runner,
    bounds: Bounds = 1.0,
) -> list[float]:
    """Runs a program and returns log2(forecast error / largest measured error) of each output."""
    expected, meant = program.simulate(inputs), program.evaluate(inputs)
    forecast = program.forecast(bounds)
    assert not forecast.overflows, "the program is to be forecast where it works"
    found = []
    for name, values in run_encrypted(program, inputs).decrypted().items():
        numbers = meant[name]
        shown, clear = values[: numbers.size], expected[name][: numbers.size]
        measured = float(np.abs(shown - clear).max())
        found.append(math.log2(forecast.outputs[name].error / measured))
        assert np.abs(clear).max() <= forecast.outputs[name].bound * (1 + 1e-9)
        assert np.abs(shown - numbers).max() <= forecast.outputs[name].error
    return found


PARAMETERS = [
    (1024, (50, 40, 40, 40, 40), 51, 40),  # key switching outweighs in slot 0
    (1024, (44, 30, 30, 30, 30), 50, 30),  # a wide special prime: rounding outweighs
    (2048, (58, 50, 50, 50), 58, 50),  # no better than double precision in places
    (1024, (40, 25, 25, 25), 40, 25),  # primes far from the scale
]


def unsafe(
    n: int, data: tuple[int, ...], special: int | tuple[int, ...], scale: int, dnum: int = 0
) -> CkksParameters:
    """Parameters far too small to be secure, so that tests are quick."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return CkksParameters.create(
            n=n, prime_bits=data, special_bits=special, scale_bits=scale, dnum=dnum, security=None
        )


def random_program(rng: np.random.Generator, parameters: CkksParameters) -> Program | None:
    """Returns a random program, or None where it drew more levels than there are, or x - x."""
    slots = parameters.slots

    def numbers(a: EncryptedVector) -> int:
        """How many plain numbers a vector is computed with."""
        whole = a.array.numbers == slots  # of what was rotated a product would keep only that many
        return int(rng.integers(1, slots + 1)) if whole else len(a)

    def rotated(a: EncryptedVector) -> EncryptedVector:
        """Rotated by any number of slots that keeps its numbers in their row."""
        return a.rotate(int(rng.integers(1, slots - len(a) % slots)))

    def step(a: EncryptedVector, b: EncryptedVector) -> EncryptedVector:
        if len(a) != len(b) and {len(a), len(b)}.isdisjoint({1, slots}):
            b = a
        length = 1 << int(rng.integers(1, 6))
        weights = rng.uniform(-1, 1, numbers(a))
        entries = length if len(a) == slots else len(a)
        columns = 8 if len(a) == slots else len(a)
        choices: list[Callable[[], EncryptedVector]] = [
            lambda: a + b,
            lambda: a - rotated(b),
            lambda: a * b,
            lambda: -a * a,
            lambda: a * weights + b,
            lambda: weights - a,
            lambda: a * (0.5 + 0.25j),
            lambda: a.conjugate() + b,
            lambda: rotated(a),
            lambda: a.rotate(int(rng.integers(-slots + (len(a) % slots or 1), 0))),
            lambda: a.rotate(1) + b.rotate(1),  # one key for both
            lambda: sum_slots(a, length) / length,
            lambda: sum_slots(a) / len(a),
            lambda: (
                inner_product(a, rng.uniform(-1, 1, entries), 1 << (entries - 1).bit_length()) / 4
            ),
            lambda: polynomial(a, rng.uniform(-1, 1, int(rng.integers(2, 5)))) / 2,
            lambda: matvec(rng.uniform(-1, 1, (4, columns)), a) / 8,
        ]
        return choices[rng.integers(len(choices))]()

    def function(x: EncryptedVector, y: EncryptedVector) -> dict[str, EncryptedVector]:
        values = [x, y, x + y]
        for _ in range(rng.integers(3, 9)):
            a, b = (values[i] for i in rng.integers(len(values), size=2))
            values.append(step(a, b))
        return {"last": values[-1], "other": values[rng.integers(3, len(values))], "start": x + y}

    try:
        fused, lazy, rotates = (bool(rng.integers(2)) for _ in range(3))
        short = int(rng.integers(2, 40))
        return trace(
            function,
            parameters,
            [{"x": None, "y": None}, {"x": short, "y": short}, {"x": short, "y": 1}][
                rng.integers(3)
            ],
            fused_rescale=fused,
            lazy_rescale=lazy,
            rotate_products=rotates,
        )
    except ProgramError as error:
        drawn = ("levels", "needs", "overflow: ", "is the same for all inputs")
        if any(words in str(error) for words in drawn):
            return None
        raise


def test_the_forecast_holds_on_random_programs_and_is_close(
    rng: np.random.Generator, run_encrypted: Runner
) -> None:
    sets = [unsafe(*literal) for literal in PARAMETERS]
    programs, loose = 0, []
    while programs < 44:
        program = random_program(rng, sets[programs % len(sets)])
        if program is None or program.forecast().overflows:
            continue
        programs += 1
        inputs = {name: rng.uniform(-1, 1, size) for name, size in program.lengths.items()}
        found = margins(program, inputs, run_encrypted)
        assert min(found) >= 0, program.explain()
        loose += found
    print(f"forecast / measured: median 2^{np.median(loose):.1f}, most 2^{max(loose):.1f}")
    assert np.median(loose) < 6


def test_the_forecast_holds_on_the_demo() -> None:
    pytest.importorskip("sklearn")
    training, held_out = load_records(DEMO.held_out)
    model = train(training, DEMO)
    program = plan(model, DEMO)
    records = model.preprocessing(held_out.features)
    inputs = {INPUT: records}
    meant, largest = program.evaluate(inputs)[OUTPUT], 0.0
    compiled, cpu = compile_program(program), open_device("cpu")
    for _ in range(4):  # most of it is one number of a key's errors, which may be small
        secret, public, keys = program.generate_keys()
        outputs = compiled.run(cpu, program.encrypt(public, inputs), keys).outputs
        found = program.decrypt(secret, outputs)[OUTPUT]
        largest = max(largest, float(np.abs(found - meant).max()))
    error = program.forecast({INPUT: np.abs(records)}).outputs[OUTPUT].error
    margin = math.log2(error / largest)
    print(f"forecast / measured: 2^{margin:.1f}")
    assert 0 <= margin < 6


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x: x + 0, Kind.ENCRYPTION),
        (lambda x: x.rotate(3), Kind.KEY_OFFSET),
        (lambda x: x * np.linspace(0.5, 1, 100), Kind.RESCALE),
        (lambda x: x**2, Kind.ENCRYPTION),
    ],
)
def test_the_typical_error_is_forecast_within_a_bit(
    function: Callable[..., Any],
    kind: Kind,
    small: CkksParameters,
    rng: np.random.Generator,
    run_encrypted: Runner,
) -> None:
    program = trace(function, small, ["x"])
    x = rng.choice([-1.0, 1.0], small.slots)  # at the bound in every slot
    errors = run_encrypted(program, {"x": x}).decrypted()["result"]
    errors = np.abs(errors - program.evaluate({"x": x})["result"])
    output = program.forecast().outputs["result"]
    squares = errors**2
    squares[squares.argmax()] = np.median(squares)  # one slot may outweigh: its share varies
    ratio = output.rms / math.sqrt(float(squares.mean()))
    assert 0.5 < ratio < (2 if kind is not Kind.KEY_OFFSET else 8)
    assert max(output.shares, key=lambda k: output.shares[k]) in {kind, Kind.ENCRYPTION}


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("dnum", "special"), [(2, (50, 50)), (1, (50, 50, 50)), (2, (60,))])
def test_the_forecast_holds_for_digits_of_several_primes(
    dnum: int,
    special: tuple[int, ...],
    fused: bool,
    rng: np.random.Generator,
    run_encrypted: Runner,
) -> None:
    parameters = unsafe(1024, (48, *(40,) * (2 if dnum == 1 else 3)), special, 40, dnum)
    program = trace(
        lambda x, y: (x * y).rotate(1) + x.rotate(1).conjugate(), parameters, fused_rescale=fused
    )
    inputs = {name: rng.choice([-1.0, 1.0], parameters.slots) for name in program.inputs}
    (margin,) = margins(program, inputs, run_encrypted)
    assert 0 <= margin < 6


@pytest.mark.parametrize(("special", "dnum"), [(50, 0), ((50, 50), 2)])
def test_one_division_for_relinearizing_and_rescaling_rounds_once(
    special: int | tuple[int, ...], dnum: int, run_encrypted: Runner
) -> None:
    """Its special primes round at the scale after it, not before: k + 1 roundings there."""
    parameters = unsafe(1024, (44, 30, 30, 30), special, 30, dnum)
    program = trace(lambda x, y: x * y, parameters, fused_rescale=True)
    (fused,) = (node for node in program.nodes if node.op is Op.RELINEARIZE_RESCALE)
    product = program.nodes[fused.operands[0]]
    output = program.forecast(0.0).outputs["result"]
    divisors = len(parameters.special_primes) + 1
    roundings = math.sqrt(divisors) * division_spread(parameters) / fused.scale
    keys = digits_spread(parameters, product.limbs) / product.scale
    shares = output.shares
    assert shares[Kind.RESCALE] / shares[Kind.KEY_SWITCH] == pytest.approx((roundings / keys) ** 2)
    assert output.rms == pytest.approx(roundings, rel=0.01)
    inputs = {name: np.zeros(parameters.slots) for name in program.inputs}
    (margin,) = margins(program, inputs, run_encrypted, 0.0)
    assert 0 <= margin < 3


def test_slot_0_errs_most_after_a_rotation_because_digits_are_not_centred(
    small: CkksParameters, run_encrypted: Runner
) -> None:
    program = trace(lambda x: x.rotate(5), small)
    output = program.forecast().outputs["result"]
    assert output.slot == 0
    assert output.shares[Kind.KEY_OFFSET] > 0.9
    errors = np.abs(run_encrypted(program, {"x": np.zeros(1)}).decrypted()["result"])
    near, far = np.sort(errors)[-small.slots // 16 :], np.median(errors)
    assert near.max() > 4 * far


def test_rotations_that_share_digits_err_most_where_these_are_rotated_to(
    small: CkksParameters, run_encrypted: Runner
) -> None:
    """An automorphism moves the digits, and with them what their means make of the key's errors."""
    slots = small.slots
    even = np.arange(slots) // 64 % 2 == 0
    program = trace(lambda x: x.rotate(64) * ~even + x.rotate(128) * even, small)
    output = program.forecast().outputs["result"]
    assert output.slot in (slots - 64, slots - 128)
    assert output.shares[Kind.KEY_OFFSET] > 0.9
    errors = np.abs(run_encrypted(program, {"x": np.zeros(1)}).decrypted()["result"])
    assert {slots - 64, slots - 128} <= {*np.argsort(errors)[-8:].tolist()}
    assert errors.max() < output.error


def test_equal_errors_add_up_and_independent_ones_do_not(small: CkksParameters) -> None:
    def error(function: Callable[..., Any]) -> float:
        return trace(function, small).forecast().outputs["result"].rms

    one, two, four = (error(f) for f in (lambda x: x + 0, lambda x, y: x + y, lambda x: x + x))
    assert two == pytest.approx(math.sqrt(2) * one, rel=0.01)
    assert four == pytest.approx(2 * one, rel=0.01)
    assert error(lambda x: x - x + x) == pytest.approx(one, rel=0.01)
    rotated = np.array([1.0, 3.0, 3.0, 3.0])
    source: Source = (Kind.ENCRYPTION, 0)
    terms: Terms = {source: Term(rotated, ONE, new_token())}
    both = add(terms, rotate(terms, 1, 4), NO_AXES)
    assert both[source].deviation(NO_AXES)[1] == pytest.approx(math.sqrt(18))
    twice = add(both, rotate(terms, 1, 4), NO_AXES)
    assert twice[source].deviation(NO_AXES)[1] == pytest.approx(math.sqrt(18) + 3)


def test_a_product_of_complex_numbers_of_too_many_variables_is_forecast(
    small: CkksParameters, run_encrypted: Runner, rng: np.random.Generator
) -> None:
    """What follows knows the product's range only, and not its numbers as a function of inputs."""
    program = trace(lambda x, y, z, w: (x * y * 1j) * (z * w), small)
    inputs = {name: rng.uniform(-1, 1, small.slots) for name in program.inputs}
    (found,) = margins(program, inputs, run_encrypted)
    assert 0 <= found < 8


def test_a_bound_holds_between_the_points_of_the_grid(small: CkksParameters) -> None:
    program = trace(lambda x: x * x + 0.3 * x - 1, small)  # -1.0225 at -0.15, which is no point
    assert 1.0225 <= program.forecast().outputs["result"].bound < 1.0226


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_polynomial_exceeds_its_points_by_no_more_than_the_grid_says(
    count: int, rng: np.random.Generator
) -> None:
    ends = np.ones(())
    axes = Axes(tuple(Variable(i, 0, -ends, ends) for i in range(count)))
    points = [axes.coordinate(variable) for variable in axes.variables]
    between = np.ix_(*[np.linspace(-1, 1, 8 * axes.intervals // count**2 + 1)] * count)
    for degree in range(1, MOST_DEGREE[count] + 1, 8 if count == 1 else 1):
        factors = [np.append(rng.uniform(-1, 1, degree), 1) for _ in range(count)]

        def product(at: Sequence[Curve], factors: list[Curve] = factors) -> Curve:
            return math.prod(chebval(x, factor) for x, factor in zip(at, factors, strict=True))

        shown, found = product(points), product(between)
        most = np.abs(shown).max() * axes.excess(degree) + 1e-12
        assert found.max() <= axes.largest(shown) + most
        assert -found.min() <= axes.largest(-shown) + most


def test_merging_terms_never_lowers_the_error() -> None:
    terms: Terms = {
        (Kind.ENCODING, i): Term(np.full(4, 1.0 + i), ONE, new_token())
        for i in range(3 * MAX_TERMS)
    }
    merged = merge(terms, [], 7, NO_AXES)
    assert len(merged) <= MAX_TERMS
    total = variance(terms.values(), NO_AXES)
    assert variance(merged.values(), NO_AXES) == pytest.approx(total)
    # What became part of the term of small ones is the same error as before.
    doubled = add(merged, terms, NO_AXES)
    assert np.all(variance(doubled.values(), NO_AXES) >= 4 * total * (1 - 1e-9))
    private = [source for source in terms if source[1] in (1, 2)]
    alike = {s: Term(None, terms[s].deviation(NO_AXES)[0], new_token()) for s in private}
    (term,) = merge(alike, private, 8, NO_AXES).values()
    assert term.deviation(NO_AXES) == pytest.approx(math.sqrt(4 + 9))


def test_bounds_of_inputs_scale_the_errors_of_products(small: CkksParameters) -> None:
    program = trace(lambda x, y: x * y, small, {"x": 100, "y": InputSpec(length=100)})

    def forecast(bounds: Bounds) -> OutputForecast:
        return program.forecast(bounds).outputs["result"]

    assert forecast({"x": 4, "y": 2.0}).bound == 8
    assert forecast(4.0).error > 3 * forecast(1.0).error
    assert forecast({"x": np.zeros(3), "y": 0}).error < forecast(1.0).error
    rounding = division_spread(small) / program.outputs["result"].scale
    assert forecast(0.0).rms == pytest.approx(rounding, rel=0.01)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"y": 1}, "bounds were given for ['y']"),
        ({"x": -1}, "bounds no magnitudes"),
        ({"x": np.ones(101)}, "at most 100"),
        (math.nan, "bounds no magnitudes"),
        ("much", "bounds no magnitudes"),
    ],
)
def test_bounds_that_bound_nothing_are_refused(
    bounds: object, message: str, small: CkksParameters
) -> None:
    program = trace(lambda x: x + 1, small, {"x": 100})
    with pytest.raises(ProgramError) as caught:
        program.forecast(bounds)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_messages_that_may_exceed_the_modulus_are_told(small: CkksParameters) -> None:
    program = trace(lambda x: x**16, small)
    assert not program.forecast().overflows
    forecast = program.forecast(2.0)
    assert forecast.overflows
    assert "may exceed its modulus" in program.explain(2.0)


def test_the_error_bound_is_a_quantile_of_products_of_gaussians(rng: np.random.Generator) -> None:
    slots = 256
    bound = error_bound(np.ones(slots))

    real, imaginary = rng.normal(0, math.sqrt(0.5), (2, 2, 4000, slots))
    largest = np.abs(np.prod(real + 1j * imaginary, axis=0)).max(axis=1)
    assert largest.max() < bound < 2 * largest.max()
    assert error_bound(np.array([1.0] + [1e-9] * (slots - 1))) < bound


def sums_of_products(rng: np.random.Generator) -> dict[str, Callable[..., EncryptedVector]]:
    """Programs that add products with plain vectors."""
    w = rng.normal(size=(80, 64)) / 8

    def odd(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return x * w[0] - y * w[1] + x.rotate(3) * w[2]

    def even(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return (x * w[0] + x.rotate(1) * w[1]) - (y * w[2] - y.rotate(2) * w[3])

    def of_equal_vectors(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        return x * w[0] + y * w[0] + x.rotate(5) * w[0] + (x + y) * w[1]

    def of_one_value(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        both = x + x.rotate(1)  # rotations of it hold the same entries of x
        terms = [both.rotate(i) * w[i] for i in range(1, 8)]
        return sum(terms[1:], terms[0]) + y

    def of_products(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        total = x * x * w[0] + (x * y).rotate(2) * w[1] + (y * y) * w[2]
        return total * total

    def long(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        terms = [(x if i % 2 else y).rotate(i % 7) * w[i] for i in range(1, 80)]
        return sum(terms[1:], terms[0])

    square = rng.normal(size=(24, 64))
    return {
        "odd": odd,
        "even": even,
        "equal vectors": of_equal_vectors,
        "one value": of_one_value,
        "products": of_products,
        "long": long,
        "matrix": lambda x, y: matvec(square, x) + matvec(square, y),
    }


@pytest.mark.parametrize("name", list(sums_of_products(np.random.default_rng(0))))
def test_sums_forecast_at_once_are_those_of_one_product_after_another(
    rng: np.random.Generator, name: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        small = CkksParameters.create(
            n=1024, prime_bits=[50, 40, 40, 40], special_bits=51, scale_bits=40, security=None
        )
    specs = {"x": InputSpec(64, bound=2.0), "y": InputSpec(64, bound=(-0.5, 3.0))}
    program = trace(sums_of_products(rng)[name], small, specs)
    each, at_once = (program.forecast(each_node=each_node) for each_node in (True, False))
    for output, other in zip(each.outputs.values(), at_once.outputs.values(), strict=True):
        for part in ("bound", "rms", "error", "spread", "beyond"):
            assert getattr(other, part) == pytest.approx(getattr(output, part), rel=1e-9), part
        assert other.shares == pytest.approx(output.shares, rel=1e-9)
    assert each.overflows == at_once.overflows


def test_the_errors_of_some_nodes_are_those_of_all(rng: np.random.Generator) -> None:
    weights = rng.uniform(-1, 1, (16, 16))
    program = trace(lambda x: (weights @ x) * (weights @ x), "auto", {"x": (16,)})
    every = program.forecast().errors
    last = {node.op: node.id for node in program.nodes}
    some = program.forecast(each_node=frozenset(last.values())).errors
    assert len(some) == len(every)
    for index, error in enumerate(some):
        if index in last.values():
            assert error == pytest.approx(every[index], rel=1e-9)
        else:
            assert math.isnan(error)
