"""Rotations that share a value's digits, and numbers: the interpreter's bits on the model."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.interpreted import random_inputs, run_both

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.fusion import Fusion
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.graph.subroutines import Cut
from ringsmith.params import KeyShape

DESIGN = replace(
    load_design("nano"), name="shares", log_n=8, rpaus=6, work_polys=24, key_polys=48, constants=128
)
DATA, SPECIAL = (0, 1, 2, 3), 4
ELEMENTS = (1, 3, 5, 511)


def empty(keys: dict[str, int], log_degree: int = 8) -> SubroutineGraph:
    n = 1 << log_degree
    primes = tuple(q for bits in range(42, 47) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    return SubroutineGraph(
        n, primes, roots, (SPECIAL,), {name: KeyShape(digits) for name, digits in keys.items()}
    )


def rotations(*, shared: bool = True, log_degree: int = 8) -> SubroutineGraph:
    """Rotations of one value, each times a weight, added up."""
    graph = empty({f"galois:{element}": len(DATA) for element in ELEMENTS}, log_degree)
    c0, c1 = (graph.input(name, DATA) for name in ("c0", "c1"))
    cut = Cut((1,) * len(DATA), "fast_base_conv", (*DATA, SPECIAL))
    digits = graph.digits(c1, cut) if shared else None
    total = None
    for element in ELEMENTS:
        key = f"galois:{element}"
        if digits is None:
            pair = graph.key_switch(c1, key, cut, (SPECIAL,), element, [c0])
        else:
            pair = graph.mod_down(graph.key_product(digits, key, element, [c0]), SPECIAL)
        weighted = graph.mul(pair, graph.input(f"w{element}", DATA))
        total = weighted if total is None else graph.add(total, weighted)
    for half, value in enumerate(graph.halves(total or 0)):
        graph.output(value, f"y{half}")
    return graph


def names(executable: Executable) -> Counter[str]:
    """How often each operation occurs, counted in RPAUs."""
    found: Counter[str] = Counter()
    for word in executable.words:
        instruction = decode(word)
        found[instruction.operation.name] += instruction.mask.bit_count()
    return found


@pytest.mark.parametrize(
    "shape",
    [
        {"rpaus": 5},
        {"rpaus": 8},
        {"rpaus": 7, "link": True},
        {"rpaus": 2, "modulus_banks": 3},
        {"rpaus": 6, "work_polys": 12, "key_polys": 8},
        {"rpaus": 6, "prng": "trivium", "seeds": 4},
        {"rpaus": 6, "dyadic_cores": 0},
    ],
    ids=str,
)
def test_rotations_that_share_digits_have_the_interpreters_bits(shape: dict[str, int]) -> None:
    run_both(rotations(), replace(DESIGN, **shape), np.random.default_rng(1))


def test_rotations_share_digits_in_a_larger_ring() -> None:
    design = replace(DESIGN, larger_rings=1, work_polys=48)
    run_both(rotations(log_degree=9), design, np.random.default_rng(2), seeded=())


def test_shared_digits_are_transformed_once_and_permuted_for_each_rotation() -> None:
    design = replace(DESIGN, rpaus=5)
    shared, apart = (compile_graph(rotations(shared=each), design) for each in (True, False))
    digits, divisions = 4 * len(DATA), 2 * len(DATA) * len(ELEMENTS)
    assert names(shared)["ntt"] == digits + divisions
    assert names(apart)["ntt"] == len(ELEMENTS) * digits + divisions
    moved = len(ELEMENTS) - 1  # one is by the identity
    assert names(shared)["automorph"] == moved * (len(DATA) * 5 + len(DATA))
    assert shared.cycles < apart.cycles


def test_the_special_prime_of_shared_digits_lies_on_several_rpaus() -> None:
    expanded = expand(rotations())
    _, shared = layouts(expanded, replace(DESIGN, rpaus=8))
    (digits,) = expanded.switches
    assert digits.moved
    places = [shared.slots(digit, (SPECIAL,)) for digit in digits.transformed]
    assert len({slot for (slot,) in places}) > 1
    for product in digits.products:
        assert [shared.slots(digit, (SPECIAL,)) for digit in product.digits] == places


def test_products_with_moved_digits_are_added_up_at_once_and_begin_with_what_is_added() -> None:
    expanded = expand(rotations())
    (digits,) = expanded.switches
    fusion = Fusion.of(expanded, preinitialised=False, eager=True)
    for product in digits.products:
        assert all(digit in fusion.eager for digit in product.digits)
        assert fusion.initial[product.sums[0]].primes == (SPECIAL,)


def test_numbers_multiply_and_add_words_in_one_step_where_that_is_possible() -> None:
    graph, random = empty({}), np.random.default_rng(3)
    a, b = (graph.input(name, DATA) for name in "ab")
    q = np.array([graph.primes[i] for i in DATA], dtype=object)[:, None]
    k, c = (
        [int(x) % int(p) for x, p in zip(random.integers(1 << 62, size=4), q[:, 0], strict=True)]
        for _ in range(2)
    )
    scaled = graph.mul_scalar(a, k)
    graph.output(graph.add_scalar(scaled, c), "both")
    graph.output(graph.add(graph.mul_scalar(b, k), a), "sum")
    kept = graph.mul_scalar(b, k)
    graph.output(kept, "product")
    graph.output(graph.add_scalar(kept, c), "later")
    executable, inputs = compile_graph(graph, DESIGN), random_inputs(graph, random)
    x, y = (inputs[name].astype(object) for name in "ab")
    factor, addend = (np.array(each, dtype=object)[:, None] for each in (k, c))
    found = RpauDevice(ModelCoprocessor(DESIGN)).execute(
        CompiledGraph(graph, executable), inputs, {}
    )
    for name, expected in (
        ("both", x * factor + addend),
        ("sum", y * factor + x),
        ("product", y * factor),
        ("later", y * factor + addend),
    ):
        np.testing.assert_array_equal(found.outputs[name], (expected % q).astype(np.uint64), name)
    assert names(executable)["affine"] == 3 * len(DATA)  # the others are one step
    assert names(executable)["scale_add"] == len(DATA)
