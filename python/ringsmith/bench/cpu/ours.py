"""The ``cpu`` device's operations, ready to be timed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.bench.cpu.sets import COMPACT, HOISTED_COUNT, WORDS, BenchSet
from ringsmith.bench.cpu.timing import Timed, timed
from ringsmith.errors import ToolError
from ringsmith.objects import Residues

ROTATION = 1
"""Steps of the rotation that is measured."""

MOST_KEY_BYTES = 4 << 30
"""Together, keys of several rotations; where they are more, one key stands for all."""


KEY_SEED = bytes(range(10))
"""What half 1 of the compact key is expanded from."""


@dataclass(frozen=True)
class KeyForms:
    """multiply_relinearize by a key in another form, and by the same key prepared.

    Attributes:
        operation: Its name with the other form: ``WORDS`` or ``COMPACT``.
        other: The operation by the other form.
        prepared: The operation by the prepared key.
        other_bytes: Memory that the key takes in the other form.
        prepared_bytes: Memory that the prepared key takes.
    """

    operation: str
    other: Timed
    prepared: Timed
    other_bytes: int
    prepared_bytes: int


def operations(item: BenchSet) -> dict[str, Timed]:
    """Every operation of a set, timed."""
    return {name: timed(function) for name, function in works(item).items()}


def works(item: BenchSet) -> dict[str, Callable[[], Residues]]:
    """Every operation of a set on random residues; kernels take the same time for all.

    Keys are prepared, as peers load theirs into forms of their own. Where several keys would take
    too much memory, one is for both operations, and prepared for no automorphism.
    """
    rng = np.random.default_rng(0)
    data = item.primes[: len(item.data_bits)]
    context = _core.Context(item.n, item.primes, item.special, item.dnum)
    key = _prepared_key(rng, context)
    a, b = (_residues(rng, item.n, data) for _ in range(2))
    element = _core.galois_element(item.n, ROTATION)
    galois_key = _prepared_key(rng, context, element) if _several_fit(key) else key
    if item.plain_modulus:
        scheme = _scheme(item, context)
        return {
            "multiply_relinearize": _multiply_relinearize(item, context, a, b, key),
            "rotate": partial(bfv.apply_galois, scheme, a, element, galois_key),
            "add": partial(_core.add, context, a, b),
        }
    plain = np.ascontiguousarray(b[0])
    return {
        "multiply_relinearize": _multiply_relinearize(item, context, a, b, key),
        "rotate": partial(_core.apply_galois, context, a, element, galois_key),
        "rescale": partial(_core.rescale, context, a),
        "multiply": partial(_core.multiply, context, a, b),
        "multiply_plain": partial(_core.multiply_plain, context, a, plain),
        "add": partial(_core.add, context, a, b),
    }


def _scheme(item: BenchSet, context: _core.Context) -> _core.BfvContext:
    extension = bfv.behz_extension_primes(item.n, context.primes, item.plain_modulus)
    return _core.BfvContext(context, item.plain_modulus, extension)


def _multiply_relinearize(
    item: BenchSet,
    context: _core.Context,
    a: Residues,
    b: Residues,
    key: Residues | _core.CompactKey | _core.PreparedKey,
) -> Callable[[], Residues]:
    if not item.plain_modulus:
        return lambda: _core.relinearize(context, _core.multiply(context, a, b), key)
    scheme = _scheme(item, context)
    return lambda: bfv.relinearize(scheme, bfv.multiply(scheme, a, b), key)


def key_forms(item: BenchSet) -> Iterator[KeyForms]:
    """multiply_relinearize by a key's words and by a compact key, each beside the prepared one.

    One is for use before the next is asked for: only two forms of the key are in memory.

    Raises:
        ToolError: If they compute different words.
    """
    rng = np.random.default_rng(0)
    context = _core.Context(item.n, item.primes, item.special, item.dnum)
    a, b = (_residues(rng, item.n, item.primes[: len(item.data_bits)]) for _ in range(2))
    words = _key(rng, context)
    for digit, limb in np.ndindex(context.dnum, len(context.primes)):
        q = context.primes[limb]
        words[digit, 1, limb] = _core.expand_key_half(KEY_SEED, digit, limb, q, item.n)
    prepared = _core.PreparedKey(context, words)
    by_prepared = _multiply_relinearize(item, context, a, b, prepared)
    expected = by_prepared()

    def beside(operation: str, key: Residues | _core.CompactKey) -> KeyForms:
        by_other = _multiply_relinearize(item, context, a, b, key)
        if not np.array_equal(by_other(), expected):
            raise ToolError(
                f"set {item.name}: {operation} computes other words than by the prepared key"
            )
        return KeyForms(operation, timed(by_other), timed(by_prepared), key.nbytes, prepared.nbytes)

    yield beside(WORDS, words)
    half = words.reshape(-1, *words.shape[2:])[: context.dnum]
    for digit in range(context.dnum):  # moved together in place
        half[digit] = words[digit, 0]
    yield beside(COMPACT, _core.CompactKey(half, KEY_SEED))


def hoisted(item: BenchSet) -> tuple[Timed, Timed]:
    """Several rotations of one ciphertext: hoisted, and one by one, each with a key of its own.

    Where the keys would take too much memory, one rotation and its key stand for all.
    """
    rng = np.random.default_rng(0)
    context = _core.Context(item.n, item.primes, item.special, item.dnum)
    a = _residues(rng, item.n, item.primes[: len(item.data_bits)])
    elements = [_core.galois_element(item.n, step + 1) for step in range(HOISTED_COUNT)]
    keys = [_prepared_key(rng, context, elements[0])]
    if _several_fit(keys[0]):
        keys += [_prepared_key(rng, context, element) for element in elements[1:]]
    else:
        elements, keys = elements[:1] * HOISTED_COUNT, keys * HOISTED_COUNT
    many: Callable[[], object]
    one: Callable[[int, _core.PreparedKey], object]
    if item.plain_modulus:
        scheme = _scheme(item, context)
        many = partial(bfv.apply_galois_many, scheme, a, elements, keys)
        one = partial(bfv.apply_galois, scheme, a)
    else:
        many = partial(_core.apply_galois_many, context, a, elements, keys)
        one = partial(_core.apply_galois, context, a)

    def singles() -> object:
        return [one(element, key) for element, key in zip(elements, keys, strict=True)]

    return timed(many), timed(singles)


def _key(rng: np.random.Generator, context: _core.Context) -> Residues:
    key = np.empty((context.dnum, 2, len(context.primes), context.n), dtype=np.uint64)
    for index, q in enumerate(context.primes):
        key[:, :, index] = rng.integers(0, q, (context.dnum, 2, context.n), dtype=np.uint64)
    return key


def _prepared_key(
    rng: np.random.Generator, context: _core.Context, element: int = 1
) -> _core.PreparedKey:
    return _core.PreparedKey(context, _key(rng, context), element)


def _several_fit(key: _core.PreparedKey) -> bool:
    """Whether there is room for HOISTED_COUNT such keys."""
    return key.nbytes * HOISTED_COUNT <= MOST_KEY_BYTES


def _residues(rng: np.random.Generator, n: int, primes: list[int]) -> Residues:
    """A ciphertext of two polynomials."""
    limbs = [rng.integers(0, q, (2, n), dtype=np.uint64) for q in primes]
    return np.ascontiguousarray(np.stack(limbs, axis=1))


def transforms(n: int, q: int) -> dict[str, Timed]:
    """Both transforms of one limb, in place."""
    tables = _core.Ntt(n, q, _core.smallest_root(q, n))
    limb = np.random.default_rng(0).integers(0, q, n, dtype=np.uint64)
    return {
        "ntt": timed(partial(tables.forward, limb)),
        "intt": timed(partial(tables.inverse, limb)),
    }
