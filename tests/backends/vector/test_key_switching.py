"""Digits, products of digits with keys, pairs and scalars on vector designs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.test_programs import (
    DESIGNS,
    QUICK_CARD,
    RADIX_16,
    SLOW_CARD,
    TWO,
    WIDE,
    check_results,
    check_schedule,
    parameters,
)

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.lowering import lower
from ringsmith.backends.vector.compiler.tasks import PointTask, Task
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.backends.vector.isa.instructions import Point, Stream, Transform
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.graph.types import Form
from ringsmith.hdl.base_conversion import is_centred, largest_positive, lift
from ringsmith.params import KeyShape

DATA, SPECIAL = (0, 1, 2, 3, 4), (5, 6)
CUT = Cut((2, 2, 1), "fast_base_conv", (*DATA, *SPECIAL))
ELEMENTS = (1, 5, 25, 2047)


def empty(design: VectorDesign, keys: Sequence[str], digits: int = 3) -> SubroutineGraph:
    """A graph over five data primes and two special primes."""
    of = parameters(design, (5, 2, 3))
    return SubroutineGraph.for_parameters(of, dict.fromkeys(keys, KeyShape(digits)))


def check(graph: SubroutineGraph, design: VectorDesign) -> None:
    executable = compile_graph(graph, design)
    check_results(executable)
    check_schedule(executable)


def output_pair(graph: SubroutineGraph, pair: int, name: str) -> None:
    for half, value in enumerate(graph.halves(pair)):
        graph.output(value, f"{name}.{half}")


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("added", [0, 1, 2])
def test_rotations_share_digits(design: VectorDesign, form: Form, added: int) -> None:
    graph = empty(design, [f"k{e}" for e in ELEMENTS])
    a = graph.input("a", DATA, form)
    extras = [graph.input(f"b{i}", DATA) for i in range(added)]
    digits = graph.digits(a, CUT)
    for element in ELEMENTS:
        pair = graph.key_product(digits, f"k{element}", element, extras)
        output_pair(graph, graph.mod_down(pair, SPECIAL), f"y{element}")
    check(graph, design)


def test_shared_digits_are_transformed_once() -> None:
    graph = empty(RADIX_16, [f"k{e}" for e in ELEMENTS])
    digits = graph.digits(graph.input("a", DATA), CUT)
    total = graph.key_product(digits, "k1")
    for element in ELEMENTS[1:]:
        total = graph.add(total, graph.key_product(digits, f"k{element}", element))
    output_pair(graph, total, "y")
    executable = compile_graph(graph, RADIX_16)
    assert executable.transforms == 5 + (3 * 7 - 5)  # inverse; all but each digit's own limbs


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("drop", [(), (5,), SPECIAL, (4, 5, 6)], ids=str)
def test_key_switches_are_the_interpreters(
    design: VectorDesign, form: Form, drop: tuple[int, ...]
) -> None:
    graph = empty(design, ["k"])
    a, *added = (graph.input(name, DATA, form) for name in "abc")
    for count, element in enumerate((1, 3, 2047)):
        pair = graph.key_switch(a, "k", CUT, drop, element, added[:count])
        output_pair(graph, pair, f"y{count}")
    check(graph, design)


@pytest.mark.parametrize("design", [replace(RADIX_16, reduction="barrett"), WIDE], ids=str)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (2, 3)], ids=str)
def test_centred_digits_are_the_interpreters(design: VectorDesign, sizes: tuple[int, ...]) -> None:
    graph = empty(design, ["k"], len(sizes))
    cut = Cut(sizes, "centred_digit", DATA)
    a = graph.input("a", DATA)
    output_pair(graph, graph.key_switch(a, "k", cut, (), 5), "y")
    output_pair(graph, graph.key_product(graph.digits(a, cut), "k", 5), "z")
    check(graph, design)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_pairs_are_two_polynomials(design: VectorDesign) -> None:
    graph = empty(design, ["k"])
    a, b = graph.input("a", DATA), graph.input("b", DATA)
    plain = graph.input("p", CUT.base)
    digits = graph.digits(a, CUT)
    x = graph.key_product(digits, "k", 1, [b])
    y = graph.mul(graph.key_product(digits, "k", 5), plain)
    total = graph.sub(graph.add(x, y), graph.neg(graph.automorph(y, 9)))
    down = graph.drop_limbs(graph.mod_down(total, SPECIAL), DATA[:3])
    few = (0, 1, 2, 5)
    scaled = graph.mod_up_scaled(graph.ntt(graph.intt(down)), few)
    output_pair(graph, graph.mod_down(graph.add(scaled, graph.drop_limbs(total, few)), 5), "y")
    coefficients = graph.intt(total)
    output_pair(graph, graph.automorph(graph.mod_down(coefficients, SPECIAL), 3), "z")
    check(graph, design)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("form", Form)
def test_scalars_are_constants(design: VectorDesign, form: Form) -> None:
    graph = empty(design, ["k"])
    random = np.random.default_rng(5)
    values = [int(random.integers(graph.primes[i])) for i in DATA]
    edges = [0, 1, graph.primes[2] - 1, 2, graph.primes[4] - 2]
    x = graph.input("x", DATA, form)
    graph.output(graph.mul_scalar(x, values), "product")
    graph.output(graph.add_scalar(x, edges), "sum")
    pair = graph.key_switch(x, "k", CUT, SPECIAL)
    output_pair(graph, pair, "pair")
    output_pair(graph, graph.mul_scalar(pair, edges), "multiple")
    executable = compile_graph(graph, design)
    check_schedule(executable)
    inputs, keys = random_operands(graph, random)
    device = BACKEND.open("model", design)
    found = device.execute(CompiledGraph(graph, executable), inputs, keys).outputs
    for limb, (q, value, edge) in enumerate(zip(graph.primes, values, edges, strict=False)):
        given = inputs["x"][limb].astype(object)
        assert (found["product"][limb] == given * value % q).all()
        assert (found["sum"][limb] == (given + edge * constant_one(form, given.size)) % q).all()
        for half in "01":
            switched = found[f"pair.{half}"][limb].astype(object)
            assert (found[f"multiple.{half}"][limb] == switched * edge % q).all()


def constant_one(form: Form, n: int) -> NDArray[np.object_]:
    """The polynomial 1."""
    words = np.full(n, int(form is Form.NTT), dtype=object)
    words[0] = 1
    return words


def test_sums_of_products_with_a_key_are_primitives_too() -> None:
    graph = empty(TWO, ["k"])
    a = graph.input("a", DATA, Form.COEFF)
    raised = [graph.ntt(graph.mod_up(a, digit, CUT.base)) for digit in ((0, 1), (2, 3))]
    for half in (0, 1):
        graph.output(graph.ksk_inner_product(raised, "k", half, (0, 2)), f"y{half}")
    check(graph, TWO)


SLOW = replace(TWO, name="slow", platform=SLOW_CARD)
"""Its memory is what products with keys and plaintexts wait for."""


def transform(design: VectorDesign, babies: int = 4, giants: int = 3) -> SubroutineGraph:
    """A matrix by its diagonals: one division of a half for each giant step, and one of the sum."""
    steps = {f"b{i}": pow(5, i, 2048) for i in range(1, babies)}
    steps |= {f"g{i}": pow(5, babies * i, 2048) for i in range(1, giants)}
    graph = empty(design, tuple(steps))
    x = [graph.input(f"x{half}", DATA) for half in (0, 1)]
    digits = graph.digits(x[1], CUT)
    rotated = [graph.key_product(digits, f"b{i}", steps[f"b{i}"], [x[0]]) for i in range(1, babies)]
    total = None
    for giant in range(giants):
        own = None
        for i, baby in enumerate(rotated):
            product = graph.mul(baby, graph.input(f"p{giant}.{i}", CUT.base))
            own = product if own is None else graph.add(own, product)
        assert own is not None
        if giant:
            first, second = graph.halves(own)
            unmoved = graph.mul(x[1], graph.input(f"p{giant}", DATA))
            cut = graph.digits(graph.add(graph.mod_down(second, SPECIAL), unmoved), CUT)
            own = graph.key_product(cut, f"g{giant}", steps[f"g{giant}"], [first])
        total = own if total is None else graph.add(total, own)
    assert total is not None
    output_pair(graph, graph.mod_down(total, (4, *SPECIAL)), "y")
    return graph


@pytest.mark.parametrize("design", [*DESIGNS, SLOW], ids=lambda design: design.name)
def test_transforms_by_diagonals_are_the_interpreters(design: VectorDesign) -> None:
    check(transform(design), design)


@pytest.mark.parametrize("limbs", [2, 3, 4])
def test_transforms_in_a_scratchpad_that_is_too_small_are_the_interpreters(limbs: int) -> None:
    small = replace(SLOW, name="small", log_n=10, bank_rows=limbs * 64)
    check(transform(small), small)


SMALL = replace(SLOW, name="small", log_n=10, bank_rows=128)
"""Half of its scratchpad has places for the words of one digit of two primes, and not of two."""


def conversions(graph: SubroutineGraph, digit: tuple[int, int]) -> list[Task]:
    """The tasks of ``SMALL`` that convert a digit."""
    tasks = lower(graph, SMALL, Cycles(SMALL, SMALL.shape(10)).together)
    return [
        task
        for task in tasks
        if isinstance(task.action, PointTask)
        and task.action.x.prime in digit
        and not {each.prime for each in task.action.results} & {*digit}
    ]


def test_digits_whose_words_do_not_fit_together_are_converted_before_products_but_the_last() -> (
    None
):
    graph = empty(SMALL, ["k"])
    output_pair(graph, graph.key_product(graph.digits(graph.input("a", DATA), CUT), "k"), "y")
    first, last = (conversions(graph, digit) for digit in ((0, 1), (2, 3)))
    assert {task.step for task in first} == {None}
    assert last
    assert None not in {task.step for task in last}


def test_digits_of_a_giant_step_are_converted_between_products_that_wait_for_memory() -> None:
    between = [task.step is not None for task in conversions(transform(SMALL, giants=2), (0, 1))]
    assert between.count(True) == between.count(False) > 0  # the second ones are of x


def test_plaintexts_are_read_once_where_memory_is_slow() -> None:
    loads = {}
    for design in (replace(TWO, name="quick", platform=QUICK_CARD, ports=2), SLOW):
        programs = compile_graph(transform(design), design).programs
        loads[design.name] = sum(
            load.limb.kind == "input" and "." in load.limb.name
            for own in programs
            for load in own.loads
        )
    plaintexts = 9 * len(CUT.base)
    assert loads["slow"] < 1.4 * plaintexts
    assert loads["quick"] > 1.6 * plaintexts


def test_digits_that_fit_are_made_ahead_of_the_products_of_other_primes() -> None:
    graph = empty(TWO, ["k"])
    output_pair(graph, graph.key_product(graph.digits(graph.input("a", DATA), CUT), "k"), "y")
    (program, _) = compile_graph(graph, TWO).programs
    forward = [
        isinstance(each.operation, Transform) and not each.operation.inverse
        for each in program.computing
    ]
    keyed = [
        isinstance(each.operation, Point)
        and all(isinstance(result.y, Stream) for result in each.operation.results)
        for each in program.computing
    ]
    assert keyed.index(True) < len(forward) - 1 - forward[::-1].index(True)


# ---- Centred digits with Montgomery's reduction: the interpreter's bits, by sums of products -----


N = 1 << 10


def raised(
    design: VectorDesign, bits: tuple[int, ...], others: int = 6, form: Form = Form.COEFF
) -> SubroutineGraph:
    """ModRaise: a digit of primes of these sizes, the rest of the design's widest, to all primes.

    The digit's primes are the first and every second one after it, so that others lie between.
    """
    found = {b: iter(_core.prime_search(b, design.n, bits.count(b))) for b in {*bits}}
    own = [next(found[b]) for b in bits]
    wide = [q for q in _core.prime_search(design.word_bits, design.n, others + 2) if q not in own]
    primes = [q for pair in zip(own, wide, strict=False) for q in pair] + wide[len(own) : others]
    roots = [_core.smallest_root(q, N) for q in primes]
    graph = SubroutineGraph(N, tuple(primes), tuple(roots), (len(primes) - 1,))
    digit = tuple(range(0, 2 * len(own), 2))
    x = graph.input("x", digit, form)
    if form is Form.NTT:
        x = graph.intt(x)
    result = graph.centred_digit(x, digit, range(len(primes)))
    graph.output(graph.ntt(result) if form is Form.NTT else result, "y")
    return graph


def residues(primes: Sequence[int], numbers: Sequence[int]) -> NDArray[np.uint64]:
    """The numbers' residues, a row for each prime."""
    return np.array([[x % q for x in numbers] for q in primes], np.uint64)


def borders(primes: list[int]) -> list[int]:
    """0, D/2 and D - 1 with their neighbours, and where a residue is 0 or its largest."""
    whole = prod(primes)
    near = [at + step for at in (0, whole // 2, whole - 1) for step in range(-3, 4)]
    edges = [
        sum(
            edge * (whole // q) * pow(whole // q, -1, q)
            for edge, q in zip(some, primes, strict=True)
        )
        for some in product(*[(0, 1, q // 2, q // 2 + 1, q - 1) for q in primes])
    ]
    return [each % whole for each in (*near, *edges)]


@pytest.mark.parametrize("design", [RADIX_16, TWO], ids=lambda design: design.name)
@pytest.mark.parametrize(
    "bits", [(25, 25), (29, 29), (20, 32), (32, 20), (25,), (20, 21, 22)], ids=str
)
def test_the_models_words_are_the_interpreters_and_centred(
    design: VectorDesign, bits: tuple[int, ...]
) -> None:
    graph = raised(design, bits)
    executable = compile_graph(graph, design)
    own = [graph.primes[i] for i in graph.nodes[0].type.base]
    rng, whole = np.random.default_rng(7), prod(own)
    numbers = borders(own)
    numbers += [int(rng.integers(whole)) for _ in range(N - len(numbers))]
    inputs = {"x": residues(own, numbers)}
    result = BACKEND.open("model", design).execute(CompiledGraph(graph, executable), inputs, {})
    assert np.array_equal(result.outputs["y"], graph.to_core().run(inputs, {})["y"])
    centred = [x if x <= whole // 2 else x - whole for x in numbers]
    assert np.array_equal(result.outputs["y"], residues(graph.primes, centred))
    assert executable.moduli == graph.primes


@pytest.mark.parametrize("design", [RADIX_16, TWO], ids=lambda design: design.name)
def test_a_digit_from_ntt_form_is_the_interpreters(design: VectorDesign) -> None:
    executable = compile_graph(raised(design, (25, 25), form=Form.NTT), design)
    check_results(executable)
    check_schedule(executable)


@pytest.mark.parametrize("bits", [(30, 30), (31, 31)], ids=str)
def test_wider_digits_are_the_interpreters_beside_the_middle(bits: tuple[int, int]) -> None:
    graph = raised(RADIX_16, bits)
    own = [graph.primes[i] for i in graph.nodes[0].type.base]
    middle = prod(own) // 2
    inputs = {"x": residues(own, list(range(middle - N // 2, middle + N // 2)))}
    compiled = CompiledGraph(graph, compile_graph(graph, RADIX_16))
    found = BACKEND.open("model", RADIX_16).execute(compiled, inputs, {}).outputs["y"]
    assert np.array_equal(found, graph.to_core().run(inputs, {})["y"])


def test_a_digit_whose_conversion_rounds_near_the_middle_is_refused() -> None:
    """The interpreter's quotient of wider primes errs near D/2: no sum has its bits."""
    graph = raised(RADIX_16, (32, 32))
    with pytest.raises(
        ProgramError, match=r"no mod_up of variant centred_digit, whose quotient of 89 bits errs"
    ):
        compile_graph(graph, RADIX_16)
    barrett = replace(RADIX_16, name="barrett", reduction=BARRETT)
    check_results(compile_graph(graph, barrett))


@pytest.mark.parametrize(
    ("bits", "centred"),
    [((29, 29), True), ((44,), True), ((20, 21, 22), True), ((31, 31), False), ((60,), False)],
    ids=str,
)
def test_the_limit_is_where_the_quotient_begins_to_err(
    bits: tuple[int, ...], centred: bool
) -> None:
    primes = [_core.prime_search(b, N, len(bits))[i] for i, b in enumerate(bits)]
    whole, p = prod(primes), 65537
    wrong = []
    for x in range(whole // 2 - 500, whole // 2 + 501):
        [found] = lift(primes, [p]).apply([x % q for q in primes])
        assert found in {x % p, (x - whole) % p}
        if found != (x - whole * (x > whole // 2)) % p:
            wrong.append(x)
    assert is_centred(primes) == centred
    assert (not wrong) == centred


def test_two_primes_of_thirty_bits_have_a_largest_positive_integer_or_none() -> None:
    """Some have (D-1)/2, some an integer next to it, and few neither."""
    found = set[int | None]()
    for primes in pairwise(_core.prime_search(30, N, 60)):
        whole, p = prod(primes), 65537
        most = largest_positive(primes)
        found.add(None if most is None else most - whole // 2)
        integers = range(whole // 2 - 20, whole // 2 + 21)
        stay = [lift(primes, [p]).apply([x % q for q in primes]) == [x % p] for x in integers]
        assert (most is not None) == (stay == sorted(stay, reverse=True))
        if most is not None:
            assert stay == [x <= most for x in integers]
    assert {-1, 0, 1} <= found
