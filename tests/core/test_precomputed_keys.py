"""Precomputed keys: the words of the key as it is, bit for bit, and what is refused."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.core.shared import RandomResidues, Shape, context_of

from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.objects import Residues

Key = Residues | _core.PrecomputedKey

N = 256
SHAPES = (
    ((60, 54, 50, 46, 61), 1, 0),
    ((45,) * 18, 1, 0),
    ((30, 31, 32, 33, 34, 40, 41), 1, 0),
    ((30, 45, 50, 60, 54, 61, 61), 2, 3),
    ((32,) * 6 + (32,) * 3, 3, 2),
    ((20, 24, 30), 1, 1),
)

pytestmark = pytest.mark.usefixtures("same_threads_afterwards")


def scheme_of(context: _core.Context) -> _core.BfvContext:
    """For key switching alone: extension primes that the context does not have."""
    found = _core.prime_search(61, context.n, 2 * len(context.primes) + 2)
    extension = [q for q in found if q not in context.primes]
    return _core.BfvContext(context, 257, extension[: len(context.primes) + 2])


def key_of(random_residues: RandomResidues, context: _core.Context) -> Residues:
    return random_residues(context.n, context.primes, context.dnum, 2)


def operations(
    context: _core.Context, limbs: int, random_residues: RandomResidues
) -> list[Callable[[Key], Residues]]:
    """Everything that takes one key, of both schemes, at a level."""
    a, product = (random_residues(context.n, context.primes[:limbs], size) for size in (2, 3))
    scheme, element = scheme_of(context), 2 * context.n - 1
    found: list[Callable[[Key], Residues]] = [
        lambda key: _core.relinearize(context, product, key),
        lambda key: _core.apply_galois(context, a, element, key),
        lambda key: bfv.relinearize(scheme, product, key),
        lambda key: bfv.apply_galois(scheme, a, 3, key),
    ]
    if limbs > 1:
        found.append(lambda key: _core.relinearize_rescale(context, product, key))
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_precomputed_key_computes_the_words_of_the_key(
    shape: Shape, threads: int, random_residues: RandomResidues
) -> None:
    context = context_of(N, shape)
    key = key_of(random_residues, context)
    _core.set_threads(threads)
    precomputed = _core.PrecomputedKey(context, key)
    for limbs in {1, 2, context.max_limbs}:
        for operation in operations(context, limbs, random_residues):
            assert np.array_equal(operation(precomputed), operation(key))


@pytest.mark.parametrize("bits", [30, 45, 60])
def test_parts_of_long_limbs_join(bits: int, random_residues: RandomResidues) -> None:
    context = context_of(1 << 14, ((bits,) * 4, 1, 0))
    key = key_of(random_residues, context)
    precomputed = _core.PrecomputedKey(context, key)
    product = random_residues(context.n, context.primes[:3], 3)
    expected = _core.relinearize(context, product, key)
    assert np.array_equal(_core.relinearize(context, product, precomputed), expected)


def edges(context: _core.Context) -> Residues:
    """A key of residues at the ends and the middle of their range."""
    key = np.empty((context.dnum, 2, len(context.primes), context.n), dtype=np.uint64)
    for limb, q in enumerate(context.primes):
        values = np.array([0, 1, q // 2, q // 2 + 1, q - 1, 2**15, 2**16 - 1], dtype=np.uint64)
        key[:, :, limb] = np.resize(values, (context.dnum, 2, context.n))
    return key


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_residues_at_the_ends_of_their_range_are_kept(
    shape: Shape, random_residues: RandomResidues
) -> None:
    context = context_of(N, shape)
    key = edges(context)
    precomputed = _core.PrecomputedKey(context, key)
    for operation in operations(context, context.max_limbs, random_residues):
        assert np.array_equal(operation(precomputed), operation(key))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("n", [N, 1 << 13])
@pytest.mark.parametrize("shape", SHAPES[::2], ids=str)
def test_rotations_take_every_form_together(
    shape: Shape, n: int, zeros: bool, random_residues: RandomResidues
) -> None:
    """Precomputed for their automorphism, for none and for another, with keys that are not."""
    context = context_of(n, shape)
    elements = [3, 9, 2 * n - 1]
    keys = [key_of(random_residues, context) for _ in elements]
    forms = [
        [
            _core.PrecomputedKey(context, key, e)
            for key, e in zip(keys, precomputed_for, strict=True)
        ]
        for precomputed_for in (elements, [1, 1, 1], [9, 3, 3])
    ]
    half, seed = np.ascontiguousarray(keys[2][:, 0]), bytes(range(10))
    on_the_fly = _core.OnTheFlyKey(half, seed)
    for limbs in {1, context.max_limbs}:
        coefficients = random_residues(n, context.primes[:limbs], 2)
        if zeros:  # such a digit is raised again for each rotation
            coefficients[1, :, 1::5] = 0
        transformed = np.empty_like(coefficients)
        for limb, (q, root) in enumerate(
            list(zip(context.primes, context.roots, strict=True))[:limbs]
        ):
            words = np.ascontiguousarray(coefficients[:, limb])
            transformed[:, limb] = _core.ntt_forward(words, q, root)
        for ours, one, many, a in (
            (context, _core.apply_galois, _core.apply_galois_many, transformed),
            (scheme_of(context), bfv.apply_galois, bfv.apply_galois_many, coefficients),
        ):
            expected = many(ours, a, elements, keys)
            mixed = [forms[0][0], keys[1], forms[1][2]]
            for chosen in (*forms, mixed):
                found = many(ours, a, elements, chosen)
                assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
                for element, key, words in zip(elements, chosen, expected, strict=True):
                    assert np.array_equal(one(ours, a, element, key), words)
            mixed = many(ours, a, elements, [*forms[0][:2], on_the_fly])
            assert all(np.array_equal(x, y) for x, y in zip(mixed[:2], expected[:2], strict=True))


def test_a_key_precomputed_for_an_automorphism_is_the_key(random_residues: RandomResidues) -> None:
    """It relinearizes, too."""
    context = context_of(N, SHAPES[2])
    key = key_of(random_residues, context)
    precomputed = _core.PrecomputedKey(context, key, 2 * N - 3)
    for operation in operations(context, context.max_limbs, random_residues):
        assert np.array_equal(operation(precomputed), operation(key))


@pytest.mark.parametrize("element", [0, 4, 2 * N, 2 * N + 1])
def test_keys_are_precomputed_for_automorphisms_alone(
    element: int, random_residues: RandomResidues
) -> None:
    context = context_of(N, SHAPES[0])
    with pytest.raises(ParameterError, match=f"Galois element {element} is not an odd number"):
        _core.PrecomputedKey(context, key_of(random_residues, context), element)


def test_hoisting_keeps_two_limbs_for_each_prime_of_a_level(
    random_residues: RandomResidues,
) -> None:
    context = context_of(1 << 12, ((60,) * 4, 1, 0))
    keys = [_core.PrecomputedKey(context, key_of(random_residues, context), e) for e in (3, 9)]
    limb = context.n * 8

    def grown(limbs: int, count: int) -> float:
        """Limbs that the first key has grown by."""
        before = keys[0].nbytes
        a = random_residues(context.n, context.primes[:limbs], 2)
        _core.apply_galois_many(context, a, [3, 9][:count], keys[:count])
        return (keys[0].nbytes - before) / limb

    assert grown(3, 1) == 0  # alone it needs nothing
    assert 8 <= grown(3, 2) < 8.2
    assert 6 <= grown(2, 2) < 6.2
    assert grown(3, 2) == grown(2, 2) == 0


def test_keys_of_few_digits_keep_what_hoisting_adds_for_eight_levels(
    random_residues: RandomResidues,
) -> None:
    context = context_of(N, ((40,) * 10 + (41,) * 5, 5, 2))
    elements, words = [3, 9], [key_of(random_residues, context) for _ in range(2)]
    keys = [_core.PrecomputedKey(context, key, e) for key, e in zip(words, elements, strict=True)]
    sizes = []
    for limbs in (10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 1, 9):
        a = random_residues(N, context.primes[:limbs], 2)
        found = _core.apply_galois_many(context, a, elements, keys)
        expected = _core.apply_galois_many(context, a, elements, words)
        assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
        sizes.append(keys[0].nbytes)
    assert sizes[:8] == sorted(set(sizes[:8]))
    assert sizes[7] > sizes[8] > sizes[9]  # two large levels go for two small ones
    assert max(sizes) == sizes[7]


def test_several_threads_use_one_precomputed_key(random_residues: RandomResidues) -> None:
    """Twice in a call, and all at once at the first use of a level."""
    context = context_of(1 << 12, SHAPES[0])
    key = key_of(random_residues, context)
    precomputed = _core.PrecomputedKey(context, key, 3)
    levels = [random_residues(context.n, context.primes[:limbs], 2) for limbs in (4, 3, 2)]
    expected = [_core.apply_galois(context, a, 3, key) for a in levels]

    def rotate(index: int) -> bool:
        found = _core.apply_galois_many(context, levels[index % 3], [3, 3], [precomputed] * 2)
        return all(np.array_equal(words, expected[index % 3]) for words in found)

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert all(pool.map(rotate, range(24)))


def test_it_needs_nothing_of_what_it_was_made_from(random_residues: RandomResidues) -> None:
    context = context_of(N, SHAPES[0])
    key = key_of(random_residues, context)
    product = random_residues(N, context.primes[:2], 3)
    expected = _core.relinearize(context, product, key)
    precomputed = _core.PrecomputedKey(context_of(N, SHAPES[0]), key)
    key[:] = 0
    assert np.array_equal(_core.relinearize(context, product, precomputed), expected)


def test_it_takes_the_memory_of_the_key_or_half(random_residues: RandomResidues) -> None:
    for bits in (30, 60):
        context = context_of(1 << 12, ((bits,) * 5, 1, 0))
        key = key_of(random_residues, context)
        taken = _core.PrecomputedKey(context, key).nbytes
        assert 1 <= taken / key.nbytes < 1.02 or (bits == 30 and 0.5 <= taken / key.nbytes < 0.52)


@pytest.mark.parametrize("halves", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_graphs_take_precomputed_keys(
    shape: Shape,
    halves: tuple[int, ...],
    random_residues: RandomResidues,
    key_sums: Callable[..., _core.Graph],
) -> None:
    context = context_of(N, shape)
    key = key_of(random_residues, context)
    x = {"x": random_residues(N, context.primes[: context.max_limbs])}
    graph = key_sums(context, halves)
    expected = graph.run(x, {"k": key})
    ours = graph.run(x, {"k": _core.PrecomputedKey(context, key)})
    assert expected.keys() == ours.keys()
    assert all(np.array_equal(ours[name], words) for name, words in expected.items())


def test_a_key_precomputed_for_another_context_is_refused(
    random_residues: RandomResidues, key_sums: Callable[..., _core.Graph]
) -> None:
    context = context_of(N, ((50, 50, 50), 1, 0))
    others = [
        context_of(N, ((50, 50, 51), 1, 0)),
        context_of(N, ((50,) * 4, 1, 0)),
        context_of(2 * N, ((50, 50, 50), 1, 0)),
    ]
    product = random_residues(N, context.primes[:2], 3)
    graph, x = key_sums(context, (0,)), {"x": random_residues(N, context.primes[:2])}
    for other in others:
        precomputed = _core.PrecomputedKey(other, key_of(random_residues, other))
        with pytest.raises(ParameterError, match="of another degree or other primes: precompute"):
            _core.relinearize(context, product, precomputed)
        with pytest.raises(ProgramError, match=r"'k' is of [23] digits, and not of the graph's"):
            graph.run(x, {"k": precomputed})
    hybrid = _core.Context(N, context.primes, 1, 1)
    precomputed = _core.PrecomputedKey(hybrid, key_of(random_residues, hybrid))
    with pytest.raises(ParameterError, match="has 1 digits, but the parameters have dnum = 2"):
        _core.relinearize(context, product, precomputed)


def test_a_key_precomputed_for_other_roots_is_refused(random_residues: RandomResidues) -> None:
    context = context_of(N, SHAPES[0])
    precomputed = _core.PrecomputedKey(context, key_of(random_residues, context))
    roots = [pow(root, 3, q) for q, root in zip(context.primes, context.roots, strict=True)]
    graph = _core.Graph(N, context.primes, roots)
    base = list(range(len(context.primes)))
    x = graph.add_node("input", [], {"name": "x", "base": base, "form": "ntt"})
    attributes = {"key": "k", "half": 0, "digits": [0], "base": base}
    graph.add_node("output", [graph.add_node("ksk_inner_product", [x], attributes)], {"name": "y"})
    with pytest.raises(ProgramError, match="not of the graph's degree and primes"):
        graph.run({"x": random_residues(N, context.primes)}, {"k": precomputed})


def test_what_cannot_be_precomputed_is_refused(random_residues: RandomResidues) -> None:
    context = context_of(N, SHAPES[0])
    key = key_of(random_residues, context)
    precomputed = _core.PrecomputedKey(context, key)
    on_the_fly = _core.OnTheFlyKey(np.ascontiguousarray(key[:, 0]), bytes(10))
    damaged = key.copy()
    damaged[2, 1, 3, 77] = context.primes[3]
    q = context.primes[3]
    words = context_of(N, ((50, 50), 0, 0))
    for ours, wrong, message in (
        (context, on_the_fly, "a key expanded on the fly cannot be precomputed"),
        (context, precomputed, "is precomputed already"),
        (context, key[:3].copy(), "has 3 digits, but the parameters have dnum = 4"),
        (context, key[:, :, :4].copy(), "has shape (4, 2, 4, 256)"),
        (words, random_residues(N, words.primes, 3, 2), "the parameters have none"),
        (
            context,
            damaged,
            f"the key-switching key has {q} at position 77 of limb 3, which is not below its "
            f"prime {q}: residues must be canonical",
        ),
    ):
        for threads in (1, 3):
            _core.set_threads(threads)
            with pytest.raises(ParameterError, match=re.escape(message)):
                _core.PrecomputedKey(ours, wrong)


def test_a_precomputed_key_is_no_key_in_words(random_residues: RandomResidues) -> None:
    context = context_of(N, SHAPES[0])
    precomputed = _core.PrecomputedKey(context, key_of(random_residues, context))
    scheme = scheme_of(context)
    product, a = (random_residues(N, context.primes[:2], size) for size in (3, 2))
    error = "a precomputed key is in digits of primes, and words of 30 bits were asked for"
    with pytest.raises(ParameterError, match=error):
        bfv.relinearize(scheme, product, precomputed, 30)
    with pytest.raises(ParameterError, match=error):
        bfv.apply_galois(scheme, a, 3, precomputed, 30)
    with pytest.raises(ParameterError, match=error):
        bfv.apply_galois_many(scheme, a, [3, 9], [precomputed] * 2, 30)
