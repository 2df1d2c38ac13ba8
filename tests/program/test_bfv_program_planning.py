"""BFV programs: what is planned, what is refused and where, and what they mean in the clear."""

import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import explain
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import AutoBfvParameters, BfvParameters, CkksParameters, SecurityWarning
from ringsmith.program import (
    BfvProgram,
    EncryptedVector,
    InputSpec,
    Op,
    inner_product,
    matvec,
    polynomial,
    sum_slots,
    trace,
)
from ringsmith.runtime import compile_program

Runner = Callable[..., Any]


@pytest.fixture(scope="module")
def exact() -> BfvParameters:
    """N = 2^10, four primes, t of 20 bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=1024, prime_bits=(40,) * 4, special_bits=41, plain_bits=20, security=None
        )


def check(program: BfvProgram, rng: np.random.Generator, run_exact: Runner) -> dict[str, Any]:
    """Runs a program on random numbers modulo t and returns what was decrypted, checked."""
    t = program.parameters.plain_modulus
    inputs = {name: rng.integers(0, t, length) for name, length in program.lengths.items()}
    run = run_exact(program, inputs)
    expected, slots = program.evaluate(inputs), program.simulate(inputs)
    for name, values in run.decrypted.items():
        assert np.array_equal(values, slots[name])
        assert expected[name].shape == (program.output_lengths[name],)
        assert np.array_equal(values[: expected[name].size], expected[name])
    return {"inputs": inputs, **run.decrypted}


def count(program: BfvProgram) -> Counter[Op]:
    return Counter(node.op for node in program.nodes)


# ---- planning ---------------------------------------------------------------------------------


def test_a_sum_of_products_is_relinearized_once(
    exact: BfvParameters, rng: np.random.Generator, run_exact: Runner
) -> None:
    program = trace(lambda x, y, z: x * y + y * z - 3 * x * z + z, exact, allow_overflow=True)
    assert count(program)[Op.MULTIPLY] == 3
    assert count(program)[Op.RELINEARIZE] == 1
    assert program.key_needs.relin is not None
    check(program, rng, run_exact)


def test_a_product_with_several_users_is_relinearized_once(
    exact: BfvParameters, rng: np.random.Generator, run_exact: Runner
) -> None:
    def function(x: EncryptedVector) -> tuple[EncryptedVector, ...]:
        square = x * x
        return square + x, square.rotate(1), square.swap_columns()

    program = trace(function, exact, allow_overflow=True)
    assert count(program)[Op.RELINEARIZE] == 1
    check(program, rng, run_exact)


def test_what_needs_no_key_asks_for_none(exact: BfvParameters) -> None:
    program = trace(lambda x, y: 2 * x - y + np.arange(1024) * x, exact)
    assert program.key_needs.relin is None
    assert not program.key_needs.galois
    assert not compile_program(program).lowered.graph.extension


def test_primes_are_lost_once_noise_drowns_the_loss(
    rng: np.random.Generator, run_exact: Runner
) -> None:
    program = trace(lambda x: x**8, AutoBfvParameters(plain_bits=20), allow_overflow=True)
    limbs = [node.limbs for node in program.nodes]
    assert limbs[0] == program.parameters.limbs > limbs[-1]
    assert limbs == sorted(limbs, reverse=True)
    before = [program.forecast().budgets[n.operands[0]] for n in switches(program)]
    after = [program.forecast().budgets[n.id] for n in switches(program)]
    assert all(b - a <= 1 for b, a in zip(before, after, strict=True))
    check(program, rng, run_exact)


def switches(program: BfvProgram) -> list[Any]:
    return [node for node in program.nodes if node.op is Op.MOD_SWITCH]


def test_operands_of_different_depth_meet_at_the_fewer_primes(
    rng: np.random.Generator, run_exact: Runner
) -> None:
    program = trace(
        lambda x, y: x**8 * y + y.rotate(3), AutoBfvParameters(plain_bits=20), allow_overflow=True
    )
    nodes = program.nodes
    for node in nodes:
        if node.op in (Op.ADD, Op.MULTIPLY):
            assert len({nodes[i].limbs for i in node.operands}) == 1
    (rotation,) = (node for node in nodes if node.op is Op.ROTATE)
    assert rotation.limbs < program.parameters.limbs  # rotated where it is cheaper
    check(program, rng, run_exact)


def test_a_product_with_a_negative_number_is_negated_and_one_with_one_is_none(
    exact: BfvParameters, rng: np.random.Generator, run_exact: Runner
) -> None:
    t = exact.plain_modulus
    program = trace(lambda x: (x * -3, x * 1, x * (t - 1), 5 - x), exact, allow_overflow=True)
    assert count(program)[Op.MULTIPLY_PLAIN] == 1
    check(program, rng, run_exact)


# ---- meaning ----------------------------------------------------------------------------------


def test_rows_rotate_separately_and_swap(
    exact: BfvParameters, rng: np.random.Generator, run_exact: Runner
) -> None:
    program = trace(
        lambda x: (x.rotate(1), x.rotate(-200), x.swap_columns()), exact, allow_overflow=True
    )
    found = check(program, rng, run_exact)
    x, t = found["inputs"]["x"], exact.plain_modulus
    rows = x.reshape(2, 512)
    assert np.array_equal(found["result0"] % t, np.roll(rows, -1, axis=1).reshape(-1))
    assert np.array_equal(found["result1"] % t, np.roll(rows, 200, axis=1).reshape(-1))
    assert np.array_equal(found["result2"] % t, np.concatenate([x[512:], x[:512]]))


@pytest.mark.parametrize("plain_bits", [14, 31, 32, 60])
def test_the_clear_run_is_exact_for_every_size_of_t(
    plain_bits: int, rng: np.random.Generator, run_exact: Runner
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        parameters = BfvParameters.create(
            n=1024, prime_bits=(50,) * 5, special_bits=50, plain_bits=plain_bits, security=None
        )
    program = trace(lambda x, y: (x - y) * (x + 2**11) * 3 - x, parameters, allow_overflow=True)
    found = check(program, rng, run_exact)
    x, y = (found["inputs"][name].astype(object) for name in "xy")
    expected = ((x - y) * (x + 2**11) * 3 - x) % parameters.plain_modulus
    assert (found["result"] % parameters.plain_modulus == expected).all()


@pytest.mark.parametrize("number", [0, 1])
def test_a_negative_constant_beyond_t_is_refused_and_makes_automatic_parameters_larger(
    exact: BfvParameters, number: int
) -> None:
    t = exact.plain_modulus
    for far in (-t, -t - 5, -3 * t, t, 2 * t):
        with pytest.raises(ProgramError, match=rf"number {far} is outside -\(t - 1\) … t - 1"):
            trace(
                lambda x, far=far: x + np.array([far, number]), exact, {"x": 2}, allow_overflow=True
            )
    trace(lambda x: x + np.array([1 - t, number]), exact, {"x": 2}, allow_overflow=True)
    wish = AutoBfvParameters(plain_bits=20)
    program = trace(lambda x: x + np.array([-(2**23), -number]), wish, {"x": InputSpec(2, bound=1)})
    assert 2**23 <= program.parameters.plain_modulus // 2 < 2**26


def test_helpers_compute_exactly_in_each_row(
    exact: BfvParameters, rng: np.random.Generator, run_exact: Runner
) -> None:
    t = exact.plain_modulus
    matrix = rng.integers(-50, 50, (3, 8))
    program = trace(lambda x: matvec(matrix, x), exact, {"x": 8}, allow_overflow=True)
    found = check(program, rng, run_exact)
    assert np.array_equal(found["result"][:3] % t, matrix @ found["inputs"]["x"] % t)

    program = trace(lambda x: matvec(matrix, x, stride=64), exact, allow_overflow=True)
    found = check(program, rng, run_exact)
    vectors = found["inputs"]["x"].reshape(2, 8, 64)
    products = found["result"].reshape(2, 8, 64)[:, :3]
    assert np.array_equal(products % t, matrix @ vectors % t)

    weights = rng.integers(0, 9, 16)
    program = trace(
        lambda x: inner_product(x, weights, 16, everywhere=True), exact, allow_overflow=True
    )
    found = check(program, rng, run_exact)
    blocks = (found["inputs"]["x"].reshape(-1, 16) @ weights) % t
    assert np.array_equal(found["result"] % t, np.repeat(blocks, 16))

    program = trace(lambda x: sum_slots(x), exact, allow_overflow=True)
    found = check(program, rng, run_exact)
    assert set(found["result"] % t) == {found["inputs"]["x"].sum() % t}  # of both rows, everywhere

    program = trace(lambda x: sum_slots(x, 512), exact, allow_overflow=True)
    found = check(program, rng, run_exact)
    rows = found["inputs"]["x"].reshape(2, 512).sum(axis=1) % t
    assert np.array_equal(found["result"] % t, np.repeat(rows, 512))

    program = trace(lambda x: polynomial(x, [5, 0, -2, 1]), exact, allow_overflow=True)
    found = check(program, rng, run_exact)
    x = found["inputs"]["x"].astype(object)
    assert (found["result"] % t == (5 - 2 * x**2 + x**3) % t).all()


# ---- what is refused ---------------------------------------------------------------------------


def too_deep(x: EncryptedVector) -> EncryptedVector:
    for _ in range(6):
        x = x * x  # the line that is named
    return x


def test_noise_that_runs_out_is_told_at_planning_with_the_line(exact: BfvParameters) -> None:
    with pytest.raises(ProgramError, match="out of noise budget: after this square") as caught:
        trace(too_deep, exact)
    message = str(caught.value)
    line = too_deep.__code__.co_firstlineno + 2
    assert message.startswith(f"{__file__}:{line}: ")
    lacking = re.search(r"lacks (\d+) bits; .* a q of 160 bits in 4 primes and a t of 20", message)
    assert lacking
    assert "add data primes, lower t, or multiply less deeply" in message


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * 0.5, "0.5 (float) is not a whole number: BFV computes exactly"),
        (lambda x: x + np.array([1.0, 2.0]), "is not a whole number"),
        (lambda x: x * (1 << 70), "has more than 64 bits: a program computes modulo t"),
        (lambda x: x + (1 << 20), "1048576 leaves the integers of t = 1038337, -519168 … 519168"),
        (lambda x: x + 519169, "number 519169 leaves the integers of t = 1038337"),
        (lambda x: x * -(1 << 63), f"number {-(1 << 63)} leaves the integers of t"),
        (lambda x: x + np.array([5, -(1 << 63)]), f"number {-(1 << 63)} leaves the integers of t"),
        (lambda x: x * np.uint64((1 << 64) - 1), "does not fit 64 bits with a sign"),
        (lambda x: x * 0, "a product with 0 is 0, whatever was encrypted"),
        (lambda x: x / 2, "not divided: multiply what was decrypted, or by the divisor's inverse"),
        (lambda x: x.conjugate(), "no conjugate: swap_columns() swaps the two rows"),
        (lambda x: x.rotate(512), "rotation by 512 slots, and a row has 512: use -511 … 511"),
        (lambda x: x + np.ones(1025, int), "a vector of 1025 numbers exceeds the 1024 slots"),
        (lambda x: polynomial(x, [0.5, 1]), "not a whole number"),
        (lambda x: sum_slots(x, 1024), "length = 1024 is not a power of two in 1 … 512"),
    ],
)
def test_what_bfv_does_not_do_is_refused_at_the_users_line(
    function: Callable[..., Any], message: str, exact: BfvParameters
) -> None:
    with pytest.raises(ProgramError) as caught:
        trace(function, exact, ["x"])
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


@pytest.mark.parametrize(
    ("function", "number"),
    [
        (lambda x: x + (1 << 20), 1 << 20),
        (lambda x: x + 1038337, 1038337),
        (lambda x: x * -(1 << 63), -(1 << 63)),
        (lambda x: x + np.array([5, -(1 << 63)]), -(1 << 63)),
    ],
)
def test_constants_modulo_t_are_residues(
    function: Callable[..., Any], number: int, exact: BfvParameters
) -> None:
    with pytest.raises(ProgramError) as caught:
        trace(function, exact, ["x"], allow_overflow=True)
    assert f"number {number} is outside -(t - 1) … t - 1 with t = 1038337" in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


def test_what_a_scheme_does_not_have_is_refused(
    exact: BfvParameters, small: CkksParameters
) -> None:
    with pytest.raises(ProgramError, match="a CKKS vector is one row"):
        trace(lambda x: x.swap_columns(), small)
    with pytest.raises(ProgramError, match="BFV has no scales: leave it out"):
        trace(lambda x: x, exact, {"x": InputSpec(scale=2.0**20)})
    with pytest.raises(ProgramError, match="BFV computes modulo t and has no headroom"):
        trace(lambda x: x, exact, headroom_bits=3)  # type: ignore[call-overload]
    with pytest.raises(ProgramError, match="BFV has no rescaling to fuse"):
        trace(lambda x: x, exact, fused_rescale=True)  # type: ignore[call-overload]
    with pytest.raises(ProgramError, match="BFV has no rescaling to delay"):
        trace(lambda x: x, exact, lazy_rescale=False)  # type: ignore[call-overload]
    with pytest.raises(ProgramError, match="rotate_products: BFV has no rescaling to delay"):
        trace(lambda x: x, exact, rotate_products=True)  # type: ignore[call-overload]
    with pytest.raises(ProgramError, match="a fresh BFV encryption has all 4"):
        trace(lambda x: x, exact, {"x": InputSpec(limbs=2)})
    assert trace(lambda x: x, exact, {"x": InputSpec(limbs=4)}).inputs["x"].limbs == 4
    with pytest.raises(ProgramError, match=r"limbs = 5 is not a whole number in 1 … 4"):
        trace(lambda x: x, exact, {"x": InputSpec(limbs=5)})


def test_a_plain_modulus_that_does_not_batch_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        odd = BfvParameters.create(
            n=1024, prime_bits=(40, 40), special_bits=41, plain_modulus=65536, security=None
        )
    with pytest.raises(ProgramError, match=r"on vectors, and plain modulus t = 65536 does not"):
        trace(lambda x: x + 1, odd)


def test_inputs_in_the_clear_must_be_whole_numbers(exact: BfvParameters) -> None:
    program = trace(lambda x: x + 1, exact, {"x": 4})
    assert list(program.evaluate({"x": [-1, 2]})["result"][:3]) == [0, 3, 1]
    residues = {"x": [exact.plain_modulus - 3]}
    modular = trace(lambda x: x + 1, exact, {"x": 4}, allow_overflow=True)
    assert modular.evaluate(residues)["result"][0] == -2
    limit = program.client_kit().inputs["x"].high
    assert limit is not None
    assert exact.plain_modulus / 4 < limit < exact.plain_modulus / 2
    with pytest.raises(
        ProgramError, match=rf"number 0 is 1.03833e\+06, outside its range -{limit:g} …"
    ):
        program.evaluate(residues)
    with pytest.raises(ProgramError, match="not a whole number"):
        program.evaluate({"x": [0.5]})
    with pytest.raises(ProgramError, match="holds 4 numbers and was given 5"):
        program.evaluate({"x": [1] * 5})


# ---- automatic parameters ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "wish"),
    [
        (lambda x: x + 1, AutoBfvParameters(plain_bits=16)),
        (lambda x, y: x * y - 2, AutoBfvParameters(plain_bits=20)),
        (lambda x: x**8, AutoBfvParameters(plain_bits=30, security=192)),
        (lambda x: x**8, AutoBfvParameters(plain_bits=30, standard="2018")),
        (lambda x: x**4, AutoBfvParameters(plain_modulus=65537, margin_bits=20)),
        (lambda x: x**4, AutoBfvParameters(plain_bits=20, max_prime_bits=32)),
    ],
)
def test_chosen_parameters_hold_what_was_asked_and_nothing_smaller_would(
    function: Callable[..., Any], wish: AutoBfvParameters
) -> None:
    program = trace(function, wish)
    parameters = program.parameters
    assert parameters.log_qp <= wish.bounds[parameters.n]
    assert parameters.batching
    assert program.forecast().bits >= wish.margin_bits
    assert max(q.bit_length() for q in parameters.primes) <= wish.max_prime_bits
    if wish.plain_modulus:
        assert parameters.plain_modulus == wish.plain_modulus
    assert f"N = {parameters.n}" in program.choice
    assert program.choice in program.explain()
    bits = sum(q.bit_length() for q in parameters.data_primes)
    carried = wish.bounds
    for n, fewer in [(parameters.n, bits - 2), (parameters.n // 2, None)]:
        if n in carried:
            assert not holds(function, wish, n, fewer or wish.widest(carried[n]), carried[n])


def holds(
    function: Callable[..., Any], wish: AutoBfvParameters, n: int, bits: int, carried: int
) -> bool:
    """Whether a program can be planned, with enough budget, for q of this many bits."""
    try:
        program = trace(function, wish.candidate(n, bits, carried))
    except (ProgramError, ParameterError):
        return False
    return program.forecast().bits >= wish.margin_bits


def test_no_parameters_at_all_is_told_with_what_would_be_needed() -> None:
    with pytest.raises(ProgramError) as caught:
        trace(lambda x: x**64, AutoBfvParameters(plain_bits=40, max_n=8192))
    message = str(caught.value)
    assert "no parameters fit; N = 8192 does not do: " in message
    assert "out of noise budget" in message
    assert "two runs with smaller t give the result modulo their product" in message


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"plain_bits": 20, "plain_modulus": 65537}, "name one of them"),
        ({"plain_bits": 61}, "plain_bits = 61 is outside 12 … 60"),
        ({"plain_bits": 20, "margin_bits": 0}, "margin_bits = 0 is not a number of bits from 1"),
        ({"plain_bits": 20, "multiplication": "fv"}, "multiplication = 'fv' is not one of"),
        ({"plain_bits": 20, "max_prime_bits": 61}, "max_prime_bits = 61 is outside 20 … 60"),
        ({"plain_bits": 20, "security": 80}, "security = 80 is not a level"),
        ({"plain_bits": "20"}, "plain_bits = '20' is no number of its kind"),
    ],
)
def test_an_illegal_wish_is_refused(wish: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        AutoBfvParameters(**wish)
    assert message in str(caught.value)


# ---- explanation --------------------------------------------------------------------------------


def test_the_explanation_prints_the_budget_of_every_value(exact: BfvParameters) -> None:
    program = trace(lambda x, y: (x * y + 7).rotate(2), exact)
    text = explain(program)
    for node in program.nodes:
        budget = program.forecast().budgets[node.id]
        assert re.search(rf"%{node.id}  {re.escape(str(node.op))}\(.* {budget}  .*:\d+", text)
    assert f"t = {exact.plain_modulus}" in text
    assert "results are exact modulo t" in text
    assert f"result: {program.forecast().bits} bits" in text
    assert "add_plain(%2, 7)" in text
    assert "relinearize" in program.describe()
