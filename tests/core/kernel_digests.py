"""A fixed computation through every kernel, as one digest a case, for test_kernel_sets.py.

Run as a program under RINGSMITH_KERNEL, with a seed: prints one JSON object, case -> SHA-256.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from itertools import chain, product

import numpy as np

from ringsmith import _core
from ringsmith.objects import Residues

DEGREES = tuple(1 << k for k in range(8, 17))
WIDTHS = (17, 20, 29, 30, 31, 32, 33, 34, 35, 45, 46, 47, 48, 49, 50, 51, 54, 56, 57, 60, 61)
"""Below, at and above the limit of every modulus-size kernel."""

MIXED = (61, 60, 54, 50, 46, 31, 30)
"""Widths of a base whose conversions reduce up, down and within a class."""

NARROW = (31, 30, 30, 29, 24, 32, 31)
"""The same of a base whose divisions fit 32 bits for some pairs of primes."""

NEAR_POWER = {51: 30, 53: 30, 54: 30, 57: 34, 58: 34, 60: 34, 61: 34}
"""Classes take primes of b bits from 2^b - 2^(b - this) on; those beyond are of other classes."""

SETS = (
    ((60, 50, 50, 46, 60), 1, 0),
    ((45,) * 6 + (46, 46), 2, 3),
    ((30, 40, 50, 60, 61, 61), 2, 2),
    ((30, 31) * 4, 2, 3),
    ((24, 31, 30, 60, 24, 31), 1, 0),
    ((33,) * 9 + (32,) * 4, 4, 3),
    ((50,) * 8 + (50,) * 16, 16, 1),
    ((50,) * 4 + (61,) * 4, 4, 1),
    ((49,) * 20 + (49,), 1, 0),
    ((50,) * 20 + (50,), 1, 0),
    ((48,) * 33 + (48,), 1, 0),
    ((30,) * 20 + (30,), 1, 0),
    ((31,) * 6 + (32,) * 13 + (32,), 1, 0),
    ((34,) * 6 + (35,) * 3, 3, 2),
    ((51, 52, 53, 54, 56, 57, 60, 61, 61), 1, 0),
    ((58,) * 20 + (58,), 1, 0),
    ((60,) * 20 + (60,), 1, 0),
    ((61,) * 20 + (61,), 1, 0),
)
"""Of key switching: widths, special primes and digits (0: one each)."""

FAR_SETS = (
    ((51, 52, 53, 54, 54, 56, 57, 60, 61), 1, 0),
    ((51, 52, 53, 54, 54, 56, 60, 61, 61), 3, 2),
)
"""The same for primes far below a power of two."""

DIGITS = 70
"""More than any kernel adds up without a reduction."""


def primes_of(n: int, widths: tuple[int, ...]) -> list[int]:
    """Distinct primes of those widths, the largest of each: closest to every bound."""
    found = {bits: _core.prime_search(bits, n, widths.count(bits)) for bits in set(widths)}
    return [found[bits].pop(0) for bits in widths]


def prime_from(start: int, n: int, step: int) -> int:
    """The first prime that is 1 modulo 2n above ``start``, or at most it for step -1."""
    q = start - (start - 1) % (2 * n) + (2 * n if step > 0 else 0)
    while not _core.is_prime(q):
        q += step * 2 * n
    return q


def far_primes(n: int, widths: tuple[int, ...]) -> list[int]:
    """Distinct primes of those widths, from three quarters of each power of two on."""
    primes: list[int] = []
    for bits in widths:
        start = max((q for q in primes if q.bit_length() == bits), default=3 << (bits - 2))
        primes.append(prime_from(start, n, 1))
    return primes


def transformed_primes(n: int) -> Iterator[int]:
    """The largest primes of all widths, and those next to where classes begin within a width."""
    for bits in WIDTHS:
        if (bits < 24 and n > 4096) or (bits < 20 and n > 1024):
            continue  # too few primes
        yield from primes_of(n, (bits,))
    for bits, near in NEAR_POWER.items():
        limit = (1 << bits) - (1 << (bits - near))
        found = {prime_from(limit, n, 1), prime_from(limit, n, -1), *far_primes(n, (bits,))}
        yield from sorted(q for q in found if q.bit_length() == bits)


def limbs(rng: np.random.Generator, n: int, primes: list[int], kind: str) -> Residues:
    """Residues (limbs, N): random with edges, all zero, all q - 1, or the two alternating."""
    rows = []
    for q in primes:
        row = rng.integers(0, q, n, dtype=np.uint64)
        row[:3] = [0, 1, q - 1]
        if kind == "zero":
            row[:] = 0
        elif kind == "top":
            row[:] = q - 1
        elif kind == "alternating":
            row[::2], row[1::2] = 0, q - 1
        rows.append(row)
    return np.stack(rows)


KINDS = ("random", "zero", "top", "alternating")


def transforms(rng: np.random.Generator) -> Iterator[tuple[str, Residues]]:
    """Both transforms at every degree and width."""
    for n in DEGREES:
        for q in dict.fromkeys(transformed_primes(n)):
            root = _core.smallest_root(q, n)
            for kind in KINDS if n <= 4096 else ("random", "top"):
                row = limbs(rng, n, [q], kind)[0]
                yield f"ntt {n} {q} {kind}", _core.ntt_forward(row, q, root)
                yield f"intt {n} {q} {kind}", _core.ntt_inverse(row, q, root)


def subroutines(
    rng: np.random.Generator, kind: str, widths: tuple[int, ...]
) -> Iterator[tuple[str, Residues]]:
    """Every subroutine that has a kernel, over a base of such primes."""
    n, primes = 256, primes_of(256, widths)
    base = list(range(len(primes)))
    roots = [_core.smallest_root(q, n) for q in primes]
    graph = _core.Graph(n, primes, roots)
    inputs: dict[str, Residues] = {}

    def operand(form: str) -> int:
        name = f"x{len(inputs)}"
        inputs[name] = limbs(rng, n, primes, kind)
        return graph.add_node("input", [], {"name": name, "base": base, "form": form})

    a, b, c = operand("ntt"), operand("ntt"), operand("coeff")
    nodes = {op: graph.add_node(op, [a, b], {}) for op in ("add", "sub", "mul")}
    nodes["neg"] = graph.add_node("neg", [a], {})
    for form, value in (("ntt", a), ("coeff", c)):
        for element in (5, 2 * n - 1):
            node = graph.add_node("automorph", [value], {"element": element})
            nodes[f"automorph {form} {element}"] = node
        for first in range(len(base)):
            for last in range(first + 1, len(base) + 1):
                drop = base[first:last]
                if len(drop) < len(base):
                    attrs = {"drop": drop, "variant": "centred_base_conv"}
                    nodes[f"mod_down {form} {drop}"] = graph.add_node("mod_down", [value], attrs)
    for first in range(len(base)):
        for last in range(first + 1, len(base) + 1):
            digit = base[first:last]
            attrs = {"digit": digit, "base": base, "variant": "fast_base_conv"}
            nodes[f"mod_up {digit}"] = graph.add_node("mod_up", [c], attrs)
    part = graph.add_node("drop_limbs", [a], {"base": base[2:4]})
    attrs = {"digit": base[2:4], "base": base, "variant": "scaled"}
    nodes["mod_up scaled"] = graph.add_node("mod_up", [part], attrs)
    digits = [operand("ntt") for _ in range(DIGITS)]
    for count in (1, 3, 4, 7, 8, 15, 16, DIGITS):
        attrs = {"key": "k", "half": 1, "digits": list(range(count)), "base": base}
        nodes[f"inner {count}"] = graph.add_node("ksk_inner_product", digits[:count], attrs)
    for name, node in nodes.items():
        graph.add_node("output", [node], {"name": name})
    key = np.stack([limbs(rng, n, primes, kind) for _ in range(2 * DIGITS)])
    key = np.ascontiguousarray(key.reshape(DIGITS, 2, len(primes), n))
    for name, words in graph.run(inputs, {"k": key}).items():
        yield f"{name} of {widths}", words


def lift_and_scale(rng: np.random.Generator, kind: str) -> Iterator[tuple[str, Residues]]:
    """Both variants of BFV's base conversions: narrow and wide primes, few and many terms."""
    n = 256
    for small, large in (
        ((30,) * 6, (61,) * 7),
        ((30,) * 9, (30,) * 11),
        ((30,) * 19, (30,) * 21),
        ((32,) * 9, (31,) * 5 + (32,) * 6),
        ((60, 50, 46), (61,) * 4),
        ((50,) * 3, (61, 50, 50, 50, 50)),
        ((45,) * 17, (50,) * 19),
        ((60,) * 17, (61,) * 18),
    ):
        primes = primes_of(n, small + large)
        base, all_primes = list(range(len(small))), list(range(len(primes)))
        roots = [_core.smallest_root(q, n) for q in primes]
        graph = _core.Graph(n, primes, roots, len(large))
        inputs: dict[str, Residues] = {}
        outputs: dict[str, int] = {}
        for name, own in (("small", base), ("large", all_primes)):
            inputs[name] = limbs(rng, n, [primes[i] for i in own], kind)
            node = graph.add_node("input", [], {"name": name, "base": own, "form": "coeff"})
            for variant in ("behz", "hps"):
                lift = {"base": all_primes, "variant": variant}
                scale = {"base": base, "variant": variant, "plain_modulus": 65537}
                result = (
                    graph.add_node("lift", [node], lift)
                    if name == "small"
                    else graph.add_node("scale", [node], scale)
                )
                outputs[f"{variant} {name} of {small} {large}"] = result
        for name, node in outputs.items():
            graph.add_node("output", [node], {"name": name})
        yield from graph.run(inputs, {}).items()


def key_switching(rng: np.random.Generator) -> Iterator[tuple[str, Residues]]:
    """Whole operations: small and large digits, narrow and wide primes, low and high levels."""
    cases = [*product(SETS, (primes_of,)), *product(FAR_SETS, (far_primes,))]
    for (widths, special, dnum), choose in cases:
        n, primes = 1024, choose(1024, widths)
        context = _core.Context(n, primes, special, dnum)
        for level, kind in product((1, 2, context.max_limbs), ("random", "top")):
            key = np.stack([limbs(rng, n, primes, kind) for _ in range(2 * context.dnum)])
            key = np.ascontiguousarray(key.reshape(context.dnum, 2, len(primes), n))
            data = primes[:level]
            a, b = (np.stack([limbs(rng, n, data, kind) for _ in range(2)]) for _ in range(2))
            name = f"{widths} {special} {choose.__name__} {level} {kind}"
            tensor = _core.multiply(context, a, b)
            yield f"multiply {name}", tensor
            yield f"relinearize {name}", _core.relinearize(context, tensor, key)
            yield f"galois {name}", _core.apply_galois(context, a, 2 * n - 1, key)
            hoisted = _core.apply_galois_many(context, a, [3, 5, 2 * n - 1], [key] * 3)
            yield f"hoisted {name}", np.stack(hoisted)
            if level > 1:
                yield f"rescale {name}", _core.rescale(context, tensor)
                fused = _core.relinearize_rescale(context, tensor, key)
                yield f"relinearize_rescale {name}", fused
            by_precomputed = with_precomputed_key(context, tensor, a, key)
            yield from ((f"precomputed {what} {name}", words) for what, words in by_precomputed)


def with_precomputed_key(
    context: _core.Context, tensor: Residues, a: Residues, key: Residues
) -> Iterator[tuple[str, Residues]]:
    """The operations that take a key, by the same key precomputed: the same words."""
    precomputed, elements = _core.PrecomputedKey(context, key), [3, 5, 2 * context.n - 1]
    moved = [_core.PrecomputedKey(context, key, element) for element in elements]
    yield "relinearize", _core.relinearize(context, tensor, precomputed)
    yield "galois", _core.apply_galois(context, a, elements[2], moved[2])
    keys = [moved[0], key, moved[2]]
    yield "hoisted", np.stack(_core.apply_galois_many(context, a, elements, keys))
    if a.shape[1] > 1:
        yield "relinearize_rescale", _core.relinearize_rescale(context, tensor, precomputed)


def expansions(rng: np.random.Generator) -> Iterator[tuple[str, Residues]]:
    """Seeded halves of every width, and what is switched with them."""
    seed = rng.bytes(10)
    for bits in WIDTHS:
        [q] = primes_of(256, (bits,))
        yield f"expand {bits}", _core.expand_key_half(seed, 3, 2, q, 1024)
    n, primes = 1024, primes_of(1024, (60, 45, 50, 61))
    context = _core.Context(n, primes, 1, 0)
    half = np.stack([limbs(rng, n, primes, "random") for _ in range(context.dnum)])
    product = np.stack([limbs(rng, n, primes[:3], "random") for _ in range(3)])
    yield (
        "key expanded on the fly",
        _core.relinearize(context, product, _core.OnTheFlyKey(half, seed)),
    )


def pointwise(rng: np.random.Generator) -> Iterator[tuple[str, Residues]]:
    """Word by word: results that the caches hold, and some that are written past them."""
    for n, widths in ((256, (*MIXED, 34, 48, 60)), (16384, (*MIXED, 34, 48, 60))):
        primes = primes_of(n, widths)
        context = _core.Context(n, primes, 1, 0)
        data = primes[: context.max_limbs]
        a, b = (np.stack([limbs(rng, n, data, "random") for _ in range(2)]) for _ in range(2))
        yield f"add {n}", _core.add(context, a, b)
        yield f"subtract {n}", _core.sub(context, a, b)
        yield f"multiply_plain {n}", _core.multiply_plain(context, a, b[0])


def main() -> None:
    """Computes every case and prints the digests."""
    rng = np.random.default_rng(int(sys.argv[1]))
    cases = [*transforms(rng)]
    for kind in KINDS:
        parts = chain(
            subroutines(rng, kind, MIXED), subroutines(rng, kind, NARROW), lift_and_scale(rng, kind)
        )
        cases += [(f"{name} {kind}", array) for name, array in parts]
    cases += [*key_switching(rng), *expansions(rng), *pointwise(rng)]
    digests = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in cases}
    assert len(digests) == len(cases)
    print(json.dumps({"kernel": _core.kernel_name(), "digests": digests}))


if __name__ == "__main__":
    main()
