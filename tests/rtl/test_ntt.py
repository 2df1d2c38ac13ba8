"""The complete NTT, ``rs_ntt``, against its definition in Python's integers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tests.rtl.package_values import elaborated

from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.verilate import build_block

STORED, GENERATED = 1, 0
PRIMES = {30: (998_244_353, 3), 60: (1_152_921_504_606_830_593, 5)}
"""Width -> a prime that is 1 modulo 2^14, and an element that is no square modulo it."""
READ = 4  # rs_ntt_pkg::memory_read_latency()


def brev(number: int, bits: int) -> int:
    """A number with its bits reversed."""
    return int(f"{number:0{bits}b}"[::-1], 2)


class Ring:
    """X^N + 1 modulo a prime of a width, and the root that transforms take."""

    def __init__(self, log_n: int, width: int, power: int = 1) -> None:
        self.log_n, self.n, self.width = log_n, 1 << log_n, width
        self.q, element = PRIMES[width]
        self.psi = pow(element, power * (self.q - 1) // (2 * self.n), self.q)
        assert pow(self.psi, self.n, self.q) == self.q - 1

    def values(self, polynomial: list[int]) -> list[int]:
        """The forward transform by its definition."""
        powers = [pow(self.psi, e, self.q) for e in range(2 * self.n)]
        points = [2 * brev(j, self.log_n) + 1 for j in range(self.n)]
        return [
            sum(a * powers[i * x % (2 * self.n)] for i, a in enumerate(polynomial)) % self.q
            for x in points
        ]


class Unit:
    """An ``rs_ntt`` at its ports."""

    def __init__(self, block: Block, ring: Ring, cores: int) -> None:
        self.block, self.ring, self.lanes = block, ring, 2 * cores
        bits = ring.q.bit_length()
        for name in block.inputs:
            block.poke(name, np.zeros(block.ports[name].lanes, np.uint64))
        self.poke(q_i=ring.q, mu_i=(1 << (ring.width + bits)) // ring.q - (1 << ring.width))
        self.poke(shift_i=bits)
        block.step(64)
        self.poke(rst_ni=1)

    def poke(self, **values: int) -> None:
        """Sets inputs."""
        for name, value in values.items():
            self.block.poke(name, value)

    def step(self) -> None:
        """One cycle; inputs have settled before its edge."""
        self.block.eval()
        self.block.step()

    def load(self, which: str, words: list[int], number: int) -> None:
        """Writes a table of factors of a prime."""
        self.poke(**{which: 1, "wset_i": number})
        for address, word in enumerate(words):
            self.poke(waddr_i=address, wdata_i=word)
            self.step()
        self.poke(**{which: 0})

    def load_factors(self, ring: Ring, twiddles: int, number: int) -> None:
        """Writes the tables of a prime."""
        powers = [pow(ring.psi, e, ring.q) for e in range(ring.n)]
        low = (ring.log_n + 1) // 2
        if twiddles == STORED:
            stored = [powers[brev(j, ring.log_n)] for j in range(ring.n)]
            self.load("factor_we_i", stored, number)
        else:
            self.load("lo_we_i", powers[: 1 << low], number)
            self.load("hi_we_i", powers[:: 1 << low], number)

    def write(self, polynomial: list[int]) -> None:
        """Writes all rows."""
        self.poke(we_i=1)
        for row in range(len(polynomial) // self.lanes):
            words = polynomial[row * self.lanes : (row + 1) * self.lanes]
            self.poke(row_i=row)
            self.block.poke("word_i", np.array(words, np.uint64))
            self.step()
        self.poke(we_i=0)

    def read(self) -> list[int]:
        """Reads all rows, one a cycle."""
        found: list[int] = []
        rows = self.ring.n // self.lanes
        for cycle in range(rows + READ):
            self.poke(re_i=int(cycle < rows), row_i=cycle % rows)
            if cycle >= READ:
                self.block.eval()
                found += [int(word) for word in self.block.peek("word_o")]
            self.step()
        self.poke(re_i=0)
        return found

    def transform(self, inverse: bool, number: int) -> int:
        """One transform; the cycles from ``start_i`` to ``done_o``."""
        self.poke(start_i=1, inverse_i=int(inverse), set_i=number)
        self.step()
        self.poke(start_i=0)
        cycles = 1
        while not self.block.peek("done_o")[0]:
            assert self.block.peek("busy_o")[0], cycles
            self.step()
            cycles += 1
            assert cycles < 100_000
        assert not self.block.peek("busy_o")[0]
        return cycles


@contextmanager
def built(values: dict[str, int]) -> Iterator[Block]:
    """The unit, compiled for some values of its parameters; it stops where an assertion fails."""
    library = build_block("rs_ntt", rtl_sources("mem", "arith", "ntt"), values, assertions=True)
    with Block(library) as block:
        yield block


def test_the_page_has_the_latencies_of_the_package() -> None:
    page = (rtl_root() / "ntt" / "README.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \|$", page, re.M)
    assert len(rows) > 3
    asked = [
        f"rs_ntt_pkg::transform_latency({STORED}, 0, {int(n).bit_length() - 1}, {cores})"
        for n, cores, _ in rows
    ]
    assert elaborated(asked) == [int(cycles) for *_, cycles in rows]


@pytest.mark.parametrize(
    ("log_n", "cores", "width", "twiddles", "sets"),
    [
        (6, 2, 30, STORED, 1),
        (7, 4, 30, GENERATED, 2),
        pytest.param(3, 1, 30, STORED, 3, marks=pytest.mark.full),
        pytest.param(4, 1, 30, GENERATED, 1, marks=pytest.mark.full),
        pytest.param(6, 16, 60, STORED, 1, marks=pytest.mark.full),
        pytest.param(8, 8, 60, GENERATED, 1, marks=pytest.mark.full),
        pytest.param(10, 2, 30, STORED, 1, marks=pytest.mark.full),
    ],
)
def test_a_transform_is_what_its_definition_says(
    log_n: int, cores: int, width: int, twiddles: int, sets: int
) -> None:
    rng = np.random.default_rng(log_n)
    values = {"LogN": log_n, "Cores": cores, "Width": width, "Twiddles": twiddles, "Sets": sets}
    rings = [Ring(log_n, width, 2 * number + 1) for number in range(sets)]
    names = f"{twiddles}, 0, {log_n}, {cores}"
    (latency,) = elaborated([f"rs_ntt_pkg::transform_latency({names})"])
    with built(values) as block:
        unit = Unit(block, rings[0], cores)
        for number, ring in enumerate(rings):
            unit.load_factors(ring, twiddles, number)
        for number, ring in enumerate(rings):
            for polynomial in (
                [int(word) for word in rng.integers(0, ring.q, ring.n, np.uint64)],
                [ring.q - 1] * ring.n,
                [0] * (ring.n - 1) + [1],
            ):
                unit.write(polynomial)
                assert unit.read() == polynomial
                assert unit.transform(False, number) == latency
                assert unit.read() == ring.values(polynomial)
                assert unit.transform(True, number) == latency
                assert unit.read() == polynomial
