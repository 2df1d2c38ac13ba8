"""Every op of docs/reference/subroutine-graph.md on Python integers.

Nothing here is fast, and nothing comes from Ringsmith's core: so it tells whether the core does
what the page says. A polynomial is a dictionary from prime index to a list of N residues, a pair a
tuple of two, and the digits of a value are a list.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph import SubroutineGraph

Limbs = dict[int, list[int]]
Pair = tuple[Limbs, Limbs]
Value = Limbs | Pair | list[Limbs]
Arrays = Mapping[str, NDArray[np.uint64]]

FRACTION = 89
"""Bits of the fractions by which HPS rounds."""
TILDE = 1 << 32
"""BEHZ's modulus m~."""


def rounded(numerator: int, denominator: int) -> int:
    """The nearest integer, halves up."""
    return (2 * numerator + denominator) // (2 * denominator)


def reverse(index: int, bits: int) -> int:
    """An index with its bits in reversed order."""
    return int(format(index, f"0{bits}b")[::-1], 2)


def ntt(a: Sequence[int], q: int, root: int) -> list[int]:
    """a(root^(2*reverse(i) + 1)) for each i: X^2t - w^2 = (X^t - w)(X^t + w), again and again."""
    n, words = len(a), list(a)
    bits = n.bit_length() - 1
    length, parts = n, 1
    while parts < n:
        length //= 2
        for part in range(parts):
            factor = pow(root, reverse(parts + part, bits), q)
            for j in range(2 * part * length, 2 * part * length + length):
                u, v = words[j], words[j + length] * factor
                words[j], words[j + length] = (u + v) % q, (u - v) % q
        parts *= 2
    return words


def intt(values: Sequence[int], q: int, root: int) -> list[int]:
    """The polynomial that has these values."""
    n, words = len(values), list(values)
    bits = n.bit_length() - 1
    length, parts = 1, n // 2
    while parts:
        for part in range(parts):
            factor = pow(root, -reverse(parts + part, bits), q)
            for j in range(2 * part * length, 2 * part * length + length):
                u, v = words[j], words[j + length]
                words[j], words[j + length] = (u + v) % q, (u - v) * factor % q
        length, parts = 2 * length, parts // 2
    scale = pow(n, -1, q)
    return [word * scale % q for word in words]


class Interpreter:
    """Runs one graph."""

    def __init__(self, graph: SubroutineGraph, inputs: Arrays, keys: Arrays) -> None:
        self.n, self.primes, self.roots = graph.n, graph.primes, graph.roots
        self.inputs, self.keys, self.graph = inputs, keys, graph

    def run(self) -> dict[str, list[list[int]]]:
        """Output name -> limbs."""
        values: list[Any] = []
        outputs = {}
        for node in self.graph.nodes:
            operands = [values[i] for i in node.operands]
            form = self.graph.type_of(node.operands[0]).form if node.operands else None
            if node.op == "output":
                outputs[node.attrs["name"]] = [operands[0][i] for i in sorted(operands[0])]
                values.append({})
            else:
                values.append(self._value(node.op, operands, dict(node.attrs), form == "ntt"))
        return outputs

    def _value(self, op: str, operands: list[Any], attrs: dict[str, Any], in_ntt: bool) -> Value:
        """What a node yields; ops of one polynomial do the same to each half of a pair."""
        step = getattr(self, f"_{op}")
        if op == "half" or not any(isinstance(operand, tuple) for operand in operands):
            return step(operands, attrs, in_ntt)
        first, second = (
            step([x[half] if isinstance(x, tuple) else x for x in operands], attrs, in_ntt)
            for half in (0, 1)
        )
        return first, second

    def _each(self, base: Sequence[int], words: Callable[[int, int], int]) -> Limbs:
        return {i: [words(i, j) % self.primes[i] for j in range(self.n)] for i in base}

    def _input(self, _: list[Limbs], attrs: dict[str, Any], __: bool) -> Limbs:
        data = self.inputs[attrs["name"]].tolist()
        return dict(zip(attrs["base"], data, strict=True))

    def _add(self, ab: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        a, b = ab
        return self._each(list(a), lambda i, j: a[i][j] + b[i][j])

    def _sub(self, ab: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        a, b = ab
        return self._each(list(a), lambda i, j: a[i][j] - b[i][j])

    def _neg(self, only: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        (a,) = only
        return self._each(list(a), lambda i, j: -a[i][j])

    def _mul(self, ab: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        a, b = ab
        return self._each(list(a), lambda i, j: a[i][j] * b[i][j])

    def _ntt(self, only: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        return {i: ntt(a, self.primes[i], self.roots[i]) for i, a in only[0].items()}

    def _intt(self, only: list[Limbs], _: dict[str, Any], __: bool) -> Limbs:
        return {i: intt(a, self.primes[i], self.roots[i]) for i, a in only[0].items()}

    def _automorph(self, only: list[Limbs], attrs: dict[str, Any], in_ntt: bool) -> Limbs:
        if attrs["element"] == 1:
            return only[0]
        element, coefficients = attrs["element"], self._coefficients(only[0], in_ntt)
        result: Limbs = {}
        for i, a in coefficients.items():
            words = [0] * self.n
            for j, word in enumerate(a):
                sign, place = divmod(j * element % (2 * self.n), self.n)
                words[place] = (-word if sign else word) % self.primes[i]
            result[i] = words
        return self._ntt([result], {}, False) if in_ntt else result

    def _mod_up(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        (a,) = only
        base, digit = attrs["base"], attrs["digit"]
        if attrs["variant"] == "scaled":
            factor = prod(self.primes[i] for i in base if i not in digit)
            return self._each(base, lambda i, j: a[i][j] * factor if i in digit else 0)
        if attrs["variant"] == "rns_digit":
            return self._each(base, lambda _, j: a[digit[0]][j])
        if attrs["variant"] == "centred_digit":
            sums = self._lifted({i: a[i] for i in digit})
        else:
            sums = self._converted(a, digit)
        return self._each(base, lambda i, j: a[i][j] if i in digit else sums[j])

    def _ksk_inner_product(self, digits: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        key, half = self.keys[attrs["key"]], attrs["half"]
        limbs = {i: key[attrs["digits"], half, i].tolist() for i in attrs["base"]}
        return self._each(
            attrs["base"],
            lambda i, j: sum(d[i][j] * k[j] for d, k in zip(digits, limbs[i], strict=True)),
        )

    def _mod_down(self, only: list[Limbs], attrs: dict[str, Any], in_ntt: bool) -> Limbs:
        a, drop = self._coefficients(only[0], in_ntt), attrs["drop"]
        divisor = prod(self.primes[i] for i in drop)
        if attrs["variant"] == "rounded":
            half = divisor // 2
            rest = [(word + half) % divisor - half for word in a[drop[0]]]
        else:
            rest = self._converted(a, drop, centred=True)
        kept = [i for i in a if i not in drop]
        inverse = {i: pow(divisor, -1, self.primes[i]) for i in kept}
        result = self._each(kept, lambda i, j: (a[i][j] - rest[j]) * inverse[i])
        return self._ntt([result], {}, False) if in_ntt else result

    def _drop_limbs(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        return {i: only[0][i] for i in attrs["base"]}

    def _lift(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        (a,) = only
        lifted = self._lifted(a) if attrs["variant"] == "hps" else self._montgomery_lifted(a)
        return self._each(attrs["base"], lambda i, j: a[i][j] if i in a else lifted[j])

    def _scale(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        (a,) = only
        base, t = attrs["base"], attrs["plain_modulus"]
        extension = [i for i in a if i not in base]
        q = prod(self.primes[i] for i in base)
        if attrs["variant"] == "hps":
            exact = self._fractions_scaled(a, base, extension, t)
            lifted = self._lifted(exact)
            return self._each(base, lambda _, j: lifted[j])
        times = {i: [t * word % self.primes[i] for word in a[i]] for i in base}
        sums = self._converted(times, base)
        w = self._each(extension, lambda i, j: (t * a[i][j] - sums[j]) * pow(q, -1, self.primes[i]))
        first, *others = extension
        product, m_sk = prod(self.primes[i] for i in others), self.primes[first]
        e = self._converted({i: w[i] for i in others}, others)
        inverse = pow(product, -1, m_sk)
        alpha = [(e[j] - w[first][j]) * inverse % m_sk for j in range(self.n)]
        alpha = [each - m_sk if each > m_sk // 2 else each for each in alpha]
        return self._each(base, lambda _, j: e[j] - alpha[j] * product)

    def _decompose(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        (a,) = only
        q, width = prod(self.primes[i] for i in a), attrs["word_bits"]
        whole = [word % q for word in self._converted(a, list(a))]
        shift, mask = width * attrs["digit"], (1 << width) - 1
        return self._each(attrs["base"], lambda _, j: whole[j] >> shift & mask)

    def _digits(self, only: list[Limbs], attrs: dict[str, Any], in_ntt: bool) -> list[Limbs]:
        a = self._coefficients(only[0], in_ntt)
        return [self._ntt([digit], {}, False) for digit in self._cut(a, attrs)]

    def _cut(self, a: Limbs, attrs: dict[str, Any]) -> Iterator[Limbs]:
        base, variant, primes = attrs["base"], attrs["variant"], iter(sorted(a))
        for number, size in enumerate(attrs["sizes"]):
            if variant == "words":
                word = {"digit": number, "word_bits": size, "base": base}
                yield self._decompose([a], word, False)
            else:
                digit = {"digit": [*islice(primes, size)], "base": base, "variant": variant}
                yield self._mod_up([a], digit, False)

    def _key_product(self, operands: list[Any], attrs: dict[str, Any], _: bool) -> Pair:
        digits, *added = operands
        digits = [self._automorph([digit], attrs, True) for digit in digits]
        return self._sums(digits, attrs, [self._automorph([b], attrs, True) for b in added])

    def _sums(self, digits: list[Limbs], attrs: dict[str, Any], added: list[Limbs]) -> Pair:
        """Digits times a key, plus P times what is added, in NTT form."""
        base, factor = list(digits[0]), 1
        if added:
            factor = prod(self.primes[i] for i in base if i not in added[0])

        def half(which: int) -> Limbs:
            key = {i: self.keys[attrs["key"]][: len(digits), which, i].tolist() for i in base}
            first = added[which] if which < len(added) else {}
            zeros = [0] * self.n
            return self._each(
                base,
                lambda i, j: (
                    sum(d[i][j] * words[j] for d, words in zip(digits, key[i], strict=True))
                    + factor * first.get(i, zeros)[j]
                ),
            )

        return half(0), half(1)

    def _key_switch(self, operands: list[Limbs], attrs: dict[str, Any], in_ntt: bool) -> Pair:
        a, *added = (self._automorph([each], attrs, in_ntt) for each in operands)
        added = added if in_ntt else [self._ntt([b], {}, False) for b in added]
        pair = self._sums(self._digits([a], attrs, in_ntt), attrs, added)
        if attrs["drop"]:
            variant = "rounded" if len(attrs["drop"]) == 1 else "centred_base_conv"
            division = {"drop": attrs["drop"], "variant": variant}
            pair = self._value("mod_down", [pair], division, True)
        return pair if in_ntt else self._value("intt", [pair], {}, True)

    def _half(self, only: list[Pair], attrs: dict[str, Any], _: bool) -> Limbs:
        return only[0][attrs["half"]]

    def _mul_scalar(self, only: list[Limbs], attrs: dict[str, Any], _: bool) -> Limbs:
        (a,) = only
        values = dict(zip(sorted(a), attrs["values"], strict=True))
        return self._each(list(a), lambda i, j: a[i][j] * values[i])

    def _add_scalar(self, only: list[Limbs], attrs: dict[str, Any], in_ntt: bool) -> Limbs:
        (a,) = only
        values = dict(zip(sorted(a), attrs["values"], strict=True))
        return self._each(list(a), lambda i, j: a[i][j] + (values[i] if in_ntt or j == 0 else 0))

    def _coefficients(self, a: Limbs, in_ntt: bool) -> Limbs:
        return self._intt([a], {}, True) if in_ntt else a

    def _parts(self, a: Limbs, base: Sequence[int], factor: int = 1) -> dict[int, list[int]]:
        """y_i = [a_i * factor * (D/d_i)^-1] modulo d_i."""
        whole = prod(self.primes[i] for i in base)
        inverses = {i: pow(whole // self.primes[i], -1, self.primes[i]) * factor for i in base}
        return {i: [w * inverses[i] % self.primes[i] for w in a[i]] for i in base}

    def _converted(self, a: Limbs, base: Sequence[int], *, centred: bool = False) -> list[int]:
        """The integers that the limbs of a base say, but for a small multiple of the product."""
        whole, parts = prod(self.primes[i] for i in base), self._parts(a, base)
        if centred:
            parts = {
                i: [y - self.primes[i] if 2 * y > self.primes[i] else y for y in values]
                for i, values in parts.items()
            }
        return [sum(parts[i][j] * (whole // self.primes[i]) for i in base) for j in range(self.n)]

    def _lifted(self, a: Limbs) -> list[int]:
        """HPS: the centred integers, rounded by fractions."""
        whole, parts = prod(self.primes[i] for i in a), self._parts(a, list(a))
        fractions = {i: rounded(1 << FRACTION, self.primes[i]) for i in a}
        found = []
        for j in range(self.n):
            total = sum(parts[i][j] * fractions[i] for i in a)
            times = total + (1 << FRACTION - 1) >> FRACTION
            found.append(sum(parts[i][j] * (whole // self.primes[i]) for i in a) - times * whole)
        return found

    def _montgomery_lifted(self, a: Limbs) -> list[int]:
        """BEHZ: m~ times the integers, reduced modulo m~ by Montgomery's method."""
        whole, parts = prod(self.primes[i] for i in a), self._parts(a, list(a), TILDE)
        minus = -pow(whole, -1, TILDE)
        found = []
        for j in range(self.n):
            c = sum(parts[i][j] * (whole // self.primes[i]) for i in a)
            r = (c * minus + TILDE // 2) % TILDE - TILDE // 2
            quotient, rest = divmod(c + whole * r, TILDE)
            assert rest == 0
            found.append(quotient)
        return found

    def _fractions_scaled(
        self, a: Limbs, base: Sequence[int], extension: Sequence[int], t: int
    ) -> Limbs:
        """HPS: round(t*a/q) over the extension."""
        q = prod(self.primes[i] for i in base)
        u = {i: t * pow(q // self.primes[i], -1, self.primes[i]) % self.primes[i] for i in base}
        fractions = {i: rounded(u[i] << FRACTION, self.primes[i]) for i in base}
        v = [
            sum(a[i][j] * fractions[i] for i in base) + (1 << FRACTION - 1) >> FRACTION
            for j in range(self.n)
        ]
        result: Limbs = {}
        for e in extension:
            p = self.primes[e]
            scale = t * pow(q, -1, p)
            inverse = {i: u[i] * pow(self.primes[i], -1, p) for i in base}
            result[e] = [
                (scale * a[e][j] - sum(a[i][j] * inverse[i] for i in base) + v[j]) % p
                for j in range(self.n)
            ]
        return result
