"""Keys expanded on the fly: b part and seed compute the full key's words in half the memory."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from tests.core.shared import Shape, context_of

from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.errors import ParameterError
from ringsmith.objects import Residues

SEED = bytes(range(10, 20))
OTHER = bytes(range(20, 30))
SHAPES = (
    # bits of the primes, special primes, dnum
    ((60, 54, 54, 60), 1, 0),
    ((45,) * 18, 1, 0),
    ((30, 45, 50, 60, 54, 61, 61), 2, 3),
    ((20, 24, 30), 1, 1),
)


def ciphertext(rng: np.random.Generator, context: _core.Context, size: int, limbs: int) -> Residues:
    rows = [rng.integers(0, q, (size, context.n), dtype=np.uint64) for q in context.primes[:limbs]]
    return np.ascontiguousarray(np.stack(rows, axis=1))


def keys(
    rng: np.random.Generator, context: _core.Context, seed: bytes, digits: int = 0
) -> tuple[Residues, _core.OnTheFlyKey]:
    """A key whose half 1 is the seed's, full and seed-compressed."""
    shape = (digits or context.dnum, 2, len(context.primes), context.n)
    full = np.empty(shape, dtype=np.uint64)
    for limb, q in enumerate(context.primes):
        full[:, 0, limb] = rng.integers(0, q, (shape[0], context.n), dtype=np.uint64)
        for digit in range(shape[0]):
            full[digit, 1, limb] = _core.expand_key_half(seed, digit, limb, q, context.n)
    return full, _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), seed)


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_on_the_fly_key_computes_the_words_of_the_full_key(
    rng: np.random.Generator, shape: Shape, threads: int
) -> None:
    context = context_of(256, shape)
    full, on_the_fly = keys(rng, context, SEED)
    _core.set_threads(threads)
    for limbs in {1, 2, context.max_limbs}:
        a = ciphertext(rng, context, 2, limbs)
        product = ciphertext(rng, context, 3, limbs)
        operations: list[Callable[[Residues | _core.OnTheFlyKey], Residues]] = [
            lambda key, p=product: _core.relinearize(context, p, key),
            lambda key, a=a: _core.apply_galois(context, a, 3, key),
        ]
        if limbs > 1:
            operations.append(lambda key, p=product: _core.relinearize_rescale(context, p, key))
        for operation in operations:
            assert np.array_equal(operation(on_the_fly), operation(full))


@pytest.mark.parametrize("n", [1 << 13, 1 << 14, 1 << 15])
def test_blocks_of_streams_and_parts_of_limbs_join(rng: np.random.Generator, n: int) -> None:
    context = context_of(n, ((50, 45, 60), 1, 0))
    full, on_the_fly = keys(rng, context, SEED)
    product = ciphertext(rng, context, 3, 2)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(_core.relinearize(context, product, on_the_fly), expected)


def test_hoisted_rotations_take_full_and_on_the_fly_keys_together(
    rng: np.random.Generator,
) -> None:
    context = context_of(1 << 14, SHAPES[0])
    first, second = keys(rng, context, SEED), keys(rng, context, OTHER)
    a = ciphertext(rng, context, 2, 3)
    a[1, :, 5] = 0  # a digit with a zero is raised again for each rotation
    elements = [3, 9, 2 * context.n - 1]
    expected = _core.apply_galois_many(context, a, elements, [first[0], second[0], first[0]])
    mixed = _core.apply_galois_many(context, a, elements, [first[1], second[0], first[1]])
    on_the_fly = _core.apply_galois_many(context, a, elements, [first[1], second[1], first[1]])
    for ours in (mixed, on_the_fly):
        assert all(np.array_equal(x, y) for x, y in zip(ours, expected, strict=True))
    assert not np.array_equal(expected[0], expected[2])


@pytest.mark.parametrize("word_bits", [30, 70])
def test_keys_in_words_may_be_expanded_on_the_fly(rng: np.random.Generator, word_bits: int) -> None:
    context = _core.Context(256, _core.prime_search(40, 256, 3), 0, 0)
    extension = bfv.behz_extension_primes(256, context.primes, 257)
    scheme = _core.BfvContext(context, 257, extension)
    full, on_the_fly = keys(rng, context, SEED, context.words(3, word_bits))
    for limbs in (1, 3):
        product = ciphertext(rng, context, 3, limbs)
        expected = bfv.relinearize(scheme, product, full, word_bits)
        assert np.array_equal(bfv.relinearize(scheme, product, on_the_fly, word_bits), expected)
    a = ciphertext(rng, context, 2, 3)
    expected = bfv.apply_galois(scheme, a, 3, full, word_bits)
    assert np.array_equal(bfv.apply_galois(scheme, a, 3, on_the_fly, word_bits), expected)
    many = bfv.apply_galois_many(scheme, a, [3, 9], [on_the_fly, full], word_bits)
    assert np.array_equal(many[0], expected)


def graph_of(context: _core.Context, *, both: bool) -> _core.Graph:
    """Key switching without its division: as one pass, or one half alone, node by node."""
    graph = _core.Graph(context.n, context.primes, context.roots)
    limbs, base = context.max_limbs, list(range(len(context.primes)))
    data = base[:limbs]
    x = graph.add_node("input", [], {"name": "x", "base": data, "form": "coeff"})
    raised = []
    for digit in data:
        up = {"digit": [digit], "base": base, "variant": "rns_digit"}
        raised.append(graph.add_node("ntt", [graph.add_node("mod_up", [x], up)], {}))
    for half in (0, 1) if both else (1,):
        attributes = {"key": "k", "half": half, "digits": data, "base": base}
        product = graph.add_node("ksk_inner_product", raised, attributes)
        graph.add_node("output", [product], {"name": f"y{half}"})
    return graph


@pytest.mark.parametrize("both", [True, False])
def test_graphs_take_on_the_fly_keys(rng: np.random.Generator, both: bool) -> None:
    context = context_of(256, SHAPES[0])
    full, on_the_fly = keys(rng, context, SEED)
    x = {"x": ciphertext(rng, context, 1, context.max_limbs)[0]}
    graph = graph_of(context, both=both)
    expected, ours = graph.run(x, {"k": full}), graph.run(x, {"k": on_the_fly})
    assert expected.keys() == ours.keys()
    assert all(np.array_equal(ours[name], words) for name, words in expected.items())


def test_another_seed_is_another_key(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    full, _ = keys(rng, context, SEED)
    wrong = _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), OTHER)
    product = ciphertext(rng, context, 3, 2)
    ours = _core.relinearize(context, product, wrong)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(ours[0], expected[0])  # half 0 is the same
    assert not np.array_equal(ours[1], expected[1])


def test_a_generated_key_may_be_expanded_on_the_fly(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    own = secret.generate_secret_key_for_test(context, 1)
    full = secret.generate_key_switch_key_for_test(context, own, None, key_seed=SEED, seed=2)
    on_the_fly = _core.OnTheFlyKey(np.ascontiguousarray(full[:, 0]), SEED)
    product = ciphertext(rng, context, 3, 3)
    expected = _core.relinearize(context, product, full)
    assert np.array_equal(_core.relinearize(context, product, on_the_fly), expected)


def test_an_on_the_fly_key_takes_half_the_bytes_and_ten(rng: np.random.Generator) -> None:
    full, on_the_fly = keys(rng, context_of(256, SHAPES[0]), SEED)
    assert on_the_fly.nbytes == full.nbytes // 2 + len(SEED)


def test_what_is_no_on_the_fly_key_is_refused(rng: np.random.Generator) -> None:
    context = context_of(256, SHAPES[0])
    full, _ = keys(rng, context, SEED)
    half = np.ascontiguousarray(full[:, 0])
    product = ciphertext(rng, context, 3, 2)
    with pytest.raises(ParameterError, match="the seed of a key-switching key has 10 bytes"):
        _core.OnTheFlyKey(half, SEED[1:])
    for wrong, message in (
        (full, "half 0 of the key-switching key has shape (3, 2, 4, 256); expected are 3 dim"),
        (half[:, :3].copy(), "shape (3, 3, 256); expected is (digits, 4, 256)"),
        (half[:2].copy(), "has 2 digits, but the parameters have dnum = 3"),
        (half + np.uint64(1 << 61), "position 0 of limb 3, which is not below its prime"),
    ):
        with pytest.raises(ParameterError, match=re.escape(message)):
            _core.relinearize(context, product, _core.OnTheFlyKey(wrong, SEED))
    with pytest.raises(TypeError, match="C-contiguous"):
        _core.relinearize(context, product, _core.OnTheFlyKey(full[:, 0], SEED))
