"""Centred digits with Montgomery's reduction: the interpreter's bits, by sums of products."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.test_programs import RADIX_16, TWO, check_results, check_schedule

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.hdl.base_conversion import is_centred, lift

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
    """0, D/2 and D - 1 with what lies beside them, and where a residue is 0 or its largest."""
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


def test_a_digit_whose_conversion_rounds_near_the_middle_is_refused() -> None:
    """The interpreter's quotient of wider primes errs near D/2: no sum has its bits."""
    graph = raised(RADIX_16, (30, 30))
    with pytest.raises(
        ProgramError, match=r"no mod_up of variant centred_digit where the digit's "
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
