"""The vector architecture's datapath, block by block, against Python's integers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from ringsmith._core import is_prime
from ringsmith.hdl.block import Block, Words

MakeBlock = Callable[..., Block]

BARRETT, MONTGOMERY = 0, 1


@dataclass(frozen=True)
class Arithmetic:
    """Words and moduli of an array."""

    width: int
    reduction: int
    step_bits: int = 17

    @property
    def factor(self) -> int:
        """What the multiplier divides by: f."""
        return 1 << self.width if self.reduction == MONTGOMERY else 1

    @property
    def parameters(self) -> dict[str, int]:
        return {"Width": self.width, "Reduction": self.reduction, "StepBits": self.step_bits}

    def primes(self, count: int = 3, log_order: int = 0) -> list[int]:
        """Primes of the widest size, and of a bit less, that are 1 modulo a power of two."""
        bits = max(self.step_bits, log_order)
        found: list[int] = []
        for top in (self.width, self.width - 1):
            candidates = range((1 << top) - (1 << bits) + 1, 1 << (top - 1), -(1 << bits))
            found += [q for q, _ in zip(filter(is_prime, candidates), range(count), strict=False)]
        return found

    def modulus(self, q: int) -> dict[str, int]:
        """What enters with operands."""
        bits = q.bit_length()
        return {"q_i": q, "mu_i": (1 << (self.width + bits)) // q - (1 << self.width),
                "shift_i": bits}

    def product(self, a: int, b: int, q: int) -> int:
        return a * b * pow(self.factor, -1, q) % q


ARITHMETICS = [
    Arithmetic(32, MONTGOMERY),
    Arithmetic(30, MONTGOMERY, 13),
    Arithmetic(30, BARRETT),
    Arithmetic(60, BARRETT),
]


def words(values: list[int]) -> Words:
    return np.array(values, dtype=np.uint64)


def columns(rows: list[dict[str, int]]) -> dict[str, Words]:
    return {name: words([row[name] for row in rows]) for name in rows[0]}


def some(rng: np.random.Generator, below: int) -> int:
    """A random number, or one of the edges."""
    if rng.integers(4) == 0:
        return int(rng.choice([0, 1, below // 2, below - 1]))
    return int(rng.integers(0, below, dtype=np.uint64))


def alu_case(
    rng: np.random.Generator, own: Arithmetic, q: int, reduce: bool
) -> tuple[dict[str, int], tuple[int, int]]:
    """One operation: what enters, and both results."""
    mode = rng.choice(["forward", "inverse", "pass", "point", "minus"])
    inverse, combine = mode == "inverse", mode in ("forward", "point", "minus")
    u, t, w = some(rng, q), some(rng, q), some(rng, q)
    if mode != "inverse" and rng.integers(2):
        t = some(rng, 1 << own.width)
    elif mode in ("point", "minus") and rng.integers(2):
        w = some(rng, 1 << own.width)
    if reduce and mode in ("forward", "pass") and rng.integers(2):
        u = some(rng, min(2 * q, 1 << own.width))
    product = own.product(u - t if inverse else t, w, q)
    match mode:
        case "inverse":
            results = u + t, product
        case "pass":
            results = u, -product
        case "minus":
            results = product - u, None
        case _:
            results = u + product, u - product
    entered = ~u & ((1 << own.width) - 1) if mode == "minus" else u
    inputs = {"inverse_i": inverse, "combine_i": combine, "negative_i": mode == "minus"}
    inputs |= {"u_i": entered, "t_i": t, "w_i": w, **own.modulus(q)}
    return inputs, results


@pytest.mark.parametrize("reduce", [0, 1])
@pytest.mark.parametrize("own", ARITHMETICS, ids=str)
def test_an_alu_equals_python_with_another_mode_and_modulus_in_each_cycle(
    make_block: MakeBlock, rng: np.random.Generator, own: Arithmetic, reduce: int
) -> None:
    block = make_block("rs_vector_alu_bench", **own.parameters, Reduce=reduce)
    [latency] = block.peek("latency_o").tolist()
    primes = own.primes()
    cases = [alu_case(rng, own, int(rng.choice(primes)), bool(reduce)) for _ in range(4000)]
    inputs = columns([entered for entered, _ in cases])
    out = block.run(inputs, ["low_o", "high_o"], cycles=len(cases) + latency)
    for (entered, (low, high)), got_low, got_high in zip(
        cases, out["low_o"][latency:].tolist(), out["high_o"][latency:].tolist(), strict=True
    ):
        q = entered["q_i"]
        assert got_low == low % q, entered
        assert high is None or got_high == high % q, entered
